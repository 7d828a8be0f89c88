"""Tools of the repository, run in the process of the test: an interpreter that imports gitsync takes 300 ms."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from subprocess import CompletedProcess


def run_tool(main: Callable[[list[str]], int | None], *arguments: object) -> CompletedProcess[str]:
    """Run the `main` of a tool, and end as its process does: an exception is shown, and the exit code is 1."""
    words, out, err = [str(argument) for argument in arguments], StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code = main(words) or 0
        except SystemExit as ending:
            is_code = isinstance(ending.code, int | None)
            code = (ending.code or 0) if is_code else 1
            print("" if is_code else ending.code, file=err)
        except Exception:  # noqa: BLE001 - as the interpreter does
            code = 1
            traceback.print_exc()
    return CompletedProcess(words, code, out.getvalue(), err.getvalue())
