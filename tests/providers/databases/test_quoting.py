"""Names and texts in statements, without a server; with one: test_injection.py."""

import pytest

from gitsync.providers.databases.quoting import (
    escape_database,
    fold_privilege,
    quote_backticks,
    quote_identifier,
    quote_text,
    unescape_database,
)


@pytest.mark.parametrize(
    ("name", "quoted"), [("a", '"a"'), ('a"b', '"a""b"'), ("a\\b", '"a\\b"'), ("a'b", '"a\'b"'), ('""', '""""""')]
)
def test_a_name_of_postgresql_is_quoted_by_doubling(name, quoted):
    assert quote_identifier(name) == quoted


def test_a_name_of_mysql_is_quoted_by_doubling():
    assert quote_backticks("a`b\\") == "`a``b\\`"


@pytest.mark.parametrize(
    ("text", "escapes", "quoted"),
    [("a'b", True, "'a''b'"), ("a\\", True, "'a\\\\'"), ("a\\", False, "'a\\'"), ("\\'", True, "'\\\\'''")],
)
def test_a_text_is_quoted_as_the_server_reads_it(text, escapes, quoted):
    assert quote_text(text, escapes=escapes) == quoted


@pytest.mark.parametrize("name", ["app", "app_9", "a%", "a\\b", "\\", "\\_", "a\\%_"])
def test_a_name_of_a_database_survives_its_pattern(name):
    assert unescape_database(escape_database(name)) == name


@pytest.mark.parametrize("pattern", ["app_9", "%", "a\\\\_"])
def test_a_pattern_for_several_databases_is_not_a_name(pattern):
    assert unescape_database(pattern) is None


def test_a_backslash_before_another_letter_is_dropped_and_at_the_end_kept():
    """As the server matches: a backslash takes the meaning from what follows."""
    assert unescape_database("a\\b\\") == "ab\\"


def test_a_privilege_is_folded_to_capitals_and_single_blanks():
    assert fold_privilege("  create   temporary\ttables ") == "CREATE TEMPORARY TABLES"
    assert fold_privilege("backup_admin") == "BACKUP_ADMIN"
