"""How many requests the checks of a run send, and for which changes (docs/checks.md#cost).

A plan may create thousands of resources, and Azure counts such a request like a write. So the checks share a budget:
one request for many changes (a list, the metadata of a provider) goes first, and of the requests that grow with the
plan, those for the riskiest changes. The rest is not checked, which a report shows.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from gitsync.desired.problems.field_path import find_member
from gitsync.model.check import CheckFinding, CheckName, CheckVerdict, PlannedChange
from gitsync.model.gvk import Key
from gitsync.model.verdict import Action

MOST: Final = 300
"""Requests of a run for checks."""
ALL_OF: Final = 100
"""So many changes, the riskiest, have all of their requests, as far as `MOST` goes."""
FOR_EACH_MORE: Final = 0.1
"""Requests for each change beyond those."""

LIMIT_REACHED: Final = "CheckLimit"
"""The code of a change beyond the limit of requests."""

_KEPT_BACK: Final = 30  # of `MOST`, for what follows from an answer: exemptions, whether a taken name is our own
_ADDRESS: Final = "microsoft.network/publicipaddresses"
_OPENINGS: Final = {"publicNetworkAccess": "enabled", "allowBlobPublicAccess": "true"}


class Rank(NamedTuple):
    """The rank of a change in the order of risk: its class, the riskiest first, and its number among all, from 0."""

    risk: int
    number: int


class RequestClaim(NamedTuple):
    """A request that a check would send, by the riskiest change that it is about. It is about so many of them."""

    check: CheckName | None
    rank: Rank
    size: int

    @property
    def is_more(self) -> bool:
        """Return whether it is for none of the changes that have all of their requests."""
        return self.rank.number >= ALL_OF

    @property
    def order(self) -> tuple[int, int, int]:
        """The riskiest first; of these, what answers for the most changes."""
        return self.rank.risk, -self.size, self.rank.number


class Budget:
    """The requests of a run for checks. `count_sent` counts those so far, whichever check sent them."""

    def __init__(self, count_sent: Callable[[], int] = lambda: 0) -> None:
        self.count_sent = count_sent
        self._changes = 0
        self._granted: Counter[CheckName | None] = Counter()
        self._granted_more = 0
        self._wanted: list[RequestClaim] = []

    def make_allowance(self, changes: Sequence[PlannedChange], checks: int) -> Allowance:
        """Make the allowance of some more changes, for so many checks of them."""
        ranks = rank_by_risk(changes, self._changes)
        self._changes += len(changes)
        return Allowance(ranks, checks=checks, budget=self)

    def grant(self, claims: Sequence[RequestClaim]) -> list[bool]:
        """Grant what the limits allow, in the order of claims."""
        granted = self._choose(claims, MOST - _KEPT_BACK - self.count_sent(), self._count_more() - self._granted_more)
        self._wanted += claims
        for claim, is_granted in zip(claims, granted, strict=True):
            self._granted[claim.check] += is_granted
            self._granted_more += is_granted and claim.is_more
        return granted

    def count_others(self, checks: Collection[CheckName]) -> int:
        """Count the requests that these checks were not granted, and would be if they were the only ones."""
        claims = [claim for claim in self._wanted if claim.check in checks]
        return sum(self._choose(claims, MOST - _KEPT_BACK, self._count_more())) - sum(
            map(self._granted.__getitem__, checks)
        )

    def _count_more(self) -> int:
        return int(max(0, self._changes - ALL_OF) * FOR_EACH_MORE)

    def _choose(self, claims: Sequence[RequestClaim], left: int, more: int) -> list[bool]:
        granted = [False] * len(claims)
        for index in sorted(range(len(claims)), key=lambda index: claims[index].order):
            claim = claims[index]
            if left <= 0:
                break
            # A claim without a share is left out and does not end the loop: one of the first hundred changes may come
            # after it.
            if not claim.is_more or more > 0:
                granted[index] = True
                left, more = left - 1, more - claim.is_more
        return granted


class Allowance:
    """The requests that the checks of some changes may still send.

    `checks` is how many run. Each claims its requests at most once, or leaves; only then are requests granted, so that
    no check is served for coming first.
    """

    def __init__(self, ranks: Mapping[Key, Rank], *, checks: int = 1, budget: Budget | None = None) -> None:
        self._ranks = ranks
        self._awaited = checks
        self._budget = budget or Budget()
        self._claims: list[tuple[Sequence[RequestClaim], asyncio.Future[list[bool]]]] = []

    @property
    def is_used_up(self) -> bool:
        """Return whether not even a request may be sent that follows from an answer."""
        return self._budget.count_sent() >= MOST

    def rate_change(self, change: PlannedChange) -> Rank:
        """Return the rank of a change; the first one for what is checked by itself."""
        return self._ranks.get(change.key, Rank(0, 0))

    async def claim(self, check: CheckName | None, requests: Iterable[Sequence[PlannedChange]]) -> list[bool]:
        """Claim a request for each of some groups of changes, and return which may be sent."""
        claims = [RequestClaim(check, min(map(self.rate_change, changes)), len(changes)) for changes in requests]
        granted: asyncio.Future[list[bool]] = asyncio.get_running_loop().create_future()
        self._claims.append((claims, granted))
        self._settle()
        return await granted

    def leave(self) -> None:
        """Tell that a check has ended: it claims nothing, or nothing more."""
        self._awaited -= 1
        self._settle()

    def _settle(self) -> None:
        """Grant what was claimed, once no other claim is awaited."""
        # With one claim missing, a grant would serve the quickest check, and the same plan would send other requests
        # next time.
        if not self._claims or len(self._claims) < self._awaited:
            return
        settled, self._claims = self._claims, []
        granted = iter(self._budget.grant([claim for claims, _ in settled for claim in claims]))
        for claims, answer in settled:
            answer.set_result([next(granted) for _ in claims])


def rank_by_risk(changes: Iterable[PlannedChange], first: int = 0) -> dict[Key, Rank]:
    """Rank changes: deletes and replacements, then updates, then creates. Of these, what is open to the internet comes
    first, and then the first of each type before the second: no type is left out. `first` is the number to begin with.
    """
    seen: Counter[tuple[int, bool, str]] = Counter()
    order = []
    for change in sorted(changes, key=lambda change: change.key):
        kind = _rate_risk(change), not _is_open(change), change.arm_type.casefold()
        order.append((*kind[:2], seen[kind], change.key))
        seen[kind] += 1
    return {key: Rank(risk, number) for number, (risk, _, _, key) in enumerate(sorted(order), first)}


def _rate_risk(change: PlannedChange) -> int:
    if change.deletes:
        return 0
    return 1 if change.action is Action.UPDATE else 2


def _is_open(change: PlannedChange) -> bool:
    """Return whether a body lets the internet reach the resource."""
    values = {name: find_member(change.body, "properties", name) for name in _OPENINGS}
    is_opened = any(str(value).casefold() == _OPENINGS[name] for name, value in values.items())
    return is_opened or change.arm_type.casefold() == _ADDRESS


def make_limit_finding(check: CheckName) -> CheckFinding:
    """Make the finding of a change that is beyond the limit."""
    return CheckFinding(
        check=check,
        verdict=CheckVerdict.NOT_CHECKED,
        code=LIMIT_REACHED,
        message=(
            f"The limit of requests for checks is reached: {MOST}, and one for every ten resources beyond {ALL_OF}."
        ),
        advice="Run `gitsync plan --only` for a part of the resources.",
    )
