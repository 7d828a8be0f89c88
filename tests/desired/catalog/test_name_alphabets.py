"""What names are made of, by type: what Azure publishes is refused before it is sent, and real names are taken."""

import lzma
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.catalog.name_alphabets import find_alphabet
from gitsync.desired.validation.references import find_fault_of_names, is_arm_id
from gitsync.model.arm_id import ArmId
from tests.support.recordings import FOLDER as RECORDINGS
from tests.support.recordings import needs_recordings

GROUP, SUBNET = "Microsoft.Resources/resourceGroups", "Microsoft.Network/virtualNetworks/subnets"
MACHINE, ZONE, SITE = "Microsoft.Compute/virtualMachines", "Microsoft.Network/dnsZones", "Microsoft.Web/sites"
SERVER, CONTAINER = "Microsoft.Sql/servers", "Microsoft.Storage/storageAccounts/blobServices/containers"
DATABASE, GROUPS = "Microsoft.Sql/servers/databases", "Microsoft.EventHub/namespaces/eventhubs/consumergroups"
POSTGRES, IDENTITY = (
    "Microsoft.DBforPostgreSQL/flexibleServers",
    "Microsoft.ManagedIdentity/userAssignedIdentities",
)


@pytest.mark.parametrize(
    ("arm_type", "name", "is_taken", "why"),
    [
        (GROUP, "MC_rg-1.a_(b)_westeurope", True, "all that a group may have"),
        (GROUP, "größe-東京", True, "letters of other languages"),
        (GROUP, "map[create:true name:]", False, "the text of a map"),
        (GROUP, "a b", False, "a blank inside"),
        (GROUP, "a\u00a0b", False, "a blank that does not break"),
        (GROUP, "a,b", False, "a comma"),
        (GROUP, "{{ .Values.group }}", False, "a template that nothing filled"),
        (GROUP, "${group}", False, "a variable that nothing replaced"),
        (GROUP, "a🎉", False, "no letter"),
        (SUBNET, "AzureBastionSubnet", True, "a name of Azure's own"),
        (SUBNET, "a_", True, "an underscore last"),
        (SUBNET, "a-", False, "a dash last"),
        (SUBNET, "a.", False, "a dot last"),
        (SUBNET, "_a", False, "an underscore first"),
        (SUBNET, "a b", False, "a blank"),
        (SUBNET, "x" * 81, False, "too long"),
        (MACHINE, "web-01.prod", True, "a dot inside"),
        (MACHINE, "web-", False, "a dash last"),
        (ZONE, "_acme.contoso.com", True, "labels"),
        (ZONE, "contoso.com.", False, "a dot last"),
        (ZONE, "contoso..com", False, "an empty label"),
        (SITE, "My-Site", True, "capitals"),
        (SITE, "my.site", False, "a dot"),
        (SERVER, "sql-1", True, "a label"),
        (SERVER, "Sql-1", False, "a capital"),
        (SERVER, "sql-", False, "a dash last"),
        (CONTAINER, "$web", True, "Azure's own"),
        (CONTAINER, "my_data", False, "an underscore"),
        (DATABASE, "my data", True, "a blank inside"),
        (DATABASE, "data.", False, "a dot last"),
        (GROUPS, "$Default", True, "Azure's own"),
        (GROUPS, "a group", False, "a blank"),
        (POSTGRES, "pg-1 ", False, "the pattern of the facts says nothing of the end"),
        (POSTGRES, "pg_1", False, "nor of what follows its start"),
        (IDENTITY, "id_1-", True, "a dash last"),
        (IDENTITY, "-id", False, "a dash first"),
        ("Microsoft.Made/up", "any thing!", True, "no rule is known"),
        ("microsoft.resources/RESOURCEGROUPS", "a b", False, "types have no case"),
    ],
)
def test_names(arm_type, name, is_taken, why):
    alphabet = find_alphabet(arm_type)
    assert (not (alphabet and any(alphabet.list_faults(name)))) is is_taken, why


def test_every_row_is_of_a_type_that_the_catalog_has():
    catalog = open_catalog()
    known = {catalog.arm_type(group, kind) for group in catalog.groups() for kind in catalog.kinds(group)} - {None}
    with_rules = [arm_type for arm_type in known if find_alphabet(arm_type)]
    assert len(with_rules) >= 70


@given(st.text(st.sampled_from("aZ0-_.() $"), min_size=1, max_size=12))
def test_a_name_with_a_blank_at_an_end_is_not_a_name_of_any_type_with_a_rule(name):
    for arm_type in (GROUP, SUBNET, MACHINE, ZONE, SITE, SERVER, CONTAINER, DATABASE, GROUPS, POSTGRES, IDENTITY):
        assert any(find_alphabet(arm_type).list_faults(f"{name} ")), arm_type


RECORDED = ("arm-traffic", "arm-traffic-any", "arm-traffic-az", "conformance")
IDS = re.compile(r"/subscriptions/[^\"'\s\\,<>|)\]?{}=]+")
MADE_UP = re.compile(r"\.\Z|fake_account|==--039")
"""An id at the end of a sentence, and names that tests made up to be refused."""


@needs_recordings(RECORDINGS / "arm-traffic")
def test_names_that_azure_has_shown_are_taken():
    found = set()
    for folder in RECORDED:
        for file in sorted((RECORDINGS / folder).rglob("*.*")):
            if file.is_file():
                content = lzma.decompress(file.read_bytes()) if file.suffix == ".xz" else file.read_bytes()
                found |= set(IDS.findall(content.decode(errors="ignore")))
    ids = [ArmId(text) for text in found if is_arm_id(text) and not MADE_UP.search(text)]
    assert len(ids) > 1000
    assert {arm_id: fault for arm_id in ids if (fault := find_fault_of_names(arm_id))} == {}


@given(
    st.sampled_from([GROUP, SUBNET, MACHINE, ZONE, SITE, SERVER, CONTAINER, DATABASE, IDENTITY]),
    st.text(st.sampled_from("aZ0-_.~$( é東"), max_size=6),
)
def test_a_name_of_any_letters_has_the_faults_that_the_complete_pattern_finds(arm_type, name):
    alphabet = find_alphabet(arm_type)
    complete = re.fullmatch(alphabet.pattern[1:-1], name) is not None
    assert any("made of" in fault for fault in alphabet.list_faults(name)) is not complete
