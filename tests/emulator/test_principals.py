"""Several principals at one Azure: whose token it is, and what each may do."""

import base64
import json
from dataclasses import replace

import pytest

from gitsync.emulator.settings import ANONYMOUS, TENANT, Denial, EmulatedPrincipal, read_settings
from tests.emulator.asked import GROUP, OPEN, SUBSCRIPTION, at, emulated

ELSEWHERE = "22222222-2222-4222-8222-222222222222"
ANYWHERE = EmulatedPrincipal(client="anywhere", object="object-anywhere", secret="one")
THERE = EmulatedPrincipal(client="there", object="object-there", secret="two", tenant=ELSEWHERE)
SCRIPT = """
settings:
  throttle: off
  requireToken: true
  principals:
    - {clientId: strong, objectId: object-strong, secret: one}
    - {clientId: weak, objectId: object-weak, secret: two, tenantId: 22222222-2222-4222-8222-222222222222}
  denied:
    - {principal: weak}
"""


async def signed_in(azure, principal, tenant, secret=None):
    form = {"grant_type": "client_credentials", "scope": "https://management.azure.com/.default"}
    form |= {"client_id": principal.client, "client_secret": secret or principal.secret}
    async with azure.session.post(f"{azure.emulator.url}/{tenant}/oauth2/v2.0/token", data=form) as answer:
        return answer.status, await answer.json()


SIGN_INS = [
    (ANYWHERE, TENANT, None, 200, TENANT, "at the emulator's own tenant"),
    (ANYWHERE, ELSEWHERE, None, 200, ELSEWHERE, "at another, for which the token then is"),
    (ANYWHERE, "organizations", None, 200, TENANT, "at no tenant in particular"),
    (THERE, ELSEWHERE, None, 200, ELSEWHERE, "where it is known"),
    (THERE, TENANT, None, 400, "AADSTS700016", "where it is not"),
    (THERE, ELSEWHERE, "wrong", 401, "AADSTS7000215", "with a wrong secret"),
    (
        EmulatedPrincipal(client="nobody", object="x", secret="x"),
        TENANT,
        None,
        400,
        "AADSTS700016",
        "as nobody we know",
    ),
]


@pytest.mark.parametrize(
    ("principal", "tenant", "secret", "status", "told", "why"), SIGN_INS, ids=[row[-1] for row in SIGN_INS]
)
async def test_somebody_signs_in(principal, tenant, secret, status, told, why):
    settings = replace(OPEN, require_token=True, principals=(ANYWHERE, THERE))
    async with emulated(settings) as azure:
        given, body = await signed_in(azure, principal, tenant, secret)
    assert given == status, why
    if status != 200:
        assert body["error_description"].startswith(told + ":")
        return
    claims = json.loads(base64.urlsafe_b64decode(body["access_token"].split(".")[1] + "=="))
    assert (claims["appid"], claims["tid"], claims["iss"]) == (
        principal.client,
        told,
        f"https://sts.windows.net/{told}/",
    )


async def test_the_log_says_for_whom_a_token_was_issued():
    settings = replace(OPEN, require_token=True, principals=(THERE,))
    async with emulated(settings) as azure:
        _, body = await signed_in(azure, THERE, ELSEWHERE)
        await azure.get(GROUP, Authorization=f"Bearer {body['access_token']}")
        entry = azure.emulator.requests[-1]
        assert entry.summary()["client"] == entry.client
        assert (entry.client, entry.tenant, entry.actor) == ("there", ELSEWHERE, "object-there")


async def test_a_script_can_say_that_one_client_may_do_nothing(tmp_path):
    script = tmp_path / "script.yaml"
    script.write_text(SCRIPT)
    settings = read_settings(script)
    async with emulated(settings) as azure:
        replies = []
        for principal in settings.principals:
            _, body = await signed_in(azure, principal, principal.tenant or TENANT)
            token = f"Bearer {body['access_token']}"
            replies += [await azure.put(GROUP, Authorization=token), await azure.get(GROUP, Authorization=token)]
        *strong, written, read = replies
    assert [reply.status for reply in strong] == [201, 200]
    assert [reply.status for reply in (written, read)] == [403, 403]
    assert written.code == "AuthorizationFailed"
    assert written.message == (
        "The client 'weak' with object id 'object-weak' does not have authorization to perform action "
        f"'Microsoft.Resources/subscriptions/resourceGroups/write' over scope '{GROUP}' or the scope is invalid. If access was "
        "recently granted, please refresh your credentials."
    )


ACTION = "Microsoft.Storage/storageAccounts/listKeys/action"
ACCOUNT = at("Microsoft.Storage/storageAccounts", "st")
DENIALS = [
    (Denial(action=ACTION), 403, 200, "a Reader sees the account and not its keys"),
    (Denial(scope=f"{SUBSCRIPTION}/resourceGroups/other"), 200, 200, "no rights elsewhere"),
    (Denial(principal="somebody-else"), 200, 200, "somebody else has none"),
]


@pytest.mark.parametrize(("denial", "keys", "read", "why"), DENIALS, ids=[row[-1] for row in DENIALS])
async def test_keys_may_be_refused_where_the_resource_may_be_read(denial, keys, read, why):
    async with emulated(replace(OPEN, denied=(denial,)), has_group=True) as azure:
        azure.emulator.put(ACCOUNT, {"location": "westeurope"})
        requested, seen = await azure.send_request("POST", f"{ACCOUNT}/listKeys"), await azure.get(ACCOUNT)
    assert (requested.status, seen.status) == (keys, read), why
    if keys == 403:
        assert f"perform action '{ACTION}' over scope '{ACCOUNT}'" in requested.message


PROVIDER = f"{SUBSCRIPTION}/providers/Microsoft.Storage"
ROLES = [
    (("*",), (), "GET", ACCOUNT, 200, "a role with every action"),
    (("Microsoft.Storage/storageAccounts/read",), (), "GET", ACCOUNT, 200, "one that reads the type"),
    (("microsoft.storage/*/READ",), (), "GET", ACCOUNT, 200, "case does not count, and * stands for any text"),
    (("Microsoft.Storage/storageAccounts/read",), (), "POST", f"{ACCOUNT}/listKeys", 403, "reads list no keys"),
    ((ACTION,), (), "POST", f"{ACCOUNT}/listKeys", 200, "the action of the keys"),
    ((ACTION,), (), "GET", ACCOUNT, 403, "which is no read"),
    (("*",), (GROUP,), "GET", ACCOUNT, 200, "at the group"),
    (("*",), (f"{GROUP}2",), "GET", ACCOUNT, 403, "at another group, whose name begins alike"),
    (("*",), (GROUP,), "GET", f"{SUBSCRIPTION}/resourceGroups", 403, "a role at a group says nothing of its subscription"),
    (("*",), (GROUP,), "GET", SUBSCRIPTION, 200, "which is seen all the same"),
    (("*/read",), (GROUP,), "GET", "/providers/Microsoft.Authorization/roleDefinitions", 200, "as the tenant's lists are"),
    ((), (), "GET", f"{SUBSCRIPTION}/providers/Microsoft.Authorization/permissions", 200, "and the own permissions"),
    (("Microsoft.Resources/subscriptions/providers/read",), (), "GET", PROVIDER, 200, "a provider's metadata"),
    (("Microsoft.Storage/register/action",), (), "POST", f"{PROVIDER}/register", 200, "its registration"),
    (("Microsoft.Resources/subscriptions/resourceGroups/resources/read",), (), "GET", f"{GROUP}/resources", 200, "a list of a group"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("actions", "scopes", "method", "path", "status", "why"), ROLES, ids=[row[-1] for row in ROLES]
)
async def test_a_principal_may_do_what_its_role_says(actions, scopes, method, path, status, why):
    anonymous = EmulatedPrincipal(client=ANONYMOUS, object=ANONYMOUS, actions=actions, scopes=scopes)
    async with emulated(replace(OPEN, principals=(anonymous,))) as azure:
        azure.emulator.put(GROUP, {"location": "westeurope"})
        azure.emulator.put(ACCOUNT, {"location": "westeurope"})
        assert (await azure.send_request(method, path)).status == status, why


@pytest.mark.parametrize(("reads", "shown"), [("*/read", 1), ("Microsoft.Network/*/read", 0)])
async def test_a_list_of_a_group_shows_what_the_caller_may_read(reads, shown):
    lists = "Microsoft.Resources/subscriptions/resourceGroups/resources/read"
    anonymous = EmulatedPrincipal(client=ANONYMOUS, object=ANONYMOUS, actions=(reads, lists))
    async with emulated(replace(OPEN, principals=(anonymous,))) as azure:
        azure.emulator.put(GROUP, {"location": "westeurope"})
        azure.emulator.put(ACCOUNT, {"location": "westeurope"})
        reply = await azure.get(f"{GROUP}/resources")
    assert len(reply.body["value"]) == shown


def test_a_script_gives_a_principal_a_role(tmp_path):
    script = tmp_path / "script.yaml"
    script.write_text('settings:\n  principals: [{clientId: a, actions: ["*/read"], scopes: [/subscriptions/x]}]\n')
    [principal] = read_settings(script).principals
    assert (principal.actions, principal.scopes) == (("*/read",), ("/subscriptions/x",))
