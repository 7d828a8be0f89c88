"""Changes JSON in a copy: merge patches (RFC 7386) and single values by pointer (RFC 6901)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

_NAMES = ("name", "id", "value", "objectId", "ipAddressOrRange")
"""Members that identify an entry for a provider that merges lists."""

GONE = object()
"""A value that removes the member when it is set."""

ValueChange = Callable[[Any], Any]
"""Returns the new value for a value; GONE removes it."""


def merge_patch(value: Any, patch: Any) -> Any:
    """Apply RFC 7386: objects merge, null removes a member, other values replace."""
    if not isinstance(patch, Mapping):  # lists too: RFC 7386 cannot change one entry
        return patch
    merged = dict(value) if isinstance(value, Mapping) else {}
    for name, member in patch.items():
        if member is None:
            merged.pop(name, None)
        else:
            merged[name] = merge_patch(merged.get(name), member)
    return merged


def merge_over(value: Mapping[str, Any], overlay: Mapping[str, Any]) -> dict[str, Any]:
    """Merge two objects, member by member; if both have a plain value, the overlay wins."""
    merged = dict(value)
    for name, other in overlay.items():
        base = merged.get(name)
        merged[name] = merge_over(base, other) if isinstance(base, Mapping) and isinstance(other, Mapping) else other
    return merged


def keep_omitted(before: Mapping[str, Any], body: Mapping[str, Any], pointers: Iterable[str]) -> dict[str, Any]:
    """Return the body of a PUT with the earlier values of what it omits at and below the pointers, as some providers
    do. There, a null removes a member, an empty list all entries, and an identity of another type the user-assigned
    ones.
    """
    for pointer in pointers:
        path = _split(pointer)
        kept = _keep(find_value(before, path), find_value(body, path), is_sent=has_value(body, path))
        if kept is not GONE:
            body = set_value(body, pointer, kept)
    return dict(body)


def _keep(before: Any, sent: Any, *, is_sent: bool) -> Any:
    if sent is None:
        return GONE if is_sent or before is None else before
    if isinstance(sent, list) and isinstance(before, list) and sent:
        # Providers that merge lists take an entry with a known name for its new value, and keep the others.
        names = [_identify(entry) for entry in sent]
        return [*sent, *(entry for entry in before if _identify(entry) not in names)]
    if not (isinstance(sent, Mapping) and isinstance(before, Mapping)):
        return sent
    members = {name: _keep(before.get(name), sent.get(name), is_sent=name in sent) for name in {**before, **sent}}
    # An identity of another type cannot keep the identities that users assigned.
    if "userassigned" not in str(members.get("type", "userassigned")).casefold():
        members.pop("userAssignedIdentities", None)
    return {name: member for name, member in members.items() if member is not GONE}


def fill_absent(before: Any, body: Any, pointer: str, default: Any) -> Any:
    """Return a body with a value at a pointer, if only the earlier body has one there: the default, or the earlier one
    if that is GONE. `*` is each entry that both have, by name. A null in the body counts as a value.
    """
    return _fill(before, body, _split(pointer), default)


def _fill(before: Any, body: Any, path: tuple[str, ...], default: Any) -> Any:
    if not path:
        return body
    step, rest = path[0], path[1:]
    if step == "*":
        # An entry without a name is its own identity, and an object cannot be a key.
        earlier = {repr(_identify(entry)): entry for entry in before} if isinstance(before, list) else {}
        is_list = isinstance(body, list)
        return [_fill(earlier.get(repr(_identify(each))), each, rest, default) for each in body] if is_list else body
    if not isinstance(before, Mapping) or not isinstance(body, Mapping) or step not in before:
        return body
    if rest:
        filled = _fill(before[step], body.get(step, {}), rest, default)
        # An object is not added if it would be empty.
        return body if step not in body and not filled else {**body, step: filled}
    return body if step in body else {**body, step: before[step] if default is GONE else default}


def _identify(entry: Any) -> Any:
    known = (entry[name] for name in _NAMES if name in entry) if isinstance(entry, Mapping) else iter(())
    return next(known, entry)


def set_value(value: Any, pointer: str, new_value: Any) -> Any:
    """Return the value with the member at the pointer set, or removed if the new value is GONE.

    Missing objects on the path are created; "-" appends to a list, also to a missing one. KeyError if a list has no
    such index.
    """
    return _change(value, list(_split(pointer)), new_value)


def _split(pointer: str) -> tuple[str, ...]:
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])


def _change(value: Any, words: list[str], new_value: Any) -> Any:
    if not words:
        return new_value
    step, rest = words[0], words[1:]
    if isinstance(value, list) or (value is None and step == "-"):
        return _change_list(value or [], step, rest, new_value)
    members = dict(value) if isinstance(value, Mapping) else {}
    if not rest and new_value is GONE:
        members.pop(step, None)
        return members
    members[step] = _change(members.get(step), rest, new_value)
    return members


def _change_list(items: list[Any], step: str, rest: list[str], new_value: Any) -> list[Any]:
    if step == "-":
        return [*items, _change(None, rest, new_value)]
    if not step.isdigit() or int(step) >= len(items):
        raise KeyError(step)
    index = int(step)
    if not rest and new_value is GONE:
        return [*items[:index], *items[index + 1 :]]
    return [*items[:index], _change(items[index], rest, new_value), *items[index + 1 :]]


def change_at(value: Any, path: tuple[str, ...], change: ValueChange) -> Any:
    """Return the value with the change applied at the path; a path without a value changes nothing.

    The step `*` is every entry of a list or every member of an object.
    """
    if not path:
        return change(value)
    step, rest = path[0], path[1:]
    if step == "*" and isinstance(value, list):
        return [change_at(item, rest, change) for item in value]
    if not isinstance(value, Mapping):
        return value
    names = value if step == "*" else [step]
    changed = {name: change_at(value[name], rest, change) for name in names if name in value}
    return {name: item for name, item in {**value, **changed}.items() if item is not GONE}


def find_value(value: Any, path: tuple[str, ...]) -> Any:
    """Find the value at a path of member names; None if the path ends early."""
    for name in path:
        if not isinstance(value, Mapping):
            return None
        value = value.get(name)
    return value


def has_value(value: Any, path: tuple[str, ...]) -> bool:
    """Return whether there is a member at a path of names, null or not."""
    # An empty path is the document itself, which is not a member.
    *parents, last = path or ("",)
    parent = find_value(value, tuple(parents))
    return isinstance(parent, Mapping) and last in parent
