"""The release of ASO that the catalog is of, and the releases that serve a version of a kind.

tools/make_catalog.py writes both: CATALOG, and releases.tsv with a row for each version of a kind. A row with the kind
`*` is of all kinds of a version that ASO removed before the catalog had it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Final, NamedTuple

from gitsync.desired.catalog import data
from gitsync.errors import CatalogError
from gitsync.model.gvk import GVK

_RELEASE = re.compile(r"v?(\d+)\.(\d+)(?:\.\d+)?")
_ANY_KIND = "*"
_NONE = "-"


class Release(NamedTuple):
    """A release of ASO. Patch releases serve the same versions of kinds."""

    major: int
    minor: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


class Lifetime(NamedTuple):
    """The releases that serve a version of a kind."""

    first: Release | None  # None if not known
    removed: Release | None  # the first one without it; None if there is none

    def covers(self, release: Release) -> bool:
        """Return whether a release serves the version. One whose first release is not known came early enough."""
        return (self.first is None or self.first <= release) and (self.removed is None or release < self.removed)


class CatalogRelease(NamedTuple):
    """What the facts of the catalog are of."""

    number: str  # the release of ASO, such as 2.21.1
    tree: str  # the day of the source, if no tag names it; else ""
    arm_types: str  # the day of the types of ARM

    @property
    def release(self) -> Release:
        return parse_release(self.number)

    def __str__(self) -> str:
        tree = f" (tree of {self.tree})" if self.tree else ""
        return f"ASO {self.number}{tree}, ARM types of {self.arm_types}"


UNRELEASED: Final = frozenset({GVK("entra.azure.com", "v1", "ServicePrincipal")})
"""Kinds that no release of ASO serves yet, but its main branch; their facts are in tools/other_kinds.json."""

_HANDMADE: Final[Mapping[GVK, Lifetime]] = {
    GVK("entra.azure.com", "v1", "Application"): Lifetime(Release(2, 21), None),
    GVK("entra.azure.com", "v1", "SecurityGroup"): Lifetime(Release(2, 14), None),
}
"""The releases that serve kinds of which the facts are gitsync's own."""


@cache
def read_catalog_release() -> CatalogRelease:
    """What the packed facts are of. CatalogError if the file is damaged."""
    try:
        parts = json.loads(data.read("CATALOG"))
        aso = parts["aso"]
        number, tree = aso["release"], "" if "tag" in aso else aso["date"]
        return CatalogRelease(number, tree, parts["armTypes"]["date"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        message = f"The release of the catalog cannot be read: {error}."
        raise CatalogError(message, hint="Install gitsync again.") from error


def parse_release(text: str) -> Release:
    """The release of a text such as 2.20, v2.20.0. ValueError for any other text."""
    match = _RELEASE.fullmatch(text)
    if match is None:
        raise ValueError(f"expected a release such as 2.20, not {text!r}")
    return Release(int(match[1]), int(match[2]))


def find_lifetime(gvk: GVK) -> Lifetime | None:
    """The releases that serve a version of a kind, in the spelling of the manifest; None if no release is known to."""
    return find_known_lifetime(gvk) or _read_lifetimes().get((gvk.group, gvk.version, _ANY_KIND))


def find_known_lifetime(gvk: GVK) -> Lifetime | None:
    """As `find_lifetime`, but only of a kind that the catalog has or had."""
    return _read_lifetimes().get((gvk.group, gvk.version, gvk.kind)) or _HANDMADE.get(gvk)


def describe_lifetime(lifetime: Lifetime) -> str:
    """The releases of ASO that serve a version, in words."""
    if lifetime.removed is None:
        return f"by ASO {lifetime.first} and later"
    since = f"from ASO {lifetime.first} " if lifetime.first else ""
    return f"{since}until ASO {lifetime.removed}, which removed it"


@cache
def _read_lifetimes() -> Mapping[tuple[str, str, str], Lifetime]:
    rows = (line.split("\t") for line in data.read("releases.tsv").decode().splitlines()[1:])
    return {
        (group, version, kind): Lifetime(
            *(None if number == _NONE else parse_release(number) for number in (served, removed))
        )
        for group, version, kind, served, removed in rows
    }
