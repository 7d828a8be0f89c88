from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass, field

import pytest

from gitsync.model.copies import replace


@dataclass(frozen=True, kw_only=True)
class Open:
    """A value without slots."""

    name: str
    count: int = 0
    tags: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Slotted:
    name: str
    count: int = 0


@pytest.mark.parametrize("kind", [Open, Slotted])
def test_a_copy_has_the_new_members_and_keeps_the_others(kind):
    value = kind(name="a", count=1)
    assert replace(value, count=2) == kind(name="a", count=2)
    assert value == kind(name="a", count=1)


@pytest.mark.parametrize("kind", [Open, Slotted])
def test_an_unknown_member_is_refused(kind):
    with pytest.raises(TypeError, match="nmae"):
        replace(kind(name="a"), nmae="b")


def test_a_copy_is_frozen():
    with pytest.raises(FrozenInstanceError):
        replace(Open(name="a"), count=1).count = 2
