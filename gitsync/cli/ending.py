"""The end of a command: all exit codes that the command does not return itself."""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from typing import TextIO

from gitsync import __version__
from gitsync.errors import ExitCode, GitsyncError

_PRINTING = frozenset({errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
"""Errors of writing to stdout; the code that writes other files reports its own errors, with their names."""

_NAMED_PACKAGES = ("aiohttp", "azure-core", "azure-identity", "azure-mgmt-resource", "PyYAML")


class Aborted(SystemExit):
    """A signal ended a command that could not end in order."""

    def __init__(self, by: int, message: str) -> None:
        self.exit_code = choose_signal_code(by)
        self.message = message
        super().__init__(self.exit_code)


def choose_signal_code(by: int) -> ExitCode:
    """Choose the exit code of a command that a signal stopped."""
    return ExitCode(128 + by)


def run_guarded(body: Callable[[], int], mask: Callable[[str], str]) -> int:
    """The exit code of `body`, or of the exception that ended it. Errors go to stderr, with secrets masked."""
    try:
        code = body()
        # At exit the interpreter would flush, too late for an exit code.
        sys.stdout.flush()
    except GitsyncError as error:
        _print_error([f"gitsync: {error.message}", *([error.hint] if error.hint else [])], mask)
        return error.exit_code
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the command ends: one more would end it with a traceback
        _print_error(["gitsync: interrupted."], mask)
        return ExitCode.INTERRUPTED
    except OSError as error:
        return _handle_write_error(error, mask)
    except Aborted as end:
        _print_error([end.message], mask)
        return end.exit_code
    except SystemExit as end:  # argparse after --help
        return int(end.code or ExitCode.FINE)
    except Exception as fault:  # noqa: BLE001 - the outermost frame: any other exception is a bug of gitsync
        _print_error(format_fault(fault), mask)
        return ExitCode.FAULT
    return code


def report_unraisable(mask: Callable[[str], str]) -> None:
    """Report exceptions that no caller can catch, in a thread or a finalizer, like any other internal error. Python's
    default would print their message unmasked.
    """
    sys.unraisablehook = lambda broken: _report_fault(broken.exc_value, mask)
    threading.excepthook = lambda broken: _report_fault(broken.exc_value, mask)


def _report_fault(fault: BaseException | None, mask: Callable[[str], str]) -> None:
    if fault is not None:
        _print_error(format_fault(fault), mask)


def choose_exit_code(error: Exception) -> ExitCode:
    """Choose the exit code of a command that an exception ends."""
    if isinstance(error, GitsyncError):
        return error.exit_code
    if not isinstance(error, OSError) or error.errno not in _PRINTING:
        return ExitCode.FAULT  # a bug of gitsync
    return ExitCode.STDOUT_CLOSED if isinstance(error, BrokenPipeError) else ExitCode.FAILED


def _handle_write_error(error: OSError, mask: Callable[[str], str]) -> ExitCode:
    """The exit code if stdout is closed or its disk is full; any other OSError is an internal error."""
    code = choose_exit_code(error)
    if code is ExitCode.FAULT:
        _print_error(format_fault(error), mask)
        return code
    _discard(sys.stdout)
    if code is ExitCode.FAILED:
        _print_error([f"gitsync: Cannot write the output: {error.strerror}."], mask)
    return code


def format_fault(fault: BaseException) -> list[str]:
    """What a bug report needs: stack traces and versions. An exception's message may contain a value from a manifest or
    from Azure, so only its type is shown.
    """
    import platform

    return [
        "gitsync: internal error. Please report it with these lines; they contain no values.",
        *_iterate_traces(fault),
        f"gitsync {__version__}, Python {platform.python_version()}, {platform.platform()}",
        ", ".join(f"{package} {_read_version(package)}" for package in _NAMED_PACKAGES),
    ]


def _iterate_traces(fault: BaseException) -> Iterator[str]:
    """Exception types and stack traces, the cause first."""
    # As in Python's own output: `from None` hides the exception before.
    cause = fault.__cause__ or (None if fault.__suppress_context__ else fault.__context__)
    if cause is not None:
        yield from _iterate_traces(cause)
    for member in fault.exceptions if isinstance(fault, BaseExceptionGroup) else ():
        yield from _iterate_traces(member)
    yield f"{type(fault).__module__}.{type(fault).__qualname__}, raised at:"
    for entry in traceback.format_tb(fault.__traceback__):
        yield from entry.rstrip().splitlines()


def _read_version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"


def _print_error(lines: list[str], mask: Callable[[str], str]) -> None:
    from gitsync.settings.logging import escape_controls, neutralize

    text = "\n".join(escape_controls(line) for part in lines for line in part.splitlines())
    try:
        print(neutralize(mask(text)), file=sys.stderr, flush=True)
    except OSError:
        _discard(sys.stderr)  # stderr is closed; the exit code is returned anyway


def _discard(stream: TextIO) -> None:
    """Redirect to /dev/null: the interpreter flushes once more at exit, and that flush must not fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
