"""The systems that have resources, and the input of a provider other than ARM."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from gitsync.model.arm_id import NO_ID, ArmId
from gitsync.model.gvk import GVK, Key
from gitsync.model.secret import Secret


class Provider(StrEnum):
    """The system that has the resources of a kind. Each has a folder, except SQL, to which no run connects."""

    ARM = "arm"
    ENTRA = "entra"  # Microsoft Graph
    POSTGRESQL = "postgresql"
    MYSQL = "mysql"
    SQL = "sql"


KEEPS_ADOPTED = frozenset({Provider.ENTRA})
"""Providers whose adopted resources are not deleted: many others may depend on a group or an application."""


IN_USE = frozenset({"ApplicationInUse", "GroupInUse", "ServicePrincipalInUse"})
"""The codes of a delete that would delete the resource of another manifest, such as after a rename."""


class Kept(NamedTuple):
    """What a record keeps for the provider of a resource, so that a later run finds it without its manifest."""

    given_id: str = ""  # the id that the provider generated, such as the object id of a group
    administrator: str = ""  # the login that manages it
    password_from: tuple[str, str] | None = None  # the Secret and key of that login's password; None if a token is used
    alias: str = ""  # the name of a user in its server, "" if it is that of its id


NOTHING_KEPT = Kept()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvidedResource:
    """A resource of another provider than ARM, as in its manifest or, for a prune, in its record."""

    key: Key
    gvk: GVK
    arm_id: ArmId  # the id that a run uses for it, below that of its owner
    name: str  # its own, such as that of a user
    owner_id: ArmId = NO_ID  # "" without an owner
    spec: Mapping[str, Any] = field(default_factory=dict)  # of the manifest, empty for a prune
    body: Mapping[str, Any] | None = None  # the desired state, with `Secret` values; None for a prune
    applied: Mapping[str, Any] | None = None
    """What gitsync last sent, with digests in place of secrets; None if it sent nothing."""

    kept: Kept = NOTHING_KEPT
    administrator_password: Secret | None = None  # the one that `kept` names, for a prune; None if a token is used
    is_expected: bool = False  # an earlier run may have created it, but did not see the response
    sets_password: bool = False  # the password in `body` is not the one that was last set, as far as is known
