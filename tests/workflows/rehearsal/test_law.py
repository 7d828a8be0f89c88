"""THE LAW: a rehearsal shows what the sync will do.

For random estates and random changes, the writes of a rehearsal, their order within owners, its deletes and its second
run are those of a real sync. The Azure of the real sync also has resources that git does not have, fields that
providers set, and drift. These may make the following differences, and nothing else differs:

| in Azure, and in no record | difference |
|---|---|
| somebody changed a field that git sets | the sync writes the resource back, with the subnets or rules that its body contains, and the rehearsal does not |
| somebody deleted a resource | the sync creates it again, with what was below it; a delete that is rehearsed is not sent; Azure may accept a write of its owner that the rehearsal shows as refused |
| somebody created a resource that git declares now | the sync may find nothing to write, or go on with what needs it where the rehearsal waits |
| an API lacks an app role that git assigns | the sync fails with `AppRoleNotFound`, and the rehearsal assigns the role |
| what git only reads, and no run has read yet, is missing | the rehearsal has it as a stub; the sync waits, and writes nothing that needs it |
| a resource group that git removes has something else in it | the rehearsal deletes the group; the sync deletes what is its own one by one, and keeps a group that others use |
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from hypothesis import HealthCheck, Phase, event, example, given, settings
from hypothesis import strategies as st

from gitsync.emulator.http.server import Emulator
from gitsync.model.arm_id import ArmId
from gitsync.model.rehearsal import Rehearsal, RehearsedWrite
from gitsync.model.secret import Secret
from tests.support.hypothesis_profile import scale
from tests.support.world import SUBSCRIPTION, World
from tests.workflows.rehearsal.pieces import PIECES, Piece, document, make_world, rehearse_world

KEY = Secret("a key that signs all records of this estate")
HOLD = {"gitsync/hold": "until 2026-03-02, incident 4711"}
SKIP = {"serviceoperator.azure.com/reconcile-policy": "skip"}
DETACH = {"serviceoperator.azure.com/reconcile-policy": "detach-on-delete"}
DRIFT = ("", "", "", "", "change", "delete", "tag")
LEAVES = ("one", "two", "ssh", "blobs", "robot", "server")
"""Pieces that own nothing, so that a manifest of another name leaves none without its owner."""

REFERENCES = (("two", "rules"),)
EMBEDDED = (("hub", "one"), ("hub", "two"), ("rules", "ssh"))
"""Owners whose PUT carries the bodies of the pieces below them."""

NOTHING = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: unused}\n"
"""A document that is always there: an empty source has guards of its own."""

STRAYS = (
    f"/subscriptions/{SUBSCRIPTION}/resourceGroups/a/providers/Microsoft.Network/publicIPAddresses/stray",
    f"{PIECES['hub'].arm_id}/subnets/stray",
    f"/subscriptions/{SUBSCRIPTION}/resourceGroups/b/providers/Microsoft.Network/virtualNetworks/stray",
)


class State(NamedTuple):
    """A piece in git: its number, its annotations, and whether its manifest has another name."""

    value: int = 0
    annotations: Mapping[str, str] = {}
    is_renamed: bool = False


Git = Mapping[str, State]
SINCE = ("", "", "value", "value", "remove", "hold", "skip", "detach", "rename", "remove and below")
"""What a commit does to a piece."""


class Write(NamedTuple):
    method: str
    arm_id: str


class Change(NamedTuple):
    """A state in git, the next one, and what somebody else did in Azure between them."""

    before: Git
    after: Git
    drift: Mapping[str, str]
    created: frozenset[str]
    strays: frozenset[str]
    prune: bool


@st.composite
def changes(draw) -> Change:
    absent = draw(st.sets(st.sampled_from(sorted(PIECES)), max_size=4))
    before = {name: State(annotations=draw(st.sampled_from(({}, {}, {}, SKIP, DETACH)))) for name in PIECES}
    before = {name: state for name, state in before.items() if not _is_cut_off(name, absent)}
    return Change(
        before=before,
        after=draw(commits(before)),
        drift={name: draw(st.sampled_from(DRIFT)) for name in PIECES},
        created=frozenset(draw(st.sets(st.sampled_from(sorted(PIECES)), max_size=2))),
        strays=frozenset(draw(st.sets(st.sampled_from(STRAYS)))),
        prune=draw(st.sampled_from((True, True, False))),
    )


@st.composite
def commits(draw, before: Git) -> Git:
    after = {}
    removed = set()
    for name in PIECES:
        what = draw(st.sampled_from(SINCE))
        if what.startswith("remove") and name in before:
            removed |= {name} if what != "remove" else set()
            continue
        state = before.get(name)
        if state is None and what != "value":
            continue  # a new piece comes with a value
        state = state or State()
        annotations = {"hold": HOLD, "skip": SKIP, "detach": DETACH}.get(what, state.annotations)
        value = draw(st.integers(1, 3)) if what == "value" else state.value
        after[name] = State(value, annotations, is_renamed=what == "rename" and name in LEAVES)
    return {name: state for name, state in after.items() if not _is_cut_off(name, removed)}


def _is_cut_off(name: str, removed: Iterable[str]) -> bool:
    ids = {PIECES[prune].arm_id for prune in removed}
    return any(ArmId(PIECES[name].arm_id).is_within(ArmId(arm_id)) for arm_id in ids)


def say(world: World, state: Git) -> None:
    world.says(**{name: _write(name, manifest) for name, manifest in state.items()}, settings=NOTHING)


def _write(name: str, state: State) -> str:
    return document(name, state.value, called=f"renamed-{name}" if state.is_renamed else "", **state.annotations)


def change_azure(world: World, change: Change) -> dict[str, set[str]]:
    """Do what somebody does in Azure; the ids by what was done to them."""
    azure, done = world.azure(), {"changed": set(), "deleted": set(), "created": set(), "shared": set()}
    for name, piece in PIECES.items():
        if azure.resource(piece.arm_id) is not None:
            _change(azure, piece, change.drift[name], done)
        elif name in change.created and _has_parents(azure, piece.arm_id):
            azure.put(piece.arm_id, {"location": "westeurope"})
            done["created"].add(piece.arm_id)
            done["shared"].add(_find_group(piece.arm_id))
    for stray in change.strays:
        if _has_parents(azure, stray):
            azure.put(stray, {"location": "westeurope", "properties": {}})
            done["shared"].add(_find_group(stray))
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


def _find_group(arm_id: str) -> str:
    return arm_id.partition("/providers/")[0]


def _has_parents(azure: Emulator, arm_id: str) -> bool:
    return all(
        azure.resource(piece.arm_id) is not None
        for piece in PIECES.values()
        if ArmId(arm_id).is_below(ArmId(piece.arm_id))
    )


def check_equal(rehearsed: list[Write], real: list[Write], done: Mapping[str, set[str]]) -> None:
    """The rows of the table above; what they do not allow is equal."""
    rehearsed, real = _leave_out_shared_groups(rehearsed, real, done["shared"])
    complete = done["deleted"] | done["created"] | done["absent"] | done["freed"]  # these, with what needs them
    complete |= {PIECES[name].arm_id for name, other in REFERENCES if PIECES[other].arm_id in complete}
    carried = {PIECES[name].arm_id for owner, name in EMBEDDED if PIECES[owner].arm_id in done["changed"]}
    free = {
        write
        for write in (*rehearsed, *real)
        if write.arm_id in complete | done["changed"] | carried
        or any(ArmId(write.arm_id).is_below(ArmId(arm_id)) for arm_id in complete)
    }
    assert sorted({*rehearsed} - free) == sorted({*real} - free)
    # Drift alone adds writes, and takes none away.
    drifted = {
        write for write in rehearsed if write.arm_id in done["changed"] and write.arm_id not in complete | carried
    }
    assert not {
        resource
        for resource in drifted - {*real}
        if not any(ArmId(resource.arm_id).is_below(ArmId(other)) for other in complete)
    }
    assert _pairs(write for write in rehearsed if write not in free) == _pairs(
        write for write in real if write not in free
    )


def _find_freed(rehearsed: Iterable[RehearsedWrite], unsure: set[str]) -> set[str]:
    """Find what the rehearsal was refused while something below it was there, such as a network that leaves its subnets
    without an address space: one that was deleted since, or a stub, which Azure may have otherwise or not at all.
    """
    refused = {write.arm_id for write in rehearsed if write.status >= 400}
    return {arm_id for arm_id in refused if any(ArmId(other).is_below(ArmId(arm_id)) for other in unsure)}


def _leave_out_shared_groups(
    rehearsed: list[Write], real: list[Write], shared: set[str]
) -> tuple[list[Write], list[Write]]:
    """Leave out the groups that the rehearsal deletes as a whole, and in which somebody created something: the sync
    deletes nothing in them but pieces.
    """
    groups = {write.arm_id for write in rehearsed if write.method == "DELETE" and write.arm_id in shared}

    def is_within(write: Write) -> bool:
        return write.arm_id in groups or any(ArmId(write.arm_id).is_below(ArmId(group)) for group in groups)

    within = {write for write in real if is_within(write)}
    assert {request.method for request in within} <= {"DELETE"}
    assert {resource.arm_id for resource in within} <= {piece.arm_id for piece in PIECES.values()}
    return [write for write in rehearsed if not is_within(write)], [write for write in real if not is_within(write)]


def _pairs(writes: Iterable[Write]) -> set[tuple[Write, Write]]:
    """Writes of which one is below the other, in their order."""
    return {
        (a, b)
        for a, b in combinations(writes, 2)
        if ArmId(a.arm_id).is_below(ArmId(b.arm_id)) or ArmId(b.arm_id).is_below(ArmId(a.arm_id))
    }


def list_rehearsed(writes: Iterable[RehearsedWrite]) -> list[Write]:
    """List what Azure took; what it refuses is sent again by each run."""
    return [Write(write.method, write.arm_id) for write in writes if write.status < 400]


def list_sent(world: World) -> list[Write]:
    sent = (request for request in world.requests if request.method in {"PUT", "PATCH", "DELETE"})
    return [Write(request.method, request.path) for request in sent if request.status < 400]


def check(change: Change) -> Rehearsal:
    with tempfile.TemporaryDirectory() as folder:
        world = make_world(Path(folder))
        say(world, change.before)
        world.sync(digest_key=KEY)
        say(world, change.after)
        options = {"prune": change.prune, "max_deletes": 40}
        rehearsal = rehearse_world(world, **options)
        done = change_azure(world, change)
        done["absent"] = {stub.arm_id for stub in rehearsal.stubs if world.azure().resource(stub.arm_id) is None}
        world.sync(digest_key=KEY, **options)
        done["freed"] = _find_freed(rehearsal.writes, done["deleted"] | {stub.arm_id for stub in rehearsal.stubs})
        check_equal(list_rehearsed(rehearsal.writes), list_sent(world), done)
        world.sync(digest_key=KEY, **options)
        check_equal(list_rehearsed(rehearsal.later_writes), list_sent(world), done)
        return rehearsal


A_NETWORK_OUTGROWS_DELETED_SUBNETS = Change(
    before={name: State() for name in ("a", "hub", "one")},
    after={"a": State(), "hub": State(3), "one": State()},
    drift={name: "delete" if name == "one" else "" for name in PIECES},
    created=frozenset(),
    strays=frozenset(),
    prune=True,
)

A_DRIFTED_NETWORK_CARRIES_ITS_SUBNETS = Change(
    before={name: State() for name in ("a", "hub", "two", "rules")},
    after={"a": State(), "hub": State(), "two": State(2), "rules": State()},
    drift={name: "change" if name == "hub" else "" for name in PIECES},
    created=frozenset(),
    strays=frozenset(),
    prune=True,
)

A_DRIFTED_NETWORK_CARRIES_A_DRIFTED_SUBNET = A_DRIFTED_NETWORK_CARRIES_ITS_SUBNETS._replace(
    drift={name: "change" if name in {"hub", "two"} else "" for name in PIECES}
)


@example(change=A_DRIFTED_NETWORK_CARRIES_A_DRIFTED_SUBNET)
@example(change=A_DRIFTED_NETWORK_CARRIES_ITS_SUBNETS)
@example(change=A_NETWORK_OUTGROWS_DELETED_SUBNETS)
@settings(
    max_examples=scale(20),
    phases=[Phase.explicit, Phase.generate],
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(change=changes())
def test_a_rehearsal_reports_what_the_sync_does(change):
    rehearsal = check(change)
    event(f"writes: {min(len(rehearsal.writes), 5)}")


def test_the_documentation_has_the_same_differences():
    text = (Path(__file__).parents[3] / "docs/how-to/rehearse.md").read_text(encoding="utf-8")
    rows = [line for line in str(__doc__).splitlines() if line.startswith("|")]
    assert rows[0] in text.splitlines()
    assert "\n".join(rows) in text
