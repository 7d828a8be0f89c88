"""States of Terraform: what is read of them, and which are refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.errors import ConfigError
from gitsync.workflows.imports.terraform.instance_addresses import make_address
from gitsync.workflows.imports.terraform.state import read_state
from tests.support.terraform_states import resource, shown, state
from tests.workflows.imports.found import GROUP

SECRET = "correct-horse-battery"
NETWORK = f"{GROUP}/providers/Microsoft.Network/virtualNetworks/hub"
CONTAINER = f"{GROUP}/providers/Microsoft.Storage/storageAccounts/a/blobServices/default/containers/c"
SCHEDULE = f"{GROUP}/providers/Microsoft.Automation/automationAccounts/a/jobSchedules/j"

RESOURCES = (
    resource("azurerm_client_config", "me", "x", mode="data"),
    resource("azurerm_resource_group", "core", {"id": GROUP, "tags": {"password": SECRET}}),
    resource(
        "azurerm_virtual_network", "hub", (0, NETWORK), (1, f"{NETWORK}2"), module='module.net["a.b[0]"].module.x'
    ),
    resource("azapi_resource", "each", ('a"${b}', NETWORK), ("c\n\u202e", NETWORK)),
    resource("random_string", "pin", {"id": SECRET, "result": SECRET}),
    resource("azurerm_storage_container", "c", {"id": "https://a.blob.example/c", "resource_manager_id": CONTAINER}),
    resource("azurerm_automation_job_schedule", "j", {"id": f"{SCHEDULE}|{NETWORK}", "resource_manager_id": SCHEDULE}),
)
READ = [
    ("azurerm_resource_group.core", "azurerm_resource_group.core", GROUP),
    ('module.net["a.b[0]"].module.x.azurerm_virtual_network.hub[0]', "module.net.module.x.azurerm_virtual_network.hub",
     NETWORK),
    ('module.net["a.b[0]"].module.x.azurerm_virtual_network.hub[1]', "module.net.module.x.azurerm_virtual_network.hub",
     f"{NETWORK}2"),
    (r'azapi_resource.each["a\"$${b}"]', "azapi_resource.each", NETWORK),
    (r'azapi_resource.each["c\n\u202e"]', "azapi_resource.each", NETWORK),
    ("random_string.pin", "random_string.pin", ""),
    ("azurerm_storage_container.c", "azurerm_storage_container.c", CONTAINER),
    ("azurerm_automation_job_schedule.j", "azurerm_automation_job_schedule.j", SCHEDULE),
]  # fmt: skip


@pytest.mark.parametrize("make", [state, shown], ids=["a state file", "what show -json prints"])
def test_both_forms_give_the_same_addresses_and_ids(make):
    read = read_state("s", make(*RESOURCES))
    found = [(str(each.address), each.address.block, each.id) for each in read.resources]
    assert sorted(found) == sorted(READ), "show -json has the modules last"
    assert [str(each) for each in read.data_sources] == ["data.azurerm_client_config.me"]
    assert read.program == "terraform"
    assert SECRET not in repr(read)


def test_a_state_of_powershell_is_read():
    """It writes UTF-16 if a state is piped into a file."""
    assert read_state("s", state(*RESOURCES).decode().encode("utf-16")) == read_state("s", state(*RESOURCES))


def test_a_state_of_ids_only_reads_the_same():
    """As jq makes it of one that is too large."""
    document = json.loads(state(*RESOURCES))
    for entry in document["resources"]:
        for instance in entry["instances"]:
            attributes = instance["attributes"]
            instance["attributes"] = {name: attributes.get(name) for name in ("id", "resource_manager_id")}
    assert read_state("s", json.dumps(document).encode()) == read_state("s", state(*RESOURCES))


def test_attributes_of_terraform_0_11_are_read():
    """A state that was upgraded has them until their provider writes them again."""
    entry = resource("azurerm_resource_group", "core", GROUP)
    entry["instances"][0]["attributes_flat"] = {**entry["instances"][0].pop("attributes"), "tags.%": "0"}
    assert [each.id for each in read_state("s", state(entry)).resources] == [GROUP]


def test_the_registry_decides_the_program():
    of_opentofu = resource("azurerm_resource_group", "core", GROUP, registry="registry.opentofu.org")
    assert read_state("s", state(of_opentofu)).program == "tofu"


def test_what_terraform_still_has_to_destroy_is_marked():
    entry = resource("azurerm_resource_group", "core", GROUP, GROUP)
    entry["instances"][0]["deposed"] = "00000000"
    assert [each.is_deposed for each in read_state("s", state(entry)).resources] == [True, False]


ONE = resource("azurerm_resource_group", "core", GROUP)
REFUSED = [
    (b"", "not valid JSON", "nothing at all"),
    (f'{{"version": 4, "password": {SECRET}}}'.encode(), "not valid JSON", "a message would quote it"),
    (b"[" * 5000 + b"]" * 5000, "not valid JSON", "too deep"),
    (b"[]", "not a Terraform state of version 4", "not an object"),
    (state(ONE, version=3), "not a Terraform state of version 4", "older than 0.12"),
    (state(ONE, version=5), "not a Terraform state of version 4", "a version that does not exist yet"),
    (state(ONE, version=True), "not a Terraform state of version 4", "no number"),
    (b'{"format_version": "2.0", "values": {}}', "format_version", "a later form of show"),
    (b'{"format_version": "1.0", "planned_values": {}}', "is a plan, not a state", "show of a plan"),
    (b'{"serial": 1, "encrypted_data": "x", "encryption_version": "v0"}', "encrypted by OpenTofu", "an encrypted state"),
    (b'{"format_version": "1.0"}', "no managed resource", "show of an empty state"),
    (state(), "no managed resource", "an empty state"),
    (state(resource("azurerm_client_config", "me", "x", mode="data")), "no managed resource", "only data sources"),
    (b'{"version": 4, "resources": {}}', "resources is not a list of objects", "another type"),
    (b'{"version": 4, "resources": [1]}', "resources is not a list of objects", "an entry of another type"),
    (state({**ONE, "instances": "x"}), "instances is not a list of objects", "instances of another type"),
    (state({**ONE, "mode": "sensitive"}), "neither managed nor a data source", "an unknown mode"),
    (state({**ONE, "mode": ["managed"]}), "neither managed nor a data source", "a mode of another type"),
    (state({**ONE, "type": "azurerm_x; reboot"}), "its type is not an identifier", "a command in a type"),
    (state({**ONE, "name": "x\n}"}), "its name is not an identifier", "HCL in a name"),
    (state({**ONE, "name": None}), "its name is not an identifier", "no name"),
    (state({**ONE, "module": "module.x'; reboot"}), "path of its module", "a command in a module"),
    (state({**ONE, "module": 'module.x["a\n"]'}), "path of its module", "a line break in a key"),
    (state({**ONE, "module": 'module.x["a\u202e"]'}), "path of its module", "an invisible character"),
    (state({**ONE, "module": {}}), "path of its module", "a module of another type"),
    (state(resource("azurerm_x", "x", (1.5, GROUP))), "its key is neither", "a key of another type"),
    (state(resource("azurerm_x", "x", (True, GROUP))), "its key is neither", "a boolean"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "message", "why"), REFUSED, ids=[row[-1] for row in REFUSED])
def test_what_is_refused(content, message, why):
    with pytest.raises(ConfigError) as refused:
        read_state("s.tfstate", content)
    assert refused.value.message.startswith("s.tfstate"), why
    assert message in refused.value.message, why
    assert refused.value.hint
    assert SECRET not in f"{refused.value}{refused.value.__cause__}"


MEMBERS = st.sampled_from(["version", "resources", "instances", "mode", "type", "name", "values"])


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(MEMBERS, inner),
    )
)
def test_any_json_is_read_or_refused(value):
    for document in (value, {"version": 4, "resources": value}, {"format_version": "1.0", "values": value}):
        try:
            read_state("s", json.dumps(document).encode())
        except ConfigError as refused:
            assert refused.hint


@given(st.text(max_size=20))
def test_no_key_breaks_out_of_its_quotes(key):
    address = str(make_address("", "azurerm_x", "y", key))
    assert address.isprintable()
    inner = address.removeprefix('azurerm_x.y["').removesuffix('"]')
    assert not inner.replace("\\\\", "").replace('\\"', "").count('"')
    assert inner.count("${") == inner.count("$${")
