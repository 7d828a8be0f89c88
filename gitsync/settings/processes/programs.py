"""Start programs: git, gpg, kustomize, helm, sops, and those of hosts (gh, glab, az). No other module does.

Each program gets the variables that its row allows and no others. A credential for gitsync, Azure or the pipeline thus
reaches no program that does not need it, and no program that such a program starts. Each runs without a terminal, in a
process group of its own, and never longer than its limits; what it started ends with it.
"""

from __future__ import annotations

import math
import os
import resource
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryFile
from threading import Thread
from typing import IO, NamedTuple

_MACHINE = ("PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "TZ", "LANG", "LANGUAGE", "LC_*", "XDG_*", "LD_LIBRARY_PATH")
_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
_AUTHORITIES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE")
_OF_AZ = ("AZURE_CONFIG_DIR", "AZURE_EXTENSION_DIR", "AZURE_DEVOPS_*")
"""For Azure DevOps alone: what signs in to Azure is none of its business."""
_SLICE = 0.25
"""Seconds after which a wait checks again whether the run was stopped."""


class Grace:
    """The grace period of the programs that a run started, after the run is stopped.

    A signal handler starts it directly: the event loop is blocked while git pushes, and receives no signals. Until
    `begin`, there is no limit. From then on, the remaining seconds count down.
    """

    def __init__(self) -> None:
        self._begun: float | None = None

    def begin(self) -> None:
        """Start the countdown. A second call changes nothing. Safe in a signal handler."""
        if self._begun is None:
            self._begun = time.monotonic()

    def left(self, seconds: float) -> float:
        """The remaining part of `seconds` since `begin`, never less than 0; infinity before it."""
        return math.inf if self._begun is None else max(0.0, self._begun + seconds - time.monotonic())


class Program(StrEnum):
    AZ = "az"
    GH = "gh"
    GIT = "git"
    GLAB = "glab"
    GPG = "gpg"
    HELM = "helm"
    KUSTOMIZE = "kustomize"
    SOPS = "sops"


class _Row(NamedTuple):
    """What a program gets."""

    variables: tuple[str, ...]  # names, or beginnings of names with a star behind
    grace: float  # seconds after the run is stopped: the program ends by then


_TABLE: Mapping[Program, _Row] = {
    Program.AZ: _Row((*_MACHINE, *_PROXIES, *_AUTHORITIES, *_OF_AZ), grace=10.0),
    Program.GH: _Row((*_MACHINE, *_PROXIES, *_AUTHORITIES, "GH_*", "GITHUB_TOKEN"), grace=10.0),
    Program.GLAB: _Row((*_MACHINE, *_PROXIES, *_AUTHORITIES, "GITLAB_*", "GLAB_*"), grace=10.0),
    Program.GIT: _Row(
        (
            *_MACHINE,
            *_PROXIES,
            *_AUTHORITIES,
            # how the person who runs gitsync signs in to git servers
            *("SSH_AUTH_SOCK", "SSH_AGENT_PID", "SSH_ASKPASS", "GNUPGHOME", "KRB5CCNAME", "KRB5_CONFIG"),
            *("DBUS_SESSION_BUS_ADDRESS", "GIT_ASKPASS", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT"),
            *("GIT_SSL_*", "GIT_PROXY_COMMAND", "GIT_HTTP_PROXY_AUTHMETHOD", "GIT_EXEC_PATH"),
            # that person's git settings
            *("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"),
            *("GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_*", "GIT_CONFIG_VALUE_*"),
        ),
        grace=18.0,  # the last push of the status; the run aborts at 20
    ),
    # None of these three gets the user's home: its keys, settings and plugins must not decide the result.
    Program.GPG: _Row(("PATH", "TMPDIR", "LD_LIBRARY_PATH"), grace=10.0),
    Program.HELM: _Row(("PATH",), grace=10.0),
    Program.KUSTOMIZE: _Row(("PATH",), grace=10.0),
    Program.SOPS: _Row(
        (
            *_MACHINE,
            *_PROXIES,
            *_AUTHORITIES,
            *("SOPS_*", "GNUPGHOME", "GPG_TTY", "GPG_AGENT_INFO", "SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS"),
            # the clouds that it gets keys from, each by its own names
            *("AWS_*", "GOOGLE_*", "CLOUDSDK_*", "VAULT_*", "AZURE_*", "HUAWEICLOUD_*"),
            *("IDENTITY_ENDPOINT", "IDENTITY_HEADER", "MSI_ENDPOINT", "MSI_SECRET", "IMDS_ENDPOINT"),
        ),
        grace=10.0,
    ),
}


def select_environment(program: Program, environment: Mapping[str, str]) -> dict[str, str]:
    """The variables of `environment` that a program gets."""
    allowed = _TABLE[program].variables
    beginnings = tuple(name.removesuffix("*") for name in allowed if name.endswith("*"))
    return {name: value for name, value in environment.items() if name in allowed or name.startswith(beginnings)}


class Ended(NamedTuple):
    """How a program ended: its exit code, and what it wrote to stdout and to stderr."""

    code: int
    output: bytes
    complaint: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramCall:
    """A program to run."""

    program: Program
    command: Sequence[str]  # begins with its name or path
    environment: Mapping[str, str] = field(repr=False)  # all of its environment, made with `select_environment`
    timeout: float  # seconds
    grace: Grace = field(default_factory=Grace)  # once it has begun, the program's row may end the program earlier
    folder: Path | None = None  # where it runs, None for the current folder
    memory: int | None = None  # the most that `run` lets it allocate, in bytes; only Linux can limit it
    stdin: Sequence[bytes] = field(default=(), repr=False)  # parts, written one after the other
    has_secrets: bool = True  # its output may not be kept in a temporary file

    @property
    def was_told_to_end(self) -> bool:
        """Return whether no time is left because the run was stopped."""
        return self.grace.left(_TABLE[self.program].grace) <= 0


def run(call: ProgramCall) -> Ended:
    """Run a program to its end. TimeoutError if its time is over, OSError if it cannot be started."""
    waits = _iterate_waits(call)
    # git writes 4 KB at once, and to read each takes longer than to write it; a file is read as a whole.
    with nullcontext() if call.has_secrets else TemporaryFile() as file, _start_process(call, file) as process:
        for seconds in waits:
            with suppress(subprocess.TimeoutExpired):
                output, complaint = process.communicate(timeout=seconds)
                if file:
                    file.seek(0)
                    output = file.read()
                return Ended(process.returncode, output, complaint)
    raise TimeoutError


async def run_beside(call: ProgramCall) -> Ended:
    """The same, without blocking the event loop."""
    import asyncio  # noqa: PLC0415 - it takes 30 ms, and most programs are run without a loop

    process = await asyncio.create_subprocess_exec(
        *call.command,
        cwd=call.folder,
        env=dict(call.environment),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    communication = asyncio.create_task(process.communicate(b"".join(call.stdin)))
    try:
        for seconds in _iterate_waits(call):
            done, _ = await asyncio.wait({communication}, timeout=seconds)
            if done:
                output, complaint = communication.result()
                return Ended(process.returncode or 0, output, complaint)
    finally:
        if not communication.done():
            _kill_group(process.pid)  # the program may have ended, and what it started hold its output open
            await asyncio.wait({communication})
    raise TimeoutError


def _iterate_waits(call: ProgramCall) -> Iterator[float]:
    """The seconds of each wait, until the time is over."""
    end = time.monotonic() + call.timeout
    while (remaining := min(end - time.monotonic(), call.grace.left(_TABLE[call.program].grace))) > 0:
        yield min(remaining, _SLICE)


@contextmanager
def _start_process(call: ProgramCall, output: IO[bytes] | None) -> Iterator[subprocess.Popen[bytes]]:
    """The process while it runs; the end of the context, also by a signal, ends the process and all that it started.
    Without a file for its output it has a pipe.
    """
    process = subprocess.Popen(
        call.command,
        cwd=call.folder,
        env=dict(call.environment),
        stdin=subprocess.PIPE if call.stdin else subprocess.DEVNULL,
        stdout=output or subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        _limit_memory(process.pid, call.memory)
        _begin_input(process, call.stdin)
        yield process
    finally:
        if process.returncode is None:  # not waited for yet, so its group still exists
            _kill_group(process.pid)
            process.wait()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def _begin_input(process: subprocess.Popen[bytes], parts: Sequence[bytes]) -> None:
    """Write the input of a program beside it, until it has read all or ends."""
    stream, process.stdin = process.stdin, None
    if stream is not None:
        # `communicate` would send the rest of a large input only in its first call, and the program would wait for it
        # forever.
        Thread(target=_write_input, args=(stream, parts), daemon=True).start()


def _write_input(stream: IO[bytes], parts: Sequence[bytes]) -> None:
    with suppress(OSError), stream:  # the program did not read all of its input
        stream.writelines(parts)


def _limit_memory(process: int, most: int | None) -> None:
    """Limit a process that has just started."""
    if most is not None and hasattr(resource, "prlimit"):
        with suppress(ProcessLookupError):
            # Not in the process itself: that would need a fork without `vfork`.
            resource.prlimit(process, resource.RLIMIT_DATA, (most, most))


def _kill_group(leader: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)
