"""Certificates, the files of identities, and many credentials over one way; against an authority on a real socket."""

import base64
import json
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.serialization import pkcs12
from cryptography.x509.oid import NameOID

from gitsync.errors import ConfigError
from gitsync.model.limits import Limit, RequestKind
from gitsync.model.secret import Secret
from gitsync.model.signin import Method, SignIn
from gitsync.providers.arm.arms import open_arms
from gitsync.providers.arm.auth.arm_access import ArmAccess, Network
from gitsync.providers.arm.client import Arm, open_arm
from gitsync.providers.arm.cloud import make_cloud
from gitsync.providers.arm.session import Session
from tests.support.arm_rig import API, CLIENT, OBJECT, TENANT, VNET, jwt, moving
from tests.support.fake_clock import FakeClock
from tests.support.private_ca import PrivateCa, make
from tests.support.scripted_server import Say, ScriptedServer, serving

TOKEN = jwt(tid=TENANT, appid=CLIENT, oid=OBJECT)
GRANTED = Say(200, {"token_type": "Bearer", "expires_in": 3600, "access_token": TOKEN})


@pytest.fixture(scope="module")
def private_ca(tmp_path_factory: pytest.TempPathFactory) -> PrivateCa:
    return make(tmp_path_factory.mktemp("ca"))


@pytest.fixture(scope="module")
def key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@pytest.fixture(scope="module")
def certificate(key: rsa.RSAPrivateKey) -> x509.Certificate:
    now, name = datetime.now(UTC), x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "gitsync")])  # noqa: TID251 - OpenSSL compares with the real time
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )


@pytest.fixture(scope="module")
def pem(key: rsa.RSAPrivateKey, certificate: x509.Certificate) -> str:
    plain = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return (certificate.public_bytes(serialization.Encoding.PEM) + plain).decode()


def packed(key: rsa.RSAPrivateKey, certificate: x509.Certificate, password: bytes | None) -> str:
    """PKCS#12 in base64, with line breaks as `base64` writes them."""
    algorithm = serialization.BestAvailableEncryption(password) if password else serialization.NoEncryption()
    return base64.encodebytes(pkcs12.serialize_key_and_certificates(b"x", key, certificate, None, algorithm)).decode()


@asynccontextmanager
async def entra(ca: PrivateCa):
    async with serving(ca.tls) as authority, serving() as azure:
        authority.on("POST", f"/{TENANT}/oauth2/v2.0/token", GRANTED)
        azure.on("GET", VNET, Say(200, moving()))
        yield authority, azure


def access(
    authority: ScriptedServer, azure: ScriptedServer, ca: PrivateCa, sign_in: SignIn, **more: object
) -> ArmAccess:
    cloud = make_cloud(azure.url, "https://arm.example", authority.url)
    return ArmAccess(cloud=cloud, sign_in=sign_in, network=Network(ca_bundle=ca.bundle), **more)


async def signed_in(ca: PrivateCa, **who: object) -> dict[str, str]:
    """Sign in once; the header and claims of the assertion that the authority was shown."""

    async def main() -> dict[str, str]:
        async with entra(ca) as (authority, azure):
            sign_in = SignIn(**{"tenant_id": TENANT, "client_id": CLIENT, **who})
            async with open_arm(access(authority, azure, ca, sign_in), FakeClock()) as arm:
                await arm.sign_in()
            (requested,) = authority.seen
            assert requested.body["client_id"] == CLIENT
            parts = requested.body["client_assertion"].split(".")[:2]
            return {k: v for part in parts for k, v in json.loads(base64.urlsafe_b64decode(part + "==")).items()}

    return await main()


async def test_a_certificate_in_pem_or_pkcs12_as_text_or_file(private_ca, key, certificate, pem, tmp_path: Path):
    file = tmp_path / "certificate.pem"
    file.write_text(pem)
    password = Secret("hush-hush")
    ways = [
        {"client_certificate": Secret(pem)},
        {"client_certificate": Secret(base64.b64encode(pem.encode()).decode())},
        {"client_certificate": Secret(packed(key, certificate, None))},
        {"client_certificate": Secret(packed(key, certificate, b"hush-hush")), "client_certificate_password": password},
        {"client_certificate_path": str(file)},
    ]
    for way in ways:
        claims = await signed_in(private_ca, method=Method.CLIENT_CERTIFICATE, **way)
        assert claims["iss"] == claims["sub"] == CLIENT
    assert (await signed_in(private_ca, client_certificate=Secret(pem)))["sub"] == CLIENT, "the default takes it first"


async def test_a_certificate_that_does_not_do_is_an_error_that_shows_nothing(private_ca, key, certificate, pem):
    locked = Secret(packed(key, certificate, b"hush-hush"))
    ways = [
        ({"client_certificate": Secret("n0 certificate")}, "The certificate of the settings cannot be used"),
        ({"client_certificate": Secret("bm8gY2VydGlmaWNhdGU=")}, "The certificate of the settings cannot be used"),
        ({"client_certificate": locked}, "The certificate of the settings cannot be used"),
        (
            {"client_certificate": locked, "client_certificate_password": Secret("wr0ng")},
            "The certificate of the settings",
        ),
        ({"client_certificate": Secret(pem.partition("-----BEGIN PRIVATE")[0])}, "The certificate of the settings"),
        ({"client_certificate_path": "/n0ne"}, "/n0ne cannot be read: No such file"),
        ({}, "--credential client-certificate needs AZURE_CLIENT_CERTIFICATE"),
        (
            {"client_certificate": Secret("x"), "secret_name": "ns/mine"},
            'The certificate of credential Secret "ns/mine"',
        ),
    ]
    for way, words in ways:
        with pytest.raises(ConfigError) as caught:
            await signed_in(private_ca, method=Method.CLIENT_CERTIFICATE, **way)
        assert caught.value.message.startswith(words)
        assert "wr0ng" not in str(caught.value)
        assert caught.value.hint


def identity(key: rsa.RSAPrivateKey, certificate: x509.Certificate, authority: str, **members: object) -> str:
    document = {
        "client_id": CLIENT,
        "client_secret": base64.b64encode(base64.b64decode(packed(key, certificate, None))).decode(),
        "tenant_id": TENANT,
        "authentication_endpoint": authority,
        "not_after": "2030-01-01T00:00:00Z",
    }
    return json.dumps(document | members)


async def test_the_file_of_an_identity_has_all_that_is_needed(private_ca, key, certificate, tmp_path: Path):
    async with entra(private_ca) as (authority, azure):
        file = tmp_path / "identities" / "one.json"
        file.parent.mkdir()
        file.write_text(identity(key, certificate, authority.url))
        ours = SignIn(method=Method.IDENTITY_FILE, identity_file=str(file))
        secrets = SignIn(
            method=Method.IDENTITY_FILE,
            identity_file=str(file),
            identity_folder=str(file.parent),
            secret_name="ns/mine",
        )
        for sign_in in (ours, secrets):
            settings = access(authority, azure, private_ca, sign_in)
            async with open_arm(settings, FakeClock()) as arm:
                await arm.sign_in()
        head, claims, signature = authority.seen[0].body["client_assertion"].split(".")
        chain = json.loads(base64.urlsafe_b64decode(head + "=="))["x5c"]
        assert [base64.b64decode(certificate_text) for certificate_text in chain] == [
            certificate.public_bytes(serialization.Encoding.DER)
        ]
        said = json.loads(base64.urlsafe_b64decode(claims + "=="))
        assert said["aud"] == f"{authority.url}/{TENANT}/oauth2/v2.0/token"
        key.public_key().verify(
            base64.urlsafe_b64decode(signature + "=="),
            f"{head}.{claims}".encode(),
            padding.PSS(mgf=padding.MGF1(hashes.SHA256()), salt_length=32),
            hashes.SHA256(),
        )


async def test_a_secret_names_no_file_outside_of_the_folder(private_ca, key, certificate, tmp_path: Path):
    folder, outside = tmp_path / "identities", tmp_path / "outside.json"
    folder.mkdir()
    outside.write_text(identity(key, certificate, "https://login.example"))
    (folder / "link.json").symlink_to(outside)
    for path, allowed in [
        (outside, ""),
        (outside, str(folder)),
        (folder / ".." / "outside.json", str(folder)),
        (folder / "link.json", str(folder)),
        (Path("/proc/self/environ"), str(folder)),
    ]:
        with pytest.raises(ConfigError, match="names a file outside the identity folder"):
            await signed_in(
                private_ca,
                method=Method.IDENTITY_FILE,
                identity_file=str(path),
                identity_folder=allowed,
                secret_name="ns/mine",
            )


async def test_a_file_that_is_no_identity_is_an_error_that_shows_nothing(private_ca, key, certificate, tmp_path: Path):
    file = tmp_path / "identity.json"
    for text in (
        "n0t json",
        "[]",
        identity(key, certificate, ""),
        identity(key, certificate, "http://login.example"),
        identity(key, certificate, "https://login.example", client_secret="n0t base64"),
        identity(key, certificate, "https://login.example", client_secret="bm8="),
        identity(key, certificate, "https://login.example", tenant_id="../evil"),
        identity(key, certificate, "https://login.example", tenant_id=7),
    ):
        file.write_text(text)
        with pytest.raises(ConfigError, match="The identity file of the settings cannot be used") as caught:
            await signed_in(private_ca, method=Method.IDENTITY_FILE, identity_file=str(file))
        assert "n0t" not in str(caught.value)
    with pytest.raises(ConfigError, match="needs AZURE_USER_ASSIGNED_IDENTITY_CREDENTIALS"):
        await signed_in(private_ca, method=Method.IDENTITY_FILE)


@asynccontextmanager
async def several(ca: PrivateCa, **more: object):
    async with entra(ca) as (authority, azure):
        clock = FakeClock()
        async with open_arms(access(authority, azure, ca, SignIn(), **more), clock) as arms:
            yield arms, authority, azure, clock


def team(secret: str = "s3cret", **more: str) -> SignIn:
    return SignIn(
        **{
            "method": Method.CLIENT_SECRET,
            "tenant_id": TENANT,
            "client_id": CLIENT,
            "client_secret": Secret(secret),
            "secret_name": "ns/a",
            **more,
        }
    )


async def read(arm: Arm, clock: FakeClock) -> Session:
    talk = Session(deadline=clock.monotonic() + 60)
    await arm.reader(talk).get(VNET, API)
    return talk


async def test_equal_credentials_are_one_client_and_one_token(private_ca):
    async with several(private_ca) as (arms, authority, _azure, clock):
        one, same = await arms.open(team()), await arms.open(team(secret_name="ns/b"))
        other = await arms.open(team("an0ther"))
        assert one is same
        assert one is not other
        assert authority.seen == [], "nobody has asked anything"
        for arm in (one, same, one, other):
            await read(arm, clock)
        assert [seen.body["client_secret"] for seen in authority.seen] == ["s3cret", "an0ther"]
        assert one.requests == other.requests
        assert one.requests.reads == 4, "the run's, whoever asked"


async def test_a_principal_has_one_bucket_however_it_signs_in(private_ca, pem):
    async with several(private_ca, limits=dict.fromkeys(RequestKind, Limit(1, 1))) as (arms, _authority, _azure, clock):
        by_secret = await arms.open(team())
        by_certificate = await arms.open(team(method=Method.CLIENT_CERTIFICATE, client_certificate=Secret(pem)))
        other = await arms.open(team(client_id="other-client"))
        await read(by_secret, clock)
        assert clock.slept == []
        await read(other, clock)
        assert clock.slept == [], "another principal has its own"
        await read(by_certificate, clock)
        assert clock.slept != [], "the same one waits"


async def test_one_that_cannot_be_opened_leaves_the_others(private_ca):
    async with several(private_ca) as (arms, _authority, _azure, clock):
        with pytest.raises(ConfigError, match='credential Secret "ns/a" \\(client-secret\\) needs AZURE_CLIENT_SECRET'):
            await arms.open(SignIn(method=Method.CLIENT_SECRET, tenant_id="t", client_id="c", secret_name="ns/a"))
        await read(await arms.open(team()), clock)
