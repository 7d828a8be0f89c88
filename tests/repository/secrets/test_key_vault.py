"""Key Vault as a source and as a sink, over TLS, with the SDK's own sign-in."""

import asyncio
import subprocess
import sys
from contextlib import asynccontextmanager
from dataclasses import replace
from types import SimpleNamespace

import pytest

from gitsync.errors import ArmError, AuthorityError, ConfigError, ExportError, SecretStoreError, TransientStoreError
from gitsync.model.export import Address, Export, ObjectKind, Owner
from gitsync.model.gvk import Key
from gitsync.model.secret import Secret
from gitsync.model.signin import Method, SignIn
from gitsync.providers.arm.auth.arm_access import ArmAccess, Network
from gitsync.providers.arm.auth.credentials import open_credential
from gitsync.providers.arm.cloud import make_cloud
from gitsync.providers.arm.http.connection import open_connection
from gitsync.repository.secrets.export_sinks import ExportSinks
from gitsync.repository.secrets.keyvault.index import OWNER, make_secret_name, make_tags, make_vault_key
from gitsync.repository.secrets.keyvault.key_vault import open_key_vault
from gitsync.repository.secrets.protocols import ExportNeeds
from gitsync.repository.secrets.sinks.status import KeptConfigMaps
from tests.support import private_ca
from tests.support.arm_rig import TENANT, StaticCredential
from tests.support.fake_clock import START, FakeClock
from tests.support.fake_key_vault import SAID, FakeKeyVault, Fault
from tests.support.memory_places import MemorySink
from tests.support.scripted_server import Say, serving

REDIS = Key("cache.azure.com", "Redis", "default", "cache")
OTHER = Key("cache.azure.com", "Redis", "default", "other")
DB = Address(ObjectKind.SECRET, "default", "db")
DOTTED = Address(ObjectKind.SECRET, "default", "my.db")
NOW = int(START.timestamp())
PLAIN = "default--db--password"
MARKED = "marked-secret-value"


@pytest.fixture(scope="module")
def ca(tmp_path_factory):
    return private_ca.make(tmp_path_factory.mktemp("ca"))


@asynccontextmanager
async def opened(ca, credential=None, **options):
    clock = FakeClock()
    async with (
        FakeKeyVault(ca.tls, **options) as fake,
        open_connection(Network(ca_bundle=ca.bundle)) as way,
        open_key_vault(fake.url, credential or StaticCredential(), way, clock) as vault,
    ):
        yield SimpleNamespace(fake=fake, vault=vault, clock=clock)


@pytest.fixture
async def rig(ca):
    async with opened(ca) as rig:
        yield rig


def export(address=DB, owner=REDIS, **data):
    return Export(address=address, owner=Owner(owner), data={key: Secret(value) for key, value in data.items()})


def plain(found):
    return None if found is None else {key: value.reveal() for key, value in found.items()}


def tagged(address, key, owner=None):
    tags = make_tags(make_vault_key(address, key), owner or REDIS)
    return tags if owner else {name: value for name, value in tags.items() if name != OWNER}


# reading


async def test_a_secret_that_a_person_made_is_read_by_its_name_with_one_request(rig):
    rig.fake.make(PLAIN, "hunter2")
    assert plain(await rig.vault.read(DB, ["password"])) == {"password": "hunter2"}
    assert rig.fake.lines() == ["GET /secrets/default--db--password"]


async def test_a_secret_of_any_name_is_found_by_its_tags(rig):
    rig.fake.make("legacy", "id", tagged(DOTTED, "AZURE_CLIENT_ID"))
    rig.fake.make("zoo", "bear")
    assert plain(await rig.vault.read(DOTTED, ["AZURE_CLIENT_ID"])) == {"AZURE_CLIENT_ID": "id"}


async def test_a_whole_object_is_every_key_by_name_and_by_tag(rig):
    rig.fake.make("Default--DB--Password", "one")
    rig.fake.make("any", "two", tagged(DB, "userName"))
    rig.fake.make("default--db2--password", "not this")
    rig.fake.make("default--db--Broken_key--0123456789abcdef", "nor this")
    assert plain(await rig.vault.read(DB, [])) == {"password": "one", "userName": "two"}


@pytest.mark.parametrize(
    ("address", "keys", "expected", "why"),
    [
        (DB, ["password"], {}, "the object is there, the key is not"),
        (DOTTED, ["password"], None, "nothing is there"),
        (DOTTED, [], None, "nothing is there"),
        (replace(DB, object_kind=ObjectKind.CONFIG_MAP), ["user"], None, "Key Vault has no config maps"),
    ],
)
async def test_what_is_absent_is_absent(rig, address, keys, expected, why):
    rig.fake.make("default--db--user", "sa")
    assert plain(await rig.vault.read(address, keys)) == expected, why


async def test_the_list_is_asked_for_once_in_all_its_pages(rig):
    for number in range(5):
        rig.fake.make(f"secret{number}", "x")
    await asyncio.gather(rig.vault.read(DB, ["b"]), rig.vault.read(DOTTED, []))
    await rig.vault.read(DB, ["a"])
    assert rig.fake.lines().count("GET /secrets") == 3


@pytest.mark.parametrize(
    ("attributes", "words", "why"),
    [
        ({"enabled": False}, "It is disabled", "Key Vault does not show it"),
        ({"exp": NOW - 1}, "has expired", "Key Vault shows it all the same"),
        ({"nbf": NOW + 60}, "is not valid yet", "as above"),
        (
            {"tags": tagged(DOTTED, "x")},
            "is tagged for default/my.db, key x",
            "its name says one thing, its tags another",
        ),
    ],
)
async def test_a_secret_that_may_not_be_used_is_an_error(rig, attributes, words, why):
    rig.fake.make(PLAIN, MARKED, **attributes)
    with pytest.raises(SecretStoreError, match=words) as failed:
        await rig.vault.read(DB, ["password"])
    assert PLAIN in str(failed.value)
    assert MARKED not in str(failed.value)


@pytest.mark.parametrize("inner_codes", [True, False])
async def test_a_disabled_secret_is_no_missing_role(ca, inner_codes):
    async with opened(ca, inner_codes=inner_codes) as rig:
        rig.fake.make(PLAIN, MARKED, enabled=False)
        rig.fake.make("legacy", MARKED, tagged(DB, "userName"), enabled=False)
        for key in ("password", "userName"):
            with pytest.raises(SecretStoreError, match="is disabled") as failed:
                await rig.vault.read(DB, [key])
            assert "Enable or remove it" in failed.value.hint
            assert "role" not in str(failed.value)


async def test_a_refusal_without_a_code_is_a_missing_role_unless_it_is_disabled(rig):
    rig.fake.make(PLAIN, MARKED)
    rig.fake.fail("GET", f"/secrets/{PLAIN}", Fault(403), Fault(403))
    with pytest.raises(SecretStoreError, match="`Key Vault Secrets User`"):
        await rig.vault.read(DB, ["password"])
    rig.fake.fail("GET", "/secrets", Fault(403))
    with pytest.raises(SecretStoreError, match="`Key Vault Secrets User`"):
        await rig.vault.read(DB, ["password"])


async def test_a_secret_that_is_valid_now_is_read(rig):
    rig.fake.make(PLAIN, "v", exp=NOW + 60, nbf=NOW - 60)
    assert plain(await rig.vault.read(DB, ["password"])) == {"password": "v"}


@pytest.mark.parametrize(
    ("address", "key", "names", "keys", "why"),
    [
        (DOTTED, "k", ["one", "two"], ["k"], "neither has the name"),
        (DB, "password", [PLAIN, "two"], ["password"], "one has the plain name"),
        (DB, "password", [PLAIN, "two"], [], "of a whole object"),
    ],
)
async def test_two_secrets_tagged_alike_are_an_error_that_names_both(rig, address, key, names, keys, why):
    for name in names:
        rig.fake.make(name, name, tagged(address, key))
    with pytest.raises(SecretStoreError, match=f"has several secrets tagged for .*: {', '.join(names)}"):
        await rig.vault.read(address, keys)


# refusals


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Fault(403, "ForbiddenByRbac"), "`Key Vault Secrets User`"),
        (Fault(403, "AccessDenied"), "`Key Vault Secrets User`"),
        (Fault(403, "ForbiddenByFirewall"), "firewall of the vault blocks this machine"),
        (Fault(401, "Unauthorized"), "does not accept the token"),
        (Fault(302, headers={"Location": "https://elsewhere.example/"}, raw="-"), "302 without a reason"),
        (Fault(200, raw="<html>"), "a response that is not JSON"),
        (Fault(200, raw="{}"), "a response that is not a secret"),
    ],
    ids=lambda value: f"{value.status} {value.code}" if isinstance(value, Fault) else "",
)
async def test_a_refusal_says_what_where_and_what_to_do(rig, fault, words):
    rig.fake.fail("GET", f"/secrets/{PLAIN}", fault)
    with pytest.raises(SecretStoreError) as failed:
        await rig.vault.read(DB, ["password"])
    assert words in str(failed.value)
    assert rig.fake.url in str(failed.value)
    assert (rig.clock.slept, len(rig.fake.lines())) == ([], 1)


@pytest.mark.parametrize(
    ("faults", "slept", "why"),
    [
        ([Fault(429, "TooManyRequests", headers={"Retry-After": "7"})], [7], "it said for how long"),
        ([Fault(503), Fault(500), Fault(504)], [1, 2, 4], "it may pass"),
        ([Fault(drop=True)], [1], "a connection breaks"),
    ],
)
async def test_what_may_pass_is_asked_again(rig, faults, slept, why):
    rig.fake.make(PLAIN, "v")
    rig.fake.fail("GET", f"/secrets/{PLAIN}", *faults)
    assert plain(await rig.vault.read(DB, ["password"])) == {"password": "v"}, why
    assert rig.clock.slept == slept


@pytest.mark.parametrize(
    ("fault", "requested", "why"),
    [
        (Fault(429, "TooManyRequests"), 7, "a bounded number of times"),
        (Fault(429, "TooManyRequests", headers={"Retry-After": "600"}), 1, "longer than anybody waits"),
        (Fault(drop=True), 7, "nobody is there, which is what a service that restarts looks like"),
    ],
)
async def test_what_does_not_pass_ends(rig, fault, requested, why):
    rig.fake.fail("GET", f"/secrets/{PLAIN}", *[fault] * 20)
    with pytest.raises(SecretStoreError):
        await rig.vault.read(DB, ["password"])
    assert len(rig.fake.lines()) == requested, why


NAMESPACES = [Address(ObjectKind.SECRET, f"team-{number}", "aso-credential") for number in range(5)]


@pytest.mark.parametrize(
    ("path", "fault", "slept", "requested", "why"),
    [
        ("/secrets", Fault(503), 47, 1 + 7, "its list is down"),
        ("/secrets", Fault(503, headers={"Retry-After": "25"}), 50, 1 + 3, "two waits are about a minute, not six"),
        ("/secrets", Fault(403, "ForbiddenByRbac"), 0, 5 + 1, "what is refused is not refused again"),
        ("", Fault(503), 47, 7, "all of it is down"),
        ("", Fault(drop=True), 47, 7, "it is not there"),
    ],
)
async def test_a_vault_that_fails_is_asked_once(rig, path, fault, slept, requested, why):
    names = [make_secret_name(make_vault_key(namespace, "AZURE_SUBSCRIPTION_ID")) for namespace in NAMESPACES]
    for secret_path in [path] if path else [f"/secrets/{name}" for name in names]:
        rig.fake.fail("GET", secret_path, *[fault] * 100)
    errors = []
    for address in NAMESPACES:
        with pytest.raises(SecretStoreError) as failed:
            await rig.vault.read(address, ["AZURE_SUBSCRIPTION_ID"])
        errors.append(str(failed.value))
    assert (sum(rig.clock.slept), len(rig.fake.lines())) == (slept, requested), why
    assert all(rig.fake.url in error for error in errors)
    assert "It is skipped for the rest of this run." not in errors[0]


async def test_namespaces_that_wait_together_wait_for_one_list(rig):
    rig.fake.fail("GET", "/secrets", *[Fault(503)] * 100)
    reads = [rig.vault.read(address, []) for address in NAMESPACES]
    errors = await asyncio.gather(*reads, return_exceptions=True)
    assert {type(error) for error in errors} <= {SecretStoreError, TransientStoreError}
    assert rig.fake.lines() == ["GET /secrets"] * 7


async def test_a_secret_that_is_not_recovered_yet_does_not_stand_for_its_vault(rig):
    rig.fake.make(PLAIN, "v")
    rig.fake.fail("PUT", "/secrets/default--db--other", *[Fault(409, "ObjectIsBeingRecovered")] * 100)
    with pytest.raises(SecretStoreError):
        await rig.vault.write(export(other=MARKED))
    assert plain(await rig.vault.read(DB, ["password"])) == {"password": "v"}


async def test_a_list_that_goes_on_elsewhere_is_not_followed(ca):
    async with FakeKeyVault(ca.tls) as other, opened(ca, link=other.url) as rig:
        for number in range(5):
            rig.fake.make(f"secret{number}", "x")
        with pytest.raises(SecretStoreError, match="continues on another host"):
            await rig.vault.read(DB, [])
        assert other.requests == []


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("{}", "no list"),
        ('{"value": null}', "null for a list"),
        ('{"value": {}}', "an object for a list"),
        ('{"value": 5}', "a number for a list"),
        ('{"value": ["password"]}', "names for secrets"),
        ('{"value": [null]}', "null for a secret"),
        ('{"value": [{"id": "https://vault/secrets/x", "attributes": 5}]}', "a number for attributes"),
        ('{"value": [{"id": "https://vault/secrets/x", "tags": ["a"]}]}', "a list for tags"),
        ('{"value": [], "nextLink": 5}', "a number for a link"),
        ('{"value": [], "nextLink": false}', "a boolean for a link"),
    ],
)
async def test_an_odd_list_is_not_an_empty_one(rig, said, why):
    rig.fake.fail("GET", "/secrets", *[Fault(status=200, raw=said)] * 3)
    with pytest.raises(SecretStoreError, match=r"returned (a response that is not|secret x in an unexpected shape)"):
        await rig.vault.read(DB, [])
    assert rig.fake.lines("PUT", "DELETE") == [], why


async def test_who_cannot_sign_in_is_told_why(ca):
    class Broken:
        async def get_token_info(self, *_scopes, options=None):
            raise ArmError("No token could be had.", hint="Sign in.")

    async with opened(ca, credential=Broken()) as rig:
        with pytest.raises(SecretStoreError, match=r"No token could be had\. Sign in\."):
            await rig.vault.read(DB, ["password"])
        assert rig.fake.lines() == []


async def test_a_source_without_a_token_just_now_is_asked_again(ca):
    class Recovering:
        failures = 2

        async def get_token_info(self, *_scopes, options=None):
            if self.failures:
                self.failures -= 1
                raise AuthorityError("It has none just now.", was_sent=False, has_answered=True)
            return await StaticCredential().get_token_info()

    async with opened(ca, credential=Recovering()) as rig:
        assert await rig.vault.read(DB, ["password"]) is None
        assert rig.clock.slept == [1, 2]


@asynccontextmanager
async def signed_in(ca, **options):
    """As the identity of a run, by azure-identity's client secret; the authority is `authority`."""
    clock = FakeClock()
    async with serving(ca.tls) as authority, FakeKeyVault(ca.tls, **options) as fake:
        granted = {"token_type": "Bearer", "expires_in": 3600, "access_token": "a-token"}
        authority.on("POST", f"/{TENANT}/oauth2/v2.0/token", Say(200, granted))
        who = SignIn(
            method=Method.CLIENT_SECRET, tenant_id=TENANT, client_id="client-id", client_secret=Secret("s3cret")
        )
        cloud = make_cloud("https://127.0.0.1:1", "https://arm.example", authority.url)
        access = ArmAccess(cloud=cloud, sign_in=who, network=Network(ca_bundle=ca.bundle))
        async with (
            open_connection(access.network) as way,
            open_credential(access, way, clock) as credential,
            open_key_vault(fake.url, credential, way, clock) as vault,
        ):
            yield SimpleNamespace(fake=fake, vault=vault, authority=authority)


async def test_the_identity_of_the_run_signs_in_for_the_audience_that_the_vault_asks_for(ca):
    async with signed_in(ca) as rig:
        rig.fake.make(PLAIN, "v")
        assert plain(await rig.vault.read(DB, ["password"])) == {"password": "v"}
        assert plain(await rig.vault.read(DB, ["password"])) == {"password": "v"}
        (requested,) = rig.authority.seen
        assert requested.body["scope"] == "https://vault.azure.net/.default"
        assert [requested.token for requested in rig.fake.requests] == ["", "a-token", "a-token"]


async def test_the_vault_of_a_tenant_that_was_not_allowed_gets_no_token(ca):
    async with signed_in(ca, tenant="another-tenant") as rig:
        with pytest.raises(SecretStoreError) as refused:
            await rig.vault.read(DB, ["password"])
        assert refused.value.message.endswith("not configured to acquire tokens for tenant another-tenant.")
        assert refused.value.hint.endswith("add another-tenant to --additional-tenants.")
        assert (rig.authority.seen, rig.fake.lines()) == ([], [])


async def test_nobody_in_particular_may_ask_an_emulator(ca):
    async with FakeKeyVault(ca.tls) as fake, open_connection(Network(ca_bundle=ca.bundle)) as way:
        fake.make(PLAIN, "v")
        async with open_key_vault(fake.url, None, way, FakeClock()) as vault:
            assert plain(await vault.read(DB, ["password"])) == {"password": "v"}


async def test_a_vault_that_asks_for_another_audience_gets_no_token(ca):
    """On another host than this machine; a local proxy replaces the way there."""

    class Elsewhere:
        def __init__(self, way, fake):
            self.transport = Redirected(way.transport, fake)

        def read_proxies(self, url):
            return {"https": f"http://proxy-for.example/{url}"}

    class Redirected:
        """The transport, which brings requests for the vault to the fake."""

        def __init__(self, transport, fake):
            self._transport, self._fake = transport, fake

        async def send(self, request, **options):
            assert options.pop("proxies") == {"https": "http://proxy-for.example/https://mine.vault.azure.net"}
            real, request.url = request.url, request.url.replace("https://mine.vault.azure.net", self._fake.url)
            try:
                return await self._transport.send(request, **options)
            finally:
                request.url = real

        async def __aenter__(self):
            return self

        async def __aexit__(self, *_):
            return None

    async def send_request(audience):
        credential = StaticCredential()
        async with (
            FakeKeyVault(ca.tls, audience=audience) as fake,
            open_connection(Network(ca_bundle=ca.bundle)) as way,
        ):
            fake.make(PLAIN, "v")
            url = "https://mine.vault.azure.net"
            async with open_key_vault(url, credential, Elsewhere(way, fake), FakeClock()) as vault:
                try:
                    await vault.read(DB, ["password"])
                finally:
                    assert len(credential.requested) == len(fake.lines())

    with pytest.raises(SecretStoreError, match="token for another audience"):
        await send_request("https://management.azure.com")
    await send_request("https://vault.azure.net")


# writing


@pytest.mark.parametrize(
    ("later", "said", "why"),
    [
        (export(db="\ud800"), "The value of db of Secret default/db is not text", "half of a pair of surrogates"),
        (export(owner=REDIS._replace(name="r" * 250), db="x"), "limits tags to 256 characters", "its owner is a tag"),
        (export(db="x" * 25_601), "limits values to 25600 bytes; default/db, key db is larger", "its own limit"),
        (export(db="\u00e9" * 12_801), "limits values to 25600 bytes", "bytes count, not characters"),
    ],
)
async def test_what_it_cannot_hold_is_told_before_anything_is_written(rig, later, said, why):
    with pytest.raises(SecretStoreError, match=said):
        rig.vault.examine([export(password="hunter2"), later])
    assert rig.fake.lines() == [], why


async def test_what_a_vault_cannot_hold_is_written_to_no_other_sink(rig):
    folder = MemorySink()
    export_sinks = ExportSinks((folder, rig.vault), {}, KeptConfigMaps({}))
    with pytest.raises(SecretStoreError, match="limits values to 25600 bytes"):
        await export_sinks.write([export(password="p"), export(DOTTED, kubeconfig="x" * 25_601)])
    assert (folder.objects, rig.fake.values) == ({}, {})
    await export_sinks.write([export(kubeconfig="x" * 25_600)])
    assert (len(folder.objects), len(rig.fake.values)) == (1, 1)


async def test_what_is_exported_is_tagged_and_read_back(rig):
    await rig.vault.write(export(password="p", primaryKey="k"))
    assert plain(await rig.vault.read(DB, [])) == {"password": "p", "primaryKey": "k"}
    assert rig.fake.kept(PLAIN).tags == {
        "gitsync-namespace": "default",
        "gitsync-name": "db",
        "gitsync-key": "password",
        "gitsync-owner": "Redis.cache.azure.com/default/cache",
    }
    assert await rig.vault.owner(DB) == str(REDIS)


async def test_what_is_the_same_gets_no_new_version(rig):
    await rig.vault.write(export(password="p", user="u"))
    await rig.vault.write(export(password="q", user="u"))
    assert rig.fake.kept(PLAIN).versions == 2
    assert rig.fake.kept("default--db--user").versions == 1
    assert rig.fake.lines("PUT") == [
        f"PUT /secrets/{PLAIN}",
        "PUT /secrets/default--db--user",
        f"PUT /secrets/{PLAIN}",
    ]


async def test_a_key_that_went_is_deleted_and_recovered_when_it_comes_back(ca):
    async with opened(ca, recovery=2) as rig:
        await rig.vault.write(export(password="p", user="u"))
        await rig.vault.write(export(user="u"))
        assert (rig.fake.values, rig.fake.deleted) == ({"default--db--user": "u"}, [PLAIN])
        await rig.vault.write(export(password="new", user="u"))
        assert (rig.fake.kept(PLAIN).value, rig.fake.deleted) == ("new", [])
        assert rig.clock.slept, "Key Vault takes a while to recover a secret"


async def test_a_deleted_secret_is_found_after_a_conflict_without_a_code_of_its_own(ca):
    async with opened(ca, inner_codes=False) as rig:
        await rig.vault.write(export(password="p", user="u"))
        await rig.vault.write(export(user="u"))
        await rig.vault.write(export(password="new", user="u"))
        assert (rig.fake.kept(PLAIN).value, rig.fake.deleted) == ("new", [])
        assert f"GET /deletedsecrets/{PLAIN}" in rig.fake.lines("GET")


@pytest.mark.parametrize(
    ("code", "puts"),
    [("", 1), ("SomethingElse", 1), ("ObjectIsBeingDeleted", 7)],
)
async def test_a_conflict_without_a_deleted_secret_is_told_as_it_is(rig, code, puts):
    rig.fake.fail("PUT", f"/secrets/{PLAIN}", *[Fault(409, code, "The name is busy.")] * 8)
    with pytest.raises(SecretStoreError, match=r"refused to write secret .* The name is busy\."):
        await rig.vault.write(export(password="p"))
    assert len(rig.fake.lines("PUT")) == puts
    assert rig.fake.lines("GET")[-1] == f"GET /deletedsecrets/{PLAIN}"


@pytest.mark.parametrize(
    ("prepare", "refused", "why"),
    [
        (lambda fake: None, None, "a secret that is not there yet"),
        (lambda fake: fake.make(PLAIN, "p", tagged(DB, "password", REDIS), enabled=False), None, "a disabled one"),
        (
            lambda fake: fake.fail("GET", "/secrets/default--db--check", Fault(403, "ForbiddenByRbac")),
            "Key Vault Secrets User",
            "the list is allowed, reading is not",
        ),
        (lambda fake: fake.fail("GET", "/secrets", Fault(403, "ForbiddenByRbac")), "Key Vault Secrets User", "no list"),
    ],
)
async def test_the_access_that_an_export_needs_is_checked_without_a_write(rig, prepare, refused, why):
    prepare(rig.fake)
    check = rig.vault.check_access(ExportNeeds(written=(DB,)))
    if refused is None:
        await check
    else:
        with pytest.raises(ConfigError) as failed:
            await check
        assert refused in failed.value.hint, why
    assert rig.fake.lines("PUT", "POST", "DELETE", "PATCH") == []


async def test_a_run_without_exports_of_secrets_reads_no_vault(rig):
    await rig.vault.check_access(ExportNeeds(written=(Address(ObjectKind.CONFIG_MAP, "default", "settings"),)))
    assert rig.fake.requests == []


async def test_a_certificate_of_another_authority_is_told_at_once(ca, tmp_path):
    other = private_ca.make(tmp_path)
    async with FakeKeyVault(other.tls) as fake, open_connection(Network(ca_bundle=ca.bundle)) as way:
        clock = FakeClock()
        async with open_key_vault(fake.url, StaticCredential(), way, clock) as vault:
            with pytest.raises(SecretStoreError, match=r"^The certificate of https://.* is not accepted: "):
                await vault.read(DB, ["password"])
        assert clock.slept == []


@pytest.mark.parametrize(
    ("line", "faults", "words"),
    [
        (f"POST /deletedsecrets/{PLAIN}/recover", [Fault(404, "SecretNotFound")], "no deleted secret"),
        (f"PUT /secrets/{PLAIN}", [Fault(409, "ObjectIsDeletedButRecoverable")] * 2, "has not recovered secret"),
        (f"GET /secrets/{PLAIN}", [Fault(404, "SecretNotFound")] * 8, "has not recovered secret"),
    ],
)
async def test_a_secret_that_does_not_come_back_is_an_error(rig, line, faults, words):
    await rig.vault.write(export(password="p", user="u"))
    await rig.vault.write(export(user="u"))
    rig.fake.fail(*line.split(), *faults)
    with pytest.raises(SecretStoreError, match=words):
        await rig.vault.write(export(password="p", user="u"))


async def test_a_key_that_went_by_itself_needs_no_deletion(rig):
    await rig.vault.write(export(password="p", user="u"))
    rig.fake.delete(PLAIN)
    await rig.vault.write(export(user="u"))
    assert rig.fake.values == {"default--db--user": "u"}


@pytest.mark.parametrize(
    ("tags", "why"),
    [
        ({}, "a person made it"),
        (tagged(DB, "password"), "a person tagged it"),
        (tagged(DOTTED, "password", REDIS), "it held something else"),
    ],
)
async def test_a_name_that_a_strangers_deleted_secret_keeps_is_an_error(rig, tags, why):
    rig.fake.make(PLAIN, "theirs", tags)
    rig.fake.delete(PLAIN)
    with pytest.raises(SecretStoreError, match="az keyvault secret recover"):
        await rig.vault.write(export(password="p"))
    assert rig.fake.deleted == [PLAIN], why


@pytest.mark.parametrize(
    ("tags", "owner", "why"),
    [
        ({}, "", "a person made it"),
        (tagged(DB, "password", OTHER), str(OTHER), "another resource exported it"),
    ],
)
async def test_what_is_somebody_elses_is_not_written(rig, tags, owner, why):
    rig.fake.make(PLAIN, "theirs", tags)
    assert await rig.vault.owner(DB) == owner, why
    with pytest.raises(SecretStoreError, match=r"does not belong to Redis\.cache\.azure\.com/default/cache, so"):
        await rig.vault.write(export(password="p", aaa="first"))
    assert rig.fake.values == {PLAIN: "theirs"}, "nothing is half exported"


@pytest.mark.parametrize(
    ("made", "owner", "why"),
    [
        ([], None, "nothing is there"),
        (
            [("default--db--password", tagged(DB, "password", REDIS)), ("default--db--user", {})],
            "",
            "half of it is ours",
        ),
        ([("x", tagged(DB, "a", REDIS)), ("y", tagged(DB, "b", REDIS))], str(REDIS), "all of it is ours"),
        ([("default--db2--a", {}), ("other", {})], None, "others are not it"),
    ],
)
async def test_who_owns_an_object(rig, made, owner, why):
    for name, tags in made:
        rig.fake.make(name, "v", tags)
    assert await rig.vault.owner(DB) == owner, why


async def test_a_refusal_names_the_parts_that_are_somebody_elses(rig):
    rig.fake.make(PLAIN, "ours", tagged(DB, "password", REDIS))
    rig.fake.make("default--db--user", "theirs", tagged(DB, "user", OTHER))
    rig.fake.make("legacy", "a person's", tagged(DB, "host"))
    with pytest.raises(ExportError) as refused:
        await ExportSinks((rig.vault,), {}, KeptConfigMaps({})).write([export(password="p")])
    assert refused.value.is_fatal
    assert refused.value.message == (
        "cannot overwrite Secret default/db which is not owned by Redis.cache.azure.com default/cache. "
        "Redis.cache.azure.com/default/other exports secret default--db--user of "
        f"{rig.fake.url}. No resource exports secret legacy of {rig.fake.url}"
    )
    assert rig.fake.values[PLAIN] == "ours"


async def test_a_name_that_is_tagged_for_another_key_is_not_written(rig):
    rig.fake.make(PLAIN, "theirs", tagged(DOTTED, "x", REDIS))
    with pytest.raises(SecretStoreError, match=r"tagged for default/my\.db, key x"):
        await rig.vault.write(export(password="p"))
    assert rig.fake.values == {PLAIN: "theirs"}


async def test_only_keys_of_its_own_are_deleted_and_once(rig):
    rig.fake.make("theirs", "t", tagged(DB, "a", OTHER))
    rig.fake.make("ours", "o", tagged(DB, "b", REDIS))
    for _ in range(2):
        await rig.vault.write(export(password="p"))
    assert rig.fake.lines("DELETE") == ["DELETE /secrets/ours"]
    assert rig.fake.values == {PLAIN: "p", "theirs": "t"}


async def test_a_secret_of_ours_that_was_given_an_end_is_written_anew(rig):
    rig.fake.make(PLAIN, "p", tagged(DB, "password", REDIS), exp=NOW + 60)
    await rig.vault.write(export(password="p"))
    assert rig.fake.kept(PLAIN).exp is None


async def test_a_secret_that_is_being_recovered_is_waited_for(rig):
    rig.fake.fail("PUT", f"/secrets/{PLAIN}", *[Fault(409, "ObjectIsBeingRecovered")] * 2)
    await rig.vault.write(export(password="p"))
    assert (rig.fake.values, rig.clock.slept) == ({PLAIN: "p"}, [1, 2])


async def test_what_kubernetes_would_not_name_so_is_not_asked_for(rig):
    with pytest.raises(SecretStoreError):
        await rig.vault.read(replace(DB, name="../db"), ["password"])
    with pytest.raises(SecretStoreError):
        await rig.vault.write(export(**{"a/b": "value"}))
    assert rig.fake.requests == []


@pytest.mark.parametrize("value", ["p", "another"])
async def test_an_export_that_somebody_disabled_is_not_enabled_again(rig, value):
    rig.fake.make(PLAIN, "p", tagged(DB, "password", REDIS), enabled=False)
    with pytest.raises(SecretStoreError, match=f"Secret {PLAIN} of .* is disabled. Enable or remove it"):
        await rig.vault.write(export(aaa="first", password=value))
    assert (rig.fake.values, rig.fake.kept(PLAIN).enabled) == ({PLAIN: "p"}, False), "nothing is half exported"


async def test_an_export_that_somebody_disabled_is_written_to_no_other_sink(rig):
    rig.fake.make(PLAIN, "p", tagged(DB, "password", REDIS), enabled=False)
    folder = MemorySink()
    with pytest.raises(SecretStoreError, match="is disabled"):
        await ExportSinks((folder, rig.vault), {}, KeptConfigMaps({})).write([export(password="q")])
    assert folder.objects == {}


async def test_a_deleted_export_that_was_disabled_is_not_enabled_again(rig):
    rig.fake.make(PLAIN, "p", tagged(DB, "password", REDIS), enabled=False)
    rig.fake.delete(PLAIN)
    with pytest.raises(SecretStoreError, match="a deleted secret that is disabled"):
        await rig.vault.write(export(password="p"))
    assert rig.fake.deleted == [PLAIN]


async def test_a_refusal_to_write_tells_the_role_and_no_value(rig):
    refused = Fault(403, "ForbiddenByRbac", f"Caller may not set {MARKED}\n{SAID}")
    rig.fake.fail("PUT", f"/secrets/{PLAIN}", refused)
    with pytest.raises(SecretStoreError, match="`Key Vault Secrets Officer`") as failed:
        await rig.vault.write(export(password=MARKED))
    assert MARKED not in str(failed.value)
    assert SAID in str(failed.value)
    assert rig.fake.values == {}


async def test_what_the_libraries_log_shows_neither_values_nor_tokens(rig, logged):
    await rig.vault.write(export(password=MARKED))
    assert plain(await rig.vault.read(DB, [])) == {"password": MARKED}
    text = logged.getvalue()
    assert next(requested.token for requested in rig.fake.requests if requested.is_signed) not in text
    assert f"/secrets/{PLAIN}" in text, "they do log"
    assert MARKED not in text


async def test_a_config_map_is_not_for_key_vault(rig):
    await rig.vault.write(export(replace(DB, object_kind=ObjectKind.CONFIG_MAP), password="p"))
    assert await rig.vault.owner(replace(DB, object_kind=ObjectKind.CONFIG_MAP)) is None
    assert rig.fake.requests == []


async def test_an_owner_too_long_for_a_tag_is_told_before_anything_is_written(rig):
    with pytest.raises(SecretStoreError, match="gitsync-owner"):
        await rig.vault.write(export(owner=REDIS._replace(name="x" * 250), password="p"))
    assert rig.fake.lines("PUT") == []


# opening


def test_the_packages_of_the_extras_are_imported_when_a_vault_is_opened():
    program = (
        "import sys, gitsync.repository.secrets.keyvault.key_vault, gitsync.repository.secrets.kubernetes.kubernetes\n"
        "print(sorted({'azure', 'aiohttp', 'lightkube', 'httpx2'} & set(sys.modules)))"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout == "[]\n"


async def test_the_check_before_a_run(rig):
    await rig.vault.check()
    rig.fake.fail("GET", "/secrets", Fault(403, "ForbiddenByRbac"))
    with pytest.raises(ConfigError, match="Key Vault Secrets User"):
        await rig.vault.check()
    assert rig.fake.lines() == ["GET /secrets"] * 2


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://mine.vault.azure.net", "not encrypted"),
        ("https://mine.vault.azure.net/secrets", "the address of a secret"),
        ("https://user:word@mine.vault.azure.net", "a password"),
        ("https://mine.vault.azure.net\\.example.com", "parsers disagree about it"),
        ("https://[", "no URL"),
        ("https://mine:port", "no URL"),
        ("mine", "a name"),
    ],
)
async def test_what_is_no_address_of_a_vault_is_refused(url, why):
    with pytest.raises(ConfigError, match="is not the URL of a Key Vault") as failed:
        async with open_key_vault(url, StaticCredential(), None, FakeClock()):
            pass
    assert "word" not in str(failed.value), why


async def test_nobody_in_particular_may_not_ask_azure():
    with pytest.raises(ConfigError, match="--credential"):
        async with open_key_vault("https://mine.vault.azure.net", None, None, FakeClock()):
            pass


async def test_without_the_extra_the_error_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "azure.keyvault.secrets.aio", None)
    monkeypatch.delitem(sys.modules, "gitsync.repository.secrets.keyvault.vault_requests", raising=False)
    with pytest.raises(ConfigError, match=r"pip install 'gitsync-azure\[keyvault\]'"):
        async with open_key_vault("https://mine.vault.azure.net", StaticCredential(), None, FakeClock()):
            pass


# removing


async def test_what_a_forgotten_resource_exported_is_deleted_and_can_be_recovered(rig):
    await rig.vault.write(export(password="p", primaryKey="k"))
    await rig.vault.write(export(DOTTED, password="d"))
    rig.fake.make("theirs", "t", tagged(DB, "a", OTHER))
    rig.fake.make("default--db--by-hand", "t")
    for address in (DB, DB, replace(DB, object_kind=ObjectKind.CONFIG_MAP)):
        await rig.vault.remove(address, REDIS)
    assert len(rig.fake.deleted) == len(rig.fake.lines("DELETE")) == 2
    assert sorted(rig.fake.values.values()) == ["d", "t", "t"]


async def test_a_disabled_secret_of_a_forgotten_resource_is_deleted(rig):
    rig.fake.make(PLAIN, "p", tagged(DB, "password", REDIS), enabled=False)
    await rig.vault.remove(DB, REDIS)
    assert rig.fake.deleted == [PLAIN]


@pytest.mark.parametrize(
    ("tags", "left", "why"),
    [
        ({}, {PLAIN: "theirs"}, "a person made it anew"),
        (tagged(DB, "password", OTHER), {PLAIN: "theirs"}, "another resource exported it"),
        (tagged(DOTTED, "password", REDIS), {PLAIN: "theirs"}, "it holds something else"),
    ],
)
async def test_what_is_somebody_elses_since_the_list_was_asked_for_stays(rig, tags, left, why):
    rig.fake.make(PLAIN, "p", tagged(DB, "password", REDIS))
    assert await rig.vault.owner(DB) == str(REDIS)
    rig.fake.make(PLAIN, "theirs", tags)
    await rig.vault.remove(DB, REDIS)
    assert rig.fake.values == left, why


async def test_what_went_since_the_list_was_asked_for_needs_no_deletion(rig):
    await rig.vault.write(export(password="p"))
    rig.fake.delete(PLAIN)
    await rig.vault.remove(DB, REDIS)
    assert rig.fake.lines("DELETE") == []


async def test_a_new_owner_may_take_what_a_former_one_left(rig):
    await rig.vault.write(export(password="p"))
    await rig.vault.remove(DB, REDIS)
    assert await rig.vault.owner(DB) is None
    await rig.vault.write(export(owner=OTHER, password="new"))
    assert await rig.vault.owner(DB) == str(OTHER)
    assert (rig.fake.kept(PLAIN).tags[OWNER], rig.fake.values) == (str(OTHER), {PLAIN: "new"})


async def test_a_refusal_to_delete_tells_the_role(rig):
    await rig.vault.write(export(password="p"))
    rig.fake.fail("DELETE", f"/secrets/{PLAIN}", Fault(403, "ForbiddenByRbac"))
    with pytest.raises(SecretStoreError, match="`Key Vault Secrets Officer`"):
        await rig.vault.remove(DB, REDIS)
    assert rig.fake.values == {PLAIN: "p"}
