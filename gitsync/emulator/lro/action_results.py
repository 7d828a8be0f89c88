"""What an action that takes time has done once it is over: one table, by type and action.

Apart from the actions, because an operation ends when somebody asks for it, long after the POST that began it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from gitsync.emulator.http.target import parse
from gitsync.emulator.patch import find_value, set_value
from gitsync.emulator.state import deleted_vaults as graves
from gitsync.emulator.state.store import Store
from gitsync.emulator.state.stored import EmulatedOperation

_STATUS = "/properties/protectionStatus"


def apply_action_result(store: Store, operation: EmulatedOperation) -> None:
    """Do what a POST that succeeded does to what it was asked of."""
    ending = _ENDINGS.get((parse(operation.path).type.casefold(), operation.action.casefold()))
    if ending is not None:
        ending(store, operation)


def _purged(store: Store, operation: EmulatedOperation) -> None:
    target = parse(operation.path)
    graves.remove_deleted(store, target.subscription, target.name)


def _synced(store: Store, operation: EmulatedOperation) -> None:
    """A protection that somebody's mistake had broken works again; any other error stays."""
    instance = store.resource(operation.key)
    if instance is None:
        return
    code = find_value(instance.body, ("properties", "protectionStatus", "errorDetails", "code"))
    if "usererror" in str(code).casefold():
        body = set_value(instance.body, _STATUS, {"status": "ProtectionConfigured"})
        store.put_resource(operation.key, replace(instance, body=body, version=instance.version + 1))


_ENDINGS: Mapping[tuple[str, str], Callable[[Store, EmulatedOperation], None]] = {
    ("microsoft.dataprotection/backupvaults/backupinstances", "sync"): _synced,
    ("microsoft.keyvault/locations/deletedvaults", "purge"): _purged,
}
