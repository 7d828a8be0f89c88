"""The law of the checks, over random estates with random policies and locks: what they refuse is refused at the write,
and nothing that they call fine is refused by a rule that they cover.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from gitsync.emulator.settings import read_settings
from gitsync.model.check import CheckName, CheckVerdict
from gitsync.model.result import Result
from gitsync.model.verdict import Action
from tests.support.hypothesis_profile import scale
from tests.support.world import GROUP, GROUP_ID, SUBSCRIPTION, World

ALL = tuple(name.value for name in CheckName)
COVERED = {"RequestDisallowedByPolicy", "ScopeLocked", "DenyAssignmentAuthorizationFailed"}
SCOPES = [f"/subscriptions/{SUBSCRIPTION}", GROUP_ID]
NETWORK = f"{GROUP_ID}/providers/Microsoft.Network"
NAMES = ("one", "two", "three")
KINDS = {
    "PublicIPAddress": ("publicIPAddresses", "publicIPAllocationMethod: Static"),
    "NatGateway": ("natGateways", "sku: {name: Standard}"),
    "RouteTable": ("routeTables", "disableBgpRoutePropagation: true"),
}
REGIONS = ("westeurope", "northeurope")

resources = st.dictionaries(
    st.tuples(st.sampled_from(sorted(KINDS)), st.sampled_from(NAMES)),
    st.fixed_dictionaries({"location": st.sampled_from(REGIONS), "env": st.sampled_from(("", "dev", "prod"))}),
    max_size=4,
)
conditions = st.one_of(
    st.builds(
        lambda operator, values: {"field": "location", operator: values},
        st.sampled_from(("in", "notIn")),
        st.lists(st.sampled_from(REGIONS), min_size=1, max_size=2, unique=True),
    ),
    st.builds(lambda is_set: {"field": "tags.env", "exists": is_set}, st.booleans()),
    st.builds(
        lambda operator, name: {"field": "name", operator: name},
        st.sampled_from(("equals", "notEquals")),
        st.sampled_from(NAMES),
    ),
    st.builds(lambda kind: {"type": f"Microsoft.Network/{KINDS[kind][0]}"}, st.sampled_from(sorted(KINDS))),
)
policies = st.lists(
    st.fixed_dictionaries(
        {
            "scope": st.sampled_from(SCOPES),
            "effect": st.sampled_from(("deny", "deny", "audit")),
            "mode": st.sampled_from(("Default", "Default", "DoNotEnforce")),
            "if": conditions,
        }
    ),
    max_size=2,
)
targets = st.one_of(
    st.sampled_from(SCOPES),
    st.builds(
        lambda kind, name: f"{NETWORK}/{KINDS[kind][0]}/{name}", st.sampled_from(sorted(KINDS)), st.sampled_from(NAMES)
    ),
)
locks = st.lists(
    st.fixed_dictionaries({"scope": targets, "level": st.sampled_from(("CanNotDelete", "ReadOnly"))}), max_size=2
)


def write_manifests(estate: dict[tuple[str, str], dict[str, str]]) -> dict[str, str]:
    documents = {"group": GROUP}
    for (kind, name), fields in estate.items():
        members = [f"location: {fields['location']}", "owner: {name: core}", KINDS[kind][1]]
        if fields["env"]:
            members.append(f"tags: {{env: {fields['env']}}}")
        head = f"apiVersion: network.azure.com/v1api20240301\nkind: {kind}\nmetadata: {{name: {name}}}\n"
        documents[f"{kind}-{name}"] = f"{head}spec: {{{', '.join(members)}}}\n"
    return documents


@settings(max_examples=scale(10), deadline=None)
@given(before=resources, after=resources, rules=policies, held=locks)
def test_what_is_refused_is_refused_and_what_is_fine_is_not(before, after, rules, held):
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder))
        assert world.says(**write_manifests(before)).sync(checks=()).exit_code == 0
        world.says(**write_manifests(after))
        govern(world, rules, held)
        options = {"prune": True, "max_deletes": 20}
        planned = {result.key: result for result in world.plan(checks=ALL, **options).results}
        done = world.sync(checks=(), **options).results
        for result in done:
            check(planned[result.key], result)


def govern(world: World, rules: list[dict[str, Any]], held: list[dict[str, Any]]) -> None:
    named = [{"name": f"policy{number}", **rule} for number, rule in enumerate(rules)]
    file = world.folder.parent / "settings.yaml"
    file.write_text(json.dumps({"settings": {"policies": named, "locks": held}}))
    world.settings = replace(read_settings(file), limits=None)


def check(planned: Result, done: Result) -> None:
    """Compare one resource of the plan with what became of it in a sync without checks."""
    if planned.action is Action.NONE or done.ending.blocked_by:
        return  # nothing was to be sent, or it was not reached
    code = next((attempt.code for attempt in done.attempts), "") or done.condition.reason
    said = {
        finding.check: finding.verdict
        for finding in planned.change.checks
        if finding.verdict is not CheckVerdict.WARNING
    }
    if CheckVerdict.REFUSED in said.values():
        assert code in COVERED, (done.key, said, code)
    if code in COVERED:
        assert CheckVerdict.REFUSED in said.values(), (done.key, said, code)
