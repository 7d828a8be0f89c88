"""The token proxy of AKS identity bindings: a TLS server with a name and an authority of its own."""

from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web

from gitsync.emulator.http.listener import Listener
from gitsync.emulator.http.server import Emulator
from gitsync.emulator.settings import EmulatedPrincipal, EmulatorSettings
from gitsync.errors import ConfigError
from gitsync.model.signin import Method, SignIn
from gitsync.providers.arm.auth.arm_access import ArmAccess, Network
from gitsync.providers.arm.client import open_arm
from gitsync.providers.arm.cloud import make_cloud
from tests.leaks.hunting import Hunt
from tests.support.arm_rig import TENANT, jwt
from tests.support.fake_clock import FakeClock
from tests.support.private_ca import PrivateCa, make

CLIENT, OTHER = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
NAME = "proxy.ests.aks.test"
TOKEN = jwt(sub="system:serviceaccount:gitsync:gitsync", iss="https://issuer.test", aud="api://AKSIdentityBinding")
NOWHERE = "https://127.0.0.1:9"
"""The authority: nothing listens there, so a token that is sent to it ends the sign-in."""


class Proxy:
    """Passes token requests below a path on to an emulator, as the proxy of AKS does to Entra ID."""

    def __init__(self, emulator: Emulator) -> None:
        self.emulator = emulator
        self.url = ""
        self.seen: list[tuple[str, str]] = []  # path and client
        self.names: list[str] = []  # those of the TLS handshakes
        self.status = 0  # of an answer that replaces the emulator's

    async def answer(self, request: web.BaseRequest) -> web.Response:
        form = await request.post()
        self.seen.append((request.path, str(form["client_id"])))
        if self.status:
            return web.json_response({"error": "not_bound", "error_description": "No."}, status=self.status)
        path = request.path.removeprefix("/proxy")
        answer = self.emulator.tokens.answer(path, {name: str(value) for name, value in form.items()}, self.url)
        return web.json_response(answer.body, status=answer.status)


@pytest.fixture(scope="module")
def ca(tmp_path_factory: pytest.TempPathFactory) -> PrivateCa:
    return make(tmp_path_factory.mktemp("ca"), name=NAME)


@asynccontextmanager
async def proxied(ca: PrivateCa):
    principals = tuple(EmulatedPrincipal(client=client, object="o") for client in (CLIENT, OTHER))
    emulator = Emulator(EmulatorSettings(require_token=True, principals=principals))
    await emulator.start()
    proxy = Proxy(emulator)

    def note_name(_socket: object, name: str | None, _context: object) -> None:
        proxy.names.append(name or "")

    ca.tls.sni_callback = note_name
    listener = Listener(proxy.answer)
    proxy.url = f"{await listener.open(tls=ca.tls)}/proxy"
    try:
        yield proxy
    finally:
        await listener.close()
        await emulator.stop()


@pytest.fixture
def pod(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, ca: PrivateCa):
    """Set the variables of a pod, as the webhook does."""
    (tmp_path / "token").write_text(TOKEN)

    def set_variables(proxy: str, **more: str) -> dict[str, str]:
        variables = {
            "AZURE_KUBERNETES_TOKEN_PROXY": proxy,
            "AZURE_KUBERNETES_SNI_NAME": NAME,
            "AZURE_KUBERNETES_CA_FILE": str(ca.bundle),
            **more,
        }
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        return variables

    return set_variables


async def sign_in(proxy: Proxy, environment: dict[str, str], folder: Path, client: str = CLIENT, **more: str):
    access = ArmAccess(
        cloud=make_cloud(proxy.emulator.url, audience=proxy.emulator.url, authority=NOWHERE),
        sign_in=SignIn(
            method=Method.WORKLOAD_IDENTITY,
            tenant_id=TENANT,
            client_id=client,
            federated_token_file=str(folder / "token"),
            environment=environment,
            **more,
        ),
        network=Network(environment={"HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": "127.0.0.1"}, patience=0),
    )
    async with open_arm(access, FakeClock()) as arm:
        return await arm.sign_in()


@pytest.mark.parametrize(
    ("client", "secret"), [(CLIENT, ""), (OTHER, "red/aso-credential")], ids=["settings", "Secret"]
)
async def test_every_workload_identity_of_the_pod_signs_in_through_the_proxy(
    ca: PrivateCa, pod, tmp_path: Path, client: str, secret: str
):
    async with proxied(ca) as proxy:
        principal = await sign_in(proxy, pod(proxy.url), tmp_path, client, secret_name=secret)
    assert principal is not None
    assert principal.client == client
    assert proxy.seen == [(f"/proxy/{TENANT}/oauth2/v2.0/token", client)]
    assert proxy.names == [NAME]


async def test_the_authority_may_be_given_as_data(ca: PrivateCa, pod, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    async with proxied(ca) as proxy:
        variables = pod(proxy.url, AZURE_KUBERNETES_CA_DATA=ca.bundle.read_text())
        monkeypatch.delenv("AZURE_KUBERNETES_CA_FILE")
        assert await sign_in(proxy, variables, tmp_path) is not None


async def test_a_proxy_that_another_authority_signed_gets_no_token(ca: PrivateCa, pod, tmp_path: Path):
    (tmp_path / "other").mkdir()
    other = make(tmp_path / "other", name=NAME)
    async with proxied(ca) as proxy:
        with pytest.raises(ConfigError) as refused:
            await sign_in(proxy, pod(proxy.url, AZURE_KUBERNETES_CA_FILE=str(other.bundle)), tmp_path)
    assert proxy.seen == []
    assert not Hunt(token=TOKEN).found(f"{refused.value!r} {refused.value.hint}")


async def test_a_pod_without_the_variables_uses_the_authority(ca: PrivateCa, tmp_path: Path):
    (tmp_path / "token").write_text(TOKEN)
    async with proxied(ca) as proxy:
        with pytest.raises(ConfigError, match=r"127\.0\.0\.1:9"):
            await sign_in(proxy, {}, tmp_path)
    assert proxy.seen == []


@pytest.mark.parametrize(
    ("status", "says", "why"),
    [
        (403, "Could not get a token", "the account may not use the identity"),
        (503, "the token proxy of AKS has none", "down"),
    ],
)
async def test_what_the_proxy_refuses(ca: PrivateCa, pod, tmp_path: Path, status: int, says: str, why: str):
    async with proxied(ca) as proxy:
        proxy.status = status
        with pytest.raises(ConfigError, match=says) as refused:
            await sign_in(proxy, pod(proxy.url), tmp_path)
    assert len(proxy.seen) == (1 if status == 403 else len(proxy.seen)), why
    assert not Hunt(token=TOKEN).found(f"{refused.value!r} {refused.value.hint}")


WRONG = [
    ({"AZURE_KUBERNETES_TOKEN_PROXY": "http://127.0.0.1:1"}, "https", "plain http"),
    ({"AZURE_KUBERNETES_TOKEN_PROXY": "https://a:b@127.0.0.1:1"}, "username", "a password"),
    ({"AZURE_KUBERNETES_TOKEN_PROXY": ""}, "AZURE_KUBERNETES_TOKEN_PROXY is not set", "no proxy"),
    ({"AZURE_KUBERNETES_CA_DATA": "x"}, "Only one", "two authorities"),
    ({"AZURE_KUBERNETES_CA_FILE": "/nowhere"}, "/nowhere", "no file"),
]


@pytest.mark.parametrize(("more", "says", "why"), WRONG, ids=[row[-1] for row in WRONG])
async def test_variables_that_are_wrong_end_the_sign_in_before_a_token_is_read(
    ca: PrivateCa, pod, tmp_path: Path, more: dict[str, str], says: str, why: str
):
    async with proxied(ca) as proxy:
        with pytest.raises(ConfigError, match=says) as refused:
            await sign_in(proxy, pod(proxy.url, **more), tmp_path)
    assert "webhook of AKS" in refused.value.hint, why
    assert proxy.seen == []
