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
    masked = _mask(error, mask, {})
    return masked if isinstance(masked, Exception) else error


def _mask(error: BaseException, mask: ExceptionMask, masked_by_id: dict[int, BaseException]) -> BaseException:
    if id(error) in masked_by_id:
        return masked_by_id[id(error)]
    _mask_attributes(error, mask)
    masked = masked_by_id[id(error)] = (
        _mask_group(error, mask, masked_by_id) if isinstance(error, BaseExceptionGroup) else _mask_single(error, mask)
    )
    cause, context, is_silent = error.__cause__, error.__context__, error.__suppress_context__
    masked.__cause__ = _mask(cause, mask, masked_by_id) if cause else None
    masked.__context__ = _mask(context, mask, masked_by_id) if context else None
    masked.__suppress_context__ = is_silent  # setting the cause has changed it
    return masked


def _mask_attributes(error: BaseException, mask: ExceptionMask) -> None:
    error.args = tuple(mask_value(argument, mask) for argument in error.args)
    for name in (*vars(error), *_OF_THE_LANGUAGE):
        value = getattr(error, name, None)
        if type(value) in _PLAIN:
            with suppress(AttributeError, TypeError):  # an attribute that cannot be set is still in the text
                setattr(error, name, mask_value(value, mask))


def _mask_single(error: BaseException, mask: ExceptionMask) -> BaseException:
    text = f"{error} {error!r}"
    if mask(text) == text:
        return error
    replacement = RuntimeError(f"{type(error).__qualname__}: {mask(str(error))}")
    return replacement.with_traceback(error.__traceback__)


def _mask_group(
    group: BaseExceptionGroup[BaseException], mask: ExceptionMask, masked_by_id: dict[int, BaseException]
) -> BaseExceptionGroup[BaseException]:
    members = [_mask(member, mask, masked_by_id) for member in group.exceptions]
    if mask(group.message) == group.message and all(map(_is_same, members, group.exceptions)):
        return group
    return BaseExceptionGroup(mask(group.message), members).with_traceback(group.__traceback__)


def _is_same(first: object, second: object) -> bool:
    return first is second
