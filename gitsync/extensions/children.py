"""Body modifiers that keep the children which Azure embeds in their parent (extensions.md §6).

A PUT of such a parent that leaves them out deletes them, though each is a resource of its own. The children come from
the live body, cut down to what may be sent: the members that a shape names, nulls and empty lists left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gitsync.errors import GitsyncError
from gitsync.extensions.points import Subject

Shape = Mapping[str, Any]
"""Members that may be sent: name → None for any value, a shape for an object, [shape] for a list of objects."""

Merge = Callable[[list[Any], list[Any]], list[Any]]


class KeepChildren:
    """Puts the live children at `path` into the body. `shape` gives their shape for an api-version."""

    def __init__(
        self, path: tuple[str, ...], shape: Callable[[str], Shape], merge: Merge, *, optional: bool = False
    ) -> None:
        self._path = path
        self._shape = shape
        self._merge = merge
        self._optional = optional  # a missing object on the way means that there are none

    def __call__(self, body: Mapping[str, Any], subject: Subject) -> Mapping[str, Any]:
        """Raises GitsyncError where Azure's answer has no such list: unknown is not empty."""
        if subject.live is None:
            return body
        children = self._live_children(subject.live.body)
        if children is None:
            return body
        kept = [projected(child, self._shape(subject.api_version)) for child in children]
        asked = _at(body, self._path)
        return _with(body, self._path, self._merge(asked if isinstance(asked, list) else [], kept))

    def _live_children(self, live: Mapping[str, Any]) -> list[Any] | None:
        *parents, last = self._path
        holder: Any = live
        for step in parents:
            holder = holder.get(step) if isinstance(holder, Mapping) else None
            if holder is None and self._optional:
                return None
        children = holder.get(last) if isinstance(holder, Mapping) else None
        if isinstance(children, list):
            return children
        raise GitsyncError(
            f"Azure's answer has no list at {'.'.join(self._path)}, so a PUT might delete what stands there.",
            hint="Nothing was sent. Look at the resource in Azure.",
        )


def replace(_asked: list[Any], live: list[Any]) -> list[Any]:
    """The live children, whatever the body says: ASO's manifests have no such field."""
    return live


def merge_by_name(asked: list[Any], live: list[Any]) -> list[Any]:
    """What git asks for, in its order, then the live children of other names."""
    names = {entry.get("name") for entry in asked}
    return [*asked, *(child for child in live if child.get("name") not in names)]


def projected(value: Any, shape: Any) -> Any:
    """Cut a live value down to a shape; members match without case and are spelled as the shape does."""
    if shape is None:
        return value
    if isinstance(shape, list):
        return [projected(entry, shape[0]) for entry in value or []]
    members = {name.casefold(): member for name, member in (value or {}).items()}
    found = {name: projected(members.get(name.casefold()), inner) for name, inner in shape.items()}
    return {name: member for name, member in found.items() if member not in (None, [], {})}


def _at(body: Any, path: tuple[str, ...]) -> Any:
    for step in path:
        body = body.get(step) if isinstance(body, Mapping) else None
    return body


def _with(body: Mapping[str, Any], path: tuple[str, ...], children: list[Any]) -> Mapping[str, Any]:
    """Return the body with the list at the path, or without it where the list is empty: ASO sends no empty one."""
    step, *rest = path
    if rest:
        inner = body.get(step)
        return {**body, step: _with(inner if isinstance(inner, Mapping) else {}, tuple(rest), children)}
    return {**body, step: children} if children else {name: value for name, value in body.items() if name != step}
