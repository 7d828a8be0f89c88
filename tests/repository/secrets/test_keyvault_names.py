"""Names in Key Vault: reported beforehand where they can be, different for every path, and always allowed."""

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.model.export import Address, ObjectKind
from gitsync.model.gvk import Key
from gitsync.repository.secrets.keyvault.index import VaultKey, find_vault_key, make_secret_name, make_tags

ALLOWED = re.compile(r"[0-9a-zA-Z-]{1,127}")
LABEL = st.text(string.ascii_lowercase + string.digits + "-", max_size=63).map(lambda text: text.strip("-") or "a")
NAME = st.lists(LABEL, min_size=1, max_size=4).map(".".join)
KEY = st.text(string.ascii_letters + string.digits + "-._", min_size=1, max_size=253)
LOCATIONS = st.builds(VaultKey, LABEL, NAME, KEY)
NEAR = st.builds(VaultKey, *[st.from_regex(r"[aA]([-._]{0,3}[aA]){0,2}", fullmatch=True)] * 3)


@pytest.mark.parametrize(
    ("location", "name", "why"),
    [
        (("default", "db-credentials", "password"), "default--db-credentials--password", "a person can work it out"),
        (("default", "db", "a1"), "default--db--a1", "digits are plain"),
    ],
)
def test_a_plain_place_has_a_name_without_a_digest(location, name, why):
    assert make_secret_name(VaultKey(*location)) == name, why
    assert find_vault_key(name.upper(), {}) == VaultKey(*location), "names in Key Vault are alike in either case"


@pytest.mark.parametrize(
    ("location", "begins", "why"),
    [
        (("default", "aso-credential", "AZURE_CLIENT_ID"), "default--aso-credential--AZURE-CLIENT-ID--", "capitals"),
        (("default", "db", "primaryKey"), "default--db--primaryKey--", "letters are alike in either case"),
        (("default", "my.db", "password"), "default--my-db--password--", "a dot is not allowed"),
        (("a--b", "c", "d"), "a-b--c--d--", "two hyphens stand between the parts"),
        (("a", "b", "-"), "a--b--x--", "nothing that can be shown is left of it"),
    ],
)
def test_any_other_location_has_a_digest_at_its_end(location, begins, why):
    name = make_secret_name(VaultKey(*location))
    assert name.startswith(begins), why
    assert re.fullmatch(r"[0-9a-f]{16}", name.removeprefix(begins)), why
    assert find_vault_key(name, {}) is None, "it is not taken for a name that a person made"


@given(LOCATIONS)
def test_every_name_is_allowed(location):
    assert ALLOWED.fullmatch(make_secret_name(location))


@given(st.lists(st.one_of(LOCATIONS, NEAR), unique=True, min_size=2, max_size=12))
def test_no_two_locations_share_a_name(locations):
    assert len({make_secret_name(location).casefold() for location in locations}) == len(locations)


@given(LOCATIONS)
def test_tags_have_the_location(location):
    owner = Key("cache.azure.com", "Redis", location.namespace, "r")
    assert find_vault_key("whatever", make_tags(location, owner)) == location
    assert location.is_in(Address(ObjectKind.SECRET, location.namespace, location.name))


@pytest.mark.parametrize(
    "name", ["default", "default--db", "a--b--c--d", "a---b--c", "--b--c", "a--b--", "db-password"]
)
def test_a_name_without_a_location_holds_none(name):
    assert find_vault_key(name, {"gitsync-namespace": "default", "gitsync-name": "db"}) is None
