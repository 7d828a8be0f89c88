"""The register of secret values: what it finds, in which spellings, and what it skips."""

import base64
import html
import json
import pickle
from urllib.parse import quote, quote_plus

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gitsync.model.secret import MASKED, Secret
from gitsync.settings import redaction as redactions
from gitsync.settings.config.config import Config
from gitsync.settings.redaction import Redactions, tell_settings


def register(*values: str) -> Redactions:
    return Redactions(map(Secret, values))


FOUND = [
    ("the value s3cret-1 here", "the value <secret> here", "as it is"),
    ("https://u:a%2Fb%3Dc%21@h", "https://u:<secret>@h", "as a URL spells it"),
    ("https://u:a%2fb%3dc%21@h", "https://u:<secret>@h", "and in small letters"),
    ("-----line two", "-----<secret>", "one line of many"),
    ("abcde", "abcde", "too short to be masked without masking everything"),
    ("s3cret-1-long", "<secret>", "the longest value that begins there"),
    ("s3cret-1-longer", "<secret>er", "and not a letter more"),
    ("xs3cret-1s3cret-1", "x<secret><secret>", "two in a row"),
    ("overlapping", "<secret>", "values that overlap leave nothing between them"),
    ("clusters: and -----BEGIN CERTIFICATE-----", "clusters: and -----BEGIN CERTIFICATE-----", "frames say nothing"),
    ("the <secret>", "the <secret>", "what masks is not masked again"),
]


@pytest.mark.parametrize(("text", "expected", "why"), FOUND, ids=[row[-1] for row in FOUND])
def test_what_is_found(text, expected, why):
    values = ("s3cret-1", "s3cret-1-long", "a/b=c!", "line one\nline two", "abcde", "overlap", "lapping", "secret")
    kubeconfig = "apiVersion: v1\nclusters:\n-----BEGIN CERTIFICATE-----\nMIIC"
    assert register(*values, kubeconfig).mask(text) == expected, why


INSIDE = [
    (
        "AccountName=lake;AccountKey=pHrase/with+more==;EndpointSuffix=x",
        "pHrase/with+more==",
        "a connection string's key",
    ),
    ("Server=db;User Id=me;Password=open sesame", "open", "its password, up to what may end it"),
    ("amqps://app:pa55word@queue.example.com/", "pa55word", "the password of a URL"),
    ('{"auths": {"x": {"password": "pa55word"}}}', "pa55word", "a member of JSON"),
    ("x " + "aB3" * 20 + " y", "aB3" * 20, "a long key that stands by itself"),
]


@pytest.mark.parametrize(("value", "inner", "why"), INSIDE, ids=[row[-1] for row in INSIDE])
def test_what_is_secret_by_itself_inside_a_longer_value(value, inner, why):
    known = register(value)
    if len(inner) < 6:
        assert known.mask(f"a {inner} b") == f"a {inner} b", "too short"
    else:
        assert known.mask(f"a {inner} b") == f"a {MASKED} b", why
    assert known.mask("EndpointSuffix queue.example.com") == "EndpointSuffix queue.example.com", "the rest is none"


KEY = "q7Rk/2mZ+pL9xT4vB8nW1cY6sD3fG5hJ0aE"
PIECES = [
    ("hunter2-horse-77", "the value 'hunter2-ho' is refused", "the value '<secret>' is refused", "cut at its end"),
    ("hunter2-horse-77", "no ter2-hors here", "no <secret> here", "cut at both ends"),
    ("hunter2-horse-77", "hunter2", "hunter2", "seven characters show little"),
    (KEY, f"bad value {KEY[5:13]}.", "bad value <secret>.", "eight characters, wherever they are"),
    (KEY, f"{KEY[3:20]} and {KEY[10:30]}", "<secret> and <secret>", "pieces that overlap in the value"),
    (KEY, f"{KEY}{KEY[:9]}", "<secret><secret>", "a piece behind a whole"),
    ("correcthorsebattery", "got correcthor", "got <secret>", "a word that is none"),
    ("correcthorsebattery", "correcthorn", "correcthorn", "a word that begins alike"),
    ("production-db-77", "in production there", "in production there", "a word, whole in both"),
    ("correct-horse-battery-staple", "got horse-battery-staple", "got <secret>", "many words"),
    ("production-db-77", "in production-db there", "in production-db there", "two words"),
    ("x-20240101-120000", "at 20240101", "at 20240101", "numbers alone"),
    (
        f"AccountName=shop12345;AccountKey={KEY}==;EndpointSuffix=core.windows.net",
        "shop12345.core.windows.net",
        None,
        "names",
    ),
    (f"AccountName=shop12345;AccountKey={KEY}==", f"key {KEY[4:16]}", "key <secret>", "a key inside of a longer value"),
    ("https://hooks12.example.com/a1b2c3d4e5f6", "https://hooks12.example.com/ a1b2c3d", None, "a host is none"),
    ("https://hooks12.example.com/z/a1b2c3d4e5f6", "at z/a1b2c3d4", "at <secret>", "what follows the host is"),
    ("shop12345.postgres.database.azure.com", "db99.shop12345.postgres", None, "a name of a host"),
    ("/subscriptions/0a1b2c3d/resourceGroups/g", "/subscriptions/0a1b2c3d/x", None, "an id"),
    ('{"server": "shop12345"}', "shop12345", None, "a file with more than secrets"),
    (
        '{"scope": "/subscriptions/0a1b2c3d/resourceGroups/Shop"}',
        "/subscriptions/0a1b2c3d/resourceGroups/Other",
        None,
        "an id in it",
    ),
    ("name-of-it-77-x", "the resource name-of-it-77", None, "what has a name that is shown anyway"),
]


@pytest.mark.parametrize(("value", "text", "expected", "why"), PIECES, ids=[row[-1] for row in PIECES])
def test_a_piece_of_eight_characters_is_found(value, text, expected, why):
    known = register(value)
    known.spare(["name-of-it-77"])
    assert known.mask(text) == (expected or text), why


@given(st.text(st.characters(categories=["Lu", "Ll", "Nd"], max_codepoint=127), min_size=9, max_size=60), st.data())
def test_no_eight_characters_with_a_digit_and_a_letter_are_left(value, data):
    start = data.draw(st.integers(0, len(value) - 8))
    piece = value[start : data.draw(st.integers(start + 8, len(value)))]
    if any(map(str.isdigit, piece)) and any(map(str.isalpha, piece)):
        assert register(value).mask(f"refused: {piece}") == f"refused: {MASKED}"


def test_a_value_that_repeats_itself_costs_no_more_than_its_length():
    known = register("ab1" * 1500)
    assert known.mask("x " + "ab1" * 1200 + " y") == "x <secret> y"
    assert known.mask("x " + "b1a b" * 1200)


def dotnet(value: str) -> str:
    """As System.Text.Json writes it by default."""
    return "".join(f"\\u{ord(c):04X}" if c in "\"&'+<>`" else c for c in json.dumps(value)[1:-1].replace('\\"', '"'))


SPELLINGS = {
    "as it is": str,
    "JSON in ASCII": json.dumps,
    "JSON in Unicode": lambda value: json.dumps(value, ensure_ascii=False),
    "JSON with a slash for slashes": lambda value: json.dumps(value).replace("/", "\\/"),
    "JSON as .NET writes it": dotnet,
    "Python": repr,
    "YAML in single quotes": lambda value: f"'{value.replace(chr(39), chr(39) * 2)}'",
    "YAML in double quotes": lambda value: yaml.dump(value, default_style='"', width=1000),
    "URL": lambda value: quote(value, safe=""),
    "URL path": quote,
    "form": quote_plus,
    "HTML": html.escape,
    "XML text": lambda value: html.escape(value, quote=False),
    "base64": lambda value: base64.b64encode(value.encode()).decode(),
    "base64, one byte later": lambda value: base64.b64encode(f"x{value}".encode()).decode(),
    "base64, two bytes later": lambda value: base64.b64encode(f"me:x,{value}".encode()).decode(),
    "base64 for URLs": lambda value: base64.urlsafe_b64encode(value.encode()).decode(),
}


VALUES = ["Tr0ub4dor&3", "p/w+with=all?", "quo\"te'd\\back", "smörgås-bord", "ends in blank ", "<tag>&amp;"]


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_every_spelling_is_found(spelling, value):
    spelt = SPELLINGS[spelling](value)
    assert register("another-one").mask(f"a {spelt} b") == f"a {spelt} b", "nothing else takes it out"
    masked = register(value).mask(f"a {spelt} b")
    assert MASKED in masked
    left = masked.replace(MASKED, "").removeprefix("a ").removesuffix(" b").strip("\"'\n=")
    assert len(left) <= 9, "what is left are characters of base64 that stand for neighbours too"


def test_a_secret_that_is_read_later_is_masked_from_then_on():
    known = register()
    assert known.mask("later-value") == "later-value"
    known.add(Secret("later-value"))
    assert known.mask("later-value") == MASKED


def test_many_lines_that_begin_alike_are_learned_one_by_one():
    lines = [f"password-line-{number:06}" for number in range(1_000)]
    known = register("\n".join(lines))
    assert known.mask(f"{lines[0]} {lines[-1]}") == f"{MASKED} {MASKED}"


def test_names_that_are_shown_anyway_are_spared():
    known = register("production", "production-key")
    known.spare(["production"])
    assert known.mask("production and production-key") == f"production and {MASKED}"


def test_the_words_of_every_report_are_spared():
    words = "Succeeded Failed default manage drifted unknown observe created"
    assert register(*words.split()).mask(words) == words


@given(st.lists(st.text(min_size=6), max_size=4), st.text(), st.text())
def test_no_registered_value_is_left(values, before, after):
    known = register(*values)
    for value in values:
        masked = known.mask(before + value + after)
        assert value not in masked.replace(MASKED, "\0") or value in MASKED or value in redactions._OURS


@given(st.text())
def test_a_text_without_secrets_stays(text):
    assert register().mask(text) == text
    assert register("\0" * 9).mask(text.replace("\0", "")) == text.replace("\0", "")


def test_the_register_shows_nothing_of_itself():
    known = register("s3cret-value")
    assert "s3cret" not in f"{known!r} {known} {vars(type(known))}"
    with pytest.raises(TypeError, match="not pickled"):
        pickle.dumps(known)


def test_the_settings_and_the_machine_are_known_from_the_start():
    config = Config(
        source="https://me:t0ken%2Fone@git.example.com/estate",
        git_token=Secret("git-token"),
        client_certificate=Secret("-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\n-----END PRIVATE KEY-----"),
        subscription="00000000-0000-0000-0000-00000000000a",
    )
    machine = {"https_proxy": "http://pr0xy-user@proxy:3128", "SYSTEM_ACCESSTOKEN": "job-token", "HOME": "/home/me"}
    machine |= {"GITSYNC_SECRET_DEFAULT_DB_KEY": "fr0m-variable", "GITSYNC_SECRET_SOURCES": "manifests"}
    known = Redactions()
    tell_settings(known, config, machine)
    for value in (
        "t0ken%2Fone",
        "t0ken/one",
        "git-token",
        "MIIEvQIBADANBg",
        "pr0xy-user",
        "job-token",
        "fr0m-variable",
    ):
        assert known.mask(value) == MASKED, value
    for text in ("/home/me", "git.example.com", "proxy:3128", "manifests", "-----BEGIN PRIVATE KEY-----"):
        assert known.mask(text) == text
    known.add(Secret("00000000-0000-0000-0000-00000000000a"))
    assert known.mask(config.subscription) == config.subscription, "an id of the settings is no secret"


def test_a_thousand_secrets_make_no_longer_list_to_look_through():
    """What is looked at for a character of a text does not grow with the number of secrets."""
    known = register(*(f"{number:04}-{number * 7919:08}-value" for number in range(1000)))
    assert known.mask("nothing 0500-03959500-value of it") == f"nothing {MASKED} of it"
    assert max(map(len, known._spellings.values())) < 10
