"""The state of one Azure, and the checks of scopes: subscriptions, groups, parents.

Separate from the verbs, because every verb does the same checks first. The checks also need the subscriptions of
aliases and the canceled ones, so these are here too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from gitsync.emulator.clock import format_time
from gitsync.emulator.codes import ABSENT, NAMES_MISSING_PARENT
from gitsync.emulator.http.messages import Refused, ServerRequest, ServerResponse, refuse
from gitsync.emulator.http.target import PathShape, Target, parse
from gitsync.emulator.lro.operations import end_due_operation
from gitsync.emulator.patch import find_value
from gitsync.emulator.settings import EmulatorSettings
from gitsync.emulator.state.store import Store, StoredResource
from gitsync.emulator.types.provider_fields import make_uuid
from gitsync.model.clock import Clock

DELETING = "Deleting"
_ALWAYS_THERE = frozenset({"default", "current"})
"""Names of singletons that a provider creates with their parent, such as blobServices/default."""

_NO_RESOURCES = frozenset({"locations", "locations/resourcegroups", "managementgroups", "billingaccounts"})
"""Types, without their namespace, that cannot be created, such as locations."""


@dataclass(frozen=True, slots=True)
class EmulatedCloud:
    """One Azure."""

    store: Store
    settings: EmulatorSettings
    clock: Clock

    def format_now(self) -> str:
        return format_time(self.clock.now())

    def take_number(self) -> int:
        """Return the next number of a sequence that never repeats."""
        number = int(self.store.note("number") or 0) + 1
        self.store.put_note("number", number)
        return number

    def find(self, target: Target) -> StoredResource | None:
        """Find a resource or group after updating its operation; one that is not visible yet counts as absent."""
        resource = self.look_up(target.key)
        return resource if resource is not None and resource.visible else None

    def look_up(self, key: str) -> StoredResource | None:
        """As `find`, visible or not."""
        resource = self.store.resource(key)
        # An operation has no timer: the first look after its end applies its effect.
        if resource is None or not resource.operation:
            return resource
        end_due_operation(self.store, resource.operation, self.clock.now().timestamp())
        return self.store.resource(key)

    def change(self, key: str, resource: StoredResource) -> StoredResource:
        """Store a new value of a resource, with a new version and time of change."""
        changed = replace(resource, version=resource.version + 1, changed=self.format_now())
        self.store.put_resource(key, changed)
        return changed

    def has_subscription(self, subscription: str) -> bool:
        """Return whether a subscription exists. If the settings name some, only these and those of aliases do."""
        named, name = self.settings.subscriptions, subscription.casefold()
        return not named or name in named or name in list_alias_subscriptions(self.store)

    def require_scope(self, request: ServerRequest) -> None:
        """Refuse the request unless its subscription, its group and every ancestor exist."""
        target = request.target
        if target.subscription and not self.has_subscription(target.subscription):
            raise refuse("SubscriptionNotFound", subscription=target.subscription)
        if target.group and target.shape is not PathShape.GROUP:
            self._require_group(request)
        for ancestor in target.ancestors:
            if not self._exists(ancestor):
                raise _make_ancestor_missing(request, ancestor)

    def _require_group(self, request: ServerRequest) -> None:
        group = self.find(parse(request.target.group_path))
        if group is None:
            raise refuse("ResourceGroupNotFound", group=request.target.group)
        # Reads and deletes in a group that is being deleted continue.
        if group.state == DELETING and request.verb == "write":
            raise refuse("ResourceGroupBeingDeleted", group=request.target.group)

    def _exists(self, target: Target) -> bool:
        # Locations and similar exist without a PUT.
        if "/".join(target.types).casefold() in _NO_RESOURCES:
            return True
        if self.find(target) is not None:
            return True
        ancestor = target.parent
        # A singleton exists with its parent, which may be a singleton too.
        return target.name.casefold() in _ALWAYS_THERE and (ancestor is None or self._exists(ancestor))


def make_not_found(target: Target) -> Refused:
    """Make the 404 of a resource or a group."""
    if target.shape is PathShape.GROUP:
        return refuse("ResourceGroupNotFound", group=target.group)
    absent = ABSENT.get(target.type.casefold())
    if absent is not None:
        parent = target.parent
        words = {
            "name": target.name,
            "parent": parent.name if parent else "",
            "type": target.type,
            "path": target.path,
            "group": target.group,
            "subscription": target.subscription,
        }
        return Refused(ServerResponse(404, _fill(absent, words), {"x-ms-failure-cause": "service"}))
    pairs = zip(target.types, target.names, strict=True)
    words_of_id = "/".join(word for pair in pairs for word in pair)
    return refuse("ResourceNotFound", resource=f"{target.namespace}/{words_of_id}", group=target.group or "<null>")


def _fill(body: Mapping[str, Any], words: Mapping[str, str]) -> dict[str, Any]:
    """Fill the words of the message into an error body."""
    filled = dict(body)
    if "message" in body:
        filled["message"] = body["message"].format_map(words)
    if "error" in body:
        filled["error"] = _fill(body["error"], words)
    return filled


def _make_ancestor_missing(request: ServerRequest, ancestor: Target) -> Refused:
    target = request.target
    # Most types name the missing parent; some providers answer a read with the 404 of the parent itself.
    is_read = request.method == "GET" and target.shape is PathShape.RESOURCE
    if request.target.scope.casefold() == ancestor.key or (is_read and target.type.casefold() in NAMES_MISSING_PARENT):
        return make_not_found(ancestor)
    return refuse("ParentResourceNotFound", parent=ancestor.name)


_PREFIX = "/providers/microsoft.subscription/aliases/"


def list_alias_subscriptions(store: Store) -> set[str]:
    """List the ids of the subscriptions of all aliases, in lower case."""
    return {
        str(find_value(alias.body, ("properties", "subscriptionId")) or make_uuid(key, "subscription")).casefold()
        for key, alias in store.below(_PREFIX)
    }


def is_subscription_canceled(store: Store, subscription: str) -> bool:
    return bool(store.note(_make_note_name(subscription)))


def put_subscription_canceled(store: Store, subscription: str, *, canceled: bool) -> None:
    store.put_note(_make_note_name(subscription), canceled)


def _make_note_name(subscription: str) -> str:
    return f"canceled:{subscription}".casefold()
