"""The identities that credential Secrets may name, as an operator lists them: the value of `allow_identities`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gitsync.model.problem import SourceLocation

EVERY_NAMESPACE: Final = ("*",)


class IdentityMode(StrEnum):
    """What becomes of a resource whose identity no entry allows."""

    REFUSE = "refuse"
    REPORT = "report"  # a warning


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityEntry:
    """The identities of some namespaces. An empty tuple allows any."""

    source: SourceLocation
    namespaces: tuple[str, ...] = EVERY_NAMESPACE  # names, in which * stands for any text
    clients: tuple[str, ...] = ()  # client ids in lower case
    tenants: tuple[str, ...] = ()  # ids in lower case, additional tenants included
    subscriptions: tuple[str, ...] = ()  # ids in lower case
    clouds: tuple[str, ...] = ()
    """Addresses of other clouds, in lower case and without a slash at the end. Here, an empty tuple allows none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowedIdentities:
    """The allow-list of an operator."""

    name: str  # in messages: its file, or the setting
    is_file: bool = False  # `name` is the path of a file
    mode: IdentityMode = IdentityMode.REFUSE
    of_global: tuple[str, ...] = EVERY_NAMESPACE  # namespaces that may use the global credential, as in an entry
    entries: tuple[IdentityEntry, ...] = ()

    @property
    def refuses(self) -> bool:
        return self.mode is IdentityMode.REFUSE
