"""What ARM's types state of the values of a body, by their path: set by Azure alone, secret, a choice without case.

For comparisons and imports, which get bodies that Azure returned. A path alone does not show which variant an object
is: all variants that have the member count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

from gitsync.desired.catalog.body_types import BodyMember, BodyType
from gitsync.desired.formats.json_pointer import JsonPath, generalize
from gitsync.desired.formats.secret_names import is_secret_name

OWN_NAMES: Final = frozenset({"id", "name", "type", "apiversion"})
"""Members that each body of an answer has, without case. Other fields of a manifest give them."""


class PathFacts(NamedTuple):
    """The facts about the values at a path."""

    types: tuple[BodyType, ...]  # more than one if variants differ; empty below a value that may be anything
    is_read_only: bool  # Azure alone sets it, or something that it is in
    is_required: bool  # a body must have it, so one that is read-only too is sent
    is_withheld: bool  # write-only or sensitive, or inside of it: Azure may return nothing, or another text
    is_secret: bool  # it may be a secret: withheld, by its name, or inside of one

    @property
    def has_no_case(self) -> bool:
        """Return whether the value is one of some words, which ARM compares without case."""
        return bool(self.types) and all(type_.choices for type_ in self.types)


def find_facts(body_type: BodyType, path: JsonPath) -> PathFacts | None:
    """Find the facts about a path of a body. `*` stands for any index or name. None if the type has no such path."""
    # All entries of a list are of one type.
    return _find_facts(body_type, generalize(path))


@lru_cache(maxsize=4096)  # those of a member are found by those of the object that has it, as its siblings' are
def _find_facts(body_type: BodyType, path: tuple[str, ...]) -> PathFacts | None:
    if not path:
        return PathFacts((body_type,), is_read_only=False, is_required=True, is_withheld=False, is_secret=False)
    facts, step = _find_facts(body_type, path[:-1]), path[-1]
    if facts is None:
        return None
    found = [stepped for type_ in facts.types for stepped in _take_step(type_, step)]
    # Below a value of any shape everything exists, and nothing is known of it.
    if not found and not any(type_.shape == "any" for type_ in facts.types) and facts.types:
        return None
    is_withheld = facts.is_withheld or any(_is_withheld(*stepped) for stepped in found)
    return PathFacts(
        tuple(dict.fromkeys(type_ for _, type_ in found)),
        # One variant in which it can be written is enough: only the value of another member would show which one it is.
        is_read_only=facts.is_read_only or (bool(found) and all(_is_set_by_azure(member) for member, _ in found)),
        is_required=any(member is None or member.is_required for member, _ in found),
        is_withheld=is_withheld,
        is_secret=facts.is_secret or is_secret_name(step) or is_withheld,
    )


_Step = tuple[BodyMember | None, BodyType]
"""The member that a step leads to, None for an entry of a list or a map; and the type there."""


def _take_step(type_: BodyType, step: str) -> Iterator[_Step]:
    if type_.item is not None:
        yield None, type_.item
        return
    members = list(_list_members(type_, step))
    yield from ((member, member.type) for member in members)
    if not members and type_.others is not None:
        yield None, type_.others


def _list_members(type_: BodyType, name: str) -> Iterator[BodyMember]:
    for part in (type_, *type_.list_variants()):
        if (member := part.find_member(name)) is not None:
            yield member


def _is_set_by_azure(member: BodyMember | None) -> bool:
    return member is not None and member.is_read_only


def _is_withheld(member: BodyMember | None, type_: BodyType) -> bool:
    return type_.is_sensitive or (member is not None and member.is_write_only)


def list_read_only(body: Any, body_type: BodyType, *, name: str = "") -> Iterator[tuple[JsonPath, bool]]:
    """List the paths of a body that Azure alone sets, without those inside them, each with whether the type requires
    it. `name` is that of the resource, which chooses the variant of some types.
    """
    yield from _list_read_only(body, body_type, (), name.rpartition("/")[2])


def _list_read_only(value: Any, type_: BodyType, path: JsonPath, name: str) -> Iterator[tuple[JsonPath, bool]]:
    for key, child, member, inner in _list_children(value, type_, name):
        if member is not None and member.is_read_only:
            yield (*path, key), member.is_required
        elif inner is not None:
            yield from _list_read_only(child, inner, (*path, key), "")


def select_writable(
    body: Mapping[str, Any], body_type: BodyType, *, name: str = "", with_required: bool = True
) -> dict[str, Any]:
    """Return the part of a body that Azure returned which can be sent: without members that Azure alone sets, unless
    the type requires them, and without those that the type does not have. Members are spelled as the type has them.

    `name` is that of the resource, which chooses the variant of some types. Without `with_required`, what Azure alone
    sets is left out although the type requires it.
    """
    selected = _select(body, body_type, name.rpartition("/")[2], with_required=with_required)
    return {key: value for key, value in selected.items() if key.casefold() not in OWN_NAMES}


def _select(value: Any, type_: BodyType, name: str = "", *, with_required: bool) -> Any:
    if isinstance(value, list) and type_.item is not None:
        return [_select(entry, type_.item, with_required=with_required) for entry in value]
    if not type_.is_object or not isinstance(value, Mapping):
        return value
    selected = {}
    for key, child, member, inner in _list_children(value, type_, name):
        is_needed = member is not None and member.is_required
        if inner is None or (member is not None and member.is_read_only and not (is_needed and with_required)):
            continue
        kept = _select(child, inner, with_required=with_required)
        # An object of which nothing is left had only what Azure sets. Under an ARM id the id itself is the value.
        if kept != {} or child == {} or is_needed or str(key).startswith("/"):
            selected[member.name if member is not None else key] = kept
    return selected


_Child = tuple[str | int, Any, BodyMember | None, BodyType | None]
"""A value inside another one: its step, the value, its member, and its type; None for what the type does not have."""


def _list_children(value: Any, type_: BodyType, name: str) -> Iterator[_Child]:
    if isinstance(value, list) and type_.item is not None:
        yield from ((index, entry, None, type_.item) for index, entry in enumerate(value))
    elif type_.is_object and isinstance(value, Mapping):
        variant = type_.choose_variant(value, name)
        for key, child in value.items():
            member = (variant.find_member(key) if variant else None) or type_.find_member(key)
            yield key, child, member, member.type if member is not None else type_.others


def is_spelled_exactly(value: Any, type_: BodyType, *, name: str = "") -> bool:
    """Return whether a body spells the words of choices and of variants as its type does. ARM compares them without
    case, other tools do not. `name` is that of the resource, which chooses the variant of some types.
    """
    if isinstance(value, str):
        return type_.shape != "choice" or value in type_.choices
    if isinstance(value, Mapping) and type_.by:
        deciding = value.get(type_.by)
        if isinstance(deciding, str) and deciding not in type_.variant_names:
            return False
    return all(
        inner is None or is_spelled_exactly(child, inner)
        for _, child, _, inner in _list_children(value, type_, name.rpartition("/")[2])
    )
