"""Completion: what each word of a command line may become, and the same in the real shells."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from gitsync.cli.command_table import COMMANDS
from gitsync.cli.completion import SHELLS
from gitsync.cli.main import run
from gitsync.cli.shell.candidates import FILES, FOLDERS, list_candidates
from gitsync.cli.shell.command_line import split_line
from gitsync.desired.catalog.catalog import open_catalog
from tests.support import shells
from tests.support.command_line import run_here, variables
from tests.support.git_repositories import init_repository

MANIFESTS = """apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {name: core, namespace: shop}
---
apiVersion: network.azure.com/v20250301
kind: VirtualNetwork
metadata:
  labels:
    tier: one
  name: "hub"
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: no-resource
---
apiVersion: network.azure.com/v20250301
kind: VirtualNetwork
metadata:
  name: $(touch${IFS}hacked)
"""
RECORDED = (
    "default/cache.azure.com/Redis/sessions.json",
    "default/network.azure.com/VirtualNetwork/hub.json",
    "shop/network.azure.com/VirtualNetwork/%24%28reboot%29.json",
    "shop/ConfigMap/web.json",
    "inventory.json",
)


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """Manifests, a hidden folder with others, and a status in a folder."""
    folder = tmp_path_factory.mktemp("completion") / "web"
    folder.mkdir()
    init_repository(folder)
    (folder / "network").mkdir()
    (folder / "network" / "net.yaml").write_text(MANIFESTS)
    (folder / ".hidden").mkdir()
    (folder / ".hidden" / "other.yaml").write_text(MANIFESTS.replace("hub", "hidden"))
    (folder / "binary.yaml").write_bytes(b"\xff\xfe.azure.com/")
    for path in RECORDED:
        (folder / ".gitsync" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / ".gitsync" / path).write_text("")
    _run_git(folder, "add", "network")
    _run_git(folder, "commit", "-q", "-m", "Begin")
    _run_git(folder, "tag", "v1")
    return folder


def _run_git(folder, *arguments, standard_input=""):
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True, input=standard_input)


@pytest.fixture
def inside(repository, monkeypatch):
    monkeypatch.chdir(repository)
    return repository


def complete(*words):
    """What the last of the words may become."""
    return [word for word, _ in list_candidates(list(words[:-1]), words[-1])]


ROWS = [
    (["sy"], ["sync"], "a command"),
    (["help", "sta"], ["status"], "the command that help is for"),
    (["--v"], ["--version"], "a flag instead of a command"),
    (["nothing", ""], [], "no command"),
    (["plan", "--out"], ["--output", "--out"], "flags"),
    (["plan", "--no-pr"], ["--no-prune"], "a switch taken back"),
    (["plan", "--out", "plan.json", "--out"], ["--output"], "a flag is given once"),
    (["plan", "--only", "a", "--onl"], ["--only"], "a list may be given again"),
    (["plan", "-o", "j"], ["json", "junit"], "the outputs of the command"),
    (["status", "-o", ""], ["text", "wide", "json", "yaml"], "those of another command"),
    (["plan", "--output=ma"], ["--output=markdown"], "a value behind an equals sign"),
    (["plan", "--credential", "cl"], ["client-secret", "client-certificate"], "the words of a setting"),
    (["plan", "--fail-on", "drift,mi"], ["drift,missing"], "the next word of a list"),
    (["plan", "--fail-on", "missing,mi"], [], "a word that the list has"),
    (["plan", "--max-deletes", ""], [], "a number"),
    (["plan", "--config", ""], [FILES], "a file"),
    (["plan", "--report", ""], [FOLDERS], "a folder"),
    (["plan", ""], [FOLDERS], "SOURCE"),
    (["plan", ".", ""], [], "one SOURCE is enough"),
    (["compare", "a.json", ""], [FILES], "an argument of the command"),
    (["completion", ""], list(SHELLS), "the choices of an argument"),
    (["explain", "Redis"], ["Redis"], "kinds"),
    (["import", "--type", "privateend"], ["PrivateEndpoint", "PrivateEndpointsPrivateDnsZoneGroup"], "without case"),
    (["describe", "virt"], ["VirtualNetwork/hub"], "a recorded resource"),
    (["describe", "VirtualNetwork/hub", ""], [FOLDERS], "SOURCE after it"),
    (["revert", "VirtualNetwork/hub", "virt"], ["VirtualNetwork/hub"], "one name of several"),
    (["acknowledge", "virt"], ["VirtualNetwork/hub"], "a name of a command that records"),
    (["status", "red"], ["Redis", "Redis/sessions", FOLDERS], "a kind or a resource"),
    (["status", "VirtualNetwork/"], ["VirtualNetwork/hub", FOLDERS], "the resources of a kind"),
    (["plan", "--only", "res"], ["ResourceGroup/core"], "a resource of a manifest"),
    (["plan", "--only", "Redis"], ["Redis/sessions"], "and a recorded one, which may have been removed"),
    (["plan", "--only=ResourceGroup/core,v"], ["--only=ResourceGroup/core,VirtualNetwork/hub"], "a second one"),
    (["plan", "--path", "empty", "--only", ""], ["Redis/sessions", "VirtualNetwork/hub"], "of another folder"),
    (["plan", "-n", ""], ["default", "shop"], "namespaces"),
    (["plan", "--ref", ""], ["main", "v1"], "branches and tags"),
    (["status", "--", "-"], [FOLDERS], "no flag after two dashes"),
    (["plan", "--path"], ["--path"], "a flag that is complete"),
    (["plan", "--wrong", ""], [FOLDERS], "an unknown flag is passed over"),
]


@pytest.mark.parametrize(("words", "expected", "why"), ROWS, ids=[row[-1] for row in ROWS])
def test_what_a_word_may_become(inside, words, expected, why):
    found = complete(*words)
    narrowed = found if words[0] != "explain" else [word for word in found if word == "Redis"]
    assert narrowed == expected, why


@pytest.mark.parametrize(
    ("words", "expected", "why"),
    [
        (["explain", "Microsoft.Logi"], ["Microsoft.Logic/"], "namespaces of ARM types"),
        (["explain", "microsoft.a"], ["Microsoft.AAD/"], "a namespace of two spellings once"),
        (
            ["explain", "microsoft.logic/workflows/v"],
            ["Microsoft.Logic/workflows/versions"],
            "the types of a namespace",
        ),
        (["explain", "Microsoft.Logic/workflows@2016"], ["Microsoft.Logic/workflows@2016-06-01"], "versions of a type"),
        (["explain", "Contoso.Shop/o"], [], "an unknown namespace"),
        (
            ["import", "--type", "Microsoft.Consumption/b"],
            ["Microsoft.Consumption/budgets"],
            "types as values of flags",
        ),
    ],
)
def test_arm_types(inside, words, expected, why):
    assert complete(*words)[: len(expected) or 1] == expected, why


def test_every_command_has_candidates_for_flags(inside):
    for name in COMMANDS:
        assert "--help-all" in complete(name, "--"), name


def test_dashes_alone_offer_what_help_shows(inside):
    assert {"--prune", "--output"} <= set(complete("sync", "--"))
    assert "--always-put" not in complete("sync", "--")
    assert complete("sync", "--alw") == ["--always-put"]


def test_all_kinds_are_offered(inside):
    catalog = open_catalog()
    assert len(complete("explain", "")) == sum(len(catalog.kinds(group)) for group in catalog.all_groups())


def test_candidates_report_what_they_mean(inside):
    assert dict(list_candidates([], "sync")) == {"sync": COMMANDS["sync"].summary}
    assert dict(list_candidates(["status"], "Redis"))["Redis"] == "1 resource"


@pytest.mark.parametrize("ref", ["refs/heads/gitsync/status", "refs/remotes/origin/gitsync/status"])
def test_the_status_branch_is_read_as_it_was_fetched(inside, ref):
    path = "shop/resources.azure.com/ResourceGroup/net.json"
    lines = [f"commit {ref}", "committer A <a@example.com> 0 +0000", "data 0", f"M 644 inline {path}", "data 0", ""]
    _run_git(inside, "fast-import", "--quiet", "--force", standard_input="\n".join(lines))
    try:
        assert complete("describe", "--status-branch", "gitsync/status", "") == ["ResourceGroup/net"]
        (inside / ".gitsync").rename(inside / "aside")
        assert complete("describe", "") == ["ResourceGroup/net"]
    finally:
        (inside / "aside").rename(inside / ".gitsync")
        _run_git(inside, "update-ref", "-d", ref)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["describe", "--status-dir", "a", "--status-branch", "b", ""], "settings that exclude each other"),
        (["describe", "--config", "absent.yaml", ""], "a file of settings that is not there"),
        (["plan", "https://example.com/a.git", "--only", ""], "a SOURCE that would have to be fetched"),
        (["plan", "absent", "--only", ""], "a SOURCE that is not there"),
        (["plan", "absent", "--ref", ""], "the same for revisions"),
    ],
)
def test_nothing_is_offered_where_nothing_is_known(inside, words, why):
    assert complete(*words) == [], why


def test_kinds_come_first_where_resources_are_many(tmp_path, monkeypatch):
    folder = tmp_path / ".gitsync" / "default" / "network.azure.com" / "VirtualNetwork"
    folder.mkdir(parents=True)
    for number in range(101):
        (folder / f"net-{number:03}.yaml").touch()
    monkeypatch.chdir(tmp_path)
    assert complete("describe", "") == ["VirtualNetwork/"]
    assert complete("describe", "VirtualNetwork/net-00") == [f"VirtualNetwork/net-{n:03}" for n in range(10)]


def test_a_name_of_two_namespaces_is_offered_in_full(tmp_path, monkeypatch):
    for namespace in ("a", "b"):
        folder = tmp_path / ".gitsync" / namespace / "network.azure.com" / "VirtualNetwork"
        folder.mkdir(parents=True)
        (folder / "hub.yaml").touch()
    monkeypatch.chdir(tmp_path)
    assert complete("describe", "") == [f"VirtualNetwork.network.azure.com/{name}/hub" for name in ("a", "b")]


@pytest.mark.parametrize(
    ("line", "expected", "why"),
    [
        ("gitsync st", ([], "st"), "a word"),
        ("gitsync status ", (["status"], ""), "a new word"),
        ("gitsync  plan --output=js", (["plan"], "--output=js"), "an equals sign divides no word"),
        ("gitsync plan 'my folder/a", (["plan"], "my folder/a"), "an open quotation"),
        ('gitsync plan "my fol', (["plan"], "my fol"), "the other one"),
        ("gitsync plan my\\ fol", (["plan"], "my fol"), "a blank with a backslash"),
        ("gitsync plan my\\", (["plan"], "my"), "a backslash at the end"),
        ("A=1 gitsync st", ([], "st"), "variables before the program"),
        ("", ([], ""), "nothing"),
    ],
)
def test_a_line_is_split_as_bash_does(line, expected, why):
    assert split_line(line) == expected, why


@pytest.mark.parametrize(
    ("line", "piece", "expected", "why"),
    [
        ("gitsync comple", "comple", "completion\n", "a word in whole"),
        ("gitsync plan --output=ma", "ma", "markdown\n", "bash replaces what follows the equals sign"),
        ("gitsync status -o=", "=", "text\nwide\njson\nyaml\n", "the sign itself is a word of bash"),
        ("gitsync plan --config=", "=", ":files\n", "a file"),
        (
            "gitsync explain Microsoft.Logic/workflows@2016",
            "2016",
            "2016-06-01\n",
            "bash replaces what follows the at sign",
        ),
    ],
)
def test_bash_is_answered_with_what_it_replaces(line, piece, expected, why, capsys):
    assert run(["__complete", "bash", line, piece]) == 0
    assert capsys.readouterr().out == expected, why


@pytest.mark.parametrize("arguments", [[], ["bash"], ["bash", "a"], ["zsh"]], ids=str)
def test_a_call_without_a_line_is_answered_with_nothing_wrong(arguments, capsys):
    assert run(["__complete", *arguments]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_of_a_shell_is_printed(shell, tmp_path):
    ended = run_here("completion", shell, folder=tmp_path)
    assert (ended.code, ended.err) == (0, "")
    assert "command gitsync __complete" in ended.out


def test_another_shell_is_refused(tmp_path):
    ended = run_here("completion", "csh", folder=tmp_path)
    assert ended.code == 2
    assert "'csh'" in ended.err


TYPED = {
    "bash": {
        "gitsync compl": "gitsync completion ",
        "gitsync describe red": "gitsync describe Redis/sessions ",
        "gitsync plan --output=ma": "gitsync plan --output=markdown ",
        "gitsync plan --path net": "gitsync plan --path network/",
    },
    "zsh": {  # which removes a blank or a slash at the end when something else is typed
        "gitsync compl": "gitsync completion",
        "gitsync describe red": "gitsync describe Redis/sessions",
        "gitsync plan --output=ma": "gitsync plan --output=markdown",
        "gitsync plan --path net": "gitsync plan --path network",
    },
    "fish": {  # which shows the word alone, and what it means
        "gitsync compl": f"completion\t{COMMANDS['completion'].summary}",
        "gitsync describe red": "Redis/sessions\tdefault",
        "gitsync plan --output=ma": "--output=markdown",
        "gitsync plan --path net": "network/",
    },
}


@pytest.mark.parametrize("shell", TYPED)
def test_a_real_shell_completes(shell, repository):
    if shells.is_missing(shell):
        pytest.skip(f"{shell} is not installed")
    completed = shells.complete_lines(shell, TYPED[shell], repository, variables())
    assert completed == list(TYPED[shell].values())


FRAME = {"aiohttp", "asyncio", "azure", "cryptography", "git", "jinja2", "loguru", "rich", "yaml"}


WORDS = (
    ["plan", "--output", ""],
    ["explain", "Re"],
    ["explain", "Microsoft.Logic/w"],
    ["plan", "--only", "v"],
    ["describe", "v"],
)
COMPLETE_EACH = """
import io, json, sys
from contextlib import redirect_stdout
from gitsync.cli.main import run
for words in json.loads(sys.argv[1]):
    with redirect_stdout(io.StringIO()) as offered:
        run(["__complete", "zsh", *words])
    print(json.dumps([words, bool(offered.getvalue()), [*sys.modules]]))
"""


def test_completion_imports_no_more_than_it_needs(repository):
    """So that it is fast: what it imports takes most of its time. One interpreter completes one after the other."""
    command = [sys.executable, "-c", COMPLETE_EACH, json.dumps(WORDS)]
    ended = subprocess.run(command, cwd=repository, env=variables(), capture_output=True, text=True, check=True)
    found = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [(words, offers) for words, offers, _ in found] == [(words, True) for words in WORDS]
    assert [(words, heavy) for words, _, modules in found if (heavy := FRAME.intersection(modules))] == []


def test_a_resource_of_a_hostile_name_is_not_offered(inside):
    """A shell would run the name."""
    offered = "".join(complete("plan", "--only", ""))
    assert "hub" in offered
    assert "$" not in offered
    assert not Path("hacked").exists()
