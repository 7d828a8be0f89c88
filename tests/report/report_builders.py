"""Reports in a few words: a result for each kind of end, and two reports made of them."""

from dataclasses import replace
from datetime import UTC, datetime

from gitsync.model.condition import Condition, ConditionStatus, Severity
from gitsync.model.gvk import Key
from gitsync.model.problem import Level, Problem, SourceLocation
from gitsync.model.reconcile_policy import Policy
from gitsync.model.record import Claim, PendingOperation, Record
from gitsync.model.report import Report, RequestCounts, RequestUse, RunTarget
from gitsync.model.result import FailedRequest, Result, Stage
from gitsync.model.verdict import Action, Difference, Verdict
from gitsync.report.progress import RunEnd
from tests.support.parts import build

GROUP_ID = "/subscriptions/0000/resourceGroups/core"
NET = "network.azure.com"


def key(kind, name, group="resources.azure.com", namespace="default"):
    return Key(group, kind, namespace, name)


READY = Condition(status=ConditionStatus.TRUE, reason="Succeeded")


def failed(reason, message, severity=Severity.ERROR, request_id=""):
    return Condition(
        status=ConditionStatus.FALSE,
        severity=severity,
        reason=reason,
        message=message,
        request_id=request_id,
        generation=2,
    )


def result(of, verdict=Verdict.IN_SYNC, action=Action.NONE, condition=READY, **more):
    values = {
        "key": of,
        "api_version": f"{of.group}/v1api20200601",
        "source": SourceLocation("azure.yaml", 3),
        "arm_id": f"{GROUP_ID}/{of.name}",
        "policy": Policy.MANAGE,
        "verdict": verdict,
        "action": action,
        "condition": condition,
        "is_fine": condition.is_ready,
        "requests": 1,
    }
    return build(Result, **values | more)


IN_SYNC = result(key("ResourceGroup", "core"))
DRIFTED = result(
    key("VirtualNetwork", "hub", NET),
    Verdict.DRIFTED,
    Action.UPDATE,
    source=SourceLocation("net/hub.yaml", 1),
    differences=(
        Difference("/tags/env", "prod", None, "changed in Azure since it was last seen"),
        Difference("/properties/addressSpace/addressPrefixes/0", "10.0.0.0/16", "10.1.0.0/16", "changed in Azure"),
    ),
    unverified=("/properties/secret",),
)
REFUSED = result(
    key("StorageAccount", "logs", "storage.azure.com"),
    Verdict.CREATE,
    Action.CREATE,
    failed("AccountNameInvalid", "logs is not a valid storage account name.", request_id="11-22"),
    is_fine=False,
    attempts=(
        FailedRequest(
            at="2026-01-02T03:04:06Z",
            stage=Stage.ACT,
            status=429,
            code="TooManyRequests",
            message="Wait.",
            request_id="99",
        ),
        FailedRequest(
            at="2026-01-02T03:04:09Z", stage=Stage.ACT, status=0, code="UnknownError", message="connection reset"
        ),
    ),
    requests=3,
)
ORPHAN = result(
    key("VirtualNetworksSubnet", "old", NET, "network"),
    Verdict.DELETE,
    Action.DELETE,
    failed("Deleting", "The resource is being deleted", Severity.INFO),
    source=None,
    is_fine=True,
)

PROBLEMS = (
    Problem(
        code="UnknownField",
        message="spec.locatoin is not a field of ResourceGroup.",
        hint="Did you mean spec.location?",
        level=Level.WARNING,
        path="azure.yaml",
        line=9,
        field="spec.locatoin",
    ),
    Problem(code="NotYaml", message="This is not YAML.", path="a.yaml"),
)


def report(*results, command="sync", problems=(), exit_code=0, **more):
    values = {
        "command": command,
        "revision": "0123456789abcdef0123456789abcdef01234567",
        "started": "2026-01-02T03:04:05Z",
        "finished": "2026-01-02T03:05:17Z",
        "exit_code": exit_code,
        "requests": RequestCounts(reads=4, writes=1, deletes=0, polls=2),
        "use": RequestUse(
            {"Microsoft.Network/virtualNetworks": {"get": 2, "list": 1}}, {"reads": 0.25, "writes": 0.001}
        ),
        "problems": tuple(problems),
        "results": tuple(results),
    }
    return build(Report, **values | more)


TARGET = RunTarget(
    repository="https://github.com/contoso/estate",
    revision="0123456789abcdef0123456789abcdef01234567",
    ref="main",
    subscription="0000",
    subscription_name="Contoso Production",
    endpoint="https://management.azure.com",
    identity="client-secret (client 1111, object 2222, tenant 3333)",
    agent="gitsync",
)

FULL = report(IN_SYNC, DRIFTED, REFUSED, ORPHAN, problems=PROBLEMS, exit_code=1, target=TARGET)
PLAN = replace(FULL, command="plan", revision=None, target=replace(TARGET, revision=None), exit_code=4, problems=())


def record(of, condition=READY, **more):
    values = {
        "key": of,
        "api_version": f"{of.group}/v1api20200601",
        "arm_id": f"{GROUP_ID}/{of.name}",
        "arm_api_version": "2020-06-01",
        "claim": Claim.CREATED,
        "condition": condition,
    }
    return build(Record, **values | more)


RECORDS = (
    record(key("ResourceGroup", "core")),
    record(
        key("VirtualNetwork", "hub", NET),
        failed("Reconciling", "The resource is being reconciled", Severity.INFO),
        claim=Claim.EXPECTED,
        operation=PendingOperation("create", "2026-01-02T03:04:05Z"),
        owner=key("ResourceGroup", "core"),
    ),
    record(key("Vault", "kv", "keyvault.azure.com", "sec"), None, claim=Claim.NONE, policy=Policy.SKIP),
)


RUN_END = RunEnd(
    command="sync",
    agent="gitsync",
    source="https://git.example.com/landing-zone",
    status="",
    started_at=datetime(2026, 5, 1, 10, tzinfo=UTC),
    ended_at=datetime(2026, 5, 1, 10, 1, 30, tzinfo=UTC),
    started=1000.0,
    exit_code=0,
    is_success=True,
    is_complete=True,
    report=None,
    visits={},
)
