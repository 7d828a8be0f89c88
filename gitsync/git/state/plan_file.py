"""A plan file: what `plan --out` writes and `sync --plan` reads back.

JSON, sorted, the same bytes for the same plan. It has digests instead of values of manifests or of Azure. Others may
have edited it, so everything is checked before it is used.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from gitsync.errors import ConfigError
from gitsync.model.gvk import Key
from gitsync.model.plan import Review, Reviewed
from gitsync.model.verdict import Action

SCHEMA = 1
LARGEST = 64 * 1024 * 1024
"""Bytes; a plan of 100,000 resources has less."""

_HINT = "Run `gitsync plan --out` to create a new plan."
_MEMBERS = frozenset({"schema", "repository", "revision", "prune", "digestKey", "nodes"})
_NODE_MEMBERS = frozenset({"action", "desiredDigest", "liveDigest", "etag", "secrets", "later"})
_KINDS: Mapping[type, str] = {dict: "an object", str: "a string", bool: "true or false"}

_T = TypeVar("_T")


def encode_plan(review: Review) -> str:
    """Write a plan as the text of a plan file, ended by a newline."""
    document = {
        "schema": SCHEMA,
        "repository": review.repository,
        "revision": review.revision,
        "prune": review.prune,
        "digestKey": review.digest_key,
        "nodes": {str(key): _encode_node(node) for key, node in review.nodes.items()},
    }
    return json.dumps(document, sort_keys=True, indent=2) + "\n"


def _encode_node(node: Reviewed) -> Mapping[str, Any]:
    required = {
        "action": node.action.value,
        "desiredDigest": node.desired,
        "liveDigest": node.live,
        "etag": node.etag,
    }
    optional = {"secrets": node.secrets, "later": list(node.later)}
    return required | {name: value for name, value in optional.items() if value}


def read_plan(path: Path) -> Review:
    """Read the plan of a file. ConfigError (what is wrong, and what to do) for anything that
    `encode_plan` did not make.
    """
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except OSError as error:
        raise ConfigError(f"The plan file {path} cannot be read: {error.strerror}.", hint=_HINT) from error
    if len(content) > LARGEST:
        raise ConfigError(f"The plan file {path} has more than {LARGEST} bytes.", hint=_HINT)
    try:
        return decode_plan(content)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"The plan file {path} is incomplete or was changed: {error}.", hint=_HINT) from error


def decode_plan(content: bytes) -> Review:
    """Read the plan in a text. ValueError has the problem with it."""
    document = _require(json.loads(content.decode(), object_pairs_hook=_reject_duplicates), dict, "the file")
    schema = document.get("schema")
    if schema != SCHEMA:
        found = "it has no schema" if schema is None else f"its schema is {schema!r}"
        raise ValueError(f"{found}; this gitsync reads {SCHEMA}")
    _check_members(document, _MEMBERS, "the file")
    nodes = _require(document["nodes"], dict, "nodes")
    return Review(
        repository=_require(document["repository"], str, "repository"),
        revision=_require(document["revision"], str, "revision"),
        prune=_require(document["prune"], bool, "prune"),
        digest_key=_require(document["digestKey"], str, "digestKey"),
        nodes={_parse_key(name): _decode_node(node, name) for name, node in nodes.items()},
    )


def _decode_node(value: Any, name: str) -> Reviewed:
    # Both are left out where they say nothing.
    node = {"secrets": False, "later": [], **_require(value, dict, name)}
    _check_members(node, _NODE_MEMBERS, name)
    later = node["later"] if isinstance(node["later"], list) else [None]
    return Reviewed(
        action=Action(_require(node["action"], str, f"action of {name}")),
        desired=_require(node["desiredDigest"], str, f"desiredDigest of {name}"),
        live=_require(node["liveDigest"], str, f"liveDigest of {name}"),
        etag=None if node["etag"] is None else _require(node["etag"], str, f"etag of {name}"),
        secrets=_require(node["secrets"], bool, f"secrets of {name}"),
        later=tuple(_require(pointer, str, f"later of {name}") for pointer in later),
    )


def _reject_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("it has a member twice")
    return members


def _check_members(members: Mapping[str, Any], names: frozenset[str], path: str) -> None:
    if unexpected := sorted(set(members) ^ names):
        problem = "is missing from" if unexpected[0] in names else "is not a member of"
        raise ValueError(f"{unexpected[0]!r} {problem} {path}")


def _parse_key(text: str) -> Key:
    try:
        return Key.parse(text)
    except ValueError:
        raise ValueError(f"{text!r} is not Kind.group/namespace/name") from None


def _require(value: Any, kind: type[_T], name: str) -> _T:
    if not isinstance(value, kind):
        raise ValueError(f"{name} is not {_KINDS[kind]}")  # noqa: TRY004 - one kind of error for a file that is not a plan
    return value
