"""Annotations and labels: a typo must not end in a delete."""

import pytest

from gitsync.desired.validation.annotations import check_annotations, check_inherited_policy
from tests.support.handmade_kinds import a_resource

ASO = "serviceoperator.azure.com"
POLICY = f"{ASO}/reconcile-policy"


def findings(annotations=None, labels=None):
    return list(check_annotations(a_resource(annotations=annotations or {}, labels=labels or {})))


@pytest.mark.parametrize(
    ("annotations", "why"),
    [
        ({POLICY: "manage"}, "known"),
        ({POLICY: "detach-on-delete"}, "known"),
        ({POLICY: ""}, "empty means not set"),
        ({f"{ASO}/credential-from": "my-credential"}, "a secret of the same namespace"),
        ({"gitsync/update-method": "patch", "gitsync/ignore": "[/tags]"}, "ours"),
        ({f"{ASO}/resource-id": "/x", f"{ASO}/operator-namespace": "y"}, "written by an operator"),
        ({"example.com/reconcile-policy": "whatever"}, "somebody else's"),
        ({"kustomize.toolkit.fluxcd.io/prune": "disabled"}, "somebody else's"),
    ],
)
def test_good_annotations(annotations, why):
    assert findings(annotations) == [], why


@pytest.mark.parametrize(
    ("key", "value", "code", "hint"),
    [
        (POLICY, "Skip", "ReconcilePolicy", "Did you mean skip?"),
        (POLICY, "detach", "ReconcilePolicy", "A resource with an unknown policy is not reconciled."),
        (POLICY, "dettach-on-delete", "ReconcilePolicy", "Did you mean detach-on-delete?"),
        (f"{ASO}/reconcile-polcy", "skip", "UnknownAnnotation", f"Did you mean {POLICY}?"),
        (f"{ASO}/Reconcile-Policy", "skip", "UnknownAnnotation", f"Did you mean {POLICY}?"),
        ("serviceoperators.azure.com/reconcile-policy", "skip", "UnknownAnnotation", f"Did you mean {POLICY}?"),
        (f"{ASO}/whatever", "x", "UnknownAnnotation", f"Known annotations: {ASO}/credential-from or {POLICY}."),
        ("gitsync/update-methd", "patch", "UnknownAnnotation", "Did you mean gitsync/update-method?"),
        ("gitsync/prune", "no", "UnknownAnnotation", "Known annotations: gitsync/api-version, gitsync/body, gitsync/depends-on, gitsync/hold, gitsync/ignore, gitsync/members, gitsync/owners, gitsync/replace, gitsync/run-script, gitsync/set or gitsync/update-method."),
        ("gitsync/update-method", "PATCH", "UpdateMethod", "Did you mean patch?"),
        ("gitsync/update-method", "merge", "UpdateMethod", "`put` sends the whole resource, `patch` only what differs."),
        (f"{ASO}/credential-from", "other/cred", "CredentialFrom", "Name a Secret in the namespace of the resource."),
    ],
)  # fmt: skip
def test_bad_annotations(key, value, code, hint):
    (finding,) = findings({key: value})
    assert (finding.code, finding.path, finding.hint) == (code, ("metadata", "annotations", key), hint)
    assert key in finding.message


PREFIX = ".".join(["x" * 50] * 5)[:253]


@pytest.mark.parametrize(
    ("key", "in_labels", "in_annotations", "why"),
    [
        ("app", True, True, "a name"),
        ("Team_1.x-y", True, True, "of letters in any case"),
        ("example.com/app", True, True, "a name of somebody"),
        (f"{PREFIX}/{'x' * 63}", True, True, "the longest"),
        ("Example.com/app", False, True, "case does not count in annotations"),
        ("", False, False, "nothing"),
        ("/app", False, False, "an empty prefix"),
        ("example.com/", False, False, "an empty name"),
        ("a/b/c", False, False, "two slashes"),
        ("app key", False, False, "a blank"),
        ("app\n", False, False, "a line break at the end"),
        ("größe", False, False, "letters of ASCII only"),
        ("-app", False, False, "no letter or digit at its start"),
        ("app.", False, False, "nor at its end"),
        ("x" * 64, False, False, "too long"),
        (f"{PREFIX}x/app", False, False, "a prefix that is too long"),
        ("a..b/app", False, False, "a prefix that is no DNS name"),
        ("a_b/app", False, False, "nor this one"),
        ("a" * 100_000, False, False, "very long"),
    ],
)  # fmt: skip
def test_keys_that_an_api_server_takes(key, in_labels, in_annotations, why):
    assert [finding.code for finding in findings(labels={key: ""})] == ([] if in_labels else ["InvalidMetadata"]), why
    assert [finding.code for finding in findings({key: ""})] == ([] if in_annotations else ["InvalidMetadata"]), why


@pytest.mark.parametrize(
    ("value", "is_right", "why"),
    [
        ("", True, "empty"),
        ("A.b_c-1", True, "letters, digits, -, _ and ."),
        ("x" * 63, True, "the longest"),
        ("x" * 64, False, "too long"),
        ("x" * 5000, False, "very long"),
        ("my app", False, "a blank"),
        ("a/b", False, "a slash"),
        ("-a", False, "no letter or digit at its start"),
        ("a\n", False, "a line break"),
    ],
)
def test_values_of_labels_that_an_api_server_takes(value, is_right, why):
    assert [finding.path for finding in findings(labels={"app": value})] == (
        [] if is_right else [("metadata", "labels", "app")]
    ), why
    assert findings({"app": value}) == [], "an annotation may have any text"


@pytest.mark.parametrize(
    ("sizes", "is_right", "why"),
    [
        ([262_143], True, "256 KiB with the key"),
        ([262_144], False, "one byte more"),
        ([131_071, 131_072], False, "of all together"),
    ],
)
def test_the_size_of_all_annotations(sizes, is_right, why):
    found = findings({"abc"[index]: "x" * size for index, size in enumerate(sizes)})
    assert [(problem.code, problem.path) for problem in found] == (
        [] if is_right else [("InvalidMetadata", ("metadata", "annotations"))]
    ), why


def test_the_size_of_annotations_is_in_bytes():
    assert findings({"a": "ü" * 131_071}) == []
    (finding,) = findings({"a": "ü" * 131_072})
    assert "262145 bytes" in finding.message


@pytest.mark.parametrize(
    ("finalizers", "bad", "why"),
    [
        (["example.com/keep", "orphan"], [], "names"),
        (["a b", "ok", "a/b/c"], [0, 2], "no names"),
        ([5, None], [], "the shape is another check"),
        ("keep", [], "and so is this"),
    ],
)
def test_finalizers(finalizers, bad, why):
    resource = a_resource(others={"metadata": {"finalizers": finalizers}})
    found = list(check_annotations(resource))
    assert [difference.path for difference in found] == [("metadata", "finalizers", index) for index in bad], why


def test_an_unknown_policy_names_the_three():
    (finding,) = findings({POLICY: "keep"})
    assert finding.message == f'{POLICY} must be manage, skip or detach-on-delete, but is "keep".'


def test_an_annotation_that_stands_among_the_labels_is_reported():
    (finding,) = findings(labels={POLICY: "skip", f"{ASO}/owner-name": "x", "app": "y"})
    assert (finding.code, finding.path[:2]) == ("LabelForAnnotation", ("metadata", "labels"))


@pytest.mark.parametrize(
    ("own", "namespace", "broken", "why"),
    [
        ({}, {}, False, "no policy"),
        ({}, {POLICY: "skip"}, False, "a known one"),
        ({}, {POLICY: "skp"}, True, "an unknown one is the problem of all who take it"),
        ({POLICY: "manage"}, {POLICY: "skp"}, False, "but not of those with one of their own"),
        ({POLICY: ""}, {POLICY: "skp"}, True, "an empty one is none"),
        ({}, {POLICY: ""}, False, "in a Namespace as well"),
    ],
)
def test_policies_of_namespaces(own, namespace, broken, why):
    found = list(check_inherited_policy(a_resource(annotations=own), namespace))
    assert bool(found) is broken, why
    assert all("The Namespace default" in f.message and f.code == "ReconcilePolicy" for f in found)


OVERRIDE = f"{ASO}/child-resource-id-override"


@pytest.mark.parametrize(
    ("value", "owner", "said", "why"),
    [
        ("/subscriptions/9", None, None, "an alias from a cluster has it"),
        ("", {"name": "core"}, "is not allowed on a resource that another manifest owns", "even where it says nothing"),
        (
            "/subscriptions/9",
            {"armId": "/subscriptions/9/resourceGroups/a"},
            None,
            "topmost: its owner has no manifest",
        ),
        (
            "/subscriptions/9",
            {"name": "core"},
            "is not allowed on a resource that another manifest owns",
            "not topmost",
        ),
        ("9", None, "must be an ARM id, but is", "a subscription without its path"),
    ],
)
def test_an_override_of_the_childrens_ids(value, owner, said, why):
    found = list(check_annotations(a_resource(annotations={OVERRIDE: value}, spec={"owner": owner} if owner else {})))
    assert [finding.code for finding in found] == ([] if said is None else ["ChildIdOverride"]), why
    assert said is None or said in found[0].message
