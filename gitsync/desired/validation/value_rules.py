"""Values that Azure refuses by rules that the facts of kinds do not have: regions, ranges of addresses, principals."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from gitsync.desired.catalog.spec_visitor import Visit
from gitsync.desired.catalog.type_words import quote_scalar
from gitsync.desired.formats.address_ranges import find_range_fault
from gitsync.desired.formats.region_names import normalize_region
from gitsync.desired.formats.regions import REGIONS, is_known_region
from gitsync.desired.problems.field_path import FieldPath, find_member, format_field
from gitsync.desired.problems.finding import Finding
from gitsync.desired.problems.suggest import suggest
from gitsync.model.facts import Kind
from gitsync.model.problem import Level
from gitsync.model.resource import Resource

_BODY_REGION: Final = ("spec", "body", "location")
_PLAIN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ()_-]*")  # nothing that a tool replaces
_GUID: Final = re.compile(r"\{?[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}\}?", re.IGNORECASE)


def check_known_values(visit: Visit, kind: Kind) -> Iterator[Finding]:
    """Check the members of a mapping whose values have such rules; most mappings have none."""
    if _RULES.keys().isdisjoint(visit.value):
        return
    for name in _RULES.keys() & visit.value.keys():
        path, value = (*visit.path, name), visit.value[name]
        texts = {(*path, index): text for index, text in enumerate(value)} if isinstance(value, list) else {path: value}
        for field, text in texts.items():
            if isinstance(text, str):
                yield from _RULES[name](field, text, kind)


def check_body_region(resource: Resource, kind: Kind) -> Iterator[Finding]:
    """Check the region of an AzureResource, whose body is not visited."""
    text = find_member(resource.spec, *_BODY_REGION[1:])
    if isinstance(text, str):
        yield from _check_region(_BODY_REGION, text, kind)


def _check_region(path: FieldPath, text: str, _: Kind) -> Iterator[Finding]:
    # Deeper down, this name is also that of other fields.
    is_one = len(path) == 2 or path == _BODY_REGION or path[-1] == "locationName"
    if not is_one or not _PLAIN.fullmatch(text) or is_known_region(name := normalize_region(text)):
        return
    close = suggest(name, REGIONS)
    yield Finding(
        code="UnknownRegion",
        path=path,
        message=f"{format_field(path)} is {quote_scalar(text)}, which is not a known Azure region.",
        hint=f"Did you mean {close}?" if close else "`az account list-locations -o table` lists the regions.",
        level=Level.WARNING,
    )


def _check_range(path: FieldPath, text: str, _: Kind) -> Iterator[Finding]:
    if fault := find_range_fault(text):
        yield Finding(
            code="InvalidAddressRange",
            path=path,
            message=f"{format_field(path)} is {quote_scalar(text)}, {fault}.",
            hint="Write an address and the length of its prefix, such as 10.0.0.0/16 or fd00::/48.",
        )


def _check_principal(path: FieldPath, text: str, kind: Kind) -> Iterator[Finding]:
    if kind.gvk.group == _NAMED_PRINCIPALS or not _PLAIN.fullmatch(text) or _GUID.fullmatch(text):
        return
    yield Finding(
        code="InvalidPrincipal",
        path=path,
        message=f"{format_field(path)} is {quote_scalar(text)}, which is not a GUID: Azure rejects it.",
        hint="Write the object id of the principal in Entra ID. The id of an identity that is created together with it "
        "comes from a ConfigMap: use principalIdFromConfig.",
        level=Level.WARNING,
    )


_NAMED_PRINCIPALS: Final = "kusto.azure.com"  # takes addresses of people and names of groups too

_RULES: Final[Mapping[str, Callable[[FieldPath, str, Kind], Iterator[Finding]]]] = {
    "location": _check_region,
    "locationName": _check_region,
    "principalId": _check_principal,
    **dict.fromkeys(
        (
            *("addressPrefix", "addressPrefixes", "destinationAddressPrefix", "destinationAddressPrefixes"),
            *("sourceAddressPrefix", "sourceAddressPrefixes", "allocatedAddressPrefixes", "ipPrefix"),
            *("dockerBridgeCidr", "platformReservedCidr", "podCidr", "podCidrs", "serviceCidr", "serviceCidrs"),
            *("authorizedIPRanges", "sourceAddresses", "destinationAddresses"),
        ),
        _check_range,
    ),
}
