"""With trusted keys, only a commit that one of them signed is read, and exactly as it was committed."""

import os
from contextlib import ExitStack
from pathlib import Path

import pytest

from gitsync.errors import ConfigError, SourceError
from gitsync.repository.git.git_access import GitAccess
from gitsync.repository.git.source.checkout import open_checkout
from gitsync.repository.git.source.commit_signatures import read_trusted_keys
from gitsync.repository.git.source.revisions import read_revision
from tests.repository.git.signing import Signer, make_ssh_signer, needs_gpg, open_pgp_signer


@pytest.fixture(scope="module")
def trusted_person(tmp_path_factory) -> Signer:
    return make_ssh_signer(tmp_path_factory.mktemp("trusted"), "trusted")


@pytest.fixture(scope="module")
def stranger(tmp_path_factory) -> Signer:
    return make_ssh_signer(tmp_path_factory.mktemp("stranger"), "stranger")


@pytest.fixture
def keys(tmp_path, trusted_person):
    return keys_of(tmp_path, trusted_person.public)


def keys_of(folder: Path, *publics: str):
    file = folder / "keys"
    file.write_text("# who may sign\n\n" + "".join(publics), "utf-8")
    return read_trusted_keys(str(file))


def files(location, keys, **options):
    with open_checkout(str(location), trusted=keys, **options) as found:
        return dict(found.contents.files)


# ---- who signed ----


@pytest.mark.parametrize("source", ["work tree", "ref", "url"])
def test_a_commit_of_a_trusted_key_is_read_and_no_other(work, keys, trusted_person, stranger, source):
    location, options = {
        "work tree": (work.path, {}),
        "ref": (work.path, {"ref": "main"}),
        "url": (work.url, {}),
    }[source]
    work.put("a.yaml", "n: 1")
    trusted_person.commit(work.path)
    assert files(location, keys, **options) == {"a.yaml": b"n: 1"}
    work.put("a.yaml", "n: 2")
    stranger.commit(work.path)
    with pytest.raises(SourceError, match=r"is not signed by a key of --trusted-keys \(SHA256:"):
        files(location, keys, **options)
    work.commit("Unsigned")
    with pytest.raises(SourceError, match=r"is not signed, so it is not applied\. Sign it with a trusted key"):
        files(location, keys, **options)


@needs_gpg
def test_pgp_keys_and_ssh_keys_share_one_file(work, tmp_path, trusted_person):
    with ExitStack() as stack:
        ann, bob = (stack.enter_context(open_pgp_signer(name)) for name in ("ann", "bob"))
        keys = keys_of(tmp_path, ann.public, trusted_person.public)
        for signer in (ann, trusted_person):
            work.put("a.yaml", "n: 1")
            signer.commit(work.path)
            assert files(work.path, keys) == {"a.yaml": b"n: 1"}
        bob.commit(work.path)
        with pytest.raises(SourceError, match="is not signed by a key of --trusted-keys"):
            files(work.path, keys)


@needs_gpg
def test_a_key_that_the_person_has_trusted_elsewhere_does_not_count(work, tmp_path, trusted_person, monkeypatch):
    with open_pgp_signer("bob") as bob:
        bob.commit(work.path)
        monkeypatch.setenv("GNUPGHOME", bob.environment["GNUPGHOME"])
        with pytest.raises(SourceError, match="is not signed by a key of --trusted-keys"):
            files(work.path, keys_of(tmp_path, trusted_person.public))


@needs_gpg
def test_an_expired_key_does_not_count(work, tmp_path):
    with open_pgp_signer("old", expired=True) as old:
        old.commit(work.path)
        with pytest.raises(SourceError, match="is signed by a key that has expired"):
            files(work.path, keys_of(tmp_path, old.public))


def test_a_signed_tag_is_not_a_signature_of_its_commit(work, keys, trusted_person):
    work.commit("Unsigned")
    trusted_person.git(work.path, "tag", "--sign", "--message", "One", "v1")
    with pytest.raises(SourceError, match="is not signed, so"):
        files(work.path, keys, ref="v1")


def signature_of(work, commit: str) -> str:
    header = work.git("cat-file", "commit", commit).partition("\n\n")[0]
    return header[header.index("gpgsig ") :]


def written(work, text: str) -> str:
    commit = work.git("hash-object", "-t", "commit", "-w", "--stdin", stdin=text.encode())
    work.git("reset", "--quiet", "--hard", commit)
    return commit


FORGERIES = {
    "the signature of another commit": ("{header}\n{signature}\n\nForged\n", "has a signature that is not valid"),
    "a signature in the message": ("{header}\n\nForged\n\n{signature}\n", "is not signed"),
    "one under another name": ("{header}\n{other}\n\nForged\n", "is not signed"),
    "text that is none": ('{header}\ngpgsig Good "git" signature for trusted\n\nForged\n', ""),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_signature_is_none(work, keys, trusted_person, forgery):
    signed = trusted_person.commit(work.path)
    work.put("a.yaml", "n: evil")
    work.commit("Unsigned")
    header = work.git("cat-file", "commit", "HEAD").partition("\n\n")[0]
    signature = signature_of(work, signed)
    text, why = FORGERIES[forgery]
    other = signature.replace("gpgsig ", "mergetag ")
    written(work, text.format(header=header, signature=signature, other=other))
    with pytest.raises(SourceError, match=f"{why}.*so it is not applied"):
        files(work.path, keys)


# ---- what is not as it was signed ----


@pytest.mark.parametrize(
    ("committed", "text", "changed", "why"),
    [
        ("a.yaml", "n: 1", "a.yaml", "a file that changed since"),
        (".gitignore", "b.yaml\n", "b.yaml", "a file that git ignores"),
    ],
)
def test_what_is_not_committed_is_signed_by_no_one(work, keys, trusted_person, committed, text, changed, why):
    work.put(committed, text)
    trusted_person.commit(work.path)
    work.put(changed, "n: 2")
    with pytest.raises(SourceError, match="has uncommitted changes, which are not signed"):
        files(work.path, keys)


def test_a_folder_without_git_or_commit_is_refused(work, keys, tmp_path):
    plain = tmp_path / "plain"
    plain.mkdir()
    with pytest.raises(SourceError, match="is not in a git repository, so no commit of it is signed"):
        files(plain, keys)
    with pytest.raises(SourceError, match="has no commit yet"):
        files(work.path, keys)


def test_nothing_of_an_unsigned_revision_is_read(work, keys):
    """What reading it would raise is not raised."""
    work.put("a.yaml", "n: 1")
    commit = work.commit("Unsigned")
    with (
        pytest.raises(SourceError, match="There is no folder or file nowhere"),
        open_checkout(work.url, path="nowhere"),
    ):
        pass
    for location, options in ((work.url, {}), (work.path, {}), (work.path, {"ref": commit})):
        with pytest.raises(SourceError, match="is not signed"):
            files(location, keys, path="nowhere", **options)


def test_the_repository_chooses_no_program_and_no_key(work, keys, stranger, tmp_path):
    stranger.commit(work.path)
    everybody = tmp_path / "everybody"
    everybody.write_text(f"trusted {stranger.public}")
    ran = tmp_path / "ran"
    program = tmp_path / "verify"
    program.write_text(f"#!/bin/sh\ntouch {ran}\n")
    program.chmod(0o755)
    for key, value in {
        "gpg.ssh.allowedSignersFile": str(everybody),
        "gpg.ssh.program": str(program),
        "gpg.program": str(program),
    }.items():
        work.git("config", key, value)
        work.git("config", "--global", key, value)
    assert os.environ["HOME"] == str(tmp_path / "home")
    with pytest.raises(SourceError, match="is not signed by a key of --trusted-keys"):
        files(work.path, keys)
    assert not ran.exists()


def test_a_file_of_keys_in_the_work_tree_is_refused(work, trusted_person):
    keys = keys_of(work.path, trusted_person.public)
    trusted_person.commit(work.path)
    with pytest.raises(SourceError, match="is in the working tree"):
        files(work.path, keys)
    with pytest.raises(SourceError, match="is in the working tree"), ExitStack() as opened:
        read_revision(str(work.path), "HEAD", opened, path=".", access=GitAccess(), trusted=keys)


# ---- other revisions ----


def test_a_plan_of_two_revisions_checks_each(work, keys, trusted_person):
    work.put("a.yaml", "n: 1")
    work.commit("Unsigned")
    trusted_person.commit(work.path)
    for location in (str(work.path), work.url):
        with ExitStack() as opened:
            assert read_revision(location, "main", opened, path=".", access=GitAccess(), trusted=keys).contents.files
            with pytest.raises(SourceError, match="is not signed"):
                read_revision(location, "main~1", opened, path=".", access=GitAccess(), trusted=keys)


def test_who_signs_a_commit_signs_its_history_and_nothing_beside_it(work, keys, trusted_person):
    work.put("a.yaml", "n: 1")
    before = work.commit("Unsigned")
    work.git("checkout", "--quiet", "-b", "side")
    beside = work.commit("Beside")
    work.git("checkout", "--quiet", "main")
    trusted_person.commit(work.path)
    with open_checkout(str(work.path), trusted=keys) as found:
        assert found.contents_at(before).files == {"a.yaml": b"n: 1"}
        assert found.contents_at(beside) is None
        assert found.settings_at(beside) is None


# ---- the file ----

ED25519 = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGRvZXMtbm90LW1hdHRlci1mb3ItdGhpcy10ZXN0LWFiY2Q="

WRONG_FILES = [
    ("", "has no key", "an empty file trusts nobody, which cannot be meant"),
    ("# nothing\n", "has no key", "nor do comments"),
    ("hello\n", ":1: This is not a public key", "any other text"),
    (f"\n{ED25519}\nssh-ed25519 AAAA\n", ":3: This is not a public key", "a key that is cut off"),
    ("ssh-rsa " + ED25519.split()[1], ":1: This is not a public key", "a key of another type than it says"),
    ("-----BEGIN OPENSSH PRIVATE KEY-----\n", ":1: This is not a public key", "a private key"),
    ("-----BEGIN PGP PRIVATE KEY BLOCK-----\n", ":1: This is not a public key", "a private key of gpg"),
    ("-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nmQ\n", ":1: The PGP block has no end", "half a block"),
    ("x" * 1_000_001, "has more than 1000000 bytes", "a file that is none of keys"),
]


@pytest.mark.parametrize(("text", "message", "why"), WRONG_FILES, ids=[row[2] for row in WRONG_FILES])
def test_a_file_that_has_something_else_in_it_is_refused(tmp_path, text, message, why):
    file = tmp_path / "keys"
    file.write_text(text)
    with pytest.raises(ConfigError, match=message):
        read_trusted_keys(str(file))


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"nowhere cannot be read: No such file"):
        read_trusted_keys(str(tmp_path / "nowhere"))


def test_a_line_of_an_allowed_signers_file_stays_as_it_is(work, tmp_path, trusted_person, stranger):
    """ssh-keygen applies its options: here a key that was valid for a year."""
    trusted_person.commit(work.path)
    name = 'ann@example.com,bob@example.com namespaces="git"'
    assert files(work.path, keys_of(tmp_path, f"{name} {trusted_person.public}")) == {}
    for bad in (f'{name},valid-before="20200101" {trusted_person.public}', f"{name} {stranger.public}"):
        with pytest.raises(SourceError, match="is not signed by a key of --trusted-keys"):
            files(work.path, keys_of(tmp_path, bad))


@needs_gpg
def test_a_block_that_gpg_does_not_take_is_an_error_of_the_file(work, tmp_path):
    work.commit("Unsigned")
    block = "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nmQ==\n=aaaa\n-----END PGP PUBLIC KEY BLOCK-----\n"
    with pytest.raises(ConfigError, match=r"gpg cannot import the PGP keys of .* Check them with"):
        files(work.path, keys_of(tmp_path, block))


def test_a_missing_program_is_named(work, tmp_path, trusted_person, monkeypatch):
    commit = trusted_person.commit(work.path)
    assert commit
    programs = tmp_path / "bin"
    programs.mkdir()
    git = next(Path(folder) / "git" for folder in os.environ["PATH"].split(":") if (Path(folder) / "git").exists())
    (programs / "git").symlink_to(git)
    monkeypatch.setenv("PATH", str(programs))
    with pytest.raises(ConfigError, match=r"ssh-keygen cannot be started, .* Install the ssh client"):
        files(work.path, keys_of(tmp_path, trusted_person.public))
    block = "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nmQ==\n-----END PGP PUBLIC KEY BLOCK-----\n"
    with pytest.raises(ConfigError, match=r"gpg cannot be started, .* Install GnuPG"):
        files(work.path, keys_of(tmp_path, block))
