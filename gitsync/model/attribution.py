"""Who changed a resource in Azure, as far as Azure reports it (docs/how-to/drift.md).

Names of people are personal data: see `Attribution.hide_name`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final


class AuthorKind(StrEnum):
    """What kind of principal made a change."""

    PERSON = "person"
    APPLICATION = "application"  # a service principal or a managed identity
    POLICY = "policy"
    AZURE = "azure"  # a change in the background, without a principal
    GITSYNC = "gitsync"  # another run
    UNKNOWN = "unknown"


class ChangeSource(StrEnum):
    """Where Azure keeps the change."""

    RESOURCE_GRAPH = "resource-graph"
    ACTIVITY_LOG = "activity-log"


class Who(StrEnum):
    """The values of `--who`."""

    AUTO = "auto"  # names of people in the terminal, the page and JSON, unless a job or a pod writes them
    NAMES = "names"  # also in comments and pull requests
    OFF = "off"  # no request is sent; authors that Azure returns anyway have no names


A_PERSON: Final = "a person"
"""Stands for the name of a person where names are left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribution:
    """One change in Azure of a drifted, conflicting or missing resource."""

    author: AuthorKind = AuthorKind.UNKNOWN
    name: str = field(default="", repr=False)
    """A UPN, or the id of an application or policy assignment; "" if Azure has none. A log may contain the
    representation, but must not have the name.
    """

    label: str = field(default="", repr=False)  # the display name of an application, "" if it could not be read
    client: str = ""  # the program that made the change, such as `Azure Portal`
    at: str = ""  # RFC 3339, UTC
    operation: str = ""  # the permission that was used, as Azure spells it
    correlation_id: str = ""  # of the activity log
    commit: str = ""  # the revision of the run, if gitsync itself wrote
    paths: tuple[str, ...] = ()
    """JSON pointers of the differences that this change made; empty if Azure returns no fields."""

    source: ChangeSource | None = None  # None if the change was not found
    doubt: str = ""  # a sentence on why the author is not known, "" if it is

    def hide_name(self) -> Attribution:
        """Return the change without what is or may be the name of a person, for everything that is kept or published.
        The correlation id stays: anyone who can read the activity log finds the name with it.
        """
        # An author with an unknown kind may be a person, and any text with an `@` may be the address of one.
        may_be_person = self.author in {AuthorKind.PERSON, AuthorKind.UNKNOWN} or "@" in f"{self.name}{self.label}"
        shown = replace(self, name="", label="") if may_be_person else self
        return replace(shown, client="") if "@" in self.client else shown
