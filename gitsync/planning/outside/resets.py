"""What a PUT would reset: values in Azure that its body lacks.

A PUT replaces a resource, so a service may give its default to what the body leaves out, or may keep the former value;
which of both, no type states. After gitsync's own write, only what changed since then is worth a word: the rest
survived a PUT of the same fields, or was made by it. Before the first write, all that the body lacks may be somebody's;
most of it is Azure's own, by tables of recorded values and by rules of what values look like.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from gitsync.desired.catalog.azure_defaults import AzureDefaults, find_azure_defaults
from gitsync.desired.catalog.packed_tables import PutEffect, find_azure_values, read_put_effects
from gitsync.desired.catalog.weakening_fields import protects
from gitsync.desired.formats.json_members import is_number
from gitsync.desired.formats.json_pointer import JsonPath, format_pointer, generalize, parse_pointer
from gitsync.desired.formats.list_pairing import (
    ATOMIC_MAPPINGS,
    OPEN_LISTS,
    TAGS,
    find_key_field,
    index_by_key,
    is_plain,
)
from gitsync.model.arm_id import ArmId
from gitsync.model.outside import OutsideChange, ResetValue
from gitsync.planning.diff.projection import select_desired
from gitsync.planning.outside.azure_moves import is_reported_value
from gitsync.planning.outside.outside_values import find_covers, is_empty
from gitsync.planning.outside.recorded_outside import OutsideView

MOST: Final = 3
"""How many values are named before the first write to a resource: the last one stands for all others, if there are
more."""

_NEUTRAL: Final = frozenset(
    {"auto", "automatic", "default", "disabled", "n/a", "none", "notset", "notspecified", "off", "unspecified"}
)
"""Words, in lower case, by which services state that no one chose a value, or switched something on."""

_MICROSOFTS: Final = re.compile(
    r"microsoft\.\w+|\w*(?:system|platform|service|microsoft)(?:managed|key)", re.IGNORECASE
)
"""How types name a key that Microsoft manages, which is what one gets without a request."""

_MADE: Final = re.compile(
    r"https?://.+|\d{4}-\d\d-\d\dT.+|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d+(?:\.\d+){3}|[0-9a-f]*:[0-9a-f:]+"
    r"|[0-9a-f]{24,}",
    re.IGNORECASE,
)
"""What a machine makes: a URL, a time, a GUID, an address, a digest."""


class Uncovered(NamedTuple):
    """A value in Azure that the body of a PUT lacks. A list of which the body has nothing is one."""

    path: JsonPath
    value: Any

    @property
    def entries(self) -> int:
        return len(self.value) if isinstance(self.value, list) else 0


def list_resets(
    view: OutsideView,
    live: Mapping[str, Any],
    body: Mapping[str, Any],
    changes: Sequence[OutsideChange] | None,
    *,
    is_first: bool = False,
    find_defaults: Callable[[str], AzureDefaults] = find_azure_defaults,
) -> tuple[ResetValue, ...]:
    """List the values that a PUT of `body` may reset: what changed outside of git, what protects the resource, and tags
    come first.

    `changes` are the outside changes that the record shows; None if it shows none: on adoption, after another
    api-version, or after an upgrade. Then, and with `is_first`, if no PUT of gitsync came before the record, all values
    count that are not defaults. Of these at most MOST are returned, and the last one stands for the rest
    if there are more: it has no path, and `entries` counts them. `find_defaults` finds the defaults of a type.
    """
    writable = view.select_writable(live)
    effects = read_put_effects(view.arm_type)
    leaves = [leaf for leaf in iterate_uncovered(writable, body) if not _is_kept(leaf, effects)]
    changed = list(_select_changed(leaves, changes or ()))
    # Everything else was there when gitsync sent a PUT of the same fields, and survived it.
    if changes is not None and not is_first:
        return tuple(_describe(view, leaf) for leaf in changed)
    texts, defaults, known = _list_texts(body), find_defaults(view.arm_type), {leaf.path for leaf in changed}
    unknown = [leaf for leaf in leaves if leaf.path not in known and not _is_azures_own(leaf, view, texts, defaults)]
    ranked = sorted(unknown, key=lambda leaf: (_rank(leaf, view.arm_type), leaf.path[:1] != ("properties",)))
    # At least one row: it stands for all others.
    room = max(MOST - len(changed), 1)
    named = ranked if len(ranked) <= room else ranked[: room - 1]
    rest = len(ranked) - len(named)
    more = [ResetValue(path="", live=None, entries=rest)] if rest else []
    return (*(_describe(view, leaf) for leaf in (*changed, *named)), *more)


def _is_kept(leaf: Uncovered, effects: Mapping[str, PutEffect]) -> bool:
    """Return whether recordings show that a PUT without the value leaves it as it is."""
    effect = effects.get(format_pointer(generalize(leaf.path)))
    return effect is not None and effect.is_kept


def _describe(view: OutsideView, leaf: Uncovered) -> ResetValue:
    return ResetValue(path=format_pointer(leaf.path), live=view.mask(leaf.path, leaf.value), entries=leaf.entries)


def iterate_uncovered(live: Mapping[str, Any], body: Mapping[str, Any]) -> Iterator[Uncovered]:
    """Yield the values of the part of a live body that can be written (`catalog.body_paths.select_writable`) which the
    body of a PUT lacks. Indexes are those of the live list. Empty values are left out.
    """
    yield from _iterate(live, [select_desired(body)], ())


def _iterate(live: Any, bodies: Sequence[Any], path: JsonPath) -> Iterator[Uncovered]:
    """Walk both; `bodies` has the value of the body, or nothing."""
    if isinstance(live, Mapping):
        yield from _iterate_members(live, bodies, path)
    elif isinstance(live, list) and bodies:
        for index, entry, pair in _pair_entries(live, bodies[0]):
            yield from _iterate(entry, [pair], (*path, index))
    elif not bodies and not is_empty(live, ("", *path[:-1])[-1]):
        yield Uncovered(path, live)


def _iterate_members(live: Mapping[str, Any], bodies: Sequence[Any], path: JsonPath) -> Iterator[Uncovered]:
    inside = path[-1] if path else ""
    if bodies and (inside in ATOMIC_MAPPINGS or not isinstance(bodies[0], Mapping)):
        return
    for key, value in live.items():
        below = find_covers(bodies, key, inside)
        if value == {} and key.startswith("/") and not below:  # an ARM id is a value itself
            yield Uncovered((*path, key), value)
        elif key not in OPEN_LISTS:
            yield from _iterate(value, below, (*path, key))


def _pair_entries(live: list[Any], body: Any) -> Iterator[tuple[int, Any, Any]]:
    """Pair the entries of a list that git sets. Others are differences from git."""
    if not isinstance(body, list) or is_plain(live, body):
        return
    field = find_key_field(live, body)
    if field is not None:
        by_key = index_by_key(body, field)
        yield from (
            (index, entry, by_key[key][1]) for key, (index, entry) in index_by_key(live, field).items() if key in by_key
        )
    # Without keys only equal lengths give each entry its counterpart.
    elif len(live) == len(body):
        yield from ((index, entry, pair) for index, (entry, pair) in enumerate(zip(live, body, strict=True)))


def _select_changed(leaves: Sequence[Uncovered], changes: Sequence[OutsideChange]) -> Iterator[Uncovered]:
    """Select what changed since gitsync's last write and Azure still shows; of a list, the entries that did."""
    below: defaultdict[JsonPath, set[str | int | None]] = defaultdict(set)
    for path in (parse_pointer(change.path) for change in changes if change.now is not None):
        for length in range(1, len(path) + 1):
            below[path[:length]].add(path[length] if length < len(path) else None)
    for leaf in leaves:
        steps = below.get(leaf.path, set())
        if isinstance(leaf.value, list) and steps - {None}:
            yield Uncovered(leaf.path, [entry for index, entry in enumerate(leaf.value) if index in steps])
        elif steps:
            yield leaf


def _is_azures_own(leaf: Uncovered, view: OutsideView, texts: frozenset[str], defaults: AzureDefaults) -> bool:
    """Return whether Azure gave a value by itself, as far as recordings or its look show it. `texts` are those of the
    body.
    """
    path, value = generalize(leaf.path), leaf.value
    if path[0] == TAGS:
        return False
    is_guard = protects(view.arm_type, format_pointer(leaf.path), value)
    # One recording with `publicNetworkAccess: Disabled` would otherwise hide the same value in each estate.
    is_usual = is_guard or value is True
    if find_azure_values(view.arm_type).is_own(path, value) or defaults.is_default(path, value, is_usual=is_usual):
        return True
    if isinstance(value, str) and _MICROSOFTS.fullmatch(value):
        return True
    if is_guard:
        return False
    return (
        value is False
        or (is_number(value) and value == 0)
        or is_reported_value(leaf.path, value)
        or (isinstance(value, str) and _is_derived(value, view, texts))
    )


def _is_derived(value: str, view: OutsideView, texts: frozenset[str]) -> bool:
    """Return whether a machine made a text, or derived it from others: the name of the resource, a name in the body."""
    text = value.casefold()
    is_own = text == view.arm_id.name.casefold() or ArmId(value).is_within(view.arm_id)
    # A name in the body, such as that of a subnet, comes back in fields that Azure derives from it.
    is_echo = len(text) > _SHORT and text in texts
    return text in _NEUTRAL or is_own or is_echo or _MADE.fullmatch(value) is not None


_SHORT: Final = 8
"""Up to so many characters a text of the body may be a word of a choice, as 'Enabled' is."""


def _list_texts(value: Any) -> frozenset[str]:
    """The texts in a body, in lower case."""
    if isinstance(value, Mapping | list):
        entries = value.values() if isinstance(value, Mapping) else value
        return frozenset().union(*map(_list_texts, entries))
    return frozenset((value.casefold(),)) if isinstance(value, str) else frozenset()


def _rank(leaf: Uncovered, arm_type: str) -> int:
    """Rank a value by how much a reset of it matters: protection, tags, entries of lists and references, the rest."""
    if protects(arm_type, format_pointer(leaf.path), leaf.value):
        return 0
    if leaf.path[0] == TAGS:
        return 1
    is_reference = isinstance(leaf.value, str) and leaf.value.startswith("/")
    return 2 if leaf.entries or is_reference else 3
