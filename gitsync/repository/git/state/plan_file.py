"""A plan file: what `plan --out` writes and `sync --plan` reads back.

JSON, sorted, the same bytes for the same plan. It has digests instead of values from manifests or Azure. Others may
have edited it, so everything is checked before it is used; its seal (`plan_seal`) shows whether they did.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from gitsync.desired.problems.checked_mapping import CheckedMapping
from gitsync.desired.problems.field_path import FieldPath, format_field
from gitsync.errors import ConfigError
from gitsync.model.gvk import Key
from gitsync.model.plan import Review, Reviewed
from gitsync.model.verdict import Action

SCHEMA = 1
LARGEST = 64 * 1024 * 1024
"""Bytes; a plan of 100,000 resources has less."""

_HINT = "Run `gitsync plan --out` to create a new plan."
_MEMBERS = frozenset({"schema", "repository", "revision", "prune", "digestKey", "nodes", "seal"})
_NODE_MEMBERS = frozenset({"action", "desiredDigest", "liveDigest", "etag", "secrets", "later"})


def encode_plan(review: Review) -> str:
    """Write a plan as the text of a plan file, ended by a newline."""
    document = {
        "schema": SCHEMA,
        "repository": review.repository,
        "revision": review.revision,
        "prune": review.prune,
        "digestKey": review.digest_key,
        "nodes": {str(key): _encode_node(node) for key, node in review.nodes.items()},
        **({"seal": review.seal} if review.seal else {}),
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
    """Read the plan of a file. ConfigError (what is wrong, and what to do) for anything that `encode_plan` did not
    make.
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
    members = json.loads(content.decode(), object_pairs_hook=_reject_duplicates)
    if not isinstance(members, dict):
        raise ValueError("the file is not an object")  # noqa: TRY004 - one kind of error for a file that is not a plan

    def refuse(where: FieldPath, problem: str) -> ValueError:
        return ValueError(f"{format_field(where)} {problem}")

    document = CheckedMapping({"seal": "", **members}, refuse)  # older versions wrote none
    schema = members.get("schema")
    if schema != SCHEMA:
        problem = "it has no schema" if schema is None else f"its schema is {schema!r}"
        raise ValueError(f"{problem}; this gitsync reads {SCHEMA}")
    document.check_names(_MEMBERS)
    nodes = document.within("nodes")
    return Review(
        repository=document.text("repository"),
        revision=document.text("revision"),
        prune=document.switch("prune"),
        digest_key=document.text("digestKey"),
        nodes={_parse_key(name): _decode_node(nodes, name) for name in nodes.values},
        seal=document.text("seal"),
    )


def _decode_node(nodes: CheckedMapping, name: str) -> Reviewed:
    node = nodes.within(name)
    # Both members are omitted where they have their default.
    node = replace(node, values={"secrets": False, "later": [], **node.values})
    node.check_names(_NODE_MEMBERS)
    return Reviewed(
        action=node.one_of("action", Action),
        desired=node.text("desiredDigest"),
        live=node.text("liveDigest"),
        etag=None if node.values["etag"] is None else node.text("etag"),
        secrets=node.switch("secrets"),
        later=node.texts("later"),
    )


def _reject_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("it has a member twice")
    return members


def _parse_key(text: str) -> Key:
    try:
        return Key.parse(text)
    except ValueError:
        raise ValueError(f"{text!r} is not Kind.group/namespace/name") from None
