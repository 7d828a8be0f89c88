"""Which endpoints are taken, what follows from them, and what counts as the same place."""

import pytest

from gitsync.errors import ConfigError
from gitsync.providers.arm.cloud import Cloud, choose_graph, is_safe, make_cloud, parse_origin

PUBLIC_AUDIENCE, PUBLIC_AUTHORITY = "https://management.core.windows.net/", "https://login.microsoftonline.com"


@pytest.mark.parametrize(
    ("endpoint", "audience", "authority"),
    [
        ("https://management.azure.com", PUBLIC_AUDIENCE, PUBLIC_AUTHORITY),
        ("https://management.azure.com/", PUBLIC_AUDIENCE, PUBLIC_AUTHORITY),
        (
            "https://management.usgovcloudapi.net",
            "https://management.core.usgovcloudapi.net/",
            "https://login.microsoftonline.us",
        ),
        (
            "https://Management.ChinaCloudAPI.cn",
            "https://management.core.chinacloudapi.cn/",
            "https://login.chinacloudapi.cn",
        ),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080", PUBLIC_AUTHORITY),
    ],
)
def test_audience_and_authority_follow_from_a_known_endpoint(endpoint: str, audience: str, authority: str):
    cloud = make_cloud(endpoint)
    assert (cloud.audience, cloud.authority) == (audience, authority)
    assert cloud.knows_authority


def test_the_public_cloud_is_the_default():
    assert make_cloud().endpoint == "https://management.azure.com"
    assert make_cloud().scope == "https://management.core.windows.net//.default"


def test_what_is_set_wins():
    cloud = make_cloud("https://arm.private.example", "https://aud.example", "login.private.example/")
    assert (cloud.audience, cloud.authority) == ("https://aud.example", "https://login.private.example")
    assert not cloud.knows_authority
    assert not cloud.is_loopback


@pytest.mark.parametrize(
    ("endpoint", "audience", "authority", "match", "why"),
    [
        ("http://management.azure.com", None, None, "plain http", "a token would travel in the open"),
        ("http://10.0.0.1", None, None, "plain http", "a private network is not this machine"),
        ("http://127.0.0.1.evil.example", None, None, "plain http", "looks like this machine"),
        ("management.azure.com", None, None, "not a plain http", "no scheme"),
        ("ftp://management.azure.com", None, None, "not a plain http", "another scheme"),
        ("https://management.azure.com/sub", None, None, "not a plain http", "a path"),
        ("https://management.azure.com?x=1", None, None, "not a plain http", "a query"),
        ("https://u:pass@management.azure.com", None, None, "not a plain http", "credentials"),
        ("https://management.azure.com:x", None, None, "not a plain http", "no port"),
        ("https://arm.private.example", None, None, "not the endpoint of a known Azure cloud", "whose tokens?"),
        (
            "https://arm.private.example",
            "https://a",
            None,
            "not the endpoint of a known Azure cloud",
            "who issues them?",
        ),
        ("https://management.azure.com", None, "http://login.example", "not https", "the secret would travel"),
    ],
)
def test_endpoints_that_are_refused(endpoint: str, audience: str | None, authority: str | None, match: str, why: str):
    with pytest.raises(ConfigError, match=match) as caught:
        make_cloud(endpoint, audience, authority)
    assert caught.value.hint, why
    assert "pass" not in str(caught.value)


@pytest.mark.parametrize(
    "endpoint", ["http://127.0.0.1:1", "http://127.9.9.9", "http://localhost:80", "http://[::1]:5"]
)
def test_plain_http_is_for_this_machine(endpoint: str):
    assert make_cloud(endpoint).is_loopback


@pytest.mark.parametrize(
    ("url", "requested", "target", "why"),
    [
        ("https://management.azure.com/a/b?c=d", "/", "/a/b?c=d", "the endpoint"),
        ("https://MANAGEMENT.azure.com:443/a", "/", "/a", "its default port, in another case"),
        ("/a?b", "/", "/a?b", "relative to the root"),
        ("c", "/a/b?x=y", "/a/c", "relative to what was asked"),
        ("//management.azure.com/a", "/", "/a", "without a scheme"),
        ("https://management.azure.com", "/", "/", "nothing but the host"),
        ("http://management.azure.com/a", "/", None, "plain http"),
        ("https://management.azure.com:8443/a", "/", None, "another port"),
        ("https://westus.management.azure.com/a", "/", None, "another host, if Azure's"),
        ("https://management.azure.com@evil.example/a", "/", None, "a user name that looks like the host"),
        ("https://management.azure.com\\@evil.example/a", "/", None, "the same with a backslash"),
        ("//evil.example/a", "/", None, "without a scheme, elsewhere"),
        ("https://management.azure.com.evil.example/", "/", None, "a longer name"),
        ("https://[bad/", "/", None, "no URL at all"),
        ("file:///etc/passwd", "/", None, "another scheme"),
    ],
)
def test_where_a_token_may_go(url: str, requested: str, target: str | None, why: str):
    assert make_cloud().find_target(url, requested) == target, why


def test_a_cloud_that_was_not_checked_has_no_origin():
    with pytest.raises(ConfigError, match="not an http"):
        _ = Cloud(endpoint="nonsense", audience="a", authority="b").origin


def test_origins():
    assert parse_origin("HTTPS://A.example/x") == ("https", "a.example", 443)
    assert parse_origin("http://[::1]:8") == ("http", "::1", 8)
    assert parse_origin("nonsense") is None


@pytest.mark.parametrize(
    ("url", "safe"),
    [("https://x.example", True), ("http://localhost:1", True), ("http://x.example", False), ("x", False)],
)
def test_where_a_secret_may_go(url: str, *, safe: bool):
    assert is_safe(url) is safe


@pytest.mark.parametrize(
    ("cloud", "graph", "why"),
    [
        (make_cloud(), "https://graph.microsoft.com", "the public cloud"),
        (make_cloud("https://management.usgovcloudapi.net"), "https://graph.microsoft.us", "US Government"),
        (make_cloud("https://management.chinacloudapi.cn"), "https://microsoftgraph.chinacloudapi.cn", "China"),
        (make_cloud(authority="login.proxy.example"), "https://graph.microsoft.com", "another way to the authority"),
        (
            make_cloud("https://arm.stack.example", "https://aud", "login.microsoftonline.com"),
            "https://graph.microsoft.com",
            "a private cloud with the public directory",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and " " in value else "",
)
def test_microsoft_graph_is_that_of_the_directory(cloud: Cloud, graph: str, why: str):
    found = choose_graph(cloud)
    assert (found.endpoint, found.scope, found.service) == (graph, f"{graph}/.default", "Microsoft Graph"), why
    assert found.authority == cloud.authority


def test_an_emulator_plays_microsoft_graph_too():
    found = choose_graph(make_cloud("http://127.0.0.1:8080"))
    assert (found.endpoint, found.scope) == ("http://127.0.0.1:8080", "http://127.0.0.1:8080/.default")


def test_no_token_is_sent_to_a_graph_that_is_only_likely():
    with pytest.raises(ConfigError, match=r"Microsoft Graph .* is not known") as caught:
        choose_graph(make_cloud("https://arm.stack.example", "https://aud", "https://login.stack.example"))
    assert caught.value.hint
