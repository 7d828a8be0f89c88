"""What the provider has to know of one kind of directory objects: the form of a row in `directory_kinds.py`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from gitsync.errors import ArmError
from gitsync.model.live import Live

GraphObject = Mapping[str, Any]
"""An object as Microsoft Graph shows it."""

Body = Mapping[str, Any]
"""The desired state of an object, in the words of its manifest."""

GUID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


class ObjectSearch(NamedTuple):
    """A search for the objects that a manifest may mean: all with a value, in any case, as Graph compares texts."""

    member: str
    value: str


class GraphRefusal(NamedTuple):
    """Why no request is sent that Microsoft Graph would refuse, and what to do."""

    message: str
    hint: str
    code: str = "PropertyChangeNotAllowed"


class Names(NamedTuple):
    """What messages call the objects of a kind, and the codes of errors about them."""

    one: str  # such as `group`
    several: str  # that a search has found, such as `security groups`
    if_several: str  # what to do then
    ambiguous: str  # the code of the error for them
    malformed: str  # that of an answer that is no such object
    in_use: str  # that of an object that another manifest has
    if_in_use: str = "Keep one of the manifests, or give each of them a unique displayName."  # what to do then


def list_name_searches(body: Body) -> tuple[ObjectSearch, ...]:
    """Search by displayName; not at all while it is unknown in a plan."""
    name = body.get("displayName")
    return (ObjectSearch("displayName", name),) if isinstance(name, str) and name else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectoryKind:
    """One kind of directory objects."""

    names: Names  # what messages and codes call the objects
    collection: str  # the path below which Graph has them
    list_searches: Callable[[Body], tuple[ObjectSearch, ...]]
    """The searches for the objects that a body may mean, the most certain first: the next is sent if one finds nothing.
    """

    is_meant: Callable[[GraphObject], bool]  # whether a manifest may mean an object that has the name
    find_fault: Callable[[GraphObject], str]
    """What is wrong with a shown object, beside its id and displayName; "" if nothing is."""

    show: Callable[[GraphObject, Body], Live]
    """The object in the words of a manifest, with its id. Of two ways to write a value, the body's is shown."""

    make_create: Callable[[Body], dict[str, Any]]  # makes the body of the POST that creates an object
    refuse_create: Callable[[Body], GraphRefusal | None]  # why no object with a body can be created
    refuse_match: Callable[[Body, GraphObject], GraphRefusal | None]
    """Why the only object that a search found is not the one that a body means."""

    may_be_late: Callable[[ArmError], bool]
    """Whether a POST may be refused only since Graph does not show another new object yet."""

    compute_changes: Callable[[Body, GraphObject, Body | None], dict[str, Any]]
    """What a PATCH has to send, so that an object becomes what a body states; nothing if it is that. The last body is
    what was sent before: values that git no longer states are removed.
    """

    compute_fixed_changes: Callable[[Body, GraphObject], dict[str, tuple[Any, Any]]]
    """What a body changes although Graph fixes it when it creates an object: by name, the value of the object and that
    of git.
    """

    read_permission: str  # the smallest application permission that reads the objects
    explain_denied_write: Callable[[GraphObject | None], str]
    """What a refused write lacks, by the object or the body of a POST; None for one of which only the id is known.
    `{identity}` is the refused identity.
    """
