"""The seal of a record: a MAC that only the agent's runs can make (RFC 2104), so that no one who can push to the status
branch decides what is deleted.

A seal covers the location of the record (repository and status branch), the identity of its status, its own, and
everything under `gitsync`: agent, ARM id, claim, policy, writes and what a later run compares with. It does not cover
the condition, which decides nothing. It does not stop a replay on the same branch: an old file with its seal is valid
again.

The location reveals a copy of a complete status, and the identity records that were moved between statuses of one
location: all status folders of a repository are one, and so are all repositories without a name.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from gitsync.model.record import Trust
from gitsync.model.secret import Secret

SEAL = "seal"
"""The member of `gitsync` that has it: `hmac-sha256:<key>:<place>:<status>:<digest>`, the first three as names that do
not reveal them. Seals of older versions have no status, and are as good in any status of their location; those before
them have no location either, and are as good in any repository with the key.
"""

_SCHEME = "hmac-sha256"
_SMALLEST, _LARGEST = -(1 << 63), (1 << 64) - 1
_LARGEST_INTEGER = 1e21
_NOT_COVERED = frozenset({SEAL, "requestId"})  # the id of the request belongs to the condition

_PARTS = 5  # one less without a status, two less without a location
_VALID = frozenset({Trust.SIGNED, Trust.SIGNED_BEFORE})


@dataclass(frozen=True, slots=True)
class RecordSeals:
    """Makes and checks the seals of one agent."""

    agent: str = ""  # "" for the agent without a name
    key: Secret | None = field(default=None, repr=False)  # without one, nothing is made or checked
    previous: Secret | None = field(default=None, repr=False)  # the key that was used before, which still counts
    former: str = ""  # an earlier name of the agent, which may be in its records
    checks_all: bool = False  # the records of all agents are checked
    source_name: str | None = ""
    """Where the records are (`name_place`), None for a reader, who does not have the name that the runs that sign use
    for it.
    """

    identity: str | None = None  # of the status: "" if it has none yet, None where none is requested

    def of_status(self, identity: str) -> RecordSeals:
        """Return the seals of a status with this identity, "" for none yet."""
        return replace(self, identity=identity)

    def make(self, document: Mapping[str, Any]) -> str:
        """Make the seal for the document of a record; "" without a key."""
        if self.key is None:
            return ""
        status_name = _name_status(self.key, self.identity) if self.identity else ""
        return _make_seal(self.key, document, _name_document(self.key, self.source_name or ""), status_name)

    def check(self, document: Mapping[str, Any]) -> Trust:
        """Return whether a run with one of the keys wrote the document of a record. Other agents may have other keys,
        so the fault of a seal of theirs is left to their own runs.
        """
        trust = self._check_seal(document)
        is_own = document["gitsync"].get("agent", "") in {"", self.agent, self.former}
        # Another agent may have another key, so only its own runs can find a fault.
        if is_own or self.checks_all:
            return trust
        return Trust.SIGNED if trust in _VALID else Trust.UNCHECKED

    def _check_seal(self, document: Mapping[str, Any]) -> Trust:
        seal = document["gitsync"].get(SEAL)
        if self.key is None:  # a seal that cannot be checked does not make a record trusted
            return Trust.UNCHECKED if seal is None else Trust.NO_KEY
        if not isinstance(seal, str):
            return Trust.UNSIGNED
        parts = seal.split(":")
        keys = [key for key in (self.key, self.previous) if key and parts[1:2] == [_make_key_name(key)]]
        key = keys[0] if keys else None
        if key is None:
            return Trust.OTHER_KEY
        # The location and the status are parts of what is sealed, so they are compared only once the digest is right.
        file_name, status_name = (*parts[2:-1], "", "")[:2] if len(parts) <= _PARTS else ("", "")
        if not hmac.compare_digest(seal.encode(), _make_seal(key, document, file_name, status_name).encode()):
            return Trust.ALTERED
        if not file_name:
            return Trust.UNPLACED
        if self.source_name is not None and file_name != _name_document(key, self.source_name):
            return Trust.OTHER_BRANCH
        return self._check_status(key, status_name)

    def _check_status(self, key: Secret, status_name: str) -> Trust:
        """Check for which status a good seal was made. One of an older version, which names none, counts where the
        location can have one status only.
        """
        own_name = _name_status(key, self.identity) if self.identity else ""
        is_own = self.identity is None or status_name == own_name
        if status_name and not is_own:
            return Trust.OTHER_STATUS
        is_former = self.identity is not None and not status_name
        if is_former and self.source_name is not None and not _has_one_status(self.source_name):
            return Trust.UNIDENTIFIED
        return Trust.SIGNED if is_own and key is self.key else Trust.SIGNED_BEFORE


def name_source(repository: str, branch: str = "") -> str:
    """Return the location of records: a repository (`normalize_repository`, "" if it has no name) and its status
    branch, "" for a folder.
    """
    return f"{repository}#{branch}"


def _has_one_status(source_name: str) -> bool:
    """Return whether a location can have one status only: a branch of a repository that has a name."""
    return bool(source_name) and not source_name.startswith("#") and not source_name.endswith("#")


def _make_seal(key: Secret, document: Mapping[str, Any], file_name: str, status_name: str) -> str:
    members = {name: value for name, value in document["gitsync"].items() if name not in _NOT_COVERED}
    metadata = document["metadata"]
    covered_values = [
        *filter(None, (file_name, status_name)),
        document["apiVersion"],
        document["kind"],
        metadata["namespace"],
        metadata["name"],
        _normalize_numbers(members),
    ]
    text = json.dumps(covered_values, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return ":".join(filter(None, (_SCHEME, _make_key_name(key), file_name, status_name, _make_hmac(key, text))))


def _normalize_numbers(value: Any) -> Any:
    """Return a value as it is read back from YAML, with the numbers of Go: one beyond 64 bits becomes a float, and a
    float without a fraction becomes a whole number if it is short enough to be written as one.
    """
    if isinstance(value, Mapping):
        return {name: _normalize_numbers(child) for name, child in value.items()}
    if isinstance(value, list | tuple):
        return [_normalize_numbers(child) for child in value]
    # Go reads such a number as a float, and the seal must be that of what is read back.
    is_large = isinstance(value, int) and not _SMALLEST <= value <= _LARGEST
    if not is_large and not isinstance(value, float):
        return value
    number = float(value)
    return int(number) if number.is_integer() and abs(number) < _LARGEST_INTEGER else number


def _make_key_name(key: Secret) -> str:
    """Make a name for a key that does not reveal it."""
    return _make_hmac(key, "the name of the key")[:8]


def _name_document(key: Secret, source_name: str) -> str:
    """Make a name for a location that does not reveal it."""
    kind = "place"  # part of the sealed text: another word would make every seal invalid
    return _make_hmac(key, f"the name of the {kind} {source_name}")[:16]


def _name_status(key: Secret, identity: str) -> str:
    """Make a name for the identity of a status, which only runs with the key can make."""
    return _make_hmac(key, f"the name of the status {identity}")[:16]


def _make_hmac(key: Secret, text: str) -> str:
    """Make a digest with a key of its own, so that no digest of a secret is a seal."""
    seal_key = hmac.digest(key.reveal().encode(), b"seals of records", "sha256")
    return hmac.digest(seal_key, text.encode(errors="surrogatepass"), "sha256").hex()
