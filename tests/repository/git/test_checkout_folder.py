"""A folder is read as it is, and distinguished from its revision."""

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitsync.errors import SourceError
from gitsync.model.problem import Level
from gitsync.repository.git.git_access import GitAccess
from gitsync.repository.git.source.checkout import open_checkout
from gitsync.repository.git.source.file_selection import ReadLimits, check_budget, read_rules
from gitsync.repository.git.source.listing import EntryKind, SourceEntry
from gitsync.repository.git.source.worktree import FolderListing
from tests.support.hypothesis_profile import scale


def names(source, **options):
    with open_checkout(str(source), **options) as found:
        return list(found.contents.files)


def test_a_plain_folder_has_files_and_no_revision(tmp_path: Path):
    (tmp_path / "a.yaml").write_bytes(b"kind: A\r\n")
    with open_checkout(str(tmp_path)) as found:
        assert found.contents.files == {"a.yaml": b"kind: A\r\n"}
        assert (found.revision, found.ref, found.dirty, found.remote) == (None, None, False, None)
        assert found.folder == tmp_path
        assert found.contents_at("0" * 40) is None
        assert found.revisions_since("0" * 40) == ()


def test_what_counts_as_a_manifest(work):
    for name in (
        "a.yaml",
        "b.yml",
        "c.json",
        "d.txt",
        "e.YAML",
        ".pre-commit-config.yaml",
        ".github/workflows/w.yaml",
        ".gitsync/default/x.yaml",
        "deep/er/f.yaml",
        "deep/.hidden/g.yaml",
    ):
        work.put(name, "x")
    expected = ["a.yaml", "b.yml", "c.json", "deep/er/f.yaml"]
    assert names(work.path) == expected
    work.commit()
    assert names(work.path, ref="main") == expected


def test_path_chooses_a_folder_and_keeps_names_from_the_root(work):
    work.put("apps/a/x.yaml", "x")
    work.put("apps/b/y.yaml", "y")
    work.put("apps-old/z.yaml", "z")
    work.commit()
    assert names(work.path, path="apps") == ["apps/a/x.yaml", "apps/b/y.yaml"]
    assert names(work.path, path="apps", ref="main") == ["apps/a/x.yaml", "apps/b/y.yaml"]
    assert names(work.path / "apps", path="b") == ["b/y.yaml"]
    assert names(work.path / "apps", path="b", ref="main") == ["b/y.yaml"]


@pytest.mark.parametrize("ref", [None, "main"])
@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("nowhere", "There is no folder or file"),
        ("link", "There is no folder or file|is a symbolic link"),
        ("apps/a.yaml.link", "is a symbolic link"),
        ("apps/notes", "is not a "),
        ("apps/Chart.yaml", "defines how its folder is built"),
    ],
)
def test_a_path_that_has_no_manifests_is_reported(work, ref, path, said):
    work.put("apps/a.yaml", "x")
    work.put("apps/notes", "x")
    work.put("apps/Chart.yaml", "name: x")
    (work.path / "link").symlink_to("/")
    (work.path / "apps/a.yaml.link").symlink_to("a.yaml")
    work.commit()
    with pytest.raises(SourceError, match=said):
        names(work.path, path=path, ref=ref)


@pytest.mark.parametrize("ref", [None, "main"])
def test_a_path_of_a_file_is_read_alone(work, ref):
    for name in ("apps/a.yaml", "apps/b.yaml", "apps/a.yaml.orig", "c.yaml"):
        work.put(name, name)
    work.commit()
    assert names(work.path, path="apps/a.yaml", ref=ref) == ["apps/a.yaml"]
    with open_checkout(str(work.path), path="apps/a.yaml", ref=ref) as checkout:
        assert (checkout.contents.file, checkout.contents.units["apps/a.yaml"].name) == ("apps/a.yaml", "apps/a.yaml")
        assert list(checkout.contents.read_all().files) == ["apps/a.yaml", "apps/b.yaml", "c.yaml"]


@pytest.mark.parametrize("ref", [None, "main"])
def test_an_ignored_file_is_still_the_only_one(work, ref):
    """Or its run would take every other record for removed."""
    work.put("apps/a.yaml", "x")
    work.put(".gitsyncignore", "a.yaml")
    work.commit()
    with open_checkout(str(work.path), path="apps/a.yaml", ref=ref) as checkout:
        assert (checkout.contents.file, dict(checkout.contents.files), checkout.contents.ignored) == (
            "apps/a.yaml",
            {},
            ("apps/a.yaml",),
        )


@pytest.mark.parametrize("ref", [None, "main"])
def test_ignore_files_apply_to_what_is_below_them(work, ref):
    work.put(".gitsyncignore", "# charts are no manifests\ncharts/\n*.tmpl.yaml\n/only-here.yaml\n")
    work.put("apps/.gitsyncignore", "!keep.tmpl.yaml\nsecret?.yaml\n")
    for name in (
        "charts/c.yaml",
        "apps/charts/c.yaml",
        "apps/drop.tmpl.yaml",
        "apps/keep.tmpl.yaml",
        "apps/secret1.yaml",
        "apps/only-here.yaml",
        "only-here.yaml",
        "secret1.yaml",
    ):
        work.put(name, "x")
    work.commit()
    assert names(work.path, ref=ref) == ["apps/keep.tmpl.yaml", "apps/only-here.yaml", "secret1.yaml"]
    assert names(work.path, ref=ref, path="apps") == ["apps/keep.tmpl.yaml", "apps/only-here.yaml"]


def hide(line):
    """An ignore file with a line that may be no pattern."""
    return f"# comment\n\n*.txt\n{line}\nb.yaml\n"


@pytest.mark.parametrize("line", ["\\", "!", "[z-a]", "a[z-a]b/", "!\\", "x\\", "/", "[[:nope:]z-a]"])
def test_a_line_of_an_ignore_file_that_is_not_a_pattern_is_reported(line):
    """It is not skipped: what somebody wants ignored would be read."""
    try:
        rules = read_rules({"apps/.gitsyncignore": hide(line).encode()})
        assert [rules.ignores(f"apps/{name}.yaml") for name in "ab"] == [False, True]
    except SourceError as error:
        assert error.message == f"apps/.gitsyncignore:4: {line!r} is not a pattern."
        assert ".gitignore" in error.hint


@pytest.mark.parametrize("ref", [None, "main"])
def test_an_ignore_file_is_read_with_all_of_its_lines(work, ref):
    work.put("good/.gitsyncignore", hide("/"))
    work.put("bad/.gitsyncignore", hide("[z-a]"))
    for path in ("good/a.yaml", "good/b.yaml", "bad/a.yaml"):
        work.put(path, "x")
    work.commit()
    assert names(work.path, path="good", ref=ref) == ["good/a.yaml"]
    with pytest.raises(SourceError, match=r"bad/\.gitsyncignore:4: '\[z-a\]' is not a pattern\."):
        names(work.path, path="bad", ref=ref)


@pytest.mark.parametrize("line", ["\\", "!", "[z-a]"])
def test_these_lines_are_not_patterns(work, line):
    work.put(".gitsyncignore", line)
    with pytest.raises(SourceError, match=r"\.gitsyncignore:1: .* is not a pattern"):
        names(work.path)


@settings(max_examples=scale(150), deadline=None)
@given(st.text(alphabet="ab/*?[]!\\-^ #\t{}().+$|:z\u00e9\0", max_size=12))
def test_whatever_is_in_an_ignore_file_is_a_pattern_or_reported(line):
    try:
        read_rules({".gitsyncignore": line.encode()}).ignores("a/b.yaml")
    except SourceError as error:
        assert error.message.startswith(".gitsyncignore:")


@pytest.mark.parametrize("ref", [None, "main"])
@pytest.mark.parametrize(
    "links",
    [
        {
            "self.yaml": "self.yaml",
            "a.yaml": "b.yaml",
            "b.yaml": "a.yaml",
            "apps/self": ".",
            "apps/up": "..",
            "apps/one": "two",
            "apps/two": "one",
        },
        {".gitsyncignore": ".gitsyncignore", "kustomization.yaml": "kustomization.yaml"},
        {"apps/.git": ".git"},
    ],
)
def test_links_that_lead_in_a_circle_are_skipped(work, tmp_path, links, ref):
    work.put("real.yaml", "x")
    work.put("apps/real.yaml", "x")
    work.commit()
    for name, target in links.items():
        (work.path / name).symlink_to(target)
    if ".git" not in "".join(links):
        work.commit()
    assert {"real.yaml"} <= set(names(work.path, ref=ref))
    plain = tmp_path / "plain"
    shutil.copytree(
        work.path, plain, symlinks=True, ignore=lambda folder, _: [".git"] if folder == str(work.path) else []
    )
    assert {"real.yaml"} <= set(names(plain))


@pytest.mark.parametrize("where", ["SOURCE", "--path", "--status-dir", "an outer .git"])
def test_a_circle_in_what_is_named_is_reported(work, where):
    work.put("apps/real.yaml", "x")
    work.commit()
    (work.path / "circle").symlink_to("circle")
    if where == "--status-dir":
        assert names(work.path, status_dir=work.path / "circle") == ["apps/real.yaml"]
        return
    (work.path / "apps" / ".git").symlink_to(".git")
    source = {"SOURCE": "circle", "--path": ".", "an outer .git": "apps"}[where]
    with pytest.raises(SourceError):
        names(work.path / source, path="circle" if where == "--path" else ".")


def test_the_status_folder_is_not_read(work):
    work.put("a.yaml", "x")
    work.put("state/default/g/K/n.yaml", "x")
    work.put("state-of-the-art/b.yaml", "x")
    assert names(work.path, status_dir=work.path / "state") == ["a.yaml", "state-of-the-art/b.yaml"]
    assert names(work.path, status_dir=work.path) == names(work.path)
    assert names(work.path, status_dir=work.path.parent / "elsewhere") == names(work.path)


@pytest.mark.parametrize("ref", [None, "main"])
def test_links_and_submodules_are_skipped_and_reported(work, tmp_path: Path, ref):
    (tmp_path / "outside.yaml").write_text("secret: of this machine")
    work.put("real.yaml", "x")
    (work.path / "inside.yaml").symlink_to("real.yaml")
    (work.path / "outside.yaml").symlink_to(tmp_path / "outside.yaml")
    (work.path / "broken.yaml").symlink_to("nowhere")
    (work.path / "folder").symlink_to("/etc")
    (work.path / ".hidden").symlink_to("/etc")
    work.commit()
    inner = work.path / "module"
    inner.mkdir()
    work.git("init", "--quiet", "module")
    (inner / "m.yaml").write_text("x")
    work.git("-C", "module", "add", ".")
    work.git("-C", "module", "commit", "--quiet", "-m", "x")
    work.commit()
    with open_checkout(str(work.path), ref=ref) as found:
        assert list(found.contents.files) == ["real.yaml"]
        assert [p.path for p in found.contents.problems] == [
            "broken.yaml",
            "folder",
            "inside.yaml",
            "module",
            "outside.yaml",
        ]
        assert {p.level for p in found.contents.problems} == {Level.WARNING}
        assert not found.dirty


def test_a_mounted_volume_is_read_through_its_links(tmp_path: Path):
    (tmp_path / "..2024_01").mkdir()
    (tmp_path / "..2024_01" / "a.yaml").write_text("x")
    (tmp_path / "..data").symlink_to("..2024_01")
    (tmp_path / "a.yaml").symlink_to("..data/a.yaml")
    (tmp_path / "b.yaml").symlink_to("/etc/passwd")
    with open_checkout(str(tmp_path)) as found:
        assert found.contents.files == {"a.yaml": b"x"}
        assert [p.path for p in found.contents.problems] == ["b.yaml"]


@pytest.mark.parametrize("ref", [None, "main"])
def test_a_name_that_could_not_be_printed_is_skipped(work, ref):
    for name in (b"bell\x07.yaml", b"latin\xe9.yaml", b"two\nlines.yaml", b"\xe2\x80\xaeright-to-left.yaml"):
        Path(os.fsdecode(os.fsencode(work.path) + b"/" + name)).write_text("x")
    work.put("für.yaml", "x")
    work.commit()
    with open_checkout(str(work.path), ref=ref) as found:
        assert list(found.contents.files) == ["für.yaml"]
        assert len(found.contents.problems) == 4
        assert all(p.path.isprintable() and p.path.isascii() for p in found.contents.problems)


def test_a_pipe_with_the_name_of_a_manifest_is_not_opened(work):
    os.mkfifo(work.path / "pipe.yaml")
    assert names(work.path) == []


@pytest.mark.parametrize("ref", [None, "main"])
def test_a_file_that_is_too_large_is_a_problem_and_the_rest_is_read(work, ref):
    """It may be no manifest, for example the CRDs of another tool."""
    work.put("big.yaml", b" " * 5_000_001)
    work.put("small.yaml", "x")
    work.commit()
    with open_checkout(str(work.path), ref=ref) as found:
        (problem,) = found.contents.problems
        assert (problem.code, problem.path, problem.is_error) == ("FileTooLarge", "big.yaml", True)
        assert "big.yaml has 5000001 bytes" in problem.message
        assert list(found.contents.files) == ["small.yaml"]
        assert not found.dirty
    work.put(".gitsyncignore", "big.yaml")
    work.commit()
    with open_checkout(str(work.path), ref=ref) as found:
        assert found.contents.problems == ()


def test_a_clean_work_tree_speaks_of_its_commit(cloned):
    with open_checkout(str(cloned.path)) as found:
        assert found.revision == cloned.git("rev-parse", "HEAD")
        assert (found.ref, found.dirty) == ("main", False)
        assert found.remote is not None
        assert found.remote.url == cloned.git("remote", "get-url", "origin")


def test_a_clean_work_tree_needs_few_programs(cloned, commands):
    with open_checkout(str(cloned.path)) as found:
        assert not found.dirty
    assert commands() == ["config", "remote", "rev-parse", "ls-tree"]


def test_a_part_of_a_revision_needs_two_lists(cloned, commands):
    """One of what is below the path, and one of the settings and the ignore files above it."""
    cloned.put("gitsync.yaml", "")
    cloned.put(".gitsyncignore", "apps/left-out.yaml")
    cloned.put("apps/.gitsyncignore", "team/too.yaml")
    for name in ("here", "too"):
        cloned.put(f"apps/team/{name}.yaml", "x")
    cloned.commit()
    commands()
    with open_checkout(str(cloned.path), path="apps/team", ref="main") as found:
        assert list(found.contents.files) == ["apps/team/here.yaml"]
        assert found.contents.settings is not None
    assert commands().count("ls-tree") == 2


def test_a_detached_head_has_no_branch(cloned):
    cloned.git("checkout", "--quiet", "--detach")
    with open_checkout(str(cloned.path)) as found:
        assert (found.revision, found.ref) == (cloned.git("rev-parse", "HEAD"), None)


def test_a_branch_without_commits_has_a_name(cloned):
    cloned.git("checkout", "--quiet", "--orphan", "new/one")
    with open_checkout(str(cloned.path)) as found:
        assert (found.revision, found.ref) == (None, "new/one")


@pytest.mark.parametrize(
    ("path", "text", "dirty", "why"),
    [
        ("apps/rg.yaml", "kind: Other\n", True, "a change that is not committed"),
        ("apps/new.yaml", "x", True, "a manifest that git does not know"),
        ("ignored/new.yaml", "x", True, "a manifest that git ignores is read all the same"),
        ("other/new.yaml", "x", False, "outside --path"),
        ("apps/notes.txt", "x", False, "no manifest"),
        ("apps/.gitsync/default/x.yaml", "x", False, "our own status"),
        ("apps/.gitsyncignore", "rg.yaml", True, "another choice of manifests"),
        ("apps/.gitsyncignore", "other.yaml", False, "the same choice of manifests"),
    ],
)
def test_dirty_means_that_what_is_read_is_not_what_is_committed(work, path, text, dirty, why):
    work.put("apps/rg.yaml", "kind: ResourceGroup\n")
    work.put(".gitignore", "ignored/\n")
    work.commit()
    work.put(path, text)
    where = "." if path.startswith("ignored") else "apps"
    with open_checkout(str(work.path), path=where) as found:
        assert found.dirty is dirty, why
    with open_checkout(str(work.path), path=where, ref="HEAD") as committed:
        assert not committed.dirty
        assert committed.contents.files["apps/rg.yaml"] == b"kind: ResourceGroup\n"


def test_a_deleted_manifest_is_dirty_until_it_is_committed(work):
    work.put("a.yaml", "x")
    work.commit()
    (work.path / "a.yaml").unlink()
    with open_checkout(str(work.path)) as found:
        assert found.dirty
    work.commit()
    with open_checkout(str(work.path)) as found:
        assert not found.dirty


def test_line_ends_that_git_converts_are_not_a_change(work):
    work.put(".gitattributes", "*.yaml text eol=crlf\n")
    work.put('"quoted".yaml', "a: 1\r\n")
    work.put("sub/a.yaml", "a: 1\r\n")
    work.commit()
    for where in (work.path, work.path / "sub"):
        with open_checkout(str(where)) as found:
            assert set(found.contents.files.values()) == {b"a: 1\r\n"}
            assert not found.dirty


def test_a_work_tree_without_commits_is_dirty_when_it_has_manifests(work):
    with open_checkout(str(work.path)) as found:
        assert (found.revision, found.dirty) == (None, False)
    work.put("a.yaml", "x")
    with open_checkout(str(work.path)) as found:
        assert (found.revision, found.dirty) == (None, True)


def test_a_folder_that_is_not_committed_is_dirty(work):
    work.put("a.yaml", "x")
    work.commit()
    work.put("new/b.yaml", "x")
    with open_checkout(str(work.path / "new")) as found:
        assert found.dirty
        assert list(found.contents.files) == ["b.yaml"]


def test_a_ref_is_read_from_the_repository_and_not_from_the_folder(work):
    work.put("a.yaml", "first")
    first = work.commit()
    work.git("tag", "-a", "-m", "x", "v1")
    work.put("a.yaml", "second")
    work.commit()
    work.git("branch", "side", "v1")
    for ref in ("v1", "side", first, first[:10], "refs/tags/v1"):
        with open_checkout(str(work.path), ref=ref) as found:
            assert (found.revision, found.contents.files) == (first, {"a.yaml": b"first"})


def test_a_ref_that_is_not_there_is_reported(work, tmp_path: Path):
    work.commit()
    with pytest.raises(SourceError, match="no branch, tag or commit nope"):
        open_checkout(str(work.path), ref="nope")
    with pytest.raises(SourceError, match="not in a git repository"):
        open_checkout(str(tmp_path / "home"), ref="main")


def test_offline_requests_nothing_from_git(work):
    work.put("a.yaml", "x")
    work.commit()
    with open_checkout(str(work.path), offline=True) as found:
        assert (found.revision, list(found.contents.files)) == (None, ["a.yaml"])


def test_variables_that_a_hook_sets_do_not_lead_elsewhere(work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    work.put("a.yaml", "x")
    commit = work.commit()
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "nowhere" / "index"))
    with open_checkout(str(work.path)) as found:
        assert (found.revision, found.dirty) == (commit, False)


def test_a_repository_of_another_user_is_used_only_where_git_trusts_it(work, tmp_path: Path):
    if os.geteuid():
        pytest.skip("only root may give a folder to another user")
    work.put("a.yaml", "x")
    commit = work.commit()
    os.chown(work.path / ".git", 12345, 12345)
    with pytest.raises(SourceError, match=r"dubious ownership.*safe\.directory"):
        open_checkout(str(work.path))
    with (tmp_path / "home" / ".gitconfig").open("a") as settings:
        settings.write(f"[safe]\n\tdirectory = {work.path}\n")
    with open_checkout(str(work.path)) as found:
        assert found.revision == commit


def test_a_git_that_hangs_is_ended(work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    work.put("a.yaml", "x")
    work.commit()
    slow = tmp_path / "bin"
    slow.mkdir()
    (slow / "git").write_text("#!/bin/sh\nsleep 300\n")
    (slow / "git").chmod(0o755)
    monkeypatch.setenv("PATH", str(slow), prepend=os.pathsep)
    with pytest.raises(SourceError, match=r"did not end within 0\.2 seconds"):
        open_checkout(str(work.path), access=GitAccess(timeout=0.2))


@pytest.mark.parametrize(
    ("remotes", "expected", "why"),
    [
        ({}, None, "no remote"),
        ({"origin": "https://example.com/a.git"}, "https://example.com/a.git", "the usual name"),
        ({"origin": "https://me:pw@example.com/a.git"}, "https://example.com/a.git", "a password does not show"),
        ({"upstream": "ssh://git@example.com/a"}, "ssh://git@example.com/a", "the only one"),
        ({"a": "ssh://x/a", "b": "ssh://x/b"}, None, "nobody knows which"),
        ({"origin": "ssh://x/a", "b": "ssh://x/b"}, "ssh://x/a", "the usual name among others"),
    ],
)
def test_the_remote_of_a_work_tree(work, remotes, expected, why):
    for name, url in remotes.items():
        work.git("remote", "add", name, url)
    with open_checkout(str(work.path)) as found:
        assert (found.remote.url if found.remote else None) == expected, why
        assert "pw" not in repr(found)


def test_a_relative_remote_is_relative_to_the_work_tree(work, bare):
    work.git("remote", "add", "origin", "../remote.git")
    with open_checkout(str(work.path)) as found:
        assert found.remote is not None
        assert Path(found.remote.url).resolve() == bare.path


def test_a_remote_that_may_not_be_spoken_with_is_reported_later(work):
    work.git("remote", "add", "origin", "git://example.com/a")
    with open_checkout(str(work.path)) as found:
        assert found.remote is None
        assert "transport" in found.remote_refused


def test_without_git_a_work_tree_cannot_be_read_and_a_plain_folder_can(work, tmp_path: Path, monkeypatch):
    work.put("a.yaml", "x")
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "a.yaml").write_text("x")
    monkeypatch.setenv("PATH", "/nowhere")
    assert names(tmp_path / "plain") == ["a.yaml"]
    with pytest.raises(SourceError) as failed:
        open_checkout(str(work.path))
    assert str(failed.value) == "git cannot be started. Install git 2.31 or newer, and add it to the PATH."


def test_a_repository_that_lost_an_object_is_reported(work):
    work.put("a.yaml", "x")
    work.commit()
    blob = work.git("rev-parse", "HEAD:a.yaml")
    (work.path / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(SourceError, match="is not in the repository"):
        open_checkout(str(work.path), ref="main")
    with open_checkout(str(work.path)) as found:
        assert not found.dirty


def test_a_file_that_may_not_be_read_is_reported(work):
    secret = work.put("a.yaml", "x")
    secret.chmod(0)
    if os.access(secret, os.R_OK):
        pytest.skip("root may read anything")
    with pytest.raises(SourceError, match=r"Cannot read .*a\.yaml: Permission denied"):
        open_checkout(str(work.path))


def test_a_file_that_has_changed_since_it_was_listed_is_read_in_full_or_named(tmp_path):
    listing = FolderListing(root=tmp_path)
    for name in ("grown", "gone"):
        (tmp_path / name).write_text("x")
    grown, gone = listing.find(["grown", "gone"])
    (tmp_path / "grown").write_text("x" * 20_000)
    (tmp_path / "gone").unlink()
    (tmp_path / "gone").mkdir()
    assert listing.read([grown]) == {"grown": b"x" * 20_000}
    with pytest.raises(SourceError, match=r"Cannot read .*gone: Is a directory"):
        listing.read([gone])


@pytest.mark.parametrize(
    ("budget", "message"),
    [
        (ReadLimits(files=1), "2 files exceed the limit of 1"),
        (ReadLimits(file=2), r"b\.yaml has 3 bytes; the limit is 2"),
        (ReadLimits(total=4), "have 5 bytes in total; the limit is 4"),
    ],
)
def test_budgets(budget, message):
    entries = (SourceEntry("a.yaml", EntryKind.FILE, 2), SourceEntry("b.yaml", EntryKind.FILE, 3))
    check_budget(entries, ReadLimits(file=3, total=5, files=2))
    with pytest.raises(SourceError, match=message) as refused:
        check_budget(entries, budget)
    assert "--path" in refused.value.hint


def test_the_root_is_the_folder_inside_the_repository(work, tmp_path):
    work.put("infra/prod/a.yaml", "a: 1")
    work.commit()
    (tmp_path / "plain").mkdir()
    assert open_checkout(str(work.path)).root == ""
    assert open_checkout(str(work.path / "infra" / "prod")).root == "infra/prod"
    assert open_checkout(str(tmp_path / "plain")).root == ""
