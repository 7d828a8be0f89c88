"""Resources as an import finds them, in one line."""

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.catalog.children import KindTree
from gitsync.model.arm_id import ArmId
from gitsync.workflows.imports.conversion.found_resources import FoundResource

SUBSCRIPTION = "00000000-0000-0000-0000-000000000000"
GROUP = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/Core"
TREE = KindTree(open_catalog())


def at(path, group="Core"):
    """The ARM id of a resource in a group: `Microsoft.Network/virtualNetworks/hub`."""
    return f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{group}/providers/{path}"


def find(arm_id, **body):
    """A resource of the newest stable version of its kind."""
    kind = TREE.find(ArmId(arm_id).arm_type)
    return FoundResource(kind=kind, arm_id=ArmId(arm_id), owner_id=ArmId(arm_id).parent, body={"id": arm_id, **body})
