"""`gitsync accept` for resources that a unit renders: the files to the byte, and the places for a person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from gitsync.accept.drift import Accepted
from gitsync.model.report import Report
from gitsync.model.verdict import DRIFTED
from gitsync.units.kustomize import has_tool
from tests.accept.built_table import FLUX, HELM, KUSTOMIZE, RELEASED, BuiltDrift
from tests.accept.drift_table import TAGGED
from tests.accept.test_accept import accept
from tests.support.programs import needs_helm
from tests.support.world import World

pytestmark = pytest.mark.skipif(not has_tool(), reason="neither kustomize nor kubectl is installed")


@dataclass(frozen=True)
class Story:
    """All drifts of the table in one estate, accepted."""

    folder: Path
    found: Report
    accepted: Accepted
    after: Report


def tell(world: World, rows: list[BuiltDrift], more: Mapping[str, str] | None = None) -> Story:
    files = {path: text for row in rows for path, text in row.files.items()}
    world.says_files({"core.yaml": TAGGED.format(name="core"), **files, **(more or {})})
    report = world.sync()
    assert not [f"{one.key} {one.message}" for one in report.results if not one.is_fine]
    for row in rows:
        for name in row.names:
            arm_id = next(one for one in world.azure().ids() if one.endswith(f"/{name}"))
            if name in row.deletes:
                world.somebody_deletes(arm_id)
            else:
                world.somebody_changes(arm_id, row.changes.get(name, {}), remove=row.remove.get(name, ()))
    found = world.plan()
    accepted = accept(world, found)
    return Story(world.folder, found, accepted, world.plan())


def check(story: Story, row: BuiltDrift) -> None:
    expected = dict(row.files)
    for path, old, new in row.edits:
        assert old in expected[path]
        expected[path] = expected[path].replace(old, new, 1)
    assert {path: (story.folder / path).read_text() for path in row.files} == expected, row.why
    left = [one for one in story.accepted.left if one.key.name in row.names]
    assert tuple(str(place) for one in left for place in one.places) == row.left
    assert all(row.reason in one.reason for one in left)
    drifted = {one.key.name for one in story.after.results if one.verdict in DRIFTED}
    assert drifted & set(row.names) == {one.key.name for one in left}, "the next plan says nothing of what was accepted"


@pytest.fixture(scope="module")
def kustomized(tmp_path_factory: pytest.TempPathFactory) -> Story:
    return tell(World(tmp_path_factory.mktemp("kustomized")), KUSTOMIZE)


@pytest.mark.parametrize("row", KUSTOMIZE, ids=lambda row: row.names[0])
def test_a_text_of_a_kustomization(kustomized: Story, row: BuiltDrift) -> None:
    check(kustomized, row)


@pytest.fixture(scope="module")
def fluxed(tmp_path_factory: pytest.TempPathFactory) -> Story:
    return tell(World(tmp_path_factory.mktemp("fluxed")), FLUX)


@pytest.mark.parametrize("row", FLUX, ids=lambda row: row.names[0])
def test_a_text_of_flux(fluxed: Story, row: BuiltDrift) -> None:
    check(fluxed, row)


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Story:
    return tell(World(tmp_path_factory.mktemp("released")), HELM, {"gitsync.yaml": RELEASED})


@needs_helm
@pytest.mark.parametrize("row", HELM, ids=lambda row: row.names[0])
def test_a_text_of_a_chart(released: Story, row: BuiltDrift) -> None:
    check(released, row)
