"""What a command imports: libraries that are slow to import only when it uses them."""

import json
import subprocess
import sys
from itertools import pairwise
from textwrap import dedent

import pytest

from tests.support import world
from tests.support.command_line import SUBSCRIPTION, variables
from tests.support.git_repositories import commit_all, init_repository

PROGRAM = """
import json, sys
from gitsync.cli.main import run
for line in sys.stdin:
    code = run(json.loads(line))
    print(json.dumps([code, sorted({name.partition(".")[0] for name in sys.modules})]), file=sys.stderr)
"""

NEVER = {"hypothesis", "jsonschema", "pytest", "unittest"}
OF_AZURE = {"azure", "aiohttp", "cryptography", "msal", "requests", "urllib3"}
WATCHING = {"google", "opentelemetry", "prometheus_client"}
OF_PAGES = {"jinja2"}
OF_OTHERS = {"httpx", "httpx2", "junitparser", "lightkube", "rich", "sqlite3"} | OF_PAGES | WATCHING
OFFLINE = NEVER | OF_AZURE | OF_OTHERS | {"git", "tenacity"}
WITHOUT_AZURE = NEVER | OF_AZURE | OF_OTHERS
HELP = OFFLINE | {"asyncio", "loguru", "msgspec", "yaml"}
FRAME = HELP | {"argparse"}

WRONG = dedent(world.GROUP) + "  nothingSuch: 1\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A repository with a manifest that is wrong, and one beside it with a file that is in no commit."""
    top = tmp_path_factory.mktemp("imports")
    for name in ("repository", "dirty"):
        (top / name).mkdir()
        (top / name / "group.yaml").write_text(WRONG)
        init_repository(top / name)
        commit_all(top / name)
    (top / "dirty" / "new.yaml").write_text(dedent(world.GROUP).replace("core", "new"))
    return top / "repository"


SPARED = [
    (["--help"], 0, FRAME, "it only prints"),
    (["sync", "--help"], 0, HELP, "it reads the flags too"),
    (["eval", "--help-all"], 0, HELP, "the same for another command"),
    (["__complete", "zsh", "describe", "core"], 0, HELP, "it reads the names of the last run"),
    (["validate"], 1, OFFLINE, "it reads files"),
    (["render", "../dirty"], 1, OFFLINE, "it shows requests"),
    (["sync", "--max-deletes", "many"], 2, OFFLINE, "a setting is wrong"),
    (["sync", "--path", "absent"], 2, WITHOUT_AZURE, "the manifests are not there"),
    (["sync"], 2, WITHOUT_AZURE, "there is no subscription"),
    (["sync", "--strict", "--subscription", SUBSCRIPTION], 2, WITHOUT_AZURE, "a manifest is invalid"),
    (["sync", "../dirty", "--subscription", SUBSCRIPTION], 2, WITHOUT_AZURE, "a work tree is dirty"),
    (["plan", "--emulator"], 1, OF_PAGES | WATCHING, "no one watches the run, and it shows no page"),
]
"""They run in this order in one interpreter, and none spares less than the next: what is imported wrongly is of the
first row that fails.
"""


@pytest.fixture(scope="module")
def imported(folder):
    """The exit code of the command of each row, and the packages that were imported when it ended."""
    lines = "".join(f"{json.dumps(arguments)}\n" for arguments, *_ in SPARED)
    command = [sys.executable, "-c", PROGRAM]
    ended = subprocess.run(
        command, input=lines, cwd=folder, env=variables(), capture_output=True, text=True, timeout=60, check=True
    )
    found = [json.loads(line) for line in ended.stderr.splitlines() if line.startswith("[")]
    return {row[-1]: (code, set(packages)) for row, (code, packages) in zip(SPARED, found, strict=True)}


@pytest.mark.parametrize(("code", "spared", "why"), [row[1:] for row in SPARED], ids=[row[-1] for row in SPARED])
def test_a_command_imports_no_library_that_it_does_not_use(imported, code, spared, why):
    ended, packages = imported[why]
    assert ended == code, why
    assert packages & spared == set(), why


def test_no_row_spares_less_than_the_next():
    spared = [row[2] for row in SPARED]
    assert all(own >= following for own, following in pairwise(spared))


def test_who_asks_azure_imports_them(imported):
    """Otherwise the names above would prove nothing."""
    _, packages = imported["no one watches the run, and it shows no page"]
    assert {"azure", "aiohttp"} <= packages
