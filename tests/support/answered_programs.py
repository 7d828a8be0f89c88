"""Programs for the path of what tests run, answered in the process of the tests: an interpreter takes 10 ms to start, and
what it imports more.
"""

from __future__ import annotations

import os
import threading
import traceback
from collections.abc import Callable, Iterator
from functools import cache
from io import BufferedIOBase
from pathlib import Path
from socketserver import StreamRequestHandler, TCPServer
from typing import NamedTuple

_PROGRAM = """\
#!/bin/bash
stdin=
for argument; do
  case $argument in -|*=@-|/dev/stdin) stdin=$(/bin/cat; printf .); stdin=${{stdin%.}}; break ;; esac
done
exec 3<>/dev/tcp/127.0.0.1/{port}
{{ printf '%s\\0' {number} "$0" "$PWD" "$stdin" $# "$@"; /usr/bin/env -0; printf '\\0'; }} >&3
IFS= read -rd '' code <&3
IFS= read -rd '' complaint <&3
/bin/cat <&3
printf %s "$complaint" >&2
exit "$code"
"""


class ProgramCall(NamedTuple):
    """How a program was called."""

    file: Path  # of the program
    cwd: Path
    stdin: str  # read if an argument names it: `-`, `NAME=@-` or `/dev/stdin`
    arguments: list[str]
    variables: dict[str, str]


class Refusal(Exception):  # noqa: N818 - a program refuses, which is no fault of the tests
    """How a program ends that does not do what it was called for."""

    def __init__(self, message: str, code: int = 1) -> None:
        super().__init__(message)
        self.code = code


Answer = Callable[[ProgramCall], str]
"""Returns what goes to stdout. Any exception but a Refusal is shown as an interpreter does."""

_answers: list[Answer] = []  # by the numbers in the programs, which may be copied


def write_program(file: Path, answer: Answer) -> None:
    """Write a program that ends as `answer` says, as long as this process runs."""
    _answers.append(answer)
    file.write_text(_PROGRAM.format(port=_serve(), number=len(_answers) - 1))
    file.chmod(0o755)


class _Handler(StreamRequestHandler):
    """A call is texts that each end with a NUL: after the variables, of which none is empty, there is an empty one. So
    do the exit code and what goes to stderr end in the answer; the rest of it goes to stdout.
    """

    def handle(self) -> None:
        texts = _read_texts(self.rfile)  # type: ignore[arg-type] # a reader with a buffer
        number, file, cwd, stdin, count = (next(texts) for _ in range(5))
        arguments = [next(texts) for _ in range(int(count))]
        variables = dict(text.split("=", 1) for text in iter(texts.__next__, ""))
        code, out, err = 0, "", ""
        try:
            out = _answers[int(number)](ProgramCall(Path(file), Path(cwd), stdin, arguments, variables))
        except Refusal as refusal:
            code, err = refusal.code, f"{refusal}\n"
        except Exception as error:  # noqa: BLE001 - as an interpreter ends
            code, err = 1, f"{error!r}\n{traceback.format_exc()}"  # gitsync shows the first line
        self.wfile.write(os.fsencode(f"{code}\0{err}\0{out}"))


def _read_texts(stream: BufferedIOBase) -> Iterator[str]:
    rest = b""
    while more := stream.read1(65536):
        *complete, rest = (rest + more).split(b"\0")
        yield from map(os.fsdecode, complete)


class _Server(TCPServer):
    request_queue_size = 128
    """Calls that may wait on a busy machine: the kernel resets those beyond."""


@cache
def _serve() -> int:
    """Answer one call after the other, as long as this process runs; the port."""
    server = _Server(("127.0.0.1", 0), _Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]
