"""Run a tool that builds units (kustomize, helm) on a copy of the files that it needs.

The source may be a revision without a work tree, and it is not trusted: the files that a build needs are written to a
folder of their own, and the tool runs there without the settings and plugins of this user, without access to remote
files, and with limits of time and memory.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Final

from gitsync.errors import SourceError
from gitsync.processes.programs import Ended, Program, ProgramCall, run, select_environment
from gitsync.redaction import truncate
from gitsync.units.unbuildable import UnbuildableError

TIMEOUT: Final = 60.0
"""Seconds for each build."""

MEMORY: Final = 1024**3
"""Bytes that each build may allocate."""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_OUT_OF_MEMORY = re.compile(r"fatal error: (?:runtime: )?(?:out of memory|cannot allocate memory)")
_NOWHERE = "http://127.0.0.1:9"  # the discard port: requests through a proxy are refused at once
_LONGEST_COMPLAINT = 10_000


def run_tool(call: ProgramCall, path: str, failure: type[UnbuildableError]) -> Ended:
    """Run a tool for the unit that the file at `path` declares.

    `failure` if it needs too much time or memory, SourceError if it cannot be started.
    """
    try:
        result = run(call)
    except TimeoutError:
        message = f"{path} was not built within {call.timeout:g} seconds."
        raise failure(message, hint=f"Split the {failure.thing}.", path=path) from None
    except OSError as error:
        raise SourceError(f"{call.command[0]} cannot be started: {error.strerror}.", hint="Reinstall it.") from error
    if result.code != 0 and _OUT_OF_MEMORY.search(result.complaint.decode("utf-8", "replace")):
        message = f"{path} was not built: it needs more than {MEMORY // 1024**2} MiB of memory."
        raise failure(message, hint=f"Split the {failure.thing}.", path=path)
    return result


def write_files(root: Path, files: Mapping[str, bytes]) -> None:
    """Write files below a folder that is new or empty. SourceError for a path that would lead out of it or is taken."""
    root.mkdir(exist_ok=True)
    for path, content in sorted(files.items()):
        parts = PurePosixPath(path).parts
        if path.startswith("/") or "\0" in path or "\\" in path or not parts or ".." in parts:
            raise SourceError(f"{path!r} is not a path in the source.")
        target = root.joinpath(*parts)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("xb") as file:
                file.write(content)
        except OSError as error:
            raise SourceError(f"{path} cannot be written for the build: {error.strerror}.") from error


def make_environment(program: Program, home: Path, folders: Iterable[str] = ()) -> Mapping[str, str]:
    """Only the search path of gitsync; no home with plugins, no proxy, no cluster. `folders` are further variables of
    the tool that lead to a folder of this user.
    """
    proxies = {name: _NOWHERE for low in ("http_proxy", "https_proxy", "all_proxy") for name in (low, low.upper())}
    own = ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "TMPDIR", *folders)
    fixed = {"KUBECONFIG": os.devnull, "GIT_ALLOW_PROTOCOL": "none", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    return select_environment(program, os.environ) | proxies | dict.fromkeys(own, str(home)) | fixed


def clean_complaint(text: str) -> str:
    """What a tool said, in one line without control characters."""
    line = " ".join(_CONTROL.sub(" ", text.strip().removeprefix("Error: ").removeprefix("error: ")).split())
    return truncate(line, _LONGEST_COMPLAINT) or "the tool gave no reason."
