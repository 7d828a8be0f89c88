"""The identity that writes a resource, as far as it is known without a token, and its change between two writes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from gitsync.model.problem import SourceLocation


class IdentityIds(NamedTuple):
    """The ids of an identity, as the settings or a Secret name them; "" for those that nothing names."""

    client_id: str = ""
    tenant_id: str = ""

    @property
    def is_known(self) -> bool:
        return bool(self.client_id)

    def is_same(self, other: IdentityIds) -> bool:
        """Return whether both name the same identity. Entra ID ignores the case of ids."""
        return [text.casefold() for text in self] == [text.casefold() for text in other]


NO_IDS = IdentityIds()


@dataclass(frozen=True, slots=True, kw_only=True)
class WritingIdentity:
    """The identity that writes a resource."""

    credential: str = ""  # the name of its Secret; "" for the global credential
    ids: IdentityIds = NO_IDS  # without ids if they are not known
    subscription: str = ""  # "" if it is not known
    source: SourceLocation | None = None  # the manifest of the Secret; None if another source has it
    store: str = ""  # that source of Secrets; "" for a manifest, for the global credential, and if it is not known
    is_unread: bool = False  # the plan does not read the Secret
    hidden: tuple[str, ...] = field(default=(), repr=False)
    """What the Secret has instead of ids, which shows whether they changed: ids that SOPS encrypted, or the path of a
    file. No report has it.
    """

    @property
    def is_global(self) -> bool:
        return not self.credential


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityChange:
    """A resource is written by another identity than before."""

    before: WritingIdentity
    now: WritingIdentity
