"""A plan file: what `plan --out` writes and `sync --plan` reads back.

JSON, sorted, the same bytes for the same plan. It has digests instead of values of manifests or of Azure. Others may
have edited it, so everything is checked before it is used.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gitsync.errors import ConfigError
from gitsync.model.gvk import Key
from gitsync.model.review import Review, Reviewed
from gitsync.model.verdict import Action

SCHEMA = 1
LARGEST = 64 * 1024 * 1024
"""Bytes; a plan of 100,000 resources has less."""

_HINT = "Run `gitsync plan --out` to create a new plan."
_MEMBERS = frozenset({"schema", "repository", "revision", "prune", "digestKey", "nodes"})
_NODE_MEMBERS = frozenset({"action", "desiredDigest", "liveDigest", "etag", "secrets", "later"})


def encode(review: Review) -> str:
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
    `encode` did not make.
    """
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except OSError as error:
        raise ConfigError(f"The plan file {path} cannot be read: {error.strerror}.", hint=_HINT) from error
    if len(content) > LARGEST:
        raise ConfigError(f"The plan file {path} has more than {LARGEST} bytes.", hint=_HINT)
    try:
        return decode(content)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"The plan file {path} is incomplete or was changed: {error}.", hint=_HINT) from error


def decode(content: bytes) -> Review:
    """Read the plan in a text. ValueError has the problem with it."""
    document = _require_mapping(json.loads(content.decode(), object_pairs_hook=_reject_duplicates), "the file")
    schema = document.get("schema")
    if schema != SCHEMA:
        raise ValueError(f"its schema is {schema!r}; this gitsync reads {SCHEMA}")
    _check_members(document, _MEMBERS, "the file")
    nodes = _require_mapping(document["nodes"], "nodes")
    return Review(
        repository=_require_text(document["repository"], "repository"),
        revision=_require_text(document["revision"], "revision"),
        prune=_require_bool(document["prune"], "prune"),
        digest_key=_require_text(document["digestKey"], "digestKey"),
        nodes={_parse_key(name): _decode_node(node, name) for name, node in nodes.items()},
    )


def _decode_node(value: Any, name: str) -> Reviewed:
    # Both are left out where they say nothing.
    node = {"secrets": False, "later": [], **_require_mapping(value, name)}
    _check_members(node, _NODE_MEMBERS, name)
    later = node["later"] if isinstance(node["later"], list) else [None]
    return Reviewed(
        action=Action(_require_text(node["action"], f"action of {name}")),
        desired=_require_text(node["desiredDigest"], f"desiredDigest of {name}"),
        live=_require_text(node["liveDigest"], f"liveDigest of {name}"),
        etag=None if node["etag"] is None else _require_text(node["etag"], f"etag of {name}"),
        secrets=_require_bool(node["secrets"], f"secrets of {name}"),
        later=tuple(_require_text(pointer, f"later of {name}") for pointer in later),
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


def _require_mapping(value: Any, name: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{name} is not an object")  # noqa: TRY004 - one kind of error for a file that is not a plan
    return value


def _require_text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{name} is not a string")  # noqa: TRY004 - as above
    return value


def _require_bool(value: Any, name: str) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{name} is not true or false")  # noqa: TRY004 - as above
    return value
