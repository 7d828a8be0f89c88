"""Body modifiers that keep the children which Azure embeds in their parent (docs/reference/kinds.md#embedded-children).

A PUT of such a parent that leaves them out deletes them, though each is a resource of its own. The children come from
the live body, except those that the run changes next (`Subject.children`). They are cut down to what may be sent: the
members that a shape names, nulls and empty lists left out. A list that the live body does not show is empty only if the
collection of the children is empty.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gitsync.desired.problems.field_path import find_member
from gitsync.errors import GitsyncError, UnexpectedShapeError
from gitsync.extensions.api import LookupRequest, Modifier, Subject
from gitsync.model.arm_id import ArmId

ChildShape = Mapping[str, Any]
"""Members that may be sent: name → None for any value, a shape for an object, [shape] for a list of objects."""

_ABSENT, _UNEXPECTED = object(), object()

Merge = Callable[[list[Any], list[Any]], list[Any]]


def keep_children(
    path: tuple[str, ...], shape: Callable[[str], ChildShape], merge: Merge, *, optional: bool = False
) -> Modifier:
    """Put the live children at `path` into the body. `shape` gives their shape for an api-version.

    Their collection is named as the last word of the path. It is read if the resource shows no list. `optional`: a
    missing object on the way to the list means that there are none.
    """
    keeper = _Keeper(path, shape, merge, optional=optional)
    return Modifier(asks=keeper.request, sent=keeper.keep)


class _Keeper:
    def __init__(
        self, path: tuple[str, ...], shape: Callable[[str], ChildShape], merge: Merge, *, optional: bool = False
    ) -> None:
        self._path = path
        self._shape = shape
        self._merge = merge
        self._optional = optional

    def request(self, subject: Subject) -> tuple[LookupRequest, ...]:
        """The collection of the children, if the resource exists and shows no list of them."""
        # Nothing exists yet that a PUT could delete, or the resource shows the list itself.
        if subject.live is None or self._find_shown(subject.live.body) is not None:
            return ()
        return (self._make_lookup(subject),)

    def keep(self, body: Mapping[str, Any], subject: Subject) -> Mapping[str, Any]:
        """The body with the live children. Raises GitsyncError if they are not known: unknown is not empty."""
        if subject.live is None:
            return body
        children = self._find_children(subject, subject.live.body)
        # There can be no children, so there is nothing to keep.
        if children is _ABSENT:
            return body
        value = find_member(body, *self._path)
        desired = value if isinstance(value, list) else []
        self._check(children, _list_names(desired))
        shape = self._shape(subject.api_version)
        try:
            live_children = [project(self._bring_along(child, subject), shape) for child in children]
        except UnexpectedShapeError as fault:
            raise self._make_unusable_error(f"unexpected entry: {fault}") from None
        return _replace_list(body, self._path, self._merge(desired, live_children))

    def _bring_along(self, child: Mapping[str, Any], subject: Subject) -> Mapping[str, Any]:
        """The child as the run brings it to its state in git; as Azure has it if the run does not."""
        # The run changes none of them, which is the usual case.
        if not subject.children:
            return child
        body = subject.children.get(ArmId(f"{subject.arm_id}/{self._path[-1]}/{child['name']}").key, child)
        # Only the properties: name and id stay as Azure spells them.
        return {**child, "properties": body.get("properties")}

    def _make_lookup(self, subject: Subject) -> LookupRequest:
        return LookupRequest(f"{subject.arm_id}/{self._path[-1]}", subject.api_version, lists=True)

    def _find_shown(self, live: Mapping[str, Any]) -> Any:
        """What the resource shows at the path: None for nothing, `_ABSENT` if there can be no children, `_UNEXPECTED`
        if something on the way is not an object.
        """
        found: Any = live
        for index, step in enumerate(self._path):
            if found is None and self._optional and index:
                return _ABSENT
            if found is None:
                return None
            if not isinstance(found, Mapping):
                return _UNEXPECTED
            found = found.get(step)
        return found

    def _find_children(self, subject: Subject, live: Mapping[str, Any]) -> Any:
        """The list of the children, or `_ABSENT`. A list that is not shown is empty if the collection is."""
        found = self._find_shown(live)
        if found is _ABSENT or isinstance(found, list):
            return found
        listed = subject.answers.get(self._make_lookup(subject))
        # Both ways show nothing, so there are none. One of them alone may only not show them.
        if found is None and listed == ():
            return []
        raise self._make_unusable_error("there is none, and the collection is not empty" if listed else "there is none")

    def _check(self, children: list[Any], desired_names: set[Any]) -> None:
        """A child without a name or without properties would come back as another one, or not at all."""
        for index, child in enumerate(children):
            if not (isinstance(child, Mapping) and isinstance(child.get("name"), str) and child["name"]):
                raise self._make_unusable_error(f"entry {index + 1} has no name")
            # Children in git need only a name.
            if child["name"] not in desired_names and not isinstance(child.get("properties"), Mapping):
                raise self._make_unusable_error(f"entry {index + 1} has no properties")

    def _make_unusable_error(self, problem: str) -> GitsyncError:
        return GitsyncError(
            f"The response has no usable list at {'.'.join(self._path)}, so a PUT could delete its entries: {problem}.",
            hint="gitsync sent nothing. Check the resource in Azure.",
        )


def replace(_desired: list[Any], live: list[Any]) -> list[Any]:
    """The live children, whatever the body has: ASO's manifests have no such field."""
    return live


def merge_by_name(desired: list[Any], live: list[Any]) -> list[Any]:
    """The desired children, in their order, then the live children of other names."""
    names = _list_names(desired)
    return [*desired, *(child for child in live if child.get("name") not in names)]


def _list_names(desired: list[Any]) -> set[Any]:
    return {entry.get("name") for entry in desired if isinstance(entry, Mapping)}


def project(value: Any, shape: Any) -> Any:
    """Cut a live value down to a shape; members match without case and are spelled as the shape does.

    Raises UnexpectedShapeError if a list or an object is something else; null is empty.
    """
    if shape is None:
        return value
    if isinstance(shape, list):
        if not isinstance(value, list | None):
            raise UnexpectedShapeError("is not a list")
        return [project(entry, shape[0]) for entry in value or []]
    if not isinstance(value, Mapping | None):
        raise UnexpectedShapeError("is not an object")
    members = {name.casefold(): member for name, member in (value or {}).items()}
    projection = {name: _project_member(members.get(name.casefold()), inner, name) for name, inner in shape.items()}
    return {name: member for name, member in projection.items() if member not in (None, [], {})}


def _project_member(value: Any, shape: Any, name: str) -> Any:
    try:
        return project(value, shape)
    except UnexpectedShapeError as fault:
        raise UnexpectedShapeError(fault.problem, fault.path or name) from None


def _replace_list(body: Mapping[str, Any], path: tuple[str, ...], children: list[Any]) -> Mapping[str, Any]:
    """Return the body with the list at the path, or without it if the list is empty: ASO sends no empty one."""
    step, *rest = path
    if rest:
        inner = body.get(step)
        return {**body, step: _replace_list(inner if isinstance(inner, Mapping) else {}, tuple(rest), children)}
    return {**body, step: children} if children else {name: value for name, value in body.items() if name != step}
