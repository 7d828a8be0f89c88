"""Tables of rows run as one test each: what pytest does around a test takes more time than a row of a pure function.

A table is what `pytest.mark.parametrize` has, of a function that gets nothing that pytest makes for each test but a folder.
Its rows run one after the other, each in a folder of its own, those of a coroutine each in a loop of its own, and also
after one that fails; that one is a subtest which its id names. With `-k`, or the name of a row on the command line, each
row is a test of its own.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Any

import pytest
from _pytest.outcomes import OutcomeException

_SHARED = ("module", "package", "session")
_MARKS_OF_ROWS = ("parametrize", "asyncio")


def collect_tables(collector: pytest.Collector, items: Sequence[Any]) -> list[Any]:
    """Make one test of the rows of each table."""
    if len(items) < 2 or _names_rows(collector.config) or not all(map(_is_row, items)):
        return list(items)
    return [pytest.Function.from_parent(collector, name=items[0].originalname, callobj=_join(items))]


def _join(rows: Sequence[pytest.Function]) -> Callable[..., None]:
    """A function that runs all rows, and gets what they share."""
    test = rows[0].obj

    @wraps(test)
    def run_rows(subtests: pytest.Subtests, **shared: Any) -> None:
        __tracebackhide__ = True
        for number, row in enumerate(rows):
            try:
                _run(test, {**shared, **_make_folder(shared, number), **row.callspec.params})
            except (Exception, OutcomeException):
                with subtests.test(row.callspec.id):
                    raise

    parameters = inspect.signature(test).parameters
    names = ("subtests", *(name for name in parameters if name not in rows[0].callspec.params))
    own = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in names]
    marks = [mark for mark in rows[0].own_markers if mark.name not in _MARKS_OF_ROWS]
    vars(run_rows).update(__signature__=inspect.Signature(own), pytestmark=marks)
    return run_rows


def _make_folder(shared: Mapping[str, Any], number: int) -> Mapping[str, Path]:
    """Make the folder of a row, in that of the table; nothing for a table without folders."""
    if "tmp_path" not in shared:
        return {}
    folder = shared["tmp_path"] / str(number)
    folder.mkdir()
    return {"tmp_path": folder}


def _run(test: Callable[..., Any], values: Mapping[str, Any]) -> None:
    if inspect.iscoroutinefunction(test):
        asyncio.run(test(**values))
    else:
        test(**values)


def _names_rows(config: pytest.Config) -> bool:
    return bool(config.option.keyword) or any("[" in argument for argument in config.args)


def _is_row(item: Any) -> bool:
    """Return whether a test needs nothing but its row, and what it shares with others."""
    is_test = type(item) is pytest.Function or (isinstance(item, pytest.Function) and _is_coroutine(item.obj))
    if not is_test or item.cls:
        return False
    own = set(_list_columns(item))
    return (
        not getattr(item.obj, "is_hypothesis_test", False)
        and not any(mark.kwargs for mark in item.iter_markers("asyncio"))  # the event loop of another scope
        and not item.callspec.marks
        and item.callspec.params.keys() == own
        and all(name in own or _is_shared(item, name) for name in item.fixturenames)
    )


def _list_columns(item: pytest.Function) -> Iterator[str]:
    """The names that a row gives values to; none of a mark that hands them to fixtures."""
    for mark in item.iter_markers("parametrize"):
        names = mark.args[0]
        if not mark.kwargs.get("indirect"):
            yield from (name.strip() for name in names.split(",")) if isinstance(names, str) else names


def _is_coroutine(function: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)


def _is_shared(item: Any, name: str) -> bool:
    is_argument = name in inspect.signature(item.obj).parameters
    if name == "tmp_path":  # each row gets a folder of its own; for a fixture of a test, it would be one for all rows
        return is_argument
    if name == "request":  # of a fixture, which is looked at itself
        return not is_argument
    fixtures = item._fixtureinfo.name2fixturedefs.get(name, ())
    return bool(fixtures) and all(fixture.scope in _SHARED and not _is_coroutine(fixture.func) for fixture in fixtures)
