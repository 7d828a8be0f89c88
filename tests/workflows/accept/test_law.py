"""The law of accept, over random drift in an estate of many kinds whose Azure gives little back as it got it: what was
accepted is gone from the next plan, only lines of accepted fields have changed, and so has no other request.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gitsync.emulator.faults import Move
from gitsync.emulator.settings import Timing
from gitsync.model.edit import REMOVED
from gitsync.settings.config.config import Config
from gitsync.workflows.accept.accept import accept_drift
from gitsync.workflows.accept.drift import Accepted, DriftedResource
from gitsync.workflows.accept.edit_proof import Tree, find_request, open_tree
from tests.agent.run.estate import estate
from tests.support.hypothesis_profile import scale
from tests.support.world import SUBSCRIPTION, World

DRIFTS = 12
"""In one estate: they are planned and accepted together."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> World:
    world = World(tmp_path_factory.mktemp("law"), rewrite=True, operations=Timing(polls=0))
    assert world.says(**estate(47)).sync().exit_code == 0
    return world


def list_leaves(value: Any, pointer: str = "") -> Iterator[tuple[str, Any]]:
    """List the leaves of a body, and its lists of plain values."""
    if isinstance(value, Mapping):
        for key, member in value.items():
            yield from list_leaves(member, f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}")
    elif isinstance(value, list) and any(isinstance(entry, dict) for entry in value):
        for index, entry in enumerate(value):
            yield from list_leaves(entry, f"{pointer}/{index}")
    else:
        yield pointer, value


def change(value: Any, way: int) -> Any:
    """Change a value to another one of its type; REMOVED for a value that goes."""
    if way == 0:
        return REMOVED
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + way
    if isinstance(value, list):
        return [value[1:], [*value, "more"], [f"{value[0]}x", *value[1:]] if value else ["x"]][way % 3]
    return [f"{value}x", "it's: #odd", str(value).swapcase()][way % 3] if isinstance(value, str) else value


def drift(world: World, choices: list[tuple[int, int, int]]) -> None:
    """Change random leaves of random resources behind git's back."""
    azure = world.azure()
    ids = azure.ids()
    for resource, leaf, way in choices:
        arm_id = ids[resource % len(ids)]
        leaves = [
            leaf for leaf in list_leaves(azure.received(arm_id)) if leaf[0] not in {"/location", "/name", "/type"}
        ]
        if leaves:
            pointer, value = leaves[leaf % len(leaves)]
            new = change(value, way)
            move = Move(remove=(pointer,)) if new is REMOVED else Move(set={pointer: new})
            azure.move(arm_id, move)


def find_lines(tree: Tree, resource: DriftedResource) -> set[int]:
    """Find the lines that a change of the accepted fields may touch: theirs, and that of a parent which is empty now,
    or which has a new member in its braces.
    """
    lines = tree.prepared[resource.key].resource.lines
    assert lines is not None
    found = set()
    for field in resource.fields:
        found |= {lines.find(path) for path in lines if path[: len(field.path)] == field.path}
        if field.new is REMOVED or field.old is REMOVED:
            found.add(lines.find_nearest(field.path[:-1]))
    return {line for line in found if line is not None}


def check_lines(before: bytes, after: bytes, allowed: set[int], accepted: Accepted) -> None:
    old, new = before.splitlines(), after.splitlines()
    adds = any(field.old is REMOVED for resource in accepted.resources for field in resource.fields)
    for word, begin, end, _, _ in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if word in {"replace", "delete"}:
            assert set(range(begin + 1, end + 1)) <= allowed, old[begin:end]
        elif word == "insert":
            assert adds, new


@settings(max_examples=scale(3), deadline=None)
@example(choices=[(204, 85, 1)])  # one more entry in a list in brackets
@given(
    choices=st.lists(
        st.tuples(st.integers(0, 500), st.integers(0, 500), st.integers(0, 3)), min_size=1, max_size=DRIFTS
    )
)
def test_what_was_accepted_is_gone_from_the_next_plan_and_nothing_else_has_changed(
    built: World, choices: list[tuple[int, int, int]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = built.copy(Path(folder))
        drift(world, choices)
        config = Config(source=str(world.folder), subscription=SUBSCRIPTION)
        tree = open_tree(config, world.clock, world.redactions)
        report = world.plan()
        drifted = [str(result.key) for result in report.results if result.differences]
        accepted = accept_drift(report, tree, drifted)
        taken = {resource.key: resource for resource in accepted.resources}
        assert {str(refusal.key) for refusal in (*accepted.resources, *accepted.left)} == set(drifted), (
            "each is accounted for"
        )
        for path, text in accepted.texts.items():
            assert text is not None
            lines = {
                line
                for document in taken.values()
                if document.source.path == path
                for line in find_lines(tree, document)
            }
            check_lines(tree.content(path), text, lines, accepted)
            (world.folder / path).write_bytes(text)
        after = {result.key: result for result in world.plan().results}
        left = {(refusal.key, refusal.field) for refusal in accepted.left}
        for key, taken_fields in taken.items():
            pointers = {field.pointer for field in taken_fields.fields}
            assert not pointers & {difference.path for difference in after[key].differences}
            if not any(other == key for other, _ in left):
                assert not after[key].differences
        edited = open_tree(config, world.clock, world.redactions)
        for key, prepared in tree.prepared.items():
            if key not in taken:
                assert repr(find_request(prepared)) == repr(find_request(edited.prepared[key]))
