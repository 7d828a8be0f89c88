"""The estate that a rehearsal starts with: recorded resources, and those that records and manifests only refer to.

A recorded resource gets the values that Azure had for its fields in git when a run last read it (the baseline of the
record). Its other values are not recorded, and no run compares them. A referenced resource without a record is created
empty, as a stub.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple, get_args

from gitsync.desired.catalog.arm_types import open_arm_types
from gitsync.desired.request.secret_digest import mask_digests
from gitsync.desired.validation.references import is_arm_id
from gitsync.emulator.http.server import Emulator
from gitsync.model.arm_id import NO_ID, ArmId, IdKey
from gitsync.model.gvk import Key
from gitsync.model.outside import RecordedOutside
from gitsync.model.record import Record, State
from gitsync.model.rehearsal import Stub
from gitsync.model.resource import Prepared
from gitsync.model.template import Gap, ReferenceKeys
from gitsync.workflows.rehearsal.directory_seeds import convert_seeds, is_in_directory
from gitsync.workflows.rehearsal.rebuild import Rebuild

_GAPS: Final = get_args(Gap)
_ALWAYS_THERE: Final = frozenset(
    {
        "microsoft.authorization/roledefinitions",
        "microsoft.authorization/policydefinitions",
        "microsoft.resources/subscriptions",
    }
)
"""Types that Azure has by itself, or that no manifest creates below a group."""

NOT_FOUND: Final = "AzureResourceNotFound"


class Seeds(NamedTuple):
    """The bodies of what exists, by ARM id, and which of them are stubs."""

    bodies: Mapping[str, Mapping[str, Any]]
    stubs: tuple[Stub, ...]


def exists(record: Record) -> bool:
    """Return whether a record shows that its resource is in Azure. A create that was only intended does not count."""
    is_seen = record.condition is not None and record.condition.is_ready
    return bool(record.arm_id) and (record.claim.is_ours or is_seen)


def _is_absent(record: Record) -> bool:
    """Return whether the last run did not find a resource that gitsync only reads."""
    return not record.claim.is_ours and record.condition is not None and record.condition.reason == NOT_FOUND


def collect_seeds(state: State, prepared: Iterable[Prepared], rebuild: Rebuild | None = None) -> Seeds:
    """Collect what exists before the run; for a `rebuild`, what exists although the subscription is empty."""
    prepared = tuple(prepared)
    bodies: dict[IdKey, tuple[ArmId, Mapping[str, Any]]] = {}
    desired = {
        resource.arm_id.key: _drop_gaps(resource.template.body)
        for resource in prepared
        if resource.arm_id and resource.template
    }
    for _, record in sorted(state.records.items()):
        name = record.arm_id.key
        # Entra ID is in the tenant, and outlives the subscription.
        if rebuild is not None and not is_in_directory(record.arm_id):
            continue
        # Of several records of one resource, the one with a claim has its values.
        if exists(record) and (name not in bodies or record.claim.is_ours):
            bodies[name] = (record.arm_id, _make_body(record, desired.get(name, {})))
    created = {resource.arm_id.key for resource in prepared if resource.arm_id and resource.is_written}
    absent = {record.arm_id.key for record in state.records.values() if _is_absent(record)}
    wanted: defaultdict[IdKey, set[Key]] = defaultdict(set)
    spelled: dict[IdKey, ArmId] = {}
    for arm_id, key in _list_wanted(prepared, state.records.values() if rebuild is None else ()):
        name = arm_id.key
        # A resource below one that the run creates cannot exist yet.
        is_new = any(path in created and path not in bodies for path in arm_id.lineage)
        # A stub for what is known to be missing would hide that the sync fails.
        is_missing = is_new or name in absent or (rebuild is not None and not rebuild.outlives(arm_id))
        if name not in bodies and not is_missing:
            spelled.setdefault(name, arm_id)
            wanted[name].add(key)
    stubs = tuple(Stub(arm_id=spelled[name], wanted_by=tuple(sorted(keys))) for name, keys in sorted(wanted.items()))
    empty = {name: (spelled[name], desired.get(name, {})) for name in wanted}
    return Seeds(dict(sorted(convert_seeds({**empty, **bodies}.values(), state.records, prepared))), stubs)


def forget_outside(state: State) -> State:
    """Return the state with records of what the seeds have beside git's fields: nothing. Azure has the recorded values,
    and their absence would look like a change.
    """
    nothing = RecordedOutside(values={}, types=open_arm_types().revision, read="", is_written=True)
    records = {
        key: replace(record, spec=replace(record.spec, outside=nothing)) if record.spec.outside else record
        for key, record in state.records.items()
    }
    return replace(state, records=records)


def plant(azure: Emulator, seeds: Seeds) -> None:
    """Create the resources in the emulator, parents first: a parent created later would drop its children."""
    for arm_id, body in sorted(seeds.bodies.items(), key=lambda seed: (seed[0].count("/"), seed[0])):
        azure.put(arm_id, body)


def _make_body(record: Record, desired: Mapping[str, Any]) -> Mapping[str, Any]:
    """Make the body of a recorded resource. One without a baseline was never read after a write."""
    if record.spec.baseline is not None:
        return record.spec.baseline
    body: Mapping[str, Any] = mask_digests(record.spec.applied) if record.spec.applied is not None else desired
    return body


def _list_wanted(prepared: Iterable[Prepared], records: Iterable[Record]) -> Iterator[tuple[ArmId, Key]]:
    """List the ids that must exist, each with the resource that needs it: watched resources, owners, references, and
    everything above these.
    """
    for record in records:
        # The emulator refuses a child without its parent, as Azure does.
        for above in _list_above(record.arm_id):
            yield above, record.key
    for resource in prepared:
        named = [] if resource.arm_id is None or resource.policy.allows_modify else [resource.arm_id]
        named += (
            [resource.relations.owner.arm_id] if resource.relations.owner and resource.relations.owner.arm_id else []
        )
        named += (
            [ArmId(text) for text in _list_texts(resource.template.body) if _is_reference(text, resource)]
            if resource.template
            else []
        )
        for arm_id in (arm_id for arm_id in named if arm_id.arm_type.casefold() not in _ALWAYS_THERE):
            for path in (arm_id, *_list_above(arm_id)):
                yield path, resource.key
        for above in _list_above(resource.arm_id or NO_ID):
            yield above, resource.key


def _is_reference(text: str, prepared: Prepared) -> bool:
    """Return whether a text of a body names another resource, not a part of this one."""
    return is_arm_id(text) and not (prepared.arm_id and ArmId(text).is_within(prepared.arm_id))


def _list_above(arm_id: ArmId) -> Iterator[ArmId]:
    """List what must exist above an id: parent resources, the nearest first, and the resource group."""
    scope, separator, path = arm_id.rpartition("/providers/")
    if not separator:
        return
    namespace, *steps = path.split("/")
    for end in range(len(steps) - 2, 0, -2):
        yield ArmId(f"{scope}/providers/{namespace}/{'/'.join(steps[:end])}")
    if "/providers/" in scope:  # an extension of another resource
        yield ArmId(scope)
        yield from _list_above(ArmId(scope))
    elif ArmId(scope).resource_group:
        yield ArmId(scope)


def _list_texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, ReferenceKeys):
        yield from (reference for reference in value.references if isinstance(reference, str))
    elif isinstance(value, Mapping):
        yield from (text for child in value.values() for text in _list_texts(child))
    elif isinstance(value, list):
        yield from (text for child in value for text in _list_texts(child))


def _drop_gaps(value: Any) -> Any:
    """Return a body without the values that are filled in during a run only."""
    if isinstance(value, Mapping):
        return {key: _drop_gaps(child) for key, child in value.items() if not isinstance(child, _GAPS)}
    return [_drop_gaps(child) for child in value if not isinstance(child, _GAPS)] if isinstance(value, list) else value
