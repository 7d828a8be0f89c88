"""Names: of the manifest, and in Azure."""

import pytest

from gitsync.desired.validation.name_rules import check_kind_rules, check_names
from gitsync.model.facts import Scope
from tests.support.handmade_kinds import a_kind, a_resource

ACCOUNT = a_kind(azure_name={"minLength": "3", "maxLength": "24", "pattern": "^[a-z0-9]+$"})
ANY = a_kind()
GROUP = a_kind(scope=Scope.LOCATION)
REAL_GROUP = a_kind(scope=Scope.LOCATION, arm_type="Microsoft.Resources/resourceGroups")


@pytest.mark.parametrize(
    ("name", "spec", "kind", "expected", "why"),
    [
        ("account1", {}, ACCOUNT, [], "a good name by default"),
        ("my-account", {"azureName": "account1"}, ACCOUNT, [], "a good name of its own"),
        ("my-account", {}, ACCOUNT, ["metadata.name"], "the default is held to the rules as well"),
        ("my-account", {"azureName": ""}, ACCOUNT, ["metadata.name"], "an empty name is none"),
        ("account1", {"azureName": "My"}, ACCOUNT, ["spec.azureName"] * 2, "every rule that is broken"),
        ("one", {"azureName": 5}, ACCOUNT, [], "what is no text is another check's business"),
        ("one", {"azureName": "A:b c'(1)"}, ANY, [], "Azure's names may have much"),
        ("one", {"azureName": "a/b"}, ANY, ["spec.azureName"], "a slash would be another resource"),
        ("one", {"azureName": "a?b"}, ANY, ["spec.azureName"], "a question mark would end the path"),
        ("one", {"azureName": "a%20b"}, ANY, ["spec.azureName"], "an escape would be read once more"),
        ("one", {"azureName": "a\nb"}, ANY, ["spec.azureName"], "a line break"),
        ("one", {"azureName": ".."}, ANY, ["spec.azureName"], "dots would lead elsewhere"),
        ("one", {"azureName": "x" * 260}, ANY, [], "as long as ARM takes"),
        ("one", {"azureName": "x" * 261}, ANY, ["spec.azureName"], "longer"),
        ("one", {"azureName": "x" * 90}, GROUP, [], "as long as a group may be"),
        ("one", {"azureName": "x" * 91}, GROUP, ["spec.azureName"], "longer"),
        ("one", {"azureName": "rg."}, GROUP, ["spec.azureName"], "a group must not end with a dot"),
        ("one", {"azureName": "x."}, ANY, [], "others may"),
        ("one", {"azureName": "x "}, ANY, ["spec.azureName"], "a blank at the end is none of any name"),
        ("one", {"azureName": " x"}, ANY, ["spec.azureName"], "nor one at the start"),
        ("one", {"azureName": "x\u00a0"}, ANY, ["spec.azureName"], "a blank that does not break"),
        ("one", {"azureName": "x\u200b"}, ANY, ["spec.azureName"], "a blank without a width"),
        ("one", {"azureName": "x\t"}, ANY, ["spec.azureName"], "a tab"),
        ("one", {"azureName": "a b"}, ANY, [], "inside it may be right"),
        ("one", {"azureName": " My "}, ACCOUNT, ["spec.azureName"], "the blank is told alone"),
        ("one", {"azureName": "map[create:true name:]"}, REAL_GROUP, ["spec.azureName"], "no group is called so"),
        ("one", {"azureName": "rg."}, REAL_GROUP, ["spec.azureName"], "told once"),
        ("a/b", {}, a_kind(fixed_azure_name="default"), [], "a fixed name is Azure's own"),
        ("one", {"azureNameFromConfig": {"name": "a", "key": "b"}}, ACCOUNT, [], "known at run time only"),
    ],
)  # fmt: skip
def test_azure_names(name, spec, kind, expected, why):
    found = [f for f in check_names(a_resource(spec, name=name), kind) if f.code == "AzureName"]
    assert [".".join(f.path) for f in found] == expected, why


@pytest.mark.parametrize(("spec", "broken"), [({}, False), ({"azureName": "ab"}, True)])
def test_a_name_that_is_derived_is_not_evaluated_and_one_that_is_given_is(spec, broken):
    kind = a_kind(kind="SqlRoleAssignment", group="documentdb.azure.com", azure_name={"maxLength": "1"})
    assert bool(list(check_names(a_resource(spec, name="assignment"), kind))) is broken


def test_a_default_that_azure_does_not_take_reports_where_to_name_it():
    (finding,) = check_names(a_resource(name="my-account"), ACCOUNT)
    assert finding.message == 'metadata.name is the name in Azure and must match ^[a-z0-9]+$, but is "my-account".'
    assert finding.hint == "Set spec.azureName to a valid Azure name, or rename the manifest."


@pytest.mark.parametrize(
    ("name", "end", "why"),
    [
        ("x" * 80 + "~", '~".', "the last of many"),
        ("x" * 95 + " ", ' ".', "a blank after more than a group may have"),
        ("x" * 400 + "?", '?".', "more than a message quotes"),
    ],
)
def test_a_message_shows_the_end_of_a_name(name, end, why):
    messages = [finding.message for finding in check_names(a_resource({"azureName": name}), REAL_GROUP)]
    assert any(message.endswith(end) for message in messages), why


def test_a_name_with_a_variable_names_envsubst():
    """What is wrong with its letters is a detail then."""
    (finding,) = check_names(a_resource({"azureName": "st$account"}), ACCOUNT)
    assert (finding.code, "variables: envsubst" in finding.hint) == ("AzureName", True)


def test_a_name_from_a_config_map_beside_a_name_is_idle():
    spec = {"azureName": "account1", "azureNameFromConfig": {"name": "a", "key": "b"}}
    (finding,) = check_names(a_resource(spec), ACCOUNT)
    assert (finding.code, finding.level) == ("BothOfPair", "warning")


@pytest.mark.parametrize(
    ("name", "namespace", "expected", "why"),
    [
        ("one", "default", [], "a label"),
        ("one.two-3", "default", [], "labels with dots"),
        ("x" * 253, "default", [], "as long as it may be"),
        ("x" * 254, "default", ["metadata.name"], "longer"),
        ("Upper.Case", "default", ["metadata.name"], "upper case"),
        ("under_score", "default", ["metadata.name"], "an underscore"),
        ("größe", "default", ["metadata.name"], "a letter outside of ASCII"),
        ("-one", "default", ["metadata.name"], "a dash at the start"),
        ("one.", "default", ["metadata.name"], "a dot at the end"),
        ("a..b", "default", ["metadata.name"], "an empty label"),
        ("one", "a.b", ["metadata.namespace"], "a namespace has no dots"),
        ("one", "Upper", ["metadata.namespace"], "nor upper case"),
    ],
)
def test_a_name_that_an_api_server_refuses_is_an_error(name, namespace, expected, why):
    found = [f for f in check_names(a_resource(name=name, namespace=namespace), ANY) if f.code == "ObjectName"]
    assert [".".join(f.path) for f in found] == expected, why
    assert {f.level for f in found} <= {"error"}, why


COMMUNICATION = "communication.azure.com"


@pytest.mark.parametrize(
    ("kind", "name", "spec", "broken", "why"),
    [
        ("Domain", "azuremanageddomain", {"domainManagement": "AzureManaged"}, False, "the only name, in any case"),
        ("Domain", "mine", {"domainManagement": "AzureManaged", "azureName": "AzureManagedDomain"}, False, "as azureName"),
        ("Domain", "mine", {"domainManagement": "AzureManaged"}, True, "another name"),
        ("Domain", "mine", {"domainManagement": "CustomerManaged"}, False, "a domain of one's own"),
        ("SenderUsername", "noreply", {"username": "NoReply"}, False, "the user's name, in any case"),
        ("SenderUsername", "sender", {"username": "noreply"}, True, "another"),
        ("SenderUsername", "sender", {}, False, "a user that is missing is another check's business"),
        ("EmailService", "mine", {"username": "x", "domainManagement": "AzureManaged"}, False, "no rule"),
    ],
)  # fmt: skip
def test_rules_of_single_kinds(kind, name, spec, broken, why):
    resource = a_resource(spec, name=name, kind=kind, group=COMMUNICATION)
    found = list(check_kind_rules(resource, a_kind(kind=kind, group=COMMUNICATION)))
    assert bool(found) is broken, why
    assert all(f.code == "AzureName" and f.hint for f in found)
