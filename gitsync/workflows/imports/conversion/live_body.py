"""Convert a live body to the spec of a manifest: the conversion of `request.body`, backwards, from the same facts.

Only leaves that a manifest may set are read, so what Azure alone sets is left out by itself. Values of secrets are
never read: a reference stands in for each.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from gitsync.desired.formats.json_pointer import JsonPath, format_pointer
from gitsync.desired.formats.list_pairing import KEY_FIELDS
from gitsync.desired.formats.region_names import is_region, normalize_region
from gitsync.desired.problems.field_path import FieldPath, find_member
from gitsync.errors import UnfitValueError
from gitsync.model.facts import Field, FieldType, Kind, TypeFacts
from gitsync.planning.diff.hints import Hints, make_kind_hints
from gitsync.planning.diff.rules.own_entries import is_own_entry

ManifestReference = Mapping[str, Any]

EVERY: Final = "*"
"""Stands for the index of an entry in the path of a leaf."""

_KEYS: Final = frozenset(name for name in KEY_FIELDS if "." not in name)
_LOGINS: Final = ("Login", "UserName", "Username")
"""How the name of an account ends; the password beside it has the same beginning, and ends in `Password`."""
NEVER_SET: Final = frozenset({"etag", "provisioningState", "systemData"})
"""Fields that the facts allow, and that are of an answer only."""

_HIDDEN: Final = frozenset({"properties", EVERY})
"""Steps of a path that the key of a secret leaves out."""

_USUAL: Final = "Default"
"""The choice of a union whose discriminator Azure does not show, as MariaDB with `createMode`."""

WITHOUT_PASSWORD: Final = "disablePasswordAuthentication"  # noqa: S105 - the name of a field


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversionContext:
    """The choices of a conversion, and what it needs from the import."""

    refer: Callable[[str], ManifestReference]  # returns the reference for an ARM id
    refer_to_role: Callable[[str], ManifestReference | None] = lambda _: None
    """Does so for the id of a role; None if no name is known."""

    is_azures_own: Callable[[JsonPath, Any], bool] = lambda _path, _value: False
    """Returns whether Azure sets a leaf to a value by itself."""

    left_out: frozenset[str] = frozenset()  # paths in the body that are not read
    is_separate: Callable[[str, Any], bool] = lambda _name, _entry: False  # selects entries of lists that are not read
    secret: str = ""  # the name of the Secret that holds what Azure does not show


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvertedSpec:
    """A spec that was made of a body."""

    fields: Mapping[str, Any]  # those that the body gives
    unfit: tuple[str, ...] = ()  # the paths of values that the kind does not allow, as JSON pointers


class _Part(NamedTuple):
    """A converted value."""

    value: Any
    is_set: bool  # somebody set it, as far as is known; otherwise it stays only where it must


def convert_body(kind: Kind, body: Mapping[str, Any], conversion: ConversionContext) -> ConvertedSpec:
    """Return the spec that declares what a body shows, without owner and azureName."""
    reading = _BodyReader(kind.types, conversion, make_kind_hints(kind), [])
    part = reading.read_mapping(kind.types[kind.spec], body, ())
    return ConvertedSpec(
        fields=part.value if part else {},
        unfit=tuple(dict.fromkeys(format_pointer(path) for path in reading.unfit)),
    )


def convert_value(kind: Kind, field: FieldPath, value: Any, refer: Callable[[str], ManifestReference]) -> Any:
    """Return what a field of a manifest, whose path begins with `spec`, has to say for the value that Azure shows.

    Raises UnfitValueError if the kind has no form for the value.
    """
    position = find_field_position(kind, field)
    reading = _BodyReader(kind.types, ConversionContext(refer=refer), make_kind_hints(kind), [])
    if position.mode:
        part = _MODES[position.mode](reading, position.type, value, position.path) if position.mode in _MODES else None
    elif field and isinstance(field[-1], int):
        part = reading.read_entry(position.type, value, position.path[:-1])
    else:
        part = reading.read_value(position.type, value, position.path)
    if part is not None:
        return part.value
    if reading.unfit or value not in ("", [], {}) or (value == "" and position.type != "string"):
        raise UnfitValueError
    return value  # an import leaves out what is empty; here it was something else before


class FieldPosition(NamedTuple):
    """The type of one field of a spec, and where its value is."""

    type: FieldType
    mode: str  # how the value is made, "" for a plain one
    path: JsonPath  # that in the body, with `*` for the index of an entry


def find_field_position(kind: Kind, field: FieldPath) -> FieldPosition:
    """Find where a field of a manifest is in the body. Its path begins with `spec`. Raises UnfitValueError for no such
    field.

    A field below a value that is not copied, such as a reference, has the path of that value.
    """
    type_: FieldType = {"ref": kind.spec}
    path: JsonPath = ()
    for step in field[1:]:
        while isinstance(type_, Mapping) and "base" in type_:
            type_ = type_["base"]
        if isinstance(type_, str):
            return FieldPosition(type_, "", path)  # free JSON: all that is below it is too
        if "ref" in type_:
            facts = kind.types[type_["ref"]]
            inner = facts["fields"].get(str(step))
            if inner is None or "arm" not in inner:
                raise UnfitValueError
            type_ = inner["type"]
            # A member of a union has no step in the body, which is its content.
            path = path if facts.get("oneOf") else (*path, *inner["arm"].split("/"))
            if mode := inner.get("mode", ""):
                return FieldPosition(type_, mode, path)
        elif "enum" in type_:
            raise UnfitValueError
        else:
            path = (*path, EVERY if "list" in type_ else step)
            type_ = type_["list"] if "list" in type_ else type_["map"]
    return FieldPosition(type_, "", path)


@dataclass(slots=True)
class _BodyReader:
    types: Mapping[str, TypeFacts]  # those of the kind, by name
    conversion: ConversionContext
    hints: Hints
    unfit: list[JsonPath]  # the paths of values that the kind does not allow

    def read_mapping(self, facts: TypeFacts, body: Any, path: JsonPath, *, is_entry: bool = False) -> _Part | None:
        """Read named fields. Fields that no one set stay if the kind requires them, or if they identify an entry."""
        if not isinstance(body, Mapping):
            return self.give_up(path)
        if facts.get("oneOf"):
            return self.read_union(facts, body, path)
        parts = {
            name: (field, part)
            for name, field in _list_fields(facts)
            if (part := self.read_member(name, field, body, path))
        }
        kept = {
            name: part.value
            for name, (field, part) in parts.items()
            if part.is_set or field.get("required") or (is_entry and name in _KEYS)
        }
        kept |= self.make_password_references(facts, kept, path)
        # The references were added last, and manifests have the order of the kind.
        kept = {name: kept[name] for name in facts["fields"] if name in kept}
        return _Part(kept, any(part.is_set for _, part in parts.values())) if kept or is_entry else None

    def read_union(self, facts: TypeFacts, body: Mapping[str, Any], path: JsonPath) -> _Part | None:
        """Read the one field of a union whose content the body is."""
        discriminator = facts.get("discriminator", "")
        shown = str(body.get(discriminator, _USUAL)).casefold()
        # Azure answers some discriminators in another case than it takes.
        choices = [choice for choice in facts.get("values", {}) if choice.casefold() == shown]
        if not choices and discriminator not in body:
            choices = self.find_choices(facts, body)
        if len(choices) != 1:
            return self.give_up(path)
        (choice,) = choices
        name = facts["values"][choice]
        part = self.read_value(facts["fields"][name]["type"], {**body, discriminator: choice}, path)
        return _Part({name: part.value}, part.is_set) if part else None

    def find_choices(self, facts: TypeFacts, body: Mapping[str, Any]) -> list[str]:
        """Find the choices of a union that have the most of a body's members: an old api-version may not say the
        choice.
        """
        counts = {}
        for choice, name in facts.get("values", {}).items():
            type_ = facts["fields"][name]["type"]
            members = _list_fields(self.types[type_["ref"]]) if isinstance(type_, Mapping) else ()
            counts[choice] = sum(find_member(body, *field["arm"].split("/")) is not None for _, field in members)
        most = max(counts.values(), default=0)
        return [choice for choice, count in counts.items() if count == most > 0]

    def read_member(self, name: str, field: Field, body: Mapping[str, Any], path: JsonPath) -> _Part | None:
        steps = field["arm"].split("/")
        inner = (*path, *steps)
        # Lists of children that have manifests of their own are left out, or both would write them.
        if not NEVER_SET.isdisjoint(steps) or "/".join(map(str, inner)) in self.conversion.left_out:
            return None
        value = find_member(body, *steps)
        mode, is_required, unfit = field.get("mode", ""), field.get("required", False), len(self.unfit)
        # What Azure shows there is empty, masked or old: it is never taken for the value.
        if mode.startswith("secret"):
            return self.make_secret(name, mode, path, is_set=bool(value)) if value or is_required else None
        part = None
        if value is not None:
            part = (
                _MODES[mode](self, field["type"], value, inner)
                if mode
                else self.read_value(field["type"], value, inner)
            )
        if part is not None or not is_required or len(self.unfit) > unfit:
            return part
        # The kind requires a field that Azure does not show: an empty value sets nothing.
        empty = "" if value == "" else self.make_empty(field["type"])
        return None if empty is None else _Part(empty, is_set=False)

    def make_empty(self, type_: FieldType) -> Any:
        """Make a value that sets nothing, for a required field; None if the type has none."""
        if isinstance(type_, str) or "enum" in type_:
            return None
        if "base" in type_:
            return self.make_empty(type_["base"])
        if "ref" not in type_:
            return [] if "list" in type_ else {}
        facts = self.types[type_["ref"]]
        required = {
            name: self.make_empty(field["type"]) for name, field in _list_fields(facts) if field.get("required")
        }
        return None if facts.get("oneOf") or None in required.values() else required

    def read_value(self, type_: FieldType, value: Any, path: JsonPath) -> _Part | None:
        """Read a value of a type; None for nothing, or for what the type does not allow."""
        if value is None:
            return None
        if isinstance(type_, str) or "enum" in type_:
            return self.read_scalar(type_, value, path)
        if "base" in type_:
            return self.read_value(type_["base"], value, path)
        if "ref" in type_:
            return self.read_mapping(self.types[type_["ref"]], value, path)
        return (
            self.read_entries(type_["list"], value, path)
            if "list" in type_
            else self.read_map(type_["map"], value, path)
        )

    def read_scalar(self, type_: FieldType, value: Any, path: JsonPath) -> _Part | None:
        try:
            fitting = fit_scalar(type_, value)
        except UnfitValueError:
            return self.give_up(path)
        if fitting in (None, "", [], {}):  # Azure shows these for what is not set
            return None
        names = [step for step in path if isinstance(step, str) and step != EVERY]
        if isinstance(fitting, str) and names and is_region(names[-1].casefold()):
            fitting = normalize_region(fitting)
        return _Part(fitting, not self.conversion.is_azures_own(path, value))

    def read_entries(self, type_: FieldType, value: Any, path: JsonPath) -> _Part | None:
        if not isinstance(value, list):
            return self.give_up(path)
        list_path = "/".join(map(str, path))
        parts = []
        for entry in value:
            unfit = len(self.unfit)
            part = None if self.conversion.is_separate(list_path, entry) else self.read_entry(type_, entry, path)
            if part is not None:
                parts.append(part)
            elif len(self.unfit) > unfit:
                return None  # without one of its entries, the list would mean something else
        return _Part([part.value for part in parts], any(part.is_set for part in parts)) if parts else None

    def read_entry(self, type_: FieldType, value: Any, path: JsonPath) -> _Part | None:
        """Read an entry of a list. One that Azure added is left out if the kind does not allow it."""
        # A base only adds limits, and the check of the spec applies them later.
        while not isinstance(type_, str) and "base" in type_ and "enum" not in type_:
            type_ = type_["base"]
        unfit, entry_path = len(self.unfit), (*path, EVERY)
        if isinstance(type_, Mapping) and "ref" in type_:
            part = self.read_mapping(self.types[type_["ref"]], value, entry_path, is_entry=True)
        else:
            part = (
                _Part("", is_set=True)
                if (type_, value) == ("string", "")
                else self.read_value(type_, value, entry_path)
            )
        # Azure may have added what the kind cannot say; then it adds it again.
        if len(self.unfit) > unfit and is_own_entry(path, value, self.hints):
            del self.unfit[unfit:]
            return None
        return part

    def read_map(self, type_: FieldType, value: Any, path: JsonPath) -> _Part | None:
        if not isinstance(value, Mapping):
            return self.give_up(path)
        parts = {
            key: part
            for key, member in sorted(value.items())
            if (part := self.read_map_value(type_, member, (*path, key)))
        }
        kept = {key: part.value for key, part in parts.items() if part.is_set}
        return _Part(kept, is_set=True) if kept else None

    def read_map_value(self, type_: FieldType, value: Any, path: JsonPath) -> _Part | None:
        return _Part("", is_set=True) if value == "" else self.read_value(type_, value, path)

    def read_reference(self, type_: FieldType, value: Any, path: JsonPath) -> _Part | None:
        """Read an ARM id as a reference; lists and maps of such by their type."""
        if isinstance(type_, Mapping) and "list" in type_ and isinstance(value, list):
            parts = [part for member in value if (part := self.read_reference(type_["list"], member, path))]
            return _Part([part.value for part in parts], is_set=True) if parts else None
        if isinstance(type_, Mapping) and "map" in type_ and isinstance(value, Mapping):
            pairs = {key: self.read_reference(type_["map"], member, path) for key, member in sorted(value.items())}
            kept = {key: part.value for key, part in pairs.items() if part}
            return _Part(kept, is_set=True) if kept else None
        if not isinstance(value, str):
            return self.give_up(path)
        return _Part(self.refer(type_, value), not self.conversion.is_azures_own(path, value)) if value else None

    def refer(self, type_: FieldType, value: str) -> Any:
        if type_ == "string":
            return value
        if type_ == "wellKnownReference":
            known = self.conversion.refer_to_role(value)
            return known or (self.conversion.refer(value) if value.startswith("/") else {"wellKnownName": value})
        return self.conversion.refer(value)

    def read_identities(self, _type: FieldType, value: Any, path: JsonPath) -> _Part | None:
        """Read a map whose keys are ARM ids as a list of references."""
        if not isinstance(value, Mapping):
            return self.give_up(path)
        # Azure returns the identities in any order, and each import has to write the same bytes.
        references = [{"reference": self.conversion.refer(arm_id)} for arm_id in sorted(value)]
        return _Part(references, is_set=True) if references else None

    def make_secret(self, name: str, mode: str, path: JsonPath, *, is_set: bool = True) -> _Part:
        """Make a reference in place of a value that Azure does not show."""
        key = make_secret_key((*path, name))
        if mode == "secretMap":
            return _Part({"name": f"{self.conversion.secret}-{key.lower().replace('_', '-')}"}, is_set)
        return _Part({"name": self.conversion.secret, "key": key}, is_set)

    def make_password_references(self, facts: TypeFacts, kept: Mapping[str, Any], path: JsonPath) -> dict[str, Any]:
        """Make references for passwords of accounts: Azure shows the account only."""
        hidden = [name for name, field in _list_fields(facts) if field.get("mode") == "secret" and name not in kept]
        wanted = [name for name in hidden if has_account(name, kept) and not read_flag(WITHOUT_PASSWORD, kept)]
        return {name: self.make_secret(name, "secret", path).value for name in wanted}

    def give_up(self, path: JsonPath) -> _Part | None:
        """Note a path whose value cannot be read."""
        self.unfit.append(path)
        return None


_MODES: Final[Mapping[str, Callable[[_BodyReader, FieldType, Any, JsonPath], _Part | None]]] = {
    "reference": _BodyReader.read_reference,
    "identityMap": _BodyReader.read_identities,
}


def _list_fields(facts: TypeFacts) -> Iterator[tuple[str, Field]]:
    """List the fields for a path in the body, one for each: of a value and its reference to a ConfigMap the value, of a
    value and its reference to a Secret the reference, of two forms of a reference the one by name.
    """
    by_arm_name: dict[str, tuple[str, Field]] = {}
    for name, field in facts["fields"].items():
        if "arm" not in field or field.get("meta") or field.get("mode") == "configMap":
            continue
        if field["arm"] not in by_arm_name or field.get("mode") == "secret" or field["type"] == "reference":
            by_arm_name[field["arm"]] = (name, field)
    return iter(by_arm_name.values())


def make_secret_key(path: JsonPath) -> str:
    """Make the key in a Secret for the value at a path of a body."""
    return re.sub(r"[^-._a-zA-Z0-9]+", "", ".".join(step for step in map(str, path) if step not in _HIDDEN))


def has_account(name: str, kept: Mapping[str, Any]) -> bool:
    """Return whether fields beside a password name its account."""
    beginning = name.removesuffix("Password")
    return beginning != name and any(
        beginning.removesuffix("Login") + ending == other for other in kept for ending in (*_LOGINS, "")
    )


def read_flag(name: str, fields: Any) -> bool:
    """Return whether a field is true in a spec or in a part of it."""
    return isinstance(fields, Mapping) and (
        fields.get(name) is True or any(read_flag(name, part) for part in fields.values())
    )


# A scalar as its field allows it: Azure answers some numbers as text, and words in a case of its own.


def fit_scalar(type_: FieldType, value: Any) -> Any:
    """Return a value as a type has it; of free JSON without nulls. Raises UnfitValueError if it has no such form."""
    if isinstance(type_, Mapping):
        return _fit_choice(type_["enum"], value)
    fit = _FITS.get(type_)
    if fit is None:
        raise UnfitValueError
    return fit(value)


def _fit_choice(choices: list[Any], value: Any) -> Any:
    """Find the choice that a value means. Recorded: a role definition of Cosmos DB answers with the number of the
    choice.
    """
    if value == "":
        return None
    if isinstance(value, int) and not isinstance(value, bool) and isinstance(choices[0], str):
        value = choices[value] if 0 <= value < len(choices) else value
    for choice in choices:
        if str(choice).casefold() == _format_text(value).casefold():
            return choice
    raise UnfitValueError


def _fit_text(value: Any) -> str:
    if isinstance(value, Mapping | list):
        raise UnfitValueError
    return _format_text(value).replace("\r\n", "\n")  # line ends have no meaning


def _format_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _fit_boolean(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.casefold() in {"true", "false"}:
        return value.casefold() == "true"
    raise UnfitValueError


def _fit_number(value: Any) -> int | float:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            raise UnfitValueError from None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UnfitValueError
    # Azure answers some integers with a decimal point.
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _fit_integer(value: Any) -> int:
    number = _fit_number(value)
    if isinstance(number, float):
        raise UnfitValueError
    return number


def _drop_nulls(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _drop_nulls(member) for key, member in value.items() if member is not None}
    return [_drop_nulls(member) for member in value] if isinstance(value, list) else value


_FITS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "string": _fit_text,
    "boolean": _fit_boolean,
    "integer": _fit_integer,
    "number": _fit_number,
    "any": _drop_nulls,
}
