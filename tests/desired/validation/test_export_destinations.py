"""Exports: nothing is written twice."""

import pytest

from gitsync.desired.validation.export_destinations import check_destinations
from tests.support.handmade_kinds import a_kind, seen

TYPES = {
    "OperatorSpec": {
        "fields": {
            "secrets": {"type": {"ref": "Secrets"}},
            "configMaps": {"type": {"ref": "ConfigMaps"}},
            "secretExpressions": {"type": {"list": "destinationExpression"}},
            "configMapExpressions": {"type": {"list": "destinationExpression"}},
        }
    },
    "Secrets": {"fields": {"one": {"type": "secretDestination"}, "two": {"type": "secretDestination"}}},
    "ConfigMaps": {"fields": {"one": {"type": "configMapDestination"}, "two": {"type": "configMapDestination"}}},
}
KIND = a_kind({"operatorSpec": {"type": {"ref": "OperatorSpec"}, "meta": True}}, types=TYPES)


def to(name="x", key="y", **more):
    return {"name": name, "key": key, **more}


def findings(operator_spec):
    return list(check_destinations(seen(KIND, {"operatorSpec": operator_spec})))


@pytest.mark.parametrize(
    ("operator_spec", "why"),
    [
        ({"secrets": {"one": to(), "two": to(key="z")}}, "two keys of one secret"),
        ({"secrets": {"one": to(), "two": to(name="z")}}, "one key of two secrets"),
        ({"secrets": {"one": to()}, "configMaps": {"one": to()}}, "a secret and a config map of one name"),
        ({"secretExpressions": [{"name": "x", "value": "a"}, {"name": "x", "value": "b"}]}, "maps know keys later"),
        ({"secrets": {"one": to(annotations={"a": "1"}), "two": to(key="z", labels={"a": "1"})}}, "one of each"),
        ({"secrets": {"one": "x", "two": {"name": 1}}}, "what has no shape is another check's business"),
        ({"secrets": {"one": {"key": "a"}, "two": {"key": "a"}}}, "and so is what has no name"),
    ],
)
def test_good_destinations(operator_spec, why):
    assert findings(operator_spec) == [], why


@pytest.mark.parametrize(
    ("operator_spec", "path", "message"),
    [
        (
            {"secrets": {"one": to(), "two": to()}},
            "spec.operatorSpec.secrets.two",
            'cannot write more than one secret to destination Name: "x", Key: "y".',
        ),
        (
            {"secrets": {"one": to()}, "secretExpressions": [to(value="v")]},
            "spec.operatorSpec.secretExpressions.0",
            'cannot write more than one secret to destination Name: "x", Key: "y".',
        ),
        (
            {"configMaps": {"one": to()}, "configMapExpressions": [to(value="v")]},
            "spec.operatorSpec.configMapExpressions.0",
            'cannot write more than one configmap value to destination Name: "x", Key: "y".',
        ),
        (
            {"secrets": {"one": to(annotations={"k": "1"}), "two": to(key="z", annotations={"k": "1"})}},
            "spec.operatorSpec.secrets.two.annotations.k",
            'collision for annotation on secret "x": key "k" is set by multiple destinations.',
        ),
        (
            {"configMaps": {"one": to(labels={"k": "1"})}, "configMapExpressions": [to(key="z", labels={"k": "2"})]},
            "spec.operatorSpec.configMapExpressions.0.labels.k",
            'collision for label on configmap "x": key "k" is set by multiple destinations.',
        ),
    ],
)
def test_collisions(operator_spec, path, message):
    (finding,) = findings(operator_spec)
    assert (".".join(map(str, finding.path)), finding.message) == (path, message)
    assert finding.hint
