"""Authorization rules of messaging namespaces: which exist without a PUT, and the keys of each.

Event Hubs, Service Bus, Notification Hubs and Relay share one form: a rule is a resource, and the connection string
contains its name. The rule to manage the namespace is created with the namespace.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitsync.emulator.http.target import parse
from gitsync.emulator.state.stored import StoredResource
from gitsync.emulator.types.keys import KeyListing, key

_ALL = ("Listen", "Manage", "Send")
_ROOT: Mapping[str, tuple[str, ...]] = {"RootManageSharedAccessKey": _ALL}

IMPLIED: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "microsoft.eventhub/namespaces/authorizationrules": _ROOT,
    "microsoft.notificationhubs/namespaces/authorizationrules": _ROOT,
    "microsoft.notificationhubs/namespaces/notificationhubs/authorizationrules": {
        "DefaultFullSharedAccessSignature": _ALL,
        "DefaultListenSharedAccessSignature": ("Listen",),
    },
    "microsoft.relay/namespaces/authorizationrules": _ROOT,
    "microsoft.servicebus/namespaces/authorizationrules": _ROOT,
}
"""By type: the rules that come with their parent, and their rights."""


def _list_rule_keys(resource: StoredResource) -> dict[str, Any]:
    target = parse(resource.id)
    namespace, *entities = target.names[:-1]
    answer: dict[str, Any] = {"keyName": target.name}
    for word in ("primary", "secondary"):
        secret = key(resource.id, word)
        text = f"Endpoint=sb://{namespace}.servicebus.windows.net/;SharedAccessKeyName={target.name}"
        parts = [text, f"SharedAccessKey={secret}", *(f"EntityPath={entity}" for entity in entities)]
        answer |= {f"{word}Key": secret, f"{word}ConnectionString": ";".join(parts)}
    return answer


RULE_KEYS: Mapping[tuple[str, str], KeyListing] = {
    (kind, "listkeys"): _list_rule_keys
    for kind in (
        *IMPLIED,
        "microsoft.eventhub/namespaces/eventhubs/authorizationrules",
        "microsoft.servicebus/namespaces/queues/authorizationrules",
        "microsoft.servicebus/namespaces/topics/authorizationrules",
    )
}
