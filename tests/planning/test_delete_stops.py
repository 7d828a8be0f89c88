"""What stops a delete without a guard: the list for people agrees with what decides."""

from __future__ import annotations

from importlib import import_module

from gitsync.agent.reconcile.reconcile import PRUNE
from gitsync.planning.delete_guards import GUARDS, Moment
from gitsync.planning.delete_stops import DELETE_STOPS

GUARDED = {"wait_for_dependents", "check_delete_locks", "check_group_content"}
"""The stages that stop a delete by guards alone."""

NOTES = {"name_going_along"}
"""The stages that stop none."""


def test_each_reason_names_the_function_that_decides_it():
    for stop in DELETE_STOPS:
        module, _, function = f"gitsync.{stop.decided_by}".rpartition(".")
        assert callable(getattr(import_module(module), function, None)), stop.name


def test_each_stage_of_a_delete_is_listed():
    stages = {step.run.__name__ for leg in PRUNE for step in leg.steps}
    assert stages - GUARDED - NOTES <= {stop.decided_by.rpartition(".")[2] for stop in DELETE_STOPS}
    assert stages >= GUARDED | NOTES


def test_each_reason_has_a_name_of_its_own_and_a_sentence():
    names = [entry.name for entry in (*GUARDS, *DELETE_STOPS)]
    assert len(set(names)) == len(names)
    assert all(stop.stops.endswith(".") and "\n" not in stop.stops for stop in DELETE_STOPS)
    order = list(Moment)
    for entries in (GUARDS, DELETE_STOPS):
        moments = [order.index(entry.moment) for entry in entries]
        assert moments == sorted(moments), "in the order of the moments"
