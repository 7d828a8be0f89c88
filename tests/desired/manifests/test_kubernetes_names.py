"""What a manifest names as a Secret, a config map or a key, evaluated offline: a table of what Kubernetes has not."""

import pytest

from gitsync.desired.catalog.positions import SpecPosition
from gitsync.desired.catalog.spec_visitor import Visit
from gitsync.desired.manifests.kubernetes_names import check_object_names

DESTINATION, EXPRESSION, REFERENCE = "secretDestination", "destinationExpression", "secretReference"


def told(name, value):
    position = SpecPosition(types={}, shape="mapping", name=name, rules={})
    visit = Visit(("spec", "x"), value, position, fits=isinstance(value, dict))
    return [finding.message for finding in check_object_names(visit)]


@pytest.mark.parametrize(
    ("name", "value", "words", "why"),
    [
        (DESTINATION, {"name": "../../etc/passwd", "key": "k"}, "spec.x.name '../../etc/passwd' is not", "leads away"),
        (DESTINATION, {"name": "a", "key": "../b"}, "spec.x.key '../b' is not made of letters", "leads away"),
        (DESTINATION, {"name": "Upper", "key": "k"}, "spec.x.name 'Upper' is not made of lower-case", "a capital"),
        (DESTINATION, {"name": "", "key": "k"}, "spec.x.name '' is not", "it is there, and says nothing"),
        (
            DESTINATION,
            {"name": "a" * 254, "key": "k"},
            "spec.x.name has 254 characters; at most 253 are allowed",
            "too long",
        ),
        (EXPRESSION, {"name": "a", "value": "x", "key": "a b"}, "spec.x.key 'a b' is not", "a space"),
        (REFERENCE, {"name": "a/b", "key": "k"}, "spec.x.name 'a/b' is not", "no way into another namespace"),
        ("secretMapReference", {"name": ".."}, "spec.x.name '..' is not", "the folder above"),
        ("configMapReference", {"name": "a", "key": ".."}, "spec.x.key '..' is not", "the folder above"),
        (
            "configMapDestination",
            {"name": "a", "key": "\n"},
            "spec.x.key '\\\\n' is not",
            "shown, and no line of its own",
        ),
    ],
)
def test_a_name_that_no_object_can_have_is_reported(name, value, words, why):
    (message,) = told(name, value)
    assert message.startswith(words), why


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        (DESTINATION, {"name": "a.b-c", "key": ".dockerconfigjson"}, "as Kubernetes has them"),
        (EXPRESSION, {"name": "a", "value": "x"}, "a map brings its keys"),
        (EXPRESSION, {"name": "a", "value": "x", "key": ""}, "an empty key is none"),
        (DESTINATION, {"name": 1, "key": None}, "what is no text is told as such"),
        (DESTINATION, "a", "what is no mapping is told as such"),
        ("reference", {"name": "../x"}, "names a manifest, and no object of values"),
    ],
)
def test_what_is_not_a_matter_of_names(name, value, why):
    assert told(name, value) == [], why


def test_both_are_reported_at_once():
    assert len(told(REFERENCE, {"name": "A", "key": "/"})) == 2
