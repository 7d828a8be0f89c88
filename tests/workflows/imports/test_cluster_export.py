"""What an export of a cluster becomes: clean manifests, counts of what is left out, and located problems."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from gitsync.model.gvk import Key
from gitsync.workflows.imports.conversion.cluster_export import read_cluster_export
from tests.support.cluster_objects import aso, kubectl, make_list, make_object

GROUP_ID = "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/core"
HUB_ID = f"{GROUP_ID}/providers/Microsoft.Network/virtualNetworks/hub"
GROUP: dict[str, Any] = {
    "apiVersion": "resources.azure.com/v1api20200601",
    "kind": "ResourceGroup",
    "metadata": {"name": "core", "namespace": "platform"},
    "spec": {"location": "westeurope"},
}
HUB: dict[str, Any] = {
    "apiVersion": "network.azure.com/v1api20240301",
    "kind": "VirtualNetwork",
    "metadata": {
        "name": "hub",
        "namespace": "platform",
        "labels": {"team": "net"},
        "annotations": {
            aso("credential-from"): "other",
            aso("reconcile-policy"): "detach-on-delete",
            "argocd.argoproj.io/sync-wave": "2",
        },
    },
    "spec": {
        "location": "westeurope",
        "owner": {"name": "core"},
        "addressSpace": {"addressPrefixes": ["10.0.0.0/16"]},
        "operatorSpec": {"configMapExpressions": [{"name": "hub", "key": "id", "value": "self.status.id"}]},
    },
}
OWNER = {"apiVersion": "resources.azure.com/v1api20200601storage", "kind": "ResourceGroup", "name": "core"}
SECRET = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "other"},
    "data": {"AZURE_CLIENT_SECRET": "aHVzaA=="},
}
OBJECTS = [make_object(GROUP, GROUP_ID), make_object(HUB, HUB_ID, owner=OWNER)]


def changed(value: Any, *path: str, to: Any) -> Any:
    """A copy with another value at a path; None removes it."""
    key, *rest = path
    inner = changed(value.get(key, {}), *rest, to=to) if rest else to
    return {**{k: v for k, v in value.items() if k != key}, **({} if inner is None else {key: inner})}


def read(catalog, *objects: Any):
    return read_cluster_export({"export.yaml": make_list(objects).encode()}, catalog)


FORMS = [
    ({"a.yaml": make_list(OBJECTS)}, "a List"),
    ({"a.yaml": yaml.safe_dump_all(OBJECTS)}, "several documents"),
    ({"a.json": json.dumps({"apiVersion": "v1", "kind": "List", "items": OBJECTS})}, "JSON"),
    ({"b.yaml": yaml.safe_dump(OBJECTS[1]), "a.yaml": yaml.safe_dump(OBJECTS[0])}, "several files"),
    ({"a.yaml": make_list(OBJECTS), "b.yaml": make_list(OBJECTS[:1])}, "an object in two files"),
]


@pytest.mark.parametrize(("files", "why"), FORMS, ids=[row[-1] for row in FORMS])
def test_every_form_of_an_export_becomes_the_manifests_that_people_wrote(catalog, files, why):
    found = read_cluster_export({name: text.encode() for name, text in files.items()}, catalog)
    assert (found.problems, found.left_out) == ((), {})
    assert [manifest.document for manifest in found.manifests.values()] == [HUB, GROUP], why
    assert [manifest.arm_id for manifest in found.manifests.values()] == [HUB_ID, GROUP_ID]


def test_other_objects_are_counted_and_secrets_are_never_looked_at(catalog):
    found = read(catalog, *OBJECTS, SECRET, SECRET)
    assert (found.problems, found.left_out) == ((), {"Secret": 2})
    assert "aHVzaA" not in repr(found)


def test_users_and_groups_are_kept_as_they_are(catalog):
    """The id that ASO notes of a group is none of ARM's, and of a user it notes none."""
    spec = {"displayName": "Readers", "mailNickname": "readers"}
    group = {"apiVersion": "entra.azure.com/v1", "kind": "SecurityGroup", "spec": spec}
    group["metadata"] = {
        "name": "readers",
        "namespace": "platform",
        "annotations": {aso("resource-id"): "4a1c0b6e-0000-0000-0000-000000000000"},
    }
    login = {"serverAdminUsername": "boss", "serverAdminPassword": {"name": "a", "key": "b"}}
    local = {"localUser": {**login, "password": {"name": "c", "key": "d"}}, "owner": {"name": "books"}}
    user = {"apiVersion": "dbforpostgresql.azure.com/v1", "kind": "User", "spec": local}
    user["metadata"] = {"name": "app", "namespace": "platform", "finalizers": [aso("reconciler")]}
    found = read(catalog, group, user)
    assert (found.problems, found.left_out) == ((), {})
    assert [manifest.document["spec"] for manifest in found.manifests.values()] == [local, spec]


def test_the_policy_of_a_namespace_is_that_of_its_manifests(catalog):
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "platform", "uid": "1"}}
    space["metadata"]["annotations"] = {aso("reconcile-policy"): "skip", "other": "x"}
    found = read(catalog, *OBJECTS, space)
    assert [
        manifest.document["metadata"]["annotations"][aso("reconcile-policy")] for manifest in found.manifests.values()
    ] == [
        "detach-on-delete",
        "skip",
    ]
    assert found.left_out == {"Namespace": 1}


VERSIONS = [
    ("v1api20240301", None, None, "v1api20240301", "the version is still there"),
    ("v1beta20201101", None, None, "v1api20201101", "ASO has removed the version, and a later one has all fields"),
    ("v1api20240301storage", "v1api20201101", None, "v1api20201101", "the storage version names the original"),
    ("v1api20240301storage", None, None, "v1api20240301", "an old object of the storage version names none"),
    ("v1api20201101", None, "v1api20240301", "v1api20240301", "kubectl shows an older version that has all fields"),
]


@pytest.mark.parametrize(
    ("exported", "original", "applied", "expected", "why"), VERSIONS, ids=[r[-1] for r in VERSIONS]
)
def test_a_manifest_has_the_version_that_it_was_applied_at(catalog, exported, original, applied, expected, why):
    written = {**HUB, "apiVersion": f"network.azure.com/{applied or exported}"}
    exported_object = changed(make_object(written, HUB_ID), "apiVersion", to=f"network.azure.com/{exported}")
    exported_object = changed(exported_object, "spec", "originalVersion", to=original)
    found = read(catalog, exported_object)
    (manifest,) = found.manifests.values()
    assert (manifest.document, found.problems) == ({**HUB, "apiVersion": f"network.azure.com/{expected}"}, ()), why


REDIS = {
    "apiVersion": "cache.azure.com/v1api20230801",
    "kind": "Redis",
    "metadata": {"name": "sessions", "namespace": "default"},
    "spec": {
        "owner": {"name": "core"},
        "location": "westeurope",
        "sku": {"family": "C", "name": "Basic", "capacity": 0},
    },
}
REDIS_ID = f"{GROUP_ID}/providers/Microsoft.Cache/redis/sessions"
NEWER = changed({**REDIS, "apiVersion": "cache.azure.com/v20241101"}, "spec", "zonalAllocationPolicy", to="Automatic")


BROKEN = [
    (
        changed(changed(make_object(NEWER, REDIS_ID), "apiVersion", to=REDIS["apiVersion"]), "spec", to=REDIS["spec"]),
        "FieldsNotExported",
        "kubectl get Redis.v20241101.cache.azure.com --all-namespaces -o yaml",
        "kubectl shows a version that lacks a field",
    ),
    (
        changed(
            changed(make_object(REDIS, REDIS_ID), "apiVersion", to="cache.azure.com/v20241101storage"),
            "spec",
            to={**REDIS["spec"], "originalVersion": "v1api20230801", "sku": {"$propertyBag": {"Old": "1"}}},
        ),
        "FieldsNotExported",
        "kubectl get Redis.v1api20230801.cache.azure.com --all-namespaces -o yaml",
        "the storage keeps fields that only ASO understands",
    ),
    ({**make_object(REDIS, REDIS_ID), "kind": "Rediss"}, "UnknownKind", "Did you mean Redis?", "an unknown kind"),
    (changed(make_object(REDIS, REDIS_ID), "metadata", "name", to=None), "MissingName", "", "no name"),
    ({"kind": "Redis"}, "NotAnObject", "kubectl get -o yaml", "no object"),
]


@pytest.mark.parametrize(("broken", "code", "hint", "why"), BROKEN, ids=[row[-1] for row in BROKEN])
def test_an_object_that_is_not_understood_is_an_error_and_the_others_are_read(catalog, broken, code, hint, why):
    found = read(catalog, OBJECTS[0], broken)
    (problem,) = found.problems
    assert (problem.code, problem.is_error, problem.path, problem.line > 1) == (code, True, "export.yaml", True), why
    assert hint in problem.hint
    assert list(found.manifests) == [Key("resources.azure.com", "ResourceGroup", "platform", "core")]


@pytest.mark.parametrize(
    ("objects", "codes", "said", "why"),
    [
        ([], ["NothingExported"], "has no ASO object to import: there is no object at all.", "an empty list"),
        ([SECRET, SECRET], ["NothingExported"], "there is only 2 Secret.", "other objects"),
        ([{"kind": "Redis"}], ["NotAnObject"], "", "an error says more"),
        (
            [changed(OBJECTS[1], "metadata", "deletionTimestamp", to="2026-01-01T00:00:00Z")],
            ["NothingExported", "BeingDeleted"],
            "export.yaml has no ASO object to import.",
            "what is being deleted is not imported",
        ),
    ],
)
def test_an_export_without_an_object_to_import_is_an_error(catalog, objects, codes, said, why):
    found = read(catalog, *objects)
    assert [problem.code for problem in found.problems] == codes, why
    assert said in found.problems[0].message
    assert found.problems[0].is_error


def test_two_objects_of_one_name_with_other_content_are_an_error(catalog):
    other = changed(OBJECTS[0], "spec", "location", to="northeurope")
    (problem,) = read(catalog, OBJECTS[0], other).problems
    assert problem.message == "ResourceGroup platform/core is also at export.yaml:3, with different content."


def test_a_version_that_may_lack_fields_is_one_warning(catalog):
    """Flux and Argo CD leave no note, so nothing shows whether a later version was applied."""
    objects = [
        make_object(changed(REDIS, "metadata", "name", to=name), REDIS_ID, notes_apply=False) for name in ("a", "b")
    ]
    found = read(catalog, *objects)
    assert [(problem.code, problem.is_error) for problem in found.problems] == [("OlderVersion", False)]
    newest = catalog.versions("cache.azure.com", "Redis")[-1]
    assert f"kubectl get Redis.{newest}.cache.azure.com" in found.problems[0].hint
    assert len(found.manifests) == 2


def test_an_object_that_is_being_deleted_is_left_out_with_a_warning(catalog):
    gone = changed(OBJECTS[1], "metadata", "deletionTimestamp", to="2026-01-01T00:00:00Z")
    found = read(catalog, OBJECTS[0], gone)
    assert [(problem.code, problem.is_error) for problem in found.problems] == [("BeingDeleted", False)]
    assert len(found.manifests) == 1


NAMES = [
    ({}, {}, "the name in Azure is that of the object"),
    ({"azureName": "hub-we"}, {"azureName": "hub-we"}, "the name in Azure is another one"),
]


@pytest.mark.parametrize(("given", "kept", "why"), NAMES, ids=[row[-1] for row in NAMES])
def test_the_name_in_azure_stays_where_it_is_another(catalog, given, kept, why):
    named = {**HUB, "spec": {**HUB["spec"], **given}}
    (manifest,) = read(catalog, make_object(named, HUB_ID)).manifests.values()
    assert manifest.document["spec"] == {**HUB["spec"], **kept}, why


def test_the_name_of_a_role_assignment_stays(catalog):
    """Without it, gitsync would derive one from the names of the manifest."""
    name = "5f0c9a0e-1d3c-4a51-b0cd-53a1c1f8a7d1"
    role = {
        "apiVersion": "authorization.azure.com/v1api20220401",
        "kind": "RoleAssignment",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"owner": {"group": "resources.azure.com", "kind": "ResourceGroup", "name": "core"}},
    }
    (manifest,) = read(catalog, make_object(role, f"{GROUP_ID}/x/{name}")).manifests.values()
    assert manifest.document["spec"]["azureName"] == name
    assert kubectl("last-applied-configuration") not in repr(manifest)
