"""The paths that `gitsync/ignore` and the rules of an estate ignore: their form, and where they are in a body.

A path is a field of the manifest as reports show it (`problems.field_path`), or a JSON pointer (RFC 6901) into the ARM
body, with the steps of `formats.ignored_paths`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any, Final, NamedTuple

from gitsync.desired.catalog.arm_fields import Misfit, find_body_path, find_misfit
from gitsync.desired.catalog.type_words import join_with_or, quote_scalar
from gitsync.desired.formats.ignored_paths import Steps, parse_entry_step
from gitsync.desired.formats.json_pointer import ANY
from gitsync.desired.formats.list_pairing import TAGS
from gitsync.desired.formats.name_patterns import ANY_TEXT
from gitsync.desired.problems.field_path import (
    EVERY,
    Entry,
    FieldPattern,
    FieldStep,
    FieldSyntaxError,
    format_field,
    parse_field,
)
from gitsync.desired.problems.suggest import suggest
from gitsync.desired.validation.body_annotation import BODY_PATH
from gitsync.model.facts import Kind

_SKIP: Final = "To ignore a whole resource, set serviceoperator.azure.com/reconcile-policy: skip."
_BAD_ESCAPE: Final = re.compile(r"~(?![01])")
_INDEX: Final = re.compile(r"\d+|-")
_BODY: Final = ("body",)
"""All of an AzureResource that is compared; no ASO kind has such a field."""


class Fault(NamedTuple):
    """What is wrong with a path or an entry."""

    message: str  # a sentence
    hint: str


@dataclass(frozen=True, slots=True)
class IgnoredPath:
    """One path."""

    text: str  # as written
    until: date | None = None  # the last day on which it applies, None without limit
    field: FieldPattern = ()  # the path, if it is one of the manifest
    pointer: Steps = ()  # the path, if it is one of the body

    def find_path(self, kind: Kind | None) -> Steps | Misfit:
        """Find its path in the body, or what the kind does not have of its field."""
        if not self.field:
            return self.pointer
        if self.field[: len(BODY_PATH)] == BODY_PATH:
            return end_at_last_name(list(map(_write_step, self.field[len(BODY_PATH) :])))
        found = find_body_path(kind, self.field) if kind else Misfit(0, ())
        return found if isinstance(found, Misfit) else end_at_last_name(list(map(_write_step, found)))

    def has_expired(self, today: date | None) -> bool:
        return self.until is not None and today is not None and today > self.until


def parse_path(path: str, until: date | None) -> IgnoredPath:
    """Read a path that has no faults."""
    if path.startswith("/"):
        return IgnoredPath(text=path, until=until, pointer=_parse_steps(path))
    return IgnoredPath(text=path, until=until, field=parse_field(path))


def check_path(path: Any, position: str, form: str) -> Iterator[Fault]:
    """Check the form of a path. `position` names its entry, and `form` describes a list of entries."""
    if not isinstance(path, str):
        yield Fault(f"{position} has no path that is text.", form)
    elif not path.startswith("/"):
        yield from _check_field(path, position)
    elif _BAD_ESCAPE.search(path):
        hint = "Write ~1 for / and ~0 for ~ inside a name."
        yield Fault(f"{position} has {quote_scalar(path)}, which is not a JSON pointer.", hint)
    # An empty pointer is the body, and ignoring all of it would hide every change of the resource.
    elif not all(_parse_steps(path)):
        yield Fault(f"{position} has {quote_scalar(path)}, which does not name a member in each step.", _SKIP)


def _check_field(path: str, position: str) -> Iterator[Fault]:
    try:
        field = parse_field(path)
    except FieldSyntaxError:
        field = ()
    if field[: len(BODY_PATH)] == BODY_PATH:
        field = field[len(BODY_PATH) - 1 :]
    elif field[:1] != ("spec",):
        hint = 'Write it as plans do: spec.sku.capacity, spec.tags["a.b"], spec.rules[name=web]; or as a JSON pointer.'
        yield Fault(f"{position} has {quote_scalar(path)}, which is not a field of spec.", hint)
        return
    # `spec.*` is the same as `spec`.
    if all(step is EVERY for step in field[2 if field[1:2] == _BODY else 1 :]):
        yield Fault(f"{position} has {quote_scalar(path)}, which is all of the resource.", _SKIP)


def _parse_steps(path: str) -> Steps:
    """Parse the steps of a pointer."""
    return end_at_last_name([step.replace("~1", "/").replace("~0", "~") for step in path.split("/")[1:]])


def _write_step(step: FieldStep) -> str:
    """Write a step of the body as `formats.ignored_paths` reads it."""
    if isinstance(step, Entry):
        return f"[{step.field}={step.value}]"
    return ANY if step is EVERY else str(step)


def end_at_last_name(steps: list[str]) -> Steps:
    """Leave out a `*` at the end, since a path covers all that is below it."""
    while len(steps) > 1 and steps[-1] == ANY:  # so that `/tags` and `/tags/*` are one path
        steps.pop()
    return tuple(steps) if steps != [ANY] else ("",)


def check_existence(path: IgnoredPath, kind: Kind) -> Fault | None:
    """Return what a kind does not have of a path: without a word, it would ignore nothing. None if it has all."""
    found = _find_misfit(path, kind)
    if found is None:
        return _check_pattern(path, kind)
    misfit, step = found
    if misfit.is_list:  # entries of a list move, so an index would ignore another one tomorrow
        is_index = _INDEX.fullmatch(step.strip("[]"))
        wrong_step = "a list entry by its index, and entries move" if is_index else "something that is not a list entry"
        hint = "Select an entry by a field, such as [name=web], or use * for all entries."
        return Fault(f"{path.text} names {wrong_step}: {quote_scalar(step)}.", hint)
    close = suggest(step, misfit.members) if parse_entry_step(step) is None else None
    members = join_with_or(misfit.members[:12]) if misfit.members else ""
    hint = f"Did you mean {close}?" if close else f"Known members: {members}." if members else "It has no members."
    return Fault(f"{kind.gvk.kind} has nothing at {path.text}: {quote_scalar(step)} is unknown there.", hint)


def _find_misfit(path: IgnoredPath, kind: Kind) -> tuple[Misfit, str] | None:
    """Find the first step of a path that the kind does not have, and how it is written."""
    if path.field:
        misfit = found if isinstance(found := path.find_path(kind), Misfit) else None
        steps = [step if isinstance(step, str) else format_field((step,)) for step in path.field[1:]]
    else:
        misfit = find_misfit(kind, path.pointer, any_step=ANY, chooses=lambda step: parse_entry_step(step) is not None)
        steps = list(path.pointer)
    return (misfit, steps[misfit.step]) if misfit else None


def _check_pattern(path: IgnoredPath, kind: Kind) -> Fault | None:
    """Return what is wrong with a pattern: only names of tags have them."""
    steps = found if not isinstance(found := path.find_path(kind), Misfit) else ()
    for above, step in zip(("", *steps), steps, strict=False):
        if ANY_TEXT in step and step != ANY and above != TAGS and parse_entry_step(step) is None:
            message = f"{path.text} has the pattern {quote_scalar(step)}, and only names of tags may be patterns."
            return Fault(message, "Write the complete name, or * for all names.")
    return None
