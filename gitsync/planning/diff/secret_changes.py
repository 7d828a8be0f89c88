"""The secrets of a body that changed, as the digests of what a manifest sets and of what was last sent show it.

The report shows once which digests a run could not compare, why, and how to fix that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from gitsync.desired.formats.json_pointer import format_pointer
from gitsync.desired.formats.name_list import name_first
from gitsync.desired.request.secret_digest import iterate_seals
from gitsync.model.problem import Level, Problem
from gitsync.model.result import Result
from gitsync.model.secret import MASKED
from gitsync.model.verdict import Comparison, Difference, Verdict

CHANGED = "the secret changed"
NEVER_SET = "gitsync has not set this secret yet"
NO_KEY = "unknown whether this secret changed: no digest key is set"
MADE_WITHOUT_KEY = "unknown whether this secret changed: it was last written without a digest key"
MADE_WITH_ANOTHER_KEY = "unknown whether this secret changed: it was last written with another digest key"

_AND_PENDING = {
    Verdict.IN_SYNC: Verdict.PENDING,
    Verdict.FAILED_BEFORE: Verdict.PENDING,
    Verdict.DRIFTED: Verdict.CONFLICT,
}


def add_secret_changes(comparison: Comparison, now: Mapping[str, Any], before: Mapping[str, Any]) -> Comparison:
    """Add the secrets whose digests changed. `now` and `before` are sealed bodies: git's, and the last sent one. A
    secret that only one of them has is already a difference of the values.
    """
    # The first release wrote masks in place of digests.
    sent = {secret_path: seal for secret_path, _, seal in iterate_seals(before, masks=True)}
    if not sent:
        return comparison
    common = [
        (format_pointer(path), seal, sent[secret_path])
        for secret_path, path, seal in iterate_seals(now)
        if secret_path in sent
    ]
    because = {path: reason for path, seal, old in common if (reason := _explain_unknown(seal, old))}
    known_paths = {difference.path for difference in comparison.differences}
    # Digests by another key or none prove nothing, so they are a warning: a rotated key must not write every resource.
    changed = [path for path, seal, old in common if path not in known_paths and path not in because and seal != old]
    differences = (*comparison.differences, *(Difference(path, MASKED, MASKED, CHANGED) for path in changed))
    verdict = comparison.verdict
    return replace(
        comparison,
        verdict=_AND_PENDING.get(verdict, verdict) if changed else verdict,
        differences=tuple(sorted(differences, key=lambda difference: difference.path)),
        unverified=tuple(sorted({*comparison.unverified, *because} - {*changed})),
        because={**comparison.because, **because},
    )


def add_unset_secrets(comparison: Comparison, now: Mapping[str, Any], before: Mapping[str, Any]) -> Comparison:
    """Add the secrets that the last sent body lacks: where a provider shows no secret, nothing else shows that it was
    never set. `now` and `before` are sealed bodies.
    """
    sent = {secret_path for secret_path, _, _ in iterate_seals(before, masks=True)}
    unset = [format_pointer(path) for secret_path, path, _ in iterate_seals(now) if secret_path not in sent]
    if not unset:
        return comparison
    others = (difference for difference in comparison.differences if difference.path not in unset)
    differences = (*others, *(Difference(path, MASKED, None, NEVER_SET) for path in unset))
    return replace(
        comparison,
        verdict=_AND_PENDING.get(comparison.verdict, comparison.verdict),
        differences=tuple(sorted(differences, key=lambda difference: difference.path)),
        unverified=tuple(path for path in comparison.unverified if path not in unset),
    )


def _explain_unknown(now: str, before: str) -> str:
    """Return why two digests cannot be compared; "" if they can."""
    if not now:
        return NO_KEY
    if not before:
        return MADE_WITHOUT_KEY
    # The scheme and the name of the key are before the digest.
    return "" if now.split(":")[:2] == before.split(":")[:2] else MADE_WITH_ANOTHER_KEY


_MOST_NAMES = 3

_HINTS: Final[Mapping[str, str]] = {
    NO_KEY: "Set GITSYNC_DIGEST_KEY to 32 random characters or more, the same for every run.",
    MADE_WITHOUT_KEY: "The next write of a resource creates its digests; `gitsync sync --always-put` writes all.",
    MADE_WITH_ANOTHER_KEY: "The next write of a resource replaces its digests; `gitsync sync --always-put` writes all.",
}


def warn_uncompared_secrets(results: Iterable[Result]) -> tuple[Problem, ...]:
    """Return a warning for each reason why a secret of these results could not be compared."""
    all_results = tuple(results)
    affected = {
        reason: [result.key for result in all_results if reason in result.comparison.because.values()]
        for reason in _HINTS
    }
    return tuple(
        _make_problem(reason, [f"{key.kind}/{key.name}" for key in keys]) for reason, keys in affected.items() if keys
    )


def _make_problem(reason: str, names: list[str]) -> Problem:
    return Problem(
        code="SecretsNotCompared",
        message=f"{name_first(names, _MOST_NAMES)}: {reason}.",
        hint=_HINTS[reason],
        level=Level.WARNING,
    )
