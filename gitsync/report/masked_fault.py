"""An exception without the secrets that a register knows: for whoever catches it, prints it or looks into it.

Apart from the report, since a report is made anew and an exception stays the object that it is where that is possible:
who catches it knows it by its type, and its traceback tells where it was raised.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from gitsync.report.masked_value import mask_value

ExceptionMask = Callable[[str], str]

_PLAIN = frozenset({str, bytes, dict, list, tuple})
_OF_THE_LANGUAGE = ("strerror", "filename", "filename2", "reason", "object", "msg", "text")
"""Where Python's own exceptions keep what they say, besides `args`."""


def mask_exception(error: Exception, mask: ExceptionMask) -> Exception:
    """The exception, and all that led to it: causes, what was being handled, members of groups.

    What cannot be changed, such as the message of a group or a text that is made anew each time, has another exception
    in its place, which names its type.
    """
    found = _masked(error, mask, {})
    return found if isinstance(found, Exception) else error


def _masked(error: BaseException, mask: ExceptionMask, seen: dict[int, BaseException]) -> BaseException:
    if id(error) in seen:
        return seen[id(error)]
    _change(error, mask)
    shown = seen[id(error)] = (
        _group(error, mask, seen) if isinstance(error, BaseExceptionGroup) else _single(error, mask)
    )
    cause, context, is_silent = error.__cause__, error.__context__, error.__suppress_context__
    shown.__cause__ = _masked(cause, mask, seen) if cause else None
    shown.__context__ = _masked(context, mask, seen) if context else None
    shown.__suppress_context__ = is_silent  # which setting the cause has changed
    return shown


def _change(error: BaseException, mask: ExceptionMask) -> None:
    error.args = tuple(mask_value(argument, mask) for argument in error.args)
    for name in (*vars(error), *_OF_THE_LANGUAGE):
        value = getattr(error, name, None)
        if type(value) in _PLAIN:
            with suppress(AttributeError, TypeError):  # one that cannot be set is seen in what is said
                setattr(error, name, mask_value(value, mask))


def _single(error: BaseException, mask: ExceptionMask) -> BaseException:
    said = f"{error} {error!r}"
    if mask(said) == said:
        return error
    stand_in = RuntimeError(f"{type(error).__qualname__}: {mask(str(error))}")
    return stand_in.with_traceback(error.__traceback__)


def _group(
    group: BaseExceptionGroup[BaseException], mask: ExceptionMask, seen: dict[int, BaseException]
) -> BaseExceptionGroup[BaseException]:
    members = [_masked(member, mask, seen) for member in group.exceptions]
    if mask(group.message) == group.message and all(map(_is, members, group.exceptions)):
        return group
    return BaseExceptionGroup(mask(group.message), members).with_traceback(group.__traceback__)


def _is(one: object, other: object) -> bool:
    return one is other
