"""A record as a file: its path, and its content, shaped as the Kubernetes object that ASO would leave behind
(docs/reference/design.md#status-branch).

Members that ASO does not have are under `gitsync`, with the number of the schema. Reading validates everything: others
can push to a branch, and a record decides what may be deleted.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from datetime import date
from functools import lru_cache
from sys import intern
from typing import Any
from urllib.parse import quote

from gitsync.desired.problems.checked_mapping import CheckedMapping
from gitsync.model.arm_id import ArmId
from gitsync.model.condition import Condition, ConditionStatus, Severity
from gitsync.model.export import Address, ObjectKind
from gitsync.model.gvk import GVK, Key
from gitsync.model.hold import HeldUntil
from gitsync.model.identity import NO_IDS, IdentityIds
from gitsync.model.outside import RecordedOutside
from gitsync.model.provider import NOTHING_KEPT, Kept
from gitsync.model.reconcile_policy import Policy
from gitsync.model.record import (
    Claim,
    Durations,
    FailedWrite,
    LastWrite,
    PendingOperation,
    Record,
    RecordedAccess,
    RecordedManifest,
    RecordedSpec,
    RecordedWrites,
    WriteStreak,
)
from gitsync.repository.git.state.documents import FORMER_SUFFIX, check_schema, read_document, sort_keys, write_document
from gitsync.repository.git.state.seal import SEAL, RecordSeals

# The path of the record of a resource: `<namespace>/<group>/<Kind>/<name>.json`. A config map has no group, so its path
# is one folder shorter.
#
# Names are data, and so is a status branch: a name can point neither out of the tree, nor to a hidden file, nor to one
# of the files at its top. A path is only computed from a key, never parsed into one.


INVENTORY = "inventory.json"
IDENTITY = "identity"
SUMMARY = "SUMMARY.md"
REPORT = "report.json"

_LONGEST = 200  # file systems take 255 bytes; Kubernetes allows names of 253
_DEPTH = 4
_AS_IT_IS = re.compile(rf"[A-Za-z0-9_-][A-Za-z0-9_.-]{{0,{_LONGEST - 1}}}")
"""Most names: encoding would not change them."""

_SUFFIX = ".json"
_RECORD = re.compile(rf"(?!\.)[^/]*(?:/(?!\.)[^/]*){{{_DEPTH - 1}}}(?<=\.json)")


def make_record_path(key: Key) -> str:
    """Make the path of a key's record; another key has another path."""
    return f"{_make_folder(key.namespace, key.group, key.kind)}/{_escape(key.name)}{_SUFFIX}"


@lru_cache(maxsize=1024)
def _make_folder(namespace: str, group: str, kind: str) -> str:
    return "/".join((_escape_namespace(namespace), _escape(group), _escape(kind)))


def is_record_path(path: str) -> bool:
    """Return whether a path can be that of a record; other files are ignored."""
    return _RECORD.fullmatch(path) is not None


def make_config_map_path(address: Address) -> str:
    """Make the path of an exported config map: `<namespace>/ConfigMap/<name>.json`."""
    return "/".join((_escape_namespace(address.namespace), str(address.object_kind), _escape(address.name))) + _SUFFIX


def is_config_map_path(path: str) -> bool:
    """Return whether a path can be that of an exported config map."""
    parts = path.split("/")
    return len(parts) == _DEPTH - 1 and parts[1] == str(ObjectKind.CONFIG_MAP) and path.endswith(_SUFFIX)


def make_present_path(path: str) -> str:
    """Make the path that a file has today from the one that earlier versions gave it, which wrote YAML."""
    return path.removesuffix(FORMER_SUFFIX) + _SUFFIX if path.endswith(FORMER_SUFFIX) else path


def make_former_path(path: str) -> str:
    """Make the path that earlier versions gave a file."""
    return path.removesuffix(_SUFFIX) + FORMER_SUFFIX


def _escape_namespace(text: str) -> str:
    """Escape a namespace without a dot, so that its folder is not taken for a file at the top."""
    return _escape(text).replace(".", "%2E")


def _escape(text: str) -> str:
    """Escape a text with percent signs, without a leading dot."""
    if _AS_IT_IS.fullmatch(text):
        return text
    escaped = quote(text, safe="").replace("~", "%7E") or "%"
    escaped = "%2E" + escaped[1:] if escaped.startswith(".") else escaped
    if len(escaped) <= _LONGEST:
        return escaped
    # A long name is truncated, and a digest keeps it apart from others.
    return f"{escaped[:_LONGEST]}%{hashlib.sha256(text.encode()).hexdigest()[:32]}"


SCHEMA = 1
UNSEALED = RecordSeals()
OPERATOR = "serviceoperator.azure.com/operator-namespace"
RECONCILED = "serviceoperator.azure.com/latest-reconciled-generation"
RESOURCE_ID = "serviceoperator.azure.com/resource-id"
OWNER_NAME = "serviceoperator.azure.com/owner-name"
OWNER_KIND = "serviceoperator.azure.com/owner-group-kind"
LONGEST_LABEL = 63
_GENERATION = re.compile(r"[0-9]{1,18}")


def encode_record(record: Record, seals: RecordSeals = UNSEALED) -> bytes:
    """Write a record as a file: the same bytes for the same record and key."""
    document = build_object(record)
    if seal := seals.make(document):
        document["gitsync"][SEAL] = seal
    return write_document(document)


def build_object(record: Record) -> dict[str, Any]:
    """Build the Kubernetes object of a record, of plain JSON and without a seal."""
    return {
        "apiVersion": record.manifest.api_version,
        "kind": record.key.kind,
        "metadata": _build_metadata(record),
        "status": {"conditions": [_build_condition(record.condition)] if record.condition else []},
        "gitsync": _build_own_members(record),
    }


def _build_metadata(record: Record) -> Mapping[str, Any]:
    """Build the metadata as ASO leaves it (docs/reference/reconciliation.md#claim): a resource has its id, and labels
    for its owner, once it is claimed.
    """
    identity = {"generation": record.spec.generation, "name": record.key.name, "namespace": record.key.namespace}
    annotations = _build_annotations(record)
    metadata = {
        **identity,
        **({"annotations": annotations} if annotations else {}),
        **(_build_labels(record.manifest.owner) if _is_claimed(record) else {}),
    }
    return dict(sorted(metadata.items()))


def _is_claimed(record: Record) -> bool:
    return bool(record.arm_id) and record.claim is not Claim.NONE


def _build_annotations(record: Record) -> Mapping[str, str]:
    """Build ASO's annotations, sorted."""
    generation = record.spec.reconciled_generation
    texts = {
        RECONCILED: str(generation) if generation else "",
        # The agent stands for the namespace of the operator.
        OPERATOR: record.access.operator,
        RESOURCE_ID: record.arm_id if _is_claimed(record) else "",
    }
    return {name: text for name, text in texts.items() if text}


def _build_labels(owner: Key | None) -> Mapping[str, Any]:
    """Build the labels for owners that are manifests."""
    if owner is None:
        return {}
    # There is no uid without a cluster.
    texts = {OWNER_KIND: f"{owner.kind}.{owner.group}", OWNER_NAME: owner.name}
    return {"labels": {name: text[:LONGEST_LABEL] for name, text in texts.items()}}


def _build_condition(condition: Condition) -> Mapping[str, Any]:
    """Build the condition as Kubernetes prints it. Empty fields are omitted
    (docs/reference/reconciliation.md#ready-condition).
    """
    fields = {
        "lastTransitionTime": condition.time,
        "message": condition.message,
        "observedGeneration": condition.generation,
        "reason": condition.reason,
        "severity": condition.severity.value,
        "status": condition.status.value,
        "type": condition.type,
    }
    return {name: value for name, value in fields.items() if value}


def _build_own_members(record: Record) -> dict[str, Any]:
    """Build the members that ASO does not have, sorted."""
    condition, manifest, spec, writes = record.condition, record.manifest, record.spec, record.writes
    hold, operation = manifest.hold, writes.operation
    constant_fields = {
        "armApiVersion": record.arm_api_version,
        "armId": record.arm_id,
        "claim": record.claim.value,
        "generation": spec.generation,
        "policy": manifest.policy.value,
        "schema": SCHEMA,
        "writes": writes.count,
    }
    non_empty_fields = {
        "agent": record.agent,
        **_build_access(record.access),
        "declaredBy": manifest.declared_by,
        "dependsOn": [str(key) for key in manifest.depends_on],
        "durations": {name: seconds for name, seconds in writes.durations._asdict().items() if seconds is not None},
        "failedWrite": _build_failure(writes.failure) if writes.failure else {},
        "lastRevision": manifest.last_revision,
        "lastWrite": _build_last_write(writes.last) if writes.last else {},
        "hold": {"reason": hold.reason, "until": str(hold.day)} if hold else {},
        "exports": [f"{address.object_kind}/{address.name}" for address in record.exports],
        "orderedAfter": [str(key) for key in manifest.ordered_after],
        "operation": {"kind": operation.kind, "startedAt": operation.started_at} if operation else {},
        "outside": _build_outside(spec.outside) if spec.outside else {},
        "owner": str(manifest.owner) if manifest.owner else "",
        "path": manifest.path,
        "provider": _build_kept(record.kept) if record.kept != NOTHING_KEPT else {},
        "row": _build_streak(writes.streak) if writes.streak else {},
        "advice": condition.advice if condition else "",
        "requestId": condition.request_id if condition else "",
        "specDigest": spec.digest,
        "unit": manifest.unit,
    }
    known_bodies = {"applied": spec.applied, "baseline": spec.baseline}
    members = constant_fields | {name: value for name, value in non_empty_fields.items() if value}
    members |= {name: body for name, body in known_bodies.items() if body is not None}
    sorted_own: dict[str, Any] = sort_keys(members)
    return sorted_own


def _build_access(access: RecordedAccess) -> dict[str, Any]:
    ids = {"clientId": access.ids.client_id, "tenantId": access.ids.tenant_id}
    identity = {name: text for name, text in ids.items() if text}
    return {"credential": access.credential, "identity": identity, "subscription": access.subscription}


def decode_record(path: str, content: bytes, seals: RecordSeals = UNSEALED) -> Record:
    """Read what `encode_record` wrote. StateError (file, line, hint) for anything else; whether a run with the key
    wrote it is `Record.trust`.
    """
    document = read_document(path, content)
    own = document.within("gitsync")
    check_schema(own, path, SCHEMA)
    metadata = document.within("metadata")
    gvk, api_version = _parse_kind(document.text("apiVersion"), document.text("kind"))
    key = Key(gvk.group, gvk.kind, intern(metadata.text("namespace")), intern(metadata.text("name")))
    # Each record has one path: a copy of a file must not stand for another resource.
    if make_record_path(key) != make_present_path(path):
        raise document.refusal("metadata", f"names {key}, whose file is {make_record_path(key)}")
    annotations = metadata.within("annotations", {})
    # The seal covers the members below `gitsync` alone, so this one must agree with what is sealed.
    if metadata.count("generation") != own.count("generation"):
        raise own.refusal("generation", "does not match metadata")
    return Record(
        key=key,
        arm_id=ArmId(own.text("armId")),
        arm_api_version=own.text("armApiVersion"),
        claim=own.one_of("claim", Claim),
        agent=own.text("agent", ""),
        manifest=_read_manifest(own, api_version),
        spec=RecordedSpec(
            generation=own.count("generation"),
            digest=own.text("specDigest", ""),
            reconciled_generation=_read_generation(annotations),
            applied=own.mapping("applied"),
            baseline=own.mapping("baseline"),
            outside=_read_outside(own),
        ),
        writes=_read_writes(own),
        access=RecordedAccess(
            credential=own.text("credential", ""),
            subscription=own.text("subscription", ""),
            ids=_read_ids(own),
            operator=annotations.text(OPERATOR, ""),
        ),
        exports=_read_exports(own, key),
        kept=_read_kept(own),
        condition=_read_condition(document, own),
        trust=seals.check(document.values),
    )


def _read_ids(own: CheckedMapping) -> IdentityIds:
    """Read the ids of the identity; older files have none."""
    if own.mapping("identity") is None:
        return NO_IDS
    identity = own.within("identity")
    return IdentityIds(intern(identity.text("clientId", "")), intern(identity.text("tenantId", "")))


def _read_manifest(own: CheckedMapping, api_version: str) -> RecordedManifest:
    """Read what is kept of the manifest; older files lack parts of it."""
    return RecordedManifest(
        api_version=api_version,
        policy=own.one_of("policy", Policy),
        owner=own.key("owner"),
        depends_on=own.keys("dependsOn"),
        ordered_after=own.keys("orderedAfter"),
        unit=own.text("unit", ""),
        path=own.text("path", ""),
        declared_by=own.text("declaredBy", ""),
        last_revision=own.text("lastRevision", ""),
        hold=_read_hold(own),
    )


@lru_cache(maxsize=1024)  # most records are of a kind of others
def _parse_kind(api_version: str, kind: str) -> tuple[GVK, str]:
    gvk = GVK.parse(api_version, kind)
    return gvk, gvk.api_version


def _read_generation(annotations: CheckedMapping) -> int:
    """Read the generation."""
    # Older files, and resources that were never sent, have none.
    text = annotations.text(RECONCILED, "0")
    if not _GENERATION.fullmatch(text):
        raise annotations.refusal(RECONCILED, f"is {text!r}, not a whole number")
    return int(text)


def _read_exports(own: CheckedMapping, key: Key) -> tuple[Address, ...]:
    """Read the exported objects in the resource's own namespace, each as Secret/name or ConfigMap/name."""
    addresses = []
    for text in own.texts("exports"):
        object_kind, _, name = text.partition("/")
        if object_kind not in set(ObjectKind) or not name:
            raise own.refusal("exports", f"has {text!r}, not Secret/name or ConfigMap/name")
        addresses.append(Address(ObjectKind(object_kind), key.namespace, name))
    return tuple(addresses)


def _read_writes(own: CheckedMapping) -> RecordedWrites:
    """Read what is kept of the writes; older files lack parts of it."""
    return RecordedWrites(
        count=own.count("writes"),
        operation=_read_operation(own),
        failure=_read_failure(own),
        streak=_read_streak(own),
        last=_read_last_write(own),
        durations=_read_durations(own),
    )


def _read_operation(own: CheckedMapping) -> PendingOperation | None:
    if own.mapping("operation") is None:
        return None
    operation = own.within("operation")
    return PendingOperation(operation.text("kind"), operation.text("startedAt"))


def _read_hold(own: CheckedMapping) -> HeldUntil | None:
    if own.mapping("hold") is None:
        return None
    hold = own.within("hold")
    try:
        return HeldUntil(date.fromisoformat(hold.text("until")), hold.text("reason"))
    except ValueError:
        raise hold.refusal("until", f"is {hold.text('until')!r}, not a date such as 2030-12-31") from None


def _build_kept(kept: Kept) -> Mapping[str, Any]:
    members = {"administrator": kept.administrator, "alias": kept.alias, "givenId": kept.given_id}
    texts = {name: text for name, text in members.items() if text}
    if kept.password_from is None:
        return texts
    name, key = kept.password_from
    return {**texts, "passwordFrom": {"key": key, "name": name}}


def _read_kept(own: CheckedMapping) -> Kept:
    """Read what is kept for a provider. Records of ARM's resources have none."""
    if own.mapping("provider") is None:
        return NOTHING_KEPT
    kept = own.within("provider")
    password = kept.within("passwordFrom") if kept.mapping("passwordFrom") is not None else None
    return Kept(
        given_id=kept.text("givenId", ""),
        administrator=kept.text("administrator", ""),
        alias=kept.text("alias", ""),
        password_from=(password.text("name"), password.text("key")) if password else None,
    )


def _build_failure(failure: FailedWrite) -> Mapping[str, Any]:
    members = {"generation": failure.generation, "kind": failure.kind, "since": failure.since}
    more = {"keeps": failure.keeps, "paths": list(failure.paths)}
    return members | {name: value for name, value in more.items() if value}


def _read_failure(own: CheckedMapping) -> FailedWrite | None:
    if own.mapping("failedWrite") is None:
        return None
    failure = own.within("failedWrite")
    return FailedWrite(
        failure.text("kind"),
        failure.moment("since"),
        failure.count("generation"),
        failure.texts("paths"),
        "keeps" in failure.values and failure.switch("keeps"),
    )


def _build_outside(outside: RecordedOutside) -> Mapping[str, Any]:
    members = {"read": outside.read, "types": outside.types, "values": outside.values}
    members |= {"changed": list(outside.changed)} if outside.changed else {}
    return members | ({"written": True} if outside.is_written else {})


def _read_outside(own: CheckedMapping) -> RecordedOutside | None:
    """Read what Azure showed beside the fields that git sets. Older files have none."""
    if own.mapping("outside") is None:
        return None
    outside = own.within("outside")
    return RecordedOutside(
        values=outside.within("values").values,
        types=outside.text("types"),
        read=outside.text("read"),
        changed=outside.texts("changed"),
        is_written="written" in outside.values and outside.switch("written"),
    )


def _build_streak(row: WriteStreak) -> Mapping[str, Any]:
    return {"at": row.at, "count": row.count, "paths": list(row.paths), **({"held": row.paused} if row.paused else {})}


def _read_streak(own: CheckedMapping) -> WriteStreak | None:
    """Read the streak of writes. Older files have none."""
    if own.mapping("row") is None:
        return None
    row = own.within("row")
    return WriteStreak(
        count=row.count("count"), paths=row.texts("paths"), at=row.moment("at"), paused=row.text("held", "")
    )


def _build_last_write(write: LastWrite) -> Mapping[str, Any]:
    members = {"at": write.at, "correlationId": write.correlation_id}
    known = {"returnedId": write.returned_id, "revision": write.revision}
    return members | {name: text for name, text in known.items() if text}


def _read_last_write(own: CheckedMapping) -> LastWrite | None:
    """Read the last write. Older files have none."""
    if own.mapping("lastWrite") is None:
        return None
    write = own.within("lastWrite")
    return LastWrite(
        correlation_id=write.text("correlationId"),
        returned_id=write.text("returnedId", ""),
        at=write.moment("at"),
        revision=write.text("revision", ""),
    )


def _read_durations(own: CheckedMapping) -> Durations:
    """Read the durations of writes, each if it is known. Older files have none."""
    if own.mapping("durations") is None:
        return Durations()
    durations = own.within("durations")
    seconds = {name: durations.count(name) for name in Durations._fields if name in durations.values}
    return _make_durations(**seconds)


_make_durations = lru_cache(maxsize=1024)(Durations)
"""Most resources take as many seconds as others."""


def _read_condition(document: CheckedMapping, own: CheckedMapping) -> Condition | None:
    """Read the condition Ready; others are ignored."""
    for condition in document.within("status").each("conditions"):
        if condition.text("type") == Condition.type:
            return Condition(
                status=condition.one_of("status", ConditionStatus),
                severity=condition.one_of("severity", Severity, Severity.NONE),
                reason=condition.text("reason", ""),
                message=condition.text("message", ""),
                generation=condition.count("observedGeneration", 0),
                time=condition.text("lastTransitionTime", ""),
                request_id=own.text("requestId", ""),
                advice=own.text("advice", ""),
            )
    return None
