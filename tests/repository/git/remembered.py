"""Records and updates in one line, a status branch without pushes and fetches, and a clock that stands still."""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from gitsync.model.condition import Condition, ConditionStatus
from gitsync.model.gvk import Key
from gitsync.model.record import Claim, Record, State
from gitsync.repository.git.source.listing import Revision
from gitsync.repository.git.state.commits import Author, format_status_message
from gitsync.repository.git.state.record_files import UNSEALED
from gitsync.repository.git.state.seal import RecordSeals
from gitsync.repository.git.state.status_tree import build_files, read_state
from gitsync.repository.git.state.store import Update, compute_changes, merge
from tests.support.branch_files import FILE, read_branch_files
from tests.support.git_repositories import make_commit, write_object
from tests.support.loose_git import LooseAccess
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


STATUS = "gitsync/status"


def write_status(bare: Path, update: Update, time: str = "2024-05-01T10:00:00Z", branch: str = STATUS) -> str:
    """Have the status branch of a bare repository as a run leaves it that saves an update, and get its commit: for
    tests that are about what comes then. A run fetches and pushes, which takes ten times as long.
    """
    base, file = read_status(bare, branch), bare / "refs/heads" / branch
    changes = compute_changes(base, update)
    new = build_files(changes, merge(base, changes, update.revision, update.agent), update)
    before = file.read_text().strip() if file.exists() else None
    files = {**(read_branch_files(bare, branch) if before else {}), **new}
    tip, _ = make_commit(
        {path: (FILE, content) for path, content in files.items() if content is not None},
        before,
        format_status_message(update.headline, update.revision).removesuffix("\n"),
        partial(write_object, bare),
        f"{Author()} {int(datetime.fromisoformat(time).timestamp())} +0000",
    )
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{tip}\n")
    return tip


def read_status(bare: Path, branch: str = STATUS, seals: RecordSeals = UNSEALED) -> State:
    """Read what the status branch of a bare repository has, without what workers have recorded."""
    file = bare / "refs/heads" / branch
    if not file.exists():
        return State({})
    return read_state(Revision(repository=LooseAccess().open_local(bare), commit=file.read_text().strip()), seals)
