"""A manifest that was renamed: its delete and its create, as one thing. Azure cannot rename a resource."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace

from gitsync.formats.arm_path import is_same_id
from gitsync.model.gvk import Key
from gitsync.model.plan import Apply, Plan, Prune
from gitsync.planning.generation import digest_spec

_Look = tuple[str, str, str, str]
"""What a rename leaves as it is: the namespace, group and kind, and the digest of the spec."""


def note_renames(plan: Plan) -> Plan:
    """Join each removed resource with the new one of the same spec, if there is one of each.

    Of several that look the same, none is joined: which is which is not known.
    """
    removed = _index((_look(prune.key, prune.record.spec_digest), prune.key) for prune in plan.prunes.values())
    if not removed:
        return plan
    created = _index(
        (_look(apply.key, digest_spec(apply.prepared.resource.spec)), apply.key)
        for apply in plan.applies.values()
        if apply.record is None and apply.prepared.is_valid and apply.prepared.is_written
    )
    pairs = {old: new for look, old in removed.items() if (new := created.get(look))}
    pairs = {old: new for old, new in pairs.items() if _is_rename(plan.prunes[old], plan.applies[new])}
    return replace(
        plan,
        applies={**plan.applies, **{new: replace(plan.applies[new], renamed=old) for old, new in pairs.items()}},
        prunes={**plan.prunes, **{old: _leave(plan.prunes[old], new) for old, new in pairs.items()}},
    )


def _leave(prune: Prune, new: Key) -> Prune:
    return replace(prune, renamed=new, reason=" ".join(filter(None, (prune.reason, _describe("to", new)))))


def _look(key: Key, digest: str) -> _Look:
    return (key.namespace, key.group, key.kind, digest)


def _index(rows: Iterable[tuple[_Look, Key]]) -> Mapping[_Look, Key]:
    """The keys by their look, without those that look the same as another."""
    keys: defaultdict[_Look, list[Key]] = defaultdict(list)
    for look, key in rows:
        keys[look].append(key)
    return {look: same[0] for look, same in keys.items() if len(same) == 1 and look[-1]}


def _is_rename(prune: Prune, apply: Apply) -> bool:
    """A resource that keeps its ARM id only changes its manifest."""
    is_same = is_same_id(prune.record.arm_id, apply.prepared.arm_id or "")
    return not prune.detaches and prune.record.claim.is_ours and not is_same


def describe_rename(old: Key | None) -> str:
    """A sentence for the create of a rename; "" for any other resource."""
    return _describe("from", old) if old else ""


def _describe(word: str, other: Key) -> str:
    return f"Renamed {word} {other.kind}/{other.name}: a delete and a create, since Azure cannot rename it."
