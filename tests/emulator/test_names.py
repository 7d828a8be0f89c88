"""Names that only one resource in Azure can have: the checks about them, and what the PUT then gets."""

import pytest

from gitsync.emulator.settings import EmulatedPrincipal, EmulatorSettings, TakenName
from gitsync.emulator.state.deleted_resources import ConfiguredDeletion
from gitsync.emulator.types.names import UNIQUE_NAMES
from tests.emulator.asked import GROUP, SUBSCRIPTION, at, emulated

PROVIDERS = f"{SUBSCRIPTION}/providers"
ELSEWHERE = GROUP.replace("0001", "0002")
TYPES = sorted(row.type for row in UNIQUE_NAMES.values())


def taking(*names, **more):
    return EmulatorSettings(
        limits=None, taken_names=tuple(TakenName(type=kind, name=name) for kind, name in names), **more
    )


def body_with(unique, name):
    """The body of a resource of which the name is `name`, if its body has it."""
    body = {"location": "westeurope"}
    for word in reversed(unique.held):
        name = {word: name}
    return {**body, **(name if unique.held else {})}


async def query_for(azure, unique, name):
    """Whether a name is free, as the check of its type reports it."""
    namespace = unique.type.split("/")[0]
    if unique.check == "databaseAccountNames":
        return (await azure.send_request("HEAD", f"/providers/{namespace}/databaseAccountNames/{name}")).status == 404
    if unique.check == "CheckDnsNameAvailability":
        path = f"{PROVIDERS}/{namespace}/locations/westeurope/{unique.check}?{unique.member}={name}"
        return (await azure.get(path)).body["available"]
    body = {unique.member: name, **({"type": unique.type} if unique.is_typed else {})}
    reply = await azure.send_request("POST", f"{PROVIDERS}/{namespace}/{unique.check}", body)
    return reply.body[unique.flag] if unique.flag else reply.status == 200


@pytest.mark.parametrize("kind", TYPES)
async def test_what_the_question_says_is_what_the_put_gets(kind):
    """The same table answers and refuses: for a name that somebody has, one of the wrong form, and a free one."""
    unique = UNIQUE_NAMES[kind.casefold()]
    names = kind.split("/")[1:]
    async with emulated(taking((kind, "taken12"), strict_names=True), has_group=True) as azure:
        for parent in range(1, len(names)):
            await azure.put(at("/".join(kind.split("/")[: parent + 1]), *["p"] * parent))
        for name, code in (("taken12", unique.code), ("wrong!_", unique.wrong), ("free12", "")):
            resource = at(kind, *["p"] * (len(names) - 1), "any" if unique.held else name)
            is_free = await query_for(azure, unique, name)
            reply = await azure.put(resource, body_with(unique, name))
            assert is_free == (code == ""), (kind, name)
            assert reply.status in {200, 201, 202} if not code else reply.code == code, (kind, name)


ANSWERS = [
    ("Storage", "checkNameAvailability", "storageAccounts", {"nameAvailable": True}, "a free name, in a word"),
    (
        "ApiManagement",
        "checkNameAvailability",
        "",
        {"nameAvailable": True, "reason": "Valid", "message": ""},
        "a free name is Valid",
    ),
    (
        "EventHub",
        "checkNameAvailability",
        "",
        {"nameAvailable": True, "reason": "None", "message": None},
        "a free name has a reason",
    ),
    (
        "DBforMySQL",
        "locations/westeurope/checkNameAvailability",
        "flexibleServers",
        {"nameAvailable": True, "message": ""},
        "by region",
    ),
    (
        "Sql",
        "checkNameAvailability",
        "servers",
        {"available": True, "name": "free12"},
        "another flag, and the name again",
    ),
    (
        "Web",
        "checknameavailability",
        "sites",
        {"nameAvailable": True, "reason": "", "message": ""},
        "empty words, as recorded",
    ),
]


@pytest.mark.parametrize(("namespace", "path", "kind", "answer", "why"), ANSWERS, ids=[row[-1] for row in ANSWERS])
async def test_a_free_name_is_said_in_the_form_of_its_provider(azure, namespace, path, kind, answer, why):
    body = {"name": "free12", **({"type": f"Microsoft.{namespace}/{kind}"} if kind else {})}
    reply = await azure.send_request("POST", f"{PROVIDERS}/Microsoft.{namespace}/{path}", body)
    assert (reply.status, reply.body) == (200, answer), why


async def test_a_taken_name_is_said_in_the_words_that_were_recorded():
    async with emulated(
        taking(("Microsoft.Storage/storageAccounts", "taken1"), ("Microsoft.KeyVault/managedHSMs", "taken1"))
    ) as azure:
        storage = await azure.send_request(
            "POST",
            f"{PROVIDERS}/Microsoft.Storage/checkNameAvailability",
            {"name": "taken1", "type": "Microsoft.Storage/storageAccounts"},
        )
        hsm = await azure.send_request(
            "POST", f"{PROVIDERS}/Microsoft.KeyVault/checkMhsmNameAvailability", {"name": "taken1"}
        )
    assert storage.body == {
        "nameAvailable": False,
        "reason": "AlreadyExists",
        "message": "The storage account named taken1 is already taken.",
    }
    assert hsm.body["message"] == "The name 'taken1' is already in use."


async def test_a_name_of_the_wrong_form_is_no_taken_name():
    async with emulated(EmulatorSettings(limits=None, strict_names=True)) as azure:
        body = {"name": "Ab", "type": "Microsoft.Storage/storageAccounts"}
        reply = await azure.send_request("POST", f"{PROVIDERS}/Microsoft.Storage/checkNameAvailability", body)
    assert (reply.body["nameAvailable"], reply.body["reason"]) == (False, "AccountNameInvalid")


VAULT = at("Microsoft.KeyVault/vaults", "held12")
VAULT_CHECK = {"name": "held12", "type": "Microsoft.KeyVault/vaults"}


async def test_a_vault_that_was_deleted_in_another_subscription_holds_its_name():
    deleted = ConfiguredDeletion(id=VAULT.replace(GROUP, ELSEWHERE), location="westeurope")
    async with emulated(EmulatorSettings(limits=None, deleted=(deleted,)), has_group=True) as azure:
        listed = await azure.get(f"{PROVIDERS}/Microsoft.KeyVault/deletedVaults")
        requested = await azure.send_request(
            "POST", f"{PROVIDERS}/Microsoft.KeyVault/checkNameAvailability", VAULT_CHECK
        )
        reply = await azure.put(VAULT)
    assert (listed.body["value"], requested.body["reason"], reply.code) == ([], "AlreadyExists", "VaultAlreadyExists")


async def test_the_subdomain_of_an_account_is_held_by_a_deleted_one():
    account = at("Microsoft.CognitiveServices/accounts", "one")
    body = {"location": "westeurope", "properties": {"customSubDomainName": "sub12"}}
    async with emulated(taking(), has_group=True) as azure:
        await azure.made(account, body)
        await azure.delete(account)
        reply = await azure.put(account.replace("/one", "/two"), body)
    assert (reply.status, reply.code) == (409, "CustomDomainInUse")


USED = [
    (False, True, 201, "usually the emulator lets two resources have one name"),
    (True, False, 409, "strict names are those of one resource"),
]


@pytest.mark.parametrize(("is_strict", "is_free", "status", "why"), USED, ids=[row[-1] for row in USED])
async def test_a_name_that_is_used(is_strict, is_free, status, why):
    async with emulated(EmulatorSettings(limits=None, strict_names=is_strict), has_group=True) as azure:
        await azure.put(ELSEWHERE)
        await azure.made(VAULT)
        again = await azure.put(VAULT)
        requested = await azure.send_request(
            "POST", f"{PROVIDERS}/Microsoft.KeyVault/checkNameAvailability", VAULT_CHECK
        )
        reply = await azure.put(VAULT.replace(GROUP, ELSEWHERE))
    assert again.status == 200, "it has its own name"
    assert (requested.body["nameAvailable"], reply.status) == (is_free, status), why


WRONG = [
    ({"type": "Microsoft.Storage/storageAccounts"}, "a name is needed"),
    ({"name": "free12"}, "the type too"),
    ({"name": "free12", "type": "Microsoft.Web/sites"}, "the type is that of the question"),
    ([], "it is an object"),
]


@pytest.mark.parametrize(("body", "why"), WRONG, ids=[row[-1] for row in WRONG])
async def test_a_wrong_question_is_refused(azure, body, why):
    reply = await azure.send_request("POST", f"{PROVIDERS}/Microsoft.Storage/checkNameAvailability", body)
    assert (reply.status, reply.code) == (400, "InvalidRequestContent"), why


RIGHTS = [
    ("Storage/checkNameAvailability", "storageAccounts", 200, "a read, although it is a POST"),
    ("AppConfiguration/locations/westeurope/checkNameAvailability", "configurationStores", 200, "by region as well"),
    ("EventHub/checkNameAvailability", "namespaces", 403, "an action"),
    ("CognitiveServices/checkDomainAvailability", "accounts", 403, "an action"),
]


@pytest.mark.parametrize(("path", "kind", "status", "why"), RIGHTS, ids=[row[-1] for row in RIGHTS])
async def test_a_reader_asks_what_a_reader_may(path, kind, status, why):
    reader = EmulatedPrincipal(client="reader", object="reader", secret="s", read_only=True)
    async with emulated(EmulatorSettings(limits=None, require_token=True, principals=(reader,))) as azure:
        azure.headers = {"Authorization": f"Bearer {azure.emulator.tokens.token(reader)}"}
        body = {"name": "free12", "subdomainName": "free12", "type": f"Microsoft.{path.split('/')[0]}/{kind}"}
        reply = await azure.send_request("POST", f"{PROVIDERS}/Microsoft.{path}", body)
    assert reply.status == status, why
    if status == 403:
        assert f"'Microsoft.{path}/action'" in reply.message


async def test_a_provider_must_be_registered():
    async with emulated(EmulatorSettings(limits=None, unregistered=("Microsoft.KeyVault",))) as azure:
        reply = await azure.send_request("POST", f"{PROVIDERS}/Microsoft.KeyVault/checkNameAvailability", VAULT_CHECK)
    assert (reply.status, reply.code) == (409, "MissingSubscriptionRegistration")
