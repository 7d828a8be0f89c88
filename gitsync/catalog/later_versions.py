"""The versions of a kind that can replace one that ASO has removed: its later ones, nearest first.

A version of ASO is the date of an api-version of ARM. Its spelling changed twice: `v1beta20200601`, `v1api20200601` and
`v20200601` are one api-version.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gitsync.catalog.catalog import Catalog
from gitsync.catalog.placeholders import find_braced_text
from gitsync.catalog.spec_visitor import Visit, visit_spec
from gitsync.model.facts import Kind
from gitsync.model.gvk import GVK
from gitsync.problems.field_path import format_field

_VERSION = re.compile(r"v(?P<spelling>1(?:alpha1api|beta|api))?(?P<date>\d{8})(?P<preview>preview)?")
_SPARE = frozenset({"group", "kind"})
"""Fields that an owner of a fixed kind may have in addition to those of its type."""


@dataclass(frozen=True, slots=True)
class LaterVersion:
    """A later version of a kind, and the first field of a spec that it lacks; "" if it has all of them."""

    gvk: GVK
    lacks: str = ""


def find_later_version(gvk: GVK, spec: Any, catalog: Catalog) -> LaterVersion | None:
    """The nearest later version that has all fields of a spec; else the nearest one, with a field that it lacks.

    None if the kind has no later version. A preview replaces a preview only.
    """
    later = [
        LaterVersion(one, find_lacking(kind, spec)) for one in _list_later(gvk, catalog) if (kind := catalog.kind(one))
    ]
    return next((one for one in later if not one.lacks), later[0] if later else None)


def _list_later(gvk: GVK, catalog: Catalog) -> list[GVK]:
    removed = _VERSION.fullmatch(gvk.version)
    if removed is None:
        return []
    known = [match for version in catalog.versions(gvk.group, gvk.kind) if (match := _VERSION.fullmatch(version))]
    later = [
        match
        for match in known
        # Of two spellings of one api-version, either may replace the other.
        if _make_age(match) >= _make_age(removed) and not (match["preview"] and not removed["preview"])
    ]
    is_old = bool(removed["spelling"])
    return [
        gvk._replace(version=match.string)
        for match in sorted(later, key=lambda match: (*_make_age(match), bool(match["spelling"]) is not is_old))
    ]


def _make_age(match: re.Match[str]) -> tuple[str, bool]:
    """The date; a preview is before the release of its day."""
    return match["date"], match["preview"] is None


def is_same_version(one: GVK, other: GVK) -> bool:
    """Tell whether two versions of a kind are one api-version of ARM, in whatever spelling."""
    first, second = _VERSION.fullmatch(one.version), _VERSION.fullmatch(other.version)
    return one == other or bool(first and second and _make_age(first) == _make_age(second))


def find_lacking(kind: Kind, spec: Any) -> str:
    """The first field of a spec that a kind lacks, or that has another type there; "" if it has all of them."""
    return next((lacking for visit in visit_spec(kind, spec) for lacking in _list_lacking(visit)), "")


def _list_lacking(visit: Visit) -> Iterator[str]:
    """The fields of a value that its place does not have, or the value itself if it has the wrong type."""
    if not visit.fits:
        if not find_braced_text(visit.value):  # what is to stand there is not known
            yield format_field(visit.path)
    elif visit.facts is not None:
        spare = _SPARE if visit.name == "knownOwner" else frozenset()
        unknown = (key for key, value in visit.value.items() if value is not None and key not in visit.fields)
        yield from (format_field((*visit.path, key)) for key in unknown if key not in spare)
