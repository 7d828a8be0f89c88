"""Two manifests for one resource, and several for one ARM id."""

from dataclasses import replace

import pytest

from gitsync.desired.validation.relations import Member, check_duplicates
from gitsync.model.arm_id import ArmId
from gitsync.model.gvk import Key
from gitsync.model.template import ConfigMapKeyRef, ReferenceKeys, ResourceRef, SecretKeyRef, SecretMapRef, Text
from tests.support.handmade_kinds import GROUP, a_kind, a_resource

KIND = a_kind()


def member(name, arm_id=None, spec=None, *, body=None, is_written=True, **more):
    """A manifest whose body differs from that of another name."""
    resource = a_resource(spec, name=name, **more)
    body = {"name": name} if body is None else body
    return Member(
        resource=resource, kind=KIND, arm_id=ArmId(arm_id) if arm_id else None, body=body, is_written=is_written
    )


def said(*members):
    return [(m.key.name, f.code, ".".join(f.path)) for m, f in check_duplicates(members)]


def test_different_manifests_are_fine():
    assert said(member("a", "/x"), member("b", "/y"), member("c"), member("d"), member("a", namespace="other")) == []


def test_one_resource_at_two_versions_is_reported_for_both():
    one, two = member("a", "/x"), member("a", "/x", version="v20250101")
    found = list(check_duplicates([one, two]))
    assert [(m, f.code) for m, f in found] == [(one, "ManifestTwice"), (two, "ManifestTwice")], (
        "and not as one id twice"
    )
    assert "things.azure.com/v20250101" in found[0][1].message
    assert "things.azure.com/v20240101" in found[1][1].message


def test_ids_compare_without_case():
    assert said(member("a", "/x/Y"), member("b", "/X/y", {"azureName": "y"}), member("c", "/z")) == [
        ("a", "ArmIdTwice", "metadata.name"),
        ("b", "ArmIdTwice", "spec.azureName"),
    ]


def test_what_is_declared_twice_is_not_a_double_of_others_until_one_of_the_two_is_gone():
    members = [member("a", "/x"), member("a", "/x", version="v20250101"), member("b", "/x")]
    assert [name for name, code, _ in said(*members)] == ["a", "a"]


def test_of_three_each_is_reported_once():
    assert [name for name, *_ in said(member("a", "/x"), member("b", "/x"), member("c", "/x"))] == ["a", "b", "c"]


def test_the_other_one_is_named_with_its_location_and_what_differs():
    (_, finding), _ = check_duplicates([member("a", "/x"), member("b", "/x")])
    assert finding.message == (
        "Thing/a and Thing/b (b.yaml:1) declare the same resource in Azure, /x, with different bodies: "
        '/name is "a" here and "b" there.'
    )


def test_equal_names_are_distinguished_by_their_namespaces():
    (_, finding), _ = check_duplicates([member("a", "/x"), member("a", "/x", body={}, namespace="other")])
    assert finding.message.startswith("Thing/a of namespace default and Thing/a of namespace other (a.yaml:1) declare")
    assert finding.message.endswith('/name is "a" here and absent there.')


def test_of_many_differences_three_are_shown():
    (_, finding), _ = check_duplicates(
        [member("a", "/x", body=dict.fromkeys("pqrst", 1)), member("b", "/x", body=dict.fromkeys("pqrst", 2))]
    )
    assert finding.message.endswith(
        "/p is 1 here and 2 there, /q is 1 here and 2 there, /r is 1 here and 2 there and 2 more."
    )


def test_each_is_compared_with_one_that_differs_from_it():
    members = [
        member("a", "/x", body={"tag": 1}),
        member("b", "/x", body={"tag": 1}),
        member("c", "/x", body={"tag": 2}),
    ]
    others = [finding.message.partition(" and ")[2].partition(" ")[0] for _, finding in check_duplicates(members)]
    assert others == ["Thing/c", "Thing/c", "Thing/a"]


SUBNET = Key(GROUP, "Subnet", "default", "apps")
OTHER_SUBNET = SUBNET._replace(namespace="other")


@pytest.mark.parametrize(
    ("one", "other", "is_same", "why"),
    [
        ({"tags": {"a": "b"}}, {"tags": {"a": "b"}}, True, "the same values"),
        ({"tags": {"a": "b"}}, {"tags": {"a": "c"}}, False, "another value"),
        ({"list": ["a", "b"]}, {"list": ["b", "a"]}, True, "lists whose order means nothing"),
        ({"id": ResourceRef(SUBNET)}, {"id": ResourceRef(OTHER_SUBNET)}, True, "one id by two names"),
        ({"id": ResourceRef(SUBNET)}, {"id": "/net/apps"}, True, "one id, once as armId"),
        ({"id": ResourceRef(SUBNET)}, {"id": "/net/web"}, False, "another id"),
        (
            {"ids": ReferenceKeys((ResourceRef(SUBNET), "/b"))},
            {"ids": ReferenceKeys(("/B", ResourceRef(OTHER_SUBNET)))},
            True,
            "ids as keys, in any order and case",
        ),
        ({"secret": SecretKeyRef("s", "k")}, {"secret": SecretKeyRef("s", "k")}, True, "a Secret of the same name"),
        ({"secret": SecretKeyRef("s", "k")}, {"secret": SecretKeyRef("s", "l")}, False, "another key of it"),
        ({"secrets": SecretMapRef("s")}, {"secrets": SecretMapRef("t")}, False, "another Secret"),
        ({"value": ConfigMapKeyRef("m", "k")}, {"value": "k"}, False, "a value that is not known yet"),
        (
            {"text": Text(("a", ConfigMapKeyRef("m", "k")))},
            {"text": Text(("a", ConfigMapKeyRef("m", "k")))},
            True,
            "texts",
        ),
    ],
)
def test_equal_bodies_may_share_a_resource(one, other, is_same, why):
    members = [
        member("a", "/x", body=one),
        member("b", "/x", body=other, namespace="other"),
        member("apps", "/net/apps", kind="Subnet"),
        member("apps", "/net/apps", kind="Subnet", namespace="other"),
    ]
    assert bool(said(*members)) is not is_same, why


def test_what_is_only_read_or_cannot_be_built_is_not_compared():
    written, read = member("a", "/x"), member("b", "/x", is_written=False)
    assert said(written, read, replace(member("c", "/x"), body=None)) == []
    assert said(read, member("d", "/x", is_written=False)) == []
