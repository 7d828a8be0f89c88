"""A new kind of unit is a module and a row: it is added to a copy of the package, of which nothing else changes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import gitsync
from gitsync.desired.manifests.units import UNBUILT
from gitsync.desired.manifests.unread_documents import find_embedded
from gitsync.desired.manifests.yaml_documents import read_documents
from gitsync.model.unit_kind import CONTROLLER_NAMES, UnitKind
from gitsync.repository.units.build_sandbox import UnbuildableError
from gitsync.repository.units.kinds.builder import UnitBuilder, find_builder
from gitsync.repository.units.object_reader import CONTROLLERS
from tests.support.command_line import run_here

PACKAGE = Path(gitsync.__file__).parent
ROW = "    JSON_LINES = UnitTraits(is_built=True)\n"
MODULE = '''
"""Folders with manifests as lines of JSON."""

import hashlib
from dataclasses import dataclass

from gitsync.repository.units.kinds.builder import FoundFiles, MadeJobs, UnitBuilder
from gitsync.repository.units.build_sandbox import UnbuildableError
from gitsync.repository.units.tree import find_folder, is_below


class JsonLinesError(UnbuildableError):
    thing = "file"
    code = "JsonLinesFailed"


@dataclass(frozen=True)
class Job:
    failure = JsonLinesError
    path: str
    files: dict[str, bytes]

    @property
    def digest(self):
        return hashlib.sha256(self.files[self.path]).hexdigest()

    def run(self, timeout, grace):
        if not self.files[self.path].startswith(b"{"):
            raise JsonLinesError(f"{self.path} has a line that is not JSON.", hint="Fix it.", path=self.path)
        return b"".join(b"---\\n" + line for line in self.files[self.path].splitlines(keepends=True))


class JsonLines(UnitBuilder):
    suffixes = (".jsonl",)

    def find(self, paths, reader, is_named):
        roots = [path for path in paths if path.endswith("/manifests.jsonl")]
        return FoundFiles(roots, lambda path: any(is_below(path, find_folder(root)) for root in roots))

    def find_missing(self, folder, reader):
        return "" if f"{folder}/manifests.jsonl" in reader.tree.paths else "manifests.jsonl"

    def make_jobs(self, units, reader):
        return MadeJobs({name: Job(unit.file, reader.tree.read([unit.file])) for name, unit in units.items()})

    def list_inputs(self, unit, reader):
        return [unit.file]

    def list_reachable(self, unit, reader):
        return frozenset({unit.file})


BUILDER = JsonLines()
'''


def group(name):
    header = {"apiVersion": "resources.azure.com/v1api20200601", "kind": "ResourceGroup"}
    return json.dumps({**header, "metadata": {"name": name, "namespace": "shop"}, "spec": {"location": "westeurope"}})


@pytest.fixture
def extended(tmp_path):
    """The folder of a copy of the package with the kind: links to all of it except the row and the module."""
    copy = tmp_path / "package" / "gitsync"
    kinds, rows = Path("repository/units/kinds"), Path("model/unit_kind.py")
    for folder in (Path(), Path("model"), Path("repository"), Path("repository/units"), kinds):
        (copy / folder).mkdir(parents=True, exist_ok=True)
        for entry in (PACKAGE / folder).iterdir():
            # also to compiled modules: Python does not write any, and compiles the row itself
            if not (copy / folder / entry.name).exists() and entry.name not in {
                "model",
                "repository",
                "units",
                "kinds",
            }:
                (copy / folder / entry.name).symlink_to(entry)
    (copy / kinds / "json_lines.py").write_text(MODULE)
    (copy / rows).unlink()
    table = (PACKAGE / rows).read_text()
    assert table.count("    FOLDER = UnitTraits()\n") == 1
    (copy / rows).write_text(table.replace("    FOLDER = UnitTraits()\n", f"    FOLDER = UnitTraits()\n{ROW}"))
    return copy.parent


COMMANDS = """\
import runpy, sys
for command in ("render", "validate"):
    sys.argv = ["gitsync", command, "."]
    try:
        runpy.run_module("gitsync", run_name="__main__")
    except SystemExit as end:
        print(f"{command} ended with {end.code}", flush=True)
"""


def run(package, source):
    """Run two commands in an interpreter that has the package."""
    environment = {**os.environ, "PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", COMMANDS]
    done = subprocess.run(
        command, cwd=source, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    rendered, validated = done.stdout.split("render ended with 1\n")
    return rendered, validated + done.stderr


def test_a_made_up_kind_is_found_built_and_read_and_settings_can_name_it(extended, tmp_path):
    source = tmp_path / "source"
    for folder in ("lines", "wrong", "plain"):
        (source / folder).mkdir(parents=True)
    (source / "lines/manifests.jsonl").write_text(f"{group('first')}\n{group('second')}\n")
    (source / "lines/notes.yaml").write_text("a: [\n")
    (source / "plain/group.yaml").write_text(group("third"))
    before = run_here("render", ".", folder=source).out
    assert "third" in before
    assert "first" not in before, "no kind has such files yet"
    (source / "wrong/manifests.jsonl").write_text(f"kind\n{group('fourth')}\n")
    (source / "gitsync.yaml").write_text("units: [{path: plain, kind: json_lines}]\n")
    rendered, shown = run(extended, source)
    found = {name for name in ("first", "second", "third", "fourth") if f"name: {name}" in rendered}
    assert found == {"first", "second", "third"}
    assert "validate ended with 1\n" in shown
    assert "wrong/manifests.jsonl:1" in shown
    assert "has a line that is not JSON." in shown
    assert "units: path: the source has no manifests.jsonl in the folder plain." in shown
    assert "notes.yaml" not in shown, "the rest of the folder is not read, as in a kustomization"


def test_every_kind_has_its_module_and_every_module_its_row():
    modules = {path.stem for path in (PACKAGE / "repository/units/kinds").glob("*.py")} - {"__init__", "builder"}
    assert modules == {kind.word for kind in UnitKind}
    assert all(UnitBuilder in type(find_builder(kind)).__mro__ for kind in UnitKind)


def list_errors(kind=UnbuildableError):
    return [error for each in kind.__subclasses__() for error in (each, *list_errors(each))]


def test_each_code_of_a_unit_that_is_not_built_holds_its_deletes():
    assert {error.code for error in list_errors()} <= UNBUILT


OBJECTS = [(group, kind, controller.name) for controller in CONTROLLERS for group, kind in controller.readers]


@pytest.mark.parametrize(("group", "kind", "name"), OBJECTS, ids=[kind for _, kind, _ in OBJECTS])
def test_each_object_of_a_controller_is_known_where_no_reader_is(group, kind, name):
    assert [tool for end, tool in CONTROLLER_NAMES.items() if group.endswith(end)] == [name], "reports name it"
    inner = {"apiVersion": "network.azure.com/v1api20201101", "kind": "VirtualNetwork", "spec": {}}
    text = json.dumps({"apiVersion": f"{group}/v1", "kind": kind, "metadata": {"name": "a"}, "spec": {"patch": inner}})
    (document,) = read_documents("a.yaml", text.encode()).documents
    declares = kind in {each.value.declared_by for each in UnitKind}
    assert not (declares and find_embedded(document)), "what its object has in it is a part, such as a patch"
