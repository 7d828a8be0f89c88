"""`gitsync unmanaged`: what exists and git does not have, right to the resource, over a real socket."""

import json

import pytest

from gitsync.formats.arm_path import normalize_id
from tests.support.command_line import azure, gitsync
from tests.unmanaged.estate import FORMER, STRAYS, TRACKED, make_estate


@pytest.fixture(scope="module")
def estate(tmp_path_factory):
    return make_estate(tmp_path_factory.mktemp("estate"))


def look(world, *arguments, rules=(), **settings):
    """Run the command; returns how it ended, and the requests."""
    with azure(world.store, world.clock, rules=tuple(rules), **settings) as served:
        done = gitsync(
            "unmanaged",
            f"--status-dir={world.state}",
            "--who=off",
            *arguments,
            folder=world.folder,
            **served.variables,
        )
        assert {method for method, path, _ in served.sent() if "ResourceGraph" not in path} <= {"GET"}
        return done, served.sent()


def read(done):
    return json.loads(done.out)


def list_ids(document):
    return {normalize_id(one["armId"]) for one in document["resources"]}


def test_there_are_thirty_kinds_of_strays():
    assert len(STRAYS) + 1 >= 30


def test_lists_find_each_stray_and_nothing_else(estate):
    done, _ = look(estate, "-o", "json")
    assert list_ids(read(done)) == {normalize_id(one) for one in (*STRAYS, FORMER)}
    assert done.code == 0, done.err


def test_full_finds_the_same(estate):
    done, _ = look(estate, "-o", "json", "--full")
    assert list_ids(read(done)) == {normalize_id(one) for one in (*STRAYS, FORMER)}


def test_resource_graph_finds_what_is_directly_in_a_group(estate):
    done, _ = look(estate, "-o", "json", "--fast")
    assert list_ids(read(done)) == {normalize_id(one) for one in TRACKED}
