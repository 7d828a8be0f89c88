"""Whole cases of Azure Service Operator, synced twice to the emulator: no second write, and lists change no verdict.

The cases lie outside the project. One in five is run, since all of them would take a minute.
"""

import pytest

from gitsync.emulator.settings import Timing
from tests.support.recordings import FOLDER, needs_recordings
from tests.support.world import World

CASES = FOLDER / "conformance" / "cases"

pytestmark = needs_recordings(CASES)


@pytest.mark.parametrize("case", sorted(CASES.glob("*"))[::5] if CASES.is_dir() else [], ids=lambda case: case.name)
def test_a_case_is_written_once(tmp_path, case):
    world = World(tmp_path, operations=Timing(polls=0))
    folder = case / "manifests"
    files = {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}
    first = world.says_files(files).sync()
    assert first.results
    second = world.sync()
    assert world.writes == []
    each = world.plan(reads="each")
    assert [(result.key, result.verdict, result.action) for result in second.results] == [
        (result.key, result.verdict, result.action) for result in each.results
    ]
