"""Members of JSON of any form: what is not as it should be is as if it was not there."""

import base64
import json

import pytest

from gitsync.desired.formats.json_members import list_mappings, read_claims, read_mapping, read_text

UNEXPECTED = [None, 1, "x", [], {}, {"a": 1}, {"a": None}]


@pytest.mark.parametrize("body", UNEXPECTED, ids=map(json.dumps, UNEXPECTED))
def test_another_form_is_absent(body):
    assert (read_mapping(body, "a"), read_text(body, "a"), list_mappings(body, "a")) == ({}, "", [])


def test_what_is_there_is_returned():
    body = {"mapping": {"b": 1}, "text": "x", "list": [{"c": 2}, 3, {"d": 4}]}
    assert read_mapping(body, "mapping") == {"b": 1}
    assert read_text(body, "text") == "x"
    assert list_mappings(body, "list") == [{"c": 2}, {"d": 4}]


def sign(claims):
    payload = base64.urlsafe_b64encode(claims.encode()).rstrip(b"=").decode()
    return f"header.{payload}.signature"


@pytest.mark.parametrize(
    ("token", "claims", "why"),
    [
        (sign('{"sub": "me"}'), {"sub": "me"}, "a token"),
        (sign("[1]"), None, "claims that are no object"),
        (sign("{"), None, "no JSON"),
        ("a.é.c", None, "no base64"),
        ("opaque", None, "a token of another form"),
        ("", None, "none"),
    ],
)
def test_claims_of_a_token(token, claims, why):
    assert read_claims(token) == claims, why
