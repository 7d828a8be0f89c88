"""THE LAW: a rehearsal says what the sync will do.

For random estates and random changes, the writes of a rehearsal, their order within owners, its deletes and its second
run are those of a real sync. The Azure of the real sync also has resources that git does not have, fields that
providers set, and drift. These may make the following differences, and nothing else differs:

| in Azure, and in no record | difference |
|---|---|
| somebody changed a field that git sets | the sync writes the resource back, and the rehearsal does not |
| somebody deleted a resource | the sync creates it again, with what was below it; a delete that is rehearsed is not sent |
| somebody created a resource that git declares now | the sync may find it as git says, and send nothing |
| what git only reads, and no run has read yet, is missing | the sync waits for it, and writes nothing below it; the rehearsal has it as a stub |
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from hypothesis import HealthCheck, Phase, event, given, settings
from hypothesis import strategies as st

from gitsync.emulator.http.server import Emulator
from gitsync.formats.arm_path import is_below
from gitsync.model.rehearsal import Rehearsal
from tests.rehearsal.pieces import PIECES, Piece, document, make_world, rehearse_world
from tests.support.world import SUBSCRIPTION, World

HOLD = {"gitsync/hold": "until 2026-03-02, incident 4711"}
ANNOTATIONS = (
    {},
    {},
    {},
    HOLD,
    {"serviceoperator.azure.com/reconcile-policy": "skip"},
    {"serviceoperator.azure.com/reconcile-policy": "detach-on-delete"},
)
CALLED = ("", "", "", "renamed-{name}")
DRIFT = ("", "", "", "", "change", "delete", "tag")
LEAVES = ("one", "two", "ssh", "blobs", "robot", "server")
"""Pieces that own nothing, so that a manifest of another name leaves none without its owner."""

STRAYS = (
    f"/subscriptions/{SUBSCRIPTION}/resourceGroups/a/providers/Microsoft.Network/publicIPAddresses/stray",
    f"{PIECES['hub'].arm_id}/subnets/stray",
    f"/subscriptions/{SUBSCRIPTION}/resourceGroups/b/providers/Microsoft.Network/virtualNetworks/stray",
)

STATES = st.one_of(st.none(), st.tuples(st.integers(0, 3), st.sampled_from(ANNOTATIONS), st.sampled_from(CALLED)))
"""Of a piece: absent, or its value, its annotations and the form of its name."""


class Change(NamedTuple):
    """A state of git, the next one, and what somebody else did in Azure between them."""

    before: Mapping[str, tuple | None]
    after: Mapping[str, tuple | None]
    drift: Mapping[str, str]
    created: frozenset[str]
    strays: frozenset[str]
    prune: bool


@st.composite
def changes(draw) -> Change:
    before = {name: draw(STATES) for name in PIECES}
    stays = st.sampled_from(("as it is", "as it is", "anew"))
    after = {name: state if draw(stays) == "as it is" else draw(STATES) for name, state in before.items()}
    return Change(
        before=before,
        after=after,
        drift={name: draw(st.sampled_from(DRIFT)) for name in PIECES},
        created=frozenset(name for name in PIECES if draw(st.integers(0, 5)) == 0),
        strays=frozenset(one for one in STRAYS if draw(st.booleans())),
        prune=draw(st.sampled_from((True, True, False))),
    )


def say(world: World, state: Mapping[str, tuple | None]) -> None:
    world.says(**{name: _write(name, *one) for name, one in state.items() if one is not None})


def _write(name: str, value: int, annotations: Mapping[str, str], called: str) -> str:
    return document(name, value, called=called.format(name=name) if name in LEAVES else "", **annotations)


def change_azure(world: World, change: Change) -> dict[str, set[str]]:
    """Do what somebody does in Azure; the ids by what was done to them."""
    azure, done = world.azure(), {"changed": set(), "deleted": set(), "created": set()}
    for name, piece in PIECES.items():
        if azure.resource(piece.arm_id) is not None:
            _change(azure, piece, change.drift[name], done)
        elif name in change.created and _has_parents(azure, piece.arm_id):
            azure.put(piece.arm_id, {"location": "westeurope"})
            done["created"].add(piece.arm_id)
    for stray in change.strays:
        if _has_parents(azure, stray):
            azure.put(stray, {"location": "westeurope", "properties": {}})
    return done


def _change(azure: Emulator, piece: Piece, what: str, done: Mapping[str, set[str]]) -> None:
    if what == "tag":  # a field that git does not set
        azure.change(piece.arm_id, "/managedBy", "somebody")
    elif what == "change" and piece.drift[0]:
        azure.change(piece.arm_id, *piece.drift)
        done["changed"].add(piece.arm_id)
    elif what == "delete":
        azure.remove(piece.arm_id)
        done["deleted"].add(piece.arm_id)


def _has_parents(azure: Emulator, arm_id: str) -> bool:
    return all(azure.resource(one.arm_id) is not None for one in PIECES.values() if is_below(arm_id, one.arm_id))


def check_equal(rehearsed: list[tuple[str, str]], real: list[tuple[str, str]], done: Mapping[str, set[str]]) -> None:
    """The rows of the table above; what they do not allow is equal."""
    free = {
        arm_id
        for _, arm_id in (*rehearsed, *real)
        if arm_id in set().union(*done.values())
        or any(is_below(arm_id, one) for one in done["deleted"] | done["absent"])
    }
    assert _without(rehearsed, free) == _without(real, free)
    # What is free may only be written more often if it drifted, and less if it is gone or is as git says already.
    for method, arm_id in set(rehearsed) - set(real):
        assert arm_id not in done["changed"] or arm_id in done["deleted"], (method, arm_id)
    assert _pairs(_keep(rehearsed, free)) == _pairs(_keep(real, free))


def _without(writes: Iterable[tuple[str, str]], free: set[str]) -> list[tuple[str, str]]:
    return sorted(one for one in writes if one[1] not in free)


def _keep(writes: Iterable[tuple[str, str]], free: set[str]) -> list[tuple[str, str]]:
    return [one for one in writes if one[1] not in free]


def _pairs(writes: list[tuple[str, str]]) -> set[tuple[tuple[str, str], tuple[str, str]]]:
    """Writes of which one is below the other, in their order."""
    return {
        (first, second)
        for at, first in enumerate(writes)
        for second in writes[at + 1 :]
        if is_below(first[1], second[1]) or is_below(second[1], first[1])
    }


def _list(rehearsed) -> list[tuple[str, str]]:
    return [(one.method, one.arm_id) for one in rehearsed]


def sent(world: World) -> list[tuple[str, str]]:
    return [(one.method, one.path) for one in world.requests if one.method in {"PUT", "PATCH", "DELETE"}]


def check(change: Change) -> Rehearsal:
    with tempfile.TemporaryDirectory() as folder:
        world = make_world(Path(folder))
        say(world, change.before)
        world.sync()
        say(world, change.after)
        options = {"prune": change.prune, "max_deletes": 40}
        rehearsal = rehearse_world(world, **options)
        done = change_azure(world, change)
        done["absent"] = {one.arm_id for one in rehearsal.stubs if world.azure().resource(one.arm_id) is None}
        world.sync(**options)
        check_equal(_list(rehearsal.writes), sent(world), done)
        world.sync(**options)
        assert _list(rehearsal.later_writes) == sent(world) == []
        return rehearsal


@settings(max_examples=60, phases=[Phase.generate], deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(change=changes())
def test_a_rehearsal_says_what_the_sync_does(change):
    rehearsal = check(change)
    event(f"writes: {min(len(rehearsal.writes), 5)}")
