"""What a command imports: libraries that are slow to import only when it uses them."""

import json
import subprocess
import sys
from textwrap import dedent

import pytest

from tests.support import world
from tests.support.command_line import SUBSCRIPTION, variables

PROGRAM = """
import json, sys
from gitsync.cli.main import run
code = run(sys.argv[1:])
print(json.dumps([code, sorted({name.partition(".")[0] for name in sys.modules})]), file=sys.stderr)
"""

NEVER = {"hypothesis", "jsonschema", "pytest", "unittest"}
OF_AZURE = {"azure", "aiohttp", "cryptography", "msal", "requests", "urllib3"}
WATCHING = {"google", "opentelemetry", "prometheus_client"}
OF_OTHERS = {"httpx", "httpx2", "junitparser", "lightkube", "rich", "sqlite3"} | WATCHING
OFFLINE = NEVER | OF_AZURE | OF_OTHERS | {"git", "tenacity"}
WITHOUT_AZURE = NEVER | OF_AZURE | OF_OTHERS
HELP = OFFLINE | {"asyncio", "loguru", "msgspec", "yaml"}
FRAME = HELP | {"argparse"}

WRONG = dedent(world.GROUP) + "  nothingSuch: 1\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A repository with a manifest that is wrong."""
    folder = tmp_path_factory.mktemp("imports") / "repository"
    folder.mkdir()
    (folder / "group.yaml").write_text(WRONG)
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "Begin"]):
        name = ["-c", "user.name=Somebody", "-c", "user.email=somebody@example.com"]
        subprocess.run(["git", *name, *words], cwd=folder, env=variables(), check=True)
    return folder


def imported(folder, *arguments):
    """The exit code of a command, and the packages that it imported."""
    command = [sys.executable, "-c", PROGRAM, *arguments]
    ended = subprocess.run(command, cwd=folder, env=variables(), capture_output=True, text=True, timeout=60, check=True)
    code, packages = json.loads(ended.stderr.splitlines()[-1])
    return code, set(packages)


SPARED = [
    (["--help"], 0, FRAME, "it only prints"),
    (["sync", "--help"], 0, HELP, "it reads the flags too"),
    (["eval", "--help-all"], 0, HELP, "the same for another command"),
    (["__complete", "zsh", "describe", "core"], 0, HELP, "it reads the names of the last run"),
    (["validate"], 1, OFFLINE, "it reads files"),
    (["sync", "--max-deletes", "many"], 2, OFFLINE, "a setting is wrong"),
    (["sync", "--path", "absent"], 2, WITHOUT_AZURE, "the manifests are not there"),
    (["sync"], 2, WITHOUT_AZURE, "there is no subscription"),
    (["sync", "--strict", "--subscription", SUBSCRIPTION], 2, WITHOUT_AZURE, "a manifest is invalid"),
]


@pytest.mark.parametrize(("arguments", "code", "spared", "why"), SPARED, ids=[row[-1] for row in SPARED])
def test_what_ends_before_the_first_request_imports_no_library_for_it(folder, arguments, code, spared, why):
    ended, packages = imported(folder, *arguments)
    assert ended == code, why
    assert packages & spared == set(), why


def test_a_dirty_work_tree_is_refused_without_them(folder):
    new = folder / "new.yaml"
    new.write_text(dedent(world.GROUP).replace("core", "new"))
    try:
        ended, packages = imported(folder, "sync", "--subscription", SUBSCRIPTION)
    finally:
        new.unlink()
    assert (ended, packages & WITHOUT_AZURE) == (2, set())


def test_who_asks_azure_imports_them(folder):
    """Otherwise the names above would prove nothing. A run that no one watches imports nothing for that."""
    _, packages = imported(folder, "plan", "--emulator")
    assert {"azure", "aiohttp"} <= packages
    assert packages & WATCHING == set()
