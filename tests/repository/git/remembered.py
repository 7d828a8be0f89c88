"""Records and updates in one line, and a clock that stands still."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from gitsync.model.condition import Condition, ConditionStatus
from gitsync.model.gvk import Key
from gitsync.model.record import Claim, Record
from gitsync.repository.git.state.store import Update
from tests.support.parts import build, change


class SetClock:
    """A clock that shows what it is set to."""

    def __init__(self, time: str = "2024-05-01T10:00:00Z") -> None:
        self.time = time

    def now(self) -> datetime:
        return datetime.fromisoformat(self.time)

    def monotonic(self) -> float:
        return 0.0

    async def sleep(self, seconds: float) -> None:
        raise AssertionError(f"nobody waits {seconds} seconds here")


def a_record(name: str, **changes: Any) -> Record:
    """A resource that was created and is Ready, with `changes`."""
    plain = build(
        Record,
        key=Key("resources.azure.com", "ResourceGroup", "default", name),
        api_version="resources.azure.com/v1api20200601",
        arm_id=f"/subscriptions/0/resourceGroups/{name}",
        arm_api_version="2020-06-01",
        claim=Claim.CREATED,
        applied={"location": "westeurope"},
        baseline={"location": "westeurope"},
        condition=Condition(status=ConditionStatus.TRUE, reason="Succeeded", time="2024-05-01T10:00:00Z"),
    )
    return change(plain, **changes)


def an_update(
    *records: Record,
    forget: tuple[Key, ...] = (),
    revision: str | None = "a" * 40,
    summary: str | None = "# Summary\n",
    report: str | None = "{}\n",
    headline: str = "Sync 1 resource",
) -> Update:
    return Update(
        records={r.key: r for r in records} | dict.fromkeys(forget),
        revision=revision,
        summary=_written(summary),
        report=_written(report),
        headline=headline,
    )


def _written(text: str | None) -> Callable[[], str] | None:
    return None if text is None else lambda: text
