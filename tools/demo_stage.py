"""What the demo runs in, a git repository with a remote, and how it prints commands: as a short transcript."""

from __future__ import annotations

import functools
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from emulated_azure import GITSYNC, SUBSCRIPTION, EmulatedAzure
from program_environment import make_environment

from gitsync.report.terminal import Paint

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"

AMY = {"clientId": "c44b4083-3bb0-49c1-b47d-974e53cbdf3c", "userName": "amy@contoso.com", "client": "Azure Portal"}
ROB = {"clientId": "04b07795-8ddb-461a-bbee-02f9e1bf7b46", "userName": "rob@contoso.com", "client": "Azure CLI"}
SCRIPT = {
    "settings": {
        "principals": [{**person, "secret": "demo"} for person in (AMY, ROB)],
        # Azure reports who changed something after minutes.
        "changeLog": {"resourceGraphDelay": 0, "actorDelay": 0, "activityLogDelay": 0},
    }
}

_CORRELATION = re.compile(r" \(correlation [^)]*\)")


class Unexpected(Exception):  # noqa: N818 - the demo reports that this did not hold
    """Something that the demo claims did not happen."""


class Transcript:
    """Prints steps, commands and output. No line is wider than the terminal, so that nothing wraps."""

    def __init__(self, columns: int, paint: Paint) -> None:
        self.columns = columns
        self.paint = paint
        self.steps = 0
        self.lines = 0

    def begin_step(self, title: str) -> None:
        self.steps += 1
        self.print_heading(f"{self.steps}. {title}")

    def print_heading(self, title: str) -> None:
        self._print("", self.paint.bold(cut(f"── {title}", self.columns)))

    def print_command(self, command: Iterable[str]) -> None:
        self._print(cut(f"$ {shlex.join(command)}", self.columns))

    def print_output(self, lines: Iterable[str]) -> None:
        """Lines that a command printed; a line that is too wide is cut."""
        self._print(*(cut(f"    {line}", self.columns) for line in lines))

    def explain(self, sentence: str) -> None:
        """What the output means, after the checks that prove it."""
        first, *others = textwrap.wrap(sentence, self.columns - 2)
        self._print(f"{self.paint.mark_good('✓')} {first}", *(f"  {line}" for line in others))

    def print_text(self, text: str) -> None:
        self._print(*textwrap.wrap(text, self.columns))

    def _print(self, *lines: str) -> None:
        self.lines += len(lines)
        for line in lines:
            print(line, flush=True)


def cut(line: str, columns: int) -> str:
    """A line of at most so many columns. It ends with `…` if it was longer, at a blank where there is one."""
    if len(line) <= columns:
        return line
    kept = line[: columns - 1]
    before = kept.rpartition(" ")[0]
    return f"{before if before.strip() else kept}…"


class Demo:
    """A work tree with a remote, and an Azure to sync it to. `example` is the folder of its manifests.

    Each gitsync command has a folder of its own next to the work tree, with its report and all that it printed.
    """

    def __init__(self, folder: Path, azure: EmulatedAzure, example: str, name: str, transcript: Transcript) -> None:
        self.example = EXAMPLES / example
        self.folder = folder
        self.tree = folder / name
        self.remote = folder / f"{name}.git"
        self.reports = folder / "report"
        self.azure = azure
        self.transcript = transcript
        self.settings = {
            "AZURE_RESOURCE_MANAGER_ENDPOINT": azure.url,
            "AZURE_SUBSCRIPTION_ID": SUBSCRIPTION,
            "GITSYNC_CREDENTIAL": "anonymous",
            "GITSYNC_LOG_FORMAT": "text",
            "GITSYNC_REPORT": str(self.reports),
        }

    def make_repository(self) -> None:
        """The manifests as the first commit of a repository, pushed to a bare one."""
        shutil.copytree(self.example, self.tree)
        self.git("init", "--quiet", "--initial-branch=main")
        self.git("add", ".")
        self.git("commit", "--quiet", "--message=Describe what Azure has")
        self.git("init", "--quiet", "--bare", str(self.remote))
        self.git("remote", "add", "origin", self.remote.as_uri())
        self.git("push", "--quiet", "--set-upstream", "origin", "main")

    def gitsync(self, command: str, *flags: str, head: int = 1, show: str = "", code: int = 0) -> dict[str, Any]:
        """Run a gitsync command, and return its report. The log of earlier requests to Azure is cleared first.

        It prints the first lines of the output, `head` of them, and later ones that match the pattern `show`.
        """
        self.azure.forget()
        self.reports = self.folder / f"{self.transcript.steps:02}-{command}"
        self.settings["GITSYNC_REPORT"] = str(self.reports)
        done = self.run(str(GITSYNC), command, *flags, code=code)
        self.reports.mkdir(exist_ok=True)
        (self.reports / "terminal.txt").write_text(done.stdout)
        (self.reports / "log.txt").write_text(done.stderr)
        self.transcript.print_output(select_lines(done.stdout, head, show))
        name = "rehearse" if command == "rehearse" else "report"
        report = self.reports / f"{name}.json"
        content: dict[str, Any] = json.loads(report.read_text()) if report.is_file() else {}
        return content

    def git(self, *arguments: str, shown: bool = False, code: int = 0) -> str:
        """Run git in the work tree, and return what it printed."""
        return self.run("git", *arguments, shown=shown, code=code).stdout

    def run(self, *command: str, shown: bool = True, code: int = 0) -> subprocess.CompletedProcess[str]:
        """Run a command in the work tree, shown as it would be typed; Unexpected where it ends with another code."""
        typed = [Path(command[0]).name, *command[1:]]
        if shown:
            self.transcript.print_command(typed)
        settings = environment(self.settings)
        done = subprocess.run(command, cwd=self.tree, env=settings, check=False, capture_output=True, text=True)
        if done.returncode != code:
            print(done.stdout, done.stderr, sep="", file=sys.stderr)
            raise Unexpected(f"`{shlex.join(typed)}` ends with exit code {code}, not {done.returncode}")
        return done

    def change(self, person: Mapping[str, str], path: str, value_path: tuple[str, ...], value: Any) -> None:
        """Change a value of a resource as the portal would, or set one: read it, change it, write it."""
        resource = self.azure.send_request("GET", path)
        *owners, name = value_path
        owner = functools.reduce(lambda found, step: found[step], owners, resource)
        change = f"{owner[name]} → {value}" if name in owner else f"→ {value}"
        location = ".".join(value_path)
        self.transcript.print_output([f"{person['userName']}: {resource['name']} {location} {change}"])
        owner[name] = value
        self.azure.send_request("PUT", path, resource, {"Authorization": f"Bearer {self._sign_in(person)}"})

    def _sign_in(self, person: Mapping[str, str]) -> str:
        """Get the access token of a person."""
        form = {"grant_type": "client_credentials", "client_id": person["clientId"], "client_secret": "demo"}
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        answer = self.azure.send_request("POST", "/contoso/oauth2/v2.0/token", urlencode(form), kind)
        return str(answer["access_token"])

    @staticmethod
    def find_id(report: Mapping[str, Any], kind: str) -> str:
        """The ARM id of the one resource of a kind."""
        return str(next(resource["armId"] for resource in report["resources"] if resource["kind"] == kind))

    def write_settings(self, state: Path) -> Path:
        """A file for a shell that makes the commands work after the demo: the emulator runs inside of each command."""
        file = self.folder / "settings.sh"
        values = {
            "AZURE_SUBSCRIPTION_ID": SUBSCRIPTION,
            "GITSYNC_EMULATOR": str(state),
            "GITSYNC_LOG_FORMAT": "text",
        }
        lines = [f"export {name}={shlex.quote(value)}" for name, value in values.items()]
        file.write_text("\n".join([*lines, f'export PATH={shlex.quote(str(GITSYNC.parent))}:"$PATH"', ""]))
        return file


def select_lines(text: str, head: int, pattern: str) -> list[str]:
    """The first lines of an output, and later ones that match a pattern. Unexpected if none matches it."""
    lines = [_CORRELATION.sub("", line) for line in text.splitlines()]
    if not pattern:
        return lines[:head]
    found = [line for line in lines[head:] if re.search(pattern, line)]
    expect(bool(found), f"a line of the output matches {pattern}")
    return lines[:head] + found


def environment(settings: Mapping[str, str]) -> dict[str, str]:
    """The environment of a command: ours, without settings for another Azure or another git."""
    more = {"GIT_CONFIG_GLOBAL": os.devnull, **settings}
    return make_environment(more, person="Demo", drop=("AZURE_", "GITSYNC_", "GIT_"))


def expect(holds: bool, sentence: str) -> None:  # noqa: FBT001 - a claim and whether it holds
    if not holds:
        raise Unexpected(sentence)
