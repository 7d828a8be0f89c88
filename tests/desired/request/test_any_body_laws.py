"""Laws of AzureResources of any type: a body is valid if it fits its type, and sent as it is written."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gitsync.desired.catalog.arm_types import open_arm_types
from gitsync.desired.catalog.body_words import escape
from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.manifests.reader import read_manifests
from gitsync.desired.manifests.yaml_output import dump
from gitsync.desired.request.build import prepare
from gitsync.desired.request.placeholders import show
from gitsync.desired.validation.arm_body import check_body
from gitsync.model.facts import ScopeFlag
from gitsync.model.problem import Level
from tests.support.random_bodies import RandomBody, make_random_body

BODIES = st.integers(0, 2**32).map(make_random_body)
SUBSCRIPTION = "11111111-1111-1111-1111-111111111111"


def escape_all(value: Any) -> Any:
    """Write a body so that none of its own keys is a word."""
    if isinstance(value, dict):
        return {escape(name): escape_all(member) for name, member in value.items()}
    return [escape_all(entry) for entry in value] if isinstance(value, list) else value


SCOPES = {
    ScopeFlag.EXTENSION: f"/subscriptions/{SUBSCRIPTION}/resourceGroups/shop",
    ScopeFlag.RESOURCE_GROUP: f"/subscriptions/{SUBSCRIPTION}/resourceGroups/shop",
    ScopeFlag.SUBSCRIPTION: f"/subscriptions/{SUBSCRIPTION}",
    ScopeFlag.MANAGEMENT_GROUP: "/providers/Microsoft.Management/managementGroups/root",
    ScopeFlag.TENANT: "/",
}


def find_owner(made: RandomBody) -> str:
    """A scope that the type allows, or a parent of the right type."""
    provider, *steps = made.arm_type.split("/")
    arm_type = open_arm_types().find_type(made.arm_type)
    version = arm_type.find_version(made.api_version) if arm_type else None
    scope = next(scope for flag, scope in SCOPES.items() if version and flag & version.writable)
    parents = "".join(f"/{step}/p" for step in steps[:-1])
    return f"{scope.rstrip('/')}/providers/{provider}{parents}" if parents else scope


def write(made: RandomBody) -> bytes:
    spec = {
        "type": f"{made.arm_type}@{made.api_version}",
        "owner": {"armId": find_owner(made)},
        "body": escape_all(made.body),
    }
    header = {"apiVersion": "azure.gitsync/v1", "kind": "AzureResource", "metadata": {"name": "any"}}
    return dump({**header, "spec": spec})  # which quotes what Kubernetes reads otherwise, such as a key `y`


@given(BODIES)
def test_a_body_that_fits_its_type_has_no_errors(made):
    found = check_body(escape_all(made.body), made.arm_type, made.api_version)
    assert [finding.message for finding in found if finding.level is Level.ERROR] == [], made


@given(BODIES)
def test_a_body_is_sent_as_it_is_written(made):
    prepared = prepare(read_manifests({"m.yaml": write(made)}), catalog=open_catalog(), subscription=SUBSCRIPTION)
    template = prepared[0].template
    assert template is not None, prepared[0].problems
    assert json.dumps(template.body) == json.dumps(made.body)
    (shown,) = show(prepared, {})
    assert shown.request is not None
    assert json.dumps(shown.request.body) == json.dumps(made.body)
