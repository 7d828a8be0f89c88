"""Rules for ignored fields: which resources and paths they are about, and what is reported of wrong ones."""

from dataclasses import replace
from datetime import date

import pytest

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.manifests.reader import read_manifests
from gitsync.desired.request.build import prepare
from gitsync.desired.request.rules_of_source import check_rules
from gitsync.model.problem import SourceLocation
from gitsync.model.written_rules import RuleEntries, RuleEntry

TODAY = date(2030, 6, 15)
HIDDEN = ("tags", "hidden-*")
TIER = ("properties", "accessTier")

GROUP = """\
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {name: core, namespace: prod}
spec: {location: westeurope}
"""
ACCOUNT = """\
apiVersion: storage.azure.com/v1api20230101
kind: StorageAccount
metadata: {name: files, namespace: NAMESPACE}
spec: {location: westeurope, owner: {armId: /subscriptions/0/resourceGroups/a}, kind: StorageV2, sku: {name: Standard_LRS}}
"""
ANY = """\
apiVersion: azure.gitsync/v1
kind: AzureResource
metadata: {name: logs, namespace: prod}
spec:
  type: Microsoft.OperationalInsights/workspaces@2023-09-01
  owner: {armId: /subscriptions/0/resourceGroups/a}
  body: {location: westeurope}
"""
ROLE = """\
apiVersion: authorization.azure.com/v1api20220401
kind: RoleAssignment
metadata: {name: role, namespace: prod}
spec:
  owner: {armId: /subscriptions/0/resourceGroups/a}
  principalId: 01234567-89ab-cdef-0123-456789abcdef
  roleDefinitionReference: {wellKnownName: Reader}
"""
FILES = {
    "a.yaml": GROUP.encode(),
    "b.yaml": ACCOUNT.replace("NAMESPACE", "prod").encode(),
    "c.yaml": ACCOUNT.replace("NAMESPACE", "dev").encode(),
    "d.yaml": ANY.encode(),
    "e.yaml": ROLE.encode(),
}


def rule(value, line=3):
    return RuleEntries(ignore=(RuleEntry(value, SourceLocation("gitsync.yaml", line)),))


def annotated(name, text):
    """The manifest of a Namespace that ignores a list of fields."""
    lines = "".join(f"      {line}\n" for line in text.splitlines())
    return (
        f"apiVersion: v1\nkind: Namespace\nmetadata:\n  name: {name}\n  annotations:\n    gitsync/ignore: |\n{lines}"
    ).encode()


def prepare_all(rules=None, **namespaces):
    files = FILES | {f"{name}.yaml": annotated(name, text) for name, text in namespaces.items()}
    manifests = read_manifests(files)
    entries = RuleEntries(ignore=rules.ignore if rules else (), namespaces=manifests.rules.namespaces)
    manifests = replace(manifests, rules=entries)
    return manifests, prepare(manifests, catalog=open_catalog(), subscription="0", today=TODAY)


def list_ignored(*given, **namespaces):
    _, prepared = prepare_all(*given, **namespaces)
    return {f"{each.key.namespace}/{each.key.kind}": each.ignored for each in prepared if each.ignored}


def check(*given, is_complete=True, **namespaces):
    manifests, prepared = prepare_all(*given, **namespaces)
    manifests = replace(manifests, resources=tuple(each.resource for each in prepared))
    return list(check_rules(manifests, open_catalog(), TODAY, is_complete=is_complete))


ALL_TAGGED = ("prod/ResourceGroup", "prod/StorageAccount", "dev/StorageAccount", "prod/AzureResource")


@pytest.mark.parametrize(
    ("value", "ignored", "why"),
    [
        ({"tags": "hidden-*"}, dict.fromkeys(ALL_TAGGED, (HIDDEN,)), "all that can have tags"),
        ({"tags": ["*"]}, dict.fromkeys(ALL_TAGGED, (("tags",),)), "all tags"),
        ({"tags": "hidden-link:/a"}, dict.fromkeys(ALL_TAGGED, (("tags", "hidden-link:/a"),)), "names have any characters"),
        ({"tags": "a", "kind": "StorageAccount"}, dict.fromkeys(ALL_TAGGED[1:3], (("tags", "a"),)), "of one kind"),
        ({"tags": "a", "kind": ["storageaccounts", "AzureResource"]}, dict.fromkeys(ALL_TAGGED[1:], (("tags", "a"),)), "of several, by any of their names"),
        ({"tags": "a", "kind": "microsoft.operationalinsights/workspaces"}, {"prod/AzureResource": (("tags", "a"),)}, "of an ARM type"),
        ({"tags": "a", "kind": "Microsoft.Storage/storageAccounts"}, dict.fromkeys(ALL_TAGGED[1:3], (("tags", "a"),)), "which may be that of a kind"),
        ({"tags": "a", "namespace": "d*"}, {"dev/StorageAccount": (("tags", "a"),)}, "of some namespaces"),
        ({"tags": "a", "namespace": ["dev", "prod"], "kind": "ResourceGroup"}, {"prod/ResourceGroup": (("tags", "a"),)}, "both must fit"),
        ("spec.accessTier", dict.fromkeys(ALL_TAGGED[1:3], (TIER,)), "a field alone is of all that have it"),
        ({"path": ["spec.accessTier", "/tags/a"], "namespace": "dev"}, {"dev/StorageAccount": (TIER, ("tags", "a"))}, "several paths"),
        ({"path": "spec.body.properties.sku", "kind": "AzureResource"}, {"prod/AzureResource": (("properties", "sku"),)}, "a field of a body"),
        ({"tags": "a", "until": "2030-06-15", "reason": "A test", "namespace": "dev"}, {"dev/StorageAccount": (("tags", "a"),)}, "the last day counts"),
        ({"tags": "a", "until": "2030-06-14"}, {}, "the day after does not"),
        ({"path": "spec.tags.hidden-*", "namespace": "dev"}, {"dev/StorageAccount": (HIDDEN,)}, "a pattern in a path"),
    ],
)  # fmt: skip
def test_what_a_rule_ignores(value, ignored, why):
    assert list_ignored(rule(value)) == ignored, why
    assert not [problem for problem in check(rule(value)) if problem.is_error], why


def test_a_namespace_has_rules_for_its_resources():
    assert list_ignored(dev="- spec.accessTier\n- tags: [hidden-*]\n") == {"dev/StorageAccount": (TIER, HIDDEN)}


def test_rules_join():
    found = list_ignored(rule({"tags": "hidden-*"}), dev="- kind: StorageAccount\n  path: spec.accessTier\n")
    assert found == {**dict.fromkeys(ALL_TAGGED, (HIDDEN,)), "dev/StorageAccount": (TIER, HIDDEN)}


@pytest.mark.parametrize(
    ("value", "message", "hint"),
    [
        ({"tags": "a", "kind": "StorageAcount"}, "There is no kind StorageAcount.", "Did you mean StorageAccount?"),
        ({"tags": "a", "kind": "Server"}, "Server is a kind of several groups.", "Use Server.dbformariadb.azure.com or Server.sql.azure.com."),
        ({"tags": "a", "kind": "StorageAccount.spec"}, "kind StorageAccount.spec names a field.", "Write the field as path."),
        ({"tags": "a", "kind": "RoleAssignment"}, "RoleAssignment cannot have tags.", "Remove the kind from the rule."),
        ({"path": "spec.accessTeir", "kind": "StorageAccount"}, 'StorageAccount has nothing at spec.accessTeir: "accessTeir" is unknown there.', "Did you mean accessTier?"),
        ({"path": "spec.accessTeir", "kind": "VirtualNetwork"}, 'VirtualNetwork has nothing at spec.accessTeir: "accessTeir" is unknown there.', "Known members"),
        ({"path": "spec.sku.na*", "kind": "StorageAccount"}, 'StorageAccount has nothing at spec.sku.na*: "na*" is unknown there.', "Known members: name"),
        ({"path": "spec.body.tagz.a", "kind": "AzureResource"}, 'AzureResource has nothing at spec.body.tagz.a: "tagz" is unknown there.', "Did you mean tags?"),
        ({"kind": "StorageAccount"}, "Entry 1 has neither a path nor tags.", "Write a list"),
        ({"tagz": "a", "path": "spec.tags"}, "Entry 1 has an unknown key, tagz.", "Did you mean tags?"),
        ({"tags": "a", "until": "tomorrow"}, 'Entry 1 has an until that is not a date, "tomorrow".', "Write it as"),
        ({"tags": [1]}, "Entry 1 has a name in tags that is not text.", "Quote it."),
        ({"tags": ["a"] * 101}, "Entry 1 has 101 names in tags; at most 100 are allowed.", "Use *."),
        ({"tags": "*a" * 300}, "Entry 1 has a name in tags with more than 512 characters.", "Shorten it."),
        ("accessTier", 'Entry 1 has "accessTier", which is not a field of spec.', "Write it as plans do"),
        (7, "Entry 1 has no path that is text.", "Write a list"),
    ],
)  # fmt: skip
def test_a_wrong_rule_is_an_error_of_the_source(value, message, hint):
    problem, *others = [problem for problem in check(rule(value)) if problem.is_error]
    assert (problem.code, problem.message, problem.location) == ("RuleInvalid", f"ignore: {message}", "gitsync.yaml:3")
    assert problem.hint.startswith(hint)
    assert not others
    _, prepared = prepare_all(rule(value))
    assert all(each.is_valid for each in prepared), "the run as a whole is refused"


def test_a_wrong_rule_of_a_namespace_makes_its_resources_invalid():
    text = "- spec.accessTier\n- kind: StorageAccount\n  path: spec.accessTeir\n"
    _, prepared = prepare_all(dev=text)
    found = {
        each.key.namespace: [(p.code, p.location) for p in each.problems] for each in prepared if not each.is_valid
    }
    assert found == {"dev": [("NamespaceRule", "dev.yaml:8")]}
    assert not [problem for problem in check(dev=text) if problem.is_error], "it is said once"


@pytest.mark.parametrize("text", ["path: spec.accessTier", "- a\n- [\n- b", "[]\n---\n[]"])
def test_an_annotation_of_another_form_is_an_error_of_its_resources(text):
    _, prepared = prepare_all(dev=text)
    (problem,) = next(each.problems for each in prepared if each.key.namespace == "dev")
    assert (problem.code, problem.path, problem.line >= 6) == ("NamespaceRule", "dev.yaml", True)


@pytest.mark.parametrize(
    ("value", "message", "hint"),
    [
        ({"tags": "a", "namespace": "prd"}, "no resource has namespace prd.", "Did you mean the namespace prod?"),
        ({"tags": "a", "kind": "VirtualNetwork"}, "no resource has kind VirtualNetwork.", "Remove the rule"),
        ({"path": "spec.sku", "kind": "StorageAccount", "namespace": "x*"}, "no resource has kind StorageAccount and namespace x*.", "Remove the rule"),
    ],
)  # fmt: skip
def test_a_rule_for_no_resource_is_a_warning(value, message, hint):
    (problem,) = check(rule(value))
    assert (problem.code, problem.is_error) == ("RuleUnused", False)
    assert problem.message == f"ignore: The rule ignores nothing: {message}"
    assert problem.hint.startswith(hint)
    assert check(rule(value), is_complete=False) == [], "the rest of the source may have one"


def test_the_number_of_paths_and_tags_is_limited():
    entries = tuple(
        RuleEntry({"tags": [f"t{number}-{name}" for name in range(100)]}, SourceLocation("gitsync.yaml", number))
        for number in range(1, 20)
    )
    (problem,) = check(RuleEntries(ignore=entries))
    assert (problem.code, problem.location) == ("RuleInvalid", "gitsync.yaml:11")
    assert problem.message == "ignore: The rules have more than 1000 paths and tags together."


def test_a_rule_that_has_expired_is_reported():
    (problem,) = check(rule({"tags": "team", "until": "2030-06-14"}))
    assert (problem.code, problem.is_error) == ("IgnoreExpired", False)
    assert problem.message == "ignore: tags team was ignored until 2030-06-14, and is written again."


def test_annotations_that_a_namespace_does_not_have_are_reported():
    text = annotated("dev", "- spec.accessTier").replace(b"gitsync/ignore", b"gitsync/ignores")
    manifests = read_manifests(FILES | {"dev.yaml": text})
    (problem,) = check_rules(manifests, open_catalog(), TODAY, is_complete=True)
    assert (problem.code, problem.location, problem.is_error) == ("UnknownAnnotation", "dev.yaml:6", False)
    assert problem.hint == "Did you mean gitsync/ignore?"


def test_a_namespace_without_resources_is_not_checked():
    assert check(other="- spec.nothing\n") == []
