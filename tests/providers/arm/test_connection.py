"""The way there: private certificates, proxies, refused connections."""

import asyncio
from pathlib import Path

import pytest

from gitsync.errors import ConfigError, TransportError
from gitsync.providers.arm.client import open_arm
from gitsync.providers.arm.http.connection import find_proxy
from gitsync.providers.arm.session import Session
from tests.support.arm_rig import API, VNET, anonymous, moving
from tests.support.fake_clock import FakeClock
from tests.support.private_ca import PrivateCa, make
from tests.support.scripted_server import Say, serving
from tests.support.stream_server import stream_server


@pytest.fixture(scope="module")
def private_ca(tmp_path_factory: pytest.TempPathFactory) -> PrivateCa:
    return make(tmp_path_factory.mktemp("ca"))


async def test_a_private_authority_is_trusted_and_its_connection_kept(private_ca: PrivateCa):
    clock = FakeClock()
    async with serving(private_ca.tls) as server:
        server.on("GET", VNET, Say(200, moving()))
        async with open_arm(anonymous(server.url, ca_bundle=private_ca.bundle), clock) as arm:
            for _ in range(3):
                talk = Session(deadline=clock.monotonic() + 60)
                assert await arm.reader(talk).get(VNET, API) is not None
        assert len(server.connections) == 1, "one TLS handshake for all"


async def test_an_unknown_authority_is_not_tried_again_and_not_again(private_ca: PrivateCa):
    clock = FakeClock()
    async with serving(private_ca.tls) as server, open_arm(anonymous(server.url), clock) as arm:
        talk = Session(deadline=clock.monotonic() + 60)
        with pytest.raises(TransportError, match="certificate verify failed") as caught:
            await arm.writer(talk).put(VNET, API, {})
        assert "--ca-bundle" in caught.value.hint
        assert not caught.value.outcome_unknown
        assert talk.requests == 1
        assert server.seen == []


@pytest.mark.parametrize(("content", "why"), [(None, "no such file"), ("nonsense", "no PEM"), ("", "nothing in it")])
async def test_a_bundle_that_cannot_be_read_is_refused(tmp_path: Path, content: str | None, why: str):
    bundle = tmp_path / "ca.pem"
    if content is not None:
        bundle.write_text(content)
    with pytest.raises(ConfigError, match=r"ca\.pem cannot be read"):
        async with open_arm(anonymous("https://127.0.0.1:1", ca_bundle=bundle), FakeClock()):
            raise AssertionError(why)


ARM = "https://management.azure.com"


@pytest.mark.parametrize(
    ("url", "environment", "proxy", "why"),
    [
        (ARM, {}, None, "none is named"),
        (ARM, {"HTTPS_PROXY": "http://proxy:3128"}, "http://proxy:3128", "by the scheme of the URL"),
        (ARM, {"https_proxy": "http://proxy:3128"}, "http://proxy:3128", "in lower case"),
        (ARM, {"HTTPS_PROXY": "proxy:3128"}, "http://proxy:3128", "without a scheme"),
        (ARM, {"HTTP_PROXY": "http://proxy:3128"}, None, "the other scheme's"),
        (ARM, {"HTTPS_PROXY": "http://p", "NO_PROXY": "x.example, management.azure.com"}, None, "an exempt host"),
        (ARM, {"HTTPS_PROXY": "http://p", "NO_PROXY": ".azure.com"}, None, "an exempt domain"),
        (ARM, {"HTTPS_PROXY": "http://p", "NO_PROXY": "azure.com"}, None, "an exempt domain without a dot"),
        (ARM, {"HTTPS_PROXY": "http://p", "NO_PROXY": "*.azure.com"}, None, "an exempt domain with a star"),
        (ARM, {"HTTPS_PROXY": "http://p", "NO_PROXY": "*"}, None, "everything is exempt"),
        (ARM, {"HTTPS_PROXY": "http://p", "NO_PROXY": "re.com"}, "http://p", "not a part of a word"),
        (ARM, {"HTTPS_PROXY": "http://p", "NO_PROXY": ", ,"}, "http://p", "an empty list"),
        (f"{ARM}:444", {"HTTPS_PROXY": "http://p", "NO_PROXY": "management.azure.com:444"}, None, "an exempt port"),
        (ARM, {"HTTPS_PROXY": "http://p", "NO_PROXY": "management.azure.com:444"}, "http://p", "another port"),
        ("https://[::1]:5", {"HTTPS_PROXY": "http://p", "NO_PROXY": "::1"}, None, "an exempt address"),
    ],
)
def test_which_proxy_a_host_is_reached_by(url: str, environment: dict, proxy: str | None, why: str):
    assert find_proxy(url, environment) == proxy, why


def test_a_proxy_that_does_not_speak_http_is_refused():
    with pytest.raises(ConfigError, match=r"is not an http\(s\) URL"):
        find_proxy(ARM, {"HTTPS_PROXY": "socks5://user:secret@proxy"})


async def test_requests_go_through_the_proxy():
    """A proxy connects to the endpoint (RFC 9110 §9.3.6), and its refusal is not a write of unknown outcome."""
    requested: list[bytes] = []

    async def proxy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        requested.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 502 No way\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()

    clock = FakeClock()
    async with (
        stream_server(proxy) as port,
        open_arm(away({"HTTPS_PROXY": f"http://user:pa55@127.0.0.1:{port}"}), clock, Token()) as arm,
    ):
        talk = Session(deadline=clock.monotonic() + 1)
        with pytest.raises(TransportError) as caught:
            await arm.writer(talk).put(VNET, API, {})
    assert requested[0].startswith(b"CONNECT arm.invalid:443 ")
    assert b"Proxy-Authorization: Basic" in requested[0]
    assert not caught.value.outcome_unknown
    assert "pa55" not in str(caught.value)


class Token:
    async def get_token_info(self, *_scopes: str, options: object = None) -> object:
        from azure.core.credentials import AccessTokenInfo

        return AccessTokenInfo("opaque", 2**40)


def away(environment: dict[str, str]):
    from gitsync.providers.arm.auth.arm_access import ArmAccess, Network
    from gitsync.providers.arm.cloud import make_cloud

    cloud = make_cloud("https://arm.invalid", "https://arm.invalid", "https://login.invalid")
    return ArmAccess(cloud=cloud, network=Network(environment=environment))
