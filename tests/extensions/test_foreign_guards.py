"""What becomes of an extension of another package that fails, or answers what no one asked, at every point."""

from dataclasses import fields

import pytest

from gitsync.errors import ArmError, ExtensionError, GitsyncError
from gitsync.extensions.api import ActionCall, Extension, LookupRequest, Modifier, imported, proceed
from gitsync.extensions.registry import Registry
from gitsync.extensions.third_party import guard_extension
from gitsync.model.secret import Secret
from tests.extensions.asking import Nobody, subject

KEY = "k3y-that-nobody-may-see"
ABOUT = subject("g", "K")
WANTED = frozenset({"a"})


def of(**points):
    return Registry([guard_extension(Extension(group="g", kind="K", **points), "others")])


async def deleted(_about, _azure):
    """The DELETE of the resource itself."""


async def loaded(about):
    return about, imported()


REQUEST = {
    "owner_check": lambda known: known.owner_check(ABOUT, Nobody()),
    "pre_check": lambda known: known.pre_check(ABOUT, Nobody()),
    "post_check": lambda known: known.post_check(ABOUT, Nobody()),
    "classify": lambda known: known.classify(ArmError("m"), ("g", "K")),
    "modify": lambda known: known.modified({}, ABOUT),
    "delete": lambda known: known.delete(ABOUT, Nobody(), deleted),
    "importer": lambda known: known.import_(ABOUT, loaded),
    "export_secrets": lambda known: known.export_secrets(ABOUT, Nobody(), WANTED),
    "export_config_maps": lambda known: known.export_config_maps(ABOUT, Nobody(), WANTED),
    "succeeded": lambda known: known.succeeded(ABOUT, Nobody()),
    "foreseen": lambda known: known.foreseen(ABOUT),
}
ASYNCHRONOUS = frozenset(REQUEST) - {"classify", "modify", "foreseen"}
PARTS = {
    "asks": lambda known: known.lookups(ABOUT),
    "compared": lambda known: known.compared({}, ABOUT),
    "sent": lambda known: known.modified({}, ABOUT),
    "first": lambda known: known.first_calls(ABOUT),
    "foretells": lambda known: known.describe_calls(ABOUT),
    "restores": lambda known: known.restores(ABOUT),
}
SEES_KEYS = frozenset({"delete", "export_secrets", "succeeded"})


async def requested(point, answer):
    """What a registry returns whose only extension answers so, or raises it."""

    def says(*_args, **_more):
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def says_later(*_args, **_more):
        return says()

    if point in PARTS:
        return PARTS[point](of(modify=Modifier(**{point: says})))
    if point in ASYNCHRONOUS:
        return await REQUEST[point](of(**{point: says_later}))
    return REQUEST[point](of(**{point: says}))


def test_no_point_is_left_out():
    points = {field.name for field in fields(Extension)} - {"group", "kind", "deletes_besides", "calls"}
    assert points == REQUEST.keys()
    assert {field.name for field in fields(Modifier)} == PARTS.keys()


@pytest.mark.parametrize("point", [*REQUEST, *PARTS])
async def test_whatever_it_raises_is_blamed_on_it(point):
    with pytest.raises(ExtensionError, match="The extension 'others' failed: ValueError") as blamed:
        await requested(point, ValueError(KEY))
    assert (KEY in str(blamed.value)) is (point not in SEES_KEYS), "where keys are at hand nothing is quoted"
    if point in SEES_KEYS:
        assert blamed.value.__cause__ is None


@pytest.mark.parametrize("point", [*REQUEST, *PARTS])
async def test_what_it_says_to_people_is_passed_on(point):
    with pytest.raises(GitsyncError, match="Mend it") as told:
        await requested(point, GitsyncError("Mend it."))
    assert not isinstance(told.value, ExtensionError)


@pytest.mark.parametrize("point", sorted(REQUEST.keys() - {"delete"}) + list(PARTS))
async def test_an_answer_of_the_wrong_type_is_blamed_on_it(point):
    with pytest.raises(ExtensionError, match="failed: TypeError"):
        await requested(point, 7)


@pytest.mark.parametrize(
    ("point", "answer", "why"),
    [
        ("export_secrets", {"a": KEY}, "a secret that does not say so would be shown"),
        ("export_secrets", {1: Secret(KEY)}, "fields are texts"),
        ("export_config_maps", {"a": Secret(KEY)}, "config maps are plain"),
        ("succeeded", {"a": 1}, "annotations are texts"),
        ("foreseen", {"a": None}, "annotations are texts"),
        ("importer", (ABOUT, proceed()), "the answer of another point"),
        ("importer", (None, imported()), "what was read is needed"),
        ("importer", (ABOUT,), "half an answer"),
        ("asks", ("/a",), "a path is no question"),
        ("asks", [LookupRequest("/a", "1")], "a list is no tuple"),
        ("first", "/a", "a path is no call"),
    ],
)
async def test_what_an_answer_holds_is_looked_at_too(point, answer, why):
    with pytest.raises(ExtensionError) as blamed:
        await requested(point, answer)
    assert KEY not in str(blamed.value), why


@pytest.mark.parametrize(
    ("point", "answer", "expected"),
    [
        ("export_secrets", {"a": Secret(KEY)}, {"a": Secret(KEY)}),
        ("export_config_maps", {"a": "x"}, {"a": "x"}),
        ("succeeded", {"a": "x"}, {"a": "x"}),
        ("foreseen", {"a": "x"}, {"a": "x"}),
        ("importer", (ABOUT, imported()), (ABOUT, imported())),
        ("asks", (LookupRequest("/a", "1"),), (LookupRequest("/a", "1"),)),
        ("first", ActionCall(path="/a", api_version="1"), (ActionCall(path="/a", api_version="1"),)),
        ("first", None, ()),
        ("foretells", "So.", "So."),
        ("restores", True, True),
        ("compared", {"a": 1}, {"a": 1}),
    ],
)
async def test_a_good_answer_is_taken(point, answer, expected):
    assert await requested(point, answer) == expected


@pytest.mark.parametrize("point", ["delete", "importer", "pre_check"])
async def test_a_mistake_of_ours_that_comes_up_through_next_stays_ours(point):
    async def passes_on(about, *rest):
        *given, next_ = rest
        return await next_(about, *given)

    async def breaks(*_args, **_more):
        raise ZeroDivisionError

    known = of(**{point: passes_on})
    ours = Extension(group="g", kind="K", pre_check=breaks)
    send_request = {
        "delete": lambda: known.delete(ABOUT, Nobody(), breaks),
        "importer": lambda: known.import_(ABOUT, breaks),
        "pre_check": lambda: Registry([*known.of(ABOUT), ours]).pre_check(ABOUT, Nobody()),
    }[point]
    with pytest.raises(ZeroDivisionError):
        await send_request()
