"""Random interleavings of our runs and of others' writes: each operation is attributed, over the emulator's log."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from datetime import timedelta
from functools import cache
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from gitsync.agent.attribution.change import Verb
from gitsync.agent.checks.check_requests import CheckRequests
from gitsync.model.arm_id import ArmId
from gitsync.providers.arm.arms import open_arms
from gitsync.providers.arm.session import Session
from gitsync.repository.git.state.state_folder import StatusFolder
from gitsync.workflows.audit.audit import Origin, audit
from tests.support.builders import rg, vnet, vnet_id
from tests.support.hypothesis_profile import scale
from tests.support.world import World

GROUP = """\
    apiVersion: resources.azure.com/v1api20200601
    kind: ResourceGroup
    metadata: {name: core}
    spec: {location: westeurope}
    """
NETWORK = """\
    apiVersion: network.azure.com/v20240301
    kind: VirtualNetwork
    metadata: {{name: {name}}}
    spec: {{owner: {{name: core}}, location: westeurope, tags: {{round: "{round}"}}, addressSpace: {{addressPrefixes: [10.0.0.0/16]}}}}
    """
NAMES = ("hub", "spoke")
FOREIGN = {Origin.OTHER, Origin.UNKNOWN}  # no identity signs in here, so an application may be gitsync
ROB, ROBOT = "rob@contoso.com", "44444444-0000-4000-8000-000000000000"

steps = st.one_of(
    st.tuples(st.just("sync"), st.sampled_from(["", *NAMES])),  # with a change of this one in git before
    st.tuples(st.just("killed"), st.sampled_from(NAMES)),  # likewise, and it was killed before it wrote its report
    st.tuples(st.sampled_from([ROB, ROBOT]), st.sampled_from(NAMES)),
    st.tuples(st.just("delete"), st.sampled_from(NAMES)),
)


@cache
def begin() -> World:
    world = World(Path(tempfile.mkdtemp()))
    say(world, dict.fromkeys(NAMES, 0)).sync()
    return world


def say(world, rounds):
    return world.says(group=GROUP, **{name: NETWORK.format(name=name, round=n) for name, n in rounds.items()})


@settings(max_examples=scale(25))
@given(st.lists(steps, min_size=1, max_size=6))
def test_each_operation_is_attributed(tmp_path_factory, done):
    folder = tmp_path_factory.mktemp("law")
    try:
        check(begin().copy(folder), done)
    finally:
        shutil.rmtree(folder)


def sync(world, since):
    world.sync()
    with StatusFolder(world.state) as store:
        return store.read_runs(since, 1)


def check(world, done):
    world.clock.elapsed += 7200
    since = world.clock.now()
    rounds, runs, foreign, writes, lost = dict.fromkeys(NAMES, 0), [], [], [], set()
    for number, (what, name) in enumerate(done):
        world.clock.elapsed += 60
        if what in {"sync", "killed"}:
            rounds |= {name: number + 1} if name else {}
            new = [run for run in sync(say(world, rounds), since) if not run.sent & lost and run not in runs]
            if what == "killed":
                lost |= {sent for run in new for sent in run.sent}
                continue
            writes += [(world.clock.now(), path) for path in (*world.sent("PUT"), *world.sent("DELETE"))]
            runs += new
        elif what == "delete":
            if vnet_id(name) in world.azure().ids():
                foreign.append((world.somebody_deletes(vnet(name), by=ROB), name))
        elif vnet_id(name) in world.azure().ids():
            move = world.somebody_changes(vnet(name), {"/tags/by": f"{what} {number}"}, by=what)
            foreign.append((move, name))
    world.clock.elapsed += 3600
    found = asyncio.run(look(world, runs, since))
    assert found.gaps == ()
    by_id = {operation.change.correlation_id: operation for operation in found.operations}
    not_ours = {operation.change.correlation_id for operation in found.operations if operation.origin in FOREIGN}
    assert not_ours - lost == {move for move, _ in foreign}
    assert {operation.origin for operation in found.operations if operation.change.correlation_id in lost} <= {
        Origin.UNKNOWN
    }
    ours = [operation for operation in found.operations if operation.origin not in FOREIGN]
    assert {change.origin for change in ours} <= {Origin.RUN}
    assert len(ours) == len(writes)
    for move, name in foreign:
        result = by_id[move]
        later = any(at > result.change.at and path.casefold() == vnet_id(name).casefold() for at, path in writes)
        assert (result.undone is not None) is later
        assert result.change.verb in {Verb.WRITE, Verb.DELETE}


async def look(world, runs, since):
    async with world.azure() as azure:
        access = world.access(azure.url)
        async with open_arms(access, world.clock) as arms:
            arm = await arms.open(access.sign_in)
            requests = CheckRequests(arm, lambda: Session(deadline=world.clock.monotonic() + 600))
            ids = [world.id_of(rg()), *map(vnet_id, NAMES)]
            return await audit(map(ArmId, ids), (), runs, since - timedelta(seconds=1), requests, {}.__contains__)
