"""All sinks of a run: nothing is written before all of them agree."""

import pytest

from gitsync.errors import ExportError, SecretStoreError
from gitsync.model.export import Address, Export, Leftover, ObjectKind, Owner
from gitsync.model.gvk import Key
from gitsync.model.secret import Secret
from gitsync.repository.secrets.export_sinks import ExportSinks
from gitsync.repository.secrets.sinks.status import KeptConfigMaps
from tests.support.memory_places import MemorySink, MemorySource

LAKE = Key("storage.azure.com", "StorageAccount", "ns", "lake")
POND = Key("storage.azure.com", "StorageAccount", "ns", "pond")
KEYS = Address(ObjectKind.SECRET, "ns", "keys")
URLS = Address(ObjectKind.CONFIG_MAP, "ns", "urls")


def an_export(address=KEYS, owner=LAKE, **data):
    return Export(address=address, owner=Owner(owner), data={key: Secret(value) for key, value in data.items()})


def export_sinks(*sinks, claims=None):
    return ExportSinks(sinks, claims or {}, KeptConfigMaps({}))


async def test_every_sink_gets_every_object():
    one, two = MemorySink(), MemorySink()
    exports = [an_export(k="v"), an_export(URLS, blob="u")]
    await export_sinks(one, two).write(exports)
    assert one.objects == two.objects == {KEYS: exports[0], URLS: exports[1]}


OTHERS = [("", "nobody's"), (str(POND), "another resource's")]


@pytest.mark.parametrize("owner, why", OTHERS)
async def test_one_object_that_is_not_ours_in_one_sink_stops_all(owner, why):
    first, second = MemorySink(), MemorySink()
    second.has(URLS, owner=owner, blob="theirs")
    with pytest.raises(ExportError, match="cannot overwrite ConfigMap ns/urls") as failure:
        await export_sinks(first, second).write([an_export(k="v"), an_export(URLS, blob="u")])
    assert failure.value.is_fatal, why
    assert first.objects == {}


async def test_what_another_resource_of_the_run_may_write_is_not_asked_about():
    sink = MemorySink()
    sink.refuses = SecretStoreError("nobody asks")
    with pytest.raises(ExportError, match="cannot overwrite Secret ns/keys"):
        await export_sinks(sink, claims={KEYS: POND}).write([an_export(k="v")])


class OwnedSource(MemorySource):
    """A source that has owners, as the vault and the cluster do."""

    async def owner(self, address):
        if self.refuses:
            raise self.refuses
        return "".join(value.reveal() for value in self.values[address].values()) if address in self.values else None


def a_source(*owners):
    return OwnedSource("kubernetes", {address: {"owner": Secret(text)} for address, text in owners})


CHECKED = [
    (a_source(), {}, None, "neither object exists"),
    (a_source((KEYS, str(Owner(LAKE)))), {}, None, "the resource exported it in an earlier run"),
    (a_source((KEYS, "")), {}, "Secret ns/keys", "a Secret of people"),
    (a_source((URLS, "")), {}, "ConfigMap ns/urls", "a ConfigMap of people"),
    (a_source((KEYS, str(Owner(POND)))), {}, "Secret ns/keys", "another resource's"),
    (a_source((KEYS, str(Owner(LAKE, "north")))), {}, "Secret ns/keys", "another agent's"),
    (a_source(), {URLS: POND}, "ConfigMap ns/urls", "another resource of the run may write it"),
]


@pytest.mark.parametrize("source, claims, refused, why", CHECKED)
async def test_the_sources_tell_whose_an_object_is(source, claims, refused, why):
    checking = ExportSinks([], claims, KeptConfigMaps({}), (), [source]).check_owners(
        Owner(LAKE), {KEYS: {"k"}, URLS: {"u"}}
    )
    if refused is None:
        await checking
        return
    with pytest.raises(ExportError) as failure:
        await checking
    text = f"cannot overwrite {refused} which is not owned by StorageAccount.storage.azure.com ns/lake"
    assert (str(failure.value), failure.value.is_fatal) == (text, True), why


async def test_every_object_of_others_is_told():
    source = a_source((URLS, ""), (KEYS, ""))
    with pytest.raises(ExportError, match=r"ConfigMap ns/urls .*; cannot overwrite Secret ns/keys"):
        await ExportSinks([], {}, KeptConfigMaps({}), (), [source]).check_owners(Owner(LAKE), {KEYS: (), URLS: ()})


async def test_a_source_that_cannot_tell_is_no_source_without_the_object():
    source = a_source()
    source.refuses = SecretStoreError("It is closed.")
    with pytest.raises(SecretStoreError, match="closed"):
        await ExportSinks([], {}, KeptConfigMaps({}), (), [source]).check_owners(Owner(LAKE), {KEYS: ()})


async def test_a_source_that_is_a_sink_too_is_asked_by_the_write():
    location = MemorySink()
    location.refuses = SecretStoreError("nobody asks")
    await ExportSinks([location], {}, KeptConfigMaps({}), (), [location]).check_owners(Owner(LAKE), {KEYS: ()})


async def test_what_is_our_own_is_replaced_whole():
    sink = MemorySink()
    await export_sinks(sink).write([an_export(a="1", b="2")])
    await export_sinks(sink).write([an_export(a="3")])
    assert sink.objects[KEYS] == an_export(a="3")


async def test_the_status_keeps_config_maps_and_no_secrets():
    kept = KeptConfigMaps({URLS: an_export(URLS, POND, blob="theirs")})
    await kept.write(an_export(k="v"))
    assert kept.written == {}
    assert await kept.owner(URLS) == str(POND)
    await kept.write(an_export(URLS, LAKE, blob="u"))
    assert await kept.owner(URLS) == str(LAKE)
    assert kept.written == {URLS: an_export(URLS, LAKE, blob="u")}


GONE = [(Owner(LAKE), KEYS), (Owner(LAKE), URLS)]


async def test_what_a_forgotten_resource_exported_leaves_every_sink_and_the_status():
    one, two = MemorySink(), MemorySink()
    kept = KeptConfigMaps({URLS: an_export(URLS, blob="u")})
    for sink in (one, two):
        sink.has(KEYS, owner=str(LAKE), k="v")
        sink.has(URLS, owner=str(LAKE), blob="u")
    assert (await ExportSinks([one, two], {}, kept).collect(GONE)).problems == ()
    assert (one.objects, two.objects, kept.written) == ({}, {}, {URLS: None})
    assert await kept.owner(URLS) is None, "another resource may have it"


@pytest.mark.parametrize("owner, why", OTHERS)
async def test_what_is_somebody_elses_by_now_stays(owner, why):
    sink = MemorySink()
    sink.has(KEYS, owner=owner, k="theirs")
    kept = KeptConfigMaps({URLS: an_export(URLS, POND, blob="theirs")})
    assert (await ExportSinks([sink, kept], {}, kept).collect(GONE)).problems == (), why
    assert (list(sink.objects), kept.written) == ([KEYS], {}), why


async def test_what_another_resource_has_just_taken_over_stays():
    kept = KeptConfigMaps({URLS: an_export(URLS, blob="old")})
    theirs = an_export(URLS, POND, blob="new")
    await kept.write(theirs)
    await ExportSinks([kept], {}, kept).collect(GONE)
    assert kept.written == {URLS: theirs}


async def test_a_sink_that_cannot_remove_stops_no_other_and_is_told():
    first, second = MemorySink(), MemorySink()
    second.has(KEYS, owner=str(LAKE), k="v")
    first.name, first.refuses = "kubernetes", SecretStoreError("The API server is gone.", hint="Bring it back.")
    problems = (await export_sinks(first, second).collect([(Owner(LAKE), KEYS), (Owner(POND), URLS)])).problems
    assert second.objects == {}
    assert [(problem.code, problem.is_error) for problem in problems] == [("ExportNotRemoved", True)] * 2
    assert problems[0].message == (
        "Secret ns/keys, which StorageAccount.storage.azure.com/ns/lake exported, was not removed from the sink "
        "kubernetes: The API server is gone."
    )
    assert problems[0].hint == (
        "Bring it back. The next run tries again; or run `kubectl delete secret keys --namespace ns`."
    )
    assert "ConfigMap ns/urls" in problems[1].message


@pytest.mark.parametrize("name", ["dotenv", "folder", "key-vault", "kubernetes", "sops"])
async def test_every_sink_that_may_refuse_says_how_a_person_removes_it(name):
    sink = MemorySink()
    sink.name, sink.refuses = name, SecretStoreError("It is closed.")
    (problem,) = (await export_sinks(sink).collect([(Owner(LAKE), KEYS)])).problems
    assert problem.hint


LEFT = Leftover(Owner(LAKE), KEYS, "memory")


@pytest.mark.parametrize(
    ("owner", "refuses", "claims", "still_there", "why"),
    [
        (str(LAKE), False, {}, False, "it is removed now"),
        (None, False, {}, False, "somebody has removed it"),
        (str(POND), False, {}, False, "somebody else has it by now"),
        (str(LAKE), True, {}, True, "it still cannot be removed"),
        (str(LAKE), False, {KEYS: LAKE}, None, "a manifest wants it again, and will write it"),
        (str(LAKE), False, {KEYS: POND}, False, "another resource waits for its name"),
    ],
)
async def test_what_was_left_over_is_tried_again(owner, refuses, claims, still_there, why):
    sink = MemorySink()
    if owner is not None:
        sink.has(KEYS, owner=owner, k="v")
    sink.refuses = SecretStoreError("It is closed.") if refuses else None
    collected = await export_sinks(sink, claims=claims).collect([], [LEFT])
    assert collected.still_there == ({} if still_there is None else {LEFT: still_there}), why
    assert [problem.is_error for problem in collected.problems] == [True] * refuses, why
    assert (KEYS in sink.objects) == (owner is not None and (still_there is not False or owner != str(LAKE))), why
    assert collected.has_freed([LEFT]) == (still_there is False), why


async def test_what_is_left_over_in_a_sink_that_the_run_lacks_stays_with_a_warning():
    elsewhere = Leftover(Owner(LAKE), KEYS, "key-vault")
    collected = await export_sinks(MemorySink()).collect([], [elsewhere])
    assert collected.still_there == {}
    (problem,) = collected.problems
    assert (problem.code, problem.is_error) == ("ExportLeftOver", False)
    assert problem.message == (
        "Secret ns/keys, which StorageAccount.storage.azure.com/ns/lake exported, is left over in the sink key-vault: "
        "no run could remove it."
    )
