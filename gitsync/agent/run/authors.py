"""Finds who made the changes in Azure that a run found: after the walk, in a plan and in a sync alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from gitsync.agent.attribution.drift_authors import Drift, OwnWrites, find_authors, list_ids
from gitsync.agent.checks.check_requests import CheckRequests
from gitsync.agent.reconcile.context import RunContext
from gitsync.agent.run.context_builder import CHECK_PATIENCE
from gitsync.model.gvk import Key
from gitsync.model.plan import Plan
from gitsync.model.provider import Provider
from gitsync.model.record import LastWrite, Record, State
from gitsync.model.result import Result
from gitsync.model.verdict import Verdict
from gitsync.providers.arm.client import Arm
from gitsync.providers.arm.session import Session


async def add_authors(run: RunContext, plan: Plan, state: State, results: dict[Key, Result]) -> dict[Key, Result]:
    """Add to the results of resources that changed in Azure who changed them. Without such a result nothing is sent."""
    drifts = list(_list_drifts(run, plan, results))
    if not drifts:  # as in most runs
        return results
    # A forged record could have the correlation id of a stranger's write, and show that write as gitsync's own.
    believed = (record for record in state.records.values() if not record.trust.is_refused)
    recorded = [record.writes.last for record in believed if record.writes.last]
    commits = {arm_id: write.revision for write in recorded for arm_id in list_ids(write)}
    written = {arm_id for result in results.values() if result.record for arm_id in list_ids(result.record.writes.last)}
    own = OwnWrites(commits=commits, of_this_run=frozenset(written - commits.keys()))
    # A sync sends the requests after it has restored them: what it overwrote deserves a name too, and the writes need
    # not wait.
    authors = await find_authors(drifts, own, run.clock.now())
    return results | {key: replace(results[key], changed_by=changes) for key, changes in authors.items()}


def _list_drifts(run: RunContext, plan: Plan, results: Mapping[Key, Result]) -> Iterator[Drift]:
    """Yield the drifts to look up."""
    requests: dict[Arm, CheckRequests] = {}

    def begin_check() -> Session:
        return run.sessions.begin(min(run.clock.monotonic() + CHECK_PATIENCE, run.rules.deadline))

    for key, result in sorted(results.items()):
        # Azure's logs cover ARM resources only.
        is_logged = run.catalog.provider(key.group, key.kind) is Provider.ARM
        arm = run.identities[key].arm if is_logged else None
        # A resource without an id or an identity is left out: its result explains why it has none.
        if not result.has_changed_in_azure or arm is None or not result.arm_id or "<" in result.arm_id:
            continue
        node = plan.applies.get(key) or plan.prunes.get(key)
        record = node.record if node else None
        yield Drift(
            key=key,
            arm_id=result.arm_id,
            # A field that git changed may have changed in Azure, too.
            paths=(*(each.path for each in result.differences), *(each.path for each in result.comparison.outside)),
            is_missing=result.found is Verdict.MISSING,
            last_write=_find_last_write(record) if record else None,
            requests=requests.setdefault(arm, CheckRequests(arm, begin_check)),
        )


def _find_last_write(record: Record) -> LastWrite | None:
    """Return the last write before this run."""
    condition = record.condition
    if record.writes.last or condition is None or not condition.is_ready or not condition.time:
        return record.writes.last
    # A resource that was adopted as it was has none, and older records lack it: the resource was as it should be when
    # it became Ready, and drifted later.
    return LastWrite(correlation_id="", at=condition.time)
