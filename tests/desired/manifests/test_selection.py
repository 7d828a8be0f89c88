from __future__ import annotations

import re

import pytest

from gitsync.desired.manifests.reader import read_manifests
from gitsync.desired.manifests.selection import (
    Selection,
    check_namespaces,
    select_namespaces,
    select_prepared,
    spell_out,
)
from gitsync.errors import ConfigError
from gitsync.model.reconcile_policy import Policy
from tests.support.builders import group_id, prepared, rg, vnet, vnet_id


@pytest.mark.parametrize(
    ("choice", "expected", "why"),
    [
        (Selection(), True, "everything"),
        (Selection(only=("VirtualNetwork/hub",)), True, "by kind and name"),
        (Selection(only=("VirtualNetwork.network.azure.com/default/hub",)), True, "by key"),
        (Selection(only=("*/hub",)), True, "by pattern"),
        (Selection(only=("virtualnetwork/hub",)), False, "names have case"),
        (Selection(namespaces=("other",)), False, "another namespace"),
        (Selection(only=("*/hub",), namespaces=("default",)), True, "both must hold"),
    ],
)
def test_what_a_choice_has(choice, expected, why):
    assert choice.has(vnet("hub")) is expected, why


def test_what_the_chosen_depend_on_is_only_looked_at():
    both = [prepared(rg(), group_id()), prepared(vnet(), vnet_id(), depends_on=(rg(),))]
    found = {resource.key: resource.policy for resource in select_prepared(both, Selection(only=("VirtualNetwork/*",)))}
    assert found == {vnet(): Policy.MANAGE, rg(): Policy.SKIP}


HUB, HUBS, SPOKE = vnet("hub"), vnet("hubs"), vnet("spoke")
SPELLED = [
    ("VirtualNetwork/hub", "VirtualNetwork/hub", "a name in full stays, though another begins with it"),
    ("*/hu*", "*/hu*", "a pattern stays"),
    ("virtualnetwork/hub", str(HUB), "a kind without case"),
    ("virt/s", str(SPOKE), "abbreviated"),
    ("spoke", str(SPOKE), "a name alone"),
]


@pytest.mark.parametrize(("name", "expected", "why"), SPELLED, ids=[row[-1] for row in SPELLED])
def test_names_are_spelled_out(name, expected, why):
    assert spell_out(Selection(only=(name,)), [HUB, HUBS, SPOKE]).only == (expected,), why


UNCLEAR = [
    ("VirtualNetwork/hubb", "No resource is called VirtualNetwork/hubb. Did you mean VirtualNetwork/hub?", "a slip"),
    ("virt/h", "virt/h matches several resources.", "short for two"),
    ("*/none*", "No resource is called */none*.", "a pattern of nothing"),
]


@pytest.mark.parametrize(("name", "message", "why"), UNCLEAR, ids=[row[-1] for row in UNCLEAR])
def test_an_ambiguous_name_is_refused(name, message, why):
    with pytest.raises(ConfigError, match=re.escape(message)):
        spell_out(Selection(only=(name,)), [HUB, HUBS, SPOKE])


def test_names_are_those_of_the_selected_namespaces():
    other = HUB._replace(namespace="other")
    spelled = spell_out(Selection(only=("hub",), namespaces=("other",)), [HUB, other])
    assert spelled == Selection(only=(str(other),), namespaces=("other",))


def group(name, namespace):
    return f"""---
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {{name: {name}, namespace: {namespace}}}
spec: {{location: westeurope}}
"""


ESTATE = group("a", "lab") + group("b", "prod") + "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: empty}\n"


def check(text, *namespaces, records=()):
    manifests = select_namespaces(read_manifests({"a.yaml": text.encode()}), namespaces)
    check_namespaces(namespaces, [manifests], records=records)


@pytest.mark.parametrize(
    ("namespaces", "message", "why"),
    [
        (("labb",), "Namespace labb has no resources. Did you mean lab?", "a slip"),
        (("Lab",), "Namespace Lab has no resources. Did you mean lab?", "names have case"),
        (("lab", "prd"), "Namespace prd has no resources. Did you mean prod?", "one of several"),
        (("elsewhere",), "Namespace elsewhere has no resources.", "like none"),
    ],
)
def test_a_namespace_that_nothing_is_in_is_refused(namespaces, message, why):
    with pytest.raises(ConfigError) as refused:
        check(ESTATE, *namespaces)
    assert (refused.value.message, refused.value.hint) == (message, "Use one of: empty, lab, prod."), why


@pytest.mark.parametrize(
    ("text", "namespaces", "why"),
    [
        (ESTATE, (), "all"),
        (ESTATE, ("lab", "prod"), "both are there"),
        (ESTATE, ("empty",), "a Namespace without resources"),
        (ESTATE, ("gone",), "only on record: a run may delete what is left there"),
        ("", ("lab",), "nothing is known, which a warning says"),
        (ESTATE + "---\nkind: Redis\nmetadata: {name: x}\nspec: {}\n", ("labb",), "what is rejected may be in it"),
        (ESTATE + "---\na: b: c # cache.azure.com/v1\n", ("labb",), "what cannot be read may be, too"),
    ],
)  # fmt: skip
def test_a_namespace_that_may_have_something_is_not_refused(text, namespaces, why):
    check(text, *namespaces, records=[rg()._replace(namespace="gone")] if text else ())
