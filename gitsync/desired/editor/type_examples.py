"""A valid manifest of kind AzureResource for each ARM type: its owner, its name, and the members that it requires.

The owner is given by its ARM id, so that the manifest is valid alone. What the facts do not state, such as the sizes
that a region has, is left to people.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from gitsync.desired.catalog.any_type import TypeAndVersion, list_fixed_names, split_name
from gitsync.desired.catalog.arm_types import open_arm_types
from gitsync.desired.catalog.body_paths import OWN_NAMES
from gitsync.desired.catalog.body_types import BodyMember, BodyType
from gitsync.desired.catalog.body_words import escape
from gitsync.desired.catalog.catalog import Catalog
from gitsync.desired.catalog.refused_types import SCRIPTS, find_refusal
from gitsync.desired.catalog.type_paths import TypeMatch
from gitsync.desired.editor.examples import NAMES, NUMBERS, TEXTS, VALUES
from gitsync.desired.formats.linear_pattern import may_match
from gitsync.desired.formats.secret_names import is_secret_name
from gitsync.desired.validation.annotations import ALLOW, RUN_SCRIPT
from gitsync.desired.validation.constraints import list_violations
from gitsync.desired.validation.name_rules import list_name_faults
from gitsync.errors import ConfigError
from gitsync.model.arm_id import GROUP_TYPE
from gitsync.model.facts import Kind, ScopeFlag

USUAL_TYPE: Final = "Microsoft.Logic/workflows"
"""The type of an example of which no type is given."""

_UUID: Final = "00000000-0000-0000-0000-000000000000"
_SUBSCRIPTION: Final = f"/subscriptions/{_UUID}"
_GROUP: Final = f"{_SUBSCRIPTION}/resourceGroups/example"
_SECRET: Final[Mapping[str, Any]] = {"$secret": {"name": "example", "key": "value"}}
_TIMES: Final = ("2030-01-01T00:00:00Z", "P1D", "PT1H", "01:00:00")
_SCOPES: Final[Mapping[ScopeFlag, str]] = {
    ScopeFlag.RESOURCE_GROUP: _GROUP,
    ScopeFlag.SUBSCRIPTION: _SUBSCRIPTION,
    ScopeFlag.MANAGEMENT_GROUP: "/providers/Microsoft.Management/managementGroups/example",
    ScopeFlag.TENANT: "/",
}
"""The id of an owner of each scope, the most usual first."""


def build_type_example(match: TypeMatch, catalog: Catalog) -> Mapping[str, Any]:
    """Build a valid manifest of a type. ConfigError if gitsync does not write the type, or Azure never does."""
    name, version = match.type.name, match.version
    if refusal := find_refusal(name):
        raise ConfigError(f"gitsync does not write {name}: {refusal.reason}.", hint=refusal.hint)
    body_type = open_arm_types().find_body(name, version.api_version)
    if body_type is None or not version.writable:
        newest = match.type.newest_stable or match.type.newest_preview
        hint = f"Use {name}@{newest}." if newest else "Use another type."
        raise ConfigError(f"Resources of {name} can only be read at {version.api_version}.", hint=hint)
    kind = catalog.any_type(TypeAndVersion(name, version.api_version))
    azure_name = _choose_name(kind, body_type)
    annotations = {"annotations": {RUN_SCRIPT: ALLOW}} if name.casefold() == SCRIPTS else {}
    return {
        "apiVersion": kind.gvk.api_version,
        "kind": kind.gvk.kind,
        "metadata": {"name": "example", **annotations},
        "spec": {
            "type": f"{name}@{version.api_version}",
            **({"azureName": azure_name} if azure_name != "example" else {}),
            "owner": {"armId": _find_owner(kind)},
            "body": _build_body(body_type, azure_name),
        },
    }


def _find_owner(kind: Kind) -> str:
    """Find the id of an owner that a resource of a type may have."""
    scope = next((owner for flag, owner in _SCOPES.items() if flag & kind.writable), _GROUP)
    steps = split_name(kind.arm_type, "example")
    if steps is None or not steps.owner_type:
        return scope
    provider, *types = steps.owner_type.split("/")
    above = "".join(f"/{step}/{_name_parent(provider, types[: at + 1])}" for at, step in enumerate(types))
    if steps.owner_type.casefold() == GROUP_TYPE.casefold():
        return _GROUP
    return f"{scope.rstrip('/')}/providers/{provider}{above}"


def _name_parent(provider: str, types: list[str]) -> str:
    """Name a parent: as its type requires, such as the `default` of blob services."""
    arm_type = open_arm_types().find_type("/".join((provider, *types)))
    newest = (arm_type.newest_stable or arm_type.newest_preview) if arm_type else None
    names = list_fixed_names(arm_type.name, newest) if arm_type and newest else ()
    return names[0] if names else "example"


def _choose_name(kind: Kind, body_type: BodyType) -> str:
    """Choose a name in Azure that the rules of the type accept."""
    if names := list_fixed_names(kind.arm_type, kind.api_version):
        return names[0]
    member = body_type.find_member("name")
    valid = [name for name in NAMES if not any(list_name_faults(name, kind))]
    return next((name for name in valid if member is None or _is_valid(name, member.type)), valid[0])


def _build_body(type_: BodyType, name: str) -> dict[str, Any]:
    """Build the body: what the type requires, and the region."""
    variant = type_.find_variant(name) if type_.by == "name" else None
    body = _build_object(type_, (), variant)
    location = next((part.find_member("location") for part in (variant, type_) if part is not None), None)
    if location is not None and not location.is_read_only:
        body.setdefault("location", "westeurope")
    own = {key for key in body if key.casefold() in OWN_NAMES}
    return {key: body[key] for key in sorted(body.keys() - own, key=lambda key: (key != "location", key))}


def _build_object(type_: BodyType, around: tuple[BodyType, ...], variant: BodyType | None = None) -> dict[str, Any]:
    """Build the members that an object requires; of variants, with those of the first."""
    if type_.by and variant is None:
        variant = next(type_.list_variants(), None)
    required = [*type_.required, *(variant.required if variant is not None else ())]
    return {escape(member.name): _build_value(member, member.type, (*around, type_)) for member in required}


def _build_value(member: BodyMember, type_: BodyType, around: tuple[BodyType, ...]) -> Any:
    if type_.item is not None:
        # An item that contains its own list would have no end.
        least = type_.limits.get("minItems", 0 if type_.item in around else 1)
        return [_build_value(member, type_.item, (*around, type_)) for _ in range(int(least))]
    if type_.is_object:
        return {} if type_ in around else _build_object(type_, around)
    if type_.shape == "any":
        return {}
    is_secret = member.is_write_only or type_.is_sensitive or is_secret_name(member.name)
    # An example is copied into git, where a secret must not be as text.
    if type_.shape == "string" and is_secret and not type_.choices:
        return dict(_SECRET)
    values = list(_list_values(member.name, type_))
    return next((value for value in values if _is_valid(value, type_)), values[0])


def _list_values(name: str, type_: BodyType) -> Iterable[Any]:
    """List values to try, the most sensible first."""
    is_text = type_.shape in {"string", "choice"}
    yield from (value for value in VALUES.get(name, ()) if isinstance(value, str) and is_text)
    yield from type_.choices
    if type_.shape == "string":
        yield from (*TEXTS, *NAMES, *_TIMES, _GROUP)
    elif type_.shape == "boolean":
        yield True
    elif type_.shape == "integer":
        yield from (int(type_.limits[limit]) for limit in ("minimum", "maximum") if limit in type_.limits)
        yield from NUMBERS


def _is_valid(value: Any, type_: BodyType) -> bool:
    """Return whether a value is one of a choice, and keeps the limits."""
    is_chosen = type_.shape != "choice" or value in type_.choices
    fits = next(list_violations(value, type_.limits), None) is None
    return is_chosen and fits and (not type_.pattern or may_match(value, type_.pattern))
