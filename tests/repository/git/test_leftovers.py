"""Exports that could not be removed, in the inventory: kept by stores, merged with those of others, read with care."""

import json
from dataclasses import replace

import pytest

from gitsync.errors import StateError
from gitsync.model.export import Address, Leftover, ObjectKind, Owner
from gitsync.model.gvk import Key
from gitsync.model.record import State
from gitsync.repository.git.state.state_folder import StatusFolder
from gitsync.repository.git.state.store import compute_changes, merge
from tests.repository.git.remembered import a_record, an_update

LAKE = Key("storage.azure.com", "StorageAccount", "default", "lake")
KEYS = Leftover(Owner(LAKE), Address(ObjectKind.SECRET, "default", "keys"), "kubernetes")
URLS = Leftover(Owner(LAKE, "blue"), Address(ObjectKind.CONFIG_MAP, "default", "urls"), "folder")


def with_leftovers(**is_there):
    leftovers = {"keys": KEYS, "urls": URLS}
    return replace(an_update(a_record("one")), leftovers={leftovers[name]: there for name, there in is_there.items()})


def test_what_is_saved_is_loaded_until_it_is_gone(tmp_path):
    with StatusFolder(tmp_path / "state") as store:
        assert store.save(with_leftovers(keys=True, urls=True))
        assert store.load().leftovers == {KEYS, URLS}
        assert not store.save(with_leftovers(keys=True)), "nothing changed"
        assert store.save(with_leftovers(keys=False))
        assert store.load().leftovers == {URLS}
        assert store.save(with_leftovers(urls=False))
        assert "leftovers" not in (tmp_path / "state/inventory.json").read_text()


@pytest.mark.parametrize(
    ("theirs", "ours", "expected", "why"),
    [
        ({URLS}, {KEYS: True}, {KEYS, URLS}, "another run's stay"),
        ({KEYS, URLS}, {KEYS: False}, {URLS}, "ours is gone"),
        ({KEYS}, {}, {KEYS}, "a run that tried none leaves them"),
    ],
)
def test_leftovers_of_two_runs_are_joined(theirs, ours, expected, why):
    base = State({}, leftovers=frozenset({KEYS}) if False in ours.values() else frozenset())
    changes = compute_changes(base, replace(an_update(), leftovers=ours))
    assert merge(State({}, leftovers=frozenset(theirs)), changes, "a" * 40).leftovers == expected, why


GOOD = {"object": "Secret/default/keys", "owner": str(LAKE), "sink": "kubernetes"}


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({**GOOD, "object": "Secret/keys"}, r"leftovers\[0\].object must be Secret/namespace/name"),
        ({**GOOD, "object": "Pod/default/keys"}, r"leftovers\[0\].object must be Secret/namespace/name"),
        ({**GOOD, "owner": "lake"}, r"leftovers\[0\].owner must be Kind.group/namespace/name"),
        ({"object": GOOD["object"], "owner": GOOD["owner"]}, r"leftovers\[0\].sink is missing"),
    ],
)
def test_an_entry_that_no_run_wrote_is_an_error_with_its_line(tmp_path, entry, words):
    with StatusFolder(tmp_path / "state") as store:
        store.save(with_leftovers())
    inventory = tmp_path / "state/inventory.json"
    leftovers = json.dumps([entry], indent=2)
    inventory.write_text(inventory.read_text().replace('"resources":', f'"leftovers": {leftovers}, "resources":'))
    with pytest.raises(StateError, match=rf"inventory.json:\d+: {words}"):
        StatusFolder(tmp_path / "state").load()
