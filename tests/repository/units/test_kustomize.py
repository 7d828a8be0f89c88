"""Running kustomize: what is handed to the tool, what it may do, and what is passed on of its complaints."""

import contextlib
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.errors import SourceError
from gitsync.repository.units.build_sandbox import UnbuildableError, write_files
from gitsync.repository.units.kustomize import build
from tests.repository.units.trees import GROUP
from tests.support.programs import needs_build_tool

BASE = "base/kustomization.yaml"
FILES = {BASE: b"resources: [group.yaml]\n", "base/group.yaml": GROUP}
LAST = 'for last; do :; done\ncd "$last"\n'


def test_without_a_tool_the_hint_names_both(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SourceError) as failed:
        build(BASE, FILES)
    assert "neither kustomize nor kubectl is installed" in str(failed.value)
    assert failed.value.exit_code == 2


@pytest.mark.parametrize(("name", "words"), [("kustomize", "build"), ("kubectl", "kustomize")])
@pytest.mark.parametrize(("is_restricted", "restrictor"), [(True, "RootOnly"), (False, "None")])
def test_either_tool_is_run_on_a_copy(tool, name, words, is_restricted, restrictor):
    tool(name, f'echo "# $1 $2 $3"\n{LAST}cat kustomization.yaml ../source/base/group.yaml\nls ../source\n')
    text = build(BASE, FILES, is_restricted=is_restricted)
    assert text.startswith(f"# {words} --load-restrictor LoadRestrictions{restrictor}\n".encode())
    assert b'"buildMetadata": ["originAnnotations"]' in text, "the origin of each manifest is asked for"
    assert GROUP in text


def test_a_tool_that_has_no_origins_builds_without(tool):
    tool("kustomize", f"{LAST}cat group.yaml || exit 1\n")
    assert build(BASE, FILES) == GROUP


def test_kustomize_goes_before_kubectl(tool):
    tool("kubectl", "echo kubectl")
    tool("kustomize", "echo kustomize")
    assert build(BASE, FILES) == b"kustomize\n"


def test_the_tool_gets_nothing_of_the_environment(tool, monkeypatch):
    monkeypatch.setenv("AZURE_CLIENT_SECRET", "do-not-tell")
    tool("kustomize", "env")
    text = build(BASE, FILES).decode()
    assert "do-not-tell" not in text
    assert "GIT_ALLOW_PROTOCOL=none" in text
    assert f"HOME={os.environ['HOME']}\n" not in text


COMPLAINTS = [
    ('printf "Error: \\033[31mno %s/base\\n" "$PWD" >&2; exit 1', "[31mno base/base", "colours and paths of the copy"),
    (
        "echo 'E1122 10:28:55.925031    5597 run.go:72] \"command failed\" err=\"it said \\\"no\\\"\"' >&2; exit 1",
        'cannot be built: it said "no"',
        "the log of kubectl around it",
    ),
    ("exit 1", "the tool gave no reason", "nothing at all"),
    (
        "echo \"# Warning: 'bases' is deprecated.\" >&2; echo 'Error: no such file' >&2; exit 1",
        "cannot be built: no such file # Warning: 'bases' is deprecated.",
        "the cause before warnings",
    ),
    (
        "echo \"# Warning: 'bases' is deprecated.\" >&2; echo 'E1122 10:28:55.925031    5597 run.go:72] \"command failed\" err=\"no file\"' >&2; exit 1",
        "cannot be built: no file # Warning",
        "also in the log of kubectl",
    ),
    ("echo '# Warning: old' >&2; exit 1", "cannot be built: # Warning: old", "a warning alone"),
    (f"printf 'x%.0s' $(seq 1 1) >&2; echo '{'long ' * 900}end' >&2; exit 1", "long end", "a long one is passed on whole"),
]  # fmt: skip


@pytest.mark.parametrize(("script", "said", "why"), COMPLAINTS, ids=[row[-1] for row in COMPLAINTS])
def test_a_complaint_is_passed_on(tool, script, said, why):
    tool("kustomize", script)
    with pytest.raises(UnbuildableError) as failed:
        build(BASE, FILES)
    problem = failed.value.problem
    assert said in problem.message, why
    assert problem.message.startswith("base/kustomization.yaml cannot be built: ")
    assert "\033" not in problem.message
    assert "gitsync-run-" not in problem.message, "paths of the copy help nobody"


def test_a_build_that_hangs_is_ended_with_all_that_it_started(tool):
    tool("kustomize", "sleep 600 & sleep 600")
    with pytest.raises(UnbuildableError, match=r"not built within 0\.2 seconds"):
        build(BASE, FILES, timeout=0.2)


def test_a_tool_that_cannot_be_started_is_reported(tool, tmp_path):
    tool("kustomize", "")
    (tmp_path / "bin" / "kustomize").write_bytes(b"\x7fELF nonsense")
    with pytest.raises(SourceError, match="cannot be started"):
        build(BASE, FILES)


@pytest.mark.parametrize("path", ["../x", "a/../../x", "/etc/x", "a\0b", "..", "", "a\\..\\b"])
def test_no_file_is_written_elsewhere(path, tmp_path):
    root = tmp_path / "outer" / "root"
    root.mkdir(parents=True)
    with pytest.raises(SourceError):
        write_files(root, {path: b"x"})
    assert [each.name for each in root.parent.rglob("*")] == ["root"]


def test_a_file_where_a_folder_is_needed_is_reported(tmp_path):
    with pytest.raises(SourceError, match="cannot be written"):
        write_files(tmp_path, {"a": b"x", "a/b": b"y"})


@given(st.lists(st.text(alphabet="ab./\\~ \0é", min_size=1, max_size=8), max_size=4))
def test_whatever_the_paths_nothing_is_outside(paths):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "in" / "root"
        root.mkdir(parents=True)
        with contextlib.suppress(SourceError):
            write_files(root, dict.fromkeys(paths, b"x"))
        outside = [p for p in Path(folder).rglob("*") if p.is_file() and not p.is_relative_to(root)]
        assert outside == []


@needs_build_tool
def test_the_real_tool_names_the_file_of_each_manifest():
    files = FILES | {"overlays/prod/kustomization.yaml": b"resources: [../../base]\nnamePrefix: prod-\n"}
    built = build("overlays/prod/kustomization.yaml", files)
    assert b"name: prod-rg" in built
    assert b"path: ../source/base/group.yaml" in built


@needs_build_tool
@pytest.mark.parametrize("is_restricted", [True, False])
def test_the_real_tool_reads_a_file_beside_its_folder_only_without_the_restrictor(is_restricted):
    files = {BASE: b"resources: [../plain/other.yaml]\n", "plain/other.yaml": GROUP}
    if not is_restricted:
        assert b"name: rg" in build(BASE, files, is_restricted=False)
        return
    with pytest.raises(UnbuildableError, match="is not in or below"):
        build(BASE, files)
