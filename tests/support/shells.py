"""Real shells in a terminal of their own, for tests of completion: what a line becomes when the tab key is pressed."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from threading import Thread

from tests.support.shell_commands import run_shells_here

_START = {"bash": ["bash", "--norc", "--noprofile", "-i"], "zsh": ["zsh", "-f", "-i"]}
_SET_UP = {
    "bash": "source <(gitsync completion bash)",
    "zsh": "autoload -Uz compinit; compinit -u -D; source <(gitsync completion zsh)",
}
_TO_START, _TO_END = "\x01", "\x05"
_LONG = 60


def is_missing(shell: str) -> bool:
    return shutil.which(shell) is None


def complete_lines(shell: str, lines: Iterable[str], folder: Path, variables: dict[str, str]) -> list[str]:
    """Type each line into one shell, press tab, and return what the lines became."""
    return run_shells_here(lambda programs: _complete_lines(shell, lines, folder, variables, programs))


def _complete_lines(
    shell: str, lines: Iterable[str], folder: Path, variables: dict[str, str], programs: Path
) -> list[str]:
    environment = _make_environment(folder.parent, variables, programs)
    if shell == "fish":
        script = "gitsync completion fish | source; for line in $argv; complete --do-complete $line; echo; end"
        command = ["fish", "--no-config", "-c", script, *lines]
        ended = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=_LONG, check=True
        )
        return ended.stdout.split("\n\n")[:-1]
    out = folder.parent / f"{shell}.out"
    typed = [f"{line}\t{_TO_START}echo '{_TO_END}' >>{out}\n" for line in lines]
    _type(_START[shell], [f"{_SET_UP[shell]}\n", *typed, "exit\n"], folder, environment)
    return out.read_text().splitlines()


def _make_environment(home: Path, variables: dict[str, str], programs: Path) -> dict[str, str]:
    """The variables of a shell that finds this gitsync, and no set-up of the person who runs the tests."""
    return {**variables, "PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(home), "TERM": "dumb"}


def _type(command: list[str], texts: list[str], folder: Path, environment: dict[str, str]) -> None:
    """Type into a program in a terminal, until it ends. The shell takes a text when it is done with the one before."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
    ) as process:
        os.close(theirs)
        reader = Thread(target=_drain, args=(ours,))
        reader.start()
        for text in texts:
            os.write(ours, text.encode())
        try:
            process.wait(_LONG)
        finally:
            process.kill()
    reader.join()
    os.close(ours)


def _drain(terminal: int) -> None:
    """Read what a terminal shows, so that the program can go on writing."""
    try:
        while os.read(terminal, 4096):
            pass
    except OSError:
        return  # the program has ended
