"""The fields that `--field` names: as plans print them, or as JSON pointers into the request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from gitsync.desired.formats.json_pointer import JsonPath, parse_pointer
from gitsync.desired.formats.list_pairing import find_key
from gitsync.desired.formats.name_list import name_first
from gitsync.desired.problems.field_path import (
    Entry,
    FieldPattern,
    FieldStep,
    FieldSyntaxError,
    find_member,
    parse_field,
)
from gitsync.errors import ConfigError
from gitsync.model.resource import Resource
from gitsync.model.result import Result
from gitsync.model.verdict import Difference
from gitsync.planning.diff.list_elements import split_lists

_MOST_LISTED = 5


def check_fields(texts: Iterable[str]) -> None:
    """Raise ConfigError for a text that is neither a field nor a JSON pointer."""
    for text in texts:
        try:
            if not text.startswith("/"):
                parse_field(text)
        except FieldSyntaxError as error:
            raise ConfigError(
                f"--field {text} is not a field. {error}",
                hint='Write it as a plan prints it: spec.sku.name, spec.tags["a.b"], spec.rules[name=web].',
            ) from None


@dataclass(slots=True)
class WantedFields:
    """The fields that people want. Mutable: it keeps which of them were found."""

    texts: tuple[str, ...] = ()  # as people wrote them; all fields if there are none
    seen: dict[str, None] = field(default_factory=dict)  # the names of fields with drift
    found: set[str] = field(default_factory=set)  # those of `texts` that one of these fits

    def want(self, result: Result, resource: Resource, differences: Sequence[Difference]) -> bool:
        """Return whether people want one of the differences at a path: one at or below a field that they name."""
        # People may name a list, or an entry of it.
        parts = [part for difference in differences for part in (difference, *split_lists(difference))]
        known = result.comparison.fields
        names = {part.path: known[part.path].name if part.path in known else part.path for part in parts}
        return self.want_names(names, resource)

    def want_names(self, names: Mapping[str, str], resource: Resource) -> bool:
        """Return whether people want one of these changes: names of fields, by JSON pointers."""
        if not self.texts:
            return True
        self.seen.update(dict.fromkeys(names.values()))
        pointers = [parse_pointer(pointer) for pointer in names]
        fields = [_locate(parse_field(name), resource) for name in names.values() if not name.startswith("/")]
        fits = {text for text in self.texts if _is_above(text, pointers, fields, resource)}
        self.found |= fits
        return bool(fits)

    def refuse_missing(self) -> None:
        """Raise ConfigError for a text that no drift fits, with the nearest field that has drifted."""
        missing = next((text for text in self.texts if text not in self.found), None)
        if missing is None:
            return
        # However unlike they are: only a field with drift can be meant.
        near = get_close_matches(missing, list(self.seen), n=1, cutoff=0.0)
        others = [name for name in self.seen if name not in near]
        hint = f"Did you mean {near[0]}?" if near else "Run gitsync plan to see what differs."
        if others:
            hint += f" Drift is also in {name_first(others, _MOST_LISTED)}."
        raise ConfigError(f"--field {missing}: this field has no drift.", hint=hint)


def _is_above(text: str, pointers: Iterable[JsonPath], fields: Iterable[FieldPattern], resource: Resource) -> bool:
    if text.startswith("/"):
        wanted_path = parse_pointer(text)
        return any(path[: len(wanted_path)] == wanted_path for path in pointers)
    wanted = _locate(parse_field(text), resource)
    return any(path[: len(wanted)] == wanted for path in fields)


def _locate(path: FieldPattern, resource: Resource) -> FieldPattern:
    """Write the entries of lists that the manifest has by their index. Others keep what identifies them."""
    steps: list[FieldStep] = []
    value: Any = {"spec": resource.spec}
    for step in path:
        index = _find_index(value, step) if isinstance(step, Entry) else None
        own: FieldStep = step if index is None else index
        # ARM compares names of entries without case.
        steps.append(Entry(own.field, own.value.casefold()) if isinstance(own, Entry) else own)
        value = find_member(value, own) if isinstance(own, str | int) else None
    return tuple(steps)


def _find_index(entries: Any, wanted: Entry) -> int | None:
    """Find the index of the entry that has a key; None if there is none."""
    key = find_key(_nest(wanted.field, wanted.value), wanted.field)
    numbered = enumerate(entries if isinstance(entries, list) else ())
    return next((at for at, entry in numbered if find_key(entry, wanted.field) == key), None)


def _nest(name: str, value: str) -> Mapping[str, Any]:
    step, _, inside = name.partition(".")
    return {step: _nest(inside, value) if inside else value}
