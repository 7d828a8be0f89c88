"""Report once for a whole run which secrets it could not compare, and how to fix that."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from gitsync.model.problem import Level, Problem
from gitsync.model.result import Result
from gitsync.planning.secret_digest import MADE_WITH_ANOTHER_KEY, MADE_WITHOUT_KEY, NO_KEY

_MOST_NAMES = 3

_HINTS: Final[Mapping[str, str]] = {
    NO_KEY: "Set GITSYNC_DIGEST_KEY to 32 random characters or more, the same for every run.",
    MADE_WITHOUT_KEY: "The next write of a resource creates its digests; `gitsync sync --always-put` writes all.",
    MADE_WITH_ANOTHER_KEY: "The next write of a resource replaces its digests; `gitsync sync --always-put` writes all.",
}


def warn_uncompared_secrets(results: Iterable[Result]) -> tuple[Problem, ...]:
    """Return a warning for each reason why a secret of these results could not be compared."""
    all_results = tuple(results)
    return tuple(_make_problem(reason, names) for reason in _HINTS if (names := list(_find_names(all_results, reason))))


def _find_names(results: tuple[Result, ...], reason: str) -> Iterator[str]:
    return (f"{result.key.kind}/{result.key.name}" for result in results if reason in result.because.values())


def _make_problem(reason: str, names: list[str]) -> Problem:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return Problem(
        code="SecretsNotCompared",
        message=f"{', '.join(names[:_MOST_NAMES])}{more}: {reason}.",
        hint=_HINTS[reason],
        level=Level.WARNING,
    )
