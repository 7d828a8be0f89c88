"""`gitsync accept` for resources that a unit renders: the files to the byte, and the places for a person."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from gitsync.model.report import Report
from gitsync.model.verdict import DRIFTED
from gitsync.workflows.accept.drift import Accepted
from tests.support.programs import needs_build_tool, needs_helm
from tests.support.world import World
from tests.workflows.accept.built_table import FLUX, HELM, KUSTOMIZE, BuiltDrift, release_charts
from tests.workflows.accept.drift_table import TAGGED
from tests.workflows.accept.test_accept import accept

pytestmark = needs_build_tool


TOGETHER = 5
"""Rows in one estate."""


@dataclass(frozen=True)
class Story:
    """Drifts of the table in one estate, accepted."""

    folder: Path
    found: Report
    accepted: Accepted
    after: Report


def tell(world: World, rows: list[BuiltDrift], more: Mapping[str, str]) -> Story:
    files = {path: text for row in rows for path, text in row.files.items()}
    world.says_files({"core.yaml": TAGGED.format(name="core"), **files, **more})
    report = world.sync()
    assert not [f"{result.key} {result.message}" for result in report.results if not result.is_fine]
    for row in rows:
        for name in row.names:
            arm_id = next(arm_id for arm_id in world.azure().ids() if arm_id.endswith(f"/{name}"))
            if name in row.deletes:
                world.somebody_deletes(arm_id)
            else:
                world.somebody_changes(arm_id, row.changes.get(name, {}), remove=row.remove.get(name, ()))
    found = world.plan()
    accepted = accept(world, found, ("*", *(name for row in rows for name in row.deletes)))  # a delete takes its name
    return Story(world.folder, found, accepted, world.plan())


def check_all(folder: Path, rows: list[BuiltDrift], settings: Callable[[list[BuiltDrift]], str] | None = None) -> None:
    """Check rows in estates of a few: each edit is proven by reading all of its estate again."""
    for first in range(0, len(rows), TOGETHER):
        some = rows[first : first + TOGETHER]
        own = folder / str(first)
        own.mkdir()
        story = tell(World(own), some, {"gitsync.yaml": settings(some)} if settings else {})
        for row in some:
            check(story, row)


def check(story: Story, row: BuiltDrift) -> None:
    expected = dict(row.files)
    for path, old, new in row.edits:
        assert old in expected[path]
        expected[path] = expected[path].replace(old, new, 1)
    files = {path: story.folder / path for path in row.files}
    assert {path: file.read_text() if file.exists() else "" for path, file in files.items()} == expected, row.why
    left = [refusal for refusal in story.accepted.left if refusal.key.name in row.names]
    assert tuple(str(location) for refusal in left for location in refusal.locations) == row.left, row.why
    assert all(row.reason in refusal.reason for refusal in left), row.why
    changed = (result for result in story.after.results if result.verdict in DRIFTED or result.comparison.outside)
    drifted = {result.key.name for result in changed}
    assert drifted & set(row.names) == {refusal.key.name for refusal in left}, (
        f"the next plan says nothing of it: {row.why}"
    )


# A test has all estates of a table: to make them takes a while, and workers would share no fixture.


def test_texts_of_kustomizations(tmp_path: Path) -> None:
    check_all(tmp_path, KUSTOMIZE)


def test_texts_of_flux(tmp_path: Path) -> None:
    check_all(tmp_path, FLUX)


@needs_helm
def test_texts_of_charts(tmp_path: Path) -> None:
    check_all(tmp_path, HELM, release_charts)
