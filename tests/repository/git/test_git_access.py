"""Credentials reach the server they are for, and are not shown on the way."""

import ipaddress
import re
import socket
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from gitsync.errors import PublishError, SourceError
from gitsync.model.secret import Secret
from gitsync.repository.git.git_access import GitAccess
from gitsync.repository.git.git_command import explain_complaint
from gitsync.repository.git.source.checkout import open_checkout
from gitsync.repository.git.state.store_choice import open_store
from tests.repository.git.remembered import a_record, an_update
from tests.support.git_server import EVERY_PROCESS, basic, serve

TOKEN = "t0ken-that-nobody-may-see"
READER = basic("x-access-token", "reader")
WRITER = basic("x-access-token", TOKEN)


@pytest.fixture
def served(cloned, bare, tmp_path: Path):
    """(URL of the repository, what the server sees)."""
    with serve(tmp_path, readers=(READER, basic("me", "p@ss")), writers=(WRITER,), spies=True) as (url, seen):
        yield f"{url}/{bare.path.name}", seen


def access(token: str | None = TOKEN, **options) -> GitAccess:
    return GitAccess(token=Secret(token) if token else None, **options)


def test_the_token_arrives_and_shows_on_no_command_line(served):
    url, seen = served
    with open_checkout(url, access=access()) as found:
        assert list(found.contents.files) == ["apps/rg.yaml"]
        assert TOKEN not in repr(found)
        assert WRITER.split()[1] not in repr(found)
    assert {tuple(each) for each in seen.authorizations} == {(WRITER,)}, "sent at once, and once"
    assert any("fetch" in line for line in seen.command_lines) or not EVERY_PROCESS.exists()
    assert not [line for line in seen.command_lines if TOKEN in line or WRITER.split()[1] in line]


def test_a_connection_that_breaks_is_not_a_refusal_of_a_commit(cloned, bare, tmp_path):
    """A commit of a pull request is on no branch: it comes by its id alone."""
    commit = bare.git("commit-tree", "-m", "of a pull request", "HEAD^{tree}").strip()
    bare.git("update-ref", "refs/pull/1/head", commit)
    with (
        serve(tmp_path, readers=(READER,), drops=(commit.encode(),)) as (url, _),
        open_checkout(f"{url}/{bare.path.name}", ref=commit, access=access("reader")) as found,
    ):
        assert list(found.contents.files) == ["apps/rg.yaml"]


def test_a_password_in_the_url_travels_the_same_way(served):
    url, seen = served
    address = url.replace("://", "://me:p%40ss@")
    with open_checkout(address, access=access(None)) as found:
        assert found.name == url
        assert found.remote is not None
        assert found.remote.url == url
        assert "p@ss" not in repr(found)
    assert {tuple(each) for each in seen.authorizations} == {(basic("me", "p@ss"),)}
    assert not [line for line in seen.command_lines if "p%40ss" in line and "pytest" not in line]


def test_a_token_goes_before_the_password_of_the_url(served):
    url, seen = served
    with open_checkout(url.replace("://", "://me:p%40ss@"), access=access()):
        pass
    assert {tuple(each) for each in seen.authorizations} == {(WRITER,)}


def test_the_user_name_can_be_chosen(cloned, bare, tmp_path: Path):
    with (
        serve(tmp_path, readers=(basic("oauth2", TOKEN),)) as (url, _),
        open_checkout(f"{url}/{bare.path.name}", access=access(username="oauth2")) as found,
    ):
        assert found.contents.files


@pytest.mark.parametrize(
    ("token", "hint"), [(None, "Set GITSYNC_GIT_TOKEN"), ("wrong", "The token was not accepted|Set GITSYNC_GIT_TOKEN")]
)
def test_without_the_right_token_nothing_is_requested_and_it_is_reported(served, token, hint):
    url, _ = served
    with pytest.raises(SourceError, match=hint) as refused:
        open_checkout(url, access=access(token))
    assert "wrong" not in str(refused.value)


def test_a_token_that_may_not_write_is_found_out_before_anything_is_written(served, bare, clock):
    url, _ = served
    with open_checkout(url, access=access("reader")) as source, open_store(source, clock=clock) as store:
        assert not store.load().records
        with pytest.raises(
            PublishError, match=r"403.*Grant the token read access to the contents, and write access to push"
        ):
            store.check_writable()
    assert "gitsync" not in bare.git("for-each-ref")


def test_status_is_pushed_with_the_same_token(served, bare, clock):
    url, seen = served
    with open_checkout(url, access=access()) as source, open_store(source, clock=clock) as store:
        store.load()
        store.check_writable()
        assert store.save(an_update(a_record("one"), revision=source.revision))
    assert bare.git("log", "--format=%s", "gitsync/status") == "Sync 1 resource [skip ci]"
    assert {tuple(each) for each in seen.authorizations} == {(WRITER,)}
    assert not [line for line in seen.command_lines if TOKEN in line or WRITER.split()[1] in line]


@pytest.mark.parametrize("token", [None, TOKEN])
def test_the_credentials_that_ci_left_in_a_work_tree_are_used_for_its_remote(served, cloned, clock, token):
    """As actions/checkout leaves them; a token of our own takes their place, since two are refused."""
    url, seen = served
    left = WRITER if token is None else basic("x-access-token", "expired")
    cloned.git("remote", "set-url", "origin", url)
    cloned.git("config", f"http.{url.rpartition('/')[0]}/.extraheader", f"AUTHORIZATION: {left}")
    with open_checkout(str(cloned.path), access=access(token)) as source, open_store(source, clock=clock) as store:
        store.load()
        store.check_writable()
        assert store.save(an_update(a_record("one")))
    assert {tuple(each) for each in seen.authorizations} == {(WRITER,)}
    assert TOKEN not in (cloned.path / ".git" / "config").read_text()


def test_settings_that_the_environment_hands_over_stay(served, monkeypatch: pytest.MonkeyPatch):
    url, seen = served
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", f"http.{url}.extraHeader")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", f"Authorization: {WRITER}")
    with open_checkout(url, access=access(None)) as found:
        assert found.contents.files
    assert {tuple(each) for each in seen.authorizations} == {(WRITER,)}


def test_over_tls_the_servers_name_is_checked(cloned, bare, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    certificate, key = _certificate(tmp_path)
    with serve(tmp_path, readers=(WRITER,), tls=(certificate, key)) as (url, seen):
        with pytest.raises(SourceError, match=r"certificate.*GIT_SSL_CAINFO"):
            open_checkout(f"{url}/{bare.path.name}", access=access())
        assert seen.authorizations == []
        monkeypatch.setenv("GIT_SSL_CAINFO", str(certificate))
        with open_checkout(f"{url}/{bare.path.name}", access=access()) as found:
            assert list(found.contents.files) == ["apps/rg.yaml"]


def test_a_server_that_never_answers_is_given_up():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/a.git"
        with pytest.raises(SourceError, match=r"did not end within 0\.5 seconds"):
            open_checkout(url, access=access(timeout=0.5))


def _certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1 that vouches for itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)  # noqa: TID251 - a certificate has to be valid now
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    files = folder / "certificate.pem", folder / "key.pem"
    files[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    files[1].write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    assert ssl.create_default_context(cafile=str(files[0]))
    return files


def test_a_remote_at_which_nothing_listens_gets_a_hint():
    with socket.socket() as taken:  # bound, and not listening
        taken.bind(("127.0.0.1", 0))
        with pytest.raises(SourceError) as refused:
            open_checkout(f"https://127.0.0.1:{taken.getsockname()[1]}/x/web.git", access=access())
    assert "Check the URL of the remote" in refused.value.hint


@pytest.mark.parametrize(
    "complaint",
    [
        "! [rejected]        0123456 -> gitsync/status (stale info)",
        "! [rejected]        main -> gitsync/status (fetch first)",
        "! [rejected]        main -> gitsync/status (non-fast-forward)",
        "! [remote rejected] main -> gitsync/status (cannot lock ref 'refs/heads/gitsync/status': is at 1 but expected 2)",
        "! [remote rejected] main -> gitsync/status (incorrect old value provided)",
        "! [remote rejected] main -> gitsync/status (reference already exists)",
        "! [remote rejected] main -> gitsync/status (failed to update ref)",
        "remote: error: cannot lock ref 'refs/heads/x': unable to resolve reference 'refs/heads/x'",
        "remote: error: cannot lock ref 'refs/heads/x': Unable to create '/r.git/refs/heads/x.lock': File exists.",
    ],
)
def test_a_push_that_lost_against_another_lacks_no_right(complaint):
    _, hint = explain_complaint("push", complaint)
    assert "another run has pushed" in hint
    assert "Grant" not in hint


@pytest.mark.parametrize(
    ("complaint", "said"),
    [
        ("cannot lock ref 'refs/heads/x': Unable to create '/r.git/refs/heads/x.lock': Permission denied", "Grant"),
        ("cannot lock ref 'refs/heads/x': 'refs/heads/x/y' exists; cannot create 'refs/heads/x'", "--status-branch"),
    ],
)
def test_a_ref_that_cannot_be_locked_is_not_always_a_lost_race(complaint, said):
    _, hint = explain_complaint("push", f"remote: error: {complaint}\n ! [remote rejected] x (failed to update ref)")
    assert said in hint
    assert "another run" not in hint


FULL = [
    ("remote: fatal: write error: No space left on device\nerror: remote unpack failed: index-pack abnormal exit", "server", "git of the server"),
    ("remote: error: cannot lock ref 'x': Unable to create '/r.git/x.lock': No space left on device", "server", "a ref of it"),
    ("remote: fatal: unable to write loose object file: Disk quota exceeded", "server", "a quota"),
    ("fatal: sha1 file '/tmp/gitsync-run-1/objects/pack/tmp_pack_1' write error: No space left on device", "TMPDIR", "the clone"),
    ("fatal: write error: Disk quota exceeded", "TMPDIR", "a quota of the user"),
]  # fmt: skip


@pytest.mark.parametrize(("complaint", "where", "why"), FULL, ids=[row[-1] for row in FULL])
def test_the_disk_that_is_full_is_named(complaint, where, why):
    _, hint = explain_complaint("push", complaint)
    assert re.match(f"Free some space .*{where}", hint), why
