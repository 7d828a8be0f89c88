"""The check `names`: whether the name of what would be created is free (docs/checks.md).

A deleted resource may hold its name for months; that of this subscription can be recovered or purged. Names that are
unique in all of Azure may belong to somebody else, which only their provider can check.
"""

from __future__ import annotations

import asyncio
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, NamedTuple

from gitsync.agent.checks.allowance import make_limit_finding
from gitsync.agent.checks.check_requests import UNKNOWN_VALUE, UNUSABLE_ANSWER, CheckRequests, Unanswered, shorten_text
from gitsync.agent.checks.directory_names import TYPES, check_directory_names
from gitsync.desired.formats.arm_path import normalize_region
from gitsync.desired.formats.json_members import read_mapping
from gitsync.desired.formats.json_pointer import format_pointer
from gitsync.desired.problems.field_path import find_member
from gitsync.model.check import CheckFinding, CheckName, CheckVerdict, Findings, HiddenValue, PlannedChange
from gitsync.model.gvk import AZURE_RESOURCE, Key

ALREADY_EXISTS: Final = "AlreadyExists"
INVALID_NAME: Final = "InvalidResourceName"

_WRONG_FORMS = frozenset({"Invalid", "AccountNameInvalid"})
_GROUP_OF_ID = re.compile(r"/resourcegroups/([^/]+)/", re.IGNORECASE)
_LABEL = ("properties", "dnsSettings", "domainNameLabel")
_SUBDOMAIN = ("properties", "customSubDomainName")
# Modes of manifests, which Azure does not have: the run resolves them.
_RECOVER_GOAL, _PURGE_GOAL = ("createMode", "createorrecover"), ("createMode", "purgethencreate")

_make = partial(CheckFinding, check=CheckName.NAMES)
_FINE = _make(verdict=CheckVerdict.FINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """How a type keeps what was deleted."""

    noun: str  # the type, for people
    list: str  # the path in a subscription that lists what was deleted
    api_version: str  # of the list
    former: str = ""  # the property with the former id, "" where the id of the entry shows it
    days: int  # how long it is kept
    recover: tuple[str, str] | None  # the property, with its value, of a PUT that recovers it; None where any PUT does
    field: str = ""  # the same in a manifest
    purge: str = ""  # the command, with `{name}`, `{group}` and `{location}`; "" if there is none
    code: str  # Azure's, which refuses another PUT of the name
    nothing: str = ""  # Azure's code for a recovery where nothing was deleted
    is_held_in_group: bool = False  # other groups may use the name
    forgetful_sku: str = ""  # keeps nothing


_CREATE_MODE: Final = ("createMode", "recover")
_RESTORE: Final = ("restore", "true")

SOFT_DELETES: Final[Mapping[str, Retention]] = {
    "microsoft.apimanagement/service": Retention(
        noun="API Management service",
        list="Microsoft.ApiManagement/deletedServices",
        api_version="2022-08-01",
        former="serviceId",
        days=2,
        recover=_RESTORE,
        field="spec.restore: true",
        purge="az apim deletedservice purge --service-name {name} --location {location}",
        code="ServiceAlreadyExistsInSoftDeletedState",
        nothing="ServiceUndeleteNotPossible",
    ),
    "microsoft.appconfiguration/configurationstores": Retention(
        noun="configuration store",
        list="Microsoft.AppConfiguration/deletedConfigurationStores",
        api_version="2024-05-01",
        former="configurationStoreId",
        days=7,
        recover=_CREATE_MODE,
        field="spec.createMode: Recover",
        purge="az appconfig purge --name {name} --location {location}",
        code="NameUnavailable",
        forgetful_sku="free",
    ),
    "microsoft.cognitiveservices/accounts": Retention(
        noun="Cognitive Services account",
        list="Microsoft.CognitiveServices/deletedAccounts",
        api_version="2023-05-01",
        days=2,
        recover=_RESTORE,
        field="spec.properties.restore: true",
        purge="az cognitiveservices account purge --name {name} --resource-group {group} --location {location}",
        code="FlagMustBeSetForRestore",
        nothing="CanNotRestoreANonExistingResource",
        is_held_in_group=True,
    ),
    "microsoft.keyvault/managedhsms": Retention(
        noun="managed HSM",
        list="Microsoft.KeyVault/deletedManagedHSMs",
        api_version="2023-07-01",
        former="mhsmId",
        days=90,
        recover=_CREATE_MODE,
        field="spec.properties.createMode: recover",
        purge="az keyvault purge --hsm-name {name} --location {location}",
        code="ConflictError",
    ),
    "microsoft.keyvault/vaults": Retention(
        noun="key vault",
        list="Microsoft.KeyVault/deletedVaults",
        api_version="2023-07-01",
        former="vaultId",
        days=90,
        recover=_CREATE_MODE,
        field="spec.properties.createMode: recover",
        purge="az keyvault purge --name {name} --location {location}",
        code="ConflictError",
        nothing="SoftDeletedVaultDoesNotExist",
    ),
    "microsoft.operationalinsights/workspaces": Retention(
        noun="Log Analytics workspace",
        list="Microsoft.OperationalInsights/deletedWorkspaces",
        api_version="2020-08-01",
        days=14,
        recover=None,
        code="Conflict",
    ),
}
"""By type, in lower case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Availability:
    """How to check a name with the provider of a type. Only requests that a Reader may send: those of Service Bus, SQL
    and others are an action that Reader lacks.
    """

    path: str  # of the POST
    api_version: str
    type: str = ""  # the member of its body with that name, "" for none


AVAILABILITIES: Final[Mapping[str, Availability]] = {
    row_type.casefold(): Availability(path=path, api_version=api_version, type=row_type if is_typed else "")
    for row_type, path, api_version, is_typed in (
        ("Microsoft.ApiManagement/service", "Microsoft.ApiManagement/checkNameAvailability", "2024-05-01", False),
        (
            "Microsoft.AppConfiguration/configurationStores",
            "Microsoft.AppConfiguration/checkNameAvailability",
            "2024-05-01",
            True,
        ),
        (
            "Microsoft.ContainerRegistry/registries",
            "Microsoft.ContainerRegistry/checkNameAvailability",
            "2025-11-01",
            True,
        ),
        ("Microsoft.KeyVault/managedHSMs", "Microsoft.KeyVault/checkMhsmNameAvailability", "2023-02-01", False),
        ("Microsoft.KeyVault/vaults", "Microsoft.KeyVault/checkNameAvailability", "2023-07-01", True),
        ("Microsoft.Storage/storageAccounts", "Microsoft.Storage/checkNameAvailability", "2025-08-01", True),
        ("Microsoft.Web/sites", "Microsoft.Web/checkNameAvailability", "2023-01-01", True),
    )
}
"""By type, in lower case. The name of a Cosmos DB account and the label of a public address have other requests."""

COSMOS: Final = "microsoft.documentdb/databaseaccounts"
_ADDRESS: Final = "microsoft.network/publicipaddresses"


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """What was deleted, and holds its name."""

    name: str
    group: str  # "" if Azure does not show it
    location: str  # "" if Azure does not show it
    purged: str = ""  # the day on which the name becomes free
    is_protected: bool = False  # it cannot be purged before that day
    subdomain: str = ""


async def check_names(changes: Sequence[PlannedChange], requests: CheckRequests) -> Findings:
    """Look for what holds the name of each resource that would be created, if its type has names to look for."""
    findings: Findings = await check_directory_names([c for c in changes if c.arm_type.casefold() in TYPES], requests)
    sent: list[tuple[PlannedChange, CheckFinding | None]] = []
    creates = [change for change in changes if change.creates]
    for change, first in zip(
        creates, await asyncio.gather(*(_check_lists(change, requests) for change in creates)), strict=True
    ):
        if first.is_all:
            findings += [(change.key, finding) for finding in first.findings]
        else:
            sent.append((change, next(iter(first.findings), None)))
    # Each name takes a request, and a plan must not use up the limits of the sync.
    granted = await requests.claim([change] for change, _ in sent)
    answers = await asyncio.gather(
        *(
            _check_with_provider(change, requests) if may_send else _leave_beyond_limit()
            for (change, _), may_send in zip(sent, granted, strict=True)
        )
    )
    for (change, gap), answer in zip(sent, answers, strict=True):
        # A refusal of the provider is certain without the list, so the gap in that list adds nothing to it.
        if gap is None or answer.verdict is CheckVerdict.REFUSED:
            findings.append((change.key, answer))
        else:
            findings += [(change.key, finding) for finding in (gap, answer) if finding.verdict is not CheckVerdict.FINE]
    return findings


class _Looked(NamedTuple):
    """What is known of a name without its own request."""

    findings: Sequence[CheckFinding]  # the reason why the deleted resources may not be known, if a request is needed
    is_all: bool = True  # no request is needed


async def _check_lists(change: PlannedChange, requests: CheckRequests) -> _Looked:
    """Look at what the deleted resources of the subscription say of a name: one list for each type."""
    soft = SOFT_DELETES.get(change.arm_type.casefold())
    has_check = change.arm_type.casefold() in {*AVAILABILITIES, COSMOS} or has_label(change)
    if soft is None and not has_check:
        return _Looked([])
    if change.replaces:  # it has the name itself
        return _Looked([evaluate_replacement(change, soft)])
    if change.doubt or "<" in (change.arm_id.subscription or "") + change.arm_id.name:
        return _Looked([_leave(UNKNOWN_VALUE, change.id_gap)])
    finding, gap = await _check_deleted(change, soft, requests) if soft else (None, None)
    if finding is not None:
        return _Looked([finding])
    if not has_check:
        return _Looked([gap or _FINE])
    return _Looked([gap] if gap else [], is_all=False)


async def _leave_beyond_limit() -> CheckFinding:
    return make_limit_finding(CheckName.NAMES)


async def _check_deleted(
    change: PlannedChange, soft: Retention, requests: CheckRequests
) -> tuple[CheckFinding | None, CheckFinding | None]:
    """Return what the deleted resources of the subscription mean for a create, if anything, and why they may not be
    known.
    """
    path = f"/subscriptions/{change.arm_id.subscription}/providers/{soft.list}"
    rows = await requests.list(path, soft.api_version)
    if isinstance(rows, Unanswered):
        return None, rows.as_finding(CheckName.NAMES)
    holders = read_holders(rows, soft)
    if holders is None:
        return None, _leave(UNUSABLE_ANSWER, f"Azure's list of {soft.list} has an entry that cannot be read.")
    if (holder := find_holder(change, soft, holders)) is not None:
        return evaluate_holder(change, soft, holder), None
    if not soft.nothing or _find_mode(change, soft) != soft.recover:
        return None, None
    message = f"There is no deleted {soft.noun} {change.arm_id.name} that could be recovered."
    refusal = _refuse(soft.nothing, message, f"Remove {name_property(change.key, soft.field)} from the manifest.")
    return await _refuse_unless_own(refusal, change, requests), None


def read_holders(rows: Sequence[Mapping[str, Any]], soft: Retention) -> list[Holder] | None:
    """Read a list of what was deleted; None if an entry is malformed."""
    holders = [_read_holder(row, soft) for row in rows]
    return None if None in holders else [holder for holder in holders if holder]


def _read_holder(row: Mapping[str, Any], soft: Retention) -> Holder | None:
    members = read_mapping(row, "properties")
    name, former_id = row.get("name"), members.get(soft.former) if soft.former else row.get("id")
    if not isinstance(name, str) or not isinstance(former_id, str):
        return None
    group = _GROUP_OF_ID.search(former_id)
    return Holder(
        name=shorten_text(name),
        group=shorten_text(group[1]) if group else "",
        location=shorten_text(members.get("location") or row.get("location")),
        purged=shorten_text(members.get("scheduledPurgeDate")).partition("T")[0],
        is_protected=members.get("purgeProtectionEnabled") is True,
        subdomain=shorten_text(members.get("customSubDomainName")),
    )


def find_holder(change: PlannedChange, soft: Retention, holders: Sequence[Holder]) -> Holder | None:
    """Find what holds the name of a create, or its subdomain."""
    name, group = change.arm_id.name.casefold(), change.arm_id.resource_group or ""
    named = [holder for holder in holders if holder.name.casefold() == name]
    here = [holder for holder in named if holder.group.casefold() == group.casefold()]
    # One in the same group is the likely one to recover.
    named = here if here or soft.is_held_in_group else named
    subdomain = find_member(change.body, *_SUBDOMAIN)
    taken = [
        holder
        for holder in holders
        if isinstance(subdomain, str) and holder.subdomain.casefold() == subdomain.casefold()
    ]
    return next(iter((*named, *taken)), None)


def evaluate_holder(change: PlannedChange, soft: Retention, holder: Holder) -> CheckFinding:
    """Return what a deleted resource that holds the name means for a create."""
    what = f"the deleted {soft.noun} {holder.name}"
    where = f"in resource group {holder.group} and location {holder.location}"
    mode, location = _find_mode(change, soft), (change.body or {}).get("location")
    fits = not _list_moves(change, holder)
    # The sync purges the deleted resource before the create, which only its purge protection can refuse.
    if change.purges or mode == _PURGE_GOAL:
        if holder.is_protected:
            message = f"The purge of {what} is refused: it is protected until {holder.purged}."
            return _refuse("MethodNotAllowed", message, _advise(change, soft, holder))
        return _FINE
    # A deleted resource can be recovered only in its location and by its mode, and one of the two is not known.
    if isinstance(location, HiddenValue) or mode is HiddenValue.LATER:
        return _leave(UNKNOWN_VALUE, f"Whether {what} can be recovered depends on a value that is not known yet.")
    # A PUT of this type recovers by itself what was deleted, with its data.
    if fits and soft.recover is None:
        message = f"The create recovers {what}, with its data and settings."
        return _make(verdict=CheckVerdict.WARNING, code="RecoversDeleted", message=message)
    # The manifest states the recovery.
    if fits and mode in {soft.recover, _RECOVER_GOAL}:
        return _FINE
    is_named = holder.name.casefold() == change.arm_id.name.casefold()
    code = soft.code if is_named else "CustomDomainInUse"
    until = f" until {holder.purged}" if holder.purged else ""
    held = f"{what[0].upper()}{what[1:]} holds the {'name' if is_named else 'subdomain'}{until}."
    return _refuse(code, f"{held} It was {where}.", _advise(change, soft, holder))


def _list_moves(change: PlannedChange, holder: Holder) -> list[str]:
    """What a manifest must say to be what was deleted, and where: only there it can be recovered."""
    name, group = change.arm_id.name, change.arm_id.resource_group or ""
    location = (change.body or {}).get("location")
    moves = {
        f"spec.azureName to {holder.name}": name.casefold() != holder.name.casefold(),
        f"the owner to resource group {holder.group}": group.casefold() != holder.group.casefold(),
        f"{change.location_field} to {holder.location}": normalize_region(location)
        != normalize_region(holder.location),
    }
    return [move for move, is_needed in moves.items() if is_needed]


def name_property(key: Key, field: str) -> str:
    """Name a field of ASO's kind as the manifest of a resource has it; "" for none."""
    if not field or key[:2] != AZURE_RESOURCE:
        return field
    return f"spec.body.properties.{field.removeprefix('spec.').removeprefix('properties.')}"


def _advise(change: PlannedChange, soft: Retention, holder: Holder) -> str:
    """The options: recover, purge, or another name."""
    subscription = shlex.quote(change.arm_id.subscription or "")
    settings = [*_list_moves(change, holder), *filter(None, [name_property(change.key, soft.field)])]
    ways = [f"To recover it with its contents, set {' and '.join(settings)}." if settings else ""]
    if soft.purge and holder.is_protected:
        ways.append(f"It is protected: it cannot be purged before {holder.purged}.")
    elif soft.purge:
        words = {"name": holder.name, "group": holder.group, "location": holder.location}
        command = soft.purge.format_map({gap: shlex.quote(word) for gap, word in words.items()})
        ways.append(f"To delete it permanently, purge it: `{command} --subscription {subscription}`.")
    return " ".join(filter(None, (*ways, "Otherwise choose another name.")))


def evaluate_replacement(change: PlannedChange, soft: Retention | None) -> CheckFinding:
    """Return what the delete of a replacement means for the create after it: a type that is deleted softly keeps the
    name.
    """
    sku = str(find_member(change.live_body, "sku", "name")).casefold()
    if soft is None or sku == soft.forgetful_sku:
        return _FINE
    days = find_member(change.live_body, "properties", "softDeleteRetentionInDays")
    kept = f"Azure keeps the name of a deleted {soft.noun} for {days if isinstance(days, int) else soft.days} days"
    if soft.recover is None:
        message = f"{kept}: the create after the delete would restore the deleted resource, or be refused."
    else:
        message = f"{kept}: the create after the delete would be refused."
    return _refuse(soft.code, message, "Give the new resource another name.")


def _find_mode(change: PlannedChange, soft: Retention) -> tuple[str, str] | HiddenValue | None:
    """The property that decides how a body is created, with its value in lower case; None without it."""
    if soft.recover is None:
        return None
    value = find_member(change.body, "properties", soft.recover[0])
    if value is None or isinstance(value, HiddenValue):
        return value
    return soft.recover[0], str(value).casefold()


def has_label(change: PlannedChange) -> bool:
    """Return whether a change is of a public address with a DNS label."""
    return change.arm_type.casefold() == _ADDRESS and bool(find_member(change.body, *_LABEL))


async def _check_with_provider(change: PlannedChange, requests: CheckRequests) -> CheckFinding:
    """Check the name with the provider, whose type has such a request."""
    subscription, name = change.arm_id.subscription, change.arm_id.name
    kind, flag = change.arm_type.casefold(), "nameAvailable"
    answer: Mapping[str, Any] | Unanswered
    if kind == COSMOS:
        path = f"/providers/Microsoft.DocumentDB/databaseAccountNames/{name}"
        is_taken = await requests.exists(path, "2024-08-15")
        answer = is_taken if isinstance(is_taken, Unanswered) else {flag: not is_taken}
    elif kind == _ADDRESS:
        label, flag = find_member(change.body, *_LABEL), "available"
        if not isinstance(label, str) or not change.location:
            message = "The DNS label or the location is not known yet."
            return replace(_leave(UNKNOWN_VALUE, message), path=format_pointer(_LABEL))
        locations = f"/subscriptions/{subscription}/providers/Microsoft.Network/locations"
        path = f"{locations}/{normalize_region(change.location)}/CheckDnsNameAvailability"
        name = label
        answer = await requests.read(path, "2025-01-01", {"domainNameLabel": name})
    else:
        call = AVAILABILITIES[kind]
        body = {"name": name} | ({"type": call.type} if call.type else {})
        answer = await requests.send(f"/subscriptions/{subscription}/providers/{call.path}", call.api_version, body)
    if isinstance(answer, Unanswered):
        return answer.as_finding(CheckName.NAMES)
    finding = evaluate_answer(answer, name, flag)
    if kind == _ADDRESS and finding is not _FINE:
        field = name_property(change.key, "spec.dnsSettings.domainNameLabel")
        advice = f"Set {field} to another label, which must be unique in its region."
        finding = replace(finding, path=format_pointer(_LABEL), advice=advice)
    return await _refuse_unless_own(finding, change, requests) if finding.code == ALREADY_EXISTS else finding


def evaluate_answer(answer: Mapping[str, Any], name: str, flag: str = "nameAvailable") -> CheckFinding:
    """Return the finding about a name from the provider's response. A malformed name is not available either."""
    is_free = answer.get(flag)
    if not isinstance(is_free, bool):
        return _leave(UNUSABLE_ANSWER, f"Azure's response about the name {name} does not show whether it is available.")
    if is_free:
        return _FINE
    reason, words = shorten_text(answer.get("reason") or ALREADY_EXISTS), shorten_text(answer.get("message"))
    if reason in _WRONG_FORMS:
        message = f"Azure does not accept the name {name}. {words}".rstrip()
        return _refuse(INVALID_NAME, message, "Set spec.azureName to a valid name.")
    if reason == ALREADY_EXISTS:
        message = f"The name {name} is taken by someone else's resource or by a deleted one. {words}".rstrip()
        return _refuse(
            ALREADY_EXISTS, message, "Set spec.azureName to another name, which must be unique across Azure."
        )
    message = f"The name {name} is not available ({reason}). {words}".rstrip()
    return _make(verdict=CheckVerdict.WARNING, code="NameUnavailable", message=message)


async def _refuse_unless_own(refusal: CheckFinding, change: PlannedChange, requests: CheckRequests) -> CheckFinding:
    """A name that our own resource has is fine: it is adopted."""
    exists = await requests.has_resource(change.arm_id, change.api_version)
    if isinstance(exists, Unanswered):
        return exists.as_finding(CheckName.NAMES)
    return _FINE if exists else refusal


def _refuse(code: str, message: str, advice: str) -> CheckFinding:
    return _make(verdict=CheckVerdict.REFUSED, code=code, message=message, advice=advice)


def _leave(code: str, message: str) -> CheckFinding:
    return _make(verdict=CheckVerdict.NOT_CHECKED, code=code, message=message)
