"""The effects of long-running actions at their end: one table, by type and action.

Separate from the actions, because an operation ends at a poll, long after the POST that began it.
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
    """Apply the effect of a POST that succeeded to its resource."""
    effect = _EFFECTS.get((parse(operation.path).type.casefold(), operation.action.casefold()))
    if effect is not None:
        effect(store, operation)


def _purge(store: Store, operation: EmulatedOperation) -> None:
    target = parse(operation.path)
    graves.remove_deleted(store, target.subscription, target.name)


def _sync(store: Store, operation: EmulatedOperation) -> None:
    """Restore a protection that a user error had broken; any other error stays."""
    instance = store.resource(operation.key)
    if instance is None:
        return
    code = find_value(instance.body, ("properties", "protectionStatus", "errorDetails", "code"))
    if "usererror" in str(code).casefold():
        body = set_value(instance.body, _STATUS, {"status": "ProtectionConfigured"})
        store.put_resource(operation.key, replace(instance, body=body, version=instance.version + 1))


_EFFECTS: Mapping[tuple[str, str], Callable[[Store, EmulatedOperation], None]] = {
    ("microsoft.dataprotection/backupvaults/backupinstances", "sync"): _sync,
    ("microsoft.keyvault/locations/deletedvaults", "purge"): _purge,
}
