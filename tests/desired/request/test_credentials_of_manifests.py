"""Which credential a resource has, and what the keys of its Secret say; without Azure
(docs/reference/reconciliation.md#credential-selection).
"""

from __future__ import annotations

import base64
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.manifests.credential_secret import (
    CLOUD,
    KEYS,
    PUBLIC_KEYS,
    CredentialRefusal,
    iterate_secrets,
    read_identity,
    read_subscription,
)
from gitsync.desired.manifests.reader import read_manifests
from gitsync.desired.problems.finding import Finding
from gitsync.desired.request.build import prepare
from gitsync.desired.request.credential_choice import (
    Credential,
    Credentials,
    Unknown,
    choose_offline,
    list_credential_names,
)
from gitsync.desired.validation.annotations import CREDENTIAL_FROM
from gitsync.model.gvk import GVK
from gitsync.model.problem import Level, SourceLocation
from gitsync.model.record import Record
from gitsync.model.resource import Resource
from gitsync.model.secret import Secret
from gitsync.model.signin import Identity, Method, OtherCloud
from tests.support.builders import record, rg, vnet

IDS = {"AZURE_SUBSCRIPTION_ID": "sub-1", "AZURE_TENANT_ID": "tenant-1", "AZURE_CLIENT_ID": "client-1"}
ELSEWHERE = {
    "AZURE_RESOURCE_MANAGER_ENDPOINT": "https://arm.example",
    "AZURE_RESOURCE_MANAGER_AUDIENCE": "https://arm.example/",
    "AZURE_AUTHORITY_HOST": "https://login.example",
}


def values(**keys: str | None) -> dict[str, Secret]:
    return {key: Secret(value) for key, value in (IDS | keys).items() if value is not None}


def resource(credential_from: str = "", namespace: str = "default") -> Resource:
    key = rg()._replace(namespace=namespace)
    annotations = {CREDENTIAL_FROM: credential_from} if credential_from else {}
    gvk = GVK(key.group, "v1api20200601", key.kind)
    return Resource(key=key, gvk=gvk, spec={}, source=SourceLocation("a.yaml", 1), annotations=annotations)


MODES = [
    ({}, Method.WORKLOAD_IDENTITY, "nothing said"),
    ({"AUTH_MODE": "workloadidentity"}, Method.WORKLOAD_IDENTITY, "said"),
    ({"AUTH_MODE": "podidentity"}, Method.MANAGED_IDENTITY, "the machine's"),
    ({"AZURE_CLIENT_SECRET": "s"}, Method.CLIENT_SECRET, "a secret"),
    ({"AZURE_CLIENT_SECRET": "s", "AUTH_MODE": "podidentity"}, Method.CLIENT_SECRET, "a secret goes first"),
    ({"AZURE_CLIENT_SECRET": "s", "AZURE_CLIENT_CERTIFICATE": "c"}, Method.CLIENT_SECRET, "and before a certificate"),
    (
        {"AZURE_CLIENT_CERTIFICATE": "c", "AZURE_USER_ASSIGNED_IDENTITY_CREDENTIALS": "/f"},
        Method.CLIENT_CERTIFICATE,
        "a certificate before a file",
    ),
    (
        {"AZURE_USER_ASSIGNED_IDENTITY_CREDENTIALS": "/f", "AUTH_MODE": "x"},
        Method.IDENTITY_FILE,
        "a file before a mode",
    ),
    ({"AZURE_CLIENT_SECRET": " "}, Method.WORKLOAD_IDENTITY, "what is empty is not there"),
]


@pytest.mark.parametrize(("keys", "method", "why"), MODES)
def test_the_first_mode_that_is_there_counts(keys, method, why):
    found = read_identity("ns/n", values(**keys), allow_multi_env_management=False)
    assert isinstance(found, Identity), why
    assert found.sign_in.method is method, why
    assert (found.subscription, found.sign_in.tenant_id, found.sign_in.client_id) == ("sub-1", "tenant-1", "client-1")
    assert found.sign_in.secret_name == "ns/n"


def test_only_what_the_mode_needs_is_taken_along():
    found = read_identity(
        "ns/n",
        values(AZURE_CLIENT_SECRET="s", AZURE_CLIENT_CERTIFICATE="c", AZURE_CLIENT_CERTIFICATE_PASSWORD="p"),
        allow_multi_env_management=False,
    )
    assert isinstance(found, Identity)
    assert (found.sign_in.client_secret, found.sign_in.client_certificate) == (Secret("s"), None)
    assert found.sign_in.client_certificate_password is None


def test_ids_lose_the_white_space_that_files_end_with_and_secrets_keep_it():
    found = read_identity(
        "ns/n", values(AZURE_TENANT_ID="tenant-1\n", AZURE_CLIENT_SECRET="s\n"), allow_multi_env_management=False
    )
    assert isinstance(found, Identity)
    assert (found.sign_in.tenant_id, found.sign_in.client_secret) == ("tenant-1", Secret("s\n"))


def test_additional_tenants_are_a_list():
    found = read_identity("ns/n", values(AZURE_ADDITIONAL_TENANTS="a, b,,"), allow_multi_env_management=False)
    assert isinstance(found, Identity)
    assert found.sign_in.additional_tenants == ("a", "b")


CLOUDS = [
    (ELSEWHERE, True, None, "allowed, and whole"),
    (ELSEWHERE, False, "names another Azure", "not allowed"),
    ({CLOUD[0]: "https://arm.example"}, True, "names another Azure cloud incompletely", "one of three"),
    ({**ELSEWHERE, CLOUD[0]: "http://127.0.0.1:8000"}, True, "not https", "a token in the open, to this machine"),
    ({**ELSEWHERE, CLOUD[2]: "login.example"}, True, "not https", "who knows where"),
]


@pytest.mark.parametrize(("keys", "allowed", "refused", "why"), CLOUDS)
def test_another_azure_needs_a_setting_and_all_three_keys(keys, allowed, refused, why):
    found = read_identity("ns/n", values(**keys), allow_multi_env_management=allowed)
    if refused is None:
        assert isinstance(found, Identity), why
        assert found.cloud == OtherCloud(
            endpoint="https://arm.example", audience="https://arm.example/", authority="https://login.example"
        )
    else:
        assert isinstance(found, CredentialRefusal), why
        assert refused in found.message


@given(st.dictionaries(st.sampled_from(KEYS), st.text(max_size=60), max_size=len(KEYS)), st.booleans())
def test_any_secret_is_read_or_refused_and_no_secret_shows(said, allowed):
    marked = {key: text if key in PUBLIC_KEYS else f"m4rked{text}" for key, text in said.items()}
    found = read_identity(
        "ns/n", {key: Secret(text) for key, text in marked.items()}, allow_multi_env_management=allowed
    )
    assert "m4rked" not in repr(found)
    if isinstance(found, Identity):
        assert "/" not in f"{found.subscription}{found.sign_in.tenant_id}{found.sign_in.client_id}"
        assert found.cloud is None or allowed


def test_ids_are_public_and_all_else_is_hidden():
    keys = values(AZURE_CLIENT_SECRET="s", AUTH_MODE="m", something="else")
    assert {secret.reveal() for secret in iterate_secrets(keys)} == {"s", "else"}


FOUND = {
    ("default", "aso-credential"): values(),
    ("default", "mine"): values(AZURE_SUBSCRIPTION_ID="sub-2"),
    ("default", "broken"): values(AZURE_TENANT_ID=None),
    ("none", "aso-credential"): None,
    ("remote", "aso-credential"): Unknown("a plan asks nobody.", unasked=True),
    ("remote", "mine"): Unknown("a plan asks nobody.", unasked=True),
    ("down", "aso-credential"): Unknown("the vault answered 403."),
}
CHOICES = [
    (resource(), "aso-credential", "sub-1", "the namespace's"),
    (resource("mine"), "mine", "sub-2", "its own"),
    (resource("a/b"), "aso-credential", "sub-1", "a slash is a mistake that validation tells"),
    (resource(namespace="none"), "", "everybodys", "the global one"),
    (resource(namespace="remote"), "", "everybodys", "as far as a plan may look"),
]


@pytest.mark.parametrize(("one", "name", "subscription", "why"), CHOICES)
def test_the_nearest_level_counts(one, name, subscription, why):
    found = Credentials(FOUND, "everybodys").of(one)
    assert isinstance(found, Credential), why
    assert (found.name, found.subscription) == (name, subscription), why


REFUSED = [
    (resource("missing"), 'credential Secret "default/missing" does not exist', "no fall-back"),
    (resource("broken"), 'credential Secret "default/broken" does not contain key "AZURE_TENANT_ID"', "incomplete"),
    (resource(namespace="down"), "the vault answered 403.", "unknown is not absent"),
]


@pytest.mark.parametrize(("one", "words", "why"), REFUSED)
def test_no_level_replaces_another(one, words, why):
    found = Credentials(FOUND, "everybodys").of(one)
    assert isinstance(found, Finding), why
    assert words in found.message
    assert (found.code, found.level) == ("CredentialNotUsable", Level.ERROR)
    assert found.hint


def test_without_a_global_one_a_resource_needs_its_own():
    found = Credentials(FOUND, "").of(resource(namespace="none"))
    assert isinstance(found, Finding)
    assert found.message.startswith("global credential not configured")


RECORDED = [("", "sub-1"), ("aso-credential", "sub-1"), ("mine", "sub-2"), ("missing", None)]


@pytest.mark.parametrize(("name", "subscription"), RECORDED)
def test_what_was_removed_from_git_is_selected_again(name, subscription):
    found = Credentials(FOUND, "everybodys").of_record(record(rg(), "/x", credential=name))
    assert (found.subscription if isinstance(found, Credential) else None) == subscription


def test_all_that_may_be_requested_is_looked_up():
    records = {vnet(): record(vnet(), "/x", credential="old")}
    assert list_credential_names([resource("mine"), resource(namespace="far")], records) == (
        ("default", "aso-credential"),
        ("default", "mine"),
        ("default", "old"),
        ("far", "aso-credential"),
    )


def recorded(name: str, credential: str = "", subscription: str = "", arm_id: str = "") -> Record:
    key = rg(name)._replace(namespace="remote")
    default = f"/subscriptions/of-{name}/resourceGroups/{name}"
    return record(key, arm_id or default, credential=credential, subscription=subscription)


OWN = "aso-credential"
ALIAS_CHILD = "/subscriptions/made-by-azure/providers/Microsoft.Authorization/roleAssignments/x"
OPEN = "<subscription of {} in remote>"
ASSUMED = [
    ("", [recorded("core", OWN, "sub-1")], "sub-1", "its own record"),
    ("", [recorded("core", OWN, "sub-1", ALIAS_CHILD)], "sub-1", "an id may be in another one"),
    ("", [recorded("core", OWN)], "of-core", "an older record has only the id"),
    ("", [recorded("core", OWN, "../x", "/x")], "everybodys", "a record that somebody made up names no subscription"),
    ("mine", [recorded("core", "mine", "sub-2"), recorded("a", OWN, "sub-1")], "sub-2", "its own record"),
    ("mine", [recorded("core", "other", "sub-2")], "sub-2", "a resource does not move to another subscription"),
    ("", [recorded("core"), recorded("a", OWN, "sub-1")], "everybodys", "it had the global one"),
    ("", [recorded("a", OWN, "sub-1"), recorded("b", OWN, "sub-1")], "sub-1", "that of all others with this Secret"),
    ("", [recorded("a", OWN, "sub-1"), recorded("b", OWN, "sub-2")], "everybodys", "the Secret changed in between"),
    ("", [recorded("a", OWN, "sub-1"), recorded("b")], "sub-1", "the Secret was added in between"),
    ("", [recorded("a"), recorded("b", "mine", "sub-2")], "everybodys", "the others have the global one"),
    ("mine", [recorded("a", "mine", "sub-2")], "sub-2", "that of another one with this Secret"),
    ("mine", [recorded("a", OWN, "sub-1")], OPEN.format("mine"), "nothing is known of this Secret"),
    ("mine", [], OPEN.format("mine"), "nothing is known"),
]


def everyone(records: Iterable[Record], subscription: str = "everybodys") -> Credentials:
    return Credentials(FOUND, subscription, {stored.key: stored for stored in records})


@pytest.mark.parametrize(("named", "records", "subscription", "why"), ASSUMED)
def test_a_plan_takes_from_the_records_what_it_does_not_read(named, records, subscription, why):
    found = everyone(records).of(resource(named, "remote"))
    assert isinstance(found, Credential), why
    assert (found.subscription, found.is_sure, found.identity) == (subscription, False, None), why


@pytest.mark.parametrize(
    ("records", "doubts", "why"),
    [
        ([], True, "there may be a Secret"),
        ([recorded("a", "mine", "sub-2")], True, "which says nothing of the one of the namespace"),
        ([recorded("a")], False, "the namespace had none"),
        ([recorded("core", OWN, "sub-1")], False, "its subscription is on record"),
    ],
)
def test_a_plan_doubts_an_id_of_which_nothing_is_known(records, doubts, why):
    found = everyone(records).of(resource(namespace="remote"))
    assert isinstance(found, Credential)
    assert bool(found.doubt) is doubts, why


def test_without_a_global_credential_a_plan_leaves_the_subscription_open():
    found = everyone([], "").of(resource(namespace="remote"))
    assert isinstance(found, Credential)
    assert (found.name, found.subscription) == (OWN, OPEN.format(OWN))


def test_what_was_removed_from_git_is_taken_from_its_record():
    found = everyone([removed := recorded("gone", "mine", "sub-2")]).of_record(removed)
    assert isinstance(found, Credential)
    assert (found.name, found.subscription) == ("mine", "sub-2")


def told(*records: Record, named: str = "") -> list[str]:
    by_key = {stored.key: stored for stored in records}
    found = Credentials(FOUND, "everybodys", by_key).warnings([resource(named, "remote"), resource()], by_key)
    problems = list(found)
    assert all((problem.code, problem.level) == ("CredentialNotLookedUp", Level.WARNING) for problem in problems)
    assert all("Set --plan-secrets" in problem.hint for problem in problems)
    return [problem.message for problem in problems]


def test_a_plan_reports_once_what_it_did_not_read():
    (unknown,) = told()
    assert unknown.startswith("This plan does not read the credential Secrets of remote, and none is on record")
    assert told(recorded("core")) == [], "it was the global one"
    (checked,) = told(recorded("core", OWN, "sub-1"), recorded("gone", "mine", "sub-2"))
    assert checked.startswith("This plan does not read the credential Secrets remote/aso-credential, remote/mine.")


def test_offline_a_secret_that_is_not_in_git_may_be_elsewhere():
    of = choose_offline({("default", "mine"): values(AZURE_SUBSCRIPTION_ID="sub-2")}, "everybodys")
    sure, unsure = of(resource("mine")), of(resource())
    assert isinstance(sure, Credential)
    assert isinstance(unsure, Credential)
    assert (sure.subscription, sure.is_sure) == ("sub-2", True)
    assert (unsure.subscription, unsure.is_sure) == ("everybodys", False)
    assert read_subscription(values(AZURE_SUBSCRIPTION_ID="../x")) is None


def secret_manifest(name: str, subscription: str) -> str:
    return f"""\
apiVersion: v1
kind: Secret
metadata: {{name: {name}}}
stringData: {{AZURE_SUBSCRIPTION_ID: {subscription}, AZURE_TENANT_ID: t, AZURE_CLIENT_ID: c}}
---
"""


def manifests_with(group_from: str, child_from: str, owner: str = "name: core") -> str:
    return f"""\
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {{name: core, annotations: {{{CREDENTIAL_FROM}: {group_from!r}}}}}
spec: {{location: westeurope}}
---
apiVersion: network.azure.com/v1api20240301
kind: VirtualNetwork
metadata: {{name: hub, annotations: {{{CREDENTIAL_FROM}: {child_from!r}}}}}
spec:
  location: westeurope
  owner: {{{owner}}}
  addressSpace: {{addressPrefixes: [10.0.0.0/16]}}
---
apiVersion: network.azure.com/v1api20240301
kind: VirtualNetworksSubnet
metadata: {{name: one, annotations: {{{CREDENTIAL_FROM}: {child_from!r}}}}}
spec: {{owner: {{name: hub}}, addressPrefix: 10.0.0.0/24}}
---
"""


BOTH = secret_manifest("a", "sub-a") + secret_manifest("b", "sub-b")
ELSEWHERE_GROUP = "armId: /subscriptions/sub-a/resourceGroups/core"
SETS = [
    (manifests_with("a", "a"), set(), "one credential"),
    (manifests_with("a", "b"), {"ParentSubscription"}, "two subscriptions"),
    (manifests_with("a", "c") + secret_manifest("c", "SUB-A"), set(), "one, in other letters"),
    (manifests_with("a", "b", ELSEWHERE_GROUP), set(), "below an ARM id the id itself is compared, at run time"),
    (manifests_with("", "b"), set(), "offline, a guess is held against nobody"),
]


@pytest.mark.parametrize(("text", "codes", "why"), SETS)
def test_offline_two_subscriptions_under_one_group_are_found(text, codes, why):
    read = read_manifests({"a.yaml": (BOTH + text).encode()})
    of = choose_offline(read.objects.secrets, "everybodys")
    found = {entry.key.kind: entry for entry in prepare(read, catalog=open_catalog(), subscription=of)}
    assert {p.code for request in found.values() for p in request.problems} == codes, why
    if codes:
        (problem,) = found["VirtualNetworksSubnet"].problems
        assert problem.message == 'resource subscription "sub-b" does not match parent subscription "sub-a"'


def test_what_is_in_a_group_without_a_credential_reports_it():
    read = read_manifests({"a.yaml": (BOTH + manifests_with("missing", "b")).encode()})
    credentials = Credentials({**read.objects.secrets, ("default", "missing"): None}, "everybodys")
    group, vnet_, subnet = sorted(
        prepare(read, catalog=open_catalog(), subscription=credentials.of), key=lambda entry: entry.resource.source
    )
    assert [(request.arm_id, request.is_valid) for request in (group, vnet_, subnet)] == [(None, False)] * 3
    assert [p.message for p in group.problems] == ['credential Secret "default/missing" does not exist']
    assert [p.message for p in vnet_.problems] == [
        "The resource group core has no credential, so its subscription is unknown."
    ]
    assert (group.credential, vnet_.credential) == ("", "b")


def test_a_certificate_in_binary_stays_in_base64_and_other_binaries_are_left_out():
    data = base64.b64encode(b"\x30\x82\xff\xfe").decode()
    text = (
        f"apiVersion: v1\nkind: Secret\nmetadata: {{name: x}}\ndata: {{AZURE_CLIENT_CERTIFICATE: {data}, b: {data}}}\n"
    )
    read = read_manifests({"a.yaml": text.encode()})
    assert read.objects.secrets["default", "x"] == {"AZURE_CLIENT_CERTIFICATE": Secret(data)}
    assert [problem.code for problem in read.problems] == ["BinarySecret"]
