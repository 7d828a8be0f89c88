"""Many ARM types through their whole life as AzureResources. The rows of `any_type_lives.yaml` share one story, so that
each step is one run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from gitsync.emulator.patch import set_value
from gitsync.model.arm_id import ArmId
from gitsync.model.gvk import Key
from gitsync.model.report import Report
from gitsync.model.result import Result
from gitsync.model.secret import Secret
from gitsync.model.verdict import Action, Verdict
from tests.support.command_line import Ended, azure, run_here
from tests.support.world import CATALOG, SUBSCRIPTION, World
from tests.workflows.accept.test_accept import accept

SCOPES: Mapping[str, Mapping[str, str]] = {
    "shop": {"group": "resources.azure.com", "kind": "ResourceGroup", "name": "shop"},
    "subscription": {"armId": f"/subscriptions/{SUBSCRIPTION}"},
    "management group": {"armId": "/providers/Microsoft.Management/managementGroups/root"},
    "billing account": {"armId": "/providers/Microsoft.Billing/billingAccounts/1234567"},
    "tenant": {"armId": "/"},
}
PASSWORDS = {"sql": "Not-really-a-password-1", "agent": "Not-really-a-token-2"}
AROUND = f"""\
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {{name: shop}}
spec: {{location: westeurope}}
---
apiVersion: v1
kind: Secret
metadata: {{name: passwords}}
stringData: {json.dumps(PASSWORDS)}
"""
OPTIONS: Mapping[str, Any] = {"digest_key": Secret("a key of thirty-two characters..."), "prune": True}
EMBEDDED = ("hub", "apps")
"""Rows that change in one PUT, whose body has both."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """A type, with its manifest and what happens to it."""

    why: str
    name: str
    type: str
    owner: str
    body: Mapping[str, Any]
    drift: Mapping[str, Any]  # by JSON pointers, as `update`
    update: Mapping[str, Any]
    azure_name: str = ""
    stays: bool = False

    def write(self, changes: Mapping[str, Any]) -> str:
        """Write the manifest, with changes of the body."""
        spec = {
            "type": self.type,
            **({"azureName": self.azure_name} if self.azure_name else {}),
            "owner": SCOPES.get(self.owner, {"kind": "AzureResource", "name": self.owner}),
            "body": change(self.body, changes),
        }
        header = {"apiVersion": "azure.gitsync/v1", "kind": "AzureResource", "metadata": {"name": self.name}}
        return yaml.safe_dump({**header, "spec": spec}, sort_keys=False)

    @property
    def is_imported(self) -> bool:
        """Return whether its id is imported: those below a subscription, of types whose children take few reads."""
        arm_type = self.type.partition("@")[0]
        has_scope = self.owner in SCOPES and not str(SCOPES[self.owner].get("armId", "/subscriptions/")).startswith(
            "/s"
        )
        return CATALOG.group_kind_of(arm_type) is None and not has_scope

    @property
    def key(self) -> Key:
        return Key("azure.gitsync", "AzureResource", "default", self.name)


def change(body: Mapping[str, Any], values: Mapping[str, Any]) -> Any:
    for pointer, value in values.items():
        body = set_value(body, pointer, value)
    return body


ROWS = [Row(**row) for row in yaml.safe_load((Path(__file__).parent / "any_type_lives.yaml").read_text())]


@dataclass(frozen=True)
class Step:
    """A run, and what it wrote."""

    results: Mapping[Key, Result]
    writes: Sequence[str]
    bodies: Mapping[str, Any]  # of PUTs, by ids in lower case


@dataclass(frozen=True)
class Story:
    steps: Mapping[str, Step]
    accepted: Mapping[str, str]  # manifests by the names of rows
    imported: Ended
    left: Mapping[str, Any]  # what is in Azure at the end, by id in lower case

    def find(self, step: str, row: Row) -> Result:
        return self.steps[step].results[row.key]

    def find_id(self, row: Row) -> ArmId:
        return ArmId(self.find("create", row).arm_id or "")


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    world, steps = World(tmp_path_factory.mktemp("lives")), {}

    def take(step: str, run: Callable[..., Report]) -> Report:
        report = run(max_deletes=len(ROWS), **OPTIONS)
        bodies = {request.path.casefold(): request.body for request in world.requests if request.method == "PUT"}
        steps[step] = Step({result.key: result for result in report.results}, world.writes, bodies)
        return report

    def declare(changes: Callable[[Row], Mapping[str, Any]]) -> None:
        world.says_files({"around.yaml": AROUND, **{f"{row.name}.yaml": row.write(changes(row)) for row in ROWS}})

    def drift() -> None:
        for row in ROWS:
            world.somebody_changes(steps["create"].results[row.key].arm_id or "", row.drift)

    declare(lambda _: {})
    take("create", world.sync)
    take("silent", world.sync)
    drift()
    take("repair", world.sync)
    declare(lambda row: row.update)
    take("update", world.sync)
    declare(lambda _: {})
    take("update back", world.sync)
    drift()
    # What makes a resource less safe is accepted by its name only.
    accept(world, take("drift", world.plan), tuple(f"AzureResource/{row.name}" for row in ROWS))
    accepted = {row.name: (world.folder / f"{row.name}.yaml").read_text() for row in ROWS}
    world.says_files({"around.yaml": AROUND, **{f"{name}.yaml": text for name, text in accepted.items()}})
    take("silent after accept", world.sync)
    created = [steps["create"].results[row.key].arm_id or "" for row in ROWS if row.is_imported]
    # An import reads what extends each resource: half of them take as many reads as Azure allows at once.
    half = created[::2]
    folder = tmp_path_factory.mktemp("import")
    with azure(world.store, world.clock) as served:
        imported = run_here("import", *half, "--out", "out", folder=folder, **served.variables)
    staying = {row.name for row in ROWS if row.stays}
    kept = [row for row in ROWS if not {row.name, row.owner} & staying]
    world.says_files({"around.yaml": AROUND, **{f"{row.name}.yaml": accepted[row.name] for row in kept}})
    take("prune without parents", world.sync)
    world.says_files({"around.yaml": AROUND})
    take("prune", world.sync)
    take("silent after prune", world.sync)
    return Story(steps, accepted, imported, dict(world.store.below("/")))


def fill(value: Any, story: Story) -> Any:
    """What is sent for a value of a manifest."""
    if isinstance(value, list):
        return [fill(entry, story) for entry in value]
    match value:
        case {"$secret": {"key": key}}:
            return PASSWORDS[key]
        case {"$reference": {"name": name}}:
            return story.find_id(next(row for row in ROWS if row.name == name))
        case {}:
            return {name: fill(member, story) for name, member in value.items()}
    return value


def test_the_table_is_of_many_types():
    assert len({row.type.partition("@")[0].casefold() for row in ROWS}) >= 60
    assert len({row.type.partition("/")[0].casefold() for row in ROWS}) >= 40


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_it_is_created_as_it_is_written_and_then_in_sync(story: Story, row: Row) -> None:
    created = story.find("create", row)
    assert (created.action, created.is_fine) == (Action.CREATE, True), created.message
    sent = story.steps["create"].bodies[story.find_id(row).key]
    assert json.dumps(sent) == json.dumps(fill(row.body, story)), row.why
    assert story.find("silent", row).verdict is Verdict.IN_SYNC, row.why


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_drift_is_found_and_repaired(story: Story, row: Row) -> None:
    repaired = story.find("repair", row)
    for found in (story.find("drift", row), repaired):
        assert found.verdict is Verdict.DRIFTED, row.why
        shown = {difference.path for difference in found.differences}
        assert {path for path in shown if not any(pointer.startswith(path) for pointer in row.drift)} == set(), row.why
    assert (repaired.action, repaired.is_fine) == (Action.UPDATE, True), repaired.message


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_change_in_git_is_written(story: Story, row: Row) -> None:
    for step, changes in (("update", row.update), ("update back", {})):
        updated = story.find(step, row)
        assert (updated.verdict, updated.action, updated.is_fine) == (Verdict.PENDING, Action.UPDATE, True), row.why
        if row.name not in EMBEDDED:
            sent = story.steps[step].bodies[story.find_id(row).key]
            assert sent == fill(change(row.body, changes), story), row.why


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_accepted_drift_is_in_the_manifest_and_in_sync(story: Story, row: Row) -> None:
    assert yaml.safe_load(story.accepted[row.name]) == yaml.safe_load(row.write(row.drift)), row.why
    assert story.find("silent after accept", row).verdict is Verdict.IN_SYNC, row.why


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_prune_deletes_it_or_keeps_it_until_its_parent_goes(story: Story, row: Row) -> None:
    first, second = story.steps["prune without parents"], story.steps["prune"]
    if row.stays:
        assert first.results[row.key].condition.reason == "DeletionNotSupportedInAzure", row.why
        assert first.results[row.key].is_fine
        assert f"DELETE {story.find_id(row)}" not in (*first.writes, *second.writes), row.why
    results = {**first.results, **second.results}
    assert (results[row.key].action, results[row.key].is_fine) == (Action.DELETE, True), results[row.key].message
    assert row.key not in story.steps["silent after prune"].results


def test_silent_runs_write_nothing(story: Story) -> None:
    assert [story.steps[step].writes for step in story.steps if step.startswith("silent")] == [[]] * 3


def test_nothing_is_left_in_azure_but_what_git_has(story: Story) -> None:
    assert [ArmId(path).name for path in story.left] == ["shop"]


def test_an_import_has_nothing_to_change(story: Story) -> None:
    assert story.imported.code == 0, story.imported.out
    assert "Different from Azure" not in story.imported.out


def test_a_rehearsal_creates_all_and_then_changes_nothing(tmp_path):
    (tmp_path / "around.yaml").write_text(AROUND)
    for row in ROWS:
        (tmp_path / f"{row.name}.yaml").write_text(row.write({}))
    ended = run_here("rehearse", "--subscription", SUBSCRIPTION, folder=tmp_path)
    assert ended.code == 0, ended.out + ended.err
    assert f"The sync would create {len(ROWS) + 1} in " in ended.out
    assert "a second sync would change nothing" in ended.out
