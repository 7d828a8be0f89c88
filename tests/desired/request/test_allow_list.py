"""The allow-list of identities, by itself: a Secret is allowed if one entry has all that it names."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.agent.reconcile.identities import open_identities
from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.manifests.credential_secret import OF_NAMESPACE, read_identity
from gitsync.desired.request.allow_list import AllowList
from gitsync.desired.request.build import prepare
from gitsync.desired.request.credential_choice import Credentials
from gitsync.model.allowed_identities import AllowedIdentities, IdentityEntry, IdentityMode
from gitsync.model.gvk import GVK
from gitsync.model.identity import NO_IDS
from gitsync.model.manifests import Manifests
from gitsync.model.plan import Apply
from gitsync.model.problem import SourceLocation
from gitsync.model.resource import Resource
from gitsync.model.secret import Secret
from gitsync.model.signin import Identity, Method
from tests.support.builders import rg

SOURCE = SourceLocation("identities.yaml", 1)
NAMESPACES, IDS = ("default", "far"), ("a", "b", "c")
CLOUD = {
    "AZURE_RESOURCE_MANAGER_ENDPOINT": "https://management.example/",
    "AZURE_RESOURCE_MANAGER_AUDIENCE": "https://management.example",
    "AZURE_AUTHORITY_HOST": "https://login.example",
}


def some(values: Iterable[str]) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(sorted(values)), max_size=2, unique=True).map(tuple)


entries = st.lists(
    st.builds(
        IdentityEntry,
        source=st.just(SOURCE),
        namespaces=st.sampled_from([("*",), ("default",), ("f*",), ("other", "far")]),
        clients=some(IDS),
        tenants=some(IDS),
        subscriptions=some(IDS),
        clouds=some(["https://management.example", "https://login.example"]),
    ),
    max_size=3,
)
secrets = st.fixed_dictionaries(
    {
        "AZURE_CLIENT_ID": st.sampled_from(["a", "B", "c"]),
        "AZURE_TENANT_ID": st.sampled_from(["A", "b"]),
        "AZURE_SUBSCRIPTION_ID": st.sampled_from(["a", "b"]),
        "AZURE_ADDITIONAL_TENANTS": st.sampled_from(["", "a", "a,C"]),
        "AUTH_MODE": st.sampled_from(["", "podidentity", "workloadidentity"]),
    },
    optional={"AZURE_CLIENT_SECRET": st.just("s3cret")},
).flatmap(lambda values: st.sampled_from([values, values | CLOUD]))


def allow(found: Iterable[IdentityEntry], **more: Any) -> AllowList:
    return AllowList(
        allowed=AllowedIdentities(name="identities.yaml", entries=tuple(found), **more), declared={}, file_ids={}
    )


def read(values: dict[str, str]) -> Identity:
    secret = {key: Secret(value) for key, value in values.items()}
    identity = read_identity("default/aso-credential", secret, allow_multi_env_management=True)
    assert isinstance(identity, Identity)
    return identity


def is_covered(entry: IdentityEntry, namespace: str, values: dict[str, str]) -> bool:
    """The rule in other words than the program's: what a Secret names is a subset of what an entry has."""
    matching = {"*": set(NAMESPACES), "f*": {"far"}}
    named = set().union(*(matching.get(pattern, {pattern}) for pattern in entry.namespaces))
    tenants = {values["AZURE_TENANT_ID"], *filter(None, values["AZURE_ADDITIONAL_TENANTS"].split(","))}
    wanted = [
        (entry.clients, {values["AZURE_CLIENT_ID"]}),
        (entry.tenants, tenants),
        (entry.subscriptions, {values["AZURE_SUBSCRIPTION_ID"]}),
    ]
    cloud = {values[key].rstrip("/") for key in CLOUD if key in values} - {"https://management.example"}
    cloud |= {"https://management.example"} if cloud else set()
    is_managed = values["AUTH_MODE"] == "podidentity" and "AZURE_CLIENT_SECRET" not in values
    return (
        namespace in named
        and all(not has or {value.lower() for value in names} <= set(has) for has, names in wanted)
        and cloud <= set(entry.clouds)
        and not (is_managed and entry.tenants and not entry.clients)
    )


@given(entries, st.sampled_from(NAMESPACES), secrets)
def test_a_secret_is_allowed_if_one_entry_has_all_that_it_names(found, namespace, values):
    refusal = allow(found).check(namespace, "mine", read(values))
    assert (refusal is None) is any(is_covered(entry, namespace, values) for entry in found)
    if refusal:
        assert refusal.code == "IdentityNotAllowed"
        assert "s3cret" not in refusal.message


@given(entries, st.sampled_from(NAMESPACES), secrets, st.data())
def test_what_is_taken_out_of_a_list_allows_no_more(found, namespace, values, data):
    identity = read(values)
    if allow(found).check(namespace, "mine", identity) is None or not found:
        return
    fewer = list(found)
    fewer.pop(data.draw(st.integers(0, len(found) - 1)))
    assert allow(fewer).check(namespace, "mine", identity) is not None


@given(entries, st.sampled_from(NAMESPACES), secrets, st.sampled_from(IdentityMode))
def test_an_identity_that_is_not_in_the_list_is_never_opened(found, namespace, values, mode):
    """Nothing else opens the identity of a Secret, so the authority gets no request for it."""
    secret = {key: Secret(value) for key, value in values.items()}
    allow_list = allow(found, mode=mode)
    credentials = Credentials(
        {(namespace, OF_NAMESPACE): secret}, "global", allow_multi_env_management=True, allow_list=allow_list
    )
    opened = []

    async def open_as(identity: Identity) -> Any:
        opened.append(identity)

    (prepared,) = open_prepared(namespace, credentials)
    identities = asyncio.run(open_identities([Apply(prepared=prepared)], credentials, None, NO_IDS, open_as))
    is_allowed = any(is_covered(entry, namespace, values) for entry in found)
    assert bool(opened) is (is_allowed or mode is IdentityMode.REPORT)
    (identity,) = identities.values()
    assert (identity.refusal is None) is bool(opened)
    assert prepared.is_valid is bool(opened)
    warned = [problem.code for problem in credentials.warnings([prepared.resource], {})]
    assert ("IdentityNotAllowed" in warned) is (mode is IdentityMode.REPORT and not is_allowed)


def open_prepared(namespace: str, credentials: Credentials) -> Any:
    key = rg()._replace(namespace=namespace)
    gvk = GVK(key.group, "v1api20200601", key.kind)
    spec = {"location": "westeurope"}
    group = Resource(key=key, gvk=gvk, spec=spec, source=SourceLocation("group.yaml", 1))
    return prepare(Manifests(resources=(group,)), catalog=open_catalog(), subscription=credentials.of)


@pytest.mark.parametrize(
    ("authority", "is_allowed", "why"),
    [
        ("https://login.cross.example", True, "as it is written"),
        ("https://Login.CROSS.example/", True, "case and a slash do not count"),
        ("https://login.cro\u00df.example", False, "it folds to that host, and is another one"),
        ("https://login.cross.example.attacker.example", False, "it only begins so"),
        ("https://login.cross.example\\@attacker.example", False, "readers of addresses differ about it"),
        ("https://login.cross.example:444", False, "another port"),
        ("https://login.cross.example/path", False, "another path"),
    ],
)
def test_another_cloud_is_compared_as_a_whole(authority, is_allowed, why):
    addresses = ("https://management.example", "https://login.cross.example")
    found = [IdentityEntry(source=SOURCE, clients=("a",), clouds=addresses)]
    identity = read(EXAMPLE | CLOUD | {"AZURE_AUTHORITY_HOST": authority})
    assert (allow(found).check("default", "mine", identity) is None) is is_allowed, why


def test_every_value_of_a_secret_that_chooses_an_identity_was_looked_at():
    """A new one must be compared with the list, or be no choice of an identity."""
    compared = {"tenant_id", "client_id", "additional_tenants", "method", "identity_file", "file_ids"}
    proves = {"client_secret", "client_certificate", "client_certificate_password"}
    of_settings = {"client_certificate_path", "federated_token_file", "identity_folder", "environment", "secret_name"}
    assert {field.name for field in fields(type(read(EXAMPLE).sign_in))} == compared | proves | of_settings
    assert {field.name for field in fields(Identity)} == {"subscription", "sign_in", "cloud"}
    assert read(EXAMPLE).sign_in.method is Method.WORKLOAD_IDENTITY


EXAMPLE = {"AZURE_CLIENT_ID": "a", "AZURE_TENANT_ID": "a", "AZURE_SUBSCRIPTION_ID": "a"}
