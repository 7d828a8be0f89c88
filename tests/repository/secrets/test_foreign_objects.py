"""Objects of the sources that an export would overwrite."""

import json
from dataclasses import replace

import pytest

from gitsync.errors import SecretStoreError
from gitsync.model.export import Address, ObjectKind, Owner
from gitsync.model.gvk import Key
from gitsync.repository.secrets.export_sinks import add_foreign_objects, has_foreign
from gitsync.repository.secrets.sources.environment import EnvironmentSource
from gitsync.repository.secrets.sources.mounted_folder import NOTE, FolderSource
from tests.support.builders import prepared
from tests.support.memory_places import MemorySource

LAKE = Owner(Key("storage.azure.com", "StorageAccount", "default", "lake"))
KEYS = Address(ObjectKind.SECRET, "default", "keys")
URLS = Address(ObjectKind.CONFIG_MAP, "default", "urls")


async def is_foreign(source, address=KEYS, keys=("first",), owner=LAKE):
    return await has_foreign((source,), address, keys, owner)


def folder(tmp_path, files):
    for path, text in files.items():
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (tmp_path / "secrets").mkdir(exist_ok=True)
    (tmp_path / "maps").mkdir(exist_ok=True)
    return FolderSource(secrets=tmp_path / "secrets", config_maps=tmp_path / "maps", namespace="default")


def note(owner):
    return json.dumps({"name": "keys", "owner": str(owner)})


FILES = [
    ({}, KEYS, False, "no object"),
    ({"secrets/default/keys/other": "x"}, KEYS, True, "an object of people, whatever its keys"),
    ({"secrets/keys/other": "x"}, KEYS, True, "one of the run's own namespace"),
    ({"secrets/far/keys/first": "x"}, KEYS, False, "one of another namespace"),
    ({"maps/default/urls/blob": "x"}, URLS, True, "a config map"),
    ({"secrets/default/urls/blob": "x"}, URLS, False, "a Secret is no config map"),
    ({f"secrets/default/keys/{NOTE}": note(LAKE)}, KEYS, False, "an earlier run exported it"),
    ({f"secrets/default/keys/{NOTE}": note(Owner(LAKE.key, "north"))}, KEYS, True, "another agent exported it"),
    ({f"secrets/default/keys/{NOTE}": "{}"}, KEYS, True, "a note without an owner"),
]


@pytest.mark.parametrize("files, address, expected, why", FILES)
async def test_an_object_of_the_folder(tmp_path, files, address, expected, why):
    assert await is_foreign(folder(tmp_path, files), address) is expected, why


@pytest.mark.parametrize("text", ["{", "[]"])
async def test_a_damaged_note_is_not_taken_for_none(tmp_path, text):
    with pytest.raises(SecretStoreError, match="is damaged, so the owner of its files is unknown"):
        await is_foreign(folder(tmp_path, {f"secrets/default/keys/{NOTE}": text}))


async def test_a_folder_without_config_maps_has_none(tmp_path):
    assert not await is_foreign(FolderSource(secrets=tmp_path, config_maps=None, namespace="default"), URLS)


VARIABLES = [
    ("GITSYNC_SECRET_DEFAULT_KEYS_FIRST", True, "an exported key"),
    ("GITSYNC_SECRET_DEFAULT_KEYS_SECOND", False, "another key, which nobody exports"),
    ("GITSYNC_SECRET_DEFAULT_KEYS_FIRST_ONE", False, "a key that begins alike"),
]


@pytest.mark.parametrize("name, expected, why", VARIABLES)
async def test_a_variable_is_one_key(name, expected, why):
    assert await is_foreign(EnvironmentSource({name: "x"})) is expected, why


async def test_what_only_an_expression_knows_is_no_variable():
    assert not await is_foreign(EnvironmentSource({"GITSYNC_SECRET_DEFAULT_KEYS_FIRST": "x"}), keys=())


def exporter(secrets=None, expressions=()):
    made = prepared(LAKE.key, "/subscriptions/0/resourceGroups/core")
    spec = {"operatorSpec": {"secrets": secrets or {}, "secretExpressions": list(expressions)}}
    return replace(made, resource=replace(made.resource, spec=spec))


EXPORTERS = [
    (exporter({"key1": {"name": "keys", "key": "first"}}), "spec.operatorSpec.secrets.key1", "a field"),
    (exporter(expressions=[{"name": "keys", "value": "x"}]), "spec.operatorSpec.secretExpressions[0]", "an expression"),
]


@pytest.mark.parametrize("resource, field, why", EXPORTERS)
async def test_an_object_of_a_source_is_a_problem_of_its_exporter(resource, field, why):
    source = MemorySource("folder", {})
    source.has(KEYS, other="x")
    (found,) = await add_foreign_objects([resource], [source])
    (problem,) = found.problems
    assert (problem.code, problem.field, problem.path) == ("ExportNotOwned", field, "a.yaml"), why
    assert problem.message == (
        "cannot overwrite Secret default/keys which is not owned by StorageAccount.storage.azure.com default/lake: "
        "the secret source folder has it."
    )
    assert found.is_valid


NOTHING = [
    (exporter(), MemorySource("folder", {KEYS: {}}), "a resource without exports"),
    (EXPORTERS[0][0], MemorySource("folder", {}), "a source without the object"),
    (
        EXPORTERS[0][0],
        MemorySource("folder", {}, refuses=SecretStoreError("?")),
        "a source that cannot tell: a run asks again",
    ),
]


@pytest.mark.parametrize("resource, source, why", NOTHING)
async def test_no_problem(resource, source, why):
    assert await add_foreign_objects([resource], [source]) == (resource,), why
