"""Requests as they are shown without a run."""

import json

import pytest

from gitsync.desired.request.placeholders import show
from gitsync.errors import MissingValueError
from gitsync.model.arm_id import ArmId
from gitsync.model.gvk import Key
from gitsync.model.reconcile_policy import Policy
from gitsync.model.resource import Prepared
from gitsync.model.template import (
    ConfigMapKeyRef,
    ReferenceKeys,
    ResourceRef,
    SecretKeyRef,
    SecretMapRef,
    Template,
    Text,
)
from tests.support.handmade_kinds import a_resource

X = ArmId("/x")
CONFIG_MAPS = {("default", "known"): {"k": "from-git"}}


def prepared(name, body=None, arm_id=X):
    template = Template(arm_id=arm_id, api_version="2024-01-01", body=body) if body is not None else None
    return Prepared(
        resource=a_resource(name=name),
        policy=Policy.MANAGE,
        arm_id=arm_id if isinstance(arm_id, str) else None,
        api_version="2024-01-01",
        template=template,
    )


def key(name):
    return Key("things.azure.com", "Thing", "default", name)


OTHER = prepared("other", {}, ArmId("/other"))
HOLED = prepared("holed", {}, Text(("/holed/", ConfigMapKeyRef("later", "k"))))


@pytest.mark.parametrize(
    ("value", "expected", "why"),
    [
        (SecretKeyRef("s", "k"), "<secret s/k>", "a secret"),
        ([SecretMapRef("s")], ["<secret s>"], "all of a secret"),
        (ConfigMapKeyRef("later", "k"), "<configmap later/k>", "a value that only a run can know"),
        (ConfigMapKeyRef("known", "k"), "from-git", "a value that a manifest declares"),
        (ConfigMapKeyRef("known", "later"), "<configmap known/later>", "another key of the same ConfigMap"),
        (ResourceRef(key("other")), "/other", "another manifest"),
        (ResourceRef(key("holed")), "/holed/<configmap later/k>", "one whose id only a run can know"),
        (ReferenceKeys((ResourceRef(key("other")),)), {"/other": {}}, "ids as keys"),
    ],
)
def test_what_stands_for_a_value(value, expected, why):
    shown = show([prepared("one", {"v": value}), OTHER, HOLED], CONFIG_MAPS)[0]
    assert shown.request.body == {"v": expected}, why
    assert json.dumps(shown.request.body)


def test_what_has_no_request_shows_its_id():
    (shown,) = show([prepared("one")], {})
    assert (shown.arm_id, shown.request) == ("/x", None)


def test_an_id_with_a_placeholder_is_shown_with_where_its_value_comes_from():
    (shown,) = show([HOLED], {})
    assert shown.arm_id == "/holed/<configmap later/k>"


def test_a_reference_to_what_has_no_id_is_a_fault_that_prepare_rules_out():
    with pytest.raises(MissingValueError):
        show([prepared("one", {"v": ResourceRef(key("gone"))}), prepared("gone", None, None)], {})


def test_an_id_in_a_body_is_a_plain_text():
    """A comparison of bodies distinguishes types."""
    shown = show([prepared("one", {"network": ResourceRef(key("other"))}), OTHER], CONFIG_MAPS)
    assert type(shown[0].request.body["network"]) is str
