"""Building kustomizations: what is built, what is handed to the tool, and what is refused."""

import contextlib
import os
import shutil
import stat
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.errors import SourceError
from gitsync.git.source.kustomization import find_inputs, find_kustomizations, is_component
from gitsync.git.source.kustomize import build_kustomizations, write_files

GROUP = b"apiVersion: resources.azure.com/v1api20200601\nkind: ResourceGroup\nmetadata: {name: rg}\nspec: {location: westus}\n"
SOURCE = {
    "README.md": b"not a manifest",
    "base/kustomization.yaml": b"resources: [group.yaml]\n",
    "base/group.yaml": GROUP,
    "overlays/prod/kustomization.yaml": b"resources: [../../base]\nnamePrefix: prod-\n",
    "plain/other.yaml": GROUP,
}


def reader(files):
    return lambda paths: {path: files[path] for path in paths}


@pytest.fixture
def tool(tmp_path, monkeypatch):
    """Puts an executable of this name and text on the search path, and nothing else but the shell's own tools."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for word in ("cat", "sleep", "env", "ls"):
        (folder / word).symlink_to(shutil.which(word))

    def install(name: str, script: str) -> None:
        path = folder / name
        path.write_text("#!/bin/sh\n" + script)
        path.chmod(path.stat().st_mode | stat.S_IEXEC)

    monkeypatch.setenv("PATH", str(folder))
    return install


@pytest.mark.parametrize(
    ("paths", "path", "expected", "why"),
    [
        (["a.yaml"], "", [], "no kustomization, nothing to build"),
        (["kustomization.yaml", "sub/kustomization.yaml"], "", ["kustomization.yaml"], "the one at the path alone counts"),
        (["a/Kustomization", "b/kustomization.yml"], "", ["a/Kustomization", "b/kustomization.yml"], "each branch is a unit"),
        (["a/kustomization.yaml", "a/b/kustomization.yaml"], "", ["a/kustomization.yaml"], "what lies below a unit is its own"),
        (["kustomization.yaml", "x/kustomization.yaml"], "x", ["x/kustomization.yaml"], "above the path is not looked"),
        (["ab/kustomization.yaml", "a/c.yaml"], "a", [], "a folder whose name begins alike is another"),
        (["a/kustomization.yaml.bak"], "", [], "only the names that kustomize knows"),
    ],
)  # fmt: skip
def test_what_is_built(paths, path, expected, why):
    assert list(find_kustomizations(paths, path)) == expected, why


def test_a_build_needs_its_folder_and_those_of_its_bases():
    needed = find_inputs("overlays/prod/kustomization.yaml", SOURCE, reader(SOURCE))
    assert needed == ("base/group.yaml", "base/kustomization.yaml", "overlays/prod/kustomization.yaml")


def test_bases_that_name_each_other_end():
    files = {"a/kustomization.yaml": b"resources: [../b]", "b/kustomization.yaml": b"resources: [../a]"}
    assert find_inputs("a/kustomization.yaml", files, reader(files)) == tuple(sorted(files))


@pytest.mark.parametrize(
    ("text", "word", "why"),
    [
        ("resources: ['https://example.com/x.yaml']", "https://example.com/x.yaml", "a file by its URL"),
        ("resources: ['github.com/org/repo//base?ref=v1']", "neither a file", "a git base without a scheme"),
        ("resources: ['git@github.com:org/repo']", "git@github.com", "a git base over ssh"),
        ("resources: [../../outside]", "outside this source", "a folder above the source"),
        ("resources: [/etc]", "neither a file", "a folder of this machine"),
        ("components: [missing]", "neither a file", "a component that is not there"),
        ("transformers: [github.com/a/b]", "neither a file", "a transformer from elsewhere"),
        ("configMapGenerator: [{name: x, files: ['k=http://127.0.0.1/?a=b']}]", "http://127.0.0.1", "a file after a key"),
        ("secretGenerator: [{name: x, envs: ['HTTP://169.254.169.254/']}]", "169.254", "the machine's metadata"),
        ("patches: [{path: 'https://example.com/p'}]", "https://example.com/p", "a patch by its URL"),
        ("openapi: {path: 'https://example.com/o'}", "https://example.com/o", "a schema by its URL"),
        ("helmCharts: [{repo: 'oci://example.com/charts'}]", "oci://", "a chart"),
        ("[", "not valid YAML", "what cannot be read cannot be trusted"),
        ("just text", "must be a mapping", "no kustomization at all"),
        ("#" * 1_000_001, "too large", "nor is it one that is larger than any"),
    ],
)  # fmt: skip
def test_nothing_is_fetched(text, word, why):
    files = {"a/kustomization.yaml": text.encode()}
    with pytest.raises(SourceError) as refused:
        find_inputs("a/kustomization.yaml", files, reader(files))
    assert word in str(refused.value), why


@pytest.mark.parametrize(
    "text",
    [
        "commonAnnotations: {docs: 'https://example.com'}",
        "configMapGenerator: [{name: x, literals: ['URL=https://example.com']}]",
        'patches: [{patch: \'[{"op": "add", "path": "/spec/x", "value": "https://example.com"}]\'}]',
        "patchesStrategicMerge: [\"kind: A\\nspec: {url: 'https://example.com'}\"]",
        "images: [{name: a, newName: 'registry.example.com/a'}]",
        'transformers: ["kind: PrefixTransformer\\nmetadata: {name: x}"]\nresources: [5]',
    ],
)
def test_addresses_that_are_no_paths_are_left_alone(text):
    files = {"a/kustomization.yaml": text.encode()}
    assert find_inputs("a/kustomization.yaml", files, reader(files)) == ("a/kustomization.yaml",)


def test_without_a_tool_the_way_out_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SourceError) as failed:
        build_kustomizations(["base/kustomization.yaml"], SOURCE, reader(SOURCE))
    assert "neither kustomize nor kubectl is installed" in str(failed.value)
    assert failed.value.exit_code == 2


@pytest.mark.parametrize(("name", "words"), [("kustomize", "build"), ("kubectl", "kustomize")])
def test_either_tool_is_run_in_a_copy_of_what_it_needs(tool, name, words):
    tool(name, 'echo "# $1 $2 $3"\ncat group.yaml ../base/group.yaml 2>/dev/null\nls ..\n')
    built = build_kustomizations(["base/kustomization.yaml"], SOURCE, reader(SOURCE))
    (text,) = built.values()
    assert list(built) == ["base/kustomization.yaml"]
    assert text.startswith(b"# %b --load-restrictor LoadRestrictionsRootOnly\n" % words.encode())
    assert GROUP in text
    assert b"plain" not in text, "files that the build cannot need are not written"


def test_what_is_built_is_told_for_yaml_whatever_the_kustomization_is_called(tool):
    tool("kustomize", "cat group.yaml")
    files = {"a/Kustomization": b"resources: [group.yaml]", "a/group.yaml": GROUP}
    assert build_kustomizations(["a/Kustomization"], files, reader(files)) == {"a/Kustomization.yaml": GROUP}


def test_kustomize_goes_before_kubectl(tool):
    tool("kubectl", "echo kubectl")
    tool("kustomize", "echo kustomize")
    assert build_kustomizations(["base/kustomization.yaml"], SOURCE, reader(SOURCE)) == {
        "base/kustomization.yaml": b"kustomize\n"
    }


def test_the_tool_gets_nothing_of_the_environment(tool, monkeypatch):
    monkeypatch.setenv("AZURE_CLIENT_SECRET", "do-not-tell")
    tool("kustomize", "env")
    text = build_kustomizations(["base/kustomization.yaml"], SOURCE, reader(SOURCE))["base/kustomization.yaml"].decode()
    assert "do-not-tell" not in text
    assert "GIT_ALLOW_PROTOCOL=none" in text
    assert f"HOME={os.environ['HOME']}\n" not in text


def test_a_failed_build_tells_what_the_tool_said(tool):
    tool("kustomize", 'printf "Error: \\033[31mno %s/base\\n" "$PWD" >&2; exit 1')
    with pytest.raises(SourceError) as failed:
        build_kustomizations(["base/kustomization.yaml"], SOURCE, reader(SOURCE))
    assert failed.value.message.startswith("base/kustomization.yaml cannot be built: Error:")
    assert "\033" not in failed.value.message
    assert "/tmp" not in failed.value.message, "paths of the copy tell nobody anything"


def test_a_build_that_hangs_is_ended_with_all_that_it_started(tool):
    tool("kustomize", "sleep 600 & sleep 600")
    with pytest.raises(SourceError, match=r"not built within 0\.2 seconds"):
        build_kustomizations(["base/kustomization.yaml"], SOURCE, reader(SOURCE), timeout=0.2)


def test_a_tool_that_cannot_be_started_is_told(tool, tmp_path):
    tool("kustomize", "")
    (tmp_path / "bin" / "kustomize").write_bytes(b"\x7fELF nonsense")
    with pytest.raises(SourceError, match="cannot be started"):
        build_kustomizations(["base/kustomization.yaml"], SOURCE, reader(SOURCE))


def test_a_component_is_not_built_by_itself(tool):
    files = {"c/kustomization.yaml": b"apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"}
    assert is_component(files["c/kustomization.yaml"])
    assert build_kustomizations(["c/kustomization.yaml"], files, reader(files)) == {}


@pytest.mark.parametrize("path", ["../x", "a/../../x", "/etc/x", "a\0b", "..", "", "a\\..\\b"])
def test_no_file_is_written_elsewhere(path, tmp_path):
    root = tmp_path / "outer" / "root"
    root.mkdir(parents=True)
    with pytest.raises(SourceError):
        write_files(root, {path: b"x"})
    assert [each.name for each in root.parent.rglob("*")] == ["root"]


def test_a_file_where_a_folder_is_needed_is_told(tmp_path):
    with pytest.raises(SourceError, match="cannot be written"):
        write_files(tmp_path, {"a": b"x", "a/b": b"y"})


@given(st.lists(st.text(alphabet="ab./\\~ \0é", min_size=1, max_size=8), max_size=4))
def test_whatever_the_paths_nothing_lies_outside(paths):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "in" / "root"
        root.mkdir(parents=True)
        with contextlib.suppress(SourceError):
            write_files(root, dict.fromkeys(paths, b"x"))
        outside = [p for p in Path(folder).rglob("*") if p.is_file() and not p.is_relative_to(root)]
        assert outside == []


@pytest.mark.skipif(not (shutil.which("kustomize") or shutil.which("kubectl")), reason="no kustomize here")
def test_the_real_tool_builds_an_overlay():
    built = build_kustomizations(["overlays/prod/kustomization.yaml"], SOURCE, reader(SOURCE))
    assert b"name: prod-rg" in built["overlays/prod/kustomization.yaml"]


@pytest.mark.skipif(not (shutil.which("kustomize") or shutil.which("kubectl")), reason="no kustomize here")
def test_the_real_tool_reads_no_file_outside_its_folder():
    files = SOURCE | {"base/kustomization.yaml": b"resources: [../plain/other.yaml]\n"}
    with pytest.raises(SourceError, match="cannot be built"):
        build_kustomizations(["base/kustomization.yaml"], files, reader(files))
