"""Exports as encrypted manifests: never plain on the disk, and not rewritten without need."""

import pytest
import yaml

from gitsync.desired.manifests.reader import read_manifests
from gitsync.errors import ConfigError, SecretStoreError
from gitsync.model.export import ObjectKind
from gitsync.repository.secrets.sinks.sops import SopsSink
from gitsync.repository.secrets.sops_program import Sops
from gitsync.repository.secrets.sources.declared_objects import EncryptedSource, ManifestSource
from tests.support.exports import ONE, TWO, address, export, owner, remove, times, tree, write
from tests.support.sops_rig import KINDS, put_on_path, rig


@pytest.fixture(params=KINDS)
def sops(request, tmp_path):
    made = rig(request.param, tmp_path)
    made.rules(tmp_path)
    return made


def sink(sops):
    return SopsSink(sops.folder / "out", sops.sops())


async def put(sops, *exports):
    """Write as `write` does, without the check, which is one more call of the program."""
    for each in exports:
        await sink(sops).write(each)


async def test_a_secret_is_an_encrypted_manifest(sops):
    await write(
        sink(sops), export({"b": "hidden-b\n", "a": "hidden-a", "e": ""}, annotations={"x/y": "z"}, labels={"l": "m"})
    )
    (path, content), *more = tree(sops.folder / "out").items()
    assert (path, more) == ("default/db.yaml", [])
    assert b"hidden" not in content
    found = yaml.safe_load(content)
    assert (found["apiVersion"], found["kind"]) == ("v1", "Secret")
    assert found["metadata"] == {
        "name": "db",
        "namespace": "default",
        "annotations": {"gitsync/owner": str(ONE), "x/y": "z"},
        "labels": {"l": "m"},
    }
    assert list(found["stringData"]) == ["a", "b", "e"]


async def test_it_is_read_again_as_a_manifest_of_a_repository(sops):
    await put(sops, export({"a": "hidden\n"}))
    manifests = read_manifests(tree(sops.folder / "out"))
    assert manifests.problems == ()
    source = EncryptedSource(ManifestSource(manifests), manifests.objects.encrypted, sops.sops())
    assert await source.read(address(), ["a"]) == export({"a": "hidden\n"}).data


async def test_what_did_not_change_is_not_written(sops):
    await put(sops, export({"a": "1"}))
    before = times(sops.folder / "out")
    await put(sops, export({"a": "1"}))
    assert times(sops.folder / "out") == before


async def test_what_changed_replaces_it_whole(sops):
    await put(sops, export({"a": "1"}))
    for other in (export({"a": "2"}), export({"a": "2"}, labels={"l": "m"}), export({"b": "2"})):
        before = tree(sops.folder / "out")
        await put(sops, other)
        after = tree(sops.folder / "out")
        assert after != before, other
        found = yaml.safe_load(after["default/db.yaml"])
        assert list(found["stringData"]) == list(other.data)
        assert found["metadata"].get("labels", {}) == other.labels
        assert await owner(sink(sops)) == str(other.owner)


async def test_what_cannot_be_decrypted_is_not_overwritten(sops):
    await put(sops, export({"a": "1"}))
    before = tree(sops.folder / "out")
    with pytest.raises(
        SecretStoreError, match=r"db\.yaml cannot be decrypted: sops reported “Failed to get the data key"
    ):
        await SopsSink(sops.folder / "out", sops.without_key()).write(export({"a": "hidden"}))
    assert tree(sops.folder / "out") == before


async def test_rules_choose_by_the_path_of_the_file(sops):
    sops.rules(sops.folder, path_regex=r"out/default/.*\.yaml$")
    with pytest.raises(SecretStoreError, match=r"out/other/db\.yaml cannot be encrypted: sops reported “.*rules"):
        await put(sops, export({"a": "1"}), export({"a": "hidden"}, address(namespace="other")))
    assert list(tree(sops.folder / "out")) == ["default/db.yaml"]


async def test_without_anybody_to_encrypt_to_the_run_is_refused(sops):
    (sops.folder / ".sops.yaml").unlink()
    with pytest.raises(ConfigError, match=r"cannot be encrypted: sops reported “.* creation rules.*\.sops\.yaml"):
        await sink(sops).check()


async def test_without_the_program_the_run_is_refused(tmp_path):
    with pytest.raises(
        ConfigError,
        match=r"with sops: .* must be encrypted with SOPS, but sops is not installed\. Install it",
    ):
        await SopsSink(tmp_path / "out", Sops(environment={"PATH": "/nowhere"})).check()


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("exec cat /dev/stdin", "it leaves the values plain"),
        ("true", "it answers nothing"),
        ("echo '- ]'", "it answers no YAML"),
        ("echo 7", "it answers no document"),
    ],
)
async def test_a_program_that_does_not_encrypt_is_found_out(tmp_path, answer, why):
    path = put_on_path(tmp_path / "bin", "sops", f"#!/bin/sh\n{answer}\n")
    with pytest.raises(ConfigError, match=r"sops did not encrypt all values of .*check\.yaml"):
        await SopsSink(tmp_path / "out", Sops(environment={"PATH": path})).check()


async def test_config_maps_are_not_written(sops):
    await put(sops, export({"a": "1"}, address(object_kind=ObjectKind.CONFIG_MAP)))
    assert tree(sops.folder / "out") == {}
    assert await owner(sink(sops), address(object_kind=ObjectKind.CONFIG_MAP)) is None


async def test_who_owns_what_stands_there(sops):
    await put(sops, export({"a": "1"}, owner=TWO))
    assert await owner(sink(sops)) == str(TWO)
    assert await owner(sink(sops), address("nothing")) is None
    file = sops.folder / "out" / "default" / "db.yaml"
    file.write_bytes(file.read_bytes().replace(b"gitsync/owner", b"somebody/else"))
    assert await owner(sink(sops)) == ""


@pytest.mark.parametrize(
    "content",
    [
        "",
        "a: [",
        "- a\n",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: db, namespace: default}\nstringData: {a: b}\n",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: dc, namespace: default}\nsops: {}\n",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: db, namespace: default}\nsops: {}\n",
        "apiVersion: v1\nkind: Secret\nmetadata: db\nsops: {}\n",
    ],
)
async def test_a_file_that_is_no_such_manifest_is_left_alone(tmp_path, content):
    file = tmp_path / "default" / "db.yaml"
    file.parent.mkdir()
    file.write_text(content)
    with pytest.raises(SecretStoreError, match="is not the manifest of Secret default/db, encrypted with SOPS"):
        await owner(SopsSink(tmp_path, Sops(environment={})))
    assert file.read_text() == content


async def test_links_are_not_followed(sops):
    (sops.folder / "real").mkdir()
    (sops.folder / "out").symlink_to(sops.folder / "real")
    with pytest.raises(ConfigError, match="out is a symbolic link"):
        await sink(sops).check()
    (sops.folder / "out").unlink()
    await put(sops, export({"a": "1"}, address("other")))
    (sops.folder / "out" / "default" / "db.yaml").symlink_to(sops.folder / "real" / "file")
    with pytest.raises(SecretStoreError, match=r"db\.yaml is a symbolic link"):
        await put(sops, export({"a": "hidden"}))
    assert list((sops.folder / "real").iterdir()) == []


async def test_what_is_not_text_is_not_shown(sops):
    with pytest.raises(SecretStoreError, match="The value of a of Secret default/db is not text") as refused:
        await put(sops, export({"a": "hidden\ud800"}))
    assert "hidden" not in str(refused.value)
    assert tree(sops.folder / "out") == {}


async def test_a_folder_that_cannot_be_made_refuses_the_run(sops):
    (sops.folder / "out").write_text("")
    with pytest.raises(ConfigError, match=r"out cannot be written: Not a directory\. Grant this user write access"):
        await sink(sops).check()


async def test_a_folder_in_the_place_of_a_file_is_told(sops):
    (sops.folder / "out" / "default" / "db.yaml").mkdir(parents=True)
    with pytest.raises(SecretStoreError, match=r"db\.yaml cannot be read: Is a directory"):
        await put(sops, export({"a": "hidden"}))


async def test_what_a_forgotten_resource_exported_is_taken_away_without_the_key(sops):
    await put(sops, export({"a": "1"}), export({"a": "1"}, address("other"), owner=TWO))
    keyless = SopsSink(sops.folder / "out", sops.without_key())
    for at in (
        address(),
        address(),
        address("other"),
        address(object_kind=ObjectKind.CONFIG_MAP),
        address("db", "nowhere"),
    ):
        await remove(keyless, at)
    assert list(tree(sops.folder / "out")) == ["default/other.yaml"]
    await put(sops, export({"a": "2"}, owner=TWO))
    assert await owner(keyless) == str(TWO), "a new owner may have it"


async def test_a_file_that_is_no_such_manifest_is_not_taken_away(sops):
    file = sops.folder / "out" / "default" / "db.yaml"
    file.parent.mkdir(parents=True)
    file.write_text("kind: Secret\nmetadata: {name: db, namespace: default}\n")
    with pytest.raises(SecretStoreError, match="is not the manifest of Secret default/db"):
        await remove(sink(sops))
    assert file.exists()


async def test_a_folder_that_is_a_link_is_not_entered_to_take_something_away(sops):
    await put(sops, export({"a": "1"}))
    (sops.folder / "out" / "default").rename(sops.folder / "elsewhere")
    (sops.folder / "out" / "default").symlink_to(sops.folder / "elsewhere")
    with pytest.raises(SecretStoreError, match="default is a symbolic link"):
        await remove(sink(sops))
    assert (sops.folder / "elsewhere" / "db.yaml").exists()
