"""`explain` for ARM types: which type a text names, and what is known of it and of its members."""

import json
import random
from itertools import zip_longest

import pytest

from gitsync.cli.main import run
from gitsync.desired.catalog.arm_types import open_arm_types
from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.catalog.refused_types import find_refusal
from gitsync.desired.catalog.releases import read_catalog_release
from gitsync.desired.catalog.type_paths import find_type_path, names_type
from gitsync.desired.editor.type_examples import build_type_example
from gitsync.desired.manifests.reader import read_manifests
from gitsync.desired.manifests.yaml_output import dump
from gitsync.desired.request.build import prepare
from gitsync.desired.validation.explain_type import explain_type
from gitsync.errors import ConfigError
from gitsync.model.problem import Level

CATALOG, TYPES = open_catalog(), open_arm_types()


def explain(text, version=None, **more):
    return explain_type(find_type_path(text, version), CATALOG, **more)


FLOW = f"""\
kind:       AzureResource
apiVersion: azure.gitsync/v1
ARM:        Microsoft.Logic/workflows, api-version 2016-06-01
versions:   newest stable 2019-05-01, newest preview 2018-07-01-preview, 4 in all
ASO:        no kind
owner:      a resource group
name:       spec.azureName, else metadata.name
Azure can:  delete, get, head, put
actions:    generateUpgradedDefinition, listCallbackUrl, listSwagger
catalog:    {read_catalog_release()}

spec.body.properties.state: string
  one of NotSpecified, Completed, Enabled, Disabled, Deleted or Suspended
"""


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["Microsoft.Logic/workflows@2016-06-01.properties.state"], "as manifests have the type"),
        (["microsoft.logic/WORKFLOWS@2016-06-01.Properties.STATE"], "ARM has no case"),
        (["Microsoft.Logic/workflows.properties.state", "--api-version", "2016-06-01"], "the version apart"),
        (["Microsoft.Logic/workflows.properties.state@2016-06-01"], "the version at the end"),
        (["Microsoft.Logic/workflows.spec.body.properties.state@2016-06-01"], "as a manifest has the field"),
    ],
)
def test_a_member_of_a_body(words, why, capsys):
    assert run(["explain", *words]) == 0, why
    assert capsys.readouterr().out == FLOW, why


def test_a_type_without_a_version_is_described_at_its_newest_stable_one(capsys):
    assert run(["explain", "Microsoft.Logic/workflows", "--output", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["kind"], found["arm"], found["aso"], found["type"]) == (
        "AzureResource",
        "Microsoft.Logic/workflows, api-version 2019-05-01",
        "no kind",
        "object",
    )
    assert [row["name"] for row in found["fields"]] == ["identity", "location", "properties", "tags"]


@pytest.mark.parametrize(
    ("text", "heading", "expected", "why"),
    [
        (
            "Microsoft.Storage/storageAccounts",
            "ASO",
            "StorageAccount.storage.azure.com, at 2025-06-01, 2023-01-01, 2022-09-01 or 2021-04-01",
            "ASO has a kind",
        ),
        ("Microsoft.Web/sites/slots", "owner", "a Microsoft.Web/sites", "a child"),
        ("Microsoft.Consumption/budgets", "owner", "any resource or scope", "an extension"),
        ("Microsoft.Management/managementGroups", "owner", "the tenant", "in the tenant"),
        ("Microsoft.Security/pricings", "owner", "any resource or scope", "several scopes"),
        ("Microsoft.Storage/storageAccounts/blobServices", "name", "default", "a singleton"),
        ("Microsoft.Storage/storageAccounts/blobServices", "Azure can", "get, put", "which has no delete"),
        ("Microsoft.Logic/workflows/runs", "Azure can", "get", "can only be read"),
        ("Microsoft.Logic/workflows/runs", "kind", "none: resources of the type can only be read", "no manifest"),
        ("Microsoft.Billing/billingPeriods/Microsoft.Consumption", "Azure can", "get", "a name with a dot"),
    ],
)
def test_facts_of_a_type(text, heading, expected, why):
    assert dict(explain(text).facts).get(heading) == expected, why


def test_a_type_that_gitsync_does_not_write_has_the_reason():
    assert dict(explain("Microsoft.Resources/deployments").facts)["refused"].startswith("a deployment is a list")


@pytest.mark.parametrize(
    ("text", "notes", "why"),
    [
        ("Microsoft.Storage/storageAccounts.sku", ("required",), "required"),
        ("Microsoft.Logic/workflows.properties.provisioningState", "set by Azure", "read-only"),
        ("Microsoft.Sql/servers.properties.administratorLoginPassword", "may be a secret: use $secret", "a secret"),
        ("Microsoft.Security/settings.properties", (), "all variants have it"),
        ("Microsoft.Web/sites/config.properties.alwaysOn", (), "of one variant of what is around it"),
        ("Microsoft.KeyVault/vaults.properties.accessPolicies.permissions", ("required",), "in the items of a list"),
    ],
)
def test_notes_of_a_member(text, notes, why):
    found = explain(text).notes
    assert found == notes if isinstance(notes, tuple) else notes in found, why


def test_a_member_of_some_variants_names_them():
    rows = {row.name: row for row in explain("Microsoft.DataFactory/factories/linkedservices.properties").rows}
    assert rows["type"].notes[:1] == ("required",)
    assert not any(note.startswith("if ") for note in rows["type"].notes)


def test_recursion_ends_at_a_type_that_contains_itself():
    rows = explain("Microsoft.DataFactory/factories/pipelines", recursive=True).rows
    assert max(row.depth for row in rows) >= 3


@pytest.mark.parametrize(
    ("text", "message", "hint", "why"),
    [
        ("Microsoft.Logic/workflow", "There is no ARM type Microsoft.Logic/workflow.", "workflows?", "a slip"),
        ("Microsoft.Logics/workflows.tags", "There is no ARM type Microsoft.Logics/workflows.", "Did you", "in front"),
        ("Microsoft.Logic/nothingLikeIt", "There is no ARM type", "Types of Microsoft.Logic: ", "unlike any"),
        ("Contoso.Shop/orders", "There is no ARM type Contoso.Shop/orders.", "Fix the namespace", "no namespace"),
        ("Microsoft.Logic/workflows@2019-05-02", "no facts", "Did you mean 2019-05-01?", "an unknown version"),
        ("Microsoft.Logic/workflows@", "at no version", "", "nothing behind the @"),
        (
            "Microsoft.Logic/workflows.properties.stat",
            "There is no field spec.body.properties.stat.",
            "state?",
            "field",
        ),
    ],
)
def test_unknown_names(text, message, hint, why):
    with pytest.raises(ConfigError, match=message) as caught:
        explain(text)
    assert hint in (caught.value.hint or ""), why


@pytest.mark.parametrize(
    ("text", "expected", "why"),
    [
        ("Microsoft.Logic/workflows", True, "a type"),
        ("microsoft.insights/diagnosticSettings@2021-05-01-preview", True, "with a version"),
        ("storage.azure.com/v20230101/StorageAccount", False, "a kind with its group and version"),
        ("azure.gitsync/v1/AzureResource", False, "the kind for any type"),
        ("StorageAccount.spec.sku", False, "a kind"),
        ("Microsoft.Logic", False, "a namespace"),
    ],
)
def test_what_names_a_type(text, expected, why):
    assert names_type(text) is expected, why


def test_the_last_part_of_a_type_leads_to_it(capsys):
    assert run(["explain", "budgets"]) == 2
    assert "Did you mean Microsoft.Consumption/budgets" in capsys.readouterr().err


def test_a_namespace_lists_its_types(capsys):
    assert run(["explain", "microsoft.logic"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "Microsoft.Logic/workflows" in lines
    assert all(line.startswith("Microsoft.Logic/") for line in lines)


def test_the_kind_for_any_type(capsys):
    assert run(["explain", "AzureResource"]) == 0
    out = capsys.readouterr().out
    assert "ARM:        any type at any api-version, as spec.type names them\n" in out
    assert "{$secret: …}" in out


# Examples.


def list_errors(matches):
    """The errors of the examples of some types, each of another, as the manifests of one source."""
    examples = [build_type_example(match, CATALOG) for match in matches]
    for index, example in enumerate(examples):
        example["metadata"]["namespace"] = f"n{index}"
    manifests = read_manifests({f"{index}.yaml": dump(example) for index, example in enumerate(examples)})
    prepared = prepare(manifests, catalog=CATALOG, subscription="0")
    assert len(prepared) == len(matches)
    problems = [*manifests.problems, *(problem for resource in prepared for problem in resource.problems)]
    return [
        (examples[int(problem.path.removesuffix(".yaml"))]["spec"]["type"], problem)
        for problem in problems
        if problem.level is Level.ERROR
    ]


def test_the_example_of_a_type_is_valid():
    """The example of every type at its newest version, and of a sample at all versions."""
    names = [name for name in TYPES.list_names() if TYPES.find_type(name).is_writable and find_refusal(name) is None]
    sample = random.Random(53).sample(names, 60)
    versions = [
        [find_type_path(name, version) for version, facts in TYPES.find_type(name).versions.items() if facts.writable]
        for name in sample
    ]
    batches = [[find_type_path(name) for name in names]]
    batches += [list(filter(None, batch)) for batch in zip_longest(*versions)]
    assert sum(map(len, batches)) > 2_600
    assert [error for batch in batches for error in list_errors(batch)] == []


EXAMPLE = """\
apiVersion: azure.gitsync/v1
kind: AzureResource
metadata:
  name: example
spec:
  type: Microsoft.Web/sites/config@2022-03-01
  azureName: appsettings
  owner:
    armId: /subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/example/providers/Microsoft.Web/sites/example
  body: {}
"""


def test_an_example_on_the_command_line(capsys, tmp_path):
    assert run(["explain", "Microsoft.Web/sites/config@2022-03-01", "--example"]) == 0
    out = capsys.readouterr().out
    assert out == EXAMPLE
    (tmp_path / "config.yaml").write_text(out)
    assert run(["validate", str(tmp_path)]) == 0


@pytest.mark.parametrize(
    ("text", "member", "value", "why"),
    [
        ("Microsoft.Sql/servers/keys", "owner", "/servers/example", "the parent"),
        ("Microsoft.Authorization/locks", "body", {"properties": {"level": "NotSpecified"}}, "the first choice"),
        ("Microsoft.Management/managementGroups", "owner", "/", "in the tenant"),
        ("AzureResource", "type", "Microsoft.Logic/workflows@2019-05-01", "the kind, of a usual type"),
    ],
)
def test_parts_of_examples(text, member, value, why, capsys):
    assert run(["explain", text, "--example", "--output", "json"]) == 0
    found = json.loads(capsys.readouterr().out)["spec"][member]
    assert found["armId"].endswith(value) if member == "owner" else found == value, why


@pytest.mark.parametrize(
    ("text", "message", "why"),
    [
        ("Microsoft.Resources/deployments", "does not write", "refused"),
        ("Microsoft.Logic/workflows/runs", "can only be read", "no request writes it"),
    ],
)
def test_types_without_an_example(text, message, why, capsys):
    assert run(["explain", text, "--example"]) == 2, why
    assert message in capsys.readouterr().err, why


def test_a_script_has_the_consent_that_it_needs():
    example = build_type_example(find_type_path("Microsoft.Resources/deploymentScripts"), CATALOG)
    assert example["metadata"]["annotations"] == {"gitsync/run-script": "allow"}
