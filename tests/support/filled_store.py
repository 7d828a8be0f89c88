"""Resources in an emulated Azure, put there without requests."""

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.catalog.children import KindTree
from gitsync.desired.formats.json_members import read_mapping, read_text
from gitsync.emulator.faults import Move
from gitsync.emulator.http.server import Emulator
from gitsync.emulator.settings import EmulatorSettings
from gitsync.emulator.state.store import MemoryStore
from gitsync.model.arm_id import ArmId
from tests.support.command_line import SUBSCRIPTION

ROOT = f"/subscriptions/{SUBSCRIPTION}/resourceGroups"
TREE = KindTree(open_catalog())


def read_version(arm_id):
    """An api-version for a resource: of its kind, or any."""
    kind = TREE.find(ArmId(arm_id).arm_type)
    return kind.api_version if kind else "2020-06-01"


def fill(bodies):
    """A store with resources by their ids. Those whose body has a state have that one."""
    store = MemoryStore()
    emulator = Emulator(EmulatorSettings(limits=None), store)
    for arm_id, body in bodies.items():
        emulator.put(arm_id, body)
        if state := read_text(read_mapping(body, "properties"), "provisioningState"):
            emulator.move(arm_id, Move(show={"/properties/provisioningState": state}))
    return store


def make_bodies(groups, containers=2):
    """Resource groups with a network of three subnets, and an account with containers."""
    bodies = {}
    for number in range(groups):
        group = f"{ROOT}/g{number:02}"
        bodies[group] = {"location": "westeurope", "tags": {"number": str(number)}}
        network = f"{group}/providers/Microsoft.Network/virtualNetworks/hub"
        subnets = [
            {"name": f"s{location}", "properties": {"addressPrefix": f"10.0.{location}.0/24"}} for location in range(3)
        ]
        bodies[network] = {
            "location": "westeurope",
            "properties": {"addressSpace": {"addressPrefixes": ["10.0.0.0/16"]}, "subnets": subnets},
        }
        account = f"{group}/providers/Microsoft.Storage/storageAccounts/acc{number:02}"
        bodies[account] = {"location": "westeurope", "kind": "StorageV2", "sku": {"name": "Standard_LRS"}}
        for location in range(containers):
            bodies[f"{account}/blobServices/default/containers/con{location}"] = {
                "properties": {"publicAccess": "Blob"}
            }
    return bodies
