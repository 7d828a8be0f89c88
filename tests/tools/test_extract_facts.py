"""The extractor of facts from ASO's Go source: every form that it supports, and what it refuses."""

import json
from pathlib import Path

import pytest

from tests.tools.aso_checkouts import (
    ARM,
    GROUP,
    PART,
    THING,
    THINGS,
    TIE,
    add_version,
    change,
    copy_checkout,
    read_facts,
)

REFERENCE = {"type": "reference", "mode": "reference"}
SHARED = Path(__file__).resolve().parents[3] / "shared" / "aso-facts"

FIELDS = [
    ("Thing_Spec", "location", {"type": "string", "required": True, "arm": "location"}, "a copy, and a mark"),
    ("Thing_Spec", "owner", {"type": "knownOwner", "required": True, "meta": True}, "what is ASO's alone"),
    (
        "Thing_Spec",
        "azureName",
        {"type": "string", "maxLength": 24, "minLength": 3, "pattern": "^[a-z0-9]+$", "meta": True},
        "rules of a name",
    ),
    ("Thing_Spec", "azureNameFromConfig", {"type": "configMapReference"}, "a field that no conversion reads"),
    (
        "Thing_Spec",
        "adminPassword",
        {"type": "secretReference", "arm": "properties/adminPassword", "mode": "secret"},
        "a secret, nested in ARM",
    ),
    (
        "Thing_Spec",
        "settings",
        {"type": "secretMapReference", "arm": "properties/settings", "mode": "secretMap"},
        "a map",
    ),
    (
        "Thing_Spec",
        "principalId",
        {"type": "string", "arm": "properties/principalId", "optionalConfigMapPair": "PrincipalId"},
        "one of a pair",
    ),
    (
        "Thing_Spec",
        "principalIdFromConfig",
        {
            "type": "configMapReference",
            "arm": "properties/principalId",
            "mode": "configMap",
            "optionalConfigMapPair": "PrincipalId",
        },
        "the other one",
    ),
    (
        "Thing_Spec",
        "networkReference",
        REFERENCE | {"arm": "properties/networkId", "armReference": "NetworkId"},
        "a reference",
    ),
    (
        "Thing_Spec",
        "subnetReferences",
        {
            "type": {"list": "reference"},
            "arm": "properties/subnets",
            "mode": "reference",
            "armReference": "Subnets",
            "whenEmpty": "empty",
        },
        "a list of references, which is sent as an empty list if there are none",
    ),
    (
        "Thing_Spec",
        "policyReference",
        REFERENCE | {"arm": "properties/policyId", "armReference": "PolicyId"},
        "a reference in place of a text",
    ),
    ("Thing_Spec", "policyId", {"type": "string", "arm": "properties/policyId", "mode": "reference"}, "that text"),
    (
        "Tie_Spec",
        "roleReference",
        {"type": "wellKnownReference", "arm": "roleId", "mode": "reference", "armReference": "Role"},
        "a well-known name",
    ),
    (
        "Identity",
        "userAssignedIdentities",
        {
            "type": {"list": {"ref": "UserAssignedIdentityDetails"}},
            "arm": "userAssignedIdentities",
            "mode": "identityMap",
        },
        "a list that becomes a map",
    ),
    (
        "Thing_Spec",
        "certificates",
        {
            "type": {"list": "string"},
            "arm": "properties/trustedCertificates",
            "whenEmpty": "null",
            "maxItems": 10,
            "minItems": 0,
        },
        "a list that is copied by way of a local name, to another name in ARM, and is null if it is empty",
    ),
    (
        "ThingsPart_Spec",
        "rules",
        {"type": {"map": "string"}, "arm": "properties/rules", "whenEmpty": "null"},
        "a null map",
    ),
    ("Thing_Spec", "extra", {"type": {"map": "any"}, "arm": "properties/extra"}, "any JSON"),
    ("Thing_Spec", "tags", {"type": {"map": "string"}, "arm": "tags"}, "a map that is left out if it is empty"),
    (
        "Thing_Spec",
        "share",
        {"type": "number", "maximum": 100, "minimum": 0.5, "multipleOf": 0.5, "arm": "properties/share"},
        "the limits of a number",
    ),
    (
        "Thing_Spec",
        "size",
        {"type": {"base": "string", "enum": ["Large", "Small"]}, "arm": "properties/size"},
        "a choice",
    ),
    ("Thing_Spec", "zone", {"type": {"base": "string", "pattern": "^[1-3]$"}, "arm": "zone"}, "a text with rules"),
    ("Thing_Spec", "backup", {"type": {"ref": "Backup"}, "arm": "properties/backup"}, "a struct"),
    ("Backup", "dailyBackup", {"type": {"ref": "DailyBackup"}, "arm": "daily"}, "one of a union"),
    ("DailyBackup", "hour", {"type": "integer", "required": True, "arm": "hour"}, "a type that others reach"),
    (
        "WeeklyBackup",
        "days",
        {"type": {"list": {"base": "string", "enum": ["Friday", "Monday"]}}, "arm": "days"},
        "a list of choices",
    ),
    (
        "ThingOperatorSpec",
        "secretExpressions",
        {"type": {"list": "destinationExpression"}},
        "a type without an ARM side",
    ),
    ("ThingOperatorConfigMaps", "webEndpoint", {"type": "configMapDestination"}, "an export"),
    ("Thing_STATUS", "conditions", {"type": {"list": "condition"}, "meta": True}, "what Azure does not return"),
    ("Thing_STATUS", "id", {"type": "string", "arm": "id"}, "a copy"),
    ("Thing_STATUS", "size", {"type": "string", "arm": "properties/size"}, "a copy by way of a name that others use"),
    ("Thing_STATUS", "zone", {"type": "string", "arm": "zone"}, "the other one"),
    ("Thing_STATUS", "extra", {"type": "any", "arm": "properties/extra"}, "a copy by a method"),
    ("Thing_STATUS", "subnets", {"type": {"list": "string"}, "arm": "properties/subnets"}, "a list"),
    ("Thing_STATUS", "endpoints", {"type": {"ref": "Endpoints_STATUS"}, "arm": "properties/endpoints"}, "a struct"),
    ("ThingsPart_STATUS", "web", {"type": {"ref": "WebPart_STATUS"}, "arm": "web"}, "one of a union, with its name"),
    ("ThingsPart_STATUS", "name", {"type": "string", "arm": "name"}, "the name"),
]

KINDS = [
    (
        "Thing",
        {
            "armType": "Microsoft.Things/things",
            "apiVersion": "2024-01-01",
            "scope": "ResourceGroup",
            "operations": ["Delete", "Get", "Put"],
            "owner": {"group": "resources.azure.com", "kind": "ResourceGroup"},
            "azureName": {"maxLength": "24", "minLength": "3", "pattern": "^[a-z0-9]+$"},
            "configMaps": {"webEndpoint": ["endpoints", "web"]},
            "spec": "Thing_Spec",
            "status": "Thing_STATUS",
        },
        "a name with rules, and exports",
    ),
    (
        "ThingsPart",
        {
            "armType": "Microsoft.Things/things/parts",
            "apiVersion": "2024-01-01",
            "scope": "ResourceGroup",
            "operations": ["Get", "Put"],
            "owner": {"group": "things.azure.com", "kind": "Thing"},
            "fixedAzureName": "default",
            "spec": "ThingsPart_Spec",
            "status": "ThingsPart_STATUS",
        },
        "a child with a fixed name that cannot be deleted",
    ),
    (
        "Tie",
        {
            "armType": "Microsoft.Ties/ties",
            "apiVersion": "2023-06-01",
            "scope": "Extension",
            "operations": ["Delete", "Get", "Head", "Put"],
            "owner": "any",
            "azureName": {},
            "spec": "Tie_Spec",
            "status": "Tie_STATUS",
        },
        "an extension of any resource",
    ),
]


@pytest.fixture(scope="module")
def things():
    return read_facts()[GROUP]["versions"]["v20240101"]


@pytest.mark.parametrize(("struct", "field", "facts", "why"), FIELDS)
def test_a_field_has_its_facts(things, struct, field, facts, why):
    assert things["types"][struct]["fields"][field] == facts, why


@pytest.mark.parametrize(("kind", "facts", "why"), KINDS)
def test_a_kind_has_its_facts(things, kind, facts, why):
    assert things["kinds"][kind] == facts, why


def test_a_union_has_the_values_that_select_its_fields(things):
    union = {name: fact for name, fact in things["types"]["Backup"].items() if name != "fields"}
    assert union == {
        "oneOf": True,
        "discriminator": "kind",
        "values": {"Daily": "dailyBackup", "Weekly": "weeklyBackup"},
    }


def test_types_that_no_kind_reaches_are_left_out(tmp_path):
    checkout = copy_checkout(tmp_path)
    file = checkout / THING
    file.write_text(f'{file.read_text()}\ntype Unused struct {{\n\tName *string `json:"name,omitempty"`\n}}\n')
    assert read_facts(checkout) == read_facts()


def test_a_version_that_is_as_the_newer_spelling_is_its_alias(tmp_path):
    checkout = copy_checkout(tmp_path)
    add_version(checkout, "v1api20240101")
    facts = read_facts(checkout)[GROUP]
    assert facts["aliases"] == {"v1api20240101": {"of": "v20240101", "kinds": ["Thing", "ThingsPart", "Tie"]}}
    assert list(facts["versions"]) == ["v20240101"]


def test_a_spelling_that_differs_in_one_field_has_facts_of_its_own(tmp_path):
    checkout = copy_checkout(tmp_path)
    add_version(checkout, "v1api20240101")
    change(checkout, THING.replace("v20240101", "v1api20240101"), ("MaxLength=24", "MaxLength=20"))
    facts = read_facts(checkout)[GROUP]
    assert (facts["aliases"], list(facts["versions"])) == ({}, ["v20240101", "v1api20240101"])


REFUSED = [
    (
        THING,
        ("validation:MaxLength=24", "validation:ExclusiveMaximum=24"),
        "unknown mark",
        "a rule without a name here",
    ),
    (THING, ("Share *float64", "Share *complex128"), "unknown type *complex128", "a type without a name here"),
    (
        THING,
        ("		location := *thing.Location\n", "		location := *thing.Location + *thing.PolicyId\n"),
        "one statement copies Location and PolicyId",
        "two fields in one value",
    ),
    (
        THING,
        ('	// Set property "Tags":\n', "	result.Kind = arm.ThingKind\n"),
        "a value that is not a field: result.Kind = arm.ThingKind",
        "a constant that each body has",
    ),
    (
        THING,
        ('	// Set property "Tags":\n', "	thing.addTags(result)\n"),
        "a statement of type expression_statement",
        "a call that may set anything",
    ),
    (
        THING,
        ("resolved.ResolvedSecrets.Lookup", "resolved.ResolvedCertificates.Lookup"),
        "unknown look-up resolved.ResolvedCertificates",
        "a value from elsewhere",
    ),
    (
        THING,
        (
            "		result.Location = &location\n",
            "		result.Location = &location\n		result.Zone = &location\n",
        ),
        "one statement writes Location and Zone",
        "one field at two paths",
    ),
    (
        PART,
        ("		result.Properties.Enabled = &enabled\n", ""),
        "Enabled is in no statement of ConvertToARM",
        "a field that nothing sends",
    ),
    (
        PART,
        ("		result.Properties.Enabled = &enabled\n", "		result.Properties.IsOn = &enabled\n"),
        "ARM's struct PartProperties has no field IsOn",
        "a path that ARM lacks",
    ),
    (PART, ('group:"things.azure.com" ', ""), "an owner without the tags group and kind", "an unknown owner"),
    (
        PART,
        ('	return "Microsoft.Things/things/parts"', "	return partType"),
        "GetType does not return a text",
        "a name",
    ),
    (
        TIE,
        ("genruntime.ResourceScopeExtension", "genruntime.ResourceScopeGalaxy"),
        "GetResourceScope returns Galaxy",
        "a scope",
    ),
    (TIE, ("genruntime.ResourceOperationHead", "genruntime.ResourceOperationPatch"), "Patch", "an operation"),
    (
        ARM,
        ('	discriminator := rawJson["kind"]\n', ""),
        "the union Backup has no discriminator",
        "a union of another form",
    ),
    (
        THING,
        ("	if typedInput.Id != nil {\n		id := *typedInput.Id\n", "	if ok {\n		id := makeId()\n"),
        "PopulateFromARM fills in one statement: if ok",
        "a status that Azure does not return",
    ),
    (
        THING,
        ("+kubebuilder:validation:MaxLength=24", "+kubebuilder:default=one"),
        "unknown mark +kubebuilder:default",
        "a default that an API server fills in",
    ),
    (
        THING,
        ("type Day string", "type (\n	Day string\n)"),
        "types in parentheses",
        "comments inside of a declaration",
    ),
    (THING, ("type Day string", "type Day = string"), "Day is an alias of a type", "a declaration of another form"),
    (TIE, ("type Tie_Spec struct {", "type Tie_Spec struct {{"), "not Go that can be parsed", "a file that is cut"),
]


@pytest.mark.parametrize(("file", "edit", "message", "why"), REFUSED)
def test_what_the_extractor_does_not_support_is_refused_with_its_file(tmp_path_factory, file, edit, message, why):
    checkout = copy_checkout(tmp_path_factory.mktemp("aso"))
    change(checkout, file, edit)
    with pytest.raises(SystemExit) as refusal:
        read_facts(checkout)
    assert message in str(refusal.value), why
    assert Path(file).name in str(refusal.value) or THINGS in str(refusal.value), why


def test_all_that_is_not_supported_is_listed(tmp_path):
    checkout = copy_checkout(tmp_path)
    add_version(checkout, "v20250101")
    for file in (THING, THING.replace("v20240101", "v20250101")):
        change(checkout, file, ("MaxLength=24", "MaxLength=long"))
    with pytest.raises(SystemExit) as refusal:
        read_facts(checkout)
    assert str(refusal.value).count("not a number in a mark: long") == 2


def test_a_folder_without_versions_is_refused(tmp_path):
    with pytest.raises(SystemExit, match="groupversion_info_gen"):
        read_facts(tmp_path)


@pytest.mark.skipif(not SHARED.exists(), reason="the facts of a release are not in the repository")
def test_the_facts_of_a_release_have_no_member_that_the_extractor_does_not_make(things):
    made = {member for types in things["types"].values() for field in types["fields"].values() for member in field}
    for file in SHARED.glob("*.json"):
        for version in json.loads(file.read_text())["versions"].values():
            fields = [field for types in version["types"].values() for field in types["fields"].values()]
            assert {member for field in fields for member in field} <= made | {"enum"}, file.name
