"""Exported config maps on the status tree: one file each, which shows whose it is."""

from pathlib import Path

import pytest

from gitsync.errors import StateError
from gitsync.model.export import Address, Export, ObjectKind, Owner
from gitsync.model.record import State
from gitsync.model.secret import Secret
from gitsync.repository.git.state.record_files import is_config_map_path, is_record_path, make_config_map_path
from gitsync.repository.git.state.state_folder import StatusFolder
from gitsync.repository.git.state.status_tree import decode_config_map, encode_config_map
from gitsync.repository.git.state.store import Update
from tests.repository.git.remembered import a_record, an_update

OWNER = a_record("one").key
ADDRESS = Address(ObjectKind.CONFIG_MAP, "default", "endpoints")
EXPORT = Export(
    address=ADDRESS,
    owner=Owner(OWNER),
    data={"blob": Secret("https://x.blob/"), "port": Secret("443")},
    annotations={"note": "by us"},
    labels={"app": "web"},
)
TEXT = """\
{
  "apiVersion": "v1",
  "data": {
    "blob": "https://x.blob/",
    "port": "443"
  },
  "kind": "ConfigMap",
  "metadata": {
    "annotations": {
      "gitsync/owner": "ResourceGroup.resources.azure.com/default/one",
      "note": "by us"
    },
    "labels": {
      "app": "web"
    },
    "name": "endpoints",
    "namespace": "default"
  }
}
"""


def updated(*exports: Export, forget: tuple[Address, ...] = ()) -> Update:
    update = an_update(a_record("one"))
    maps = {export.address: export for export in exports} | dict.fromkeys(forget)
    return Update(
        records=update.records,
        revision=update.revision,
        summary=update.summary,
        report=update.report,
        headline=update.headline,
        config_maps=maps,
    )


def test_a_config_map_is_the_object_that_a_cluster_would_have():
    assert encode_config_map(EXPORT).decode() == TEXT
    assert decode_config_map("default/ConfigMap/endpoints.json", encode_config_map(EXPORT)) == EXPORT


def test_a_folder_keeps_config_maps_beside_records(tmp_path: Path):
    folder = tmp_path / "status"
    with StatusFolder(folder) as store:
        store.load()
        assert store.save(updated(EXPORT))
        assert not store.save(updated(EXPORT)), "nothing changed"
    assert (folder / "default/ConfigMap/endpoints.json").read_text() == TEXT
    with StatusFolder(folder) as store:
        record = a_record("one")
        assert store.load() == State({record.key: record}, "a" * 40, {ADDRESS: EXPORT})
        assert store.save(updated(forget=(ADDRESS,)))
    assert not (folder / "default/ConfigMap").exists()


BROKEN = [
    (TEXT.replace('"name": "endpoints"', '"name": "other"'), "names ConfigMap default/other", "a file that was moved"),
    (
        TEXT.replace('      "gitsync/owner": "ResourceGroup.resources.azure.com/default/one",\n', ""),
        "is missing",
        "nobody's",
    ),
    (TEXT.replace("default/one", "one"), "must be Kind.group/namespace/name", "an owner that is no key"),
    (TEXT.replace('"443"', "443"), "must be a string", "a number is no value of a config map"),
]


@pytest.mark.parametrize("text, says, why", BROKEN)
def test_a_file_that_we_did_not_write_is_refused(text: str, says: str, why: str):
    with pytest.raises(StateError, match=says):
        decode_config_map("default/ConfigMap/endpoints.json", text.encode())


def test_a_path_is_either_a_record_s_or_a_config_map_s():
    assert make_config_map_path(ADDRESS) == "default/ConfigMap/endpoints.json"
    for address in (
        ADDRESS,
        Address(ObjectKind.CONFIG_MAP, "..", "../../x"),
        Address(ObjectKind.CONFIG_MAP, "a.b", ".c"),
    ):
        location = make_config_map_path(address)
        assert is_config_map_path(location)
        assert not is_record_path(location)
        assert ".." not in location.split("/")
