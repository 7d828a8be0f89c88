"""What a rehearsal does not cover, each in a plain sentence, so that a reader sees the limits of the result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Final

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.emulator.types.behaviour import is_recorded
from gitsync.model.provider import Provider
from gitsync.model.record import Record, Trust
from gitsync.model.rehearsal import Blank, NotRehearsed, Rehearsal, RehearsedWrite
from gitsync.report.wording import format_plural
from gitsync.workflows.rehearsal.sandbox import Sandbox

_DATABASES: Final = frozenset({Provider.MYSQL, Provider.POSTGRESQL, Provider.SQL})


def list_blanks(sandbox: Sandbox, records: Iterable[Record], rehearsal: Rehearsal) -> tuple[NotRehearsed, ...]:
    """List what was not rehearsed, in the order of `Blank`. `records` are as they were read, with the state of their
    seals.
    """
    return (
        *_list_seals(records),
        *_list_secrets(sandbox, rehearsal),
        *_list_values(sandbox),
        *_list_statements(rehearsal),
        *_list_types(rehearsal),
        *_list_governance(sandbox, rehearsal),
        *_list_stubs(rehearsal),
    )


def _list_seals(records: Iterable[Record]) -> Iterator[NotRehearsed]:
    if count := sum(record.trust is Trust.NO_KEY for record in records):
        sentence = f"The seals of {format_plural(count, 'record')} were not checked: a rehearsal has no key."
        yield NotRehearsed(blank=Blank.SEALS, count=count, sentence=sentence)


def _list_secrets(sandbox: Sandbox, rehearsal: Rehearsal) -> Iterator[NotRehearsed]:
    """Describe the made-up values, and the secrets that only a run with the key can compare."""
    results = rehearsal.first.results if rehearsal.first else ()
    uncompared = sum(len(result.comparison.because) for result in results)
    if not sandbox.requested and not uncompared:
        return
    names = tuple(sorted({str(address) for address, _ in sandbox.requested}))
    count = len(sandbox.requested)
    made_up = f"{format_plural(count, 'value')} of Secrets and ConfigMaps {_is(count)} made up"
    secrets = f"{format_plural(uncompared, 'secret')} {_is(uncompared)} not compared"
    parts = [*([made_up] if sandbox.requested else []), *([secrets] if uncompared else [])]
    sentence = ", and ".join(parts)
    yield NotRehearsed(
        blank=Blank.SECRETS,
        count=len(sandbox.requested) + uncompared,
        names=names,
        sentence=f"{sentence[0].upper()}{sentence[1:]}. A sync writes a resource again if such a value changed.",
    )


def _list_values(sandbox: Sandbox) -> Iterator[NotRehearsed]:
    if names := tuple(sorted(sandbox.computed)):
        values = f"{format_plural(len(names), 'value')} of expressions {_is(len(names))}"
        yield NotRehearsed(
            blank=Blank.VALUES,
            count=len(names),
            names=names,
            sentence=f"{values} made up: only Azure has what a resource shows after its create.",
        )


def _list_statements(rehearsal: Rehearsal) -> Iterator[NotRehearsed]:
    played = {write.key for write in rehearsal.writes if write.key and _find_provider(write) in _DATABASES}
    if played:
        sentence = (
            f"No SQL statements were run for {format_plural(len(played), 'database user')}: a rehearsal has no "
            "database server, so each of these writes succeeds."
        )
        names = tuple(sorted(f"{key.kind}/{key.name}" for key in played))
        yield NotRehearsed(blank=Blank.STATEMENTS, count=len(played), names=names, sentence=sentence)


def _is_of_arm(write: RehearsedWrite) -> bool:
    return _find_provider(write) is Provider.ARM


def _find_provider(write: RehearsedWrite) -> Provider:
    return open_catalog().provider(write.key.group, write.key.kind) if write.key else Provider.ARM


def _list_types(rehearsal: Rehearsal) -> Iterator[NotRehearsed]:
    types = {write.arm_id.arm_type for write in rehearsal.writes if _is_of_arm(write)}
    names = tuple(sorted(arm_type for arm_type in types if not is_recorded(arm_type)))
    if names:
        sentence = (
            f"The emulator has no recorded responses for {format_plural(len(names), 'resource type')}: their writes "
            "succeed at once and return what was sent."
        )
        yield NotRehearsed(blank=Blank.KINDS, count=len(names), names=names, sentence=sentence)


def _list_governance(sandbox: Sandbox, rehearsal: Rehearsal) -> Iterator[NotRehearsed]:
    """Report missing policies and quotas: the emulator has only those of its script."""
    is_sent = any(write.method != "DELETE" for write in rehearsal.writes)
    blank = partial(NotRehearsed, count=0)
    if is_sent and not sandbox.emulator.policies:
        sentence = "Azure Policy was not evaluated. Add policies to --emulator-script to rehearse them."
        yield blank(blank=Blank.POLICIES, sentence=sentence)
    if is_sent and not (sandbox.emulator.quotas or sandbox.emulator.skus):
        sentence = "Quotas and regional VM sizes were not checked. Add them to --emulator-script to rehearse them."
        yield blank(blank=Blank.QUOTAS, sentence=sentence)


def _list_stubs(rehearsal: Rehearsal) -> Iterator[NotRehearsed]:
    if count := len(rehearsal.stubs):
        sentence = f"{format_plural(count, 'resource')} without a record {_is(count)} empty in the rehearsal."
        names = tuple(stub.arm_id for stub in rehearsal.stubs)
        yield NotRehearsed(blank=Blank.STUBS, count=count, names=names, sentence=sentence)


def _is(count: int) -> str:
    return "is" if count == 1 else "are"
