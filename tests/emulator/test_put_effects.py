"""What a PUT does to members that its body lacks: it removes them, except as recorded for their type."""

import pytest

from gitsync.desired.catalog.packed_tables import read_put_effects
from gitsync.emulator.types.put_effects import DEFAULTS, KEPT, apply_put_effects
from tests.emulator.asked import PLAIN, at

MACHINE = "Microsoft.Compute/virtualMachines"
DISK = {"name": "data", "lun": 0, "managedDisk": {"id": "/disks/data", "storageAccountType": "Premium_LRS"}}


def holding(*disks):
    return {"properties": {"storageProfile": {"dataDisks": list(disks)}}}


def test_the_exceptions_are_those_of_the_recordings():
    of_emulator = {(kind, pointer, None) for kind, pointers in KEPT.items() for pointer in pointers}
    of_emulator |= {(kind, pointer, repr(value)) for kind, rows in DEFAULTS.items() for pointer, value in rows.items()}
    of_catalog = {
        (kind, pointer, None if effect.is_kept else repr(effect.default))
        for kind in {*KEPT, *DEFAULTS}
        for pointer, effect in read_put_effects(kind).items()
        if effect.is_kept or effect.default is not None
    }
    assert of_emulator == of_catalog


EFFECTS = [
    (MACHINE, holding(DISK), holding({"name": "data", "lun": 1}), holding({**DISK, "lun": 1}), "an entry keeps its disk"),
    (MACHINE, holding(DISK), holding({"name": "new"}), holding({"name": "new"}), "a new entry has none to keep"),
    (MACHINE, holding(DISK), holding(), holding(), "an entry that the list lacks is gone"),
    (MACHINE, holding(DISK), {"properties": {}}, {"properties": {}}, "so are those of a list that the body lacks"),
    (
        MACHINE,
        holding(DISK),
        holding({"name": "data", "managedDisk": {"id": None}}),
        holding({"name": "data", "managedDisk": {"id": None, "storageAccountType": "Premium_LRS"}}),
        "a null is a value",
    ),
    ("Microsoft.Kusto/clusters", {"sku": {"name": "D", "capacity": 6}}, {"sku": {"name": "D"}}, {"sku": {"name": "D", "capacity": 2}}, "reset to a default"),
    ("Microsoft.Kusto/clusters", {"sku": {"name": "D"}}, {"sku": {"name": "D"}}, {"sku": {"name": "D"}}, "only if it was there"),
    ("Microsoft.Kusto/clusters", {"tags": {"a": "b"}}, {}, {}, "what no row names is gone"),
    ("Microsoft.Web/sites/slots", {"properties": {"serverFarmId": "/plan"}}, {}, {"properties": {"serverFarmId": "/plan"}}, "in an object that the body lacks"),
    ("Microsoft.Web/sites/slots", {"properties": "wrong"}, {"properties": []}, {"properties": []}, "other values are not entered"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "before", "body", "stored", "why"), EFFECTS, ids=[row[-1] for row in EFFECTS])
def test_what_a_put_keeps(kind, before, body, stored, why):
    assert apply_put_effects(kind, before, body) == stored, why


async def test_a_put_over_the_socket_keeps_what_is_recorded_and_no_more(azure, group):
    site = at("Microsoft.Web/sites", "site")
    slot = f"{site}/slots/next"
    await azure.made(site, {"location": "westeurope"})
    await azure.made(slot, {"location": "westeurope", "properties": {"serverFarmId": "/plan", "httpsOnly": True}})
    await azure.made(slot, {"location": "westeurope", "properties": {"enabled": False}})
    properties = (await azure.get(slot)).body["properties"]
    shown = {"defaultHostName": "site-next.azurewebsites.net", "provisioningState": "Succeeded"}
    assert properties == {"serverFarmId": "/plan", "enabled": False, **shown}


async def test_a_create_gets_no_values_of_a_reset(azure, group):
    await azure.made(PLAIN, {"sku": {"name": "D"}})
    cluster = at("Microsoft.Kusto/clusters", "one")
    await azure.made(cluster, {"sku": {"name": "D"}})
    assert (await azure.get(cluster)).body["sku"] == {"name": "D"}
