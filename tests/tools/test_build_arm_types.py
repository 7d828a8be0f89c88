"""The packer of ARM's types: a small checkout, read back as gitsync reads it."""

import json
import re
import subprocess
from pathlib import Path

import build_arm_types
import pytest

from gitsync.desired.catalog.arm_types import ArmTypes
from gitsync.model.facts import ScopeFlag
from tests.tools.tool_runs import run_tool

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "gitsync" / "desired" / "catalog" / "data" / "arm_types"
BUDGET = 1_500_000  # bytes of all packed files


def reference(index):
    return {"$ref": f"#/{index}"}


def member(index, flags=0, **others):
    return {"type": reference(index), "flags": flags, **others}


def make_things(version, *, note="", arm_type="Microsoft.Things/things"):
    """The types of one version of a file: a thing with a choice, a list of itself and a variant."""
    return [
        {"$type": "StringType"},
        {"$type": "StringLiteralType", "value": arm_type},
        {"$type": "StringLiteralType", "value": version},
        {"$type": "StringLiteralType", "value": "Small"},
        {"$type": "StringLiteralType", "value": "Large"},
        {"$type": "UnionType", "elements": [reference(3), reference(4)]},
        {"$type": "UnionType", "elements": [reference(3), reference(0)]},
        {"$type": "ArrayType", "itemType": reference(8), "minLength": 1},
        {
            "$type": "ObjectType",
            "name": "Node",
            "properties": {
                "size": member(5, 1, description=note),
                "description": member(6),
                "nodes": member(7, 2),
                "labels": member(9),
                "secret": member(10, 4),
                "port": member(11),
                "shape": member(12),
            },
        },
        {"$type": "ObjectType", "name": "Labels", "properties": {}, "additionalProperties": reference(0)},
        {"$type": "StringType", "sensitive": True, "minLength": 3, "pattern": "^x"},
        {"$type": "IntegerType", "minValue": 1, "maxValue": 9},
        {
            "$type": "DiscriminatedObjectType",
            "name": "Shape",
            "discriminator": "kind",
            "baseProperties": {"area": member(11)},
            "elements": {"Round": reference(13)},
        },
        {"$type": "ObjectType", "name": "Round", "properties": {"kind": member(14, 1), "radius": member(15)}},
        {"$type": "StringLiteralType", "value": "Round"},
        {"$type": "AnyType"},
        {
            "$type": "ObjectType",
            "name": arm_type,
            "properties": {
                "id": member(0, 10, description="The id."),
                "type": member(1, 10),
                "apiVersion": member(2, 10),
                "name": member(0, 9),
                "properties": member(8),
            },
        },
        {
            "$type": "ResourceType",
            "name": f"{arm_type}@{version}",
            "body": reference(16),
            "readableScopes": 12,
            "writableScopes": 8,
        },
        {
            "$type": "ResourceType",
            "name": f"{arm_type}/parts@{version}",
            "body": reference(16),
            "readableScopes": 8,
            "writableScopes": 0,
        },
        {
            "$type": "ResourceFunctionType",
            "name": "listKeys",
            "resourceType": arm_type.lower(),
            "apiVersion": version,
            "output": reference(15),
        },
    ]


def write(checkout, types, version="2024-01-01", service="things_0"):
    folder = checkout / "generated" / service / "microsoft.things" / version
    folder.mkdir(parents=True)
    (folder / "types.json").write_text(json.dumps(types))


@pytest.fixture
def checkout(tmp_path):
    folder = tmp_path / "checkout"
    folder.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    commit(folder)
    return folder


def commit(folder, *flags):
    git = ["git", "-c", "user.name=Somebody", "-c", "user.email=somebody@example.com"]
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "A commit", *flags], cwd=folder, check=True)


def build(checkout, data):
    return run_tool(build_arm_types.main, checkout, data)


def open_built(checkout, data):
    ended = build(checkout, data)
    assert ended.returncode == 0, ended.stderr
    return ArmTypes(lambda name: (data / Path(name).name).read_bytes())


def test_a_type_is_read_back_with_its_versions_and_its_body(checkout, tmp_path):
    write(checkout, make_things("2024-01-01"))
    types = open_built(checkout, tmp_path / "data")
    assert types.list_names() == ("Microsoft.Things/things", "Microsoft.Things/things/parts")
    version = types.find_type("microsoft.things/THINGS").find_version("2024-01-01")
    assert (version.readable, version.writable, version.actions) == (
        ScopeFlag.SUBSCRIPTION | ScopeFlag.RESOURCE_GROUP,
        ScopeFlag.RESOURCE_GROUP,
        ("listKeys",),
    )
    body = types.find_body("Microsoft.Things/things", "2024-01-01")
    assert {name: found.flags for name, found in body.members.items()} == {"name": 9, "properties": 0}
    node = body.members["properties"].type
    assert {name: (found.flags, found.type.shape) for name, found in node.members.items()} == {
        "size": (1, "choice"),
        "description": (0, "string"),  # a member may have this name
        "nodes": (2, "list"),
        "labels": (0, "object"),
        "secret": (4, "string"),
        "port": (0, "integer"),
        "shape": (0, "variants"),
    }
    found = {name: found.type for name, found in node.members.items()}
    assert (found["size"].choices, found["description"].choices) == (["Small", "Large"], ["Small"])
    assert found["nodes"].item is node, "a type that holds itself"
    assert (found["nodes"].limits, found["port"].limits) == ({"minItems": 1}, {"minimum": 1, "maximum": 9})
    assert found["labels"].others.shape == "string"
    assert (found["secret"].is_sensitive, found["secret"].limits, found["secret"].pattern) == (
        True,
        {"minLength": 3},
        "^x",
    )
    assert (found["shape"].by, found["shape"].variant_names) == ("kind", ("Round",))
    assert found["shape"].find_variant("round").members.keys() == {"kind", "radius"}


def test_an_object_whose_variants_are_not_known_takes_any(checkout, tmp_path):
    """As the placement policies of Service Fabric: the source has the base type alone."""
    things = make_things("2024-01-01")
    things[12]["elements"] = {}
    write(checkout, things)
    body = open_built(checkout, tmp_path / "data").find_body("Microsoft.Things/things", "2024-01-01")
    shape = body.members["properties"].type.members["shape"].type
    members = {name: (found.type.shape, found.is_required) for name, found in shape.members.items()}
    assert (shape.shape, shape.by, members) == ("object", "", {"area": ("integer", False), "kind": ("string", True)})
    assert shape.others.shape == "any"


def test_what_can_only_be_read_has_no_body(checkout, tmp_path):
    write(checkout, make_things("2024-01-01"))
    types = open_built(checkout, tmp_path / "data")
    part = types.find_type("Microsoft.Things/things/parts")
    assert (part.is_writable, part.newest_stable, list(part.versions)) == (False, None, ["2024-01-01"])
    assert types.find_body(part.name, "2024-01-01") is None


def test_equal_types_of_all_versions_are_stored_once_without_descriptions(checkout, tmp_path):
    for version, note in (("2024-01-01", "One."), ("2024-02-01", "Two."), ("2025-01-01-preview", "")):
        write(checkout, make_things(version, note=note), version)
    types = open_built(checkout, tmp_path / "data")
    name = "Microsoft.Things/things"
    assert len({types.find_body(name, version) for version in types.find_type(name).versions}) == 1


def test_the_newest_version_decides_the_spelling_of_a_type(checkout, tmp_path):
    write(checkout, make_things("2024-01-01", arm_type="Microsoft.Things/Things"))
    write(checkout, make_things("2024-02-01", arm_type="Microsoft.Things/things"), "2024-02-01")
    write(checkout, make_things("2024-03-01-preview", arm_type="microsoft.things/things"), "2024-03-01-preview")
    found = open_built(checkout, tmp_path / "data").find_type("MICROSOFT.THINGS/THINGS")
    assert (found.name, found.newest_stable, found.newest_preview) == (
        "Microsoft.Things/things",
        "2024-02-01",
        "2024-03-01-preview",
    )


def test_of_two_files_with_one_version_the_last_one_counts_and_both_have_actions(checkout, tmp_path):
    first, last = make_things("2024-01-01"), make_things("2024-01-01")
    first[-1]["name"], first[-3]["writableScopes"] = "stop", 4
    write(checkout, first, service="things_0")
    write(checkout, last, service="things_1")
    found = open_built(checkout, tmp_path / "data").find_type("Microsoft.Things/things").versions["2024-01-01"]
    assert (found.writable, found.actions) == (ScopeFlag.RESOURCE_GROUP, ("listKeys", "stop"))


def test_the_same_checkout_gives_the_same_bytes_and_stale_files_go(checkout, tmp_path):
    for version in ("2024-01-01", "2024-02-01"):
        write(checkout, make_things(version), version)
    data, again = tmp_path / "data", tmp_path / "again"
    again.mkdir()
    (again / "microsoft.gone.jsonl.xz").write_bytes(b"")
    assert (build(checkout, data).returncode, build(checkout, again).returncode) == (0, 0)
    assert {p.name: p.read_bytes() for p in data.iterdir()} == {p.name: p.read_bytes() for p in again.iterdir()}
    assert {p.name for p in data.iterdir()} == {"index.xz", "microsoft.things.jsonl.xz", "revision"}


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"$type": "NewType"}, "unknown type NewType"),
        ({"$type": "UnionType", "elements": [reference(11), reference(3)]}, "a union of more than texts"),
    ],
)
def test_what_the_tool_does_not_support_ends_the_build(checkout, tmp_path, entry, words):
    types = make_things("2024-01-01")
    types[5] = entry
    write(checkout, types)
    ended = build(checkout, tmp_path / "data")
    assert ended.returncode == 1
    assert words in ended.stderr


def test_a_folder_without_types_or_git_ends_the_build(checkout, tmp_path):
    assert "no generated/*/*/*/types.json" in build(checkout, tmp_path / "data").stderr
    assert "not a git checkout" in build(tmp_path, tmp_path / "data").stderr


def test_the_packed_types_are_small():
    assert sum(path.stat().st_size for path in DATA.iterdir()) < BUDGET


def test_the_catalog_names_the_day_of_the_types_and_keeps_the_release_of_aso(checkout, tmp_path):
    write(checkout, make_things("2024-01-01"), "2024-01-01")
    catalog = tmp_path / "CATALOG"
    catalog.write_text(json.dumps({"aso": {"release": "2.21"}, "armTypes": {"date": "2020-01-01"}}))
    assert build(checkout, tmp_path / "arm_types").returncode == 0
    day = subprocess.run(
        ["git", "log", "-1", "--format=%cs"], cwd=checkout, check=True, capture_output=True, text=True
    ).stdout.strip()
    assert json.loads(catalog.read_text()) == {"aso": {"release": "2.21"}, "armTypes": {"date": day}}


def test_a_commit_that_changes_no_type_changes_nothing(checkout, tmp_path):
    write(checkout, make_things("2024-01-01"), "2024-01-01")
    data = tmp_path / "arm_types"
    assert build(checkout, data).returncode == 0
    files = [*data.iterdir(), tmp_path / "CATALOG"]
    before = [file.read_bytes() for file in files]
    commit(checkout, "--date", "2020-01-01T00:00:00Z")
    assert build(checkout, data).returncode == 0
    assert [file.read_bytes() for file in files] == before

    write(checkout, make_things("2024-02-01"), "2024-02-01")
    assert build(checkout, data).returncode == 0
    assert (data / "revision").read_bytes() not in before


def test_notice_names_the_source_and_its_commit():
    words = (ROOT / "NOTICE").read_text()
    assert re.search(r"https://github\.com/Azure/bicep-types-az at commit [1-9a-f][0-9a-f]{39}, which is", words)
