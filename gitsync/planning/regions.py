"""The change of region that a plan foretells: Azure refuses it for every resource that exists."""

from __future__ import annotations

from collections.abc import Iterable

from gitsync.model.verdict import Difference


def note_region(differences: Iterable[Difference]) -> str:
    """A sentence if ARM will refuse the location of a resource that exists (InvalidResourceLocation); "" otherwise."""
    location = next(
        (d for d in differences if d.path == "/location" and d.live is not None and d.desired is not None), None
    )
    if location is None or _normalize_region(location.desired) == _normalize_region(location.live):
        return ""
    return "Azure cannot move a resource to another region, and will refuse this."


def _normalize_region(region: object) -> str:
    return str(region).replace(" ", "").casefold()
