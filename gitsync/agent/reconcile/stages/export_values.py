"""The stage after the checks: the exports of the resource to Secrets and config maps
(docs/reference/reconciliation.md#export-order).

All values are collected before the first one is written, so that a failure leaves nothing half exported. A plan
collects config maps alone: it calls no action that shows a secret, and writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gitsync.agent.reconcile.attempt import ApplyAttempt
from gitsync.agent.reconcile.run_views import Exporting
from gitsync.desired.request.exports import (
    OPERATOR_SPEC,
    Destination,
    ExportedValue,
    collect_destinations,
    collect_fields,
    find_secret_action,
    group_keys,
    has_expressions,
    iterate_destinations,
    merge_entries,
)
from gitsync.errors import ExportError, GitsyncError, ProviderError, SecretStoreError
from gitsync.model.condition import Condition
from gitsync.model.export import Address, Export, ObjectKind, Owner
from gitsync.model.secret import Secret
from gitsync.model.verdict import Action
from gitsync.planning.status.aso_status import collect_config_map_values
from gitsync.planning.status.conditions import (
    CONFIG_MAPS_STAGE,
    EXPRESSIONS_STAGES,
    FAILED,
    MERGING_STAGES,
    SECRETS_STAGE,
    UNWRITABLE,
    make_error,
    make_failed,
    make_unreadable,
    make_warning,
)
from gitsync.providers.arm.extension_client import ExtensionClient

if TYPE_CHECKING:
    from gitsync.agent.reconcile.stages.expression_exports import ExpressionExports

_SOURCES_UNANSWERED = "Timed out waiting for secret sources."
_UNANSWERED = "Timed out waiting for the sinks of exports."
_REACH = "Check that they are reachable, and run again."


async def export(attempt: ApplyAttempt, run: Exporting) -> ApplyAttempt:
    """Collect every export, then write all of them, then make them available to later resources.

    The exports of watched resources are not written.
    """
    # Most resources export nothing, and all that follows takes time.
    if not attempt.prepared.resource.spec.get(OPERATOR_SPEC):
        return attempt
    # What does not exist has no values, and what is replaced gets others.
    if not attempt.observed.exists or attempt.decision.action is Action.REPLACE:
        return attempt if run.rules.writes else await _foresee(attempt, run)
    try:
        entries = await _collect_entries(attempt, run)
        exports = _merge(Owner(attempt.key, run.rules.agent, run.rules.repository), entries)
    except GitsyncError as failure:
        return attempt.stopped(_make_condition(failure))
    attempt = await _check_owners(attempt, exports, run)
    return attempt if attempt.stop or not exports else await _write(attempt, exports, run)


async def _foresee(attempt: ApplyAttempt, run: Exporting) -> ApplyAttempt:
    """Note in a plan what a resource exports once it is created."""
    destinations = iterate_destinations(attempt.prepared.resource)
    if attempt.decision.action in {Action.CREATE, Action.REPLACE}:
        run.values.await_exports((address, key) for _, address, key in destinations)
    return await _check_owners(attempt, (), run)


async def _write(attempt: ApplyAttempt, exports: Sequence[Export], run: Exporting) -> ApplyAttempt:
    written = replace(attempt, exported=tuple(export.address for export in exports))
    try:
        # The worker that owns a watched resource writes its exports.
        if run.rules.writes and not attempt.prepared.is_watched:
            async with attempt.session.in_time(run.clock):
                await run.export_sinks.write(exports)
    except ExportError as failure:
        return attempt.stopped(_make_condition(failure))
    except SecretStoreError as failure:  # a sink may have written it
        return written.stopped(_make_condition(failure))
    except TimeoutError:
        return written.stopped(make_warning(FAILED, _UNANSWERED, _REACH))
    run.values.add_exports(exports)
    return written


async def _check_owners(attempt: ApplyAttempt, exports: Sequence[Export], run: Exporting) -> ApplyAttempt:
    """Stop a resource that exports to an object of another owner, or of an unknown one."""
    # A plan collects no values of objects, and a sync only those with a reader.
    uncollected = {
        address: keys
        for address, keys in group_keys(attempt.prepared.resource).items()
        if not (run.rules.writes and _is_wanted(attempt, run, address))
    }
    keys = {**uncollected, **{exported.address: frozenset(exported.data) for exported in exports}}
    try:
        async with attempt.session.in_time(run.clock):
            await run.export_sinks.check_owners(Owner(attempt.key, run.rules.agent), keys)
    except (ExportError, SecretStoreError) as failure:
        return attempt.stopped(_make_condition(failure))
    except TimeoutError:
        return attempt.stopped(make_warning(FAILED, _SOURCES_UNANSWERED, _REACH))
    return attempt


class _StageError(GitsyncError):
    """A stage of the exports failed; `words` are ASO's for the stage."""

    def __init__(self, words: str, failure: GitsyncError) -> None:
        super().__init__(failure.message, hint=failure.hint)
        self.words = words
        self.failure = failure


@contextmanager
def _name_stage(words: str) -> Iterator[None]:
    try:
        yield
    except GitsyncError as failure:
        raise _StageError(words, failure) from failure


def _make_condition(failure: GitsyncError) -> Condition:
    match failure:
        case _StageError():
            condition = _make_condition(failure.failure)
            return replace(condition, message=f"{failure.words}: {condition.message}")
        case ProviderError():
            return make_unreadable(failure)
        case ExportError(is_fatal=True):
            return make_error(UNWRITABLE, failure.message, failure.hint)
        case _:
            return make_failed(failure)


async def _collect_entries(attempt: ApplyAttempt, run: Exporting) -> list[ExportedValue]:
    """Every value with its destination: fields first, then expressions, of config maps and then of Secrets."""
    expressions = _find_expressions(attempt, run)
    with _name_stage(SECRETS_STAGE):
        # Reading secrets is an action (listKeys), which a plan has no right to.
        read = _call_action if attempt.kind.is_any_type else _read_secrets
        secrets = await read(attempt, run, expressions) if run.rules.writes else {}
        entries = list(collect_fields(_collect_secret_destinations(attempt, run), secrets))
    with _name_stage(CONFIG_MAPS_STAGE):
        entries += await _read_config_maps(attempt, run)
    for object_kind in (ObjectKind.CONFIG_MAP, ObjectKind.SECRET) if run.rules.writes else (ObjectKind.CONFIG_MAP,):
        if expressions is None:
            break
        with _name_stage(EXPRESSIONS_STAGES[object_kind]):
            evaluated = list(expressions.evaluate(object_kind, secrets, run.redactions))
            merge_entries(Owner(attempt.key, run.rules.agent), evaluated)  # so that their own collisions bear its words
            entries += evaluated
    return entries


def _find_expressions(attempt: ApplyAttempt, run: Exporting) -> ExpressionExports | None:
    if not has_expressions(attempt.prepared.resource):
        return None
    from gitsync.agent.reconcile.stages.expression_exports import ExpressionExports  # noqa: PLC0415 - an engine that most repositories do not need

    return ExpressionExports(attempt, lambda address: _is_wanted(attempt, run, address))


def _merge(owner: Owner, entries: Sequence[ExportedValue]) -> tuple[Export, ...]:
    """All objects, sorted by their addresses. Raises GitsyncError for collisions between the stages."""
    exports: list[Export] = []
    for object_kind, words in MERGING_STAGES.items():
        with _name_stage(words):
            exports += merge_entries(owner, [entry for entry in entries if entry.to.address.object_kind is object_kind])
    return tuple(sorted(exports, key=lambda export: export.address))


async def _read_secrets(
    attempt: ApplyAttempt, run: Exporting, expressions: ExpressionExports | None
) -> Mapping[str, Any]:
    """The fields that have a destination, and those that expressions name."""
    fields = {*_collect_secret_destinations(attempt, run), *(expressions.list_needed_fields() if expressions else ())}
    if not fields:
        return {}
    actor = ExtensionClient(run.writer(attempt))
    values = await run.registry.export_secrets(attempt.as_subject(), actor, frozenset(fields))
    for value in values.values():
        run.redactions.add(value)
    return values


async def _call_action(
    attempt: ApplyAttempt, run: Exporting, expressions: ExpressionExports | None
) -> Mapping[str, Any]:
    """The answer of the action that an AzureResource names, if an expression uses it; each text in it is a Secret."""
    action = find_secret_action(attempt.prepared.resource)
    if not action or expressions is None or not expressions.uses_secret():
        return {}
    actor = ExtensionClient(run.writer(attempt))
    answer = await actor.call(f"{attempt.arm_id}/{action}", attempt.kind.api_version)
    for value in _iterate_secrets(answer):
        run.redactions.add(value)
    return answer


def _iterate_secrets(value: Any) -> Iterator[Secret]:
    if isinstance(value, Secret):
        yield value
    members = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    for member in members:
        yield from _iterate_secrets(member)


def _collect_secret_destinations(attempt: ApplyAttempt, run: Exporting) -> dict[str, Destination]:
    """The fields whose value a sink or an expression uses."""
    destinations = collect_destinations(attempt.prepared.resource, ObjectKind.SECRET)
    return {field: to for field, to in destinations.items() if _is_wanted(attempt, run, to.address)}


def _is_wanted(attempt: ApplyAttempt, run: Exporting, address: Address) -> bool:
    return run.export_sinks.has_reader(address, is_watched=attempt.prepared.is_watched)


async def _read_config_maps(attempt: ApplyAttempt, run: Exporting) -> tuple[ExportedValue, ...]:
    """Read the values from the status, and those that it lacks from the extensions."""
    destinations = collect_destinations(attempt.prepared.resource, ObjectKind.CONFIG_MAP)
    if not destinations:  # converting the body to a status takes time
        return ()
    status_values = collect_config_map_values(
        attempt.kind, destinations, attempt.observed.live.body if attempt.observed.live else {}
    )
    missing = frozenset(destinations) - frozenset(status_values)
    subject = attempt.as_subject()
    extension_values = await run.registry.export_config_maps(subject, run.reader(attempt), missing) if missing else {}
    return collect_fields(
        # The status comes last: an extension only fills in what it lacks.
        destinations,
        {name: Secret(value) for name, value in {**extension_values, **status_values}.items()},
    )
