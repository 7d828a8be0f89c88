"""Who has the desired state of a resource, and what a provider other than ARM gets of one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from gitsync.model.gvk import GVK, Key
from gitsync.model.secret import Secret


class Provider(StrEnum):
    """The system that has the resources of a kind. Each is a folder, except SQL, which no run requests."""

    ARM = "arm"
    ENTRA = "entra"  # Microsoft Graph
    POSTGRESQL = "postgresql"
    MYSQL = "mysql"
    SQL = "sql"


KEEPS_ADOPTED = frozenset({Provider.ENTRA})
"""What was there before gitsync is not deleted: many others may depend on a group."""


IN_USE = "GroupInUse"
"""The code of a delete that would take the resource of another manifest, as after a manifest was renamed."""


class Kept(NamedTuple):
    """What a record keeps for the provider of a resource, so that a later run finds it again without its manifest.

    `given_id` is the id that the provider gave it, such as the object id of a group. `administrator` is the login that
    manages it, and `password_from` the Secret and key of its password; None if a token is used. `alias` is the name of
    a user inside of its server, "" if it is that of its id.
    """

    given_id: str = ""
    administrator: str = ""
    password_from: tuple[str, str] | None = None
    alias: str = ""


NOTHING_KEPT = Kept()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvidedResource:
    """A resource that another provider than ARM has, as git states it or, for a prune, as its record does.

    `arm_id` is the id by which a run has it, below that of its owner `owner_id` ("" without one). `name` is its own,
    such as that of a user. `spec` is that of the manifest, empty for a prune. `body` is what git wants, with its
    Secrets as `Secret` values; None for a prune. `applied` is what gitsync last sent, digests in place of secrets; None
    if it has sent nothing. `administrator_password` is the one that `kept` names, for a prune; None if a token is used.
    `is_expected`: an earlier run may have created it, and did not see the answer. `sets_password`: the password in
    `body` is not the one that was last set, as far as is known.
    """

    key: Key
    gvk: GVK
    arm_id: str
    name: str
    owner_id: str = ""
    spec: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    applied: Mapping[str, Any] | None = None
    kept: Kept = NOTHING_KEPT
    administrator_password: Secret | None = None
    is_expected: bool = False
    sets_password: bool = False
