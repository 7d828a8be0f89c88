"""Request bodies become bytes here, and only here are the secrets in them revealed.

What was revealed is remembered beside the bytes: Azure's error may quote it back, and has to be masked before anyone
reads it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from gitsync.model.secret import Secret

MASK = "<secret>"


@dataclass(frozen=True, slots=True)
class Payload:
    """The bytes of a body, and the secrets in it, longest first."""

    content: bytes = field(repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)


def encode_payload(body: Mapping[str, Any]) -> Payload:
    """JSON with the secrets revealed. Raises TypeError for what is not JSON, ValueError for NaN and infinities."""
    revealed: set[str] = set()

    def reveal(value: object) -> Any:
        if isinstance(value, Secret):
            revealed.add(value.reveal())
            return value.reveal()
        if isinstance(value, Mapping):
            return dict(value)
        raise TypeError(f"a body cannot contain a {type(value).__name__}")

    content = json.dumps(dict(body), default=reveal, allow_nan=False).encode()
    return Payload(content, tuple(sorted(revealed - {""}, key=lambda secret: (-len(secret), secret))))


def mask_payload(value: Any, secrets: Iterable[str]) -> Any:
    """A text, or JSON of texts, without the given secrets, be they plain or escaped as JSON does it."""
    if isinstance(value, str):
        for secret in secrets:
            for spelling in (secret, json.dumps(secret)[1:-1]):
                value = value.replace(spelling, MASK)
        return value
    if isinstance(value, Mapping):
        return {key: mask_payload(item, secrets) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [mask_payload(item, secrets) for item in value]
    return value
