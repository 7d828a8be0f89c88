"""Ours behave as those of the standard library: the same declarations, by both decorators."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from functools import cached_property
from types import ModuleType, SimpleNamespace

import pytest

import gitsync.dataclasses


def declare(by: ModuleType) -> SimpleNamespace:
    """The same classes by one of the two modules; each has members `name` and `count`, and most have others."""

    @by.dataclass(frozen=True, slots=True)
    class Plain:
        name: str
        count: int = 0

        @property
        def shout(self) -> str:
            return self.name.upper()

    @by.dataclass(frozen=True, slots=True, kw_only=True)
    class Named:
        count: int = 0
        name: str
        tags: dict[str, str] = by.field(default_factory=dict)
        secret: str = by.field(default="s3cret", repr=False)

    @by.dataclass(frozen=True, slots=True, order=True)
    class Ordered:
        name: str
        count: int = 0

    @by.dataclass(slots=True)
    class Mutable:
        name: str
        count: int = 0

    @by.dataclass(slots=True, eq=False)
    class Single:
        name: str
        count: int = 0

    @by.dataclass(frozen=True, slots=True)
    class PartlyCompared:
        name: str
        count: int = by.field(default=0, compare=False)

    @by.dataclass(frozen=True, slots=True, kw_only=True)
    class Derived:
        name: str
        count: int = 0
        size: int = by.field(init=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "size", len(self.name))

    @by.dataclass(frozen=True, kw_only=True)
    class Open:
        name: str
        count: int = 0

        @cached_property
        def shout(self) -> str:
            return self.name.upper()

    @by.dataclass(frozen=True, kw_only=True)
    class OpenAndDerived:
        name: str
        count: int = 0

        def __post_init__(self) -> None:
            object.__setattr__(self, "size", len(self.name))

    @by.dataclass(frozen=True, kw_only=True)
    class Below(Open):
        tags: tuple[str, ...] = ()

    classes = (Plain, Named, Ordered, Mutable, Single, PartlyCompared, Derived, Open, OpenAndDerived, Below)
    return SimpleNamespace(**{cls.__name__: cls for cls in classes})


OURS, STANDARD = declare(gitsync.dataclasses), declare(dataclasses)
NAMES = sorted(vars(STANDARD))


def both(of: str, /, **members):
    return [getattr(classes, of)(**members) for classes in (OURS, STANDARD)]


def test_most_are_structs():
    structs = {name for name in NAMES if hasattr(getattr(OURS, name), "__struct_fields__")}
    assert structs == {"Plain", "Named", "Ordered", "Mutable", "Single", "PartlyCompared"}


@pytest.mark.parametrize("name", NAMES)
def test_members_and_equality(name):
    for cls in (getattr(OURS, name), getattr(STANDARD, name)):
        value = cls(name="a", count=1)
        assert (value.name, value.count, cls(name="a").count) == ("a", 1, 0)
        assert (value == cls(name="a", count=1)) is (name != "Single")
        assert (value == cls(name="a", count=2)) is (name == "PartlyCompared")
        assert value != SimpleNamespace(name="a", count=1)


@pytest.mark.parametrize("name", NAMES)
def test_the_same_text(name):
    ours, standard = map(repr, both(name, name="a", count=1))
    assert ours.removeprefix("declare.<locals>.") == standard.removeprefix("declare.<locals>.")
    assert "s3cret" not in ours


@pytest.mark.parametrize("name", NAMES)
def test_the_same_names_of_members(name):
    ours, standard = both(name, name="a")
    expected = [member.name for member in dataclasses.fields(standard)]
    assert [member.name for member in gitsync.dataclasses.fields(ours)] == expected
    assert [member.name for member in gitsync.dataclasses.fields(type(ours))] == expected


@pytest.mark.parametrize("name", NAMES)
def test_what_can_be_set(name):
    for value in both(name, name="a"):
        if name in {"Mutable", "Single"}:
            value.count = 2
            assert value.count == 2
            continue
        with pytest.raises(AttributeError):
            value.count = 2


@pytest.mark.parametrize("name", NAMES)
def test_what_can_be_a_key(name):
    for value in both(name, name="a"):
        if name in {"Mutable", "Named"}:
            with pytest.raises(TypeError, match="unhashable"):
                hash(value)
            continue
        assert (hash(copy.copy(value)) == hash(value)) is (name != "Single")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("members", [{}, {"name": "a", "nmae": "b"}], ids=["one is missing", "one is unknown"])
def test_wrong_members_are_refused(name, members):
    for classes in (OURS, STANDARD):
        with pytest.raises(TypeError, match=r"nmae|name"):
            getattr(classes, name)(**members)


@pytest.mark.parametrize("name", NAMES)
def test_a_copy_has_the_new_members_and_keeps_the_others(name):
    for value in both(name, name="a", count=1):
        other = gitsync.dataclasses.replace(value, count=2)
        assert type(other) is type(value)
        assert (other.name, other.count, value.count) == ("a", 2, 1)
        with pytest.raises(TypeError, match="nmae"):
            gitsync.dataclasses.replace(value, nmae="b")


def test_a_copy_without_slots_is_frozen_and_does_not_keep_what_was_computed():
    for value in both("Open", name="a"):
        assert value.shout == "A"
        other = gitsync.dataclasses.replace(value, name="b")
        assert other.shout == "B"
        with pytest.raises(dataclasses.FrozenInstanceError):
            other.name = "c"


@pytest.mark.parametrize("name", ["Derived", "OpenAndDerived"])
def test_a_copy_derives_again(name):
    for value in both(name, name="a"):
        assert gitsync.dataclasses.replace(value, name="abc").size == 3


def test_every_value_has_a_default_of_its_own():
    for classes in (OURS, STANDARD):
        one, other = classes.Named(name="a"), classes.Named(name="a")
        one.tags["k"] = "v"
        assert other.tags == {}


def test_order_and_places():
    for classes in (OURS, STANDARD):
        values = [classes.Ordered("b", 1), classes.Ordered("a", 2), classes.Ordered("a", 1)]
        assert sorted(values) == values[::-1]
        with pytest.raises(TypeError):
            sorted([classes.Plain("b"), classes.Plain("a")])
        match classes.Plain("a", 1):
            case classes.Plain(name, count):
                assert (name, count) == ("a", 1)
        with pytest.raises(TypeError):
            classes.Named("a")


def test_methods_and_names_of_classes():
    for classes in (OURS, STANDARD):
        assert classes.Plain("a").shout == "A"
        assert classes.Plain.__module__ == __name__
        assert classes.Plain.__qualname__ == "declare.<locals>.Plain"
        assert copy.deepcopy(classes.Named(name="a", tags={"k": "v"})) == classes.Named(name="a", tags={"k": "v"})


@gitsync.dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    name: str
    count: int = 0


def test_a_value_can_be_sent_to_another_process():
    assert pickle.loads(pickle.dumps(Sent(name="a", count=1))) == Sent(name="a", count=1)
