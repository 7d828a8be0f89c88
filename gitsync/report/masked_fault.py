"""Masks the known secrets in an exception, for any code that catches, prints or inspects it.

Unlike a report, an exception is not copied if possible but changed in place: code that catches it relies on its type,
and its traceback shows where it was raised.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from gitsync.report.masked_value import mask_value

ExceptionMask = Callable[[str], str]

_PLAIN = frozenset({str, bytes, dict, list, tuple})
_OF_THE_LANGUAGE = ("strerror", "filename", "filename2", "reason", "object", "msg", "text")
"""Attributes in which Python's own exceptions store text, in addition to `args`."""


def mask_exception(error: Exception, mask: ExceptionMask) -> Exception:
    """Mask the exception, its causes, its contexts and the members of groups.

    An exception that cannot be changed, such as a group with its message, or one that computes its text each time, is
    replaced by another exception that names its type.
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
            with suppress(AttributeError, TypeError):  # an attribute that cannot be set still shows in the text
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
