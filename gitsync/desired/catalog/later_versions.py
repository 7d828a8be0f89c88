"""The versions of a kind that can replace one that ASO has removed: its later ones, nearest first.

A version of ASO is the date of an api-version of ARM. Its spelling changed twice: `v1beta20200601`, `v1api20200601` and
`v20200601` are one api-version.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from gitsync.desired.catalog.braced_text import find_braced_text
from gitsync.desired.catalog.catalog import Catalog
from gitsync.desired.catalog.spec_visitor import Visit, visit_spec
from gitsync.desired.problems.field_path import FieldPath, format_field
from gitsync.model.facts import Kind
from gitsync.model.gvk import GVK

_VERSION = re.compile(r"v(?P<spelling>1(?:alpha1api|beta|api))?(?P<date>\d{8})(?P<preview>preview)?")
_SPARE = frozenset({"group", "kind"})
"""Fields that an owner of a fixed kind may have in addition to those of its type."""


@dataclass(frozen=True, slots=True)
class LaterVersion:
    """A later version of a kind."""

    gvk: GVK
    lacks: str = ""
    """The first path of a spec that another version has and it has not, or has with another type; "" if there is none.
    """

    retypes: bool = False  # that path has another type
    unknown: tuple[str, ...] = ()  # the paths that no version has

    @property
    def has_all(self) -> bool:
        """Return whether it has all fields of the spec."""
        return not (self.lacks or self.unknown)


class _Lacking(NamedTuple):
    """A field of a spec that a version does not have, or has with another type."""

    path: FieldPath
    is_retyped: bool


def find_later_version(gvk: GVK, spec: Any, catalog: Catalog) -> LaterVersion | None:
    """The nearest later version that has all fields of a spec that any version has; else the nearest one, with a field
    that it lacks.

    None if the kind has no later version. A preview replaces a preview only.
    """
    names = _list_later(gvk, catalog)
    lacking = {gvk: _list_all(kind, spec) for gvk in names if (kind := catalog.kind(gvk))}
    if any(lacking.values()):  # only then is it of interest what the others have
        others = (gvk._replace(version=version) for version in catalog.versions(gvk.group, gvk.kind))
        lacking |= {gvk: _list_all(kind, spec) for gvk in others if (kind := catalog.kind(gvk))}
    later = [_compare(gvk, lacking) for gvk in names if gvk in lacking]
    return next((version for version in later if not version.lacks), later[0] if later else None)


def _list_all(kind: Kind, spec: Any) -> list[_Lacking]:
    return [lacking for visit in visit_spec(kind, spec) for lacking in _list_lacking(visit)]


def _compare(gvk: GVK, lacking: Mapping[GVK, list[_Lacking]]) -> LaterVersion:
    """Tell the fields that a version alone lacks from those that no version has."""
    unknown = [field for field in lacking[gvk] if not field.is_retyped and _is_unknown(field.path, lacking.values())]
    missed = next((field for field in lacking[gvk] if field not in unknown), None)
    return LaterVersion(
        gvk=gvk,
        lacks=format_field(missed.path) if missed else "",
        retypes=missed is not None and missed.is_retyped,
        unknown=tuple(format_field(field.path) for field in unknown),
    )


def _is_unknown(path: FieldPath, versions: Iterable[Iterable[_Lacking]]) -> bool:
    """Return whether each version lacks a field, or a field that it is inside of."""
    return all(any(path[: len(field.path)] == field.path for field in lacking) for lacking in versions)


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
    # Of two spellings of one api-version, that of the manifest comes first.
    is_old = bool(removed["spelling"])
    return [
        gvk._replace(version=match.string)
        for match in sorted(later, key=lambda match: (*_make_age(match), bool(match["spelling"]) is not is_old))
    ]


def _make_age(match: re.Match[str]) -> tuple[str, bool]:
    """The date; a preview is before the release of its day."""
    return match["date"], match["preview"] is None


def is_same_version(gvk: GVK, other: GVK) -> bool:
    """Return whether two versions of a kind are one api-version of ARM, in whatever spelling."""
    first, second = _VERSION.fullmatch(gvk.version), _VERSION.fullmatch(other.version)
    return gvk == other or bool(first and second and _make_age(first) == _make_age(second))


def find_lacking(kind: Kind, spec: Any) -> str:
    """The first field of a spec that a kind lacks, or that has another type there; "" if it has all of them."""
    missed = next((lacking for visit in visit_spec(kind, spec) for lacking in _list_lacking(visit)), None)
    return format_field(missed.path) if missed else ""


def _list_lacking(visit: Visit) -> Iterator[_Lacking]:
    """The fields of a value that its type does not have, or the value itself if it has the wrong type."""
    if not visit.fits:
        if not find_braced_text(visit.value):  # the value of a variable is not known
            yield _Lacking(visit.path, is_retyped=True)
    elif visit.facts is not None:
        spare = _SPARE if visit.name == "knownOwner" else frozenset()
        unknown = (key for key, value in visit.value.items() if value is not None and key not in visit.fields)
        yield from (_Lacking((*visit.path, key), is_retyped=False) for key in unknown if key not in spare)
