"""Records, results and reports by the names of their fields, in whichever part of the value these are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any, get_type_hints

from gitsync.model.arm_id import ArmId


def build(kind: Callable[..., Any], **members: Any) -> Any:
    """A value of a class, with the members of its parts."""
    return kind(**_gather(kind, members, lambda part, _name, chosen: part(**chosen)))


def change(value: Any, **members: Any) -> Any:
    """The value with other members, of its own or of its parts."""
    return replace(
        value, **_gather(type(value), members, lambda _part, name, chosen: replace(getattr(value, name), **chosen))
    )


def _gather(kind: Any, members: dict[str, Any], make: Callable[[Any, str, dict[str, Any]], Any]) -> dict[str, Any]:
    own = {field.name for field in fields(kind)}
    if isinstance(members.get("arm_id"), str):  # rows of tests have texts
        members = members | {"arm_id": ArmId(members["arm_id"])}
    gathered = {name: value for name, value in members.items() if name in own}
    left = {name: value for name, value in members.items() if name not in own}
    for name, part in get_type_hints(kind).items():
        if name not in own or not isinstance(part, type) or not is_dataclass(part):
            continue
        if name in gathered:
            if not isinstance(gathered[name], part):
                raise TypeError(f"{name} is a {part.__name__}, not {gathered[name]!r}")
            continue
        chosen = {field.name: left.pop(field.name) for field in fields(part) if field.name in left}
        if chosen:
            gathered[name] = make(part, name, chosen)
    return gathered | left  # what is of no part is refused as any unknown member
