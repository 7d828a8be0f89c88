"""Laws of values that flow: what is sent is what the expression gives over Azure, whatever else happens."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from gitsync.model.verdict import Verdict
from gitsync.planning.diff.unknown_values import NOT_KNOWN
from tests.agent.run.test_knowledge_of_values import ACCOUNT_ID, IP, PROD, STAGED
from tests.support.hypothesis_profile import sample, scale
from tests.support.world import GROUP, GROUP_ID, KilledError, World, read_status

IDENTITIES = f"{GROUP_ID}/providers/Microsoft.ManagedIdentity/userAssignedIdentities"
MEMBERS = {
    "own": 'status.tags["own"]',
    "taken": 'status.tags["taken"]',
    "of git": 'spec.tags["own"]',
    "perhaps": 'status.?tags[?"own"]',
    "id": "id",
    "principal": "status.principalId",
}


class Identity(NamedTuple):
    """A resource with a tag of its own, and one of an expression."""

    own: str  # "" for none
    source: int  # the number of the resource of the expression; -1 for none
    member: str  # what it takes, by its name in MEMBERS


def write(number: int, identity: Identity) -> str:
    sets = f'resource("UserAssignedIdentity/i{identity.source}").{MEMBERS[identity.member]}'
    annotations = f"annotations: {{gitsync/set: 'spec.tags.taken: {sets}'}}" if identity.source >= 0 else ""
    tags = f"tags: {{own: {identity.own}}}" if identity.own else ""
    return f"""\
        apiVersion: managedidentity.azure.com/v1api20230131
        kind: UserAssignedIdentity
        metadata: {{name: i{number}, {annotations}}}
        spec: {{owner: {{name: core}}, location: westeurope, {tags}}}
        """


def take(azure: Mapping[int, Any], identity: Identity) -> Any:
    """What an expression gives over Azure; an error is an empty text."""
    body = azure.get(identity.source)
    if body is None:
        return ""
    tags = body.get("tags", {})
    match identity.member:
        case "id":
            return f"{IDENTITIES}/i{identity.source}"
        case "principal":
            return body["properties"]["principalId"]
        case "perhaps":
            return tags.get("own")
        case member:
            return tags.get({"of git": "own"}.get(member, member), "")


@st.composite
def estates(draw: st.DrawFn) -> tuple[list[Identity], list[Identity]]:
    """Some resources, any of which may take a value of any other, and the same with some tags changed."""
    size = draw(st.integers(2, 6))
    words, members = st.sampled_from(["", "a", "b"]), st.sampled_from(list(MEMBERS))
    before = [Identity(draw(words), draw(st.integers(-1, size - 1)), draw(members)) for _ in range(size)]
    return before, [identity._replace(own=draw(words)) if draw(st.booleans()) else identity for identity in before]


def find_in_cycles(identities: list[Identity]) -> set[int]:
    """The resources that lead to themselves."""
    found = set()
    for start in range(len(identities)):
        at, seen = identities[start].source, set[int]()
        while at >= 0 and at not in seen:
            seen.add(at)
            at = identities[at].source
        found |= {start} & seen
    return found


def read(world: World, size: int) -> dict[int, Any]:
    bodies = {number: world.azure().resource(f"{IDENTITIES}/i{number}") for number in range(size)}
    return {number: body for number, body in bodies.items() if body is not None}


@given(estates())
@settings(max_examples=scale(25), phases=[Phase.reuse, Phase.generate])
def test_law_what_is_sent_is_the_expression_over_azure(tmp_path_factory, drawn):
    before, after = drawn
    world = World(tmp_path_factory.mktemp("law"))
    for identities in (before, after):
        world.says(group=GROUP, **{f"i{number}": write(number, identity) for number, identity in enumerate(identities)})
        plan = {result.key.name: result for result in world.plan().results}
        report = {result.key.name: result for result in world.sync().results}
        azure, cycles = read(world, len(identities)), find_in_cycles(identities)
        for number, identity in enumerate(identities):
            result, planned = report[f"i{number}"], plan[f"i{number}"]
            if number in cycles:
                assert result.verdict is Verdict.INVALID
                continue
            sent = azure.get(number, {}).get("tags", {})
            if result.is_fine and identity.source >= 0:
                assert sent.get("taken") == take(azure, identity)
            elif identity.source >= 0:
                assert take(azure, identity) == "" or not report[f"i{identity.source}"].is_fine
            for shown in planned.differences if result.is_fine else ():
                name = shown.path.removeprefix("/tags/")
                is_value = shown.rule != NOT_KNOWN and not str(shown.desired).startswith("<resource(")
                assert not is_value or "tags" not in shown.path or shown.desired == sent.get(name)
        recorded = read_status(world)
        world.sync()
        assert world.writes == []
        assert read_status(world) == recorded


def test_a_run_that_is_killed_leaves_the_rest_to_the_next(tmp_path):
    chain = STAGED.replace("name: data", "name: more").replace("PublicIPAddress/egress", "StorageAccount/data")
    start = World(tmp_path)
    start.says(group=GROUP, ip=IP, account=STAGED, more=chain).sync()
    start.says(group=GROUP, ip=PROD, account=STAGED, more=chain)
    full = start.copy(tmp_path / "full")
    full.sync()
    requests = len(full.requests)
    for at in sample(range(1, requests + 1)):
        world = start.copy(tmp_path / f"at-{at}")
        world.kill_after = at
        with suppress(KilledError):
            world.sync()
        world.kill_after = None
        assert world.sync().exit_code == 0
        for arm_id in (ACCOUNT_ID, ACCOUNT_ID.replace("data", "more")):
            assert world.azure().resource(arm_id)["tags"] == {"stage": "prod"}, at
        world.sync()
        assert world.writes == []


@pytest.mark.parametrize("run", ["plan", "sync"])
def test_a_cycle_is_an_error(tmp_path, run):
    world = World(tmp_path)
    world.says(group=GROUP, one=write(0, Identity("", 1, "id")), two=write(1, Identity("", 0, "id")))
    report = getattr(world, run)()
    assert report.exit_code == 1
    assert {r.verdict for r in report.results if r.key.name != "core"} == {Verdict.INVALID}
    assert not any(IDENTITIES in path for path in world.sent("PUT"))
