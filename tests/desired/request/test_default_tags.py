"""Default tags: which resources get them, that the nearer wins, and where each is set."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.manifests.reader import read_manifests
from gitsync.desired.problems.finding import find_location
from gitsync.desired.request.build import prepare
from gitsync.desired.request.default_tags import find_default_tag, list_default_tags
from gitsync.desired.request.rules_of_source import check_rules
from gitsync.model.problem import SourceLocation
from gitsync.model.written_rules import RuleEntries, RuleEntry

CATALOG = open_catalog()

GROUP = """\
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {name: core}
spec: {location: westeurope, tags: TAGS}
"""
ANY = """\
apiVersion: azure.gitsync/v1
kind: AzureResource
metadata: {name: logs}
spec:
  type: TYPE
  owner: {armId: /subscriptions/0/resourceGroups/a}
  body: BODY
"""
WORKSPACE = "Microsoft.OperationalInsights/workspaces@2023-09-01"


def namespace(text, name="default"):
    lines = "".join(f"      {line}\n" for line in text.splitlines())
    return f"apiVersion: v1\nkind: Namespace\nmetadata:\n  name: {name}\n  annotations:\n    gitsync/tags: |\n{lines}"


def read(manifest, tags=None, of_namespace=""):
    """Prepare one manifest with the tags of gitsync.yaml, one in each line, and of its Namespace."""
    files = {"a.yaml": manifest.encode(), **({"ns.yaml": namespace(of_namespace).encode()} if of_namespace else {})}
    pairs = enumerate((tags or {}).items(), start=2)
    entries = tuple(RuleEntry(pair, SourceLocation("gitsync.yaml", line)) for line, pair in pairs)
    manifests = read_manifests(files)
    return replace(manifests, rules=RuleEntries(tags=entries, namespaces=manifests.rules.namespaces))


def make(manifest, tags=None, of_namespace=""):
    (prepared,) = prepare(read(manifest, tags, of_namespace), catalog=CATALOG, subscription="0")
    return prepared


def tags_of(prepared):
    return prepared.template.body.get("tags")


def where(prepared):
    return {name: str(source) for name, source in list_default_tags(prepared.resource).items()}


@pytest.mark.parametrize(
    ("own", "of_namespace", "of_source", "tags", "sources", "why"),
    [
        ("{}", "", {"team": "a"}, {"team": "a"}, {"team": "gitsync.yaml:2"}, "of gitsync.yaml"),
        ("{}", "team: b\nenv: dev", {"team": "a"}, {"team": "b", "env": "dev"}, {"team": "ns.yaml:7", "env": "ns.yaml:8"}, "the Namespace is nearer"),
        ("{team: c}", "team: b", {"team": "a", "x": "y"}, {"team": "c", "x": "y"}, {"x": "gitsync.yaml:3"}, "the manifest is nearest"),
        ("{TEAM: c}", "Team: b", {"team": "a"}, {"TEAM": "c"}, {}, "names have no case"),
        ("{}", "Team: b", {"team": "a"}, {"Team": "b"}, {"Team": "ns.yaml:7"}, "also between defaults"),
        ("{}", "team: null", {"team": "a", "x": "y"}, {"x": "y"}, {"x": "gitsync.yaml:3"}, "a Namespace does without one"),
        ("{team: null}", "", {"team": "a", "x": "y"}, {"x": "y"}, {"x": "gitsync.yaml:3"}, "and so does a manifest"),
        ("{a: b}", "", {}, {"a": "b"}, {}, "no default"),
        ("null", "", {"team": "a"}, {"team": "a"}, {"team": "gitsync.yaml:2"}, "no tags of its own"),
    ],
)  # fmt: skip
def test_the_nearer_wins(own, of_namespace, of_source, tags, sources, why):
    prepared = make(GROUP.replace("TAGS", own), of_source, of_namespace)
    assert (tags_of(prepared), where(prepared)) == (tags, sources), why
    assert not prepared.problems


@pytest.mark.parametrize(
    ("arm_type", "body", "tags", "why"),
    [
        (WORKSPACE, "{location: a}", {"team": "x"}, "by ARM's type"),
        (WORKSPACE, "{location: a, tags: {Team: v, b: c}}", {"Team": "v", "b": "c"}, "the manifest is nearer"),
        (WORKSPACE, "{location: a, tags: {b: c}}", {"b": "c", "team": "x"}, "they join its own"),
        ("Microsoft.Authorization/roleAssignments@2022-04-01", "{properties: {}}", None, "a type without tags"),
        ("Microsoft.OperationalInsights/workspaces@2199-09-01", "{location: a}", None, "a version without facts"),
    ],
)
def test_an_azure_resource(arm_type, body, tags, why):
    prepared = make(ANY.replace("TYPE", arm_type).replace("BODY", body), {"team": "x"})
    assert prepared.resource.spec["body"].get("tags") == tags, why


def test_a_name_that_would_be_a_word_of_a_body_is_escaped():
    prepared = make(ANY.replace("TYPE", WORKSPACE).replace("BODY", "{location: a}"), {"$secret": "x"})
    assert tags_of(prepared) == {"$secret": "x"}
    assert where(prepared) == {"$secret": "gitsync.yaml:2"}


def test_tags_of_the_annotation_for_the_body_are_nearer():
    manifest = GROUP.replace("{name: core}", "{name: core, annotations: {gitsync/body: '{tags: {Team: v}}'}}")
    assert tags_of(make(manifest.replace("TAGS", "{}"), {"team": "x", "a": "b"})) == {"a": "b", "Team": "v"}


def test_only_kinds_with_tags_get_them():
    for group in CATALOG.groups():
        for name in CATALOG.kinds(group):
            kind = CATALOG.newest(group, name)
            manifest = f"apiVersion: {group}/{kind.gvk.version}\nkind: {name}\nmetadata: {{name: a}}\nspec: {{}}\n"
            added = list_default_tags(make(manifest, {"team": "x"}).resource)
            field = kind.types[kind.spec]["fields"].get("tags", {})
            assert bool(added) is (field.get("arm") == "tags"), name


def test_a_default_tag_has_the_location_of_its_default():
    resource = make(GROUP.replace("TAGS", "{own: a}"), {"team": "x"}).resource
    assert str(find_location(("spec", "tags", "team"), resource)) == "gitsync.yaml:2"
    assert str(find_location(("spec", "tags", "own"), resource)) == "a.yaml:4"
    assert find_default_tag(resource, ("spec", "tags", "team"))
    assert find_default_tag(resource, ("spec", "tags", "own")) is None


NAMES = st.sampled_from(["team", "Team", "TEAM", "env", "cost"])
LAYER = st.dictionaries(NAMES, st.sampled_from("abc"), max_size=3).filter(
    lambda tags: len({name.casefold() for name in tags}) == len(tags)
)


@given(LAYER, LAYER, LAYER)
def test_every_tag_is_that_of_the_nearest_layer(own, of_namespace, of_source):
    lines = "\n".join(f"{name}: {value}" for name, value in of_namespace.items())
    prepared = make(GROUP.replace("TAGS", str(own)), of_source, lines)
    expected = {}
    for layer in (of_source, of_namespace, own):
        expected |= {name.casefold(): (name, value) for name, value in layer.items()}
    assert {name: (name, value) for name, value in (tags_of(prepared) or {}).items()} == {
        name: (name, value) for name, value in expected.values()
    }


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("a/b", "x", 'tags: "a/b" is not a name of a tag.'),
        ("", "x", 'tags: "" is not a name of a tag.'),
        ("a" * 513, "x", 'tags: "aaaaaaaaaa'),
        ("a", "x" * 257, 'tags: The value of the tag "a" is too long.'),
        ("a", 7, 'tags: The value of the tag "a" is not text.'),
        ("a", None, 'tags: The value of the tag "a" is not text.'),
    ],
)
def test_a_wrong_tag_is_an_error_of_the_source(name, value, message):
    manifests = read(GROUP.replace("TAGS", "{}"), {name: value})
    (problem,) = check_rules(manifests, CATALOG, None, is_complete=True)
    assert (problem.code, problem.location) == ("RuleInvalid", "gitsync.yaml:2")
    assert problem.message.startswith(message)


def test_a_name_that_is_given_twice_is_an_error():
    (problem,) = check_rules(read(GROUP.replace("TAGS", "{}"), {"a": "x", "A": "y"}), CATALOG, None, is_complete=True)
    assert (problem.location, problem.message) == ("gitsync.yaml:3", 'tags: The tag "A" is given twice.')


def test_more_tags_than_azure_takes_are_an_error():
    manifests = read(GROUP.replace("TAGS", "{}"), {f"t{number}": "x" for number in range(51)})
    (problem,) = check_rules(manifests, CATALOG, None, is_complete=True)
    assert problem.message == "tags: There are more than 50 tags, and Azure allows no more."


@pytest.mark.parametrize("text", ["[a]", "team: 7", "team: [a]", "a: b\n---\nc: d", "{"])
def test_a_wrong_annotation_makes_the_resources_invalid(text):
    prepared = make(GROUP.replace("TAGS", "{}"), of_namespace=text)
    assert [problem.code for problem in prepared.problems] == ["NamespaceRule"]
    assert not prepared.is_valid


def test_tags_for_no_resource_are_a_warning():
    role = "apiVersion: authorization.azure.com/v1api20220401\nkind: RoleAssignment\nmetadata: {name: a}\nspec: {}\n"
    manifests = read(role, {"team": "x"}, "env: dev")
    found = list(check_rules(manifests, CATALOG, None, is_complete=True))
    assert [(problem.code, problem.location, problem.is_error) for problem in found] == [
        ("RuleUnused", "gitsync.yaml:2", False),
        ("RuleUnused", "ns.yaml:7", False),
    ]
    assert list(check_rules(manifests, CATALOG, None, is_complete=False)) == []


def test_the_annotation_is_not_for_a_manifest():
    manifest = GROUP.replace("{name: core}", "{name: core, annotations: {gitsync/tags: 'a: b'}}").replace("TAGS", "{}")
    (problem,) = make(manifest).problems
    assert (problem.code, problem.hint) == ("UnknownAnnotation", "Write the tags into spec.")
