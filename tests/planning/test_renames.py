"""Renamed manifests: a delete and a create as one thing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitsync.model.reconcile_policy import Policy
from gitsync.planning.record_counts import digest_spec
from gitsync.planning.replacement import describe_rename, note_renames
from tests.support.builders import prepared, record, rg, subnet, vnet, vnet_id
from tests.support.parts import change
from tests.support.plans import make_plan

SPEC = {"location": "westeurope"}


def manifest(key, spec=SPEC, arm_id=None, **more):
    entry = prepared(key, arm_id or vnet_id(key.name), **more)
    return replace(entry, resource=replace(entry.resource, spec=spec))


def recorded(key, spec=SPEC, **more):
    return change(record(key, vnet_id(key.name)), **{"digest": digest_spec(spec), **more})


def pair(manifests, records):
    plan = note_renames(make_plan(manifests, {stored.key: stored for stored in records}))
    new = {key.name: node.renamed.name for key, node in plan.applies.items() if node.renamed}
    old = {node.renamed.name: key.name for key, node in plan.prunes.items() if node.renamed}
    assert new == old, "both halves name each other"
    return new


CASES = [
    ([manifest(vnet("new"))], [recorded(vnet("old"))], {"new": "old"}, "the same spec under another name"),
    ([manifest(vnet("new"), {"location": "x"})], [recorded(vnet("old"))], {}, "another spec"),
    ([manifest(subnet("new"))], [recorded(vnet("old"))], {}, "another kind"),
    ([manifest(vnet("new")), manifest(vnet("b"))], [recorded(vnet("old"))], {}, "which of two is not known"),
    ([manifest(vnet("new"))], [recorded(vnet("old")), recorded(vnet("b"))], {}, "which of two is not known"),
    ([manifest(vnet("new"), arm_id=vnet_id("old"))], [recorded(vnet("old"))], {}, "Azure keeps its name"),
    ([manifest(vnet("new"))], [recorded(vnet("old"), policy=Policy.DETACH_ON_DELETE)], {}, "the old one stays"),
    ([manifest(vnet("new"), policy=Policy.SKIP)], [recorded(vnet("old"))], {}, "the new one is only read"),
    ([manifest(vnet("new"))], [recorded(vnet("old"), digest="")], {}, "a record of an older version"),
    ([manifest(vnet("new"))], [recorded(vnet("old")), recorded(vnet("new"))], {}, "the new one exists already"),
]


@pytest.mark.parametrize(("manifests", "records", "expected", "why"), CASES)
def test_what_counts_as_a_rename(manifests, records, expected, why):
    assert pair(manifests, records) == expected, why


def test_both_halves_say_so():
    plan = note_renames(make_plan([manifest(vnet("new"))], {vnet("old"): recorded(vnet("old"))}))
    assert plan.prunes[vnet("old")].reason.endswith(
        "Renamed to VirtualNetwork/new: a delete and a create, since Azure cannot rename it."
    )
    assert describe_rename(plan.applies[vnet("new")].renamed).startswith("Renamed from VirtualNetwork/old:")
    assert describe_rename(None) == ""


def test_a_plan_without_deletes_is_the_same_value():
    plan = make_plan([manifest(rg())], {})
    assert note_renames(plan) is plan
