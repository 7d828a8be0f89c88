"""Logs: one sink on stderr, text for a person, JSON lines for a machine; never a secret, never a variable's value.

Everything that is logged, by gitsync or by a library, leaves through one function that masks the registered secrets in
every text and in the finished line, exceptions included. Levels: INFO is one line for each changed or failed resource
and the first and last line of a run, DEBUG every stage and request, WARNING what is retried or needs attention later,
ERROR what needs attention now. A message is a constant sentence; data are fields (`logger.bind(stage="act").info("Sent
to Azure")`).
"""

from __future__ import annotations

import json
import logging
import re
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TextIO

from loguru import logger

if TYPE_CHECKING:
    from loguru import Message, Record

_LIBRARIES = {"debug": logging.INFO}
"""The lowest level of libraries by gitsync's level; else WARNING. At INFO they log requests and sign-ins, with harmless
headers; at DEBUG bodies and command lines.
"""

logger.disable("gitsync")  # a program that imports gitsync gets no logs: without `set_up`, nothing masks them


@dataclass(slots=True)
class _SetUp:
    writes_debug: bool = False


_set_up = _SetUp()


def writes_debug() -> bool:
    """Return whether lines of DEBUG are written. Code that logs each stage of each resource checks first: a line that
    is not written costs 2 µs, and a silent run of 1,000 resources has 5,600 of them.
    """
    return _set_up.writes_debug


_COLOURS = {"DEBUG": "2", "INFO": "36", "WARNING": "33", "ERROR": "31", "CRITICAL": "31"}


def escape_controls(text: str) -> str:
    """One line that a terminal shows as it is: control and direction characters are spelled out."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


_COMMAND = re.compile(r"(##(?:vso)?)\[|^([ \t]*):(?=:)", re.IGNORECASE | re.MULTILINE)
"""A command to the CI system in a line of output: `##vso[…]` and `##[…]` anywhere (Azure Pipelines, and GitHub's older
form), `::…` at its beginning (GitHub).
"""


def neutralize(text: str) -> str:
    """Disarm commands to the CI system in output that contains untrusted text."""
    # In JSON the escaped text is the same value.
    return _COMMAND.sub(lambda found: f"{found[1]}\\u005b" if found[1] else f"{found[2]}\\u003a", text)


def set_up(
    *,
    level: str,
    form: str,
    colour: bool,
    mask: Callable[[str], str],
    stream: Callable[[], TextIO] = lambda: sys.stderr,
) -> None:
    """Send all logs to a stream, replacing any earlier set-up. `form` is "text" or "json"; `mask` removes secrets from
    a text.
    """
    render = _as_json if form == "json" else _as_coloured_text if colour else _as_text

    def write(message: Message) -> None:
        line = neutralize(mask(render(_entry(message.record, mask))))
        try:
            # The stream is looked up for each line, since a live view replaces stderr while it is shown.
            stream().write(line + "\n")
            stream().flush()
        except (OSError, ValueError):
            return  # the reader is gone, the disk is full, or the stream is closed: a log must not end a run

    _set_up.writes_debug = level.lower() == "debug"
    logger.enable("gitsync")
    logger.remove()
    # `diagnose` would print the values of variables; the format is empty, since `write` makes the line itself
    logger.add(write, level=level.upper(), format=lambda _record: "", diagnose=False, backtrace=False)
    _intercept(_LIBRARIES.get(level.lower(), logging.WARNING))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """A record with all its texts masked, before JSON or Python escapes a secret differently."""

    time: datetime
    level: str  # such as WARNING
    message: str
    fields: Mapping[str, Any]  # the members of the line in addition to the others
    trace: list[str]  # the lines of a stack trace, none without an exception


def _entry(record: Record, mask: Callable[[str], str]) -> _Entry:
    return _Entry(
        time=record["time"],
        level=record["level"].name,
        message=mask(record["message"]),
        fields={name: _plain(value, mask) for name, value in sorted(record["extra"].items())},
        trace=[escape_controls(line) for line in _trace(record, mask)],
    )


def _as_text(entry: _Entry) -> str:
    line = f"{entry.time:%H:%M:%S} {entry.level:<7} {escape_controls(entry.message)}"
    for name, value in entry.fields.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        line += f"  {name}={escape_controls(text)}"
    return "\n".join([line, *entry.trace])


def _as_coloured_text(entry: _Entry) -> str:
    return f"\x1b[{_COLOURS.get(entry.level, '0')}m{_as_text(entry)}\x1b[0m"


def _as_json(entry: _Entry) -> str:
    line = {
        "time": entry.time.astimezone(UTC).isoformat(timespec="milliseconds"),
        "level": entry.level.lower(),
        "message": entry.message,
    }
    trace = {"trace": entry.trace} if entry.trace else {}
    # A field must not replace the time, the level or the message.
    return json.dumps(line | {name: value for name, value in entry.fields.items() if name not in line} | trace)


def _plain(value: Any, mask: Callable[[str], str]) -> Any:
    """A field as JSON has it, its texts masked."""
    if isinstance(value, Mapping):
        return {mask(str(key)): _plain(member, mask) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(member, mask) for member in value]
    return value if isinstance(value, bool | int | float) or value is None else mask(str(value))


def _trace(record: Record, mask: Callable[[str], str]) -> list[str]:
    """The lines of a traceback: files, functions and source lines, no values."""
    raised = record["exception"]
    if raised is None or raised.value is None:
        return []
    text = "".join(traceback.format_exception(raised.type, raised.value, raised.traceback))
    return mask(text).splitlines()


class _Interceptor(logging.Handler):
    """Hands the logs of libraries to gitsync's sink."""

    def emit(self, record: logging.LogRecord) -> None:
        # loguru raises for a level that only a library has.
        level = record.levelname if record.levelname in _COLOURS else record.levelno
        logger.opt(exception=record.exc_info).bind(library=record.name).log(level, _read_message(record))


def _read_message(record: logging.LogRecord) -> str:
    """The message of a library, with its values; without them if they do not fit, since a log ends no run."""
    try:
        return record.getMessage()
    except Exception:  # noqa: BLE001 - the values have any class, so formatting them may raise anything
        return str(record.msg)


def _intercept(level: int) -> None:
    """Take over the standard library's logging from a level on, Python's own warnings included."""
    root = logging.getLogger()
    # With the handler of an earlier set-up, each line would be written twice.
    for handler in [h for h in root.handlers if isinstance(h, _Interceptor)]:
        root.removeHandler(handler)
    root.addHandler(_Interceptor(level=level))
    root.setLevel(level)
    logging.captureWarnings(capture=True)
