"""A gitsync.yaml that is a link, is in two roles, or changed since the last run: never skipped without a word."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from gitsync.api import plan
from gitsync.settings.files.checkouts import is_in_repository
from tests.support.command_line import SUBSCRIPTION, run_here
from tests.support.git_repositories import commit_all, init_repository

GROUP = """apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata:
  name: shop
spec:
  location: westeurope
"""
DETACHED = GROUP.replace(
    "  name: shop\n", "  name: shop\n  annotations: {serviceoperator.azure.com/reconcile-policy: POLICY}\n"
)
ELSEWHERE = GROUP.replace("name: shop", "name: other")


def git(folder, *arguments):
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    folder = tmp_path_factory.mktemp("template")
    init_repository(folder)
    (folder / "group.yaml").write_text(GROUP)
    commit_all(folder)
    return folder


@pytest.fixture
def work(tmp_path, template):
    """A work tree with one manifest."""
    return Path(shutil.copytree(template, tmp_path / "estate"))


@pytest.fixture
def plain(tmp_path):
    """A folder outside of git with one manifest."""
    folder = tmp_path / "plain"
    folder.mkdir()
    (folder / "group.yaml").write_text(GROUP)
    return folder


def namespaces(ended):
    assert ended.code == 0, ended.err
    return [resource["namespace"] for resource in json.loads(ended.out)["resources"]]


def planned(*arguments, folder):
    return run_here("plan", *arguments, "--emulator", "--subscription", SUBSCRIPTION, "--output", "json", folder=folder)


def test_a_chain_of_links_through_a_work_tree_gives_no_operator_setting(work, plain, tmp_path):
    """The link in the work tree decides which file is read, so anyone who commits decides."""
    (tmp_path / "ops.yaml").write_text("prune: true\n")
    (work / "link.yaml").symlink_to("../ops.yaml")
    (plain / "gitsync.yaml").symlink_to("../estate/link.yaml")
    ended = run_here("validate", folder=plain)
    assert (ended.code, "prune is an operator setting" in ended.err) == (2, True)


def test_a_folder_that_is_reached_through_a_work_tree_is_in_it(work, plain):
    (work / "way-out").symlink_to("../plain")
    (plain / "way-round").symlink_to("../estate/way-out")
    assert is_in_repository(plain / "way-round" / "gitsync.yaml")
    assert not is_in_repository(plain / "gitsync.yaml")


LOOK_ALIKES = [
    (("HEAD", "objects", "refs"), True, "a bare repository"),
    (("HEAD", "commondir"), True, "the git directory of a linked work tree"),
    (("HEAD", "objects"), False, "git would not take it"),
    (("objects", "refs"), False, "nor this"),
]


@pytest.mark.parametrize(("names", "expected", "why"), LOOK_ALIKES, ids=[row[-1] for row in LOOK_ALIKES])
def test_what_git_could_take_for_a_repository_is_one(plain, names, expected, why):
    for name in names:
        (plain / name).symlink_to("nowhere")
    assert is_in_repository(plain / "gitsync.yaml") is expected, why


def link_out(folder):
    (folder.parent / "outer.yaml").write_text("namespace: outer\n")
    (folder / "gitsync.yaml").symlink_to("../outer.yaml")


def link_inside(folder):
    (folder / "other.yaml").write_text("namespace: inner\n")
    (folder / "gitsync.yaml").symlink_to("other.yaml")


def link_to_nothing(folder):
    (folder / "gitsync.yaml").symlink_to("nowhere")


def pipe(folder):
    os.mkfifo(folder / "gitsync.yaml")


UNEXPECTED = [
    (link_out, "a link out of the source"),
    (link_inside, "a link, which a revision does not follow"),
    (link_to_nothing, "a link to nothing"),
    (pipe, "a pipe, which would be waited for"),
]


@pytest.mark.parametrize("command", ["validate", "render", "graph", "plan", "sync"])
@pytest.mark.parametrize(("make", "why"), UNEXPECTED, ids=[row[-1] for row in UNEXPECTED])
def test_a_file_of_a_work_tree_that_is_not_a_file_is_refused_by_every_command(work, make, why, command):
    make(work)
    azure = ["--emulator", "--subscription", SUBSCRIPTION, "--allow-dirty"] if command == "sync" else []
    azure = azure or (["--emulator", "--subscription", SUBSCRIPTION] if command == "plan" else [])
    ended = run_here(command, str(work), *azure, folder=work.parent)
    assert (ended.code, ended.out) == (2, ""), why
    assert "gitsync.yaml is a " in ended.err
    assert "Replace it" in ended.err


@pytest.mark.parametrize(("make", "why"), UNEXPECTED[2:], ids=[row[-1] for row in UNEXPECTED[2:]])
def test_a_file_of_the_working_folder_that_is_not_a_file_is_refused(plain, make, why):
    make(plain)
    ended = run_here("validate", folder=plain)
    assert (ended.code, "gitsync.yaml" in ended.err) == (2, True), why


@pytest.mark.parametrize(("make", "why"), UNEXPECTED[2:], ids=[row[-1] for row in UNEXPECTED[2:]])
@pytest.mark.parametrize("command", [["explain", "OwnerNotFound"], ["completion", "bash"]])
def test_a_command_that_uses_no_setting_works_beside_a_wrong_file(plain, make, why, command):
    make(plain)
    ended = run_here(*command, folder=plain)
    assert (ended.code, ended.err) == (0, ""), why


@pytest.mark.parametrize(
    "content", ["bogus: 1\n", "a: [\n", "status-branch: b\nstatus-dir: d\n", "max-deletes: many\n"]
)
def test_only_a_file_that_no_one_named_is_skipped(plain, content):
    (plain / "gitsync.yaml").write_text(content)
    assert run_here("explain", "aks", folder=plain).code == 0
    named = run_here("explain", "aks", "--config", "gitsync.yaml", folder=plain)
    assert (named.code, "gitsync.yaml" in named.err) == (2, True)


def test_a_link_in_a_revision_is_refused(work):
    link_out(work)
    commit_all(work)
    ended = run_here("validate", f"file://{work}", folder=work.parent)
    assert (ended.code, "gitsync.yaml is a symbolic link" in ended.err) == (2, True)


def test_a_mounted_volume_is_made_of_links(plain):
    """Kubernetes mounts a ConfigMap as links to files below the folder."""
    (plain / "..data").mkdir()
    (plain / "..data" / "gitsync.yaml").write_text("namespace: mounted\n")
    (plain / "gitsync.yaml").symlink_to("..data/gitsync.yaml")
    assert namespaces(run_here("render", str(plain), "--output", "json", folder=plain.parent)) == ["mounted"]


def test_a_link_out_of_a_folder_outside_of_git_is_refused(plain):
    link_out(plain)
    ended = run_here("render", str(plain), folder=plain.parent)
    assert (ended.code, "gitsync.yaml is a symbolic link" in ended.err) == (2, True)


def test_the_file_of_the_source_counts_when_the_operator_names_another(plain, tmp_path):
    (plain / "gitsync.yaml").write_text("namespace: theirs\n")
    (tmp_path / "ops.yaml").write_text("strict: true\n")
    read = ["render", "--output", "json"]
    rows = [
        (run_here(*read, "--config", "../ops.yaml", folder=plain), "theirs", "in the working folder"),
        (run_here(*read, "--config", "ops.yaml", "plain", folder=tmp_path), "theirs", "elsewhere"),
    ]
    for ended, expected, why in rows:
        assert namespaces(ended) == [expected], why


def test_the_python_api_takes_the_file_of_the_source(plain, monkeypatch):
    (plain / "gitsync.yaml").write_text("namespace: theirs\n")
    monkeypatch.chdir(plain)
    settings = {"source": ".", "emulator": "", "subscription": SUBSCRIPTION}
    assert [result.key.namespace for result in plan(**settings).results] == ["theirs"]
    assert [result.key.namespace for result in plan(**settings, namespace="default").results] == ["default"]


def test_a_file_that_the_operator_names_is_the_operators_wherever_it_is(work):
    (work / "gitsync.yaml").write_text("namespace: ours\nprune: true\n")
    by_flag = run_here("render", "--config", "gitsync.yaml", "--output", "json", folder=work)
    by_variable = run_here("render", "--output", "json", folder=work, GITSYNC_CONFIG=str(work / "gitsync.yaml"))
    assert (namespaces(by_flag), namespaces(by_variable)) == (["ours"], ["ours"])
    commit_all(work)
    at_a_revision = run_here("render", "--config", "gitsync.yaml", "--ref", "main", folder=work)
    assert at_a_revision.code == 2, "what a revision holds is another file, which nobody named"
    assert "prune is an operator setting" in at_a_revision.err


def test_all_lines_are_named_in_one_go(work):
    (work / "gitsync.yaml").write_text("prunes: true\nendpoint: https://evil.test\nagent: other\nref: {a: b}\n")
    ended = run_here("validate", folder=work)
    assert ended.code == 2
    for line, message in (
        (1, "there is no setting 'prunes'"),
        (2, "endpoint is an"),
        (3, "agent is an"),
        (4, "ref is an"),
    ):
        assert f"gitsync.yaml:{line}: {message}" in ended.err


def test_a_character_that_yaml_does_not_allow_is_named_with_its_line(work):
    (work / "gitsync.yaml").write_text("namespace: a\nunknown-fields: '\x01'\n")
    ended = run_here("validate", folder=work)
    assert (ended.code, "gitsync.yaml:2: this is not YAML" in ended.err) == (2, True)


def test_many_wrong_lines_are_not_all_shown(work):
    (work / "gitsync.yaml").write_text("".join(f"endpoin{number}: a\n" for number in range(1000)))
    ended = run_here("validate", folder=work)
    assert ended.code == 2
    assert len(ended.err.splitlines()) < 150


@pytest.mark.parametrize("settings", ["namespace: first\n", "namespace: first\nprune: true\n"])
def test_the_last_policy_is_found_under_the_namespace_of_its_time(work, settings, tmp_path):
    """detach-on-delete, then another namespace and no manifest, with no run between: the resource stays."""
    azure = ["--emulator", str(tmp_path / "azure.db"), "--subscription", SUBSCRIPTION, "--namespace", "first"]
    (work / "other.yaml").write_text(ELSEWHERE)
    commit_all(work)
    assert run_here("sync", str(work), *azure, "--status-dir", "status", folder=tmp_path).code == 0

    (work / "gitsync.yaml").write_text(settings)
    (work / "group.yaml").write_text(DETACHED.replace("POLICY", "detach-on-delete"))
    commit_all(work)
    (work / "gitsync.yaml").unlink()
    (work / "group.yaml").unlink()
    commit_all(work)
    if "prune" in settings:  # that revision's file is not the file of a source: what counts now is the best guess
        (work / "gitsync.yaml").write_text("namespace: first\n")
        commit_all(work)
    now = ["--prune", "--status-dir", "status", "--output", "json", "--max-deletes", "2"]
    ended = run_here("plan", str(work), *azure[:-2], *now, folder=tmp_path)
    actions = {
        resource["name"]: resource["action"]
        for resource in json.loads(ended.out)["resources"]
        if resource["namespace"] == "first"
    }
    assert actions["shop"] == "detach", ended.err
