"""A storage account that exports, a server that takes a password, and a world with locations of secrets in memory."""

from __future__ import annotations

from pathlib import Path

from gitsync.model.condition import ConditionStatus, Severity
from gitsync.model.export import Address, ObjectKind
from gitsync.model.gvk import Key
from gitsync.model.result import Result
from gitsync.repository.secrets.stores import SecretStores
from tests.support.memory_places import MemorySink
from tests.support.world import GROUP_ID, World

ACCOUNT_ID = f"{GROUP_ID}/providers/Microsoft.Storage/storageAccounts/lake"
ACCOUNT = """\
    apiVersion: storage.azure.com/v1api20230101
    kind: StorageAccount
    metadata:
      name: lake
    spec:
      location: westeurope
      owner:
        name: core
      kind: StorageV2
      sku:
        name: Standard_LRS
      operatorSpec:
        {exports}
    """
SERVER_ID = f"{GROUP_ID}/providers/Microsoft.DBforPostgreSQL/flexibleServers/books"
SERVER = """\
    apiVersion: dbforpostgresql.azure.com/v1api20221201
    kind: FlexibleServer
    metadata:
      name: books
    spec:
      location: westeurope
      owner:
        name: core
      administratorLogin: boss
      administratorLoginPassword:
        name: {secret}
        key: {key}
    """
OWNER = Key("storage.azure.com", "StorageAccount", "default", "lake")


def account(exports: str) -> str:
    """The storage account with its operatorSpec, in YAML's flow style."""
    return ACCOUNT.format(exports=exports)


def server(secret: str = "lake", key: str = "first") -> str:
    return SERVER.format(secret=secret, key=key)


KEY_1 = "secrets: {key1: {name: lake, key: first}}"
ENDPOINT = "configMaps: {blobEndpoint: {name: where, key: blob}}"
BOTH = f"{KEY_1}\n        {ENDPOINT}"
READY = (ConditionStatus.TRUE, Severity.NONE, "Succeeded")
UNWRITABLE = (ConditionStatus.FALSE, Severity.ERROR, "FailedWritingAdditionalKubernetesObjects")


def secret_at(name: str, namespace: str = "default") -> Address:
    return Address(ObjectKind.SECRET, namespace, name)


def config_map_at(name: str) -> Address:
    return Address(ObjectKind.CONFIG_MAP, "default", name)


def world_with(folder: Path, *sinks: MemorySink) -> World:
    """A world whose exports go to these sinks."""
    world = World(folder)
    world.secret_stores = SecretStores(sinks=sinks)
    return world


def said(result: Result) -> tuple[ConditionStatus, Severity, str]:
    return (result.condition.status, result.condition.severity, result.condition.reason)


def revealed(sink: MemorySink, address: Address) -> dict[str, str]:
    return {key: value.reveal() for key, value in sink.objects[address].data.items()}
