"""Which value a reference has: this run's exports, then the sources in order; in a plan, what is yet to come."""

import pytest

from gitsync.errors import MissingValueError, SecretStoreError, TransientStoreError
from gitsync.model.arm_id import ArmId
from gitsync.model.export import Address, Export, ObjectKind, Owner
from gitsync.model.gvk import Key
from gitsync.model.secret import Placeholder, Secret
from gitsync.model.template import ConfigMapKeyRef, SecretKeyRef, SecretMapRef
from gitsync.repository.secrets.lookup import Lookup
from gitsync.repository.secrets.reference_values import RunValues
from tests.support.memory_places import MemorySource

OWNER = Key("cache.azure.com", "Redis", "ns", "fast")
DB = Address(ObjectKind.SECRET, "ns", "db")
URLS = Address(ObjectKind.CONFIG_MAP, "ns", "urls")
REFS = (SecretKeyRef("db", "password"), ConfigMapKeyRef("urls", "blob"))


def source(name="folder", *, is_remote=False, refuses=None, db=None, urls=None):
    made = MemorySource(name, {}, is_remote=is_remote, refuses=refuses)
    for address, values in ((DB, db), (URLS, urls)):
        if values is not None:
            made.has(address, **values)
    return made


def values(*sources, promised=None, foresees=False, redact=lambda _: None):
    lookup = Lookup(sources, reads_remote_secrets=not foresees, redact=redact)
    return RunValues(lookup, {}, promised or {}, foresees=foresees)


async def gathered(made, *refs):
    await made.gather("ns", refs or REFS)
    return made


async def test_the_first_source_that_has_a_key_gives_it():
    first, second = source(db={"user": "me"}), source(db={"password": "two", "user": "you"})
    made = await gathered(values(first, second))
    assert made.secret("ns", "db", "password").reveal() == "two"
    await gathered(made, SecretKeyRef("db", "user"))
    assert made.secret("ns", "db", "user").reveal() == "me"


async def test_a_whole_secret_comes_from_one_source():
    made = await gathered(values(source(db={"a": "1"}), source(db={"b": "2"})), SecretMapRef("db"))
    assert {key: value.reveal() for key, value in made.secret_map("ns", "db").items()} == {"a": "1"}


async def test_a_source_is_asked_once():
    only = source(db={"password": "x"}, urls={"blob": "y"})
    await gathered(await gathered(values(only)))
    assert only.requested == [DB, URLS]


async def test_what_this_run_exported_comes_first_and_asks_nobody():
    only = source(db={"password": "old"})
    made = values(only)
    made.add_exports([Export(address=DB, owner=Owner(OWNER), data={"password": Secret("new")})])
    await gathered(made, SecretKeyRef("db", "password"))
    assert made.secret("ns", "db", "password").reveal() == "new"
    assert only.requested == []


def an_export(**data):
    return Export(address=DB, owner=Owner(OWNER), data={key: Secret(value) for key, value in data.items()})


async def test_a_value_that_was_used_stays_as_it_was():
    made = await gathered(values(source(db={"password": "old"})), *REFS[:1], SecretMapRef("db"))
    assert made.secret("ns", "db", "password").reveal() == "old"
    made.add_exports([an_export(password="new", user="me")])
    assert made.secret("ns", "db", "password").reveal() == "old"
    shown = {key: value.reveal() for key, value in made.secret_map("ns", "db").items()}
    assert shown == {"password": "old", "user": "me"}, "one request never has two values of one key"


async def test_a_whole_secret_that_was_used_stays_as_it_was():
    made = await gathered(values(source(db={"password": "old"})), SecretMapRef("db"))
    before = made.secret_map("ns", "db")
    made.add_exports([an_export(password="new", user="me")])
    assert made.secret_map("ns", "db") == before
    assert made.secret("ns", "db", "password").reveal() == "old"
    assert made.secret("ns", "db", "user").reveal() == "me", "nobody has used it yet"


async def test_an_export_fills_a_value_that_was_missing():
    made = await gathered(values(source()), SecretKeyRef("db", "password"))
    with pytest.raises(MissingValueError):
        made.secret("ns", "db", "password")
    made.add_exports([an_export(password="first")])
    assert made.secret("ns", "db", "password").reveal() == "first"
    made.add_exports([an_export(password="second")])
    assert made.secret("ns", "db", "password").reveal() == "first"


MISSING = [
    (
        source(),
        'couldn\'t resolve secret reference ns/db.password: ns/db does not exist (Secret "db" not found)',
        "no such Secret",
    ),
    (
        source(db={"user": "x"}),
        'ns/db does not exist (Secret "ns/db" does not contain key "password")',
        "no such key",
    ),
]


@pytest.mark.parametrize("only, says, why", MISSING)
async def test_a_missing_secret_is_told_in_aso_s_words(only, says, why):
    made = await gathered(values(only), SecretKeyRef("db", "password"))
    with pytest.raises(MissingValueError) as failure:
        made.secret("ns", "db", "password")
    assert failure.value.reason == "SecretNotFound"
    assert failure.value.message == f"failed resolving secret references: {says}", why


async def test_a_plan_asks_no_source_for_what_the_run_will_export():
    """It might not even be able to: the export of an earlier run may be encrypted."""
    only = source(refuses=SecretStoreError("It cannot be decrypted."))
    made = await gathered(
        values(only, promised={DB: frozenset({"password"})}, foresees=True), SecretKeyRef("db", "password")
    )
    assert isinstance(made.secret("ns", "db", "password"), Placeholder)
    assert only.requested == []


@pytest.mark.parametrize("foresees", [False, True])
async def test_a_key_that_the_export_of_this_run_lacks_is_told_so(foresees):
    """Whether the other resource exported already does not matter: no one waits for a key that it does not write."""
    made = await gathered(
        values(source(), promised={DB: frozenset({"user"})}, foresees=foresees), SecretKeyRef("db", "password")
    )
    with pytest.raises(MissingValueError, match='Secret "ns/db" does not contain key "password"'):
        made.secret("ns", "db", "password")


async def test_a_missing_config_map_and_a_missing_collection():
    made = await gathered(values(source()), ConfigMapKeyRef("urls", "blob"), SecretMapRef("db"))
    with pytest.raises(MissingValueError) as failure:
        made.config_map("ns", "urls", "blob")
    assert failure.value.reason == "ConfigMapNotFound"
    assert failure.value.message == (
        "failed resolving config map references: couldn't resolve config map reference ns/urls.blob: "
        'ns/urls does not exist (ConfigMap "urls" not found)'
    )
    with pytest.raises(MissingValueError) as failure:
        made.secret_map("ns", "db")
    assert failure.value.message == (
        "failed resolving secret references: couldn't resolve secret collection ns/db: "
        'ns/db does not exist (Secret "db" not found)'
    )


async def test_other_namespaces_have_other_secrets():
    made = values(source(db={"password": "x"}))
    await made.gather("other", REFS[:1])
    with pytest.raises(MissingValueError):
        made.secret("other", "db", "password")


async def test_a_source_that_cannot_tell_stops_the_question():
    last = source(db={"password": "x"})
    with pytest.raises(SecretStoreError, match="closed"):
        await gathered(values(source(refuses=SecretStoreError("The vault is closed.")), last))
    assert last.requested == [], "what a source further down says may not be what counts"


PROMISES = [
    ({DB: frozenset({"password"})}, True, "the key"),
    ({DB: frozenset({None})}, True, "an expression that gives a map, whose keys nobody knows yet"),
    ({DB: frozenset({"user"})}, False, "another key"),
]


@pytest.mark.parametrize("promised, foreseen, why", PROMISES)
async def test_a_plan_knows_that_an_export_is_to_come(promised, foreseen, why):
    made = await gathered(values(source(db={"password": "old"}), promised=promised, foresees=True))
    assert isinstance(made.secret("ns", "db", "password"), Placeholder) is foreseen, why


async def test_a_sync_takes_a_promise_for_nothing():
    made = await gathered(values(source(), promised={DB: frozenset({"password"})}))
    with pytest.raises(MissingValueError):
        made.secret("ns", "db", "password")


async def test_a_plan_reads_config_maps_of_a_remote_source_and_does_not_call_its_secrets_missing():
    remote = source("key-vault", is_remote=True, db={"password": "x"}, urls={"blob": "u"})
    made = await gathered(values(source(), remote, foresees=True), *REFS, SecretMapRef("db"))
    assert isinstance(made.secret("ns", "db", "password"), Placeholder)
    assert isinstance(made.secret_map("ns", "db"), Placeholder)
    assert made.config_map("ns", "urls", "blob") == "u"
    assert remote.requested == [URLS]


OTHERS = ConfigMapKeyRef("others", "blob")
UNREAD = [
    (
        SecretStoreError("It may not.", hint="Grant it."),
        2,
        "could not be read from far. It may not. Grant it.",
        "another may",
    ),
    (
        TransientStoreError("It is down.", attempts=1),
        1,
        "could not be read from far. It is down.",
        "so is it for the others",
    ),
]


@pytest.mark.parametrize("refusal, times, says, why", UNREAD)
async def test_what_a_plan_cannot_read_is_neither_missing_nor_a_secret(refusal, times, says, why):
    remote, later = source("far", is_remote=True, refuses=refusal), source(urls={"blob": "later"})
    made = await gathered(values(remote, later, foresees=True), REFS[1], OTHERS)
    for name in ("urls", "others"):
        found = made.config_map("ns", name, "blob")
        assert isinstance(found, Placeholder)
        assert (f"{found}", found.why.endswith(says)) == (f"<configmap {name}/blob>", True)
    assert (len(remote.requested), later.requested) == (times, []), why


async def test_a_sync_fails_where_a_plan_goes_on():
    with pytest.raises(SecretStoreError, match="It may not"):
        await gathered(values(source("far", is_remote=True, refuses=UNREAD[0][0])), REFS[1])


async def test_a_plan_has_what_a_local_source_before_it_says():
    remote = source("key-vault", is_remote=True)
    made = await gathered(values(source(db={"password": "x"}, urls={"blob": "u"}), remote, foresees=True))
    assert made.secret("ns", "db", "password").reveal() == "x"
    assert made.config_map("ns", "urls", "blob") == "u"


async def test_every_secret_that_is_found_is_told_to_whoever_masks_and_no_config_map():
    heard = []
    await gathered(values(source(db={"password": "x", "user": "y"}, urls={"blob": "u"}), redact=heard.append))
    assert sorted(secret.reveal() for secret in heard) == ["x", "y"]


def test_an_id_in_a_body_is_a_plain_text():
    """A comparison of bodies distinguishes types."""
    made = values()
    made.add_arm_id(OWNER, ArmId("/subscriptions/1/Some/Case"))
    assert made.arm_id(OWNER) == "/subscriptions/1/Some/Case"
    assert type(made.arm_id(OWNER)) is str
