"""Random bodies of ARM's types, as people may write them: members that the type has, in any number, with values that
fit.
"""

from __future__ import annotations

import random
from typing import Any, NamedTuple

from gitsync.desired.catalog.arm_types import open_arm_types
from gitsync.desired.catalog.body_types import BodyType
from gitsync.model.facts import ScopeFlag

_DEEPEST = 5
_WORDS = ("a", "b c", "$schema", "$connections", "[variables('x')]", "ä", "0", "true", "null", "- x: {", "#", " ")
_FREE: tuple[Any, ...] = (
    None,
    True,
    0,
    -1.5,
    "",
    *_WORDS,
    [],
    {},
    {"$secret": 1, "b": None},
    [[{"$reference": []}], None],
)


class RandomBody(NamedTuple):
    arm_type: str
    api_version: str
    body: dict[str, Any]
    texts: list[tuple[str | int, ...]]  # the paths of its free texts
    in_group: bool  # whether its type can be in a resource group


def make_random_body(seed: int, *, often: float = 0.3) -> RandomBody:
    """Make a body of a type that the seed chooses. `often` is the share of the optional members that it has."""
    rng, types = random.Random(seed), open_arm_types()
    while True:
        arm_type = types.find_type(rng.choice(types.list_names()))
        versions = [name for name, version in arm_type.versions.items() if version.writable] if arm_type else []
        if arm_type is None or not versions:
            continue
        version = rng.choice(versions)
        body_type = types.find_body(arm_type.name, version)
        if body_type is None or body_type.by == "name" or not body_type.is_object:
            continue
        maker = _Maker(rng, often)
        body = maker.make(body_type, ())
        in_group = bool(arm_type.versions[version].writable & (ScopeFlag.RESOURCE_GROUP | ScopeFlag.EXTENSION))
        return RandomBody(arm_type.name, version, body, maker.texts, in_group)


class _Maker:
    def __init__(self, rng: random.Random, often: float) -> None:
        self._rng, self._often = rng, often
        self.texts: list[tuple[str | int, ...]] = []

    def make(self, body_type: BodyType, path: tuple[str | int, ...]) -> Any:
        rng = self._rng
        match body_type.shape:
            case "object" | "variants":
                return self._make_object(body_type, path)
            case "list":
                count = 0 if len(path) > _DEEPEST else rng.randint(0, 2)
                item = body_type.item
                return [self.make(item, (*path, index)) for index in range(count)] if item else []
            case "choice":
                return rng.choice(list(body_type.choices))
            case "string":
                self.texts.append(path)
                return rng.choice((*body_type.choices, *_WORDS))
            case "integer":
                return rng.randint(0, 9)
            case "boolean":
                return rng.random() < 0.5
        return rng.choice(_FREE)

    def _make_object(self, body_type: BodyType, path: tuple[str | int, ...]) -> dict[str, Any]:
        rng, value = self._rng, {}
        parts = [body_type]
        if body_type.shape == "variants":
            chosen = rng.choice(list(body_type.variant_names))
            value[body_type.by] = chosen
            if (variant := body_type.find_variant(chosen)) is not None:
                parts.append(variant)
        members = [member for part in parts for member in part.members.values() if member.name not in value]
        rng.shuffle(members)
        for member in members:
            is_own = not path and member.name.casefold() in {"name", "id", "type"}
            is_there = member.is_required or (len(path) < _DEEPEST and rng.random() < self._often)
            if is_there and not is_own and not member.is_read_only and len(path) < 2 * _DEEPEST:
                value[member.name] = self.make(member.type, (*path, member.name))
        if body_type.others is not None and rng.random() < self._often:
            value["$connections"] = self.make(body_type.others, (*path, "$connections"))
        return value
