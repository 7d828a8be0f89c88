"""The settings of the emulator: operations, registrations, locks, denials, policies and faults.

One file has `settings`, `rules` and `moves` (docs/emulator.md). Their values are frozen; the functions that read them
follow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from gitsync.emulator.faults import FaultRule, PlannedMove, read_planned_move, read_rule
from gitsync.emulator.governance.policies import (
    EmulatedExemption,
    EmulatedPolicy,
    PolicyCondition,
    read_condition,
    read_exemption,
    read_policy,
    read_scope,
)
from gitsync.emulator.graph.graph_settings import GraphSettings, read_graph
from gitsync.emulator.http.target import parse
from gitsync.emulator.state.deleted_resources import SOFT_DELETES, ConfiguredDeletion
from gitsync.emulator.types.behaviour import Style
from gitsync.errors import ConfigError
from gitsync.settings.config.yaml_file import FieldReader, YamlNode, read_as, read_each, read_fields, read_yaml

_MOST_BYTES = 10_000_000
TENANT = "11111111-1111-4111-8111-111111111111"
ANONYMOUS = "anonymous"


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """How operations run. An operation ends after both its polls and its seconds."""

    style: Style | None = None  # None: each type's own, as recorded
    polls: int = 1
    seconds: float = 0.0
    retry_after: int | None = 0  # seconds; None: each type's own, as recorded


class Busy(StrEnum):
    """For which targets a running operation makes a write fail with AnotherOperationInProgress."""

    RESOURCE = "resource"  # on the same resource
    PARENT = "parent"  # also on its parent, its siblings and its children


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """A token bucket: its size, and its refill per second."""

    size: int
    per_second: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The buckets of one principal in one subscription (learn.microsoft.com, request-limits-and-throttling)."""

    reads: Bucket = Bucket(size=250, per_second=25)
    writes: Bucket = Bucket(size=200, per_second=10)
    deletes: Bucket = Bucket(size=200, per_second=10)
    jobs: Bucket | None = None
    """The background jobs of ARM that writes and deletes of a subscription start, by whomever; None for any number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ManagementLock:
    """A management lock."""

    scope: str  # an id; everything below it is locked too
    read_only: bool = False  # refuses writes and deletes, otherwise only deletes
    name: str = ""  # "" means its level
    notes: str = ""

    @property
    def level(self) -> str:
        return (_Level.READ_ONLY if self.read_only else _Level.CAN_NOT_DELETE).value


@dataclass(frozen=True, slots=True, kw_only=True)
class EmulatedDenyAssignment:
    """A deny assignment, as of a deployment stack or a managed application."""

    name: str
    scope: str
    actions: tuple[str, ...]  # patterns of those that its principals must not use, even if their roles grant them
    not_actions: tuple[str, ...] = ()  # patterns of those that it does not deny
    description: str = ""
    everyone: bool = False  # it applies to all but the excluded principals
    principals: tuple[str, ...] = ()  # client or object ids
    exclude_principals: tuple[str, ...] = ()  # client or object ids
    only_at_scope: bool = False  # it does not apply below its scope


@dataclass(frozen=True, slots=True, kw_only=True)
class PreflightSettings:
    """What the preflight checks."""

    silent: tuple[str, ...] = ()  # types without provider rules
    empty: tuple[str, ...] = ()  # types without any check
    refusals: tuple[BodyRefusal, ...] = ()  # provider rules for bodies, which also apply to writes


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyRefusal:
    """A code with which a provider refuses bodies that meet all conditions."""

    conditions: tuple[PolicyCondition, ...]
    code: str
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Denial:
    """A denied action of a principal (client or object id): patterns with * and ?, case-insensitive."""

    principal: str = "*"
    scope: str = "*"
    action: str = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class EmulatedFederation:
    """What the token of a job must claim, exactly."""

    issuer: str
    subject: str
    audience: str = "api://AzureADTokenExchange"


@dataclass(frozen=True, slots=True, kw_only=True)
class EmulatedPrincipal:
    """An identity that the emulator issues tokens to. The client ANONYMOUS is for requests without a token."""

    client: str
    object: str
    tenant: str = ""  # "" means every tenant
    secret: str = field(default="", repr=False)
    read_only: bool = False  # it may only read, whatever its actions
    actions: tuple[str, ...] = ("*",)  # those of its role, with `*` for any text
    scopes: tuple[str, ...] = ()  # the ids where the role is assigned; none means everywhere
    user: str = ""  # the name in Azure's logs, if it is a person
    app: str = ""  # the program that the person uses, in Azure's logs
    identity: str = ""  # the id of a managed identity
    federated: tuple[EmulatedFederation, ...] | None = None
    """Its federated credentials; None if it may use any assertion."""

    needs_mfa: bool = False  # its writes are challenged without a token that was requested with the claims for them


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenName:
    """A name that is taken in another tenant."""

    type: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedType:
    """A type in the list of a provider."""

    type: str
    api_versions: tuple[str, ...]
    locations: tuple[str, ...] = ()  # none if it is global or nested
    capabilities: tuple[str, ...] = (
        "CrossResourceGroupResourceMove",
        "CrossSubscriptionResourceMove",
        "SupportsTags",
        "SupportsLocation",
    )
    """As Azure lists them: what the type supports."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmulatedQuota:
    """A quota of a provider in a region."""

    provider: str
    location: str  # a region
    name: str  # as the usages of the provider have it
    limit: int
    used: int = 0  # the usage outside the emulator


class RestrictionType(StrEnum):
    LOCATION = "Location"
    ZONE = "Zone"


@dataclass(frozen=True, slots=True, kw_only=True)
class SkuRestriction:
    """The reason why a subscription cannot use a size, in its region or in some of its zones."""

    type: RestrictionType
    zones: tuple[str, ...] = ()
    reason: str = "NotAvailableForSubscription"


@dataclass(frozen=True, slots=True, kw_only=True)
class EmulatedSku:
    """A VM size that a region offers."""

    name: str
    family: str  # the name of its quota
    cores: int
    location: str
    zones: tuple[str, ...] = ()  # those that offer it
    restricted: tuple[SkuRestriction, ...] = ()  # where the subscription may not use it


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeLogSettings:
    """When Azure's logs show a change."""

    resource_graph_delay: float = 60.0  # seconds after it
    actor_delay: float = 60.0  # how much later Resource Graph shows its author
    activity_log_delay: float = 180.0  # seconds after it
    page_size: int = 200  # rows of the Activity Log


@dataclass(frozen=True, slots=True, kw_only=True)
class EmulatorSettings:
    """Everything that can be set of the emulator (docs/emulator.md)."""

    tenant: str = TENANT  # the id of the subscriptions' tenant
    subscriptions: tuple[str, ...] = ()  # their ids; empty: any
    types: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The api-versions of each type, none meaning any; empty: any type."""

    unregistered: tuple[str, ...] = ()  # namespaces of providers that are not registered
    registration_polls: int = 2  # the number of reads of a provider until it is registered
    operations: Timing = Timing()  # how long-running operations go
    busy: Busy = Busy.RESOURCE
    locks: tuple[ManagementLock, ...] = ()
    denied: tuple[Denial, ...] = ()  # actions that are denied, whatever the roles
    deny_assignments: tuple[EmulatedDenyAssignment, ...] = ()
    policies: tuple[EmulatedPolicy, ...] = ()
    exemptions: tuple[EmulatedExemption, ...] = ()
    preflight: PreflightSettings = PreflightSettings()
    limits: Limits | None = Limits()  # None: no throttling
    rewrite: bool = False
    """Answers have values as Azure rewrites them: regions by display name, other case, sorted lists, defaults."""

    page_size: int = 1000  # entries of a list in one answer
    require_token: bool = False  # a request without a valid token gets 401
    principals: tuple[EmulatedPrincipal, ...] = ()
    token_seconds: int = 3600  # how long a token is valid
    rules: tuple[FaultRule, ...] = ()  # the faults of a script
    moves: tuple[PlannedMove, ...] = ()  # changes outside git that no request triggers
    deleted: tuple[ConfiguredDeletion, ...] = ()  # resources that were deleted before the emulator began
    taken_names: tuple[TakenName, ...] = ()  # names that are taken in another tenant
    strict_names: bool = False  # names must have the form that their type requires
    versions: tuple[ListedType, ...] = ()  # types in the list of a provider
    list_known_types: Callable[[str], Mapping[str, tuple[str, ...]]] = field(default=lambda _: {}, compare=False)
    """Returns the api-versions of Azure's types, which a provider lists in addition to `versions` if `types` is empty:
    the emulator has no facts of its own, and loads them when a provider is read. All of the types are needed of the
    namespace of the provider, in lower case, and in the list of providers, "", those of ASO's kinds.
    """

    quotas: tuple[EmulatedQuota, ...] = ()
    skus: tuple[EmulatedSku, ...] = ()  # VM sizes that regions offer
    change_log: ChangeLogSettings = ChangeLogSettings()
    graph: GraphSettings = field(default_factory=GraphSettings)


def read_settings(path: Path) -> EmulatorSettings:
    """Read the settings of a file. ConfigError, with file and line, for an unknown key or a value of the wrong type."""
    try:
        document = read_yaml(str(path), path.read_bytes(), _MOST_BYTES)
    except OSError as error:
        raise ConfigError(
            f"The file {path} cannot be read: {error.strerror}.", hint="Set --script to an existing file."
        ) from error
    members = document.members("settings", "rules", "moves") if document is not None else {}
    values = read_fields(members["settings"], _SETTINGS) if "settings" in members else {}
    if "settings" in members:
        _check_policy_names(members["settings"].members())
    rules = tuple(read_rule(item) for item in members["rules"].items()) if "rules" in members else ()
    moves = tuple(read_planned_move(item) for item in members["moves"].items()) if "moves" in members else ()
    return EmulatorSettings(**values, rules=rules, moves=moves)


def _check_policy_names(settings: Mapping[str, YamlNode]) -> None:
    """Check that policy names are unique, since exemptions name their policy."""
    names: set[str] = set()
    for policy in settings["policies"].items() if "policies" in settings else ():
        node = policy.members()["name"]
        if node.text().casefold() in names:
            raise node.wrong(f"duplicate policy {node.text()!r}.", "Rename one of them.")
        names.add(node.text().casefold())
    # A typo in the name would exempt nothing, and show only as a refusal.
    for exemption in settings["exemptions"].items() if "exemptions" in settings else ():
        node = exemption.members()["policy"]
        if node.text().casefold() not in names:
            raise node.wrong(f"unknown policy {node.text()!r}.", "Set the name of one of the policies.")


def _read_limits(node: YamlNode) -> Limits | None:
    """Read `off`, `on`, or the buckets that differ."""
    value = node.any()  # not the text: YAML has already converted `on` and `off`
    if isinstance(value, bool | str):
        if value not in _SWITCH:
            raise node.wrong(f"unknown value {value!r}.", "Set on, off, or the buckets: {reads: {size: …}}.")
        return Limits() if _SWITCH[value] else None
    return Limits(**read_fields(node, _LIMITS))


_SWITCH: Mapping[bool | str, bool] = {True: True, False: False, "on": True, "off": False}
"""YAML 1.1 reads unquoted `on` and `off` as booleans."""


def _read_lock(node: YamlNode) -> ManagementLock:
    values = read_fields(node, _LOCK, "scope")
    level = values.pop("level", _Level.CAN_NOT_DELETE)
    return ManagementLock(read_only=level is _Level.READ_ONLY, **values)


class _Level(StrEnum):
    CAN_NOT_DELETE = "CanNotDelete"
    READ_ONLY = "ReadOnly"


def _read_deny_assignment(node: YamlNode) -> EmulatedDenyAssignment:
    values = read_fields(node, _DENY_ASSIGNMENT, "name", "scope", "actions")
    # Without principals it would deny nothing, which its author cannot mean.
    if not values.get("everyone") and not values.get("principals"):
        raise node.wrong("a deny assignment needs principals.", "Set principals, or everyone: true.")
    return EmulatedDenyAssignment(**values)


def _read_principal(node: YamlNode) -> EmulatedPrincipal:
    values = read_fields(node, _PRINCIPAL, "clientId")
    return EmulatedPrincipal(**{"object": values["client"], **values})


def _read_deletion(node: YamlNode) -> ConfiguredDeletion:
    values = read_fields(node, _DELETION, "id", "location")
    # The store keeps nothing for such a type, so the entry would have no effect.
    if parse(values["id"]).type.casefold() not in SOFT_DELETES:
        raise node.wrong(f"{values['id']!r} has a type without soft delete.", f"Use one of {', '.join(SOFT_DELETES)}.")
    return ConfiguredDeletion(**values)


def _read_listed_types(node: YamlNode) -> tuple[ListedType, ...]:
    rows = {kind: read_fields(row, _LISTED_TYPE, "apiVersions") for kind, row in node.members().items()}
    return tuple(ListedType(type=kind, **row) for kind, row in rows.items())


def _read_restriction(node: YamlNode) -> SkuRestriction:
    restriction = SkuRestriction(**read_fields(node, _RESTRICTION, "type"))
    if (restriction.type is RestrictionType.ZONE) != bool(restriction.zones):
        raise node.wrong("only a restriction of the type Zone has zones, and it needs them.", 'Set zones: ["1"].')
    return restriction


_BUCKET: Mapping[str, FieldReader] = {
    "size": ("size", YamlNode.count),
    "perSecond": ("per_second", YamlNode.number),
}
_LIMITS: Mapping[str, FieldReader] = {
    kind: (kind, read_as(Bucket, _BUCKET, *_BUCKET)) for kind in ("reads", "writes", "deletes", "jobs")
}
_DELETION: Mapping[str, FieldReader] = {
    "id": ("id", YamlNode.text),
    "location": ("location", YamlNode.text),
    "purgeProtection": ("purge_protection", YamlNode.flag),
}
_LISTED_TYPE: Mapping[str, FieldReader] = {
    "apiVersions": ("api_versions", YamlNode.texts),
    "locations": ("locations", YamlNode.texts),
    "capabilities": ("capabilities", YamlNode.texts),
}
_QUOTA: Mapping[str, FieldReader] = {
    **{name: (name, YamlNode.text) for name in ("provider", "location", "name")},
    **{name: (name, YamlNode.count) for name in ("limit", "used")},
}
_RESTRICTION: Mapping[str, FieldReader] = {
    "type": ("type", lambda node: node.choice(RestrictionType)),
    "zones": ("zones", YamlNode.texts),
    "reason": ("reason", YamlNode.text),
}
_SKU: Mapping[str, FieldReader] = {
    **{name: (name, YamlNode.text) for name in ("name", "family", "location")},
    "vCPUs": ("cores", YamlNode.count),
    "zones": ("zones", YamlNode.texts),
    "restricted": ("restricted", read_each(_read_restriction)),
}
_TAKEN_NAME: Mapping[str, FieldReader] = {name: (name, YamlNode.text) for name in ("type", "name")}
_LOCK: Mapping[str, FieldReader] = {
    "scope": ("scope", read_scope),
    "level": ("level", lambda node: node.choice(_Level)),
    "name": ("name", YamlNode.text),
    "notes": ("notes", YamlNode.text),
}
_DENY_ASSIGNMENT: Mapping[str, FieldReader] = {
    "name": ("name", YamlNode.text),
    "description": ("description", YamlNode.text),
    "scope": ("scope", read_scope),
    "actions": ("actions", YamlNode.texts),
    "notActions": ("not_actions", YamlNode.texts),
    "everyone": ("everyone", YamlNode.flag),
    "principals": ("principals", YamlNode.texts),
    "excludePrincipals": ("exclude_principals", YamlNode.texts),
    "doNotApplyToChildScopes": ("only_at_scope", YamlNode.flag),
}
_REFUSAL: Mapping[str, FieldReader] = {
    "if": ("conditions", read_each(read_condition)),
    "code": ("code", YamlNode.text),
    "message": ("message", YamlNode.text),
}
_PREFLIGHT: Mapping[str, FieldReader] = {
    "silent": ("silent", YamlNode.texts),
    "empty": ("empty", YamlNode.texts),
    "refuse": ("refusals", read_each(read_as(BodyRefusal, _REFUSAL, "if", "code"))),
}
_DENIAL: Mapping[str, FieldReader] = {name: (name, YamlNode.text) for name in ("principal", "scope", "action")}
_FEDERATED: Mapping[str, FieldReader] = {name: (name, YamlNode.text) for name in ("issuer", "subject", "audience")}
_PRINCIPAL: Mapping[str, FieldReader] = {
    "clientId": ("client", YamlNode.text),
    "objectId": ("object", YamlNode.text),
    "tenantId": ("tenant", YamlNode.text),
    "secret": ("secret", YamlNode.text),
    "readOnly": ("read_only", YamlNode.flag),
    "actions": ("actions", YamlNode.texts),
    "scopes": ("scopes", YamlNode.texts),
    "userName": ("user", YamlNode.text),
    "client": ("app", YamlNode.text),
    "managedIdentity": ("identity", YamlNode.text),
    "needsMfa": ("needs_mfa", YamlNode.flag),
    "federatedCredentials": (
        "federated",
        read_each(read_as(EmulatedFederation, _FEDERATED, "issuer", "subject")),
    ),
}
_CHANGE_LOG: Mapping[str, FieldReader] = {
    "resourceGraphDelay": ("resource_graph_delay", YamlNode.number),
    "actorDelay": ("actor_delay", YamlNode.number),
    "activityLogDelay": ("activity_log_delay", YamlNode.number),
    "pageSize": ("page_size", YamlNode.positive),
}
# `recorded` means the recorded behaviour of each type.
_TIMING: Mapping[str, FieldReader] = {
    "style": ("style", lambda node: None if node.text() == "recorded" else node.choice(Style)),
    "polls": ("polls", YamlNode.count),
    "seconds": ("seconds", YamlNode.number),
    "retryAfter": ("retry_after", lambda node: None if node.any() == "recorded" else node.count()),
}
_SETTINGS: Mapping[str, FieldReader] = {
    "tenant": ("tenant", YamlNode.text),
    "subscriptions": ("subscriptions", lambda node: tuple(name.casefold() for name in node.texts())),
    "types": ("types", lambda node: {kind: versions.texts() for kind, versions in node.members().items()}),
    "unregistered": ("unregistered", YamlNode.texts),
    "registrationPolls": ("registration_polls", YamlNode.count),
    "operations": ("operations", read_as(Timing, _TIMING)),
    "busy": ("busy", lambda node: node.choice(Busy)),
    "locks": ("locks", read_each(_read_lock)),
    "denied": ("denied", read_each(read_as(Denial, _DENIAL))),
    "denyAssignments": (
        "deny_assignments",
        read_each(_read_deny_assignment),
    ),
    "policies": ("policies", read_each(read_policy)),
    "exemptions": ("exemptions", read_each(read_exemption)),
    "preflight": ("preflight", read_as(PreflightSettings, _PREFLIGHT)),
    "throttle": ("limits", _read_limits),
    "rewrite": ("rewrite", YamlNode.flag),
    "pageSize": ("page_size", YamlNode.positive),
    "requireToken": ("require_token", YamlNode.flag),
    "principals": ("principals", read_each(_read_principal)),
    "tokenSeconds": ("token_seconds", YamlNode.count),
    "deleted": ("deleted", read_each(_read_deletion)),
    "takenNames": ("taken_names", read_each(read_as(TakenName, _TAKEN_NAME, "type", "name"))),
    "strictNames": ("strict_names", YamlNode.flag),
    "versions": ("versions", _read_listed_types),
    "quotas": (
        "quotas",
        read_each(read_as(EmulatedQuota, _QUOTA, "provider", "location", "name", "limit")),
    ),
    "skus": (
        "skus",
        read_each(read_as(EmulatedSku, _SKU, "name", "family", "vCPUs", "location")),
    ),
    "changeLog": ("change_log", read_as(ChangeLogSettings, _CHANGE_LOG)),
    "graph": ("graph", read_graph),
}
