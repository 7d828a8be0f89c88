"""Exports as lines of a file: read alike by shells and by others, and none of them somebody else's."""

import os
import shutil
import stat
import subprocess
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.errors import ConfigError, SecretStoreError
from gitsync.model.export import ObjectKind, Owner
from gitsync.repository.secrets.sinks.dotenv import DotenvSink, quote_value
from tests.support.exports import ONE, TWO, address, export, owner, remove, times, write


async def test_the_lines_of_an_object(tmp_path):
    file = tmp_path / "out" / ".env"
    await write(
        DotenvSink(file),
        export({"key2": "b", "key1": "x y"}, address("sa", "team-a"), owner=TWO),
        export({"tls.crt": "1"}, address("cm", object_kind=ObjectKind.CONFIG_MAP)),
    )
    assert file.read_text().splitlines() == [
        f"# gitsync: ConfigMap default/cm, exported by {ONE}",
        "DEFAULT_CM_TLS_CRT=1",
        f"# gitsync: Secret team-a/sa, exported by {TWO}",
        "TEAM_A_SA_KEY1='x y'",
        "TEAM_A_SA_KEY2=b",
    ]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("value", "expected", "why"),
    [
        ("aB+/9==", "aB+/9==", "a key of an account: without quotes even docker's --env-file reads it"),
        ("", "''", "nothing"),
        ('a b;c&d$e`f"g', "'a b;c&d$e`f\"g'", "single quotes keep all but themselves"),
        ("it's", '"it\'s"', "a single quote"),
        ('it\'s "\\"', '"it\'s \\"\\\\\\""', "both quotes and a backslash"),
        ("it's $5", "'it'\\''s $5'", "what only a shell can be told"),
        ("#no", "'#no'", "no comment"),
        ("~", "'~'", "no home"),
    ],
)
def test_how_a_value_is_written(value, expected, why):
    assert quote_value(value) == expected, why


@given(st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"])))
def test_a_shell_reads_what_was_written(value):
    ended = subprocess.run(
        [shutil.which("sh"), "-c", f'X={quote_value(value)}; printf %s "$X"'], capture_output=True, check=True
    )
    assert ended.stdout.decode() == value


async def test_a_shell_reads_the_file(tmp_path):
    values = {"a": "x y", "b": "it's $5 \\", "c": "ü"}
    await write(DotenvSink(tmp_path / ".env"), export(values))
    script = f'. {tmp_path}/.env; printf \'%s|\' "$DEFAULT_DB_A" "$DEFAULT_DB_B" "$DEFAULT_DB_C"'
    ended = subprocess.run([shutil.which("sh"), "-c", script], capture_output=True, text=True, check=True)
    assert ended.stdout == "|".join(values.values()) + "|"


async def test_an_object_is_replaced_and_others_stay(tmp_path):
    file = tmp_path / ".env"
    foreign = "# mine\nMINE='a\nb'\n\nexport OTHER=1\n"
    file.write_text(foreign)
    file.chmod(0o600)
    await write(DotenvSink(file), export({"a": "1", "b": "2"}), export({"a": "3"}, address("other"), owner=TWO))
    await write(DotenvSink(file), export({"b": "4"}))
    assert file.read_text() == (
        f"{foreign}# gitsync: Secret default/db, exported by {ONE}\nDEFAULT_DB_B=4\n"
        f"# gitsync: Secret default/other, exported by {TWO}\nDEFAULT_OTHER_A=3\n"
    )


async def test_a_line_that_somebody_added_below_stays(tmp_path):
    file = tmp_path / ".env"
    await write(DotenvSink(file), export({"a": "1"}))
    file.write_text(file.read_text() + "MINE=1\n")
    await write(DotenvSink(file), export({"a": "2"}))
    assert file.read_text().splitlines()[0] == "MINE=1"
    assert file.read_text().splitlines()[-1] == "DEFAULT_DB_A=2"


async def test_what_did_not_change_is_not_written(tmp_path):
    await write(DotenvSink(tmp_path / ".env"), export({"a": "1"}))
    before = times(tmp_path)
    await write(DotenvSink(tmp_path / ".env"), export({"a": "1"}))
    assert times(tmp_path) == before


async def test_who_owns_what_stands_there(tmp_path):
    sink = DotenvSink(tmp_path / ".env")
    assert await owner(sink) is None
    await write(sink, export({}, owner=TWO))
    assert await owner(sink) == str(TWO)
    assert await owner(sink, address(object_kind=ObjectKind.CONFIG_MAP)) is None


@pytest.mark.parametrize(
    ("foreign", "first", "second", "said"),
    [
        (
            "",
            {"b_c": "1"},
            export({"c": "hidden"}, address("db-b")),
            "DEFAULT_DB_B_C .* Secret default/db sets already",
        ),
        (
            "",
            {"a": "1"},
            export({"a": "hidden"}, address(object_kind=ObjectKind.CONFIG_MAP)),
            "Secret default/db sets already",
        ),
        (
            "export DEFAULT_X_A=1\n",
            {"b": "1"},
            export({"a": "hidden"}, address("x")),
            "a line that gitsync did not write",
        ),
        (
            "",
            {"a": "1"},
            export({"a-b": "hidden", "a.b": "x"}, address("x")),
            "would be DEFAULT_X_A_B in .*, which its key a-b sets already",
        ),
        ("", {"a": "1"}, export({"a": "hidden\nLD_PRELOAD=x"}, address("x")), "has several lines"),
        ("", {"a": "1"}, export({"a": "hidden\r"}, address("x")), "has several lines"),
        ("", {"a": "1"}, export({"a": "hidden\0"}, address("x")), "has several lines"),
        ("", {"a": "1"}, export({"a": "hidden\ud800"}, address("x")), "is not text"),
        ("", {"a": "1"}, export({"a b": "hidden"}, address("x")), "its key"),
    ],
)
async def test_what_cannot_be_written_leaves_the_file_as_it_was(tmp_path, foreign, first, second, said):
    file = tmp_path / ".env"
    file.write_text(foreign)
    file.chmod(0o600)
    await write(DotenvSink(file), export(first))
    before = file.read_text()
    with pytest.raises(SecretStoreError, match=said) as refused:
        await write(DotenvSink(file), second)
    assert "hidden" not in str(refused.value)
    assert file.read_text() == before


def readable(file):
    file.write_text("")
    file.chmod(0o644)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (readable, r"\.env has the mode 0644: .* Run `chmod 600 .*\.env`"),
        (lambda file: file.symlink_to(file.parent / "real"), "is a symbolic link"),
        (lambda file: file.mkdir(), "is not a file"),
    ],
)
async def test_a_file_that_is_not_private_is_refused_before_the_run(tmp_path, made, said):
    made(tmp_path / ".env")
    with pytest.raises(ConfigError, match=said):
        await DotenvSink(tmp_path / ".env").check()


async def test_a_file_that_is_no_text_is_refused_before_the_run(tmp_path):
    (tmp_path / ".env").write_bytes(b"\xff")
    (tmp_path / ".env").chmod(0o600)
    with pytest.raises(ConfigError, match="is not text in UTF-8"):
        await DotenvSink(tmp_path / ".env").check()


async def test_nobody_else_may_read_it_at_any_time(tmp_path):
    before = os.umask(0)
    try:
        await write(DotenvSink(tmp_path / ".env"), export({"a": "1"}))
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / ".env").stat().st_mode) == 0o600
    assert [each.name for each in tmp_path.iterdir()] == [".env"]


async def test_a_file_that_cannot_be_made_refuses_the_run(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(
        ConfigError, match=r"cannot be exported to .*\.env: (Not a directory|File exists)\. .*--export-dotenv"
    ):
        await DotenvSink(tmp_path / "file" / ".env").check()


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda file: file.chmod(0o644), "Nothing is exported: .* has the mode 0644"),
        (lambda file: (file.unlink(), file.parent.rmdir()), "cannot be read or written: No such file"),
    ],
)
async def test_what_changed_since_the_check_is_told(tmp_path, spoil, said):
    sink = DotenvSink(tmp_path / "out" / ".env")
    await write(sink, export({"a": "1"}))
    spoil(tmp_path / "out" / ".env")
    with pytest.raises(SecretStoreError, match=said) as refused:
        await sink.write(export({"a": "hidden"}))
    assert "hidden" not in str(refused.value)


async def test_a_full_disk_leaves_the_file_as_it_was(tmp_path, full_disk):
    sink = DotenvSink(tmp_path / ".env")
    await write(sink, export({"a": "1"}))
    before = (tmp_path / ".env").read_text()
    with full_disk(), pytest.raises(SecretStoreError, match="cannot be read or written: File too large"):
        await sink.write(export({"a": "hidden" * 1000}))
    assert (tmp_path / ".env").read_text() == before
    assert [each.name for each in tmp_path.iterdir()] == [".env"]


async def test_the_lines_of_a_forgotten_resource_are_taken_away_and_others_stay(tmp_path):
    file = tmp_path / ".env"
    file.write_text("MINE=1\n")
    file.chmod(0o600)
    sink = DotenvSink(file)
    await write(sink, export({"a": "1", "b": "2"}), export({"a": "3"}, address("other"), owner=TWO))
    for _ in range(2):
        await remove(sink)
    await remove(sink, address("other"))
    assert file.read_text() == f"MINE=1\n# gitsync: Secret default/other, exported by {TWO}\nDEFAULT_OTHER_A=3\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert (await owner(sink), await owner(sink, address("other"))) == (None, str(TWO))


async def test_nothing_is_left_of_a_file_whose_only_lines_went(tmp_path):
    sink = DotenvSink(tmp_path / ".env")
    await write(sink, export({"a": "1"}))
    await remove(sink)
    assert (tmp_path / ".env").read_bytes() == b""
    await write(sink, export({"a": "2"}, owner=TWO))
    assert (tmp_path / ".env").read_text() == f"# gitsync: Secret default/db, exported by {TWO}\nDEFAULT_DB_A=2\n"


async def test_a_file_that_others_may_read_by_now_is_told_and_left(tmp_path):
    sink = DotenvSink(tmp_path / ".env")
    await write(sink, export({"a": "1"}))
    (tmp_path / ".env").chmod(0o644)
    with pytest.raises(SecretStoreError, match="has the mode 0644"):
        await remove(sink)
    assert "DEFAULT_DB_A=1" in (tmp_path / ".env").read_text()


async def test_the_owner_of_a_named_agent_is_read_back(tmp_path):
    sink, owner_of_north = DotenvSink(tmp_path / ".env"), Owner(ONE, "north")
    for value in ("1", "2"):
        await write(sink, replace(export({"a": value}), owner=owner_of_north))
    assert await owner(sink) == str(owner_of_north)
    assert (tmp_path / ".env").read_text().splitlines()[1:] == ["DEFAULT_DB_A=2"]
