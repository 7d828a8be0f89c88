"""The check `versions`: an api-version or a location that the provider no longer lists (docs/checks.md)."""

from __future__ import annotations

import asyncio
import re
import shlex
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeGuard

from gitsync.agent.checks.check_requests import UNKNOWN_VALUE, UNUSABLE_ANSWER, CheckRequests, Unanswered, shorten_text
from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.formats.arm_path import normalize_region
from gitsync.model.check import CheckFinding, CheckName, CheckVerdict, Findings, HiddenValue, PlannedChange

UNLISTED_VERSION: Final = "NoRegisteredProviderFound"
UNLISTED_LOCATION: Final = "LocationNotAvailableForResourceType"
UNLISTED_TYPE: Final = "InvalidResourceType"

_API_VERSION = "2021-04-01"  # of providers
_STABLE = re.compile(r"\d{4}-\d{2}-\d{2}")
_MOST = 8  # locations that are named

_MALFORMED = "Azure's list of the provider's resource types is malformed."

_make = partial(CheckFinding, check=CheckName.VERSIONS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """What a provider lists of a type."""

    versions: tuple[str, ...]
    locations: tuple[str, ...]  # as Azure shows them ("West Europe"), none for a global type


async def check_versions(changes: Sequence[PlannedChange], requests: CheckRequests) -> Findings:
    """Compare each change with the metadata of its provider, which is read once."""
    by_provider: defaultdict[tuple[str, str], list[PlannedChange]] = defaultdict(list)
    for change in changes:
        by_provider[_make_provider_path(change).casefold(), change.doubt].append(change)
    found = await asyncio.gather(*(_check_provider(same, requests) for same in by_provider.values()))
    return [finding for findings in found for finding in findings]


def _make_provider_path(change: PlannedChange) -> str:
    """The path of the provider, in the subscription of the resource if it has one."""
    subscription, namespace = change.arm_id.subscription, change.arm_type.partition("/")[0]
    return f"/subscriptions/{subscription}/providers/{namespace}" if subscription else f"/providers/{namespace}"


async def _check_provider(changes: Sequence[PlannedChange], requests: CheckRequests) -> Findings:
    """Check the changes of one provider in one subscription."""
    path = _make_provider_path(changes[0])
    if changes[0].doubt or "<" in path:
        unknown = partial(_make, verdict=CheckVerdict.NOT_CHECKED, code=UNKNOWN_VALUE)
        return [(change.key, unknown(message=change.id_gap)) for change in changes]
    answer = await requests.read(path, _API_VERSION)
    if isinstance(answer, Unanswered):
        return [(change.key, answer.as_finding(CheckName.VERSIONS)) for change in changes]
    listings = read_listings(answer)
    if not listings:
        message = "The provider lists no resource types." if listings is not None else _MALFORMED
        unusable = _make(verdict=CheckVerdict.NOT_CHECKED, code=UNUSABLE_ANSWER, message=message)
        return [(change.key, unusable) for change in changes]
    return [(change.key, finding) for change in changes for finding in evaluate(change, listings)]


def read_listings(provider: Mapping[str, Any]) -> dict[str, Listing] | None:
    """Read what a provider lists, by type without the namespace, in lower case; None if the answer is malformed."""
    rows, listings = provider.get("resourceTypes"), {}
    if not isinstance(rows, list):
        return None
    for row in rows:
        members = row if isinstance(row, Mapping) else {}
        below, versions = members.get("resourceType"), members.get("apiVersions")
        locations = members.get("locations") or []
        # A type that is left out would count as unlisted, so one malformed row makes the complete list unusable.
        if not isinstance(below, str) or not _is_texts(versions) or not versions or not _is_texts(locations):
            return None
        listings[below.casefold()] = Listing(versions=tuple(versions), locations=tuple(locations))
    return listings


def _is_texts(value: Any) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(entry, str) for entry in value)


def evaluate(change: PlannedChange, listings: Mapping[str, Listing]) -> list[CheckFinding]:
    """Compare a change with the metadata of its provider."""
    below = change.arm_type.partition("/")[2].casefold()
    listing = listings.get(below)
    fine = _make(verdict=CheckVerdict.FINE)
    if listing is not None:
        return [*_evaluate_version(change, listing), *_evaluate_location(change, listing)] or [fine]
    # Providers do not list all of their child types (Microsoft.Storage has no containers).
    steps = below.split("/")
    parents = ("/".join(steps[:end]) for end in range(len(steps) - 1, 0, -1))
    parent = next((listings[parent] for parent in parents if parent in listings), None)
    # ARM routes such types as their parents, so a version that the nearest listed parent has is fine; one that it lacks
    # is a guess, and no refusal.
    if parent is not None and _has_version(parent, change.api_version):
        return [fine]
    message = f"The provider does not list the type {change.arm_type}."
    return [_make(verdict=CheckVerdict.NOT_CHECKED, code=UNLISTED_TYPE, message=message)]


def _has_version(listing: Listing, api_version: str) -> bool:
    return api_version.casefold() in map(str.casefold, listing.versions)


def _evaluate_version(change: PlannedChange, listing: Listing) -> Iterator[CheckFinding]:
    if _has_version(listing, change.api_version):
        return
    # Stable ones before previews, the newest first.
    newest_first = sorted(
        listing.versions, key=lambda version: (bool(_STABLE.fullmatch(version)), version), reverse=True
    )
    newest = shorten_text(newest_first[0])
    if change.body is None:
        command = f"az resource delete --ids {shlex.quote(change.arm_id)} --api-version {shlex.quote(newest)}"
        advice = f"Delete it with a listed version: `{command}`."
    elif change.is_any_type:
        advice = f"Set spec.type to {change.arm_type}@{newest}."
    elif api_version := find_manifest_version(change.arm_type, newest_first):
        advice = f"Set apiVersion to {api_version}."
    else:
        advice = f"Update gitsync: it supports none of the listed versions. The newest is {newest}."
    yield _make(
        verdict=CheckVerdict.REFUSED,
        code=UNLISTED_VERSION,
        message=f"The provider does not list the api-version {change.api_version} for {change.arm_type}.",
        advice=advice,
    )


def find_manifest_version(arm_type: str, api_versions: Sequence[str]) -> str:
    """Return the apiVersion of a manifest for the first of ARM's versions that the catalog has; "" if it has none."""
    catalog = open_catalog()
    kinds = (catalog.by_arm_type(arm_type, version) for version in api_versions)
    return next((kind.gvk.api_version for kind in kinds if kind), "")


def _evaluate_location(change: PlannedChange, listing: Listing) -> Iterator[CheckFinding]:
    location = (change.body or {}).get("location")
    if not listing.locations or not location:
        return
    if isinstance(location, HiddenValue):
        message = "The location is not known yet."
        yield _make(verdict=CheckVerdict.NOT_CHECKED, code=UNKNOWN_VALUE, message=message, path="/location")
        return
    names = sorted({normalize_region(name) for name in listing.locations})
    if normalize_region(location) not in names:
        more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
        listed = f"{shorten_text(', '.join(names[:_MOST]))}{more}"
        yield _make(
            verdict=CheckVerdict.REFUSED,
            code=UNLISTED_LOCATION,
            message=f"The provider does not list {location} for {change.arm_type}.",
            advice=f"Set {change.location_field} to a region that it lists: {listed}.",
            path="/location",
        )
