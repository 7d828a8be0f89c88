"""`gitsync explain`: what a kind may say, from the command line."""

import json

import pytest

from gitsync.cli.main import run
from gitsync.desired.catalog.releases import read_catalog_release
from gitsync.planning.delete_guards import GUARDS
from gitsync.planning.delete_stops import DELETE_STOPS


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


CATALOG = f"catalog:    {read_catalog_release()}\n"
TEXT = f"""\
kind:       StorageAccount
apiVersion: storage.azure.com/v20230101
also:       v20250601, v1api20230101, v20220901, v1api20220901, v20210401, v1api20210401
served:     by ASO 2.18 and later
ARM:        Microsoft.Storage/storageAccounts, api-version 2023-01-01
owner:      a ResourceGroup (resources.azure.com) by name, or by armId
name:       spec.azureName, else metadata.name; 3 to 24 characters; matches ^[a-z0-9]+$; made of lower-case letters and digits
Azure can:  delete, get, put
means:      The size and price of the resource.
{CATALOG}
spec.sku: Sku
  required
  ARM: sku

FIELD   TYPE     RULES
name    string   required; one of Premium_LRS, Premium_ZRS, Standard_GRS, Standard_GZRS, Standard_LRS, \
Standard_RAGRS, Standard_RAGZRS or Standard_ZRS; ARM: sku/name
tier    string   one of Premium or Standard; ARM: sku/tier
"""


def test_a_field(capsys):
    assert run(["explain", "StorageAccount.sku", "--api-version", "v20230101"]) == 0
    assert capsys.readouterr().out == TEXT


def test_all_kinds(capsys):
    assert run(["explain"]) == 0
    *lines, empty, catalog = capsys.readouterr().out.splitlines()
    assert len(lines) > 280
    assert (empty, catalog) == ("", f"catalog: {read_catalog_release()}")
    assert "ResourceGroup.resources.azure.com" in lines


def test_all_kinds_as_json(capsys):
    assert run(["explain", "--output", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["resources.azure.com"] == ["ResourceGroup"]


def test_recursion_is_indented(capsys):
    assert run(["explain", "ResourceGroup", "--recursive"]) == 0
    assert "\n  configMapExpressions " in capsys.readouterr().out


def test_a_field_without_fields_has_no_table(capsys):
    assert run(["explain", "ResourceGroup.location"]) == 0
    assert capsys.readouterr().out.endswith(
        "\nspec.location: string\n  required\n  ARM: location\n  cannot be changed after the create\n"
    )


def test_json(capsys):
    assert run(["explain", "ResourceGroup.tags", "--output", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["field"], told["type"], told["rules"], told["fields"]) == (
        "spec.tags",
        "map of string",
        ["ARM: tags"],
        [],
    )


NETWORK = """\
kind:       VirtualNetwork
apiVersion: network.azure.com/v20250301
also:       v1api20240301, v1api20201101
served:     by ASO 2.19 and later
ARM:        Microsoft.Network/virtualNetworks, api-version 2025-03-01
owner:      a ResourceGroup (resources.azure.com) by name, or by armId
name:       spec.azureName, else metadata.name; made of letters, digits, `_`, `.` and `-`, with a letter or digit first, and a letter, digit or `_` last
Azure can:  delete, get, put
called:     vnet, network
owns:       VirtualNetworksSubnet, VirtualNetworksVirtualNetworkPeering
"""


def test_a_kind_by_an_everyday_name_with_what_refers_to_it(capsys):
    assert run(["explain", "vnet"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(NETWORK)
    assert "\nFields that refer to it:\n" in out
    assert "\n  DnsResolver.spec.virtualNetwork.reference\n" in out
    assert "\n  Cluster.kusto.azure.com.spec" not in out


def test_what_refers_to_a_kind_is_a_name_for_explain(capsys):
    assert run(["explain", "subnet", "--output", "json"]) == 0
    (referrer,) = [
        referrer for referrer in json.loads(capsys.readouterr().out)["referrers"] if referrer.startswith("Redis.")
    ]
    assert run(["explain", referrer]) == 0
    assert "  refers to a VirtualNetworksSubnet.network.azure.com\n" in capsys.readouterr().out


def test_a_field_with_a_dot_in_its_name(capsys):
    criteria = "MetricAlert.criteria.microsoftAzureMonitorMultipleResourceMultipleMetricCriteria"
    assert run(["explain", criteria]) == 0
    assert "\nodata.type " in capsys.readouterr().out


EXAMPLE = """\
apiVersion: network.azure.com/v20250301
kind: VirtualNetwork
metadata:
  name: example
spec:
  owner:
    name: example
  location: westeurope
  addressSpace:
    addressPrefixes:
    - 10.0.0.0/16
"""


def test_an_example(capsys):
    assert run(["explain", "vnet", "--example"]) == 0
    assert capsys.readouterr().out == EXAMPLE


def test_an_example_at_a_version_as_json(capsys):
    assert run(["explain", "vnet", "--example", "--api-version", "v1api20201101", "--output", "json"]) == 0
    example = json.loads(capsys.readouterr().out)
    assert example["apiVersion"] == "network.azure.com/v1api20201101"
    assert example["spec"]["addressSpace"] == {"addressPrefixes": ["10.0.0.0/16"]}


@pytest.mark.parametrize(
    ("word", "said", "why"),
    [
        ("--example", "--example needs a kind.", "an example is of one kind"),
        ("ResourceGrup", "Did you mean ResourceGroup?", "no kind has this name"),
    ],
)
def test_what_cannot_be_explained_is_refused(capsys, word, said, why):
    assert run(["explain", word]) == 2, why
    assert said in capsys.readouterr().err


def test_an_owner_of_most_kinds_does_not_list_them_all(capsys):
    assert run(["explain", "rg"]) == 0
    (owned,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("owns:")]
    assert owned.count(",") == 19
    assert owned.endswith(" more kinds")


@pytest.mark.parametrize(
    ("word", "said", "why"),
    [
        ("drifted", "A sync:\n  Writes the value in git.", "a verdict"),
        ("SkuNotAvailable", "This size or tier is not available", "an error code of Azure"),
        ("AuthorizationFailed", "For RoleAssignment.authorization.azure.com:", "a code that means more for a kind"),
        ("WaitingForOwner", "Cause:", "a reason of a condition"),
        ("DuplicateKey", "\n    # wrong: The key 'location' is duplicated", "the mistake of an example is labelled"),
    ],
)
def test_what_reports_show_is_explained(capsys, word, said, why):
    assert run(["explain", word]) == 0
    assert said in capsys.readouterr().out, why


def test_a_word_as_json(capsys):
    assert run(["explain", "Drifted", "--output", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["meaning"].keys() == {"Verdict", "A sync"}


@pytest.mark.parametrize("field", ["azureName", "osProfile.adminUsername", "location", "owner"])
def test_a_field_that_azure_fixes_reports_it(capsys, field):
    assert run(["explain", f"VirtualMachine.{field}"]) == 0
    assert "  cannot be changed after the create\n" in capsys.readouterr().out


def test_what_keeps_a_resource_is_listed_from_the_guards_themselves(capsys):
    assert run(["explain", "Deletes"]) == 0
    text = capsys.readouterr().out
    shown = [text.index(f"\n  {guard.name}") for guard in GUARDS]
    assert shown == sorted(shown), "in the order in which they are evaluated"
    assert all(guard.protects in text and guard.moment.value in text for guard in GUARDS)
    assert "unread path *" in text, "--release ends it"
    assert "owner in git *" not in text, "but not what protects others"
    assert all(f"\n  {stop.name} " in text and stop.stops in text for stop in DELETE_STOPS)


def test_what_keeps_a_resource_as_json(capsys):
    assert run(["explain", "deletes", "-o", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in document["guards"]] == [guard.name for guard in GUARDS]
    assert [row["name"] for row in document["others"]] == [stop.name for stop in DELETE_STOPS]
    assert document["others"][0].keys() == {"name", "decided", "stops"}
    assert document["guards"][1] == {
        "name": "hold",
        "evaluated": "when the plan is made",
        "keeps": "A resource whose last manifest has the annotation gitsync/hold, until its date.",
        "canBeReleased": False,
    }


@pytest.mark.parametrize("name", ["gitsync/depends-on", "gitsync/hold", "serviceoperator.azure.com/reconcile-policy"])
def test_an_annotation(name, capsys):
    assert run(["explain", name]) == 0
    assert capsys.readouterr().out.startswith(f"{name}\n\nAnnotation:\n")
