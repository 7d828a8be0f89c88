"""Tools of the repository, run in the process of the test: an interpreter that imports gitsync takes 300 ms."""

from __future__ import annotations

import runpy
import sys
import traceback
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
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
            if not is_code:
                print(ending.code, file=err)
        except Exception:  # noqa: BLE001 - as the interpreter does
            code = 1
            traceback.print_exc()
    return CompletedProcess(words, code, out.getvalue(), err.getvalue())


def run_script(tool: Path, *arguments: object) -> CompletedProcess[str]:
    """Run a tool as `python TOOL ARGUMENTS` does, all of its file included."""

    def run(words: list[str]) -> None:
        before, sys.argv = sys.argv, [str(tool), *words]
        try:
            runpy.run_path(str(tool), run_name="__main__")
        finally:
            sys.argv = before

    return run_tool(run, *arguments)
