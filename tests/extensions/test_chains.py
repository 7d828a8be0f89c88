"""Several registrations for one kind: in which order they are called, and what becomes of their results."""

from dataclasses import replace

import pytest

from gitsync.extensions.api import ActionCall, Extension, LookupRequest, Modifier, imported, skipped
from gitsync.extensions.registry import Registry
from gitsync.model.secret import Secret
from tests.extensions.asking import REGISTRY, Nobody, subject

ABOUT = subject("g", "K")
FIRST, SECOND = LookupRequest("/a", "1"), LookupRequest("/b", "1")


def registry(**points):
    """A registry with two registrations of one kind; each point is given a pair."""
    return Registry(
        Extension(group="g", kind="K", **{name: pair[number] for name, pair in points.items()}) for number in range(2)
    )


async def test_deleters_are_a_chain_that_ends_in_the_delete():
    seen = []

    def noting(name):
        async def delete(about, azure, next):
            seen.append(f"before {name}")
            await next(about, azure)
            seen.append(f"after {name}")

        return delete

    async def last(about, azure):
        seen.append(about.arm_id)

    chain = registry(delete=(noting("a"), noting("b")))
    await chain.delete(ABOUT, Nobody(), last)
    assert seen == ["before a", "before b", ABOUT.arm_id, "after b", "after a"]
    seen.clear()
    await chain.delete(subject("g", "Other"), Nobody(), last)
    assert seen == [ABOUT.arm_id], "a kind without deleters is only deleted"


async def test_importers_are_a_chain_that_ends_in_the_reading():
    async def passes_on(about, next):
        read, answer = await next(about)
        return read, skipped(f"{answer.skipped} seen") if answer.skipped else answer

    async def before_reading(about, next):
        return about, skipped("never read")

    async def load(about):
        return replace(about, owner_name="read"), imported()

    requested = await registry(importer=(passes_on, before_reading)).import_(ABOUT, load)
    assert requested == (ABOUT, skipped("never read seen"))
    read, answer = await registry(importer=(passes_on, passes_on)).import_(ABOUT, load)
    assert (read.owner_name, answer) == ("read", imported())
    assert (await REGISTRY.import_(ABOUT, load))[1] == imported(), "a kind without importers is read"


def secrets(**given):
    """An exporter of secrets that has these, and notes what is requested."""

    async def export(about, azure, wanted):
        export.requested.append(sorted(wanted))
        return {field: Secret(value) for field, value in given.items()}

    export.requested = []
    return export


async def exported(pair, *wanted):
    found = await registry(export_secrets=pair).export_secrets(ABOUT, Nobody(), frozenset(wanted))
    return {field: secret.reveal() for field, secret in found.items()}


async def test_secrets_are_those_of_all_exporters_and_the_first_that_knows_one_gives_it():
    pair = secrets(a="1"), secrets(a="2", b="2", c="2")
    assert await exported(pair, "b", "a") == {"a": "1", "b": "2"}
    assert (pair[0].requested, pair[1].requested) == ([["a", "b"]], [["b"]])


async def test_who_is_not_needed_is_not_asked():
    pair = secrets(a="1"), secrets(a="2")
    assert await exported(pair, "a") == {"a": "1"}
    assert pair[1].requested == []
    assert await exported(pair) == {}
    assert pair[0].requested == [["a"]]


async def test_config_maps_are_exported_the_same_way():
    def knows(**given):
        async def export(about, azure, wanted):
            return given

        return export

    known = registry(export_config_maps=(knows(a="1"), knows(a="2", b="2", c="2")))
    assert await known.export_config_maps(ABOUT, Nobody(), frozenset({"a", "b", "z"})) == {"a": "1", "b": "2"}


async def test_every_handler_is_told_and_the_first_word_counts():
    told = []

    def handler(number):
        async def succeeded(about, azure):
            told.append(number)
            return {"x": number, number: number}

        return succeeded

    known = registry(succeeded=(handler("1"), handler("2")))
    assert await known.succeeded(ABOUT, Nobody()) == {"x": "1", "1": "1", "2": "2"}
    assert told == ["1", "2"]
    foreseen = registry(foreseen=(lambda _: {"x": "1"}, lambda _: {"x": "2", "y": "2"}))
    assert foreseen.foreseen(ABOUT) == {"x": "1", "y": "2"}


def test_body_modifiers_declare_what_they_need_and_alter_two_bodies():
    def says(number, lookups):
        return Modifier(
            asks=lambda _: lookups,
            compared=lambda body, _: {**body, "compared": [*body.get("compared", ()), number]},
            sent=lambda body, _: {**body, "sent": [*body.get("sent", ()), number]},
            first=lambda _: ActionCall(path=f"/{number}", api_version="1") if number == 1 else None,
            foretells=lambda _: f"Does {number}." if number == 2 else "",
        )

    known = registry(modify=(says(1, (FIRST,)), says(2, (SECOND, FIRST))))
    assert known.lookups(ABOUT) == (FIRST, SECOND), "what two ask for is asked once"
    assert known.compared({}, ABOUT) == {"compared": [1, 2]}
    assert known.modified({}, ABOUT) == {"sent": [1, 2]}
    assert known.first_calls(ABOUT) == (ActionCall(path="/1", api_version="1"),)
    assert known.describe_calls(ABOUT) == "Does 2."


@pytest.mark.parametrize("modifier", [Modifier(), lambda body, _: {**body, "a": 1}])
def test_a_modifier_need_not_have_all_parts(modifier):
    known = Registry([Extension(group="g", kind="K", modify=modifier)])
    assert known.compared({}, ABOUT) == {}
    assert known.modified({}, ABOUT) == ({} if isinstance(modifier, Modifier) else {"a": 1})
    assert (known.lookups(ABOUT), known.first_calls(ABOUT), known.describe_calls(ABOUT)) == ((), (), "")
