"""Runs the tools that build units (kustomize, helm), each on a copy of the files that it needs, and reports why one
cannot be built.

The source may be a revision without a work tree, and it is not trusted: the files that a build needs are written to a
folder of their own, and the tool runs there without the settings and plugins of this user, without access to remote
files, and with limits of time and memory. Each set of inputs is built once in a run, whatever the revision, and several
are built at a time.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar, Final, Protocol

from gitsync.errors import SourceError
from gitsync.model.problem import Problem
from gitsync.model.secret import truncate
from gitsync.settings.processes.programs import Ended, Grace, Program, ProgramCall, run, select_environment

TIMEOUT: Final = 60.0
"""Seconds for each build."""

MEMORY: Final = 1024**3
"""Bytes that each build may allocate."""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_OUT_OF_MEMORY = re.compile(r"fatal error: (?:runtime: )?(?:out of memory|cannot allocate memory)")
_NOWHERE = "http://127.0.0.1:9"  # the discard port: requests through a proxy are refused at once
_LONGEST_COMPLAINT = 10_000

MOST_SECONDS = 600.0
"""For all builds of a run together."""

_WORKERS = 4


UNRELEASED_CHART: Final = "HelmChart"


class UnbuildableError(Exception):
    """Ends the build of one unit, and never leaves this package. Each tool has its own subclass."""

    thing: ClassVar[str]  # what is built
    code: ClassVar[str]  # of the problem

    def __init__(self, message: str, *, hint: str = "", path: str, line: int = 1) -> None:
        super().__init__(message)
        self.problem = Problem(code=self.code, message=message, hint=hint, path=path, line=line)


class KustomizationError(UnbuildableError):
    """Ends the build of one kustomization."""

    thing: ClassVar = "kustomization"
    code: ClassVar = "KustomizationFailed"


class ApplicationError(UnbuildableError):
    """Ends the reading of one Argo CD Application."""

    thing: ClassVar = "Application"
    code: ClassVar = "ApplicationFailed"


class ChartError(UnbuildableError):
    """Ends the rendering of one Helm chart."""

    thing: ClassVar = "chart"
    code: ClassVar = "ChartFailed"


class UnreleasedChartError(ChartError):
    """A chart that nothing releases."""

    code: ClassVar = UNRELEASED_CHART


def run_tool(call: ProgramCall, path: str, failure: type[UnbuildableError]) -> Ended:
    """Run a tool for the unit that the file at `path` declares.

    Raises `failure` if it needs too much time or memory, SourceError if it cannot be started.
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
    """Write files below a folder that is new or empty. Raises SourceError for a path that would lead out of it or is
    taken.
    """
    root.mkdir(exist_ok=True)
    for path, content in sorted(files.items()):
        parts = PurePosixPath(path).parts
        # A commit may contain any path, also of Windows.
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
    """Make the environment of a tool: only the search path of gitsync; no home with plugins, no proxy, no cluster.
    `folders` are further variables of the tool that lead to a folder of this user.
    """
    proxies = {name: _NOWHERE for low in ("http_proxy", "https_proxy", "all_proxy") for name in (low, low.upper())}
    own = ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "TMPDIR", *folders)
    fixed = {"KUBECONFIG": os.devnull, "GIT_ALLOW_PROTOCOL": "none", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    return select_environment(program, os.environ) | proxies | dict.fromkeys(own, str(home)) | fixed


def clean_complaint(text: str) -> str:
    """Clean what a tool said: one line without control characters."""
    line = " ".join(_CONTROL.sub(" ", text.strip().removeprefix("Error: ").removeprefix("error: ")).split())
    return truncate(line, _LONGEST_COMPLAINT) or "the tool gave no reason."


class BuildJob(Protocol):
    """What one build needs. `path` is the file that messages name; the digest covers all that the result depends on.

    Only jobs of kustomize (`KustomizeJob`) may be skipped, and have warnings and patches. The tool of the job decides
    about those, and not the kind of its unit: an Application may be a chart.
    """

    failure: ClassVar[type[UnbuildableError]]  # the error of a build without time left

    @property
    def path(self) -> str: ...

    @property
    def files(self) -> Mapping[str, bytes]: ...

    @property
    def digest(self) -> str: ...

    def run(self, timeout: float, grace: Grace) -> bytes:
        """Return the manifests as one YAML text. Raises UnbuildableError if there are none, SourceError without a
        tool.
        """
        ...


def digest_inputs(settings: Any, files: Mapping[str, bytes]) -> str:
    """Digest everything that a build depends on; `settings` are plain JSON values."""
    digest = hashlib.sha256(json.dumps(settings).encode())
    for path, content in sorted(files.items()):
        # With the length, the bytes of one file cannot be taken for those of the next.
        digest.update(json.dumps([path, len(content)]).encode())
        digest.update(content)
    return digest.hexdigest()


Built = bytes | UnbuildableError
"""The manifests of a unit as one YAML text, or why there are none."""


@dataclass(slots=True)
class Builds:
    """Runs builds. Mutable: it keeps the results of the run, and the time that is left for others."""

    timeout: float = TIMEOUT  # seconds for each build
    seconds: float = MOST_SECONDS  # the same, for all of them
    grace: Grace = field(default_factory=Grace, repr=False)  # builds end with it
    _results: dict[str, Built] = field(default_factory=dict, repr=False)

    def run(self, jobs: Sequence[BuildJob]) -> tuple[Built, ...]:
        """Return the results in the order of the jobs. Raises SourceError if no tool is installed."""
        digests = [job.digest for job in jobs]
        new = {digest: job for digest, job in zip(digests, jobs, strict=True) if digest not in self._results}
        start = time.monotonic()
        workers = ThreadPoolExecutor(max_workers=min(_WORKERS, os.cpu_count() or 1))
        futures = [workers.submit(self._build, job, start + self.seconds) for job in new.values()]
        try:
            self._results.update(zip(new, (future.result() for future in futures), strict=True))
        except BaseException:
            # Interrupted: the programs end before the workers are waited for.
            self.grace.begin()
            raise
        finally:
            workers.shutdown(cancel_futures=True)
            self.seconds -= time.monotonic() - start
        return tuple(self._results[digest] for digest in digests)

    def _build(self, job: BuildJob, end: float) -> Built:
        remaining = end - time.monotonic()
        if remaining <= 0:
            return job.failure(
                f"{job.path} was not built: the builds of this source take too long.",
                hint=f"Set --path to a part of the source, or exclude {job.failure.thing}s with .gitsyncignore.",
                path=job.path,
            )
        try:
            return job.run(min(self.timeout, remaining), self.grace)
        except UnbuildableError as error:
            return error
