"""Programs get their own variables and no others, and end in time."""

import ast
import asyncio
import os
import re
import resource
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from gitsync.settings.processes.programs import Grace, Program, ProgramCall, run, run_beside, select_environment
from tests.support.package_trees import PACKAGE, parse, read

STARTING = {"subprocess", "pty", "multiprocessing", "git"}
STARTING_NAMES = {"create_subprocess_exec", "create_subprocess_shell", "subprocess_exec", "popen", "system"}
MAY_START = re.compile(
    r"^\s*(?:import|from)\s.*(?:subprocess|\bpty\b|multiprocessing|(?<![.\w])git\b)"
    rf"|\.\s*(?:{'|'.join(sorted(STARTING_NAMES))})\b|\bos\s*\.\s*(?:exec|spawn|posix_spawn|fork)",
    re.MULTILINE,
)
"""What a text has that starts a program, among others."""

OURS = {
    "GITSYNC_GIT_TOKEN": "x",
    "GITSYNC_DIGEST_KEY": "x",
    "GITSYNC_SECRET_DEFAULT_DB_PASSWORD": "x",
    "SYSTEM_ACCESSTOKEN": "x",
    "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "x",
    "GITHUB_TOKEN": "x",
    "CI_JOB_TOKEN": "x",
    "LD_PRELOAD": "x",
    "PYTHONPATH": "x",
    "GIT_DIR": "x",
    "GIT_WORK_TREE": "x",
    "GIT_EXTERNAL_DIFF": "x",
    "GIT_TRACE_CURL": "x",
    "GIT_CONFIG_PARAMETERS": "x",
    "GIT_CONFIG": "x",
}
CLOUDS = {"AZURE_CLIENT_SECRET": "x", "AWS_SECRET_ACCESS_KEY": "x", "SOPS_AGE_KEY": "x", "VAULT_TOKEN": "x"}
PERSON = {"HOME": "x", "HTTPS_PROXY": "x", "no_proxy": "x", "SSL_CERT_FILE": "x", "LC_ALL": "x", "XDG_CONFIG_HOME": "x"}
GIT = {
    "SSH_AUTH_SOCK": "x",
    "GIT_SSH_COMMAND": "x",
    "GIT_ASKPASS": "x",
    "GIT_SSL_CAINFO": "x",
    "GIT_CONFIG_GLOBAL": "x",
    "GIT_CONFIG_NOSYSTEM": "x",
    "GIT_CONFIG_COUNT": "x",
    "GIT_CONFIG_KEY_12": "x",
    "GIT_CONFIG_VALUE_12": "x",
}
PATH = {"PATH": "x"}
HOSTS = {"GH_TOKEN": "x", "GITLAB_TOKEN": "x", "AZURE_DEVOPS_EXT_PAT": "x"}


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (Program.GIT, {**PATH, **PERSON, **GIT}),
        (Program.GPG, PATH),
        (Program.KUSTOMIZE, PATH),
        (Program.HELM, PATH),
        (Program.GH, {**PATH, **PERSON, "GH_TOKEN": "x", "GITHUB_TOKEN": "x"}),
        (Program.GLAB, {**PATH, **PERSON, "GITLAB_TOKEN": "x"}),
        (Program.AZ, {**PATH, **PERSON, "AZURE_DEVOPS_EXT_PAT": "x"}),
        (Program.SOPS, {**PATH, **PERSON, **CLOUDS, "SSH_AUTH_SOCK": "x", "AZURE_DEVOPS_EXT_PAT": "x"}),
    ],
)
def test_what_a_program_gets(program, expected):
    assert select_environment(program, {**OURS, **CLOUDS, **PERSON, **GIT, **HOSTS, **PATH}) == expected


@pytest.mark.together("package")
def test_programs_are_started_in_one_place():
    """Of the libraries, azure-identity starts `az`, with its own time limit, and GitPython runs `git version` when it
    is imported (tests/repository/git/test_gitpython.py).
    """
    found = {}
    for path in PACKAGE.rglob("*.py"):
        if not MAY_START.search(read(path)):  # to walk through the whole package takes seconds
            continue
        names = {name for node in ast.walk(parse(path)) for name in starters(node)}
        if names:
            found[path.relative_to(PACKAGE).as_posix()] = names
    assert found == {
        "settings/processes/programs.py": {"subprocess", "create_subprocess_exec"},
        "repository/git/source/worktree.py": {"git"},
    }


def starters(node):
    if isinstance(node, ast.Import):
        return {alias.name for alias in node.names if alias.name.split(".")[0] in STARTING}
    if isinstance(node, ast.ImportFrom):
        return {node.module} if (node.module or "").split(".")[0] in STARTING else set()
    if isinstance(node, ast.Attribute):
        is_of_os = isinstance(node.value, ast.Name) and node.value.id == "os"
        of_os = is_of_os and node.attr.startswith(("exec", "spawn", "posix_spawn", "fork"))
        return {node.attr} if of_os or node.attr in STARTING_NAMES else set()
    return set()


def a_call(script, **options):
    options = {"timeout": 30.0, **options}
    return ProgramCall(
        program=Program.GIT, command=["sh", "-c", script], environment={"PATH": os.environ["PATH"]}, **options
    )


async def by_waiting(call):
    return run(call)


async def by_a_file(call):
    return run(replace(call, has_secrets=False))


WAYS = [by_waiting, by_a_file, run_beside]


@pytest.mark.parametrize("way", WAYS)
async def test_how_a_program_ends_is_told(way, tmp_path):
    ended = await way(a_call("cat; echo told >&2; pwd >&2; exit 3", stdin=(b"given",) * 100_000, folder=tmp_path))
    assert ended == (3, b"given" * 100_000, f"told\n{tmp_path}\n".encode())


@pytest.mark.parametrize("way", WAYS)
async def test_a_program_that_reads_nothing_may_end(way):
    assert (await way(a_call("exit 0", stdin=(b"x" * 1_000_000,)))).code == 0


@pytest.mark.parametrize("way", WAYS)
async def test_a_program_that_reads_late_gets_all_of_its_input(way):
    """git takes seconds to read the status of ten thousand resources."""
    ended = await way(a_call("sleep 0.6; wc -c", stdin=(b"x" * 1_000_000,), timeout=20))
    assert ended.output.strip() == b"1000000"


@pytest.mark.parametrize("way", WAYS)
async def test_a_program_that_is_not_there(way):
    call = ProgramCall(program=Program.GIT, command=["/nowhere/git"], environment={}, timeout=1.0)
    with pytest.raises(OSError, match="No such file"):
        await way(call)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("script", ["sleep 300", "trap '' TERM; sleep 300 & wait", "sleep 300 & exit 0"])
async def test_a_program_ends_with_its_time_and_all_that_it_started(way, script, tmp_path):
    began = time.monotonic()
    with pytest.raises(TimeoutError):
        await way(a_call(f"echo $$ > {tmp_path}/leader; {script}", timeout=0.6))
    assert time.monotonic() - began < 5
    assert not remain((tmp_path / "leader").read_text().strip())


def remain(group):
    """Whether processes of a group still run; a signal takes its time."""
    end = time.monotonic() + 5
    while alive(group) and time.monotonic() < end:
        os.sched_yield()
    return bool(alive(group))


def alive(group):
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, in_group = stat.read_text().rpartition(")")[2].split()[:3]
        except OSError:  # it has ended
            continue
        if in_group == group and state not in "ZX":
            found.append(stat)
    return found


@pytest.mark.parametrize("way", WAYS)
async def test_a_program_that_runs_when_the_run_is_told_to_end_has_a_little_time(way):
    grace = SetGrace()
    timer = threading.Timer(0.5, grace.begin)
    timer.start()
    call = a_call("sleep 300", grace=grace)
    began = time.monotonic()
    with pytest.raises(TimeoutError):
        await way(call)
    assert time.monotonic() - began > 0.5
    assert call.was_told_to_end


class SetGrace(Grace):
    """One that runs a hundred times as fast."""

    def left(self, seconds):
        return super().left(seconds / 100)


def test_a_grace_counts_down_from_its_beginning():
    grace = Grace()
    assert grace.left(20) == float("inf")
    grace.begin()
    assert 19 < grace.left(20) <= 20
    time.sleep(0.1)  # noqa: TID251 - the real clock is what is tested
    grace.begin()
    assert grace.left(20) <= 19.9
    assert grace.left(0.05) == 0


async def test_what_waits_for_a_program_can_be_broken_off(tmp_path):
    """As a second signal does; nothing stays behind."""
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(run_beside(a_call(f"echo $$ > {tmp_path}/leader; sleep 300")), 0.6)
    assert not remain((tmp_path / "leader").read_text().strip())


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="only Linux limits the memory of another process")
@pytest.mark.parametrize(("memory", "ends_well"), [(None, True), (64 * 1024**2, False)])
def test_a_program_may_allocate_so_much_and_no_more(memory, ends_well):
    script = "import sys; sys.stdin.read(); bytearray(256 * 1024**2)"
    call = ProgramCall(
        program=Program.KUSTOMIZE,
        command=[sys.executable, "-c", script],
        environment={},
        timeout=60.0,
        memory=memory,
        stdin=(b"go",),  # arrives after the limit is set, so the script allocates under it
    )
    assert (run(call).code == 0) is ends_well
