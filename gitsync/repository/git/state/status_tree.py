"""The status tree as files: records, their index, and the texts for people. The same on a branch and in a folder.

`inventory.json` is an index for people and scripts, made from the records. It marks the tree as ours; without it
nothing is read and nothing written. Only its revisions are used, but it must agree with the records: a removed record,
or one with another id, would make gitsync forget a resource, or delete another one.

`identity` distinguishes the tree from all others: random, made with the first seal, and named by each. It is a file of
its own, so that an older gitsync, which rewrites the inventory, keeps it.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from gitsync.desired.problems.checked_mapping import CheckedMapping
from gitsync.errors import SourceError, StateError
from gitsync.model.arm_id import ArmId
from gitsync.model.condition import WaitReason
from gitsync.model.export import OWNER, Address, Export, Leftover, ObjectKind, Owner
from gitsync.model.gvk import GVK, Key
from gitsync.model.record import LastRun, Record, State, Trust
from gitsync.model.secret import Secret
from gitsync.repository.git.source.file_selection import IgnoreRules, ReadLimits, check_budget, select_visible
from gitsync.repository.git.source.listing import EntryKind, SourceEntry, SourceListing
from gitsync.repository.git.state.documents import check_schema, read_document, write_document
from gitsync.repository.git.state.former_tree import (
    FORMER_INVENTORY,
    FORMER_SCHEMA,
    INVENTORY_SCHEMA,
    STUB,
    Files,
    is_former_tree,
    select_documents,
)
from gitsync.repository.git.state.record_files import (
    IDENTITY,
    INVENTORY,
    REPORT,
    SUMMARY,
    UNSEALED,
    decode_record,
    encode_record,
    is_record_path,
    make_config_map_path,
    make_former_path,
    make_present_path,
    make_record_path,
)
from gitsync.repository.git.state.seal import RecordSeals
from gitsync.repository.git.state.store import Changes, Records, Update

_LIMITS = replace(ReadLimits(), file=10 * ReadLimits().file)
"""A record has the body of a manifest twice, in more lines: a manifest that is read must leave one that is read."""

_INVENTORY_LIMITS = replace(_LIMITS, file=400 * _LIMITS.files)
"""An index of as many records as are read: an entry takes some 300 bytes."""

_AT_ONCE = 2000  # files that are read: each part starts a program
_IDENTITY = re.compile(rb"([0-9a-f]{32})\n")
_HINT = (
    "Restore the tree (see git log of the status branch). To let gitsync treat a resource as "
    "never recorded, remove its file and its entry in the inventory."
)


def read_state(listing: SourceListing, seals: RecordSeals = UNSEALED, *, cut_short: bool = False) -> State:
    """Read a whole tree; empty if all files are hidden. StateError if it is not ours, or incomplete.

    `cut_short`: the last write was interrupted, so the index may be older than some records.
    """
    try:
        entries = select_visible(listing.entries(""), IgnoreRules({}))
        if not entries:
            return State({})
        is_former = is_former_tree(listing, entries)
        inventory = FORMER_INVENTORY if is_former else INVENTORY
        wanted_entries = _select_wanted(listing, entries, is_former=is_former)
        check_budget([entry for entry in wanted_entries if entry.path != inventory], _LIMITS)
        check_budget([entry for entry in wanted_entries if entry.path == inventory], _INVENTORY_LIMITS)
        index, identity, records, exports = _read_files(listing, wanted_entries, seals)
    except SourceError as error:
        raise StateError(f"The status in {listing.name} cannot be read: {error.message}", hint=error.hint) from error
    head = read_inventory(inventory, index)
    records = dict(sorted(records.items()))
    # A folder is written file by file, the index last. A branch changes as a whole.
    if not cut_short:
        _check_index(head, records, inventory)
    return State(
        records=records,
        revision=head.text("revision", "") or None,
        config_maps=dict(sorted(exports.items())),
        revisions=_read_by_agent(head, "revisions"),
        leftovers=read_leftovers(head),
        notified=_read_by_agent(head, "notified"),
        identity=identity,
        is_former=is_former,
    )


def _read_files(
    listing: SourceListing, entries: list[SourceEntry], seals: RecordSeals
) -> tuple[bytes, str, dict[Key, Record], dict[Address, Export]]:
    """Read the files of a tree: the inventory, the identity, the records and the config maps."""
    index, identity, records, exports = b"", "", dict[Key, Record](), dict[Address, Export]()
    seals = seals.of_status("")
    for path, content in _read_in_parts(listing, entries):
        if path == IDENTITY:
            identity = _read_identity(content)
            seals = seals.of_status(identity)
        elif path in {INVENTORY, FORMER_INVENTORY}:
            index = content
        elif is_record_path(make_present_path(path)):
            record = decode_record(path, content, seals)
            records[record.key] = record
        else:
            export = decode_config_map(path, content)
            exports[export.address] = export
    return index, identity, records, exports


def _read_in_parts(listing: SourceListing, entries: list[SourceEntry]) -> Iterator[tuple[str, bytes]]:
    """Read files, some at once: the texts of all records of an estate take two thirds of the memory of its records."""
    for start in range(0, len(entries), _AT_ONCE):
        yield from listing.read(entries[start : start + _AT_ONCE]).items()


def read_report(listing: SourceListing) -> bytes | None:
    """Read the report of a tree; None if it has none. SourceError if it is too large."""
    entries = listing.find([REPORT])
    check_budget(entries, _INVENTORY_LIMITS)
    return listing.read(entry for entry in entries if entry.kind is EntryKind.FILE).get(REPORT)


def read_last_run(listing: SourceListing) -> LastRun | None:
    """Read from the report of a tree which run wrote it; None if that cannot be read: it is for people alone."""
    try:
        report = json.loads(read_report(listing) or b"{}")
        return LastRun(
            command=str(report["command"]),
            agent=str(report["target"].get("agent", "")),
            time=str(report["finished"]),
            revision=None if report["revision"] is None else str(report["revision"]),
            exit_code=int(report["exitCode"]),
            outcomes={str(name): int(count) for name, count in report["outcomes"].items()},
            not_reached=tuple(
                Key(
                    GVK.parse(resource["apiVersion"], resource["kind"]).group,
                    resource["kind"],
                    resource["namespace"],
                    resource["name"],
                )
                for resource in report["resources"]
                if resource["reason"] == WaitReason.NOT_REACHED
            ),
            sent=frozenset(
                str(sent).casefold() for resource in report["resources"] for sent in resource.get("sent", ())
            ),
            has_changed=any(
                resource.get("action", "none") != "none" or "written" in resource for resource in report["resources"]
            ),
            arm_ids=frozenset(ArmId(resource["armId"]) for resource in report["resources"] if resource.get("armId")),
        )
    except (SourceError, LookupError, TypeError, ValueError, AttributeError, RecursionError):
        return None


def _check_index(index: CheckedMapping, records: Records, name: str) -> None:
    """Raise StateError if the index, a file of this name, disagrees with the records."""
    entries = {}
    for entry in index.each("resources"):
        key = entry.key("key")
        if key is None:
            raise entry.refusal("key", "is missing")
        if key not in records:  # a removed record would be a resource that gitsync forgets
            raise StateError(f"{name} names {key}, but {_name_file(key, name)} does not exist.", hint=_HINT)
        entries[key] = entry
    for key, record in records.items():
        indexed = entries.get(key)
        if indexed is None:
            raise StateError(f"{_name_file(key, name)} exists, but {name} does not name {key}.", hint=_HINT)
        for member, text in (("armId", record.arm_id), ("claim", record.claim), ("policy", record.manifest.policy)):
            if indexed.values.get(member) != text:  # an edited id would have another resource deleted
                raise StateError(f"{_name_file(key, name)} and {name} differ in {member}.", hint=_HINT)


def _name_file(key: Key, inventory: str) -> str:
    path = make_record_path(key)
    return make_former_path(path) if inventory == FORMER_INVENTORY else path


def _select_wanted(listing: SourceListing, entries: tuple[SourceEntry, ...], *, is_former: bool) -> list[SourceEntry]:
    """Select the identity, by which records are read, then the documents."""
    for entry in entries:
        # A link may lead anywhere.
        if entry.kind is EntryKind.LINK:
            raise StateError(f"{entry.path} in {listing.name} is a symbolic link.", hint="Remove it.")
    wanted = select_documents(entries, is_former=is_former)
    if not any(entry.path in {INVENTORY, FORMER_INVENTORY} for entry in wanted):
        raise StateError(
            f"{listing.name} has files but no {INVENTORY}, so it is not a gitsync status.",
            hint="Set --status-branch or --status-dir to another location.",
        )
    return [*(entry for entry in entries if entry.path == IDENTITY and entry.kind is EntryKind.FILE), *wanted]


def _read_identity(content: bytes) -> str:
    match = _IDENTITY.fullmatch(content)
    if match is None:
        raise StateError(f"{IDENTITY}:1: The file is not the identity of a status.", hint=_HINT)
    return match[1].decode()


def lacks_identity(state: State, seals: RecordSeals) -> bool:
    """Return whether records of a state get seals, and it has no identity for them yet."""
    return seals.key is not None and not state.identity


def identify(after: State, changes: Changes, seals: RecordSeals) -> tuple[State, Changes]:
    """Give a state whose records get seals its identity, if it has none yet: `after` has the `changes`. Good seals of
    the agent without one are made again with it.
    """
    if not lacks_identity(after, seals):
        return after, changes
    own = {"", seals.agent, seals.former}
    signed = {
        key: record for key, record in after.records.items() if record.trust is Trust.SIGNED and record.agent in own
    }
    return replace(after, identity=secrets.token_hex(16)), replace(changes, records={**signed, **changes.records})


def read_inventory(path: str, content: bytes) -> CheckedMapping:
    """Read the inventory of a tree, or that of an earlier version."""
    inventory = read_document(path, content)
    check_schema(inventory, path, FORMER_SCHEMA if path == FORMER_INVENTORY else INVENTORY_SCHEMA)
    return inventory


def _read_by_agent(head: CheckedMapping, name: str) -> Mapping[str, str]:
    """Read the text that each agent has under a name; nothing if it is absent."""
    by_agent = head.within(name, {})
    return {agent: by_agent.text(agent) for agent in by_agent.values}


def build_inventory(state: State) -> bytes:
    """Build the index of a state: what belongs to no single record, then one entry a resource, sorted."""
    head = {
        "schema": INVENTORY_SCHEMA,
        "revision": state.revision,
        "revisions": state.revisions,
        "leftovers": build_leftovers(state.leftovers),
        "notified": state.notified,
    }
    resources = [_build_entry(key, record) for key, record in sorted(state.records.items())]
    return write_document({**{name: value for name, value in head.items() if value}, "resources": resources})


def _build_entry(key: Key, record: Record) -> Mapping[str, Any]:
    ready = {"ready": record.condition.status.value} if record.condition else {}
    return {
        "key": str(key),
        "armId": record.arm_id,
        "claim": record.claim.value,
        "policy": record.manifest.policy.value,
        "generation": record.spec.generation,
        **ready,
    }


def build_files(changes: Changes, after: State, update: Update, seals: RecordSeals = UNSEALED) -> Files:
    """Build the files to write for the state `after`, of which only `changes` are new; the identity comes first, and
    the inventory last.
    """
    seals = seals.of_status(after.identity)
    texts = {SUMMARY: update.summary, REPORT: update.report}
    return {
        **({IDENTITY: f"{after.identity}\n".encode()} if after.identity else {}),
        **{make_config_map_path(at): encode_config_map(e) if e else None for at, e in changes.config_maps.items()},
        **{
            make_record_path(key): encode_record(record, seals) if record else None
            for key, record in changes.records.items()
        },
        **{name: text().encode() for name, text in texts.items() if text is not None},
        FORMER_INVENTORY: STUB,
        INVENTORY: build_inventory(after),
    }


# Exports that could not be removed, as entries of the inventory.
#
# They have no record: that of their resource is gone. Others can push to a branch, so a run removes such an object only
# if the resource that is named here still owns it there.


_LEFTOVERS = "leftovers"


def build_leftovers(leftovers: Iterable[Leftover]) -> list[dict[str, Any]]:
    """Build the entries of the inventory, sorted."""
    return [
        {
            "object": f"{leftover.address.object_kind}/{leftover.address.namespace}/{leftover.address.name}",
            "owner": str(leftover.owner),
            "sink": leftover.sink,
        }
        for leftover in sorted(leftovers)
    ]


def read_leftovers(head: CheckedMapping) -> frozenset[Leftover]:
    """Read what `build_leftovers` wrote. StateError (file, line, hint) for anything else."""
    leftovers = set()
    for entry in head.each(_LEFTOVERS):
        owner = _read_owner(entry, "owner")
        object_kind, *names = entry.text("object").split("/")
        if object_kind not in set(ObjectKind) or len(names) != 2 or not all(names):
            raise entry.refusal("object", "must be Secret/namespace/name or ConfigMap/namespace/name")
        leftovers.add(Leftover(owner, Address(ObjectKind(object_kind), *names), entry.text("sink")))
    return frozenset(leftovers)


def _read_owner(fields: CheckedMapping, name: str) -> Owner:
    try:
        return Owner.parse(fields.text(name))
    except ValueError:
        raise fields.refusal(name, "must be Kind.group/namespace/name") from None


# An exported config map as a file of the status tree: the object that ASO would create, for people and for git.
#
# An annotation names its owner, so that another resource does not overwrite it
# (docs/reference/reconciliation.md#export-ownership).


def encode_config_map(export: Export) -> bytes:
    """Write a config map as a file: the same bytes for the same object."""
    metadata = {
        "annotations": dict(sorted({**export.annotations, OWNER: str(export.owner)}.items())),
        **({"labels": dict(sorted(export.labels.items()))} if export.labels else {}),
        "name": export.address.name,
        "namespace": export.address.namespace,
    }
    data = {key: value.reveal() for key, value in sorted(export.data.items())}
    return write_document({"apiVersion": "v1", "data": data, "kind": str(ObjectKind.CONFIG_MAP), "metadata": metadata})


def decode_config_map(path: str, content: bytes) -> Export:
    """Read what `encode_config_map` wrote. StateError (file, line, hint) for anything else."""
    document = read_document(path, content)
    metadata = document.within("metadata")
    address = Address(ObjectKind.CONFIG_MAP, metadata.text("namespace"), metadata.text("name"))
    if make_config_map_path(address) != make_present_path(path):
        raise document.refusal("metadata", f"names {address}, whose file is {make_config_map_path(address)}")
    annotations = metadata.within("annotations")
    owner = _read_owner(annotations, OWNER)
    others = {name: text for name, text in _read_texts(annotations).items() if name != OWNER}
    labels = _read_texts(metadata.within("labels")) if metadata.mapping("labels") else {}
    data = {key: Secret(value) for key, value in _read_texts(document.within("data")).items()}
    return Export(address=address, owner=owner, data=data, annotations=others, labels=labels)


def _read_texts(fields: CheckedMapping) -> Mapping[str, str]:
    return {name: fields.text(name) for name in sorted(fields.values)}
