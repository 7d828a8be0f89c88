"""Which status codes of reads are reported as a missing right: those that refuse the identity, 401 and 403, and no
other.

All commands that read Azure are given the same answer to every read of a kind.
"""

import copy
import json

import pytest

from gitsync.emulator.faults import Canned, FaultRule, Match
from gitsync.providers.arm.http.failures import make_arm_error
from gitsync.providers.arm.http.messages import ArmRequest, Response
from gitsync.providers.entra.graph_requests import make_read
from gitsync.providers.entra.group_conversion import SECURITY_GROUP
from tests.support.command_line import azure, run_here
from tests.support.filled_store import fill
from tests.support.world import SUBSCRIPTION

ROOT = f"/subscriptions/{SUBSCRIPTION}"
SHOP = f"{ROOT}/resourceGroups/shop"
PLAN = f"{SHOP}/providers/Microsoft.Web/serverFarms/plan"
MANIFESTS = """\
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {name: shop}
spec: {location: westeurope}
---
apiVersion: web.azure.com/v1api20220301
kind: ServerFarm
metadata: {name: plan}
spec: {location: westeurope, owner: {name: shop}, sku: {name: B1}}
"""
NEW = MANIFESTS.replace("name: plan", "name: another")
ENTRA = """\
apiVersion: entra.azure.com/v1
kind: SecurityGroup
metadata: {name: admins}
spec: {displayName: Admins, mailNickname: admins, operatorSpec: {creationMode: AdoptOrCreate}}
"""


def make_arm_request():
    accepts = frozenset({200})
    return ArmRequest(method="GET", path=SHOP, target=f"{SHOP}?api-version=1", resource_id=SHOP, accepts=accepts)


def make_graph_request():
    return make_read(
        SECURITY_GROUP, "/providers/Microsoft.Graph/groups/default.a", "00000000-0000-4000-8000-000000000001"
    )


DENIED = f"The client does not have authorization to perform action 'x/read' over scope '{SHOP}'."
HINTS = ("grant", "missing", "the rights of", "no right", "not allowed", "reader", "permission")
REFUSES_IDENTITY = {401, 403}
STATUSES = [400, 401, 403, 404, 405, 409]

COMMANDS = {
    "plan": (["plan"], "*", MANIFESTS),
    "plan of a group of Entra ID": (["plan"], "/v1.0/*", ENTRA),
    "plan with authors": (["plan", "--who=names"], "*/eventtypes/*", MANIFESTS),
    "plan with checks": (["plan", "--checks=locks,policy,names"], "*/locks", NEW),
    # A resource that does not show after its create is waited for, so the time is limited.
    "sync": (["sync", "--yes", "--status-dir=status", "--resource-timeout=10s"], "*", MANIFESTS),
    "doctor": (["doctor"], "*", MANIFESTS),
    "import of a group": (["import", "--out=out", "--resource-group=shop"], "*", MANIFESTS),
    "import of an id": (["import", "--out=out", PLAN], "*serverfarms/plan", MANIFESTS),
    "unmanaged": (["unmanaged"], "*/locks", MANIFESTS),
    "unmanaged of all": (["unmanaged"], "*", MANIFESTS),
}


@pytest.fixture(scope="module")
def shop():
    return fill({SHOP: {"location": "westeurope"}, PLAN: {"location": "westeurope"}})


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize(("command", "path", "manifests"), COMMANDS.values(), ids=COMMANDS)
def test_a_read_that_fails_is_a_missing_right_only_if_the_identity_is_refused(
    shop, tmp_path, command, path, manifests, status
):
    (tmp_path / "a.yaml").write_text(manifests)
    body = {"error": {"code": "Unlikely", "message": DENIED}}
    rule = FaultRule(match=Match(methods=("GET", "POST"), path=path), answer=Canned(status=status, body=body))
    with azure(copy.deepcopy(shop), rules=(rule,)) as served:
        done = run_here(*command, folder=tmp_path, **served.variables)
    said = (done.out + done.err).casefold()
    assert "internal error" not in said
    assert "are required" not in said
    assert "expected" not in said
    if status not in REFUSES_IDENTITY:
        assert [hint for hint in HINTS if hint in said] == []


@pytest.mark.parametrize("code", ["AuthorizationFailed", "Forbidden", "BadRequest", "Authorization_RequestDenied"])
@pytest.mark.parametrize("make", [make_arm_request, make_graph_request])
@pytest.mark.parametrize("status", [400, 404, 405, 409, 429, 500])
def test_an_error_names_a_missing_right_only_if_the_identity_is_refused(make, status, code):
    answer = Response(status=status, content=json.dumps({"error": {"code": code, "message": DENIED}}).encode())
    error = make_arm_error(answer, make(), "2026-03-01T12:00:00Z")
    assert error.hint == ""
