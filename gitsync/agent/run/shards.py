"""Cuts an estate into shards, one for each worker of a run.

Every worker makes the cut by itself, so it is a function of what all of them share: manifests, records and the number
of workers. What must be in one process is never cut: a resource group with all that it has, whatever else owners
connect, a lock that changes with all that it holds for, and a resource with those whose values its expressions read,
since this run may change them. Such parts are kept together by account, since the limits of ARM count for a principal
in a subscription. The shards of a run need not be those of the run before: workers keep no state.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush, heapreplace
from itertools import islice
from typing import NamedTuple

from gitsync.model.arm_id import NO_ID, ArmId, IdKey
from gitsync.model.gvk import Key
from gitsync.model.lock_ids import find_scope, is_lock
from gitsync.model.record import Record
from gitsync.model.resource import Prepared
from gitsync.model.shard import Account, Shard, ShardMember
from gitsync.model.template import list_computed_values
from gitsync.planning.managed_locks import ManagedLock, find_moving_scope

_GROUP_STEPS = 5  # of "/subscriptions/ID/resourceGroups/NAME", with the empty one before the first slash


class _Atom(NamedTuple):
    """Resources that stay in one process, sorted. They are in the order of their first key."""

    keys: tuple[Key, ...]
    account: Account


def list_members(prepared: Iterable[Prepared], records: Mapping[Key, Record]) -> tuple[ShardMember, ...]:
    """List the members of an estate: what manifests declare, and what only records have."""
    members = {}
    for resource in prepared:
        record = records.get(resource.key)
        owner = resource.relations.owner.key if resource.relations.owner else None
        known = record.manifest.depends_on if record else ()
        members[resource.key] = ShardMember(
            key=resource.key,
            # The id of the record counts where the manifest has none; the references of both count.
            arm_id=resource.arm_id or (record.arm_id if record else NO_ID),
            owner=owner,
            credential=_name_credential(resource.key, resource.credential),
            references=tuple(sorted({*resource.relations.depends_on, *known} - {owner})),
            holds_for=find_moving_scope(resource, record),
            values_of=_list_values_of(resource),
        )
    for key, record in records.items():
        if key not in members:
            members[key] = ShardMember(
                key=key,
                arm_id=record.arm_id,
                owner=record.manifest.owner,
                credential=_name_credential(key, record.access.credential),
                references=tuple(sorted({*record.manifest.depends_on} - {record.manifest.owner})),
                holds_for=find_scope(record.arm_id) if is_lock(record.arm_id) else NO_ID,
            )
    return tuple(members[key] for key in sorted(members))


def _list_values_of(resource: Prepared) -> tuple[Key, ...]:
    values = list_computed_values(resource.template) if resource.template else ()
    return tuple(sorted({key for value in values for key in value.reads}))


def _name_credential(key: Key, name: str) -> str:
    return f"{key.namespace}/{name}" if name else ""


def cut_shards(members: Iterable[ShardMember], workers: int) -> tuple[Shard, ...]:
    """Cut an estate into one shard for each worker; some are empty if there is too little to cut.

    Accounts go to workers as a whole, the largest first. Only an account that is larger than the fair share of a worker
    is cut, between its parts, so that parts that refer to each other stay together as far as they fit.
    """
    by_key = {member.key: member for member in members}
    atoms = _list_atoms(by_key)
    share = -(-len(by_key) // workers)
    by_account = defaultdict(list)
    for atom in atoms:
        by_account[atom.account].append(atom)
    pieces: list[list[_Atom]] = []
    for _, group in sorted(by_account.items()):
        is_large = sum(len(atom.keys) for atom in group) > share
        # Only an account that is too large for one worker is cut: its limits count for all of its requests together.
        pieces += _cut_account(group, by_key, share) if is_large else [group]
    return _deal(pieces, by_key, workers)


class _Partition:
    """Sets of keys that are joined pair by pair (union-find); the first key of a set stands for it."""

    def __init__(self, keys: Iterable[Key]) -> None:
        self._above = {key: key for key in keys}

    def find(self, key: Key) -> Key:
        while self._above[key] != key:
            self._above[key] = key = self._above[self._above[key]]  # shortens the way for the next look-up
        return key

    def join(self, key: Key, other: Key) -> None:
        # The smallest key stands for its set, so the order of the joins does not matter and all workers agree.
        first, second = sorted((self.find(key), self.find(other)))
        self._above[second] = first


def _list_atoms(by_key: Mapping[Key, ShardMember]) -> list[_Atom]:
    """Join what owners connect, what is in one resource group, and what is below the id of another resource."""
    partition = _Partition(by_key)
    first_of: dict[IdKey, Key] = {}  # by id; the id of a group stands for all in it
    for key, member in sorted(by_key.items()):
        if member.arm_id:
            partition.join(key, first_of.setdefault(_decide_container(member.arm_id), key))
        # A child waits for its owner, which only one process can have.
        for other in by_key.keys() & {member.owner, *member.values_of}:
            partition.join(key, other)
    for key, member in by_key.items():
        parents = islice(member.arm_id.lineage, 1, None)
        above = next((path for path in parents if path in first_of), None)
        if above is not None:
            partition.join(key, first_of[above])
    for key, other in _list_held(by_key):
        partition.join(key, other)
    joined: dict[Key, list[Key]] = defaultdict(list)
    for key in sorted(by_key):
        joined[partition.find(key)].append(key)
    return [_Atom(tuple(keys), _make_account(keys, by_key)) for keys in joined.values()]


def _list_held(by_key: Mapping[Key, ShardMember]) -> Iterator[tuple[Key, Key]]:
    """List what each lock that changes holds for: one process has to do these in order."""
    for key, scope in [(key, member.holds_for) for key, member in by_key.items() if member.holds_for]:
        lock = ManagedLock(key, scope, "")
        # What has no id yet may be below the scope too.
        yield from (
            (key, other) for other, member in by_key.items() if not member.arm_id or lock.forbids_delete(member.arm_id)
        )


def _decide_container(arm_id: ArmId) -> IdKey:
    """Return the id of the resource group of a resource; its own id if it is in none."""
    path = arm_id.key
    return IdKey("/".join(path.split("/")[:_GROUP_STEPS])) if arm_id.resource_group else path


def _make_account(keys: Sequence[Key], by_key: Mapping[Key, ShardMember]) -> Account:
    """Return the account that most of these resources have: most parts have one."""
    accounts = Counter(
        Account((by_key[key].arm_id.subscription or "").casefold(), by_key[key].credential) for key in keys
    )
    known = {account: times for account, times in accounts.items() if account.subscription} or accounts
    # Of equal counts the name decides: each worker makes this choice by itself, and all must make the same one.
    return min(known, key=lambda account: (-known[account], account))


def _cut_account(atoms: Sequence[_Atom], by_key: Mapping[Key, ShardMember], share: int) -> list[list[_Atom]]:
    """Cut the parts of one account into pieces of about a fair share.

    A piece begins with the largest part that is left, and takes the one that has most references with it as long as one
    fits, then the largest that fits.
    """
    links = _count_links(atoms, by_key)
    order = sorted(range(len(atoms)), key=lambda number: (-len(atoms[number].keys), number))
    left = dict.fromkeys(order)  # as a set in that order
    pieces = []
    # The best cut is a hard problem; this one keeps together what plainly belongs together, in a time that grows with
    # the references.
    while left:
        piece: list[_Atom] = []
        room = max(share, len(atoms[next(iter(left))].keys))  # a part that is larger than the share is not cut
        while (start := next((number for number in left if len(atoms[number].keys) <= room), None)) is not None:
            # What is reached from here, by how many references lead to it. A count that has grown since is in the queue
            # again, before its older entries.
            pulls, queue = Counter({start: 0}), [(0, start)]
            while queue:
                _, number = heappop(queue)
                if number not in left or len(atoms[number].keys) > room:
                    continue
                del left[number]
                piece.append(atoms[number])
                room -= len(atoms[number].keys)
                pulls.update(links[number])
                for linked in links[number]:
                    heappush(queue, (-pulls[linked], linked))
        pieces.append(piece)
    return pieces


def _count_links(atoms: Sequence[_Atom], by_key: Mapping[Key, ShardMember]) -> list[Counter[int]]:
    """Count for each part the references between it and others, in both directions, by their numbers."""
    number_of = {key: number for number, atom in enumerate(atoms) for key in atom.keys}
    links: list[Counter[int]] = [Counter() for _ in atoms]
    for key, number in number_of.items():
        for other in by_key[key].references:
            linked = number_of.get(other, number)
            if linked != number:
                links[number][linked] += 1
                links[linked][number] += 1
    return links


def _deal(pieces: Iterable[Sequence[_Atom]], by_key: Mapping[Key, ShardMember], workers: int) -> tuple[Shard, ...]:
    """Give each piece, the largest first, to the worker that has least so far."""
    dealt: list[list[_Atom]] = [[] for _ in range(workers)]
    loads = [(0, worker) for worker in range(workers)]
    heapify(loads)
    for piece in sorted(pieces, key=lambda piece: (-sum(len(atom.keys) for atom in piece), piece[0].keys[0])):
        load, worker = loads[0]
        dealt[worker] += piece
        heapreplace(loads, (load + sum(len(atom.keys) for atom in piece), worker))
    return tuple(_make_shard(worker + 1, atoms, by_key) for worker, atoms in enumerate(dealt))


def _make_shard(number: int, atoms: Sequence[_Atom], by_key: Mapping[Key, ShardMember]) -> Shard:
    keys = frozenset(key for atom in atoms for key in atom.keys)
    sizes: Counter[Account] = Counter()
    for atom in atoms:
        sizes[atom.account] += len(atom.keys)
    across = ((key, other) for key in keys for other in by_key[key].references if other in by_key and other not in keys)
    return Shard(number=number, keys=keys, sizes=dict(sorted(sizes.items())), waits_for=tuple(sorted(across)))
