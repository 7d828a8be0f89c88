"""Names that must be unique in all of Azure: the checks of their availability, and the refusals of taken ones.

One table answers the checks (`checkNameAvailability` and similar) and refuses the PUT. A name is taken if the settings
list it, or a deleted resource in any subscription reserves it; with `strictNames` also if another resource has it, and
a malformed name is refused. A read permission is enough for the checks in `READ_POSTS`; the other checks are actions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from gitsync.emulator.http.messages import Refused, ServerRequest, ServerResponse, refuse
from gitsync.emulator.http.target import Target, parse
from gitsync.emulator.identity.access import require_registration
from gitsync.emulator.patch import find_value
from gitsync.emulator.state.cloud import EmulatedCloud, make_not_found
from gitsync.emulator.state.deleted_resources import SOFT_DELETES, list_deleted, normalize_region

_DNS: Final = "[a-z0-9](?:[a-z0-9-]{1,61}[a-z0-9])"


@dataclass(frozen=True, slots=True, kw_only=True)
class UniqueName:
    """A type with unique names."""

    type: str
    form: str  # a pattern of valid names
    code: str  # refuses the PUT of a taken name
    text: str  # the message with `code`
    check: str = "checkNameAvailability"  # the last word of the path of the check
    is_typed: bool = True  # the body of the check has the type
    member: str = "name"  # the one of that body with the name
    flag: str = "nameAvailable"  # the member of the answer that shows whether the name is free; "" if its status does
    taken: str = "AlreadyExists"  # the reason in the answer for a taken name
    free: Mapping[str, Any] = field(default_factory=dict)  # the rest of the answer for a free name
    echoes: tuple[str, ...] = ()  # members of the check that the answer repeats
    invalid: str = "Invalid"  # the reason for a name that does not have the form
    wrong: str = "InvalidResourceName"  # the code for a name that does not have the form
    held: tuple[str, ...] = ()  # the path of the name in a body, () for its id
    status: int = 409
    is_regional: bool = False  # other regions may use the name

    def find_name(self, target: Target, body: Mapping[str, Any]) -> str:
        """Find the unique name of a resource; "" if it has none."""
        return str(find_value(body, self.held) or "") if self.held else target.name


_BUS: Final[Mapping[str, Any]] = {
    "form": "[a-zA-Z][a-zA-Z0-9-]{4,48}[a-zA-Z0-9]",
    "code": "BadRequest",
    "text": "The specified name is not available. For more information visit https://aka.ms/eventhubsarmexceptions.",
    "status": 400,
    "is_typed": False,
    "taken": "NameInUse",
    "invalid": "InvalidName",
    "free": {"reason": "None", "message": None},
}
_ROWS: Final = (
    UniqueName(
        type="Microsoft.ApiManagement/service",
        form="[a-zA-Z](?:[a-zA-Z0-9-]{0,48}[a-zA-Z0-9])?",
        code="ServiceAlreadyExists",
        text="Api service already exists: {name}",
        is_typed=False,
        free={"reason": "Valid", "message": ""},
    ),
    UniqueName(
        type="Microsoft.AppConfiguration/configurationStores",
        form="[a-zA-Z0-9-]{5,50}",
        code="NameUnavailable",
        text="The specified name is already in use.",
    ),
    UniqueName(
        type="Microsoft.Cache/Redis",
        form="[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?",
        code="NameNotAvailable",
        text=(
            "An error occurred when trying to reserve the DNS name for the cache. This may be a temporary failure. If "
            "you are certain the name is not in use, please try again later."
        ),
        flag="",  # no body: the status is the answer
    ),
    UniqueName(
        type="Microsoft.Cdn/profiles/endpoints",
        form="[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,48}[a-zA-Z0-9])?",
        code="Conflict",
        text="Name not available",
        taken="Name is already in use",
        free={"reason": None, "message": None},
    ),
    UniqueName(
        type="Microsoft.CognitiveServices/accounts",
        form="[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,62}[a-zA-Z0-9])?",
        code="CustomDomainInUse",
        text=(
            "Please pick a different name. The subdomain name '{name}' is not available as it's already used by a "
            "resource. If the resource using the name was deleted in the last 48 hours, you may need to purge the "
            'deleted resource. Learn more at "https://go.microsoft.com/fwlink/?linkid=2215493"'
        ),
        check="checkDomainAvailability",
        member="subdomainName",
        flag="isSubdomainAvailable",
        taken="Sub domain name is already used. Please pick a different name.",
        echoes=("subdomainName", "type"),
        held=("properties", "customSubDomainName"),
    ),
    UniqueName(
        type="Microsoft.ContainerRegistry/registries",
        form="[a-zA-Z0-9]{5,50}",
        code="AlreadyInUse",
        text="The registry {name} is already in use.",
    ),
    UniqueName(
        type="Microsoft.DBforMySQL/flexibleServers",
        form=_DNS,
        code="ServerNameAlreadyExists",
        text="Specified server name is already used.",
        free={"message": ""},
    ),
    UniqueName(
        type="Microsoft.DBforPostgreSQL/flexibleServers",
        form=_DNS,
        code="ServerNameAlreadyExists",
        text="Specified server name is already used.",
        free={"message": ""},
        echoes=("name", "type"),
    ),
    UniqueName(
        type="Microsoft.DocumentDB/databaseAccounts",
        form="[a-z0-9](?:[a-z0-9-]{1,42}[a-z0-9])",
        code="BadRequest",
        text="Dns record for {name} under zone Document is already taken.",
        check="databaseAccountNames",
        status=400,
    ),
    UniqueName(type="Microsoft.EventHub/namespaces", **_BUS),
    UniqueName(
        type="Microsoft.KeyVault/managedHSMs",
        form="[a-zA-Z][a-zA-Z0-9-]{1,22}[a-zA-Z0-9]",
        code="ConflictError",
        text="The name '{name}' is already in use.",
        check="checkMhsmNameAvailability",
        is_typed=False,
    ),
    UniqueName(
        type="Microsoft.KeyVault/vaults",
        form="(?!.*--)[a-zA-Z][a-zA-Z0-9-]{1,22}[a-zA-Z0-9]",
        code="VaultAlreadyExists",
        text=(
            "The vault name '{name}' is already in use. Vault names are globally unique so it is possible that "
            "the name is already taken. If you are sure that the vault name was not taken then it is possible "
            "that a vault with the same name was recently deleted but not purged after being placed in a "
            "recoverable state. If the vault is in a recoverable state then the vault will need to be purged "
            "before reusing the name. For more information about VaultAlreadyExists, soft delete and purging a "
            "vault follow this link "
            "https://go.microsoft.com/fwlink/?linkid=2147740."
        ),
        invalid="AccountNameInvalid",
        wrong="VaultNameNotValid",
    ),
    UniqueName(
        type="Microsoft.Network/publicIPAddresses",
        form="[a-z](?:[a-z0-9-]{1,61}[a-z0-9])",
        code="DnsRecordInUse",
        text="DNS record {name} is already used by another public IP.",
        check="CheckDnsNameAvailability",
        member="domainNameLabel",
        flag="available",
        held=("properties", "dnsSettings", "domainNameLabel"),
        status=400,
        is_regional=True,
    ),
    UniqueName(
        type="Microsoft.Search/searchServices",
        form="[a-z0-9](?:[a-z0-9-]{0,58}[a-z0-9])",
        code="ServiceNameUnavailable",
        text=(
            "Cannot provision service '{name}' because a service with this name is already in use, or another request "
            "to provision a service with this name is still in progress"
        ),
        wrong="InvalidServiceName",
    ),
    UniqueName(type="Microsoft.ServiceBus/namespaces", **_BUS),
    UniqueName(
        type="Microsoft.Sql/servers",
        form="[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?",
        code="NameAlreadyExists",
        text="The name '{name}.database.windows.net' already exists. Choose a different name.",
        flag="available",
        echoes=("name",),
    ),
    UniqueName(
        type="Microsoft.Storage/storageAccounts",
        form="[a-z0-9]{3,24}",
        code="StorageAccountAlreadyTaken",
        text="The storage account named {name} is already taken.",
        invalid="AccountNameInvalid",
        wrong="AccountNameInvalid",
    ),
    UniqueName(
        type="Microsoft.Web/sites",
        form="[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,58}[a-zA-Z0-9])?",
        code="Conflict",
        text="Website with given name {name} already exists.",
        check="checknameavailability",
        free={"reason": "", "message": ""},
    ),
)
UNIQUE_NAMES: Final[Mapping[str, UniqueName]] = {row.type.casefold(): row for row in _ROWS}
"""By type, in lower case."""

NAME_CHECKS: Final[Mapping[tuple[str, str], UniqueName]] = {
    (row.type.casefold().partition("/")[0], row.check.casefold()): row for row in _ROWS
}
"""By the namespace and the last word of the path, in lower case."""

_INVALID_TEXTS: Final = {
    "Microsoft.Storage/storageAccounts": (
        "{name} is not a valid storage account name. Storage account name must be between 3 and 24 characters in "
        "length and use numbers and lower-case letters only."
    ),
    "Microsoft.KeyVault/vaults": (
        "The vault name '{name}' is invalid. A vault's name must be between 3-24 alphanumeric characters. The name "
        "must begin with a letter, end with a letter or digit, and not contain consecutive hyphens."
    ),
}


def is_name_check(target: Target) -> bool:
    """Return whether a path is the check of a name."""
    return bool(target.types) and (target.namespace.casefold(), target.types[-1].casefold()) in NAME_CHECKS


def answer_name_check(cloud: EmulatedCloud, request: ServerRequest) -> ServerResponse:
    """Answer whether a name is free, in its provider's form."""
    unique = NAME_CHECKS[request.target.namespace.casefold(), request.target.types[-1].casefold()]
    cloud.require_scope(request)
    require_registration(cloud, request.target)
    parameters = request.query if request.method == "GET" else request.body
    name = parameters.get(unique.member) if isinstance(parameters, Mapping) else None
    if not isinstance(name, str) or not name:
        raise refuse("InvalidRequestContent", reason=f"The member '{unique.member}' is missing.")
    # App Service checks use a word of their own as well.
    kinds = {unique.type.casefold(), "site" if unique.type == "Microsoft.Web/sites" else ""}
    if request.method == "POST" and unique.is_typed and str(request.body.get("type")).casefold() not in kinds:
        raise refuse("InvalidRequestContent", reason=f"The member 'type' is not {unique.type}.")
    location = request.target.names[0] if request.target.names else ""
    refusal = _find_refusal(cloud, unique, name, location)
    if not unique.flag:
        return ServerResponse(200) if refusal is None else refusal.answer
    answer: dict[str, Any] = {member: request.body[member] for member in unique.echoes if member in request.body}
    answer[unique.flag] = refusal is None
    if request.method == "GET":
        return ServerResponse(200, answer)
    if refusal is None:
        return ServerResponse(200, {**answer, **unique.free})
    error = refusal.answer.body["error"]
    # The check and the PUT share the refusal, whose code shows which of the two reasons applies.
    reason = unique.invalid if error["code"] == unique.wrong else unique.taken
    return ServerResponse(200, answer | {"reason": reason, "message": error["message"]})


def answer_database_account_name(cloud: EmulatedCloud, request: ServerRequest) -> ServerResponse:
    """Answer a HEAD of a Cosmos DB account name: 200 if it is taken, 404 if it is free."""
    unique = UNIQUE_NAMES["microsoft.documentdb/databaseaccounts"]
    if _find_refusal(cloud, unique, request.target.name) is None:
        raise make_not_found(request.target)
    return ServerResponse(200)


def check_name(cloud: EmulatedCloud, request: ServerRequest, body: Mapping[str, Any]) -> None:
    """Refuse the PUT of a new resource if its name is not free."""
    unique = UNIQUE_NAMES.get(request.target.type.casefold())
    name = unique.find_name(request.target, body) if unique is not None else ""
    refusal = _find_refusal(cloud, unique, name, body.get("location")) if unique is not None and name else None
    if refusal is not None:
        raise refusal


def _find_refusal(cloud: EmulatedCloud, unique: UniqueName, name: str, location: Any = "") -> Refused | None:
    """Find the reason why a new resource cannot have a name."""
    if cloud.settings.strict_names and not re.fullmatch(unique.form, name):
        text = _INVALID_TEXTS.get(unique.type, f"The name '{{name}}' is not valid for {unique.type}.")
        return refuse(unique.wrong, status=400, message=text.format(name=name))
    kind, lower = unique.type.casefold(), name.casefold()
    configured = {row.name.casefold() for row in cloud.settings.taken_names if row.type.casefold() == kind}
    if lower in configured or lower in _list_held(cloud, unique) | _list_used(cloud, unique, location):
        return refuse(unique.code, status=unique.status, message=unique.text.format(name=name))
    return None


def _list_held(cloud: EmulatedCloud, unique: UniqueName) -> set[str]:
    """List the names that deleted resources reserve, in any subscription, in lower case."""
    kind = unique.type.casefold()
    rows = list_deleted(cloud.store, kind, cloud.clock.now().timestamp()) if kind in SOFT_DELETES else []
    return {unique.find_name(parse(row["id"]), row["body"]).casefold() for row in rows}


def _list_used(cloud: EmulatedCloud, unique: UniqueName, location: Any) -> set[str]:
    """List the names of all resources of the type, in lower case; none unless names are strict."""
    if not cloud.settings.strict_names:
        return set()
    return {
        unique.find_name(parse(resource.id), resource.body).casefold()
        for key, resource in cloud.store.below("/subscriptions/")
        if parse(key).type == unique.type.casefold()
        and (not unique.is_regional or normalize_region(resource.body.get("location")) == normalize_region(location))
    }
