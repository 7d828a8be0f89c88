"""Reads members of unchecked JSON, such as Azure's response or the claims of a token.

A malformed member counts as absent. So this is for members that may be absent: an answer that decides on a write or a
delete is checked before it is believed (gitsync.providers.arm.http.response_bodies).
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, TypeGuard

from gitsync.desired.formats.strict_json import read_json


def is_number(value: object) -> TypeGuard[float]:
    """Return whether a value is a number of JSON: Python counts its booleans as numbers too."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def as_mapping(value: object) -> Mapping[str, Any]:
    """Return an object; an empty one in place of anything else."""
    return value if isinstance(value, Mapping) else {}


def read_mapping(body: object, name: str) -> Mapping[str, Any]:
    """Return a member that is an object; an empty one in place of anything else."""
    return as_mapping(as_mapping(body).get(name))


def read_text(body: object, name: str) -> str:
    """Return a member that is a text; "" in place of anything else."""
    value = as_mapping(body).get(name)
    return value if isinstance(value, str) else ""


def find_in_any_case(body: Mapping[str, Any], name: str) -> Any:
    """Find a member by its name, in any case if it has none of this case; None if it is absent or null."""
    if name in body:
        return body[name]
    folded = name.casefold()
    return next((value for key, value in body.items() if key.casefold() == folded), None)


def list_mappings(body: object, name: str) -> list[Mapping[str, Any]]:
    """Return the objects in a member that is a list; none in place of anything else."""
    entries = as_mapping(body).get(name)
    return [entry for entry in entries if isinstance(entry, Mapping)] if isinstance(entries, list) else []


def read_claims(token: str) -> Mapping[str, Any] | None:
    """Read the claims of a JWT (RFC 7519), whose signature is not checked; None if it is not one."""
    try:
        payload = token.split(".")[1]
        # JWTs leave out the padding, which Python demands.
        claims = read_json(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    except (IndexError, ValueError):
        return None
    return claims if isinstance(claims, dict) else None
