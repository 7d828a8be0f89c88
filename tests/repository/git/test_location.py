"""What may be shown of a source, and that nothing reaches git as an option, a transport or a password."""

from dataclasses import replace
from pathlib import Path

import pytest

from gitsync.errors import SourceError
from gitsync.repository.git.source.location import (
    Folder,
    Url,
    check_path,
    check_ref,
    is_loopback,
    parse_location,
    parse_remote,
)


@pytest.mark.parametrize(
    ("text", "url", "why"),
    [
        ("https://example.com/a/b.git", Url("https://example.com/a/b.git", "https"), "the usual address"),
        ("https://me@dev.azure.com/o/p", Url("https://dev.azure.com/o/p", "https", "me"), "a user name is no secret"),
        ("https://example.com:8443/a", Url("https://example.com:8443/a", "https"), "a port"),
        ("http://127.0.0.1:80/a", Url("http://127.0.0.1:80/a", "http"), "plain http to this machine"),
        ("http://[::1]:80/a", Url("http://[::1]:80/a", "http"), "plain http to this machine, by IPv6"),
        ("http://localhost/a", Url("http://localhost/a", "http"), "plain http to this machine, by name"),
        ("ssh://git@example.com/a", Url("ssh://git@example.com/a", "ssh"), "the user is part of an ssh address"),
        ("git@example.com:o/a.git", Url("git@example.com:o/a.git", "ssh"), "ssh as scp writes it"),
        ("example.com:a.git", Url("example.com:a.git", "ssh"), "ssh as scp writes it, without a user"),
        ("file:///srv/a.git", Url("file:///srv/a.git", "file"), "a repository on this machine"),
    ],
)
def test_urls_are_distinguished(text, url, why):
    assert parse_location(text) == url, why


def test_a_password_is_taken_out_of_the_url():
    url = parse_location("https://me:p%40ss@example.com/a.git")
    assert isinstance(url, Url)
    assert (url.text, url.user) == ("https://example.com/a.git", "me")
    assert url.password is not None
    assert url.password.reveal() == "p@ss"
    assert "p@ss" not in repr(url)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "nothing"),
        ("-u", "an option"),
        ("--upload-pack=touch /tmp/x", "an option with a command"),
        ("ext::sh -c touch% /tmp/x", "a transport that runs commands"),
        ("fd::17", "a transport that reads a descriptor"),
        ("ext://x/y", "the same, written as a scheme"),
        ("git://example.com/a", "not encrypted"),
        ("http://example.com/a", "not encrypted"),
        ("http://127.0.0.1.example.com/a", "not this machine"),
        ("ftp://example.com/a", "another protocol"),
        ("https://example.com/a\nb", "a line break"),
        ("https:///a", "no host"),
        ("https://exa mple.com/a", "a blank in the host"),
        ("https://example.com:port/a", "a port that is no number"),
        ("ssh://-oProxyCommand=touch/a", "an option in place of the host"),
        ("ssh://-oProxyCommand=x@example.com/a", "an option in place of the user"),
        ("ssh://git:secret@example.com/a", "a password that ssh does not take"),
        ("-oProxyCommand=x@example.com:a", "an option in place of the user, as scp writes it"),
        ("git@-oProxyCommand=x:a", "an option in place of the host, as scp writes it"),
        ("git@example.com:-a", "an option in place of the path, as scp writes it"),
        ("no/such/folder", "a folder that is not there"),
    ],
)
def test_what_is_neither_folder_nor_repository_is_refused(text, why):
    with pytest.raises(SourceError) as refused:
        parse_location(text)
    assert "secret" not in str(refused.value), why


def test_an_unreadable_url_is_shown_without_its_password():
    with pytest.raises(SourceError) as refused:
        parse_location("https://me:hunter2@example.com:port/a")
    assert "hunter2" not in str(refused.value)


def test_a_folder_goes_before_everything_that_its_name_looks_like(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "host:path").mkdir()
    monkeypatch.chdir(tmp_path)
    assert parse_location("host:path") == Folder(tmp_path / "host:path")


def test_a_link_to_a_folder_is_the_folder(tmp_path: Path):
    (tmp_path / "real").mkdir()
    (tmp_path / "current").symlink_to("real")
    assert parse_location(str(tmp_path / "current")) == Folder(tmp_path / "real")


@pytest.mark.parametrize(
    ("address", "url", "why"),
    [
        ("https://example.com/a", Url("https://example.com/a", "https"), "a URL"),
        ("git@example.com:o/a.git", Url("git@example.com:o/a.git", "ssh"), "ssh as scp writes it"),
        ("../remote.git", Url("{above}/remote.git", "file"), "a path is relative to the work tree"),
        ("/srv/a.git", Url("/srv/a.git", "file"), "a path from the root"),
    ],
)
def test_the_address_of_a_remote(tmp_path: Path, address, url, why):
    top = tmp_path / "work"
    top.mkdir()
    assert parse_remote(address, top) == replace(url, text=url.text.format(above=tmp_path)), why


@pytest.mark.parametrize(
    "address",
    ["server.git", ".", "./a/../server.git", "{top}/server.git", "file://{top}/server%2egit", "../link/server.git"],
)
def test_a_remote_inside_the_work_tree_may_come_from_a_commit_and_is_refused(tmp_path: Path, address):
    top = tmp_path / "work"
    (top / "server.git").mkdir(parents=True)
    (tmp_path / "link").symlink_to(top)
    with pytest.raises(SourceError, match="inside the working tree"):
        parse_remote(address.format(top=top), top)


@pytest.mark.parametrize("ref", ["main", "v1.2.3", "release/2024-06", "refs/heads/main", "0123abc", "a@b", "x.y"])
def test_names_of_branches_tags_and_commits_are_refs(ref):
    assert check_ref(ref) == ref


@pytest.mark.parametrize(
    ("ref", "why"),
    [
        ("", "nothing"),
        ("-d", "an option"),
        ("--upload-pack=x", "an option"),
        ("a..b", "a range"),
        ("a b", "a blank"),
        ("a:b", "two sides of a refspec"),
        ("a~1", "an expression"),
        ("a^{tree}", "an expression"),
        ("a*", "a pattern"),
        ("@", "an abbreviation"),
        ("a@{1}", "an expression"),
        ("a\x00", "a control character"),
        ("a\n", "a line break"),
        (".a", "hidden"),
        ("a/.b", "hidden"),
        ("a.lock", "git's own"),
        ("a/", "half a name"),
        ("/a", "half a name"),
        ("a//b", "half a name"),
        ("a\\b", "another system's slash"),
    ],
)
def test_what_is_not_a_ref_is_refused(ref, why):
    with pytest.raises(SourceError):
        check_ref(ref)


@pytest.mark.parametrize(
    ("path", "clean"), [(".", ""), ("", ""), ("a", "a"), ("./a/b/", "a/b"), ("a//b", "a/b"), ("a/./b", "a/b")]
)
def test_paths_are_written_as_git_writes_them(path, clean):
    assert check_path(path) == clean


@pytest.mark.parametrize("path", ["..", "a/../b", "/etc", "-r", "a\x00b", "a\nb", "a\\b"])
def test_a_path_out_of_the_source_is_refused(path):
    with pytest.raises(SourceError):
        check_path(path)


@pytest.mark.parametrize(
    ("host", "expected"),
    [("localhost", True), ("127.0.0.1", True), ("127.8.9.1", True), ("::1", True), ("10.0.0.1", False), ("x", False)],
)
def test_only_this_machine_is_loopback(host, expected):
    assert is_loopback(host) is expected
