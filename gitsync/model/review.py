"""A reviewed plan: what a sync may do, and the input that the plan was made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gitsync.model.gvk import Key
from gitsync.model.verdict import Action


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewed:
    """One resource of a reviewed plan. Digests are "" if there is nothing to digest.

    `desired` is the digest of the request (id, api-version and body), `live` that of the live state. `secrets`
    says that the body holds some, so that `desired` depends on the digest key. `later` are the parts of the request
    that only a later step of a run knows, which `desired` leaves out: JSON pointers into the body, or "id".
    """

    action: Action
    desired: str = ""
    live: str = ""
    etag: str | None = None
    secrets: bool = False
    later: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """A whole reviewed plan.

    `repository` and `revision` say what was planned, in words that are the same on every machine. `digest_key` names
    the key that digests of secrets were made with, "" for none.
    """

    repository: str
    revision: str
    prune: bool
    digest_key: str
    nodes: Mapping[Key, Reviewed]
