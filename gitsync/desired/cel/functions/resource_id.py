"""Evaluates `aso.parseResourceId(text)`: an ARM id split as in Azure's SDK for Go
(docs/reference/reconciliation.md#arm-ids).

An id is a sequence of types and names below the tenant; each pair is the `parent` of the next. `provider` is set only
for the id of a provider itself. Separate from `formats.arm_path`, which only compares ids.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from gitsync.desired.cel.budget import EvaluationBudget
from gitsync.errors import EvaluationError

MOST_CHARACTERS: Final = 4096
"""The maximum length of an id: every part of it keeps all types above it."""

_RESOURCES: Final = "Microsoft.Resources"
_SUBSCRIPTION: Final = (_RESOURCES, "subscriptions")
_GROUP: Final = (_RESOURCES, "resourceGroups")
_PROVIDER: Final = (_RESOURCES, "providers")
_TENANT: Final = (_RESOURCES, "tenants")


@dataclass(frozen=True, slots=True)
class ResourceType:
    """A resource type as expressions see it: the namespace of its provider, and the rest."""

    namespace: str = ""
    type: str = ""

    def read_member(self, name: str) -> Any:
        if name not in {"namespace", "type"}:
            raise EvaluationError(f"no such key: {name}")
        return self.namespace if name == "namespace" else self.type

    def has(self, name: str) -> bool:
        return bool(self.read_member(name))

    def is_zero(self) -> bool:
        return not (self.namespace or self.type)

    def find_type_name(self) -> str:
        return "cel.ResourceType"


@dataclass(frozen=True, slots=True)
class ResourceId:
    """An id as expressions see it: an object, whose unset fields read as empty text."""

    type: tuple[str, str] = ("", "")  # namespace and types, such as ("Microsoft.Sql", "servers/databases")
    name: str = ""  # the one behind the last type
    subscription: str = ""
    group: str = ""  # of the resource group
    provider: str = ""  # a namespace, set only for the id of a provider itself
    location: str = ""
    parent: ResourceId | None = None  # the id of the pair before this one, None above the tenant

    def read_member(self, name: str) -> Any:
        if name not in _MEMBERS:
            raise EvaluationError(f"no such key: {name}")
        return _MEMBERS[name](self)

    def has(self, name: str) -> bool:
        if name == "resourceType":
            return any(self.type)
        # A missing parent reads as an empty id, so its value does not show whether it is set.
        return self.parent is not None if name == "parent" else bool(self.read_member(name))

    def is_zero(self) -> bool:
        return self == ResourceId()

    def find_type_name(self) -> str:
        return "cel.ResourceID"


_MEMBERS: Final[dict[str, Callable[[ResourceId], Any]]] = {
    "parent": lambda id_: id_.parent or ResourceId(),
    "subscriptionId": lambda id_: id_.subscription,
    "resourceGroupName": lambda id_: id_.group,
    "provider": lambda id_: id_.provider,
    "location": lambda id_: id_.location,
    "resourceType": lambda id_: ResourceType(*id_.type),
    "name": lambda id_: id_.name,
}


def parse_resource_id(budget: EvaluationBudget, text: str) -> ResourceId:
    """Split an ARM id; each segment costs a step. Raises EvaluationError for a text that is not an id; the message does
    not repeat the text.
    """
    if len(text) > MOST_CHARACTERS:
        raise _make_id_error(f"it has more than {MOST_CHARACTERS} characters")
    start, *segments = text.split("/")
    budget.step(len(segments))
    if start or not segments:
        raise _make_id_error("it does not start with '/'")
    if not all(segments):
        raise _make_id_error("it has an empty segment")
    if len(segments) < 2:
        raise _make_id_error("it has fewer than two segments")
    if segments[0].casefold() not in {"subscriptions", "providers"}:
        raise _make_id_error("it starts neither with /subscriptions nor with /providers")
    here = ResourceId(_TENANT)
    while segments:
        here, segments = _descend(here, segments)
    return here


def _make_id_error(why: str) -> EvaluationError:
    return EvaluationError(f"aso.parseResourceId: invalid resource ID: {why}")


def _descend(here: ResourceId, segments: list[str]) -> tuple[ResourceId, list[str]]:
    """Go down one level: to a type of a provider, a provider itself, or a nested type of the same provider."""
    if segments[0].casefold() != "providers":
        return _descend_to_child(here, segments), segments[2:]
    # Such an id names a provider without a resource, which Azure's SDK takes in a subscription or the tenant only.
    if len(segments) == 2 or (len(segments) > 2 and segments[2].casefold() == "providers"):
        if here.type not in {_SUBSCRIPTION, _TENANT}:
            raise _make_id_error("it has a provider that is not in a subscription or the tenant")
        return _make_id_below(here, _PROVIDER, segments[1]), segments[2:]
    if len(segments) < 4:
        raise _make_id_error("it has no type and name after the provider")
    return _make_id_below(here, (segments[1], segments[2]), segments[3]), segments[4:]


def _descend_to_child(here: ResourceId, segments: Sequence[str]) -> ResourceId:
    named, name = segments[0], segments[1] if len(segments) > 1 else ""
    if not name and (named.casefold() in {"subscriptions", "resourcegroups"} or here.type == _GROUP):
        raise _make_id_error("it has a type without a name")
    if named.casefold() == "resourcegroups" and here.type == _SUBSCRIPTION:
        return _make_id_below(here, _GROUP, name)
    if named.casefold() == "subscriptions" and here.type == _TENANT:
        return _make_id_below(here, _SUBSCRIPTION, name)
    namespace, outer = here.type
    return _make_id_below(here, (namespace, f"{outer}/{named}"), name)


def _make_id_below(parent: ResourceId, type_: tuple[str, str], name: str) -> ResourceId:
    id_ = replace(parent, type=type_, name=name, parent=parent)
    if type_ == _SUBSCRIPTION:
        return replace(id_, subscription=name)
    if type_ == _GROUP:
        return replace(id_, group=name)
    if type_ == _PROVIDER:
        return replace(id_, provider=name)
    return replace(id_, location=name) if type_[1].rpartition("/")[2] == "locations" else id_


MEASURED: Final[dict[tuple[str, ...], Callable[..., Any]]] = {("aso.parseResourceId", "string"): parse_resource_id}
