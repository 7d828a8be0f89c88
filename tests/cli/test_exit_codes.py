"""Every exit code of the command as pipelines run it: 0, 1, 2, 3, 4, 70, 75, 130, and 141 where no one reads.

Most are seen of the function that a process ends with; 1, 70, 130 and 141 are seen of processes too.
"""

from __future__ import annotations

import http.server
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

import gitsync as package
from gitsync.emulator.http.server import Emulator
from gitsync.emulator.state.store import SqliteStore
from tests.support import world
from tests.support.command_line import SUBSCRIPTION, Ended, azure, ended, gitsync, run_here, start, variables
from tests.support.git_repositories import add_remote, commit_all, init_bare, init_repository, push_main

GROUP_ID = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/core"

GROUP, VNET = dedent(world.GROUP), dedent(world.VNET)
TAGGED = GROUP + "  tags: {a: b}\n"
OTHERS = "".join(f"---\n{GROUP.replace('name: core', f'name: other-{number}')}" for number in range(3))


class Repository:
    """Manifests in git, and an Azure in a file beside it."""

    def __init__(self, folder: Path, *, is_new: bool = True) -> None:
        self.outside = folder
        self.folder = folder / "repository"
        if is_new:
            self.folder.mkdir()
            init_repository(self.folder)

    def copy(self, folder: Path) -> Repository:
        """One of its own that is just like this one."""
        shutil.copytree(self.outside, folder, dirs_exist_ok=True)
        return Repository(folder, is_new=False)

    def git(self, *arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=self.folder, check=True, capture_output=True)

    def says(self, **documents: str) -> Repository:
        """Make a commit with exactly this: a document a name."""
        for old in self.folder.glob("*.yaml"):
            old.unlink()
        for name, text in documents.items():
            (self.folder / f"{name}.yaml").write_text(text)
        commit_all(self.folder)
        return self

    def run(self, command: str, *arguments: str, **variables: str) -> Ended:
        """Run a command, in a process of its own if it imports something else."""
        at_once = {"GITSYNC_EMULATOR_SCRIPT": script(self)} if "--emulator-script" not in arguments else {}
        run = gitsync if "PYTHONPATH" in variables else run_here
        return run(command, *arguments, f"--emulator={self.azure}", folder=self.folder, **at_once, **variables)

    @property
    def azure(self) -> Path:
        return self.outside / "azure.db"

    @contextmanager
    def hand(self) -> Iterator[Emulator]:
        """What Azure has, to be changed behind git's back."""
        with closing(SqliteStore(self.azure)) as store:
            yield Emulator(store=store)

    def ids(self) -> list[str]:
        with self.hand() as azure:
            return list(azure.ids())

    def resource(self, arm_id: str) -> Any:
        with self.hand() as azure:
            return azure.resource(arm_id)

    def pushes_to(self, bare: Path) -> Path:
        init_bare(bare)
        add_remote(self.folder, bare)
        push_main(self.folder, bare)
        return bare


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


@pytest.fixture(scope="module")
def synced(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """A repository with a group, after a sync: to copy."""
    repository = Repository(tmp_path_factory.mktemp("synced")).says(group=GROUP)
    assert repository.run("sync").code == 0
    return repository


def report(end: Ended) -> dict[str, Any]:
    """What was printed with --output json."""
    printed: dict[str, Any] = json.loads(end.out)
    assert printed["exitCode"] == end.code
    return printed


def script(repository: Repository, *rules: str) -> str:
    """Rules for Azure, which otherwise does at once what is requested."""
    file = repository.outside / "script.yaml"
    file.write_text(f"settings: {{operations: {{style: done}}}}\nrules: [{', '.join(rules)}]\n")
    return str(file)


def test_0_all_is_ready(repository):
    end = repository.says(group=GROUP).run("sync", "--output", "json")
    assert (end.code, report(end)["summary"], end.err) == (0, {"create": 1}, "")
    again = repository.run("sync", "--output", "json")
    assert (again.code, report(again)["summary"]) == (0, {"in-sync": 1})
    assert repository.run("plan", "--detailed-exitcode").code == 0


def test_1_something_failed_and_the_rest_went_on(repository):
    refused = "{match: {method: PUT, type: Microsoft.Network/virtualNetworks}, answer: {code: Bad, status: 400}}"
    repository.says(group=GROUP, vnet=VNET)
    end = repository.run("sync", "--output", "json", "--emulator-script", script(repository, refused))
    assert (end.code, {r["kind"]: r["ready"] for r in report(end)["resources"]}) == (
        1,
        {"ResourceGroup": "True", "VirtualNetwork": "False"},
    )


def test_1_something_is_not_ready_at_the_deadline(repository):
    slow = "{match: {method: PUT, type: Microsoft.Network/virtualNetworks}, operation: {seconds: 3600}}"
    repository.says(group=GROUP, vnet=VNET)
    options = ("--run-timeout", "2s", "--emulator-script", script(repository, slow), "--output", "json")
    end = repository.run("sync", *options)
    assert (end.code, {r["kind"]: r["reason"] for r in report(end)["resources"]}) == (
        1,
        {"ResourceGroup": "Succeeded", "VirtualNetwork": "Reconciling"},
    )


INVALID = [
    ("spec:\n  place: westeurope\n", "UnknownField", "delete", "a manifest is invalid, and another one left git"),
    ("spec: [\n", "InvalidYaml", "none", "a file does not parse, so nothing of its folder is deleted"),
]


@pytest.mark.parametrize(("spec", "code", "pruned", "why"), INVALID, ids=[row[-1] for row in INVALID])
def test_1_what_is_invalid_blocks_itself_and_what_cannot_be_read_its_folder(repository, spec, code, pruned, why):
    repository.says(group=GROUP, gone=GROUP.replace("core", "gone")).run("sync")
    wrong = GROUP.replace("name: core", "name: wrong").partition("spec:")[0] + spec
    repository.says(group=TAGGED, wrong=wrong)
    for command in ("plan", "sync"):
        end = repository.run(command, "--prune", "--output", "json")
        told = report(end)
        assert (end.code, code in {problem["code"] for problem in told["problems"]}) == (1, True), (command, why)
        acts = {r["name"]: r["action"] for r in told["resources"] if r["name"] != "wrong"}
        assert acts == {"core": "update", "gone": pruned}, (command, why)


def test_1_the_work_was_done_and_the_status_could_not_be_written(repository):
    bare = repository.says(group=GROUP).pushes_to(repository.outside / "bare.git")
    refusing = bare / "hooks" / "pre-receive"
    refusing.parent.mkdir(exist_ok=True)
    refusing.write_text('#!/bin/sh\n[ -e "$GIT_DIR/once" ] && exit 1\ntouch "$GIT_DIR/once"\n')
    refusing.chmod(0o755)
    end = repository.run("sync", "--output", "json")
    assert (end.code, [p["code"] for p in report(end)["problems"]]) == (1, ["StatusNotWritten"])
    assert [r["action"] for r in report(end)["resources"]] == ["create"]
    assert repository.resource(GROUP_ID) is not None


def test_2_strict_refuses_what_is_invalid(repository):
    end = repository.says(group=GROUP, wrong="kind: Redis\napiVersion: cache.azure.com/v1\nspec: [").run(
        "sync", "--strict"
    )
    assert (end.code, end.out) == (2, "")
    assert "--strict refuses the run: wrong.yaml:" in end.err
    assert repository.ids() == []


REFUSED = [
    (["sync", "--max-deletes", "many"], {}, "--max-deletes", "a setting is wrong"),
    (["plan"], {"AZURE_SUBSCRIPTION_ID": "no/id"}, "AZURE_SUBSCRIPTION_ID", "a variable is wrong"),
    (["sync"], {"AZURE_SUBSCRIPTION_ID": "shop-prod"}, "AZURE_SUBSCRIPTION_ID: expected a UUID", "a name is no id"),
    (["sync", "--endpoint", "http://azure.example.com"], {}, "http", "a token would be sent in the clear"),
    (["sync", "nowhere"], {}, "nowhere", "the source is not there"),
    (["sync", "file:///nowhere/at/all.git"], {}, "nowhere", "the repository is not there"),
    (["sync", "--ref", "nobranch"], {}, "nobranch", "the branch is not there"),
    (["sync", "--path", "nofolder"], {}, "nofolder", "the folder is not there"),
    (
        ["sync", "--only", "Nothing/such", "--subscription", SUBSCRIPTION],
        {},
        "Nothing/such",
        "what is named is not there",
    ),
    (["sync"], {}, "AZURE_SUBSCRIPTION_ID", "no subscription is given"),
    (["sync", "--subscription", SUBSCRIPTION, "--credential", "client-secret"], {}, "AZURE_CLIENT_SECRET", "no token"),
    (["sync", "--prune-all"], {}, "--prune-all", "there is no such flag"),
    (["synch"], {}, "Did you mean sync?", "there is no such command"),
]


@pytest.fixture(scope="module")
def untouched(tmp_path_factory):
    return Repository(tmp_path_factory.mktemp("untouched")).says(group=GROUP)


@pytest.mark.parametrize(("arguments", "given", "named", "why"), REFUSED, ids=[row[-1] for row in REFUSED])
def test_2_refused_before_anything_was_touched(untouched, arguments, given, named, why):
    end = run_here(*arguments, folder=untouched.folder, **given)
    assert (end.code, end.out) == (2, ""), why
    assert named in end.err, why
    assert "Traceback" not in end.err, why
    assert not (untouched.folder / ".gitsync").exists(), "no status either"


def test_2_the_work_tree_has_uncommitted_changes(repository):
    repository.says(group=GROUP)
    (repository.folder / "group.yaml").write_text(TAGGED)
    end = repository.run("sync")
    assert (end.code, "has uncommitted changes" in end.err) == (2, True)
    assert repository.ids() == []
    assert repository.run("plan").code == 0
    assert repository.run("sync", "--allow-dirty").code == 0


def test_2_too_much_would_be_deleted(repository):
    repository.says(group=GROUP, others=OTHERS).run("sync")
    end = repository.says(group=GROUP).run("sync", "--prune")
    assert (end.code, "--max-deletes 3" in end.err) == (2, True)
    assert len(repository.ids()) == 4
    assert repository.run("sync", "--prune", "--max-deletes", "3").code == 0


DAMAGES = [
    ("inventory.json", None, "no inventory.json", "the index is gone"),
    ("inventory.json", '{"schema": 99}\n', "newer gitsync", "of a later version"),
    (
        "default/resources.azure.com/ResourceGroup/core.json",
        '{\n"gitsync": {',
        "core.json:2",
        "a record does not parse",
    ),
]


@pytest.mark.parametrize(("file", "text", "told", "why"), DAMAGES, ids=[row[-1] for row in DAMAGES])
def test_2_the_status_is_damaged(synced, tmp_path, file, text, told, why):
    repository = synced.copy(tmp_path)
    damaged = repository.folder / ".gitsync" / file
    damaged.unlink() if text is None else damaged.write_text(text)
    end = repository.says(group=TAGGED).run("sync")
    assert (end.code, end.out) == (2, ""), why
    assert told in end.err
    assert "tags" not in (repository.resource(GROUP_ID) or {})


UNWRITABLE = [
    ("hooks/pre-receive", "#!/bin/sh\nexit 1\n", "refused"),
    (
        "hooks/pre-receive",
        "#!/bin/sh\necho Connection refused >&2; exit 1\n",
        "refused, with the words of an outage",
    ),
    ("config", "[core]\n\tbare = true\n[receive]\n\tautogc = nonsense\n", "nothing can be pushed"),
]
"""Files of the repository that the status is pushed to, one after the other."""


def test_2_the_status_branch_cannot_be_pushed(repository):
    bare = repository.says(group=GROUP).pushes_to(repository.outside / "bare.git")
    for path, text, why in UNWRITABLE:
        (bare / path).parent.mkdir(exist_ok=True)
        (bare / path).write_text(text)
        (bare / path).chmod(0o755)
        end = repository.run("sync")
        assert (end.code, end.out) == (2, ""), why
        assert "Status cannot be pushed to branch gitsync/status" in end.err, why
        assert repository.ids() == [], "nothing was sent to Azure"
    assert repository.run("plan").code == 0, "a plan writes nothing back"


def test_3_changes_are_pending(synced, tmp_path):
    repository = synced.copy(tmp_path)
    assert repository.says(group=GROUP, vnet=VNET).run("plan").code == 0, "without the flag"
    assert repository.run("plan", "--detailed-exitcode").code == 3, "a create"
    assert repository.says(group=TAGGED).run("plan", "--detailed-exitcode").code == 3, "an update"
    assert repository.says().run("plan", "--detailed-exitcode").code == 3, "a delete"


def test_4_azure_has_drifted(repository):
    repository.says(group=TAGGED).run("sync")
    with repository.hand() as there:
        there.change(GROUP_ID, "/tags/a", "c")
    end = repository.run("plan", "--detailed-exitcode", "--output", "json")
    assert (end.code, report(end)["summary"]) == (4, {"drifted": 1})
    assert repository.run("plan").code == 0, "without the flag"
    with repository.hand() as there:
        there.remove(GROUP_ID)
    assert repository.says(group=TAGGED, vnet=VNET).run("plan", "--detailed-exitcode").code == 4, "before what is new"
    assert (
        repository.says(group=TAGGED, wrong="kind: Redis\napiVersion: cache.azure.com/v1\nspec: [")
        .run("plan", "--detailed-exitcode")
        .code
        == 1
    ), "after what is wrong"


def copied(folder: Path) -> Path:
    """A gitsync of the test's own, of links, to be damaged; what leads a command to it is PYTHONPATH."""
    shutil.copytree(Path(package.__file__).parent, folder / "gitsync", copy_function=os.symlink)
    return folder / "gitsync"


def replace_file(file: Path, content: bytes) -> None:
    """Write a file in place of a link."""
    file.unlink()
    file.write_bytes(content)


FAULT = b"""

async def _broken(subject, azure, next):
    raise KeyError(subject.spec['location'])


EXTENSIONS = (*EXTENSIONS, Extension(group='network.azure.com', kind='VirtualNetwork', pre_check=_broken))
"""


def test_70_an_internal_error_in_one_turn(repository):
    """The others come to their end, status is written, and the fault is reported on stderr without a value."""
    broken = copied(repository.outside / "broken")
    module = broken / "extensions" / "builtin" / "network.py"
    replace_file(module, module.read_bytes() + FAULT)
    repository.says(group=GROUP, vnet=VNET)
    end = repository.run("sync", "--output", "json", "--log-level", "debug", PYTHONPATH=str(broken.parent))
    told = {r["kind"]: (r["verdict"], r["ready"], r["reason"]) for r in report(end)["resources"]}
    assert (end.code, told) == (
        70,
        {"ResourceGroup": ("create", "True", "Succeeded"), "VirtualNetwork": ("unknown", "False", "Failed")},
    )
    assert "gitsync: internal error." in end.err
    assert "builtins.KeyError, raised at:" in end.err
    assert "network.py" in end.err
    assert "westeurope" not in end.err
    kept = {path.stem: path.read_text() for path in (repository.folder / ".gitsync" / "default").rglob("*.json")}
    assert '"reason": "Succeeded"' in kept["core"]
    assert '"reason": "Failed"' in kept["hub"]


def test_70_our_facts_are_damaged(repository):
    broken = copied(repository.outside / "broken")
    replace_file(broken / "desired" / "catalog" / "data" / "network.azure.com.jsonl.xz", b"no facts")
    end = gitsync("validate", folder=repository.says(group=GROUP, vnet=VNET).folder, PYTHONPATH=str(broken.parent))
    assert (end.code, end.out) == (70, "")
    assert "The packed facts of 'network.azure.com' cannot be read" in end.err


THEIRS = """\
from gitsync.extensions.api import Extension


async def check(subject, azure, next):
    raise LookupError("no such team")


rows = (Extension(group="network.azure.com", kind="VirtualNetwork", pre_check=check),)
"""


def test_1_another_packages_extension_broke_off(repository):
    site = repository.outside / "site"
    info = site / "acme-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "acme.py").write_text(THEIRS)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[gitsync.extensions]\nteams = acme:rows\n")
    end = repository.says(group=GROUP, vnet=VNET).run("sync", "--output", "json", PYTHONPATH=str(site))
    told = {r["kind"]: (r["ready"], r["severity"], r["message"]) for r in report(end)["resources"]}
    assert end.code == 1
    assert told["ResourceGroup"] == ("True", "", "")
    ready, severity, message = told["VirtualNetwork"]
    assert (ready, severity) == ("False", "Warning")
    assert message.startswith("The extension 'teams' failed: LookupError: no such team.")
    assert "internal error" not in end.err
    (site / "acme.py").write_text("rows = nothing_such\n")
    assert repository.run("sync", PYTHONPATH=str(site)).code == 2, "one that cannot be loaded refuses the run"


@contextmanager
def git_host(status: int) -> Iterator[str]:
    """The URL of a repository whose host gives this answer to everything."""

    class Host(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_arguments: object) -> None:
            """Nothing is logged."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Host) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/x.git"
        server.shutdown()
        thread.join()


HOSTS = [
    (503, 75, "the host is out of order"),
    (429, 75, "it has enough for now"),
    (403, 2, "the token lacks a right"),
    (404, 2, "there is no such repository"),
]


@pytest.mark.parametrize(("status", "code", "why"), HOSTS, ids=[row[-1] for row in HOSTS])
def test_75_git_did_not_answer(repository, status, code, why):
    """The source, or the status: a second try may find it."""
    repository.says(group=GROUP)
    with git_host(status) as url:
        assert repository.run("sync", url).code == code, why
        add_remote(repository.folder, url)
        end = repository.run("sync")
    assert (end.code, end.out) == (code, ""), why
    assert "cannot be read" in end.err
    assert repository.ids() == [], "nothing was sent to Azure"


def test_75_nothing_listens_at_the_git_address(repository):
    end = repository.says(group=GROUP).run("sync", "http://127.0.0.1:9/x.git")
    assert (end.code, end.out) == (75, "")


def test_130_ctrl_c(repository):
    repository.says(group=GROUP)
    with azure() as served:
        served.watch = lambda moment: process.send_signal(signal.SIGINT) is not None
        process = start("sync", folder=repository.folder, **served.variables)
        assert ended(process).code == 130


@pytest.mark.parametrize("command", ["sync", "plan"])
def test_141_no_one_reads_the_report(repository, command):
    reader, writer = os.pipe()
    os.close(reader)
    repository.says(group=GROUP)
    with os.fdopen(writer, "w") as gone:
        options = (f"--emulator={repository.azure}", "--report", str(repository.outside / "report"))
        process = start(command, *options, folder=repository.folder, out=gone)
        assert ended(process)[::2] == (141, "")
    told = json.loads((repository.outside / "report" / "report.json").read_text())
    assert told["summary"] == {"create": 1}, "the run is not cut short by it"
    assert (repository.folder / ".gitsync" / "inventory.json").exists() is (command == "sync")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a system without a full disk")
def test_1_the_disk_is_full_that_the_report_is_printed_to(repository):
    with Path("/dev/full").open("w") as full:
        process = start("sync", f"--emulator={repository.azure}", folder=repository.says(group=GROUP).folder, out=full)
        end = ended(process)
    logged, told = end.err.splitlines()
    assert (json.loads(logged)["level"], json.loads(logged)["exit_code"]) == ("error", 1)
    assert (end.code, told) == (1, "gitsync: Cannot write the output: No space left on device.")


def test_a_run_needs_neither_stdout_nor_stderr(repository):
    repository.says(group=GROUP)
    command = 'exec "$@" <&- >&- 2>&-'
    started = [sys.executable, "-m", "gitsync", "sync", f"--emulator={repository.azure}"]
    end = subprocess.run(["sh", "-c", command, "sh", *started], cwd=repository.folder, env=variables(), check=False)
    assert end.returncode == 0
    assert repository.resource(GROUP_ID) is not None
