"""What stacks and deployments name: any response gives resources or an error, and no value of a template."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.errors import SourceError
from gitsync.model.arm_id import ArmId
from gitsync.model.live import Live
from gitsync.workflows.imports.deployed.deployed_resources import DeployedResources
from gitsync.workflows.imports.deployed.deployment import read_deployment
from gitsync.workflows.imports.deployed.stack import read_stack
from gitsync.workflows.imports.resource_reader import ResourceReader
from tests.workflows.imports.found import GROUP, at

STACK = ArmId(at("Microsoft.Resources/deploymentStacks/s"))
DEPLOYMENT = ArmId(at("Microsoft.Resources/deployments/d"))
NETWORK = at("Microsoft.Network/virtualNetworks/n")
SECRET = "correct-horse-battery"


class Answers:
    """Azure with these bodies and lists, by path."""

    def __init__(self, bodies, lists):
        self.bodies, self.lists, self.read = bodies, lists, []

    async def get(self, arm_id, api_version):
        self.read.append(arm_id)
        body = self.bodies.get(str(arm_id))
        return None if body is None else Live(body=body)

    async def list(self, path, api_version, query=None):
        return self.lists.get(path, [])


def read(function, arm_id, bodies, lists=None):
    answers = Answers(bodies, lists or {})
    reader = ResourceReader(answers, lambda begun, ended: None, lambda line: None)
    return asyncio.run(function(reader, arm_id)), answers


MEMBERS = st.sampled_from(["id", "type", "resourceType", "status", "extension", "error", "code", "name", "mode",
                           "targetResource", "provisioningOperation"])  # fmt: skip
LEAVES = st.one_of(st.none(), st.booleans(), st.integers(), st.sampled_from(
    [GROUP, NETWORK, str(DEPLOYMENT), f"{DEPLOYMENT}2", "", "/", "Create", "managed", "deleteFailed", "\x1b[31m\n---"]
))  # fmt: skip
TREES = st.recursive(
    LEAVES, lambda each: st.one_of(st.lists(each, max_size=3), st.dictionaries(MEMBERS, each, max_size=4)), max_leaves=8
)
ENTRIES = st.one_of(TREES, st.lists(st.dictionaries(MEMBERS, TREES, max_size=4), max_size=4))


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(("resources", "failedResources", "detachedResources", "deletedResources", "denySettings", "provisioningState"), ENTRIES)))  # fmt: skip
def test_any_stack_is_read_or_refused(properties):
    body = {"id": str(STACK), "properties": {**properties, "outputs": {"x": SECRET}, "parameters": {"y": SECRET}}}
    try:
        deployed, _ = read(read_stack, STACK, {str(STACK): body})
    except SourceError as error:
        assert SECRET not in str(error)
        return
    check(deployed)


@given(
    st.fixed_dictionaries({}, optional=dict.fromkeys(("outputResources", "mode", "provisioningState"), ENTRIES)),
    st.lists(st.fixed_dictionaries({}, optional={"properties": TREES, "id": TREES}), max_size=4),
)
def test_any_deployment_is_read_or_refused(properties, operations):
    body = {"id": str(DEPLOYMENT), "properties": {**properties, "outputs": {"x": SECRET}}}
    bodies = {str(DEPLOYMENT): body, f"{DEPLOYMENT}2": {"properties": {"outputResources": [{"id": str(DEPLOYMENT)}]}}}
    try:
        deployed, answers = read(read_deployment, DEPLOYMENT, bodies, {f"{DEPLOYMENT}/operations": operations})
    except SourceError as error:
        assert SECRET not in str(error)
        return
    check(deployed)
    assert len(answers.read) == len({ArmId(each).key for each in answers.read}), "each deployment is read once"


def check(deployed):
    assert isinstance(deployed, DeployedResources)
    assert SECRET not in repr(deployed)
    addresses = [claim.arm_id.key or claim.address for claim in deployed.claims]
    assert deployed.claims
    assert len(addresses) == len(set(addresses)), "each resource has one row"
    assert all(claim.arm_id for claim in deployed.claims if claim.is_wanted), "only ids are read"


def entry(arm_id):
    return {"id": arm_id}


ORIGINS = [
    # the outer deployment names what its nested ones have made, in these orders, why
    ([NETWORK], [NETWORK], "d/d2", "both name it"),
    ([], [NETWORK], "d/d2", "only the nested one names it"),
    ([NETWORK], [], "d", "only the outer one names it"),
]


@pytest.mark.parametrize(("outer", "inner", "path", "why"), ORIGINS, ids=[row[-1] for row in ORIGINS])
def test_the_innermost_deployment_is_the_origin(outer, inner, path, why):
    bodies = {
        str(DEPLOYMENT): {"properties": {"outputResources": [entry(f"{DEPLOYMENT}2"), *map(entry, outer)]}},
        f"{DEPLOYMENT}2": {"properties": {"outputResources": list(map(entry, inner))}},
    }
    deployed, _ = read(read_deployment, DEPLOYMENT, bodies)
    assert [claim.origin for claim in deployed.claims] == [f"deployment {path}"], why
