"""Rules of gitsync.yaml and of Namespaces in whole runs: ignored fields and tags, default tags, and wrong rules."""

from __future__ import annotations

import textwrap

import pytest

from gitsync.agent.run.revision_plan import plan_revisions
from gitsync.errors import UnsafePlanError
from gitsync.model.verdict import Action, Verdict
from gitsync.settings.config.config import Config
from gitsync.settings.redaction import Redactions
from tests.support.loose_git import LooseAccess
from tests.support.world import GROUP, GROUP_ID, VNET, VNET_ID, World, annotated, of
from tests.workflows.accept.test_accept import accept

TAGGED = GROUP.replace("location: westeurope", "location: westeurope\n      tags: {team: git, env: git}")
ANY_ID = f"{GROUP_ID}/providers/Microsoft.OperationalInsights/workspaces/logs"
ANY = """\
    apiVersion: azure.gitsync/v1
    kind: AzureResource
    metadata:
      name: logs
    spec:
      type: Microsoft.OperationalInsights/workspaces@2023-09-01
      owner: {group: resources.azure.com, kind: ResourceGroup, name: core}
      body:
        location: westeurope
        tags: {team: git}
        properties: {retentionInDays: 30}
    """
HIDDEN = "ignore:\n- tags: [hidden-*]\n"


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def says(world, rules="", namespace="", **documents):
    files = {f"{name}.yaml": textwrap.dedent(text) for name, text in documents.items()}
    if namespace:
        lines = textwrap.indent(namespace, "    ")
        files["ns.yaml"] = f"apiVersion: v1\nkind: Namespace\nmetadata:\n  name: default\n  annotations:\n{lines}"
    return world.says_files({"gitsync.yaml": rules, **files})


def change(world, arm_id, **tags):
    """Set tags in Azure: None removes one."""
    values = {f"/tags/{name}": value for name, value in tags.items() if value is not None}
    world.somebody_changes(arm_id, values, remove=[f"/tags/{name}" for name, value in tags.items() if value is None])


def tags(world, arm_id=GROUP_ID):
    version = "2023-09-01" if arm_id == ANY_ID else "2024-03-01" if arm_id == VNET_ID else "2020-06-01"
    return world.read(arm_id, version).get("tags")


@pytest.mark.parametrize(
    ("rules", "namespace"),
    [(HIDDEN, ""), ("", "gitsync/ignore: |\n  - spec.tags.hidden-*\n")],
)
def test_tags_of_a_pattern_are_not_drift_and_an_update_keeps_them(world, rules, namespace):
    """There is a group for each method of an update."""
    names = ("put", "patch")
    documents = {
        name: annotated(TAGGED, **{"gitsync/update-method": name}).replace("name: core", f"name: {name}")
        for name in names
    }
    says(world, rules, namespace, **documents).sync()
    for name in names:
        change(world, GROUP_ID.replace("core", name), **{"hidden-title": "a", "Hidden-link": "b"})
    planned, synced = world.plan(), world.sync()
    newer = {name: text.replace("env: git", "env: new") for name, text in documents.items()}
    report = says(world, rules, namespace, **newer).sync()
    assert [line.split()[0] for line in sorted(world.writes)] == ["PATCH", "PUT"]
    again = world.sync()
    for name in names:
        found = of(planned, "ResourceGroup", name)
        assert (found.verdict, found.comparison.outside) == (Verdict.IN_SYNC, ()), name
        assert of(synced, "ResourceGroup", name).verdict is Verdict.IN_SYNC, name
        assert of(report, "ResourceGroup", name).action is Action.UPDATE, name
        kept = {"team": "git", "env": "new", "hidden-title": "a", "Hidden-link": "b"}
        assert tags(world, GROUP_ID.replace("core", name)) == kept, name
        assert of(again, "ResourceGroup", name).verdict is Verdict.IN_SYNC, name


def test_tags_of_an_azure_resource(world):
    says(world, HIDDEN, group=GROUP, logs=ANY).sync()
    change(world, ANY_ID, **{"hidden-title": "a"})
    assert of(world.plan(), "AzureResource").verdict is Verdict.IN_SYNC
    report = says(world, HIDDEN, group=GROUP, logs=ANY.replace("retentionInDays: 30", "retentionInDays: 60")).sync()
    assert of(report, "AzureResource").action is Action.UPDATE
    assert tags(world, ANY_ID) == {"team": "git", "hidden-title": "a"}


def test_tags_of_a_resource_whose_manifest_has_none(world):
    account = """\
    apiVersion: storage.azure.com/v1api20230101
    kind: StorageAccount
    metadata: {name: files0123}
    spec:
      location: westeurope
      owner: {name: core}
      kind: StorageV2
      sku: {name: Standard_LRS}
    """
    arm_id = f"{GROUP_ID}/providers/Microsoft.Storage/storageAccounts/files0123"
    says(world, HIDDEN, group=GROUP, files=account).sync()
    change(world, arm_id, **{"hidden-title": "a"})
    assert of(world.plan(), "StorageAccount").verdict is Verdict.IN_SYNC
    says(world, HIDDEN, group=GROUP, files=account.replace("sku:", "minimumTlsVersion: TLS1_2\n      sku:")).sync()
    assert world.read(arm_id, "2023-01-01")["tags"] == {"hidden-title": "a"}
    assert of(world.plan(), "StorageAccount").verdict is Verdict.IN_SYNC


def test_a_tag_that_git_sets_is_azures_once_a_rule_ignores_it(world):
    says(world, group=TAGGED).sync()
    change(world, GROUP_ID, team="azure")
    assert of(world.plan(), "ResourceGroup").verdict is Verdict.DRIFTED
    says(world, "ignore:\n- tags: t*m\n", group=TAGGED)
    assert of(world.sync(), "ResourceGroup").verdict is Verdict.IN_SYNC
    assert tags(world) == {"team": "azure", "env": "git"}


def test_a_field_by_kind_and_namespace(world):
    rules = "ignore:\n- path: spec.addressSpace\n  kind: VirtualNetwork\n  namespace: default\n"
    says(world, rules, group=GROUP, hub=VNET).sync()
    world.somebody_changes(VNET_ID, {"/properties/addressSpace/addressPrefixes": ["10.0.0.0/16", "10.9.0.0/16"]})
    assert of(world.plan(), "VirtualNetwork").verdict is Verdict.IN_SYNC
    says(world, rules.replace("default", "other"), group=GROUP, hub=VNET)
    report = world.plan()
    assert of(report, "VirtualNetwork").verdict is Verdict.PENDING
    assert [problem.code for problem in report.problems] == ["RuleUnused"]
    assert not world.plan(only=("VirtualNetwork/hub",)).problems, "the rest of the source may have one"


def test_a_default_tag_is_a_change_of_all_resources_that_it_reaches(world):
    says(world, "tags:\n  team: one\n", group=GROUP, hub=VNET, logs=ANY).sync()
    assert (tags(world), tags(world, VNET_ID), tags(world, ANY_ID)) == (
        {"team": "one"},
        {"team": "one"},
        {"team": "git"},
    )
    says(world, "tags:\n  team: two\n", group=GROUP, hub=VNET, logs=ANY)
    for report in (world.plan(), plan_revisions(revisions(world), world.clock, Redactions(), LooseAccess())):
        changed = {result.key.kind: result for result in report.results if result.verdict is Verdict.PENDING}
        assert changed.keys() == {"ResourceGroup", "VirtualNetwork"}
        (field,) = changed["VirtualNetwork"].comparison.fields.values()
        assert (field.name, str(field.source)) == ("spec.tags.team", "gitsync.yaml:2")
    world.sync()
    assert tags(world, VNET_ID) == {"team": "two"}
    says(world, group=GROUP, hub=VNET, logs=ANY).sync()
    assert tags(world, VNET_ID) in (None, {}), "a default that goes takes its tags with it"


def revisions(world):
    return Config(source=str(world.folder), from_revision="HEAD~1", to_revision="HEAD")


def test_the_plan_of_a_create_names_where_default_tags_are_set(world):
    says(world, "tags:\n  team: one\n", "gitsync/tags: |\n  env: dev\n", group=GROUP)
    change = of(world.plan(), "ResourceGroup").change
    assert change.body["tags"] == {"team": "one", "env": "dev"}
    assert {name: str(source) for name, source in change.default_tags.items()} == {
        "env": "ns.yaml:7",
        "team": "gitsync.yaml:2",
    }


def test_a_default_tag_is_never_written_into_a_manifest(world):
    says(world, "tags:\n  team: one\n  env: dev\n", group=TAGGED.replace("env: git", "own: git"), hub=VNET).sync()
    change(world, GROUP_ID, env="azure", own="azure")
    change(world, VNET_ID, team=None)
    found = world.plan()
    assert [of(found, kind).verdict for kind in ("ResourceGroup", "VirtualNetwork")] == [Verdict.DRIFTED] * 2
    accepted = accept(world, found)
    assert {(left.key.kind, left.field, left.reason) for left in accepted.left} == {
        ("ResourceGroup", "spec.tags.env", "It is a default tag, which gitsync.yaml:3 sets."),
        ("VirtualNetwork", "spec.tags.team", "It is a default tag, which gitsync.yaml:2 sets."),
    }
    assert [text.decode().count("azure") for text in accepted.texts.values()] == [2], "its own tag, and the apiVersion"
    assert of(world.plan(), "VirtualNetwork").verdict is Verdict.DRIFTED
    assert [d.path for d in of(world.plan(), "ResourceGroup").differences] == ["/tags/env"]


def test_another_tag_is_accepted_into_a_manifest_without_the_defaults(world):
    says(world, "tags:\n  team: one\n", group=GROUP, hub=VNET).sync()
    change(world, VNET_ID, stray="azure")
    accepted = accept(world, world.plan(), ("VirtualNetwork/hub",))
    (text,) = accepted.texts.values()
    assert ("stray: azure" in text.decode(), "team" in text.decode()) == (True, False)
    assert of(world.plan(), "VirtualNetwork").comparison.outside == ()


def test_a_wrong_rule_of_the_source_refuses_a_sync_and_a_plan_shows_it(world):
    says(world, "ignore:\n- path: spec.tagz\n  kind: ResourceGroup\n", group=GROUP)
    report = world.plan()
    assert [(problem.code, problem.location) for problem in report.problems] == [("RuleInvalid", "gitsync.yaml:2")]
    assert of(report, "ResourceGroup").verdict is Verdict.CREATE
    with pytest.raises(UnsafePlanError, match=r"RuleInvalid: gitsync.yaml:2: ignore: ResourceGroup has nothing"):
        world.sync()
    assert not world.writes


def test_a_wrong_rule_of_a_namespace_stops_its_resources_only(world):
    other = GROUP.replace("name: core", "name: other\n      namespace: other")
    says(world, "", "gitsync/ignore: '[spec.tagz]'\n", group=GROUP, other=other)
    report = world.sync()
    assert of(report, "ResourceGroup", "core").verdict is Verdict.INVALID
    assert of(report, "ResourceGroup", "other").action is Action.CREATE
    assert [(problem.code, problem.location) for problem in report.problems] == [("NamespaceRule", "ns.yaml:6")]


def test_variables_of_a_namespace_have_their_values(world):
    rules = "units: [{path: ., substitute: true}]\n"
    document = "gitsync/tags: |\n  team: ${TEAM}\n"
    report = says(world, rules, document, group=GROUP).plan(variables=(("TEAM", "web"),))
    assert of(report, "ResourceGroup").change.body["tags"] == {"team": "web"}
