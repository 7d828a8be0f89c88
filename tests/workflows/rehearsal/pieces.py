"""Estates for rehearsals: documents that vary, in an order in which owners go first, and a rehearsal of a world."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from gitsync.emulator.settings import Timing
from gitsync.emulator.types.behaviour import Style
from gitsync.model.export import Address, ObjectKind
from gitsync.model.rehearsal import Rehearsal
from gitsync.model.secret import Secret
from gitsync.repository.secrets.stores import SecretStores
from gitsync.settings.config.config import Config
from gitsync.workflows.rehearsal.rehearse import rehearse
from tests.support.memory_places import MemorySource
from tests.support.world import SUBSCRIPTION, World, run_to_end

AT_ONCE = Timing(style=Style.DONE)
SCRIPT = "settings: {operations: {style: done}, throttle: off}\n"
"""The same for a rehearsal: operations that take time are a subject of their own."""

_NETWORK, _STORAGE = "network.azure.com/v1api20240301", "storage.azure.com/v1api20230101"
_A = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/a"
_HUB = f"{_A}/providers/Microsoft.Network/virtualNetworks/hub"
_LAKE = f"{_A}/providers/Microsoft.Storage/storageAccounts/lake"


class Piece(NamedTuple):
    """A resource of an estate."""

    arm_id: str
    api_version: str
    kind: str
    spec: str  # of a document whose `{value}` is a number that may change
    drift: tuple[str, Any] = ("", None)  # the JSON pointer of a value in git, and what somebody else sets in it


PIECES: Mapping[str, Piece] = {
    "a": Piece(
        _A,
        "resources.azure.com/v1api20200601",
        "ResourceGroup",
        "location: westeurope\ntags: {{number: '{value}'}}",
        ("/tags/number", "x"),
    ),
    "b": Piece(
        f"/subscriptions/{SUBSCRIPTION}/resourceGroups/b",
        "resources.azure.com/v1api20200601",
        "ResourceGroup",
        "location: westeurope\ntags: {{number: '{value}'}}",
        ("/tags/number", "x"),
    ),
    "rules": Piece(
        f"{_A}/providers/Microsoft.Network/networkSecurityGroups/rules",
        _NETWORK,
        "NetworkSecurityGroup",
        "location: westeurope\nowner: {{name: a}}\ntags: {{number: '{value}'}}",
        ("/tags/number", "x"),
    ),
    "ssh": Piece(
        f"{_A}/providers/Microsoft.Network/networkSecurityGroups/rules/securityRules/ssh",
        _NETWORK,
        "NetworkSecurityGroupsSecurityRule",
        "owner: {{name: rules}}\naccess: Deny\ndirection: Inbound\npriority: 20{value}\nprotocol: Tcp\n"
        "sourceAddressPrefix: '*'\nsourcePortRange: '*'\ndestinationAddressPrefix: '*'\ndestinationPortRange: '22'",
        ("/properties/priority", 300),
    ),
    "hub": Piece(
        _HUB,
        _NETWORK,
        "VirtualNetwork",
        "location: westeurope\nowner: {{name: a}}\naddressSpace: {{addressPrefixes: [10.{value}.0.0/16]}}",
        ("/properties/addressSpace/addressPrefixes", ["10.9.0.0/16"]),
    ),
    "one": Piece(
        f"{_HUB}/subnets/one",
        _NETWORK,
        "VirtualNetworksSubnet",
        "owner: {{name: hub}}\naddressPrefix: 10.0.{value}.0/24",
        ("/properties/addressPrefix", "10.0.9.0/24"),
    ),
    "two": Piece(  # refers to the rules
        f"{_HUB}/subnets/two",
        _NETWORK,
        "VirtualNetworksSubnet",
        "owner: {{name: hub}}\naddressPrefix: 10.0.1{value}.0/24\nnetworkSecurityGroup: {{reference: {{group: network.azure.com, "
        "kind: NetworkSecurityGroup, name: rules}}}}",
        ("/properties/addressPrefix", "10.0.99.0/24"),
    ),
    "lake": Piece(  # exports a Secret
        _LAKE,
        _STORAGE,
        "StorageAccount",
        "location: westeurope\nowner: {{name: a}}\nkind: StorageV2\nsku: {{name: Standard_LRS}}\ntags: {{number: '{value}'}}\n"
        "operatorSpec: {{secrets: {{key1: {{name: lake-keys, key: first}}}}}}",
        ("/tags/number", "x"),
    ),
    "service": Piece(_LAKE + "/blobServices/default", _STORAGE, "StorageAccountsBlobService", "owner: {{name: lake}}"),
    "blobs": Piece(
        f"{_LAKE}/blobServices/default/containers/blobs",
        _STORAGE,
        "StorageAccountsBlobServicesContainer",
        "owner: {{name: service}}\npublicAccess: None\nmetadata: {{number: '{value}'}}",
        ("/properties/metadata/number", "x"),
    ),
    "robot": Piece(  # exports a config map
        f"/subscriptions/{SUBSCRIPTION}/resourceGroups/b/providers/Microsoft.ManagedIdentity/userAssignedIdentities/robot",
        "managedidentity.azure.com/v1api20230131",
        "UserAssignedIdentity",
        "location: westeurope\nowner: {{name: b}}\ntags: {{number: '{value}'}}\n"
        "operatorSpec: {{configMaps: {{principalId: {{name: robot, key: principal}}}}}}",
        ("/tags/number", "x"),
    ),
    "server": Piece(  # has a secret that only a vault has
        f"/subscriptions/{SUBSCRIPTION}/resourceGroups/b/providers/Microsoft.DBforPostgreSQL/flexibleServers/server",
        "dbforpostgresql.azure.com/v1api20221201",
        "FlexibleServer",
        "location: westeurope\nowner: {{name: b}}\nadministratorLogin: boss\ntags: {{number: '{value}'}}\n"
        "administratorLoginPassword: {{name: passwords, key: server}}",
        ("/tags/number", "x"),
    ),
}


def document(name: str, value: int, *, called: str = "", **annotations: str) -> str:
    """A document of the estate; `called` is its name if it has moved to another one."""
    piece = PIECES[name]
    lines = "".join(f"    {key}: {text!r}\n" for key, text in annotations.items())
    spec = piece.spec.format(value=value) + (f"\nazureName: {name}" if called else "")
    return (
        f"apiVersion: {piece.api_version}\nkind: {piece.kind}\nmetadata:\n  name: {called or name}\n"
        + (f"  annotations:\n{lines}" if lines else "")
        + f"spec:\n{textwrap.indent(spec, '  ')}\n"
    )


def make_world(folder: Path) -> World:
    """A world whose vault has the password of the server."""
    world = World(folder, operations=AT_ONCE)
    vault = MemorySource(
        "vault", {Address(ObjectKind.SECRET, "default", "passwords"): {"server": Secret("Correct-horse-9")}}
    )
    world.secret_stores = SecretStores(order=("manifests", "vault"), sources={"vault": vault})
    return world


def rehearse_world(world: World, *, from_nothing: bool = False, interrupts: bool = False, **settings: Any) -> Rehearsal:
    """Rehearse the next sync of a world."""
    script = world.folder.parent / "script.yaml"
    script.write_text(SCRIPT)
    config = Config(
        source=str(world.folder), status_dir=str(world.state), checks=("none",), emulator_script=str(script)
    )
    run = rehearse(replace(config, **settings), from_nothing=from_nothing, interrupts=interrupts, clock=world.clock)
    return run_to_end(run)
