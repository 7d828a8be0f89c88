"""What differs between the facts of two releases, as Markdown for a pull request.

Versions are compared as manifests spell them, so that a change of one spelling shows as that of it alone. A change that
several versions have is one line with all of them.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from extract_facts.group_facts import Groups

_ABSENT = object()
_LONGEST = 600  # characters of a change
_SHAPES = frozenset({"list", "map", "ref"})
"""What a type that has others inside of it has."""


class Change(NamedTuple):
    """A difference within a version that both releases have."""

    subject: str  # a kind, or a field as `Type.field`
    text: str


class Summary(NamedTuple):
    """All differences between the facts of two releases."""

    came: tuple[str, ...]  # versions of kinds, as lines
    went: tuple[str, ...]
    changed: tuple[str, ...]


def compare(old: Groups, new: Groups) -> Summary:
    """What came, went and changed from one release to the other."""
    before, after = _spell_out(old), _spell_out(new)
    return Summary(
        came=tuple(_list_missing(after, before)),
        went=tuple(_list_missing(before, after)),
        changed=tuple(_list_changes(before, after)),
    )


def format_summary(title: str, summary: Summary, notes: Iterable[str] = ()) -> str:
    """The summary as Markdown."""
    lines = [f"# {title}", ""]
    for heading, rows in zip(("New", "Removed", "Changed"), summary, strict=True):
        if rows:
            lines += [f"## {heading}", "", *(f"- {row}" for row in rows), ""]
    if not any(summary):
        lines += ["The facts are as they were.", ""]
    notes = tuple(notes)
    if notes:
        lines += ["## To do", "", *(f"- {note}" for note in notes), ""]
    return "\n".join(lines)


_Versions = dict[tuple[str, str], Mapping[str, Any]]
"""{"kinds", "types"} by group and version, in each spelling."""


def _spell_out(groups: Groups) -> _Versions:
    found: _Versions = {}
    for group, facts in groups.items():
        versions = facts["versions"]
        found |= {(group, version): content for version, content in versions.items()}
        for version, alias in facts["aliases"].items():
            kinds = {kind: versions[alias["of"]]["kinds"][kind] for kind in alias["kinds"]}
            types = versions[alias["of"]]["types"]
            found[group, version] = {"kinds": kinds, "types": {name: types[name] for name in _reach(kinds, types)}}
    return found


def _reach(kinds: Mapping[str, Any], types: Mapping[str, Any]) -> set[str]:
    """The types that the specs and statuses of kinds reach."""
    reached: set[str] = set()
    waiting = [facts[part] for facts in kinds.values() for part in ("spec", "status")]
    while waiting:
        name = waiting.pop()
        if name in types and name not in reached:
            reached.add(name)
            waiting += [ref for field in types[name]["fields"].values() if (ref := _find_ref(field["type"]))]
    return reached


def _find_ref(described: Any) -> str | None:
    while isinstance(described, Mapping):
        if "ref" in described:
            return str(described["ref"])
        described = described.get("list", described.get("map"))
    return None


def _list_missing(versions: _Versions, others: _Versions) -> Iterator[str]:
    """Lines of kinds with the versions that the other release lacks."""
    missing: dict[tuple[str, str], list[str]] = defaultdict(list)
    for (group, version), content in sorted(versions.items()):
        for kind in content["kinds"]:
            if kind not in others.get((group, version), {"kinds": ()})["kinds"]:
                missing[group, kind].append(version)
    known = {(group, kind) for (group, _), content in others.items() for kind in content["kinds"]}
    for (group, kind), names in sorted(missing.items()):
        is_all = "" if (group, kind) in known else " (the kind)"
        yield f"`{group}` {kind}{is_all}: {', '.join(names)}"


def _list_changes(before: _Versions, after: _Versions) -> Iterator[str]:
    lines: dict[tuple[str, Change], list[str]] = defaultdict(list)
    for group, version in sorted(before.keys() & after.keys()):
        old, new = before[group, version], after[group, version]
        for change in (*_compare_kinds(old["kinds"], new["kinds"]), *_compare_types(old["types"], new["types"])):
            lines[group, change].append(version)
    for (group, change), versions in sorted(lines.items()):
        yield f"`{group}` {', '.join(versions)}: {_write_code(f'{change.subject} {change.text}')}"


def _write_code(text: str) -> str:
    """A text as code of Markdown, which renders no value of the source; of a long one the start."""
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]}… ({len(text)} characters)"
    fence = "``" if "`" in text else "`"
    return f"{fence}{text}{fence}"


def _compare_kinds(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    for kind in sorted(old.keys() & new.keys()):
        yield from _compare_facts(kind, old[kind], new[kind])


def _compare_types(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    """Changes of types that both have. A type that came or went is part of the change of the field that holds it."""
    for name in sorted(old.keys() & new.keys()):
        before, after = old[name]["fields"], new[name]["fields"]
        for field in sorted(before.keys() | after.keys()):
            subject = f"{name}.{field}"
            if field not in before:
                yield Change(subject, f"is new: {_format(after[field])}")
            elif field not in after:
                yield Change(subject, "is gone")
            else:
                yield from _compare_facts(subject, before[field], after[field])
        own = [{key: value for key, value in types[name].items() if key != "fields"} for types in (old, new)]
        yield from _compare_facts(name, *own)


def _compare_facts(subject: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    for key in sorted(old.keys() | new.keys()):
        before, after = old.get(key, _ABSENT), new.get(key, _ABSENT)
        if before == after:
            continue
        if isinstance(before, Mapping) and isinstance(after, Mapping) and _have_one_shape(before, after):
            yield from (Change(subject, f"{key}: {change.text}") for change in _compare_facts(subject, before, after))
        elif isinstance(before, list) and isinstance(after, list):
            yield from _compare_lists(subject, key, before, after)
        else:
            yield Change(subject, f"{key}: {_format(before)} → {_format(after)}")


def _have_one_shape(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Return whether two facts differ within their members: another shape of a type is another type."""
    return before.keys() & _SHAPES == after.keys() & _SHAPES


def _compare_lists(subject: str, key: str, before: list[Any], after: list[Any]) -> Iterator[Change]:
    came = [item for item in after if item not in before]
    went = [item for item in before if item not in after]
    if came:
        yield Change(subject, f"{key}: new {', '.join(map(_format, came))}")
    if went:
        yield Change(subject, f"{key}: without {', '.join(map(_format, went))}")
    if not came and not went:
        yield Change(subject, f"{key}: in another order")


def _format(value: Any) -> str:
    if value is _ABSENT:
        return "none"
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)
