"""What a rehearsal cannot know, each in a plain sentence: an honest report says what it does not cover."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from gitsync.catalog.catalog import open_catalog
from gitsync.emulator.types.behaviour import is_recorded
from gitsync.model.record import Record, Trust
from gitsync.model.rehearsal import Blank, NotRehearsed, Rehearsal, RehearsedWrite
from gitsync.rehearsal.sandbox import Sandbox
from gitsync.report.wording import format_plural
from gitsync.validation.references import parse_arm_type


def list_blanks(sandbox: Sandbox, records: Iterable[Record], rehearsal: Rehearsal) -> tuple[NotRehearsed, ...]:
    """List what was not rehearsed, in the order of `Blank`. `records` are as they were read, with what their seals
    say.
    """
    return (
        *_find_seals(records),
        *_find_secrets(sandbox, rehearsal),
        *_find_statements(rehearsal),
        *_find_types(rehearsal),
        *_find_governance(sandbox, rehearsal),
        *_find_stubs(rehearsal),
    )


def _find_seals(records: Iterable[Record]) -> Iterator[NotRehearsed]:
    if count := sum(record.trust is Trust.NO_KEY for record in records):
        sentence = f"The seals of {format_plural(count, 'record')} were not checked, since a rehearsal has no key."
        yield NotRehearsed(blank=Blank.SEALS, count=count, sentence=sentence)


def _find_secrets(sandbox: Sandbox, rehearsal: Rehearsal) -> Iterator[NotRehearsed]:
    """The values that were made up, and the secrets of which only a run with the key knows whether they changed."""
    results = rehearsal.first.results if rehearsal.first else ()
    uncompared = sum(len(one.because) for one in results)
    if not sandbox.asked and not uncompared:
        return
    names = tuple(sorted({str(address) for address, _ in sandbox.asked}))
    made_up = (
        f"{format_plural(len(sandbox.asked), 'value')} of Secrets and ConfigMaps {_is(len(sandbox.asked))} made up"
    )
    secrets = f"whether {format_plural(uncompared, 'secret')} changed is not known"
    parts = [*([made_up] if sandbox.asked else []), *([secrets] if uncompared else [])]
    sentence = ", and ".join(parts)
    yield NotRehearsed(
        blank=Blank.SECRETS,
        count=len(sandbox.asked) + uncompared,
        names=names,
        sentence=f"{sentence[0].upper()}{sentence[1:]}: a sync writes a resource again if such a value changed.",
    )


def _find_statements(rehearsal: Rehearsal) -> Iterator[NotRehearsed]:
    played = {one.key for one in rehearsal.writes if one.key and not _is_of_arm(one)}
    if played:
        sentence = (
            f"No statement was run for {format_plural(len(played), 'user')} of databases: a rehearsal has no server, "
            "so each write succeeds."
        )
        names = tuple(sorted(f"{key.kind}/{key.name}" for key in played))
        yield NotRehearsed(blank=Blank.STATEMENTS, count=len(played), names=names, sentence=sentence)


def _is_of_arm(write: RehearsedWrite) -> bool:
    return write.key is None or open_catalog().is_arm_kind(write.key.group, write.key.kind)


def _find_types(rehearsal: Rehearsal) -> Iterator[NotRehearsed]:
    types = {parse_arm_type(one.arm_id) for one in rehearsal.writes if _is_of_arm(one)}
    names = tuple(sorted(one for one in types if not is_recorded(one)))
    if names:
        sentence = (
            f"No answers of Azure are recorded for {format_plural(len(names), 'type')} of what is written: "
            "their writes succeed at once, and show what was sent."
        )
        yield NotRehearsed(blank=Blank.KINDS, count=len(names), names=names, sentence=sentence)


def _find_governance(sandbox: Sandbox, rehearsal: Rehearsal) -> Iterator[NotRehearsed]:
    """Policies and quotas are those of the script: without any, nothing that is sent meets one."""
    is_sent = any(one.method != "DELETE" for one in rehearsal.writes)
    blank = partial(NotRehearsed, count=0)
    if is_sent and not sandbox.emulator.policies:
        sentence = "Policies of Azure did not judge any write. Add them to --emulator-script to rehearse them."
        yield blank(blank=Blank.POLICIES, sentence=sentence)
    if is_sent and not (sandbox.emulator.quotas or sandbox.emulator.skus):
        sentence = (
            "Quotas and sizes of regions did not limit any write. Add them to --emulator-script to rehearse them."
        )
        yield blank(blank=Blank.QUOTAS, sentence=sentence)


def _find_stubs(rehearsal: Rehearsal) -> Iterator[NotRehearsed]:
    if count := len(rehearsal.stubs):
        sentence = f"{format_plural(count, 'resource')} without a record {_is(count)} empty in the rehearsal."
        names = tuple(stub.arm_id for stub in rehearsal.stubs)
        yield NotRehearsed(blank=Blank.STUBS, count=count, names=names, sentence=sentence)


def _is(count: int) -> str:
    return "is" if count == 1 else "are"
