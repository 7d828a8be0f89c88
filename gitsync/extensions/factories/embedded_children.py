"""Body modifiers that keep the children which Azure embeds in their parent (docs/reference/kinds.md#embedded-children).

A PUT of such a parent that leaves them out deletes them, though each is a resource of its own. The children come from
the live body, cut down to what may be sent: the members that a shape names, nulls and empty lists left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gitsync.errors import GitsyncError
from gitsync.extensions.api import Subject
from gitsync.extensions.factories.value_paths import Misshapen

ChildShape = Mapping[str, Any]
"""Members that may be sent: name → None for any value, a shape for an object, [shape] for a list of objects."""

Merge = Callable[[list[Any], list[Any]], list[Any]]


class KeepChildren:
    """Puts the live children at `path` into the body. `shape` gives their shape for an api-version."""

    def __init__(
        self, path: tuple[str, ...], shape: Callable[[str], ChildShape], merge: Merge, *, optional: bool = False
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
        found = _at(body, self._path)
        asked = found if isinstance(found, list) else []
        self._check(children, _names(asked))
        shape = self._shape(subject.api_version)
        try:
            kept = [projected(child, shape) for child in children]
        except Misshapen as fault:
            raise self._unusable(f"unexpected entry: {fault}") from None
        return _with(body, self._path, self._merge(asked, kept))

    def _live_children(self, live: Mapping[str, Any]) -> list[Any] | None:
        *parents, last = self._path
        holder: Any = live
        for step in parents:
            holder = holder.get(step) if isinstance(holder, Mapping) else holder
            if holder is None and self._optional:
                return None
        children = holder.get(last) if isinstance(holder, Mapping) else None
        if isinstance(children, list):
            return children
        raise self._unusable("there is none")

    def _check(self, children: list[Any], asked: set[Any]) -> None:
        """A child without a name or without properties would come back as another one, or not at all.

        Those that git has itself are `asked` for by name, and only need that.
        """
        for place, child in enumerate(children):
            if not (isinstance(child, Mapping) and isinstance(child.get("name"), str) and child["name"]):
                raise self._unusable(f"entry {place + 1} has no name")
            if child["name"] not in asked and not isinstance(child.get("properties"), Mapping):
                raise self._unusable(f"entry {place + 1} has no properties")

    def _unusable(self, how: str) -> GitsyncError:
        return GitsyncError(
            f"The response has no usable list at {'.'.join(self._path)}, so a PUT could delete its entries: {how}.",
            hint="gitsync sent nothing. Check the resource in Azure.",
        )


def replace(_asked: list[Any], live: list[Any]) -> list[Any]:
    """The live children, whatever the body says: ASO's manifests have no such field."""
    return live


def merge_by_name(asked: list[Any], live: list[Any]) -> list[Any]:
    """The desired children, in their order, then the live children of other names."""
    names = _names(asked)
    return [*asked, *(child for child in live if child.get("name") not in names)]


def _names(asked: list[Any]) -> set[Any]:
    return {entry.get("name") for entry in asked if isinstance(entry, Mapping)}


def projected(value: Any, shape: Any) -> Any:
    """Cut a live value down to a shape; members match without case and are spelled as the shape does.

    Raises Misshapen where a list or an object is something else; null is nothing of either.
    """
    if shape is None:
        return value
    if isinstance(shape, list):
        if not isinstance(value, list | None):
            raise Misshapen("is not a list")
        return [projected(entry, shape[0]) for entry in value or []]
    if not isinstance(value, Mapping | None):
        raise Misshapen("is not an object")
    members = {name.casefold(): member for name, member in (value or {}).items()}
    found = {name: _member(members.get(name.casefold()), inner, name) for name, inner in shape.items()}
    return {name: member for name, member in found.items() if member not in (None, [], {})}


def _member(value: Any, shape: Any, name: str) -> Any:
    try:
        return projected(value, shape)
    except Misshapen as fault:
        raise Misshapen(fault.how, fault.where or name) from None


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
