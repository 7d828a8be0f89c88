"""Twelve runs whose reports are kept in `golden/`, in the forms that people read."""

from dataclasses import replace

from gitsync.model.arm_id import ArmId
from gitsync.model.attribution import Attribution, AuthorKind, ChangeSource
from gitsync.model.check import CheckFinding, CheckName, CheckVerdict
from gitsync.model.condition import Condition, ConditionStatus, Severity
from gitsync.model.outside import OutsideChange, ResetValue
from gitsync.model.plan import LastCommit
from gitsync.model.problem import TOO_MANY_DELETES, Problem, SourceLocation
from gitsync.model.report import RequestCounts
from gitsync.model.result import FailedRequest, ManifestField, Replacement, Stage
from gitsync.model.secret import MASKED
from gitsync.model.verdict import Action, Difference, Verdict
from tests.report.report_builders import (
    IN_SYNC,
    NET,
    PROBLEMS,
    REFUSED,
    TARGET,
    failed,
    key,
    report,
    result,
)
from tests.support.parts import change

GROUP = "/subscriptions/0000/resourceGroups/core"
PLANNED = Condition(status=ConditionStatus.UNKNOWN, reason="Planned")
NOT_REACHED = Condition(
    status=ConditionStatus.UNKNOWN, reason="NotReached", message="The run ended before it reached this resource."
)
THROTTLED = "The request is throttled: number of write requests for subscription '0000' exceeded the limit."
GONE = "Removed from git: its file {} is gone."
STORAGE, VAULT, SQL = "storage.azure.com", "keyvault.azure.com", "sql.azure.com"


def one(kind, name, group, provider, verdict, action=Action.NONE, **more):
    """Make a resource of a plan; `provider` is its ARM type."""
    values = {"condition": PLANNED, "is_fine": True, "arm_id": ArmId(f"{GROUP}/providers/{provider}/{name}")}
    return result(key(kind, name, group), verdict, action, **values | more)


def field(name, line):
    return ManifestField(name, SourceLocation("data/logs.yaml", line))


SERVERS = [f"10.0.0.{number}" for number in range(40)]
HUB = one(
    "VirtualNetwork",
    "hub",
    NET,
    "Microsoft.Network/virtualNetworks",
    Verdict.PENDING,
    Action.UPDATE,
    source=SourceLocation("net/hub.yaml", 1),
    differences=(
        Difference("/properties/dhcpOptions/dnsServers", SERVERS, [*SERVERS[:7], "10.9.0.7", *SERVERS[8:]], "r"),
        Difference("/tags/team", None, "ops", "removed from git"),
    ),
    fields={
        "/properties/dhcpOptions/dnsServers/7": ManifestField(
            "spec.dhcpOptions.dnsServers[7]", SourceLocation("net/hub.yaml", 17)
        ),
        "/tags/team": ManifestField("spec.tags.team", SourceLocation("net/hub.yaml", 5)),
    },
)
LOGS = one(
    "StorageAccount",
    "logs",
    STORAGE,
    "Microsoft.Storage/storageAccounts",
    Verdict.DRIFTED,
    Action.UPDATE,
    source=SourceLocation("data/logs.yaml", 1),
    differences=(Difference("/properties/minimumTlsVersion", "TLS1_2", "TLS1_0", "changed in Azure"),),
    fields={"/properties/minimumTlsVersion": field("spec.minimumTlsVersion", 14)},
)
NEW = one(
    "Vault",
    "keys",
    VAULT,
    "Microsoft.KeyVault/vaults",
    Verdict.CREATE,
    Action.CREATE,
    source=SourceLocation("data/keys.yaml", 1),
    body={
        "location": "westeurope",
        "properties": {"sku": {"family": "A", "name": "standard"}, "ipRules": SERVERS[:20]},
        "tags": {"note": "Do not store the certificates of tenants here: " + "they have vaults of their own. " * 3},
    },
)
OLD = one(
    "StorageAccount",
    "old",
    STORAGE,
    "Microsoft.Storage/storageAccounts",
    Verdict.DELETE,
    Action.DELETE,
    source=None,
    condition=replace(PLANNED, message=GONE.format("data/old.yaml")),
    last_commit=LastCommit(commit="6d25f14b60cd", author="Ada Lovelace", subject="Store the logs elsewhere"),
    last_source=SourceLocation("data/old.yaml", 1),
)
MOVED = one(
    "ServersDatabase",
    "shop",
    SQL,
    "Microsoft.Sql/servers/sales/databases",
    Verdict.PENDING,
    is_fine=False,
    source=SourceLocation("data/shop.yaml", 1),
    condition=failed("ReplaceNeeded", "Azure cannot move a resource to another region.", Severity.WARNING),
    differences=(Difference("/location", "northeurope", "westeurope", "changed in git"),),
    fields={"/location": ManifestField("spec.location", SourceLocation("data/shop.yaml", 8))},
    replacement=Replacement(reason="Azure cannot move a resource to another region."),
)
WAITS = one(
    "VirtualNetworksSubnet",
    "front",
    NET,
    "Microsoft.Network/virtualNetworks/hub/subnets",
    Verdict.BLOCKED,
    is_fine=False,
    source=SourceLocation("net/front.yaml", 1),
    condition=failed("WaitingForOwner", "Owner cannot be found.", Severity.WARNING),
    blocked_by=REFUSED.key,
)
ADOPTED = one(
    "NetworkSecurityGroup",
    "found",
    NET,
    "Microsoft.Network/networkSecurityGroups",
    Verdict.ADOPT,
    source=SourceLocation("net/found.yaml", 1),
)
DELETES = [
    change(
        OLD,
        key=key(kind, f"old-{number}", group),
        api_version=f"{group}/v1api20200601",
        arm_id=f"{GROUP}/providers/{provider}/old-{number}",
        condition=replace(PLANNED, message=GONE.format(f"data/old-{number}.yaml")),
        last_source=SourceLocation(f"data/old-{number}.yaml", 1),
    )
    for number, (kind, group, provider) in enumerate(
        [
            ("StorageAccount", STORAGE, "Microsoft.Storage/storageAccounts"),
            ("Vault", VAULT, "Microsoft.KeyVault/vaults"),
            ("VirtualNetwork", NET, "Microsoft.Network/virtualNetworks"),
            ("Server", SQL, "Microsoft.Sql/servers"),
        ]
    )
]
TOO_MANY = Problem(
    code=TOO_MANY_DELETES,
    message="This run would delete 4 of 5 resources; more than half are not deleted at once.",
    hint="If these deletes are meant, run again with --max-deletes 4.",
)

FLAG_RIGHT = "Microsoft.PolicyInsights/checkPolicyRestrictions/read"


def said(check, verdict, **more):
    return CheckFinding(check=CheckName(check), verdict=CheckVerdict(verdict), **more)


LOCKED = said(
    "locks",
    "refused",
    code="ScopeLocked",
    message="The lock keep (CanNotDelete) of resource group core forbids deletes.",
    advice="Remove the lock with `az lock delete --name keep --resource-group core`, or keep the manifest in git.",
    contact="Ask the owner of resource group core.",
)
DENIED = said(
    "policy",
    "refused",
    code="RequestDisallowedByPolicy",
    message="The assignment only-europe denies it: Use a European region.",
    advice="Set another location.",
    contact="Ask the owner of the assignment only-europe at subscription 0000.",
    path="/location",
)
AUDITED = said(
    "policy",
    "warning",
    code="PolicyAudit",
    message="The assignment tls audits it: TLS 1.2 is expected.",
    contact="Ask the owner of the assignment tls.",
    path="/properties/minimumTlsVersion",
)
UNASKED = said(
    "policy",
    "not-checked",
    code="AuthorizationFailed",
    message=f"The identity lacks the right {FLAG_RIGHT}.",
    advice=f"Grant {FLAG_RIGHT} to gitsync's identity.",
    missing_right=FLAG_RIGHT,
)
UNKNOWN = said(
    "preflight", "not-checked", code="ValueNotKnown", message="/sku/name is not known before the run has read it."
)
FINE = tuple(said(check, "fine") for check in ("names", "locks", "versions"))
WEST = ManifestField("spec.location", SourceLocation("data/keys.yaml", 8))


def done(of, verdict, action, **more):
    return change(of, verdict=verdict, action=action, condition=IN_SYNC.condition, **more)


def by(author, name="", **more):
    """Make a change in Azure, of somebody in the portal or with another client."""
    values = {
        "author": AuthorKind(author),
        "name": name,
        "at": "2026-11-23T22:41:07Z",
        "operation": "microsoft.storage/storageaccounts/write",
        "correlation_id": "907d2bd4-1b8e-4ae5-bf6d-33b12cf8f4c9",
        "source": ChangeSource.RESOURCE_GRAPH,
    }
    return Attribution(**values | more)


ROB = by("person", "rob@contoso.com", client="Azure Portal")
EVE = by("person", "eve@contoso.com", client="CLI", at="2026-11-23T23:05:40Z", correlation_id="5c1e-eve")
PIPELINE = by("application", "04b07795-8ddb-461a-bbee-02f9e1bf7b46", label="Contoso Deploy", client="Terraform")
POLICY = by(
    "policy", "/subscriptions/0000/providers/Microsoft.Authorization/policyAssignments/tls", at="2026-11-23T23:10:00Z"
)
OTHER_RUN = by("gitsync", commit="6d25f14b60cd6d25f14b60cd6d25f14b60cd6d25", correlation_id="")
NO_RIGHT = Attribution(
    doubt="The identity lacks the right Microsoft.Insights/eventtypes/values/read at subscription 0000."
)
NOTHING_YET = Attribution(doubt="Azure has no row about it yet: its logs are up to 20 minutes late.")


def drift(kind, name, *changes, line=4, **more):
    """Make a resource of the data folder that drifted in its tag `env`."""
    source = SourceLocation(f"data/{name}.yaml", 1)
    tag = Difference("/tags/env", "prod", "test", "changed in Azure")
    values = {
        "source": source,
        "differences": (tag,),
        "fields": {"/tags/env": ManifestField("spec.tags.env", replace(source, line=line))},
        "changed_by": changes,
    }
    return one(
        kind, name, STORAGE, "Microsoft.Storage/storageAccounts", Verdict.DRIFTED, Action.UPDATE, **values | more
    )


def throttle(number):
    tries = tuple(
        FailedRequest(
            at=f"2026-01-02T03:04:{second:02}Z",
            stage=Stage.ACT,
            status=429,
            code="SubscriptionRequestsThrottled",
            message=THROTTLED,
            request_id=f"request-{number}-{second}",
        )
        for second in (7, 17)
    )
    account = change(NEW, key=key("Vault", f"keys-{number}", VAULT), body=None, attempts=tries)
    if number % 3:
        return done(account, Verdict.CREATE, Action.CREATE)
    condition = failed("SubscriptionRequestsThrottled", THROTTLED, request_id=f"request-{number}-17")
    return replace(account, condition=condition, is_fine=False, action=Action.NONE)


def create(number):
    name = f"{'a-group-with-a-name-that-is-long-enough-to-fill-' if number % 50 == 7 else 'group-'}{number:03}"
    return change(
        NEW,
        key=key("ResourceGroup", name, namespace="shop" if number % 2 else "platform"),
        arm_id=ArmId(f"/subscriptions/0000/resourceGroups/{name}"),
        source=SourceLocation(f"groups/{name}.yaml", 1),
        body={"location": "westeurope"},
    )


def plan(*results, **more):
    values = {"command": "plan", "target": TARGET, "requests": RequestCounts(reads=14)}
    return report(*results, **values | more)


def sync(*results, **more):
    return report(*results, target=TARGET, **more)


REACH = "It changes who reaches the resource over the network."


def from_azure(name, *changes, line=1, verdict=Verdict.IN_SYNC, action=Action.NONE, **more):
    """Make a storage account with changes of values that git does not set."""
    values = {"source": SourceLocation("data/logs.yaml", line), "outside": changes}
    return one("StorageAccount", name, STORAGE, "Microsoft.Storage/storageAccounts", verdict, action, **values | more)


OPENED = from_azure(
    "opened",
    OutsideChange(path="/properties/publicNetworkAccess", before="Disabled", now="Enabled", weakens=REACH),
    OutsideChange(path="/properties/customKeys", before=MASKED, now=MASKED, is_restorable=False),
    OutsideChange(path="/tags/owner", before=None, now="rob@contoso.com"),
    changed_by=(replace(ROB, paths=("/properties/publicNetworkAccess", "/tags/owner")),),
    fields={
        "/properties/publicNetworkAccess": field("spec.publicNetworkAccess", 1),
        "/tags/owner": field("spec.tags.owner", 9),
    },
)
RESETTING = from_azure(
    "resetting",
    OutsideChange(path="/tags/owner", before="ops", now=None),
    line=20,
    verdict=Verdict.DRIFTED,
    action=Action.UPDATE,
    differences=LOGS.differences,
    resets=(
        ResetValue(path="/properties/networkAcls/virtualNetworkRules", live=[{"id": "a"}, {"id": "b"}], entries=2),
        ResetValue(path="/properties/publicNetworkAccess", live="Disabled"),
        ResetValue(path="/tags/owner", live="rob"),
    ),
    fields={
        **LOGS.comparison.fields,
        "/properties/networkAcls/virtualNetworkRules": field("spec.networkAcls.virtualNetworkRules", 24),
        "/properties/publicNetworkAccess": field("spec.publicNetworkAccess", 20),
        "/tags/owner": field("spec.tags.owner", 26),
    },
)


def tag(number):
    """Make an account that got the tag of a policy."""
    return from_azure(f"tagged-{number:02}", OutsideChange(path="/tags/cost", before=None, now="4711"), line=30)


BROKEN = replace(REFUSED, action=Action.NONE)

RUNS = {
    "all-outcomes": plan(IN_SYNC, HUB, LOGS, NEW, OLD, MOVED, WAITS, ADOPTED, REFUSED, problems=PROBLEMS, exit_code=1),
    "nothing": plan(IN_SYNC, replace(IN_SYNC, key=key("ResourceGroup", "edge"))),
    "one-change": plan(IN_SYNC, LOGS, exit_code=4),
    "creates": plan(*map(create, range(220)), exit_code=3),
    "failed-sync": sync(
        IN_SYNC, done(HUB, Verdict.PENDING, Action.UPDATE), BROKEN, WAITS, done(OLD, Verdict.DELETE, Action.DELETE),
        exit_code=1,
    ),
    "stopped": sync(
        IN_SYNC,
        done(LOGS, Verdict.DRIFTED, Action.UPDATE),
        *(
            change(NEW, key=key("Vault", f"keys-{number}", VAULT), verdict=Verdict.UNKNOWN, action=Action.NONE,
                    body=None, condition=NOT_REACHED, is_fine=False)
            for number in range(12)
        ),
        interrupted=True,
        exit_code=1,
    ),
    "throttled": sync(
        *map(throttle, range(9)), requests=RequestCounts(reads=20, writes=24, polls=6, throttled=18), exit_code=1
    ),
    "checks": plan(
        IN_SYNC,
        change(HUB, checks=(UNASKED, UNKNOWN, *FINE)),
        change(LOGS, checks=(AUDITED, *FINE)),
        change(NEW, checks=(DENIED, UNKNOWN, *FINE), fields={"/location": WEST}),
        change(OLD, checks=(LOCKED, UNASKED)),
        requests=RequestCounts(reads=14, checks=3),
        exit_code=4,
    ),
    "refused-sync": sync(
        IN_SYNC,
        done(LOGS, Verdict.DRIFTED, Action.UPDATE),
        change(
            NEW, action=Action.NONE, body=None, is_fine=False, checks=(replace(DENIED, check=CheckName.PREFLIGHT), *FINE),
            condition=failed("Refused", f"The check preflight reports: {DENIED.statement}", Severity.WARNING),
            fields={"/location": WEST},
        ),
        exit_code=1,
    ),
    "drift": plan(
        IN_SYNC,
        replace(
            HUB,
            verdict=Verdict.CONFLICT,
            changed_by=(
                replace(EVE, paths=("/tags/team",)), replace(ROB, paths=("/properties/dhcpOptions/dnsServers",))
            ),
        ),
        replace(LOGS, changed_by=(PIPELINE,)),
        change(
            NEW, key=key("Vault", "gone", VAULT), verdict=Verdict.MISSING, body=None,
            changed_by=(replace(ROB, operation="Microsoft.KeyVault/vaults/delete", at="2026-11-24T00:12:00Z"),),
        ),
        *(drift("StorageAccount", f"rob-{number}", ROB) for number in range(3)),
        drift("StorageAccount", "policy", POLICY),
        drift("StorageAccount", "azure", by("azure", at="2026-11-23T23:11:00Z", correlation_id="")),
        drift("StorageAccount", "run", OTHER_RUN),
        drift("StorageAccount", "unnamed", by("unknown", client="04b07795-8ddb-461a-bbee-02f9e1bf7b46")),
        *(drift("StorageAccount", f"asked-{number}", NO_RIGHT) for number in range(2)),
        drift("StorageAccount", "early", NOTHING_YET),
        exit_code=4,
    ),
    "outside": plan(
        IN_SYNC,
        from_azure("moved", OutsideChange(path="/properties/dnsEndpointType", before="Standard", now="AzureDnsZone")),
        OPENED,
        RESETTING,
        *map(tag, range(12)),
        exit_code=4,
    ),
    "deletes": plan(IN_SYNC, *DELETES, problems=(TOO_MANY,), exit_code=2),
}  # fmt: skip
"""By the name of the folder of each."""
