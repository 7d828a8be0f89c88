"""Verifiers of passwords. That the server takes them is in test_injection.py, by signing in."""

import base64

import pytest

from gitsync.providers.databases.quoting import make_verifier, prepare

# Of RFC 7677, section 3: the password "pencil".
SALT = base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")


def test_the_example_of_the_standard():
    verifier = make_verifier("pencil", SALT)
    assert verifier == (
        "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU="
    )


@pytest.mark.parametrize(
    ("password", "prepared", "why"),
    [
        ("I\u00adX", "IX", "a soft hyphen maps to nothing"),
        ("\u00aa", "a", "NFKC"),
        ("\u2168", "IX", "NFKC"),
        ("a\u00a0b", "a b", "another blank is a blank"),
        ("a\u0007b", "a\u0007b", "prohibited, so left as it is"),
        ("\u06271", "\u06271", "letters of both directions, so left as it is"),
        ("😀", "😀", "unknown to the standard, so left as it is"),
        ("\u00ad", "\u00ad", "nothing would remain, so left as it is"),
    ],
)
def test_a_password_is_prepared_as_clients_of_postgresql_do(password, prepared, why):
    assert prepare(password) == prepared, why
