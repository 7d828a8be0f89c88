"""THE CHECKS of planned changes: the table of them, and the run of those that the settings name.

A check finds out whether Azure would accept a change, and returns findings; it changes nothing, and never raises for
what Azure does. Each is a module of this folder with one function of the same form.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import Final, cast

from loguru import logger

from gitsync.agent.checks.allowance import Budget
from gitsync.agent.checks.check_requests import CheckRequests
from gitsync.model.arm_id import IdKey
from gitsync.model.check import CheckFinding, CheckName, CheckVerdict, Findings, PlannedChange
from gitsync.model.gvk import Key
from gitsync.model.limits import Bucket
from gitsync.model.report import RequestCounts
from gitsync.planning.managed_locks import find_lowered_level
from gitsync.providers.arm.client import Arm
from gitsync.providers.arm.session import Session

Check = Callable[[Sequence[PlannedChange], CheckRequests], Awaitable[Findings]]


@cache
def list_checks() -> Mapping[CheckName, Check]:
    """The table of the checks. Their modules are imported when the first change is checked: most runs have none."""
    from gitsync.agent.checks.locks import check_locks  # noqa: PLC0415 - as above
    from gitsync.agent.checks.names import check_names  # noqa: PLC0415 - as above
    from gitsync.agent.checks.policy import check_policy  # noqa: PLC0415 - as above
    from gitsync.agent.checks.preflight import check_preflight  # noqa: PLC0415 - as above
    from gitsync.agent.checks.quota import check_quota  # noqa: PLC0415 - as above
    from gitsync.agent.checks.versions import check_versions  # noqa: PLC0415 - as above

    return {
        CheckName.PREFLIGHT: check_preflight,
        CheckName.POLICY: check_policy,
        CheckName.NAMES: check_names,
        CheckName.LOCKS: check_locks,
        CheckName.QUOTA: check_quota,
        CheckName.VERSIONS: check_versions,
    }


BEFORE_WRITES: Final = frozenset({CheckName.LOCKS, CheckName.NAMES, CheckName.PREFLIGHT})
"""Those of a sync: what they refuse is certain, and is not sent."""

BEFORE_UPDATES: Final = frozenset({CheckName.LOCKS})
"""Those of an update, which Azure has accepted before: only a lock may be new."""

_ORDER: Final[Mapping[str, int]] = {
    word: rank for words in (CheckVerdict, CheckName) for rank, word in enumerate(words)
}
"""The order of verdicts, and of checks."""


class Checks:
    """The checks of one run. No request is sent twice.

    `names` are the checks to run. `open_session` begins the session of one request, which has its own deadline.
    """

    def __init__(self, names: Collection[CheckName], open_session: Callable[[], Session]) -> None:
        self.names = tuple(name for name in CheckName if name in names)
        self._open_session = open_session
        self._requests: dict[int, CheckRequests] = {}
        self._found: dict[Key, tuple[CheckFinding, ...]] = {}
        self._budget = Budget(self._count_sent)
        self._lowered: dict[IdKey, str] = {}

    async def check(
        self,
        changes: Iterable[PlannedChange],
        arms: Mapping[Key, Arm | None],
        names: Collection[CheckName] = frozenset(CheckName),
    ) -> Mapping[Key, tuple[CheckFinding, ...]]:
        """Return the findings of all checks so far, by resource, the most urgent first. A change that was checked
        before keeps its findings. Only `names` run, of those that the settings name.

        `arms` has the client of each resource's identity. Without one nothing is checked: the run reports why it has
        none.
        """
        by_arm: defaultdict[int, list[PlannedChange]] = defaultdict(list)
        # Without a client the run reports why it has none; a check could only repeat that.
        new = [change for change in changes if change.key not in self._found and arms[change.key] is not None]
        # A lock may be in another group than what it holds for, and have another credential.
        lowered = ((change.arm_id.key, find_lowered_level(change)) for change in new)
        self._lowered.update((key, level) for key, level in lowered if level is not None)
        for change in sorted(new, key=lambda change: change.key):
            arm = cast("Arm", arms[change.key])
            # What an identity may see differs, so each has requests of its own.
            self._requests.setdefault(id(arm), CheckRequests(arm, self._open_session, lowered=self._lowered))
            by_arm[id(arm)].append(change)
        chosen = [name for name in self.names if name in names]
        allowance = self._budget.make_allowance(new, len(by_arm) * len(chosen))
        runs = [
            _run(name, same, self._requests[arm].of_check(name, allowance))
            for arm, same in by_arm.items()
            for name in chosen
        ]
        found: defaultdict[Key, list[CheckFinding]] = defaultdict(list)
        for findings in await asyncio.gather(*runs):
            for key, finding in findings:
                found[key].append(finding)
        for key, said in found.items():
            said.sort(
                key=lambda finding: (_ORDER[finding.verdict], _ORDER[finding.check], finding.path, finding.message)
            )
            self._found[key] = tuple(said)
        return self._found

    def count_requests(self, without: Collection[CheckName]) -> RequestCounts:
        """Count the requests for what none of some checks has asked, less those that these would have sent in their
        place: all share a budget.
        """
        counts = [requests.count_requests(without) for requests in self._requests.values()]
        others = self._budget.count_others(without)
        return RequestCounts(
            reads=sum(count.reads for count in counts), checks=sum(count.checks for count in counts) - others
        )

    def count_by_bucket(self, names: Collection[CheckName]) -> Counter[Bucket]:
        """Count the requests of some checks by the limit that they are taken from."""
        return sum((requests.count_by_bucket(names) for requests in self._requests.values()), Counter())

    def _count_sent(self) -> int:
        return sum(requests.count for requests in self._requests.values())


async def _run(name: CheckName, changes: Sequence[PlannedChange], requests: CheckRequests) -> Findings:
    """Run one check. A bug in it makes a finding: it must not end the run."""
    try:
        return await list_checks()[name](changes, requests)
    except Exception as fault:  # noqa: BLE001 - a bug in a check must not lose the plan
        logger.bind(check=name.value).opt(exception=fault).error("Check failed")
        message = f"The check failed with an internal error ({type(fault).__name__})."
        finding = CheckFinding(check=name, verdict=CheckVerdict.NOT_CHECKED, code="InternalError", message=message)
        return [(change.key, finding) for change in changes]
    finally:
        # No request is granted before each check has claimed or left, so one that fails must leave, or all others would
        # wait.
        requests.allowance.leave()
