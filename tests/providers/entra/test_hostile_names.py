"""Hostile names, client ids and URIs: each finds its object and no other, and comes back as it was sent."""

from urllib.parse import parse_qs, urlsplit

import pytest

from gitsync.errors import ArmError
from gitsync.model.live import Absence, Live
from gitsync.providers.entra.application_conversion import APPLICATION
from gitsync.providers.entra.directory_kind import ObjectSearch
from gitsync.providers.entra.graph_requests import make_search
from tests.providers.entra.graph_rig import graph, make_resource

NAMES = {
    "a quote": "O'Brien's shop",
    "only quotes": "''",
    "one quote": "'",
    "an end of a literal": "x' or displayName ne '",
    "a whole filter": "' or startswith(displayName,'a') or displayName eq '",
    "an encoded quote": "%27 or true",
    "percent": "100% of %20",
    "percent of percent": "%2527",
    "a broken percent": "%",
    "hash": "shop#1",
    "ampersand": "a&b=c",
    "another parameter": "a&$top=1",
    "another filter": "a&$filter=true",
    "plus": "a+b",
    "a question": "shop?x=y",
    "slashes": "a/b//c",
    "dots": "../../users",
    "semicolon": "a;b",
    "braces": "{id} {0} ${x}",
    "backslash": "a\\b\\",
    "double quotes": '"a"',
    "blanks": " a  b ",
    "a line": "a\nb",
    "carriage return": "a\r\nX-Header: y",
    "a tab": "a\tb",
    "an emoji": "Shop 🦊👩‍👧",
    "another script": "商店 Ünïcödé",
    "right to left": "\u202eshop",
    "combining": "e\u0301 é",
    "a sharp s": "STRASSE straße",
    "a dotless i": "\u0131I \u0130i",
    "markup": "<script>alert(1)</script>",
    "a command": "$(rm -rf /) `id`",
    "a workflow command": "::error::x",
    "long": "n" * 256,
    "long with quotes": "'" * 256,
}
APP_IDS = {
    "a quote": "'",
    "a filter": "x' or appId ne '",
    "a parameter": "x&$top=1",
    "percent": "%27",
    "a line": "x\n",
    "an emoji": "🦊",
    "braces": "{00000000-0000-4000-8000-00000000000a}",
    "a path": "../applications",
}
URIS = {
    "a quote": "api://o'brien",
    "percent": "https://contoso.com/%20a%2Fb",
    "hash": "https://contoso.com/#part",
    "ampersand": "https://contoso.com/?a=1&b=2",
    "plus": "api://a+b",
    "unicode": "https://contoso.com/ünï",
    "punycode": "https://xn--nxasmq6b.example",
    "an emoji": "api://🦊",
    "dots": "https://contoso.com/../x",
    "an urn": "urn:shop:a'b",
    "brackets": "https://[::1]/a",
    "a user": "https://a:b@contoso.com",
    "a port": "https://contoso.com:8443/x",
    "capitals": "API://Shop",
    "braces": "api://{tenant}",
    "long": "api://" + "n" * 249,
    "markup": "https://contoso.com/<b>",
    "a semicolon": "https://contoso.com/;a=b",
}
ID, OTHER_ID = "00000000-0000-4000-8000-00000000000a", "00000000-0000-4000-8000-00000000000b"
COLLECTIONS = {"Application": "applications", "ServicePrincipal": "servicePrincipals"}


@pytest.mark.parametrize("kind", COLLECTIONS)
@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
async def test_a_name_finds_its_object_and_no_other(kind, name):
    async with graph() as rig:
        collection = COLLECTIONS[kind]
        rig.azure.put(f"/v1.0/{collection}/{OTHER_ID}", {"displayName": "Somebody else's", "appId": OTHER_ID})
        rig.azure.put(f"/v1.0/{collection}/{ID}", {"displayName": name, "appId": ID})
        live = await rig.find(make_resource({"displayName": name}, kind=kind))
        assert isinstance(live, Live)
        assert (live.body["id"], live.body["displayName"]) == (ID, name)
        (request,) = rig.azure.requests
        assert (request.method, request.path, request.status) == ("GET", f"/v1.0/{collection}", 200)


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
async def test_a_name_is_created_and_read_and_sent_once(name):
    async with graph() as rig:
        resource = make_resource({"displayName": name}, kind="Application", mode="AlwaysCreate")
        await rig.put(resource)
        assert (await rig.find(resource)).body["displayName"] == name
        rig.sent()
        await rig.put(resource)
        assert rig.sent() == [("GET", 200)]


@pytest.mark.parametrize("app_id", APP_IDS.values(), ids=APP_IDS)
async def test_a_client_id_that_an_expression_computes_finds_nothing_else(app_id):
    """Validation does not see it. Graph refuses the create."""
    async with graph() as rig:
        rig.azure.put(f"/v1.0/servicePrincipals/{ID}", {"displayName": "Shop", "appId": ID})
        resource = make_resource({"appId": app_id}, kind="ServicePrincipal")
        assert isinstance(await rig.find(resource), Absence)
        with pytest.raises(ArmError, match="does not reference a valid application object"):
            await rig.put(resource)
        assert rig.ids("servicePrincipals".casefold()) == [ID]


@pytest.mark.parametrize("uri", URIS.values(), ids=URIS)
async def test_a_uri_comes_back_as_it_was_sent(uri):
    async with graph() as rig:
        body = {"displayName": "Shop", "identifierUris": [uri], "web": {"redirectUris": [uri]}}
        resource = make_resource(body, kind="Application")
        await rig.put(resource)
        live = await rig.find(resource)
        assert (live.body["identifierUris"], live.body["web"]["redirectUris"]) == ([uri], [uri])
        rig.sent()
        await rig.put(resource)
        assert rig.sent() == [("GET", 200)]


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_the_query_has_one_filter_with_one_literal(name):
    request = make_search(APPLICATION, "", ObjectSearch("displayName", name))
    query = urlsplit(request.target).query
    assert parse_qs(query, strict_parsing=True, keep_blank_values=True).keys() == {"$filter"}
    literal = parse_qs(query)["$filter"][0].removeprefix("displayName eq ")
    assert literal[1:-1].replace("''", "'") == name
    assert set(literal[1:-1].replace("''", "")) & {"'"} == set()
    assert set(query) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~%=")
