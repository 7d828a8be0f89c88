"""References to values, filled in."""

import pytest

from gitsync.desired.request.fill import fill
from gitsync.errors import MissingValueError
from gitsync.model.arm_id import ArmId
from gitsync.model.gvk import Key
from gitsync.model.secret import Secret
from gitsync.model.template import (
    ConfigMapKeyRef,
    ReferenceKeys,
    Request,
    ResourceRef,
    RootRef,
    SecretKeyRef,
    SecretMapRef,
    Template,
    Text,
)

KEY = Key("g", "K", "team", "n")


class Told:
    """Values that show what was requested; what is called `missing` is not there."""

    def secret(self, namespace, name, key):
        return Secret(f"{namespace}/{name}/{key}")

    def secret_map(self, namespace, name):
        return {"a": Secret(f"{namespace}/{name}")}

    def config_map(self, namespace, name, key):
        if name == "missing":
            raise MissingValueError("ConfigMapNotFound", "it is not there")
        if name == "placeholder":
            return Secret("<later>")
        return {"empty": "", "path": key}.get(name, f"{namespace}-{name}-{key}")

    def arm_id(self, key):
        return f"/{key.name}"

    def root(self, key):
        return f"/subscriptions/{key.name}"


X = ArmId("/x")


def filled(body, arm_id=X):
    return fill(Template(arm_id=arm_id, api_version="2024-01-01", body=body), "team", Told())


@pytest.mark.parametrize(
    ("body", "expected", "why"),
    [
        ({"a": 1, "b": [None, {"c": []}]}, {"a": 1, "b": [None, {"c": []}]}, "what has no reference stays"),
        ({"a": [ResourceRef(KEY)]}, {"a": ["/n"]}, "an id"),
        ({"a": {"b": SecretKeyRef("s", "k")}}, {"a": {"b": Secret("team/s/k")}}, "a secret stays one"),
        ({"a": SecretMapRef("s")}, {"a": {"a": Secret("team/s")}}, "all of a secret"),
        ({"a": ConfigMapKeyRef("c", "k")}, {"a": "team-c-k"}, "a value of a ConfigMap"),
        ({"a": ConfigMapKeyRef("placeholder", "k")}, {"a": Secret("<later>")}, "a value that is yet to come"),
        ({"a": ReferenceKeys(("/y", ResourceRef(KEY)))}, {"a": {"/y": {}, "/n": {}}}, "ids as keys"),
        ({"a": Text(("x-", ConfigMapKeyRef("c", "k")))}, {"a": "x-team-c-k"}, "text with a reference"),
    ],
)
def test_a_body(body, expected, why):
    assert filled(body) == Request(arm_id=ArmId("/x"), api_version="2024-01-01", body=expected), why


def test_an_id_with_a_reference():
    ref = ConfigMapKeyRef("c", "k")
    assert filled({}, Text(("/a/", ref, "/b"))).arm_id == "/a/team-c-k/b"


def test_a_placeholder_shows_in_an_id():
    assert filled({}, Text(("/a/", ConfigMapKeyRef("placeholder", "k")))).arm_id == "/a/<later>"


def test_an_empty_value_is_not_a_name():
    with pytest.raises(MissingValueError) as caught:
        filled({}, Text(("/a/", ConfigMapKeyRef("empty", "k"))))
    assert caught.value.reason == "ConfigMapNotFound"
    assert "empty" in caught.value.message


@pytest.mark.parametrize(
    "told", ["a/providers/Microsoft.Authorization/locks/b", "..", "a?b=c", "a#b", "a%2Fb", "a\\b", "a\nb"]
)
def test_a_config_map_cannot_lead_an_id_elsewhere(told):
    with pytest.raises(
        MissingValueError, match=r"(?s)resolved azureNameFromConfig path/.* is not a valid name"
    ) as refused:
        filled({}, Text(("/a/", ConfigMapKeyRef("path", told))))
    assert refused.value.reason == "Failed"


def test_a_value_that_is_missing_is_reported_as_it_is():
    with pytest.raises(MissingValueError) as caught:
        filled({"a": ConfigMapKeyRef("missing", "k")})
    assert (caught.value.reason, caught.value.message) == ("ConfigMapNotFound", "it is not there")


def test_the_template_stays_as_it_was():
    body = {"a": {"b": [SecretKeyRef("s", "k")]}}
    filled(body)
    assert body == {"a": {"b": [SecretKeyRef("s", "k")]}}


def test_an_id_begins_where_only_azure_has_a_value():
    assert filled({}, Text((RootRef(KEY), "/x"))).arm_id == "/subscriptions/n/x"
