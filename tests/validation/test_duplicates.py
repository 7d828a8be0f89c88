"""Two manifests for one resource, and two for one ARM id."""

from handmade import a_kind, a_resource

from gitsync.validation.duplicates import check_duplicates
from gitsync.validation.member import Member

KIND = a_kind()


def member(name, arm_id=None, spec=None, **more):
    return Member(resource=a_resource(spec, name=name, **more), kind=KIND, arm_id=arm_id)


def said(*members):
    return [(m.key.name, f.code, ".".join(f.path)) for m, f in check_duplicates(members)]


def test_different_manifests_are_fine():
    assert said(member("a", "/x"), member("b", "/y"), member("c"), member("d"), member("a", namespace="other")) == []


def test_one_resource_at_two_versions_is_told_of_both():
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


def test_what_is_declared_twice_is_no_double_of_others_until_one_of_the_two_is_gone():
    members = [member("a", "/x"), member("a", "/x", version="v20250101"), member("b", "/x")]
    assert [name for name, code, _ in said(*members)] == ["a", "a"]


def test_of_three_each_is_told_once():
    assert [name for name, *_ in said(member("a", "/x"), member("b", "/x"), member("c", "/x"))] == ["a", "b", "c"]


def test_the_other_one_is_named_with_its_place():
    (_, finding), _ = check_duplicates([member("a", "/x"), member("b", "/x")])
    assert finding.message == "Thing/a and Thing/b (b.yaml:1) declare the same resource in Azure: /x."


def test_equal_names_are_told_apart_by_their_namespaces():
    (_, finding), _ = check_duplicates([member("a", "/x"), member("a", "/x", namespace="other")])
    assert finding.message.startswith("Thing/a of namespace default and Thing/a of namespace other (a.yaml:1) declare")
