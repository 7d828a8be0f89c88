"""The cluster that the job runs in as a source and as a sink, over TLS, as its service account."""

import asyncio
import sys
from contextlib import asynccontextmanager
from dataclasses import replace
from types import SimpleNamespace

import private_ca
import pytest
from fake_clock import FakeClock
from fake_key_vault import Fault
from fake_kubernetes import FakeKubernetes

from gitsync.errors import ConfigError
from gitsync.model.export import OWNER, Address, Export, Holder, Owner
from gitsync.model.gvk import Key
from gitsync.model.secret import Secret
from gitsync.secrets.kubernetes.account import find_service_account
from gitsync.secrets.kubernetes.kubernetes import open_kubernetes
from gitsync.secrets.protocols import VaultError

REDIS = Key("cache.azure.com", "Redis", "default", "cache")
DB = Address(Holder.SECRET, "default", "db")
SETTINGS = Address(Holder.CONFIG_MAP, "default", "settings")
GET, POST, PUT = (
    f"{method} /api/v1/namespaces/default/secrets{name}"
    for method, name in (("GET", "/db"), ("POST", ""), ("PUT", "/db"))
)
OURS = {"annotations": {OWNER: str(REDIS)}, "labels": {"app.kubernetes.io/managed-by": "gitsync"}}
MANAGED_BY = "app.kubernetes.io/managed-by"
MARKED = "marked-secret-value"


@pytest.fixture(scope="module")
def ca(tmp_path_factory):
    return private_ca.make(tmp_path_factory.mktemp("ca"))


@pytest.fixture
def run(ca, tmp_path):
    @asynccontextmanager
    async def opened():
        clock = FakeClock()
        async with (
            FakeKubernetes(ca, tmp_path / "account") as fake,
            open_kubernetes(fake.environment, clock, fake.folder) as cluster,
        ):
            yield SimpleNamespace(fake=fake, cluster=cluster, clock=clock)

    def running(test):
        async def inside():
            async with opened() as rig:
                return await test(rig)

        return asyncio.run(inside())

    return running


def export(address=DB, owner=REDIS, annotations=None, labels=None, **data):
    values = {key: Secret(value) for key, value in data.items()}
    return Export(address=address, owner=Owner(owner), data=values, annotations=annotations or {}, labels=labels or {})


def plain(found):
    return None if found is None else {key: value.reveal() for key, value in found.items()}


# reading


@pytest.mark.parametrize(
    ("address", "keys", "expected", "why"),
    [
        (DB, ["password"], {"password": "hunter2\n"}, "nothing is trimmed"),
        (DB, [], {"password": "hunter2\n", "user": "sa"}, "none means all"),
        (DB, ["other"], {}, "the object is there, the key is not"),
        (replace(DB, name="other"), ["password"], None, "there is no such object"),
        (SETTINGS, [], {"region": "westus"}, "a ConfigMap's data, and never its binary data"),
    ],
)
def test_what_is_read(run, address, keys, expected, why):
    async def test(rig):
        rig.fake.make("secrets", "default", "db", {"password": "hunter2\n", "user": "sa"})
        rig.fake.make("configmaps", "default", "settings", {"region": "westus"}, binaryData={"blob": "AAEC"})
        assert plain(await rig.cluster.read(address, keys)) == expected, why

    run(test)


def test_bytes_are_an_error_only_where_they_are_asked_for(run):
    async def test(rig):
        rig.fake.make("secrets", "default", "db", {"bytes": b"\xff\xfe", "user": "sa"})
        assert plain(await rig.cluster.read(DB, ["user"])) == {"user": "sa"}
        with pytest.raises(VaultError, match="Key bytes of Secret default/db"):
            await rig.cluster.read(DB, [])

    run(test)


def test_a_name_that_would_lead_elsewhere_is_not_asked_for(run):
    async def test(rig):
        with pytest.raises(VaultError):
            await rig.cluster.read(replace(DB, name="../../kube-system/secrets/root"), ["key"])
        with pytest.raises(VaultError):
            await rig.cluster.write(export(**{"a/b": "value"}))
        assert rig.fake.requests == []

    run(test)


def test_what_is_no_text_is_told_before_anything_is_written(run):
    async def test(rig):
        with pytest.raises(VaultError, match="The value of key of Secret default/db is not text"):
            rig.cluster.examine([export(user="sa"), export(key="half of a pair: \ud800")])
        with pytest.raises(VaultError, match="is not text"):
            await rig.cluster.write(export(key="\ud800"))
        assert rig.fake.requests == []

    run(test)


def test_a_proxy_of_the_environment_gets_nothing(run, monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")

    async def test(rig):
        assert await rig.cluster.read(DB, ["user"]) is None

    run(test)


def test_a_token_that_was_rotated_is_read_anew(run):
    async def test(rig):
        rig.fake.make("secrets", "default", "db", {"user": "sa"})
        await rig.cluster.read(DB, ["user"])
        rig.fake.rotate("token-2")
        assert plain(await rig.cluster.read(DB, ["user"])) == {"user": "sa"}
        assert [call.token for call in rig.fake.requests] == ["token-1", "token-1", "token-2"]

    run(test)


# refusals


def test_a_missing_right_is_named_as_a_role_names_it(run):
    async def test(rig):
        rig.fake.forbid("get", "secrets")
        with pytest.raises(VaultError) as failed:
            await rig.cluster.read(DB, ["user"])
        assert str(failed.value) == (
            'The API server refused to get Secret default/db (403): secrets "db" is forbidden: User '
            '"system:serviceaccount:jobs:gitsync" cannot get resource "secrets". Grant the service account of the job '
            "a Role in namespace default that allows it to get secrets."
        )
        rig.fake.forbid("update", "configmaps")
        rig.fake.make("configmaps", "default", "settings", {}, metadata=OURS)
        with pytest.raises(VaultError, match="allows it to update configmaps"):
            await rig.cluster.write(export(SETTINGS, region="westus"))

    run(test)


@pytest.mark.parametrize(
    ("faults", "slept", "why"),
    [
        ([Fault(429, headers={"Retry-After": "7"})], [7], "it said for how long"),
        ([Fault(503), Fault(500)], [1, 2], "it may pass"),
        ([Fault(drop=True)], [1], "a connection breaks"),
    ],
)
def test_what_may_pass_is_asked_again(run, faults, slept, why):
    async def test(rig):
        rig.fake.make("secrets", "default", "db", {"user": "sa"})
        rig.fake.fail(GET, *faults)
        assert plain(await rig.cluster.read(DB, ["user"])) == {"user": "sa"}, why
        assert rig.clock.slept == slept

    run(test)


@pytest.mark.parametrize(
    ("fault", "asked", "words"),
    [
        (Fault(503), 6, "Run again later"),
        (Fault(drop=True), 3, "could not be reached to get Secret default/db"),
        (Fault(200, raw="<html>"), 1, "is not that of an API server"),
        (Fault(302, raw="-", headers={"Location": "https://elsewhere.example/"}), 1, r"\(302\)"),
        (Fault(401, "Unauthorized"), 2, "its token is not accepted"),
    ],
)
def test_what_does_not_pass_ends(run, fault, asked, words):
    async def test(rig):
        rig.fake.fail(GET, *[fault] * 20)
        with pytest.raises(VaultError, match=words):
            await rig.cluster.read(DB, ["user"])
        assert len(rig.fake.requests) == asked

    run(test)


def test_a_token_that_went_is_an_error(run):
    async def test(rig):
        (rig.fake.folder / "token").unlink()
        with pytest.raises(VaultError, match="token of the service account is missing"):
            await rig.cluster.read(DB, ["user"])

    run(test)


# writing


@pytest.mark.parametrize(("address", "resource"), [(DB, "secrets"), (SETTINGS, "configmaps")])
def test_an_object_is_made_with_its_owner_and_what_people_asked_for(run, address, resource):
    async def test(rig):
        await rig.cluster.write(
            export(address, annotations={"a": "1", OWNER: "me"}, labels={"l": "2", MANAGED_BY: "me"}, key="välue")
        )
        made = rig.fake.there(resource, address.namespace, address.name)
        assert rig.fake.data(resource, address.namespace, address.name) == {"key": "välue"}
        assert made["metadata"]["annotations"] == {"a": "1", OWNER: "Redis.cache.azure.com/default/cache"}
        assert made["metadata"]["labels"] == {"l": "2", "app.kubernetes.io/managed-by": "gitsync"}
        assert "ownerReferences" not in made["metadata"]
        assert await rig.cluster.owner(address) == str(REDIS)
        assert plain(await rig.cluster.read(address, [])) == {"key": "välue"}

    run(test)


@pytest.mark.parametrize(("address", "resource"), [(DB, "secrets"), (SETTINGS, "configmaps")])
def test_an_object_of_ours_is_replaced_whole(run, address, resource):
    async def test(rig):
        metadata = {**OURS, "annotations": {**OURS["annotations"], "by": "hand"}, "finalizers": ["example.com/keep"]}
        more = {"type": "example.com/kind"} if resource == "secrets" else {"binaryData": {"blob": "AAEC"}}
        rig.fake.make(resource, address.namespace, address.name, {"gone": "1", "key": "old"}, metadata=metadata, **more)
        await rig.cluster.write(export(address, key="new"))
        made = rig.fake.there(resource, address.namespace, address.name)
        assert rig.fake.data(resource, address.namespace, address.name) == {"key": "new"}
        assert made["metadata"]["annotations"] == OURS["annotations"]
        assert made["metadata"]["finalizers"] == ["example.com/keep"], "whoever waits for its end is not ours to drop"
        assert made.get("type") == more.get("type"), "the type of a Secret cannot be changed"
        assert "binaryData" not in made

    run(test)


@pytest.mark.parametrize(
    ("members", "why"),
    [
        ({"binaryData": {"blob": "AAEC"}}, "what was added by hand vanishes"),
        (
            {
                "metadata": {
                    **OURS,
                    "ownerReferences": [{"apiVersion": "apps/v1", "kind": "D", "name": "d", "uid": "u"}],
                }
            },
            "as above",
        ),
    ],
)
def test_an_object_with_the_same_data_and_more_is_replaced(run, members, why):
    async def test(rig):
        rig.fake.make("configmaps", "default", "settings", {"key": "value"}, **{"metadata": OURS, **members})
        await rig.cluster.write(export(SETTINGS, key="value"))
        made = rig.fake.there("configmaps", "default", "settings")
        assert "binaryData" not in made, why
        assert "ownerReferences" not in made["metadata"], why

    run(test)


def test_what_is_the_same_is_not_written(run):
    async def test(rig):
        for _ in range(2):
            await rig.cluster.write(export(key="value", labels={"a": "b"}))
        assert rig.fake.lines("POST", "PUT") == [POST]

    run(test)


@pytest.mark.parametrize(
    ("metadata", "owner", "why"),
    [
        ({}, "", "a person made it"),
        (
            {"annotations": {OWNER: "Redis.cache.azure.com/default/other"}},
            "Redis.cache.azure.com/default/other",
            "another's",
        ),
        (
            {
                **OURS,
                "ownerReferences": [
                    {"apiVersion": "cache.azure.com/v1api20230801", "kind": "Redis", "name": "c", "uid": "u"}
                ],
            },
            "",
            "Azure Service Operator writes it",
        ),
    ],
)
def test_what_is_somebody_elses_is_not_written(run, metadata, owner, why):
    async def test(rig):
        rig.fake.make("secrets", "default", "db", {"user": "sa"}, metadata=metadata)
        assert await rig.cluster.owner(DB) == owner, why
        with pytest.raises(VaultError, match="Secret default/db of the cluster does not belong to Redis"):
            await rig.cluster.write(export(password="p"))
        assert rig.fake.data("secrets", "default", "db") == {"user": "sa"}

    run(test)


def test_nobody_owns_what_is_not_there(run):
    async def test(rig):
        assert await rig.cluster.owner(DB) is None

    run(test)


def test_a_conflict_is_read_again(run):
    async def test(rig):
        rig.fake.make("secrets", "default", "db", {"a": "1"}, metadata=OURS)
        rig.fake.meanwhile[PUT] = lambda: rig.fake.make("secrets", "default", "db", {"b": "2"}, metadata=OURS)
        await rig.cluster.write(export(password="p"))
        assert rig.fake.data("secrets", "default", "db") == {"password": "p"}
        assert rig.fake.lines() == [GET, PUT, GET, PUT]

    run(test)


@pytest.mark.parametrize("line", [POST, PUT])
def test_an_object_that_somebody_else_takes_meanwhile_is_theirs(run, line):
    async def test(rig):
        if line == PUT:
            rig.fake.make("secrets", "default", "db", {"a": "1"}, metadata=OURS)
        rig.fake.meanwhile[line] = lambda: rig.fake.make("secrets", "default", "db", {"b": "2"})
        with pytest.raises(VaultError, match="does not belong to Redis"):
            await rig.cluster.write(export(password="p"))
        assert rig.fake.data("secrets", "default", "db") == {"b": "2"}

    run(test)


def test_a_conflict_without_an_end_ends(run):
    async def test(rig):
        rig.fake.make("secrets", "default", "db", {"a": "1"}, metadata=OURS)
        rig.fake.fail(PUT, *[Fault(409, "Conflict")] * 20)
        with pytest.raises(VaultError, match="Find what else writes this object"):
            await rig.cluster.write(export(password="p"))
        assert len(rig.fake.lines("PUT")) == 6

    run(test)


def test_an_immutable_object_is_an_error_before_it_is_written(run):
    async def test(rig):
        rig.fake.make("secrets", "default", "db", {"a": "1"}, metadata=OURS, immutable=True)
        await rig.cluster.write(export(a="1"))
        with pytest.raises(VaultError, match="immutable"):
            await rig.cluster.write(export(a="2"))
        assert rig.fake.lines("PUT") == []

    run(test)


def test_a_namespace_that_is_missing_is_named(run):
    async def test(rig):
        with pytest.raises(VaultError, match="Create namespace nowhere"):
            await rig.cluster.write(export(replace(DB, namespace="nowhere"), a="1"))

    run(test)


def test_no_value_shows_in_a_refusal(run):
    async def test(rig):
        echoed = f"data.key: Invalid value: {MARKED}, bWFya2VkLXNlY3JldC12YWx1ZQ=="
        rig.fake.fail(POST, Fault(422, "Invalid", echoed))
        with pytest.raises(VaultError, match="Fix the keys, annotations and labels") as failed:
            await rig.cluster.write(export(key=MARKED))
        assert MARKED not in str(failed.value)
        assert "bWFya2Vk" not in str(failed.value)
        assert failed.value.__cause__ is None

    run(test)


def test_what_the_libraries_log_shows_neither_values_nor_tokens(run, caplog):
    caplog.set_level(1)

    async def test(rig):
        await rig.cluster.write(export(key=MARKED))
        assert plain(await rig.cluster.read(DB, [])) == {"key": MARKED}

    run(test)
    assert "httpx2" in {record.name for record in caplog.records}, "they do log"
    assert MARKED not in caplog.text
    assert "bWFya2Vk" not in caplog.text
    assert "token-1" not in caplog.text


# opening


def test_the_check_before_a_run(run):
    async def test(rig):
        await rig.cluster.check()
        rig.fake.fail("POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews", *[Fault(401)] * 2)
        with pytest.raises(ConfigError, match="not accepted"):
            await rig.cluster.check()

    run(test)


@pytest.mark.parametrize(
    ("environment", "words", "why"),
    [
        ({}, "does not run in a Kubernetes pod", "a laptop"),
        ({"KUBERNETES_SERVICE_HOST": "10.0.0.1"}, "does not run in a Kubernetes pod", "half of it"),
        (
            {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"},
            "cannot be read",
            "no token mounted",
        ),
    ],
)
def test_outside_of_a_cluster_the_error_says_so(tmp_path, environment, words, why):
    with pytest.raises(ConfigError, match=words):
        find_service_account(environment, tmp_path)


def test_an_address_of_the_newer_kind_is_put_in_brackets(tmp_path):
    for file in ("token", "ca.crt", "namespace"):
        (tmp_path / file).write_text("jobs\n")
    account = find_service_account({"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "443"}, tmp_path)
    assert (account.server, account.namespace) == ("https://[fd00::1]:443", "jobs")


def test_certificates_that_are_none_are_told(tmp_path):
    for file in ("token", "ca.crt", "namespace"):
        (tmp_path / file).write_text("jobs")

    async def test():
        environment = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}
        async with open_kubernetes(environment, FakeClock(), tmp_path):
            pass

    with pytest.raises(ConfigError, match="certificates of the cluster cannot be read"):
        asyncio.run(test())


def test_without_the_extra_the_error_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "lightkube", None)
    monkeypatch.delitem(sys.modules, "gitsync.secrets.kubernetes.requests", raising=False)

    async def test():
        async with open_kubernetes({}, FakeClock()):
            pass

    with pytest.raises(ConfigError, match=r"pip install 'gitsync\[kubernetes\]'"):
        asyncio.run(test())


# removing

DELETE = "DELETE /api/v1/namespaces/default/secrets/db"


@pytest.mark.parametrize(("address", "resource"), [(DB, "secrets"), (SETTINGS, "configmaps")])
def test_what_a_forgotten_resource_exported_is_deleted_as_it_was_seen(run, address, resource):
    async def test(rig):
        made = rig.fake.make(resource, "default", address.name, {"a": "1"}, metadata=OURS, immutable=True)
        for _ in range(2):
            await rig.cluster.remove(address, REDIS)
        assert rig.fake.names(resource, "default") == []
        (deletion,) = [call for call in rig.fake.requests if call.line.startswith("DELETE")]
        assert deletion.body["preconditions"] == {"resourceVersion": made["metadata"]["resourceVersion"]}

    run(test)


@pytest.mark.parametrize(
    ("metadata", "why"),
    [
        ({}, "a person made it"),
        ({"annotations": {OWNER: "Redis.cache.azure.com/default/other"}}, "another's"),
        (
            {**OURS, "ownerReferences": [{"apiVersion": "cache.azure.com/v1", "kind": "R", "name": "c", "uid": "u"}]},
            "Azure Service Operator's, whose owner its cluster still has",
        ),
    ],
)
def test_what_is_somebody_elses_is_not_deleted(run, metadata, why):
    async def test(rig):
        rig.fake.make("secrets", "default", "db", {"user": "sa"}, metadata=metadata)
        await rig.cluster.remove(DB, REDIS)
        assert rig.fake.lines("DELETE") == [], why

    run(test)


@pytest.mark.parametrize(
    ("metadata", "left", "why"),
    [(OURS, [], "it is still ours"), ({}, ["db"], "somebody took it over")],
)
def test_what_was_written_meanwhile_is_looked_at_again(run, metadata, left, why):
    async def test(rig):
        rig.fake.make("secrets", "default", "db", {"a": "1"}, metadata=OURS)
        rig.fake.meanwhile[DELETE] = lambda: rig.fake.make("secrets", "default", "db", {"b": "2"}, metadata=metadata)
        await rig.cluster.remove(DB, REDIS)
        assert rig.fake.names("secrets", "default") == left, why
        assert rig.fake.lines()[:3] == [GET, DELETE, GET], why

    run(test)


def test_what_goes_between_the_look_and_the_delete_is_gone(run):
    async def test(rig):
        rig.fake.make("secrets", "default", "db", {"a": "1"}, metadata=OURS)
        rig.fake.fail(DELETE, Fault(404, "NotFound"))
        await rig.cluster.remove(DB, REDIS)
        assert rig.fake.lines() == [GET, DELETE]

    run(test)


def test_the_right_to_delete_is_named_as_a_role_names_it(run):
    async def test(rig):
        rig.fake.make("secrets", "default", "db", {"a": "1"}, metadata=OURS)
        rig.fake.forbid("delete", "secrets")
        with pytest.raises(VaultError, match="a Role in namespace default that allows it to delete secrets"):
            await rig.cluster.remove(DB, REDIS)

    run(test)
