"""Secrets that no one would get: they are named once, and not requested."""

import pytest

from gitsync.agent.run.run_exports import list_needed_secrets, warn_unused_exports
from gitsync.desired.manifests.selection import Selection
from gitsync.model.arm_id import ArmId
from gitsync.model.export import Address, ObjectKind
from gitsync.model.reconcile_policy import Policy
from gitsync.model.resource import Prepared
from gitsync.model.template import SecretKeyRef, SecretMapRef, Template
from tests.support.handmade_kinds import a_resource


def prepared(operator_spec=None, body=None, *, name="one", namespace="default"):
    resource = a_resource({"operatorSpec": operator_spec or {}}, name=name, namespace=namespace)
    template = Template(arm_id=ArmId("/x"), api_version="1", body=body or {})
    return Prepared(resource=resource, policy=Policy.MANAGE, arm_id=ArmId("/x"), api_version="1", template=template)


EXPORTS = {"secrets": {"key": {"name": "keys", "key": "k"}}}
CASES = [
    ([prepared()], False, "nothing is exported"),
    ([prepared(EXPORTS)], True, "and nobody takes it"),
    ([prepared({"secretExpressions": [{"name": "keys", "value": "{}"}]})], True, "an expression"),
    ([prepared({"configMaps": {"key": {"name": "keys", "key": "k"}}})], False, "a config map is no secret"),
    (
        [prepared(EXPORTS), prepared(body={"p": SecretKeyRef("keys", "k")}, name="two")],
        False,
        "another resource takes it",
    ),
    ([prepared(EXPORTS), prepared(body={"p": SecretMapRef("keys")}, name="two")], False, "or all of it"),
    (
        [prepared(EXPORTS), prepared(body={"p": SecretKeyRef("keys", "k")}, name="two", namespace="other")],
        True,
        "one of another namespace takes another Secret",
    ),
]


@pytest.mark.parametrize("resources, told, why", CASES)
def test_what_goes_to_no_target_is_reported(resources, told, why):
    assert bool(warn_unused_exports(resources)) is told, why


def test_many_are_one_warning():
    resources = [prepared(EXPORTS, name=name) for name in ("a", "b", "c", "d")]
    (problem,) = warn_unused_exports(resources)
    assert not problem.is_error
    assert problem.message == (
        "No sink takes these exported Secrets, so their values are not read: "
        "keys of Thing/a, keys of Thing/b, keys of Thing/c and 1 more."
    )


def test_a_run_for_others_reports_nothing_of_it():
    resources = [prepared(EXPORTS, name=name) for name in ("a", "b")]
    (problem,) = warn_unused_exports(resources, Selection(only=("Thing/a",)))
    assert problem.message.endswith(": keys of Thing/a.")
    assert warn_unused_exports(resources, Selection(only=("Other/*",))) == ()


def test_what_requests_draw_on():
    resources = [prepared(body={"a": [SecretKeyRef("keys", "k")], "b": {"c": SecretMapRef("all")}})]
    assert list_needed_secrets(resources) == {Address(ObjectKind.SECRET, "default", name) for name in ("keys", "all")}
