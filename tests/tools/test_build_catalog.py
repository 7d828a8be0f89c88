"""The packer of the catalog: what it writes, and that it writes the same again."""

import json
import lzma
from pathlib import Path

import build_catalog
import pytest

from tests.tools.tool_runs import run_tool

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "gitsync" / "desired" / "catalog" / "data"
COLUMNS = ("arm_type", "group", "subscription", "parent", "scope_list")
OTHER_KINDS = json.loads((ROOT / "tools" / "other_kinds.json").read_text())
BUDGET = 400_000  # bytes of all packed files

THING = {"armType": "Microsoft.Things/things", "apiVersion": "2024-01-01", "spec": "S", "status": "T"}
FACTS = {
    "group": "things.azure.com",
    "versions": {"v20240101": {"kinds": {"Thing": THING, "Other": THING | {"armType": "M/o"}}, "types": {}}},
    "aliases": {"v1api20240101": {"of": "v20240101", "kinds": ["Thing"]}},
}


def build(facts, data):
    return run_tool(build_catalog.main, facts, data)


def unpack(path):
    return json.loads(lzma.decompress(path.read_bytes()))


def unpack_group(path):
    head, *lines = map(json.loads, lzma.decompress(path.read_bytes()).splitlines())
    return head | {"versions": dict(zip(head["versions"], lines, strict=True))}


@pytest.fixture
def folders(tmp_path):
    facts, data = tmp_path / "facts", tmp_path / "data"
    facts.mkdir()
    data.mkdir()
    write_lists(facts)
    return facts, data


def write_lists(facts, *rows):
    (facts / "lists.tsv").write_text("".join("\t".join(row) + "\n" for row in (COLUMNS, *rows)))


def write(facts, value):
    (facts / f"{value['group']}.json").write_text(json.dumps(value))


def test_a_group_is_packed_as_it_is_and_the_index_has_both_spellings(folders):
    facts, data = folders
    write(facts, FACTS)
    assert build(facts, data).returncode == 0
    others = [f"{group}.jsonl.xz" for group in OTHER_KINDS]
    assert sorted(p.name for p in data.iterdir()) == sorted([*others, "index.json.xz", "things.azure.com.jsonl.xz"])
    assert unpack_group(data / "things.azure.com.jsonl.xz") == FACTS
    index = unpack(data / "index.json.xz")
    assert {group: kinds for group, kinds in index.items() if group not in OTHER_KINDS} == {
        "things.azure.com": {
            "Thing": {
                "armType": "Microsoft.Things/things",
                "versions": {"v1api20240101": "2024-01-01", "v20240101": "2024-01-01"},
            },
            "Other": {"armType": "M/o", "versions": {"v20240101": "2024-01-01"}},
        }
    }


def test_the_index_has_the_levels_of_lists_in_order_and_reports_nothing_of_unknown_ones(folders):
    facts, data = folders
    write(facts, FACTS)
    write_lists(facts, ("microsoft.THINGS/things", "group", "subscription", "", ""), ("M/o", "", "", "", ""))
    assert build(facts, data).returncode == 0
    kinds = unpack(data / "index.json.xz")["things.azure.com"]
    assert kinds["Thing"]["lists"] == ["group", "subscription"]
    assert "lists" not in kinds["Other"]


@pytest.mark.parametrize("table", [None, "arm_type\tgroup\nM/o\tgroup\n"], ids=["absent", "without a column"])
def test_a_table_of_lists_that_is_absent_or_unexpected_ends_the_build(folders, table):
    facts, data = folders
    write(facts, FACTS)
    (facts / "lists.tsv").unlink() if table is None else (facts / "lists.tsv").write_text(table)
    done = build(facts, data)
    assert done.returncode == 1
    assert "not a table of lists" in done.stderr
    assert not list(data.iterdir())


def test_the_same_facts_give_the_same_bytes_whatever_the_order_of_their_keys(folders, tmp_path):
    facts, data = folders
    write(facts, FACTS)
    build(facts, data)
    write(facts, dict(reversed(FACTS.items())))
    again = tmp_path / "again"
    again.mkdir()
    build(facts, again)
    assert {p.name: p.read_bytes() for p in data.iterdir()} == {p.name: p.read_bytes() for p in again.iterdir()}


def test_the_choices_of_numbers_are_packed_as_numbers(folders):
    facts, data = folders
    choices = {"enum": ["1", "2.5"]}
    fields = {
        "severity": {"type": {"enum": ["0", "1"], "base": "integer"}},
        "share": {"type": {"list": {"base": "number", **choices}}},
        "word": {"type": {"base": "string", **choices}},
        "enum": {"type": "string"},
    }
    things = FACTS["versions"]["v20240101"] | {"types": {"S": {"fields": fields}}}
    write(facts, FACTS | {"versions": {"v20240101": things}})
    assert build(facts, data).returncode == 0
    packed = unpack_group(data / "things.azure.com.jsonl.xz")["versions"]["v20240101"]["types"]["S"]["fields"]
    assert packed == fields | {
        "severity": {"type": {"enum": [0, 1], "base": "integer"}},
        "share": {"type": {"list": {"base": "number", "enum": [1, 2.5]}}},
    }


def test_kinds_that_are_not_arms_are_added_to_their_group(folders):
    facts, data = folders
    write(facts, FACTS | {"group": "sql.azure.com"})
    assert build(facts, data).returncode == 0
    packed = unpack_group(data / "sql.azure.com.jsonl.xz")
    assert packed["versions"] == FACTS["versions"] | OTHER_KINDS["sql.azure.com"]
    index = unpack(data / "index.json.xz")
    assert index["sql.azure.com"]["User"] == {
        "armType": "Microsoft.Sql/servers/databases/users",
        "provider": "sql",
        "versions": {"v1": "v1"},
    }
    assert "provider" not in index["sql.azure.com"]["Thing"]
    assert unpack_group(data / "entra.azure.com.jsonl.xz")["versions"] == OTHER_KINDS["entra.azure.com"]


def test_a_version_that_both_have_ends_the_build(folders):
    facts, data = folders
    write(facts, FACTS | {"group": "sql.azure.com", "versions": FACTS["versions"] | {"v1": {"kinds": {}, "types": {}}}})
    ended = build(facts, data)
    assert ended.returncode != 0
    assert "sql.azure.com: v1 is in other_kinds.json and in the facts" in ended.stderr


def test_a_group_that_the_facts_no_longer_have_goes(folders):
    facts, data = folders
    write(facts, FACTS)
    (data / "gone.azure.com.jsonl.xz").write_bytes(b"old")
    build(facts, data)
    assert not (data / "gone.azure.com.jsonl.xz").exists()


def test_nothing_is_written_of_a_folder_without_facts(folders):
    ended = build(*folders)
    assert ended.returncode != 0
    assert "no *.json" in ended.stderr


def test_a_kind_with_two_arm_types_is_refused(folders):
    facts, data = folders
    other = {"kinds": {"Thing": THING | {"armType": "M/else"}}, "types": {}}
    write(facts, FACTS | {"versions": FACTS["versions"] | {"v20250101": other}})
    ended = build(facts, data)
    assert ended.returncode != 0
    assert "things.azure.com/Thing" in ended.stderr


def test_the_packed_catalog_keeps_its_budget():
    files = list(DATA.glob("*.json*.xz"))
    assert files, f"{DATA} has no facts"
    assert sum(path.stat().st_size for path in files) < BUDGET
