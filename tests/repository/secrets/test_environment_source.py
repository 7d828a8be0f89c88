"""Secrets from variables: none but those with the prefix, and none for two keys."""

import pytest

from gitsync.errors import SecretStoreError
from gitsync.model.export import Address, ObjectKind
from gitsync.model.secret import Secret
from gitsync.repository.secrets.sources.environment import EnvironmentSource

DB = Address(ObjectKind.SECRET, "default", "db")


async def read(source, address, *keys):
    return await source.read(address, keys)


@pytest.mark.parametrize(
    ("variables", "address", "keys", "expected", "why"),
    [
        ({"GITSYNC_SECRET_DEFAULT_DB_PASSWORD": "x"}, DB, ["password"], {"password": "x"}, "the key's own variable"),
        ({"GITSYNC_SECRET_DEFAULT_DB_A": "x"}, DB, ["a", "b"], {"a": "x"}, "what there is of several"),
        ({"GITSYNC_SECRET_DEFAULT_DB_A": "x\n"}, DB, ["a"], {"a": "x\n"}, "exactly as it is"),
        ({}, DB, ["password"], None, "no variable"),
        ({"GITSYNC_SECRET_DEFAULT_DB_A": ""}, DB, ["a"], None, "a pipeline sets what it lacks to nothing"),
        ({"GITSYNC_SECRET_DEFAULT_DB_A": "x"}, DB, [], None, "nobody knows all keys of an object"),
        (
            {"GITSYNC_SECRET_DEFAULT_DB_A": "x"},
            Address(ObjectKind.CONFIG_MAP, "default", "db"),
            ["a"],
            None,
            "no Secret",
        ),
        ({"DEFAULT_DB_A": "x", "A": "x", "PATH": "x"}, DB, ["a"], None, "no variable without the prefix"),
        ({"GITSYNC_SECRET_9LIVES_DB_A": "x"}, Address(ObjectKind.SECRET, "9lives", "db"), ["a"], {"a": "x"}, "a digit"),
    ],
)
async def test_what_the_environment_says(variables, address, keys, expected, why):
    found = await read(EnvironmentSource(variables), address, *keys)
    assert (found and {key: value.reveal() for key, value in found.items()}) == expected, why


@pytest.mark.parametrize(
    ("address", "key", "why"),
    [
        (DB, "pass-word", "another key of the same Secret"),
        (Address(ObjectKind.SECRET, "default", "db-pass"), "word", "another Secret"),
        (Address(ObjectKind.SECRET, "default-db", "pass"), "word", "another namespace"),
    ],
)
async def test_a_variable_stands_for_the_first_key_that_asks_for_it(address, key, why):
    source = EnvironmentSource({"GITSYNC_SECRET_DEFAULT_DB_PASS_WORD": "hidden"})
    assert await read(source, DB, "pass_word") == {"pass_word": Secret("hidden")}
    with pytest.raises(SecretStoreError, match="is ambiguous") as refused:
        await read(source, address, key)
    assert "hidden" not in str(refused.value), why
    assert await read(source, DB, "pass_word") == {"pass_word": Secret("hidden")}


async def test_a_name_that_kubernetes_does_not_have_is_refused():
    with pytest.raises(SecretStoreError, match="its key"):
        await read(EnvironmentSource({}), DB, "a b")
