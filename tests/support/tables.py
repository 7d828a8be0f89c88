"""Tables of rows run as one test each: what pytest does around a test takes more time than a row of a pure function.

A table is what `pytest.mark.parametrize` has, of a function that gets nothing that pytest makes for each test. Its rows
run one after the other, those of a coroutine function each in an event loop of its own, also after one that fails; that
one is a subtest which its id names. With `-k`, or the name of a row on the command line, each row is a test of its own.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import Any

import pytest
from _pytest.outcomes import OutcomeException

_SHARED = ("module", "package", "session")


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
        for row in rows:
            try:
                done = test(**shared, **row.callspec.params)
                if inspect.iscoroutine(done):
                    asyncio.run(done)
            except (Exception, OutcomeException):
                with subtests.test(row.callspec.id):
                    raise

    parameters = inspect.signature(test).parameters
    names = ("subtests", *(name for name in parameters if name not in rows[0].callspec.params))
    own = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in names]
    marks = [mark for mark in rows[0].own_markers if mark.name not in {"parametrize", "asyncio"}]
    vars(run_rows).update(__signature__=inspect.Signature(own), pytestmark=marks)
    return run_rows


def _names_rows(config: pytest.Config) -> bool:
    return bool(config.option.keyword) or any("[" in argument for argument in config.args)


def _is_row(item: Any) -> bool:
    """Return whether a test needs nothing but its row, and what it shares with others."""
    is_plain = type(item) is pytest.Function or inspect.iscoroutinefunction(getattr(item, "obj", None))
    if not is_plain or item.cls:
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


def _is_shared(item: Any, name: str) -> bool:
    if (
        name == "request"
    ):  # of a fixture, such as that of temporary folders, unless the test itself has it as an argument
        return name not in item._fixtureinfo.argnames
    fixtures = item._fixtureinfo.name2fixturedefs.get(name, ())
    return bool(fixtures) and all(fixture.scope in _SHARED and not _is_async(fixture.func) for fixture in fixtures)


def _is_async(fixture: Callable[..., Any]) -> bool:
    """Return whether a fixture belongs to an event loop; each row of a table has its own."""
    return inspect.iscoroutinefunction(fixture) or inspect.isasyncgenfunction(fixture)
