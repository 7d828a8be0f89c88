"""The cluster that the job runs in as a source and as a sink, over TLS, as its service account."""

import base64
import json
import sys
from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace

import pytest
import yaml

from gitsync.errors import ConfigError, SecretStoreError
from gitsync.model.export import OWNER, REPOSITORY, Address, Export, ObjectKind, Owner
from gitsync.model.gvk import Key
from gitsync.model.secret import Secret
from gitsync.repository.secrets.kubernetes.account import read_service_account
from gitsync.repository.secrets.kubernetes.kubernetes import open_kubernetes
from gitsync.repository.secrets.protocols import ExportNeeds
from tests.support import private_ca
from tests.support.fake_clock import FakeClock
from tests.support.fake_key_vault import Fault
from tests.support.fake_kubernetes import MISSING, POLICY, REVIEWS, STARTING, WEBHOOK, Admission, FakeKubernetes

REDIS = Key("cache.azure.com", "Redis", "default", "cache")
DB = Address(ObjectKind.SECRET, "default", "db")
SETTINGS = Address(ObjectKind.CONFIG_MAP, "default", "settings")
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
async def rig(ca, tmp_path):
    clock = FakeClock()
    async with (
        FakeKubernetes(ca, tmp_path / "account") as fake,
        open_kubernetes(fake.environment, clock, fake.folder) as cluster,
    ):
        yield SimpleNamespace(fake=fake, cluster=cluster, clock=clock)


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
async def test_what_is_read(rig, address, keys, expected, why):
    rig.fake.make("secrets", "default", "db", {"password": "hunter2\n", "user": "sa"})
    rig.fake.make("configmaps", "default", "settings", {"region": "westus"}, binaryData={"blob": "AAEC"})
    assert plain(await rig.cluster.read(address, keys)) == expected, why


async def test_bytes_are_an_error_only_where_they_are_asked_for(rig):
    rig.fake.make("secrets", "default", "db", {"bytes": b"\xff\xfe", "user": "sa"})
    assert plain(await rig.cluster.read(DB, ["user"])) == {"user": "sa"}
    with pytest.raises(SecretStoreError, match="Key bytes of Secret default/db"):
        await rig.cluster.read(DB, [])


async def test_a_name_that_would_lead_elsewhere_is_not_asked_for(rig):
    with pytest.raises(SecretStoreError):
        await rig.cluster.read(replace(DB, name="../../kube-system/secrets/root"), ["key"])
    with pytest.raises(SecretStoreError):
        await rig.cluster.write(export(**{"a/b": "value"}))
    assert rig.fake.requests == []


async def test_what_is_no_text_is_told_before_anything_is_written(rig):
    with pytest.raises(SecretStoreError, match="The value of key of Secret default/db is not text"):
        rig.cluster.examine([export(user="sa"), export(key="half of a pair: \ud800")])
    with pytest.raises(SecretStoreError, match="is not text"):
        await rig.cluster.write(export(key="\ud800"))
    assert rig.fake.requests == []


async def test_a_proxy_of_the_environment_gets_nothing(rig, monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    assert await rig.cluster.read(DB, ["user"]) is None


async def test_a_token_that_was_rotated_is_read_anew(rig):
    rig.fake.make("secrets", "default", "db", {"user": "sa"})
    await rig.cluster.read(replace(DB, name="other"), ["user"])
    rig.fake.rotate("token-2")
    assert plain(await rig.cluster.read(DB, ["user"])) == {"user": "sa"}
    assert [call.token for call in rig.fake.requests] == ["token-1", "token-1", "token-2"]


# refusals


REFUSALS = [
    (
        lambda fake: fake.forbid("create", "secrets"),
        (
            'refused to create Secret default/db (403): secrets is forbidden: User "system:serviceaccount:jobs:gitsync" '
            'cannot create resource "secrets" in API group "" in the namespace "default". Apply this Role'
        ),
        "RBAC",
    ),
    (
        lambda fake: fake.limit("secrets", 0),
        (
            'refused to create Secret default/db because of a quota (403): secrets "db" is forbidden: exceeded quota: few, '
            "requested: secrets=1, used: secrets=0, limited: secrets=0. Raise the quota of namespace default"
        ),
        "a quota",
    ),
    (
        lambda fake: fake.terminate("default"),
        (
            'refused to create Secret default/db because the namespace is being deleted (403): secrets "db" is forbidden: '
            "unable to create new content in namespace default because it is being terminated. Wait until namespace default"
        ),
        "the end of the namespace",
    ),
    (
        lambda fake: setattr(fake, "admission", Admission(422, "Invalid", f'secrets "db" is forbidden: {POLICY}')),
        f'because of an admission policy (422): secrets "db" is forbidden: {POLICY}. Fix the annotations and labels',
        "a policy, with the status that it has by default",
    ),
    (
        lambda fake: setattr(fake, "admission", Admission(403, "Forbidden", WEBHOOK)),
        f"because of an admission webhook (403): {WEBHOOK}. Fix the annotations and labels",
        "a webhook",
    ),
    (
        lambda fake: setattr(fake, "admission", Admission(403, "", "")),
        "refused to create Secret default/db (403). Ask an administrator of the cluster",
        "something that does not say what it is",
    ),
]


@pytest.mark.parametrize(("prepare", "words", "why"), REFUSALS)
async def test_a_refusal_names_its_cause_and_only_rbac_a_role(rig, prepare, words, why):
    prepare(rig.fake)
    with pytest.raises(SecretStoreError) as failed:
        await rig.cluster.write(export(user="sa"))
    assert words in str(failed.value), why
    assert ("kind: Role" in str(failed.value)) == (why == "RBAC"), why
    assert rig.fake.lines("POST") == [POST], "nothing of it passes"


async def test_a_missing_right_comes_with_the_role_that_grants_it(rig):
    rig.fake.forbid("get", "secrets")
    with pytest.raises(SecretStoreError) as failed:
        await rig.cluster.read(DB, ["user"])
    _, _, text = failed.value.hint.partition(": ")
    role, binding = yaml.safe_load(text)["items"]
    assert role["metadata"] == {"name": "gitsync-get-secrets", "namespace": "default"}
    assert role["rules"] == [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}]
    assert binding["roleRef"]["name"] == "gitsync-get-secrets"
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "gitsync", "namespace": "jobs"}]


@pytest.mark.parametrize(
    ("faults", "slept", "why"),
    [
        ([Fault(429, headers={"Retry-After": "7"})], [7], "it said for how long"),
        ([Fault(503), Fault(500)], [1, 2], "it may pass"),
        ([Fault(drop=True)], [1], "a connection breaks"),
        ([Fault(403, "Forbidden", STARTING)], [1], "it has just started, and has not read its own roles yet"),
        ([Fault(drop=True), *[Fault(403, "Forbidden", MISSING)] * 2], [1, 2, 4], "nor those of the namespaces"),
    ],
)
async def test_what_may_pass_is_asked_again(rig, faults, slept, why):
    rig.fake.make("secrets", "default", "db", {"user": "sa"})
    rig.fake.fail(GET, *faults)
    assert plain(await rig.cluster.read(DB, ["user"])) == {"user": "sa"}, why
    assert rig.clock.slept == slept


@pytest.mark.parametrize(
    ("fault", "requested", "words"),
    [
        (Fault(503), 7, "Run again later"),
        (Fault(drop=True), 7, "could not be reached to get Secret default/db"),
        (Fault(200, raw="<html>"), 1, "is not that of an API server"),
        (Fault(302, raw="-", headers={"Location": "https://elsewhere.example/"}), 1, r"\(302\)"),
        (Fault(401, "Unauthorized"), 2, "its token is not accepted"),
        (Fault(403, "Forbidden", MISSING), 1, "kind: Role"),
        (Fault(403, "Forbidden", STARTING), 7, "kind: Role"),
    ],
)
async def test_what_does_not_pass_ends(rig, fault, requested, words):
    rig.fake.fail(GET, *[fault] * 20)
    with pytest.raises(SecretStoreError, match=words):
        await rig.cluster.read(DB, ["user"])
    assert len(rig.fake.requests) == requested


async def test_a_token_that_went_is_an_error(rig):
    (rig.fake.folder / "token").unlink()
    with pytest.raises(SecretStoreError, match="token of the service account is missing"):
        await rig.cluster.read(DB, ["user"])


# writing


@pytest.mark.parametrize(("address", "resource"), [(DB, "secrets"), (SETTINGS, "configmaps")])
async def test_an_object_is_made_with_its_owner_and_what_people_asked_for(rig, address, resource):
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


@pytest.mark.parametrize(("address", "resource"), [(DB, "secrets"), (SETTINGS, "configmaps")])
async def test_an_object_of_ours_is_replaced_whole(rig, address, resource):
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
async def test_an_object_with_the_same_data_and_more_is_replaced(rig, members, why):
    rig.fake.make("configmaps", "default", "settings", {"key": "value"}, **{"metadata": OURS, **members})
    await rig.cluster.write(export(SETTINGS, key="value"))
    made = rig.fake.there("configmaps", "default", "settings")
    assert "binaryData" not in made, why
    assert "ownerReferences" not in made["metadata"], why


async def test_what_is_the_same_is_not_written(rig):
    for _ in range(2):
        await rig.cluster.write(export(key="value", labels={"a": "b"}))
    assert rig.fake.lines("POST", "PUT") == [POST]


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
async def test_what_is_somebody_elses_is_not_written(rig, metadata, owner, why):
    rig.fake.make("secrets", "default", "db", {"user": "sa"}, metadata=metadata)
    assert await rig.cluster.owner(DB) == owner, why
    with pytest.raises(SecretStoreError, match="Secret default/db of the cluster does not belong to Redis"):
        await rig.cluster.write(export(password="p"))
    assert rig.fake.data("secrets", "default", "db") == {"user": "sa"}


@pytest.mark.parametrize(
    ("owner", "words", "hint", "why"),
    [
        ("", "so it is not written.", "Export to another name, or delete it.", "a person made it"),
        (
            "Redis.cache.azure.com/default/other",
            "Redis.cache.azure.com/default/other exports it.",
            "Export to another name.",
            "another resource's",
        ),
        (
            f"{REDIS} of blue",
            f"{REDIS} of the agent blue exports it.",
            "Export to another name.",
            "another agent's",
        ),
    ],
)
async def test_who_owns_an_object_is_named_and_only_nobodys_is_one_to_delete(rig, owner, words, hint, why):
    metadata = {"annotations": {OWNER: owner}} if owner else {}
    rig.fake.make("secrets", "default", "db", {"user": "sa"}, metadata=metadata)
    with pytest.raises(SecretStoreError) as failed:
        await rig.cluster.write(export(password="p"))
    assert failed.value.message.endswith(words), why
    assert failed.value.hint == hint, why


OURS_OF_A = {**OURS, "annotations": {**OURS["annotations"], REPOSITORY: "git.example/a"}}


@pytest.mark.parametrize(
    ("metadata", "repository", "kept", "why"),
    [
        (OURS, "git.example/a", "git.example/a", "an older version wrote none"),
        (OURS_OF_A, "git.example/a", "git.example/a", "the same"),
        (OURS_OF_A, "", "git.example/a", "this run does not know its own"),
        (OURS_OF_A, "git.example/b", None, "two repositories without names of their own"),
    ],
)
async def test_an_object_of_another_repository_is_neither_written_nor_deleted(rig, metadata, repository, kept, why):
    rig.fake.make("secrets", "default", "db", {"user": "sa"}, metadata=metadata)
    owner = Owner(REDIS, repository=repository)
    write = rig.cluster.write(replace(export(user="me"), owner=owner))
    if kept is None:
        with pytest.raises(
            SecretStoreError, match=r"is exported from the repository git.example/a, not from git.example/b"
        ):
            await write
        assert rig.fake.data("secrets", "default", "db") == {"user": "sa"}, why
    else:
        await write
        assert rig.fake.there("secrets", "default", "db")["metadata"]["annotations"][REPOSITORY] == kept, why
    await rig.cluster.remove(DB, owner)
    assert rig.fake.has("secrets", "default", "db") == (kept is None), why


async def test_a_manifest_cannot_say_which_repository_it_is_from(rig):
    await rig.cluster.write(export(annotations={REPOSITORY: "git.example/b"}, user="sa"))
    assert REPOSITORY not in rig.fake.there("secrets", "default", "db")["metadata"]["annotations"]


async def test_a_rehearsal_stores_nothing_and_its_read_serves_the_write(rig):
    await rig.cluster.owner(DB)
    await rig.cluster.rehearse([export(user="sa")])
    assert not rig.fake.has("secrets", "default", "db")
    await rig.cluster.write(export(user="sa"))
    assert rig.fake.lines() == [GET, f"{POST}?dryRun=All", POST]
    rig.fake.requests.clear()
    await rig.cluster.rehearse([export(user="sa")])
    assert rig.fake.lines() == [GET], "nothing would be written"


async def test_nobody_owns_what_is_not_there(rig):
    assert await rig.cluster.owner(DB) is None


async def test_a_conflict_is_read_again(rig):
    rig.fake.make("secrets", "default", "db", {"a": "1"}, metadata=OURS)
    rig.fake.meanwhile[PUT] = lambda: rig.fake.make("secrets", "default", "db", {"b": "2"}, metadata=OURS)
    await rig.cluster.write(export(password="p"))
    assert rig.fake.data("secrets", "default", "db") == {"password": "p"}
    assert rig.fake.lines() == [GET, PUT, GET, PUT]


@pytest.mark.parametrize("line", [POST, PUT])
async def test_an_object_that_somebody_else_takes_meanwhile_is_theirs(rig, line):
    if line == PUT:
        rig.fake.make("secrets", "default", "db", {"a": "1"}, metadata=OURS)
    rig.fake.meanwhile[line] = lambda: rig.fake.make("secrets", "default", "db", {"b": "2"})
    with pytest.raises(SecretStoreError, match="does not belong to Redis"):
        await rig.cluster.write(export(password="p"))
    assert rig.fake.data("secrets", "default", "db") == {"b": "2"}


async def test_a_conflict_without_an_end_ends(rig):
    rig.fake.make("secrets", "default", "db", {"a": "1"}, metadata=OURS)
    rig.fake.fail(PUT, *[Fault(409, "Conflict")] * 20)
    with pytest.raises(SecretStoreError, match="Find what else writes this object"):
        await rig.cluster.write(export(password="p"))
    assert len(rig.fake.lines("PUT")) == 7


async def test_an_immutable_object_is_an_error_before_it_is_written(rig):
    rig.fake.make("secrets", "default", "db", {"a": "1"}, metadata=OURS, immutable=True)
    await rig.cluster.write(export(a="1"))
    with pytest.raises(SecretStoreError, match="immutable"):
        await rig.cluster.write(export(a="2"))
    assert rig.fake.lines("PUT") == []


async def test_a_namespace_that_is_missing_is_named(rig):
    with pytest.raises(SecretStoreError, match="Create namespace nowhere"):
        await rig.cluster.write(export(replace(DB, namespace="nowhere"), a="1"))


async def test_no_value_shows_in_a_refusal(rig):
    echoed = f"data.key: Invalid value: {MARKED}, bWFya2VkLXNlY3JldC12YWx1ZQ=="
    rig.fake.fail(POST, Fault(422, "Invalid", echoed))
    with pytest.raises(SecretStoreError, match="Fix the keys, annotations and labels") as failed:
        await rig.cluster.write(export(key=MARKED))
    assert MARKED not in str(failed.value)
    assert "bWFya2Vk" not in str(failed.value)
    assert failed.value.__cause__ is None


async def test_what_the_libraries_log_shows_neither_values_nor_tokens(rig, logged):
    await rig.cluster.write(export(key=MARKED))
    assert plain(await rig.cluster.read(DB, [])) == {"key": MARKED}
    text = logged.getvalue()
    assert " httpx2: " in text, "they do log"
    assert MARKED not in text
    assert "bWFya2Vk" not in text
    assert "token-1" not in text


# opening


async def test_the_check_before_a_run(rig):
    await rig.cluster.check()
    rig.fake.fail(REVIEWS, *[Fault(401)] * 2)
    with pytest.raises(ConfigError, match="not accepted"):
        await rig.cluster.check()


async def test_an_account_that_may_not_ask_what_it_may_do_is_told_so(rig):
    rig.fake.has_basic_user = False
    with pytest.raises(ConfigError) as failed:
        await rig.cluster.check()
    assert "because system:basic-user is not bound (403)" in failed.value.message
    assert failed.value.hint == (
        "Run `kubectl create clusterrolebinding gitsync-basic-user --clusterrole system:basic-user "
        "--serviceaccount jobs:gitsync`."
    )


def requested(fake):
    """What reviews were about: verb, kind and name of the object."""
    attributes = [call.body["spec"]["resourceAttributes"] for call in fake.requests if call.line == REVIEWS]
    return [
        (attribute["verb"], attribute["resource"], attribute["namespace"], attribute.get("name") or "")
        for attribute in attributes
    ]


async def test_each_verb_kind_and_namespace_that_a_run_needs_is_reviewed(rig):
    await rig.cluster.check_access(ExportNeeds(written=(DB, replace(DB, name="other")), removed=(SETTINGS,)))
    assert requested(rig.fake) == [
        ("delete", "configmaps", "default", ""),
        ("get", "configmaps", "default", ""),
        ("create", "secrets", "default", ""),
        ("get", "secrets", "default", ""),
        ("update", "secrets", "default", ""),
    ]


@pytest.mark.parametrize(
    ("verb", "allowed", "refused", "why"),
    [
        ("update", ("db", "other"), None, "a Role that names the objects"),
        ("update", ("db",), "update secrets in namespace default", "it names one of them"),
        ("create", ("db", "other"), "create secrets in namespace default", "no Role can name what is created"),
    ],
)
async def test_rights_on_single_objects(rig, verb, allowed, refused, why):
    rig.fake.forbid(verb, "secrets", except_names=allowed)
    with pytest.raises(ConfigError, match=refused) if refused else nullcontext():
        await rig.cluster.check_access(ExportNeeds(written=(DB, replace(DB, name="other"))))


async def test_the_refusal_has_one_role_for_each_namespace(rig):
    (rig.fake.folder / "token").write_text("x")
    for verb in ("create", "update"):
        rig.fake.forbid(verb, "secrets")
    rig.fake.forbid("create", "configmaps", namespace="jobs")
    rig.fake.rotate("x")
    elsewhere = replace(SETTINGS, namespace="jobs")
    with pytest.raises(ConfigError) as failed:
        await rig.cluster.check_access(ExportNeeds(written=(DB, elsewhere)))
    assert failed.value.message == (
        "The service account of the job lacks permissions that this run needs: create secrets in namespace "
        "default, update secrets in namespace default, create configmaps in namespace jobs."
    )
    roles = yaml.safe_load(failed.value.hint.partition(": ")[2])["items"]
    assert [(role["metadata"]["namespace"], role["rules"]) for role in roles] == [
        ("default", [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["create", "update"]}]),
        ("jobs", [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["create"]}]),
    ]


async def test_a_server_that_starts_again_is_waited_for_as_long_as_a_key_vault(rig):
    rig.fake.make("secrets", "default", "db", {"user": "sa"})
    rig.fake.fail(GET, *[Fault(drop=True)] * 6)
    assert plain(await rig.cluster.read(DB, ["user"])) == {"user": "sa"}
    assert rig.clock.slept == [1, 2, 4, 8, 16, 16]


async def test_a_review_by_a_server_that_has_just_started_is_asked_again(rig):
    attributes = {"verb": "create", "resource": "secrets", "namespace": "default"}
    denied = {"spec": {"resourceAttributes": attributes}, "status": {"allowed": False}}
    answer = Fault(201, raw=json.dumps(denied), headers={"Content-Type": "application/json"})
    rig.fake.fail(REVIEWS, Fault(drop=True), answer)
    await rig.cluster.check_access(ExportNeeds(written=(DB,)))
    assert rig.clock.slept == [1, 2]
    rig.fake.fail(REVIEWS, *[answer] * 2)
    with pytest.raises(ConfigError, match="create secrets in namespace default"):
        await rig.cluster.check_access(ExportNeeds(written=(DB,)))
    assert rig.clock.slept == [1, 2], "a server that was there means it"


async def test_a_certificate_of_another_authority_is_told_at_once(tmp_path):
    (tmp_path / "ours").mkdir()
    (tmp_path / "theirs").mkdir()
    clock = FakeClock()
    async with FakeKubernetes(private_ca.make(tmp_path / "ours"), tmp_path / "account") as fake:
        theirs = private_ca.make(tmp_path / "theirs").bundle
        (fake.folder / "ca.crt").write_bytes(theirs.read_bytes())
        async with open_kubernetes(fake.environment, clock, fake.folder) as cluster:
            with pytest.raises(ConfigError) as failed:
                await cluster.check()
    assert failed.value.message.startswith("The certificate of the API server is not accepted: ")
    assert failed.value.hint.startswith("Check ca.crt of the service account")
    assert clock.slept == []


async def test_a_token_that_is_empty_is_told_at_once(rig, tmp_path):
    (rig.fake.folder / "token").write_text("\n")
    with pytest.raises(SecretStoreError, match=r"The token of the service account is empty: .*/token"):
        await rig.cluster.read(DB, ["user"])
    with pytest.raises(ConfigError, match=r"The token of the service account is empty: .*/token"):
        read_service_account(rig.fake.environment, rig.fake.folder)
    assert rig.clock.slept == []


@pytest.mark.parametrize(
    ("claims", "name", "why"),
    [
        ('{"sub": "system:serviceaccount:jobs:gitsync"}', "jobs:gitsync", "a token of a service account"),
        ('{"sub": "someone"}', "", "a token of something else"),
        ("[]", "", "no object"),
        ("{", "", "no JSON"),
    ],
)
def test_the_name_of_the_account_is_that_of_its_token(tmp_path, claims, name, why):
    payload = base64.urlsafe_b64encode(claims.encode()).decode().rstrip("=")
    for file, text in (("token", f"header.{payload}.signature"), ("ca.crt", ""), ("namespace", "jobs")):
        (tmp_path / file).write_text(text)
    environment = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}
    assert read_service_account(environment, tmp_path).name == name, why


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
def test_outside_of_a_cluster_the_error_reports_it(tmp_path, environment, words, why):
    with pytest.raises(ConfigError, match=words):
        read_service_account(environment, tmp_path)


def test_an_address_of_the_newer_kind_is_put_in_brackets(tmp_path):
    for file in ("token", "ca.crt", "namespace"):
        (tmp_path / file).write_text("jobs\n")
    account = read_service_account({"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "443"}, tmp_path)
    assert (account.server, account.namespace) == ("https://[fd00::1]:443", "jobs")


async def test_certificates_that_are_none_are_told(tmp_path):
    for file in ("token", "ca.crt", "namespace"):
        (tmp_path / file).write_text("jobs")
    environment = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}
    with pytest.raises(ConfigError, match="certificates of the cluster cannot be read"):
        async with open_kubernetes(environment, FakeClock(), tmp_path):
            pass


async def test_without_the_extra_the_error_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "lightkube", None)
    monkeypatch.delitem(sys.modules, "gitsync.repository.secrets.kubernetes.cluster_requests", raising=False)
    with pytest.raises(ConfigError, match=r"pip install 'gitsync-azure\[kubernetes\]'"):
        async with open_kubernetes({}, FakeClock()):
            pass


# removing

DELETE = "DELETE /api/v1/namespaces/default/secrets/db"


@pytest.mark.parametrize(("address", "resource"), [(DB, "secrets"), (SETTINGS, "configmaps")])
async def test_what_a_forgotten_resource_exported_is_deleted_as_it_was_seen(rig, address, resource):
    made = rig.fake.make(resource, "default", address.name, {"a": "1"}, metadata=OURS, immutable=True)
    for _ in range(2):
        await rig.cluster.remove(address, Owner(REDIS))
    assert rig.fake.names(resource, "default") == []
    (deletion,) = [call for call in rig.fake.requests if call.line.startswith("DELETE")]
    assert deletion.body["preconditions"] == {"resourceVersion": made["metadata"]["resourceVersion"]}


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
async def test_what_is_somebody_elses_is_not_deleted(rig, metadata, why):
    rig.fake.make("secrets", "default", "db", {"user": "sa"}, metadata=metadata)
    await rig.cluster.remove(DB, Owner(REDIS))
    assert rig.fake.lines("DELETE") == [], why


@pytest.mark.parametrize(
    ("metadata", "left", "why"),
    [(OURS, [], "it is still ours"), ({}, ["db"], "somebody took it over")],
)
async def test_what_was_written_meanwhile_is_looked_at_again(rig, metadata, left, why):
    rig.fake.make("secrets", "default", "db", {"a": "1"}, metadata=OURS)
    rig.fake.meanwhile[DELETE] = lambda: rig.fake.make("secrets", "default", "db", {"b": "2"}, metadata=metadata)
    await rig.cluster.remove(DB, Owner(REDIS))
    assert rig.fake.names("secrets", "default") == left, why
    assert rig.fake.lines()[:3] == [GET, DELETE, GET], why


async def test_what_goes_between_the_look_and_the_delete_is_gone(rig):
    rig.fake.make("secrets", "default", "db", {"a": "1"}, metadata=OURS)
    rig.fake.fail(DELETE, Fault(404, "NotFound"))
    await rig.cluster.remove(DB, Owner(REDIS))
    assert rig.fake.lines() == [GET, DELETE]


async def test_the_right_to_delete_is_named_as_a_role_names_it(rig):
    rig.fake.make("secrets", "default", "db", {"a": "1"}, metadata=OURS)
    rig.fake.forbid("delete", "secrets")
    with pytest.raises(SecretStoreError, match="gitsync-delete-secrets"):
        await rig.cluster.remove(DB, Owner(REDIS))
