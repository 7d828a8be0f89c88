"""Values that flow from one resource to another, in whole runs (docs/values.md): forty uses, from the first plan on."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest

from gitsync.desired.formats.json_pointer import parse_pointer
from gitsync.desired.problems.field_path import find_member
from gitsync.emulator.faults import Move
from gitsync.model.verdict import Action, Verdict
from gitsync.planning.diff.unknown_values import NOT_KNOWN
from tests.agent.run.value_estate import Use, documents, read_table
from tests.support.fault_rules import rules
from tests.support.world import World, read_status

SOURCES, USES = read_table()
EGRESS = next(use.key for use in SOURCES if use.key.name == "egress")
IDS = [use.key.name for use in USES]
NAMES = {use.key.name: use for use in (*SOURCES, *USES)}
READS_ADDRESS = {use.key for use in USES if "status.ipAddress" in use.text or "StorageAccount/use01" in use.text}
READS_NAME = {use.key for use in USES if "status.dnsSettings.fqdn" in use.text}


class Life:
    """One estate from its first plan on: the reports of its runs, and what they did."""

    def __init__(self) -> None:
        world = self.world = World(Path(tempfile.mkdtemp(prefix="gitsync-tests-")))
        world.says(**documents([*SOURCES, *USES]))
        self.first_plan = by_key(world.plan())
        self.first = by_key(world.sync())
        self.first_writes = world.sent("PUT")
        self.sent = self.read_all()
        world.somebody_moves(EGRESS, Move(show={"/properties/ipAddress": "198.51.100.7"}))
        self.drift_plan, self.drift = by_key(world.plan()), by_key(world.sync())
        self.drift_writes, self.drift_sent = world.sent("PUT"), self.read_all()
        renamed = [
            use._replace(text=use.text.replace('"domainNameLabel": "shop"', '"domainNameLabel": "store"'))
            for use in SOURCES
        ]
        world.says(**documents([*renamed, *USES]))
        self.git_plan, self.git = by_key(world.plan()), by_key(world.sync())
        self.git_writes, self.git_sent = world.sent("PUT"), self.read_all()
        self.recorded = read_status(world)
        self.last = world.sync()
        self.last_writes, self.last_records = world.writes, read_status(world)

    def read_all(self) -> dict[str, Any]:
        """The bodies in Azure by the names of their manifests."""
        azure = self.world.azure()
        return {name: azure.resource(str(self.first[use.key].arm_id)) for name, use in NAMES.items()}

    def path_of(self, use: Use) -> str:
        return str(self.first[use.key].arm_id)


def by_key(report):
    return {result.key: result for result in report.results}


@pytest.fixture(scope="module")
def life() -> Life:
    return Life()


def find_sent(sent, expected):
    """The value that a row of the table names."""
    name, _, pointer = expected.partition(" ") if isinstance(expected, str) else ("", "", "")
    return find_member(sent[name], *parse_pointer(pointer)) if pointer.startswith("/") else expected


@pytest.mark.parametrize("use", USES, ids=IDS)
def test_the_first_plan_would_create_a_use(life, use):
    result = life.first_plan[use.key]
    assert (result.verdict, result.action, result.is_fine) == (Verdict.CREATE, Action.CREATE, True), use.why


@pytest.mark.parametrize("use", USES, ids=IDS)
def test_a_use_is_created_after_its_sources_with_their_values(life, use):
    result = life.first[use.key]
    assert result.is_fine, (use.why, result.condition)
    assert str(use.row.get("azure", use.key.name)) in life.path_of(use), use.why
    for pointer, expected in use.row["sent"].items():
        assert find_member(life.sent[use.key.name], *parse_pointer(pointer)) == find_sent(life.sent, expected), use.why
    own = life.first_writes.index(life.path_of(use))
    sources = [source for source in NAMES.values() if f'/{source.key.name}\\")' in use.text]
    assert sources, use.why
    for source in sources:
        assert life.first_writes.index(life.path_of(source)) < own, (use.why, source.key.name)


@pytest.mark.parametrize("use", USES, ids=IDS)
def test_a_change_in_azure_flows(life, use):
    plan, name = life.drift_plan[use.key], use.key.name
    if use.key not in READS_ADDRESS:
        assert (plan.verdict, plan.action) == (Verdict.IN_SYNC, Action.NONE), use.why
        assert life.path_of(use) not in life.drift_writes
        return
    assert (plan.verdict, plan.action) == (Verdict.PENDING, Action.UPDATE), use.why
    cause = "StorageAccount/use01" if "StorageAccount/use01" in use.text else "PublicIPAddress/egress.status.ipAddress"
    assert f" follows {cause}" in plan.condition.message, use.why
    assert life.drift[use.key].is_fine
    assert "198.51.100.7" in str(life.drift_sent[name])
    for difference in plan.differences:  # what the plan shows is what is sent, if it shows it at all
        shown = difference.rule == NOT_KNOWN or difference.desired
        sent = find_member(life.drift_sent[name], *parse_pointer(difference.path))
        assert shown is True or shown == sent, use.why


@pytest.mark.parametrize("use", USES, ids=IDS)
def test_a_change_in_git_is_known_after_the_sync(life, use):
    plan = life.git_plan[use.key]
    if use.key not in READS_NAME:
        assert (plan.verdict, plan.action) == (Verdict.IN_SYNC, Action.NONE), use.why
        assert life.path_of(use) not in life.git_writes
        return
    assert (plan.verdict, plan.action) == (Verdict.PENDING, Action.UPDATE), use.why
    assert [difference.rule for difference in plan.differences] == [NOT_KNOWN]
    assert "known after the sync of PublicIPAddress/egress" in plan.condition.message
    assert "store.westeurope.cloudapp.azure.com" in str(life.git_sent[use.key.name])


def test_the_run_after_all_changes_is_silent(life):
    assert life.last_writes == []
    assert life.last_records == life.recorded
    assert all(result.is_fine for result in life.last.results)


def test_a_use_waits_for_a_source_that_fails(tmp_path):
    refused = rules(
        "{match: {method: PUT, type: Microsoft.Network/publicIPAddresses, path: '*/egress'}, answer: {status: 403, code: AuthorizationFailed}}"
    )
    world = World(tmp_path, rules=refused)
    report = by_key(world.says(**documents([*SOURCES, *USES])).sync())
    for use in USES:
        result, needs = report[use.key], "PublicIPAddress/egress" in use.text or "StorageAccount/use01" in use.text
        is_name_only = use.key.name == "use23"  # the name makes the id, which git has
        assert result.is_fine is not needs, (use.why, result.condition)
        if needs:
            assert result.condition.reason == "WaitingForValue" or is_name_only, (use.why, result.condition)
            assert not any(path.endswith(f"/{use.key.name}") for path in world.sent("PUT")), use.why


def test_a_source_is_deleted_after_its_uses(life, tmp_path):
    world = life.world.copy(tmp_path)
    world.says(**documents([NAMES["core"]]))
    report = world.sync(prune=True, max_deletes=100)
    assert all(result.is_fine for result in report.results)
    deleted = world.sent("DELETE")
    for use in USES:
        own = next((index for index, path in enumerate(deleted) if path == life.path_of(use)), None)
        for source in SOURCES[1:]:
            if own is not None and f'/{source.key.name}\\")' in use.text:
                assert own < deleted.index(life.path_of(source)), use.why


def test_a_source_that_is_needed_is_not_deleted(life, tmp_path):
    world = life.world.copy(tmp_path)
    world.says(**documents([*(source for source in SOURCES if source.key != EGRESS), *USES]))
    report = by_key(world.sync(prune=True, max_deletes=100))
    assert world.sent("DELETE") == []
    assert report[EGRESS].condition.reason == "PruneHeld"
    assert report[NAMES["use01"].key].verdict is Verdict.INVALID
