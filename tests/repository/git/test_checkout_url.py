"""A revision is fetched from a repository elsewhere, as little of it as is read."""

import tempfile
from pathlib import Path

import pytest

from gitsync.errors import SourceError
from gitsync.repository.git.git_access import GitAccess
from gitsync.repository.git.source.checkout import open_checkout


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where clones lie, to see that nothing stays."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def published(cloned, prepare):
    """A remote with two branches, two kinds of tags, and a commit that only history has."""
    prepare(publish)
    return cloned


def publish(cloned):
    cloned.git("tag", "light")
    cloned.put("apps/rg.yaml", "kind: Second\n")
    cloned.commit("Second")
    cloned.git("tag", "-a", "-m", "x", "full")
    cloned.put("apps/rg.yaml", "kind: Third\n")
    cloned.commit("Third")
    cloned.git("branch", "release/1", "light")
    cloned.git("push", "--quiet", "origin", "main", "release/1", "light", "full")


def test_the_default_branch_is_read_where_no_ref_is_named(published, bare, temporary):
    with open_checkout(bare.url) as found:
        assert found.contents.files == {"apps/rg.yaml": b"kind: Third\n"}
        assert (found.ref, found.revision) == ("main", published.git("rev-parse", "main"))
        assert (found.dirty, found.folder, found.name) == (False, None, bare.url)
        assert found.remote is not None
        assert found.remote.url == bare.url
        assert len(list(temporary.iterdir())) == 1
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize(
    ("ref", "kind", "short"),
    [
        ("main", "Third", "main"),
        ("refs/heads/main", "Third", "main"),
        ("HEAD", "Third", "main"),
        ("release/1", "ResourceGroup", "release/1"),
        ("light", "ResourceGroup", "light"),
        ("full", "Second", "full"),
        ("refs/tags/full", "Second", "full"),
    ],
)
def test_a_ref_is_a_branch_or_a_tag(published, bare, ref, kind, short):
    with open_checkout(bare.url, ref=ref) as found:
        assert found.contents.files == {"apps/rg.yaml": f"kind: {kind}\n".encode()}
        assert found.ref == short
        assert found.revision == published.git("rev-parse", f"{ref}^{{commit}}")


def test_a_bare_repository_is_a_source_by_its_url_alone(published, bare):
    with open_checkout(f"file://{bare.path}") as found:
        assert found.contents.files == {"apps/rg.yaml": b"kind: Third\n"}
        assert found.folder is None
    with pytest.raises(SourceError, match=rf"looks like a bare git repository.*file://{bare.path}"):
        open_checkout(str(bare.path))


@pytest.mark.parametrize("protocol", ["0", "2"])
def test_a_commit_is_fetched_by_itself_or_with_all_history(published, bare, monkeypatch, protocol):
    """With protocol 0 a server hands out only branches and tags, unless it is configured otherwise."""
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "protocol.version")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", protocol)
    commit = published.git("rev-parse", "main~1")
    with open_checkout(bare.url, ref=commit) as found:
        assert (found.revision, found.ref) == (commit, None)
        assert found.contents.files == {"apps/rg.yaml": b"kind: Second\n"}


def test_only_one_commit_is_fetched(published, bare):
    with open_checkout(bare.url) as found:
        assert found.history is not None
        assert found.history._repository.line("rev-list", "--all", "--count") == "1"


def test_a_path_of_a_repository(published, bare):
    with open_checkout(bare.url, path="apps") as found:
        assert list(found.contents.files) == ["apps/rg.yaml"]
    with pytest.raises(SourceError, match="There is no folder or file nowhere in revision"):
        open_checkout(bare.url, path="nowhere")


def test_a_symlink_in_a_repository_is_not_followed(cloned, bare):
    (cloned.path / "passwd.yaml").symlink_to("/etc/passwd")
    cloned.commit()
    cloned.git("push", "--quiet", "origin", "main")
    with open_checkout(bare.url) as found:
        assert list(found.contents.files) == ["apps/rg.yaml"]
        assert [p.path for p in found.contents.problems] == ["passwd.yaml"]


@pytest.mark.parametrize(
    ("ref", "message"),
    [
        ("nope", "has no branch or tag nope"),
        ("0123abc", "full id"),
        ("f" * 40, "has no commit f"),
        ("refs/heads/nope", "has no branch or tag refs/heads/nope"),
    ],
)
def test_a_ref_that_is_not_there_is_reported(published, bare, temporary, ref, message):
    with pytest.raises(SourceError, match=message):
        open_checkout(bare.url, ref=ref)
    assert list(temporary.iterdir()) == []


def test_a_name_that_is_both_a_branch_and_a_tag_is_not_guessed(published, bare):
    published.git("tag", "both")
    published.git("push", "--quiet", "origin", "light:refs/heads/both", "both")
    with pytest.raises(SourceError, match="refs/heads/both or refs/tags/both"):
        open_checkout(bare.url, ref="both")
    with open_checkout(bare.url, ref="refs/tags/both") as found:
        assert found.contents.files == {"apps/rg.yaml": b"kind: Third\n"}


def test_an_empty_repository_is_reported(bare):
    with pytest.raises(SourceError, match="no commits on its default branch"):
        open_checkout(bare.url)


def test_a_repository_that_is_not_there_is_reported(tmp_path: Path):
    with pytest.raises(SourceError, match=r"Cannot fetch file:///.* Check the URL"):
        open_checkout(f"file://{tmp_path}/nowhere.git")


def test_an_ssh_that_hangs_is_ended_with_its_children(tmp_path: Path, temporary, monkeypatch: pytest.MonkeyPatch):
    """The fake holds git's pipes open from a child of its own: ending git alone would wait for it."""
    ssh = tmp_path / "slow-ssh"
    ssh.write_text('#!/bin/sh\n[ "$1" = -G ] && exit 0\nsleep 300 &\nwait\n')
    ssh.chmod(0o755)
    monkeypatch.setenv("GIT_SSH_COMMAND", str(ssh))
    with pytest.raises(SourceError, match=r"did not end within 0\.5 seconds"):
        open_checkout("ssh://git@example.com/a.git", access=GitAccess(timeout=0.5))
    assert list(temporary.iterdir()) == []


def test_ssh_runs_without_prompts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "ssh").write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/seen\nexit 255\n')
    (folder / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    with pytest.raises(SourceError, match="Cannot fetch ssh://"):
        open_checkout("ssh://git@example.com/a.git")
    seen = (tmp_path / "seen").read_text()
    assert "BatchMode=yes" in seen
    assert "git@example.com" in seen


@pytest.mark.parametrize("how", ["variable", "setting"])
def test_the_ssh_command_of_the_person_goes_before_ours(tmp_path: Path, work, monkeypatch, how):
    ssh = tmp_path / "own-ssh"
    ssh.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/seen\nexit 255\n')
    ssh.chmod(0o755)
    if how == "variable":
        monkeypatch.setenv("GIT_SSH_COMMAND", str(ssh))
    else:
        work.git("config", "--global", "core.sshCommand", str(ssh))
    with pytest.raises(SourceError, match="Cannot fetch"):
        open_checkout("git@example.com:a.git")
    assert "BatchMode" not in (tmp_path / "seen").read_text()


def test_hooks_and_other_transports_of_the_settings_are_off(published, bare, tmp_path: Path):
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in ("reference-transaction", "post-checkout", "pre-push"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
        (hooks / name).chmod(0o755)
    published.git("config", "--global", "core.hooksPath", str(hooks))
    published.git("config", "--global", "core.fsmonitor", str(hooks / "pre-push"))
    with open_checkout(bare.url):
        pass
    with open_checkout(str(published.path)) as found:
        assert not found.dirty
    assert not (tmp_path / "ran").exists()
    published.git("config", "--global", f"url.ext::sh -c touch% {tmp_path}/ran.insteadOf", "https://example.com/")
    with pytest.raises(SourceError, match="transport 'ext' not allowed"):
        open_checkout("https://example.com/a.git")
    assert not (tmp_path / "ran").exists()


def test_settings_that_forbid_to_look_for_bare_repositories_do_no_harm(published, bare):
    published.git("config", "--global", "safe.bareRepository", "explicit")
    with open_checkout(bare.url) as found:
        assert found.contents.files
        assert found.revisions_since(published.git("rev-parse", "main~1"))
