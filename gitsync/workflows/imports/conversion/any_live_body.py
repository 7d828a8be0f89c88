"""Convert a live body to the body of an `AzureResource`, by the type of ARM at its api-version.

What Azure alone sets is left out, unless the type requires it; free JSON stays as it is. Values of secrets are never
read: a reference stands in for each.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from gitsync.desired.catalog.arm_types import open_arm_types
from gitsync.desired.catalog.body_paths import find_facts
from gitsync.desired.catalog.body_types import BodyMember, BodyType
from gitsync.desired.catalog.body_words import escape, find_word
from gitsync.desired.formats.json_pointer import JsonPath, format_pointer
from gitsync.desired.formats.region_names import is_region, normalize_region
from gitsync.desired.formats.secret_names import is_secret_name
from gitsync.desired.problems.field_path import FieldPath, find_member
from gitsync.desired.validation.arm_body import BODY, check_body
from gitsync.errors import UnfitValueError
from gitsync.model.facts import FieldType, Kind
from gitsync.model.problem import Level
from gitsync.workflows.imports.conversion.live_body import (
    NEVER_SET,
    WITHOUT_PASSWORD,
    ConvertedSpec,
    fit_scalar,
    has_account,
    make_secret_key,
    read_flag,
)

_OWN_NAMES: Final = frozenset({"id", "name", "type", "apiversion"})
"""Members of an answer that the other fields of the manifest have."""

_MASKED: Final = re.compile(r"\*{3,}")
"""What some services show in place of a secret. Sent back, it would become the secret."""

_EMPTY: Final[tuple[Any, ...]] = (None, "", [], {})

_SHAPES: Final[Mapping[str, FieldType]] = {"string": "string", "integer": "number", "boolean": "boolean"}


@dataclass(frozen=True, slots=True)
class BodyContext:
    """What a conversion needs from the import."""

    refer: Callable[[str], Mapping[str, Any] | None]  # returns the reference for an ARM id; None to keep the id
    secret: str  # the name of the Secret that holds what Azure does not show


def convert_any_body(kind: Kind, body: Mapping[str, Any], name: str, context: BodyContext) -> ConvertedSpec:
    """Return the spec that declares what a body shows, without type, owner and azureName. `name` is the name in Azure.

    A body of a type or version that the facts do not have is free JSON.
    """
    shown = {key: value for key, value in body.items() if key.casefold() not in _OWN_NAMES and key not in NEVER_SET}
    reader = _AnyBodyReader(context)
    body_type = open_arm_types().find_body(kind.arm_type, kind.api_version)
    if body_type is None:
        converted = reader.read_free(shown, ())
    else:
        variant = body_type.find_variant(name) if body_type.by == "name" else None
        converted = reader.read_members(body_type, shown, (), variant)
    fitting, unfit = _fit_body(converted, kind, name)
    paths = dict.fromkeys((*map(format_pointer, reader.unfit), *unfit))
    return ConvertedSpec(fields={"body": fitting} if fitting else {}, unfit=tuple(paths))


def convert_any_value(kind: Kind, path: JsonPath, value: Any) -> Any:
    """Return what the body of a manifest states at a path for the value that Azure shows.

    Raises UnfitValueError if the type does not allow the value.
    """
    reader = _AnyBodyReader(BodyContext(refer=lambda _: None, secret=""))
    body_type = open_arm_types().find_body(kind.arm_type, kind.api_version)
    facts = find_facts(body_type, path) if body_type else None
    # Variants that differ leave the type open; the check of the edited manifest finds what does not fit.
    is_typed = facts is not None and len(facts.types) == 1
    converted = reader.read_value(facts.types[0], value, path) if facts and is_typed else reader.read_free(value, path)
    if reader.unfit or converted is None or find_word(converted):
        raise UnfitValueError
    return converted


@dataclass(slots=True)
class _AnyBodyReader:
    context: BodyContext
    unfit: list[JsonPath] = field(default_factory=list)  # the paths of values that the type does not allow

    def read_members(
        self, type_: BodyType, body: Mapping[str, Any], path: JsonPath, variant: BodyType | None = None
    ) -> dict[str, Any]:
        """Read the members of an object that a manifest may set."""
        if type_.by and variant is None and isinstance(chosen := body.get(type_.by), str):
            variant = type_.find_variant(chosen)
        kept: dict[str, Any] = {}
        for key, value in body.items():
            member = (variant.find_member(key) if variant else None) or type_.find_member(key)
            others = type_.others or (variant.others if variant else None)
            if member is not None:
                read = self.read_member(member, value, (*path, key))
                if read.is_kept:
                    kept[escape(member.name)] = read.value
            elif others is not None and value is not None:
                kept[escape(key)] = self.read_value(others, value, (*path, key))
            # The discriminator selects the variant, even if no variant has it as a member.
            elif key == type_.by:
                kept[key] = value
        members = (member for part in (type_, variant) if part for member in part.members.values())
        return kept | self.find_passwords(members, kept, path)

    def read_member(self, member: BodyMember, value: Any, path: JsonPath) -> _Read:
        """Read a member. An empty one is left out, since Azure shows it for what is not set, unless the type requires
        it.
        """
        if not member.is_required and (member.is_read_only or member.name in NEVER_SET):
            return _Read(None, is_kept=False)
        # Azure shows such a member empty or masked; what it shows must not become the secret.
        if _is_secret(member) and (value or member.is_required):
            return _Read(self.make_secret(path), is_kept=True)
        if value is None:
            return _Read(None, is_kept=False)
        type_ = member.type
        read = self.read_value(type_, value, path)
        is_free = type_.shape == "any"
        return _Read(read, is_kept=read is not None and (member.is_required or is_free or read not in _EMPTY))

    def read_value(self, type_: BodyType, value: Any, path: JsonPath) -> Any:
        """Read a value of a type. None for nothing, or for what the type does not allow."""
        if type_.is_object and isinstance(value, Mapping):
            return self.read_members(type_, value, path)
        item = type_.item
        if item is not None and isinstance(value, list):
            return [self.read_value(item, entry, (*path, index)) for index, entry in enumerate(value)]
        if type_.shape in {"string", "choice", "integer", "boolean"}:
            return self.read_scalar(type_, value, path)
        return self.read_free(value, path)  # what does not fit is found by the check of the body

    def read_scalar(self, type_: BodyType, value: Any, path: JsonPath) -> Any:
        if value is None or (reference := self.replace_text(value, path)):
            return reference if value else value
        is_choice = type_.shape == "choice"
        try:
            fitting = fit_scalar({"enum": list(type_.choices)} if is_choice else _SHAPES[type_.shape], value)
        except UnfitValueError:
            self.unfit.append(path)
            return None
        names = [step for step in path if isinstance(step, str)]
        if isinstance(fitting, str) and names and is_region(names[-1].casefold()):
            return normalize_region(fitting)
        return fitting

    def read_free(self, value: Any, path: JsonPath) -> Any:
        """Read free JSON as it is, with references for ids and for masked secrets."""
        if isinstance(value, Mapping):
            return {escape(key): self.read_free(member, (*path, key)) for key, member in value.items()}
        if isinstance(value, list):
            return [self.read_free(entry, (*path, index)) for index, entry in enumerate(value)]
        return self.replace_text(value, path) or value

    def replace_text(self, value: Any, path: JsonPath) -> Mapping[str, Any] | None:
        """Return what stands for a text: a reference for an ARM id of the import, or for a masked secret."""
        if not isinstance(value, str):
            return None
        if _MASKED.fullmatch(value):
            return self.make_secret(path)
        reference = self.context.refer(value) if value.startswith("/") else None
        return {"$reference": reference} if reference else None

    def make_secret(self, path: JsonPath) -> Mapping[str, Any]:
        return {"$secret": {"name": self.context.secret, "key": make_secret_key(path)}}

    def find_passwords(self, members: Iterator[BodyMember], kept: Mapping[str, Any], path: JsonPath) -> dict[str, Any]:
        """Make references for passwords of accounts: Azure shows the account only."""
        hidden = [member.name for member in members if member.name not in kept and _is_secret(member)]
        wanted = [name for name in hidden if has_account(name, kept) and not read_flag(WITHOUT_PASSWORD, kept)]
        return {name: self.make_secret((*path, name)) for name in wanted}


class _Read(NamedTuple):
    value: Any
    is_kept: bool


def _is_secret(member: BodyMember) -> bool:
    """Return whether a member has a secret: the facts do not mark all, so a name counts too."""
    type_ = member.type
    if type_.shape != "string" or member.is_read_only:
        return False
    return type_.is_sensitive or member.is_write_only or is_secret_name(member.name)


def _fit_body(body: dict[str, Any], kind: Kind, name: str) -> tuple[dict[str, Any], list[str]]:
    """Leave out the smallest parts of a body without which it is valid, and return their paths."""
    unfit: list[str] = []
    # Without one part another may be invalid, such as an object that required it.
    while removed := sorted(set(_list_unfit(body, kind, name)), key=str):
        body = deepcopy(body)
        for path in removed:
            parent = find_member(body, *path[:-1])
            if isinstance(parent, dict):  # not left out with a part before
                parent.pop(path[-1], None)
        unfit += map(format_pointer, removed)
    return body, unfit


def _list_unfit(body: dict[str, Any], kind: Kind, name: str) -> Iterator[FieldPath]:
    for finding in check_body(body, kind.arm_type, kind.api_version, name=name):
        path = _climb(body, finding.path[len(BODY) :])
        if finding.level is Level.ERROR and path and find_member(body, *path) is not None:
            yield path


def _climb(body: Mapping[str, Any], path: FieldPath) -> FieldPath:
    """Find the part that goes together with one that goes: the list of an entry, and what would be empty then."""
    while len(path) > 1:
        above = path[:-1]
        if not isinstance(path[-1], int) and len(find_member(body, *above) or "") != 1:
            break
        path = above
    return path
