"""How a command ends: every exit code that is not a command's own is made here.

0 fine; 1 something failed, is invalid, or is not Ready at the deadline; 2 refused before anything was touched; 3 there
are changes to make, and 4 drift, both only with `plan --detailed-exitcode`, and 4 where `compare` finds a difference;
70 a fault of ours; 130 interrupted; 141 nobody reads what we print.
"""

from __future__ import annotations

import os
import platform
import sys
import traceback
from collections.abc import Callable, Iterator

from gitsync import __version__
from gitsync.errors import GitsyncError

FAULT = 70
INTERRUPTED = 130
NOBODY_READS = 141

_NAMED_PACKAGES = ("aiohttp", "azure-core", "azure-identity", "azure-mgmt-resource", "GitPython", "PyYAML")


def guarded(body: Callable[[], int], mask: Callable[[str], str]) -> int:
    """The exit code of `body`, or of how it broke off; what a person must know goes to stderr, with secrets masked."""
    try:
        code = body()
        sys.stdout.flush()
    except GitsyncError as error:
        _say([f"gitsync: {error.message}", *([error.hint] if error.hint else [])], mask)
        return error.exit_code
    except KeyboardInterrupt:
        _say(["gitsync: interrupted."], mask)
        return INTERRUPTED
    except BrokenPipeError:
        # The interpreter flushes stdout once more at its end, and must not complain then.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return NOBODY_READS
    except SystemExit as end:  # argparse, after --help
        return end.code if isinstance(end.code, int) else 0
    except Exception as fault:  # noqa: BLE001 - the outermost frame: whatever else comes here is a fault of ours
        _say(fault_report(fault), mask)
        return FAULT
    return code


def fault_report(fault: BaseException) -> list[str]:
    """What to send with a report of a fault: places and versions. An exception's message may quote a value of a
    manifest or of Azure, so that only its type is shown.
    """
    return [
        "gitsync: a fault in gitsync itself. Please report it with these lines; they hold no values.",
        *_places(fault),
        f"gitsync {__version__}, Python {platform.python_version()}, {platform.platform()}",
        ", ".join(f"{package} {_version(package)}" for package in _NAMED_PACKAGES),
    ]


def _places(fault: BaseException) -> Iterator[str]:
    """Types and places, the cause first."""
    cause = fault.__cause__ or (None if fault.__suppress_context__ else fault.__context__)
    if cause is not None:
        yield from _places(cause)
    for member in fault.exceptions if isinstance(fault, BaseExceptionGroup) else ():
        yield from _places(member)
    yield f"{type(fault).__module__}.{type(fault).__qualname__}, raised at:"
    for entry in traceback.format_tb(fault.__traceback__):
        yield from entry.rstrip().splitlines()


def _version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"


def _say(lines: list[str], mask: Callable[[str], str]) -> None:
    from gitsync.logs import inert, visible

    text = "\n".join(visible(line) for part in lines for line in part.splitlines())
    try:
        print(inert(mask(text)), file=sys.stderr, flush=True)
    except OSError:
        return  # nobody reads stderr; the exit code is said all the same
