"""A plan file: what `plan --out` writes and `sync --plan` reads back.

JSON, sorted, the same bytes for the same plan. It holds no value of a manifest or of Azure, digests alone. It is read
as what others may have edited: all of it is checked before anything else is done.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gitsync.errors import ConfigError, PublishError
from gitsync.model.gvk import Key
from gitsync.model.review import Review, Reviewed
from gitsync.model.verdict import Action

SCHEMA = 1
LARGEST = 64 * 1024 * 1024
"""Bytes; a plan of 100,000 resources has less."""

_AGAIN = "Run `gitsync plan --out` to create a new plan."
_MEMBERS = frozenset({"schema", "repository", "revision", "prune", "digestKey", "nodes"})
_OF_A_NODE = frozenset({"action", "desiredDigest", "liveDigest", "etag", "secrets", "later"})


def encode(review: Review) -> str:
    """The text of a plan file, ended by a newline."""
    document = {
        "schema": SCHEMA,
        "repository": review.repository,
        "revision": review.revision,
        "prune": review.prune,
        "digestKey": review.digest_key,
        "nodes": {str(key): _node(node) for key, node in review.nodes.items()},
    }
    return json.dumps(document, sort_keys=True, indent=2) + "\n"


def _node(node: Reviewed) -> Mapping[str, Any]:
    always = {
        "action": node.action.value,
        "desiredDigest": node.desired,
        "liveDigest": node.live,
        "etag": node.etag,
    }
    where_true = {"secrets": node.secrets, "later": list(node.later)}
    return always | {name: value for name, value in where_true.items() if value}


def write_plan(path: Path, review: Review) -> None:
    """Put a plan file in its place, whole or not at all. PublishError where that cannot be done."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        beside.write_text(encode(review), encoding="utf-8")
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise PublishError(
            f"The plan cannot be written to {path}: {error.strerror}.", hint="Set --out to another file."
        ) from error


def read_plan(path: Path) -> Review:
    """The plan of a file. ConfigError (what is wrong, and what to do) for anything that `write_plan` did not write."""
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except OSError as error:
        raise ConfigError(f"The plan file {path} cannot be read: {error.strerror}.", hint=_AGAIN) from error
    if len(content) > LARGEST:
        raise ConfigError(f"The plan file {path} has more than {LARGEST} bytes.", hint=_AGAIN)
    try:
        return decode(content)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"The plan file {path} is incomplete or was changed: {error}.", hint=_AGAIN) from error


def decode(content: bytes) -> Review:
    """The plan that a text stands for. ValueError says what is wrong with it."""
    document = _mapping(json.loads(content.decode(), object_pairs_hook=_without_repeats), "the file")
    schema = document.get("schema")
    if schema != SCHEMA:
        raise ValueError(f"its schema is {schema!r}; this gitsync reads {SCHEMA}")
    _check_members(document, _MEMBERS, "the file")
    nodes = _mapping(document["nodes"], "nodes")
    return Review(
        repository=_text(document["repository"], "repository"),
        revision=_text(document["revision"], "revision"),
        prune=_truth(document["prune"], "prune"),
        digest_key=_text(document["digestKey"], "digestKey"),
        nodes={_key(name): _reviewed(node, name) for name, node in nodes.items()},
    )


def _reviewed(value: Any, name: str) -> Reviewed:
    node = {"secrets": False, "later": [], **_mapping(value, name)}
    _check_members(node, _OF_A_NODE, name)
    later = node["later"] if isinstance(node["later"], list) else [None]
    return Reviewed(
        action=Action(_text(node["action"], f"action of {name}")),
        desired=_text(node["desiredDigest"], f"desiredDigest of {name}"),
        live=_text(node["liveDigest"], f"liveDigest of {name}"),
        etag=None if node["etag"] is None else _text(node["etag"], f"etag of {name}"),
        secrets=_truth(node["secrets"], f"secrets of {name}"),
        later=tuple(_text(each, f"later of {name}") for each in later),
    )


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("it has a member twice")
    return members


def _check_members(found: Mapping[str, Any], wanted: frozenset[str], where: str) -> None:
    if strange := sorted(set(found) ^ wanted):
        what = "is missing from" if strange[0] in wanted else "is not a member of"
        raise ValueError(f"{strange[0]!r} {what} {where}")


def _key(text: str) -> Key:
    try:
        return Key.parse(text)
    except ValueError:
        raise ValueError(f"{text!r} is not Kind.group/namespace/name") from None


def _mapping(value: Any, name: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{name} is not an object")  # noqa: TRY004 - one kind of error for a file that is not a plan
    return value


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{name} is not a string")  # noqa: TRY004 - as above
    return value


def _truth(value: Any, name: str) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{name} is not true or false")  # noqa: TRY004 - as above
    return value
