"""Which agent a run is, and when the records show that its name is a mistake."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitsync.model.reconcile_policy import Policy
from gitsync.planning.run_problems import decide_agent, find_unknown_agent, warn_agent_of_namespace
from tests.support.builders import group_id, prepared, record, rg, vnet, vnet_id
from tests.support.plans import make_plan


def group(agent, name="core"):
    return record(rg(name), group_id(name), agent=agent)


NAMES = [
    (None, [], "", "gitsync", "the default"),
    ("ours", [group("pod")], "pod", "ours", "the setting comes first"),
    (None, [], "pod", "gitsync", "a namespace alone names no agent"),
    (None, [group("pod")], "pod", "pod", "unless all records bear its name"),
    (None, [group("pod")], "", "gitsync", "and it is the pod's"),
    (None, [group("pod")], "other", "gitsync", "a record of another namespace is another agent's"),
    (None, [group("pod"), group("gitsync", "two")], "pod", "gitsync", "one record of another agent is enough"),
    (None, [group("pod"), group("", "two")], "pod", "gitsync", "or one of none"),
]


@pytest.mark.parametrize(("named", "records", "namespace", "expected", "why"), NAMES, ids=[row[4] for row in NAMES])
def test_the_name_of_an_agent(named, records, namespace, expected, why):
    assert decide_agent(named, records, namespace) == expected, why


@pytest.mark.parametrize(
    ("named", "agent", "warned", "why"),
    [
        (None, "gitsync", False, "the default is no namespace"),
        ("pod", "pod", False, "a name that was given is meant"),
        (None, "pod", True, "a name that was found is to be given"),
    ],
)
def test_an_agent_with_the_name_of_its_namespace_is_warned(named, agent, warned, why):
    found = warn_agent_of_namespace(named, agent)
    assert [problem.hint for problem in found if "GITSYNC_AGENT=pod" in problem.hint] == [p.hint for p in found], why
    assert bool(found) is warned, why


MANIFEST = prepared(rg(), group_id())
UNKNOWN = [
    ([group("one")], [MANIFEST], True, "the name is new, and the manifest is another agent's"),
    ([group("one"), group("two", "mine")], [MANIFEST], False, "an agent with a record is known"),
    ([group("one"), group("", "old")], [MANIFEST], False, "a record without an agent is anyone's"),
    ([], [MANIFEST], False, "the first run of all"),
    ([group("one", "theirs")], [MANIFEST], False, "a second agent with manifests of its own"),
    ([group("one")], [replace(MANIFEST, policy=Policy.SKIP)], False, "a resource that is only read"),
    ([group("one")], [replace(MANIFEST, is_watched=True)], False, "a resource that the run is not about"),
    ([group("one")], [MANIFEST, prepared(vnet(), vnet_id())], True, "one resource is enough"),
]


@pytest.mark.parametrize(("records", "manifests", "refused", "why"), UNKNOWN, ids=[row[3] for row in UNKNOWN])
def test_an_unknown_agent_takes_nothing_from_another(records, manifests, refused, why):
    known = {stored.key: stored for stored in records}
    found = find_unknown_agent("two", make_plan(manifests, known).applies, known)
    assert (found is not None) is refused, why
    if found:
        assert "the agent one manages ResourceGroup.resources.azure.com/default/core." in found.message
        assert "run with --agent one" in found.hint


def test_a_long_list_of_resources_is_cut():
    known = {index.key: index for index in (group("one", f"g{number:02}") for number in range(12))}
    plan = make_plan([prepared(key, group_id(key.name)) for key in known], known)
    found = find_unknown_agent("two", plan.applies, known)
    assert found.message.endswith("g09 and 2 more.")
