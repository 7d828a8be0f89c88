"""What many edits of one file cost: each as much as any other. Counted in calls, so no clock decides."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from gitsync.desired.manifests.yaml_edits import edit_documents
from gitsync.model.edit import Edit
from gitsync.workflows.accept.accept import accept_drift
from tests.support.world import SUBSCRIPTION, World
from tests.workflows.accept.test_accept import open_world_tree

GROUP = """\
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {name: g%d}
spec: {location: westeurope, tags: {a: x, b: x}}
"""
MOST_TIMES = 1.4
"""What the second half of the edits may cost beside the first."""


def count_calls(act: Callable[[], Any]) -> int:
    """Count the calls of Python functions."""
    calls = 0

    def look(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    gc.disable()  # what other tests left may call functions when it goes
    sys.setprofile(look)
    try:
        act()
    finally:
        sys.setprofile(None)
        gc.enable()
    return calls


def edit_in_documents(edits: int) -> int:
    text = "---\n".join(f"kind: A\nspec: {{n: {number}}}\n" for number in range(40))
    wanted = {number: [Edit(path=("spec", "n"), value=-1)] for number in range(edits)}
    return count_calls(lambda: edit_documents(text.encode(), wanted))


def edit_in_a_list(edits: int) -> int:
    text = "kind: List\nitems:\n" + "".join(f"- kind: A\n  spec: {{n: {number}}}\n" for number in range(40))
    wanted = {0: [Edit(path=("items", number, "spec", "n"), value=-1) for number in range(edits)]}
    return count_calls(lambda: edit_documents(text.encode(), wanted))


def edit_keys(edits: int) -> int:
    text = "".join(f"k{number}: {number}\n" for number in range(40))
    wanted = {0: [Edit(path=(f"k{number}",), value=-1) for number in range(edits)]}
    return count_calls(lambda: edit_documents(text.encode(), wanted))


@pytest.mark.parametrize("cost", [edit_in_documents, edit_in_a_list, edit_keys])
def test_edits_of_a_file_are_linear_in_their_number(cost: Callable[[int], int]) -> None:
    none, half, full = cost(1), cost(11), cost(21)
    assert full - half <= MOST_TIMES * (half - none)
    assert full < 10 * none, "the file is not parsed for each edit"


def test_an_accept_is_linear_in_the_resources_that_have_drifted(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.says(all="---\n".join(GROUP % number for number in range(20))).sync()
    calls = []
    for first, last in ((0, 2), (2, 10), (10, 18)):
        for number in range(first, last):
            world.somebody_changes(f"/subscriptions/{SUBSCRIPTION}/resourceGroups/g{number}", {"/tags/a": "y"})
        report, tree = world.plan(), open_world_tree(world)
        assert tree.prepared
        calls.append(count_calls(accept_drift_of(report, tree, last)))
    assert calls[2] - calls[1] <= MOST_TIMES * (calls[1] - calls[0])


def accept_drift_of(report: Any, tree: Any, expected: int) -> Callable[[], None]:
    def act() -> None:
        assert len(accept_drift(report, tree).resources) == expected

    return act
