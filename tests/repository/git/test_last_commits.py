"""The last commit that changed a manifest: found in one log, or said to be unknown, and never a text that does harm."""

import subprocess
from dataclasses import replace

import pytest

from gitsync.repository.git.git_access import GitAccess
from gitsync.repository.git.source.checkout import open_checkout
from gitsync.repository.git.source.history import NOT_FOUND, SHALLOW, TOO_FAR, UNREADABLE, list_last_commits
from gitsync.repository.git.source.worktree import find_work_tree

HUB, SPOKE, UNIT = ("net/hub.yaml",), ("net/spoke.yaml",), ("apps/prod", "apps/base/app.yaml")


@pytest.fixture
def story(prepare):
    """Commits with what they do, by several authors; returns their ids."""
    return prepare(write_story)


def write_story(cloned):
    steps = {}

    def step(name, path, text, author="Ada <ada@example.com>"):
        cloned.put(path, text)
        cloned.git("add", "--all")
        cloned.git("commit", "--quiet", "--message", name, "--author", author)
        steps[name] = cloned.git("rev-parse", "HEAD")

    step("Add the hub", "net/hub.yaml", "1")
    step("Add an app", "apps/base/app.yaml", "1", "Bo <bo@example.com>")
    cloned.git("checkout", "--quiet", "-b", "side")
    step("Widen the hub", "net/hub.yaml", "2", "Cy <cy@example.com>")
    cloned.git("checkout", "--quiet", "main")
    step("Configure prod", "apps/prod/kustomization.yaml", "1", "Bo <bo@example.com>")
    cloned.git("merge", "--quiet", "--no-ff", "--no-edit", "side")
    step("Move the spoke", "net/spoke.yaml", "1")
    step("Write a README", "README.md", "1", "Eve <eve@example.com>")
    (cloned.path / "net/hub.yaml").unlink()
    steps["Remove the hub"] = cloned.commit("Remove the hub")
    return steps


def test_each_path_has_its_own_commit_from_one_log(story, cloned):
    with open_checkout(str(cloned.path)) as source:
        found = source.list_last_commits(story["Write a README"], [HUB, SPOKE, UNIT, ("nothing.yaml",)])
    assert {
        location: (commit.commit, commit.author, commit.subject)
        for location, commit in found.items()
        if not commit.doubt
    } == {
        HUB: (story["Widen the hub"], "Cy", "Widen the hub"),  # not the merge, and not its removal
        SPOKE: (story["Move the spoke"], "Ada", "Move the spoke"),
        UNIT: (story["Configure prod"], "Bo", "Configure prod"),  # anything below the unit
    }
    assert found["nothing.yaml",] == NOT_FOUND


def test_paths_count_from_the_folder_of_the_source(story, cloned):
    with open_checkout(str(cloned.path / "apps")) as source:
        found = source.list_last_commits(
            story["Write a README"], [("prod", "base/app.yaml"), (".",), ("base/app.yaml",)]
        )
    assert [commit.subject for commit in found.values()] == ["Configure prod", "Configure prod", "Add an app"]


def test_a_shallow_clone_does_not_know_what_came_before_it(story, cloned, tmp_path):
    """There, git would report that the first commit of the clone added every file."""
    cloned.git("push", "--quiet", "origin", "main")
    origin = cloned.git("remote", "get-url", "origin")
    subprocess.run(["git", "clone", "-q", "--depth=3", f"file://{origin}", str(tmp_path / "copy")], check=True)
    with open_checkout(str(tmp_path / "copy")) as source:
        found = source.list_last_commits(story["Write a README"], [HUB, SPOKE])
    assert (found[HUB], found[SPOKE].doubt, found[SPOKE].commit) == (SHALLOW, SHALLOW.doubt, "")
    with open_checkout(str(tmp_path / "copy")) as source:
        found = source.list_last_commits(story["Write a README"], [("README.md",)])
    assert found["README.md",].author == "Eve"


TEXTS = [
    ("Ada Lovelace", "Widen the hub", "Ada Lovelace", "Widen the hub", "plain"),
    ("ada@example.com", "Thank bo@example.com, use checkout@v4", "…", "Thank …, use checkout@v4", "e-mail addresses"),
    ("Ada", "  two\nlines\n\nand a body", "Ada", "two lines", "a subject of two lines"),
    ("A" * 90, "s" * 300, "A" * 80 + "…", "s" * 200 + "…", "long texts"),
    ("Ada", "", "Ada", "", "no subject"),
    ("Ada", "Über\x1b[31m \x1e\x1f", "Ada", "Über\x1b[31m", "control characters, which the forms of a report escape"),
]


@pytest.mark.parametrize(("author", "message", "name", "subject", "why"), TEXTS, ids=[row[-1] for row in TEXTS])
def test_author_and_subject_are_short_and_have_no_address(cloned, author, message, name, subject, why):
    cloned.put("a.yaml", "1")
    cloned.git("add", "--all")
    cloned.git("commit", "-q", "--allow-empty-message", "-m", message, "--author", f"{author} <x@example.com>")
    with open_checkout(str(cloned.path)) as source:
        (found,) = source.list_last_commits(cloned.git("rev-parse", "HEAD"), [("a.yaml",)]).values()
    assert (found.author, found.subject) == (name, subject), why


def test_settings_of_a_person_do_not_change_the_log(story, cloned):
    for setting in ("log.showSignature=true", "log.showRoot=false", "diff.renames=copies", "core.quotePath=true"):
        cloned.git("config", "--global", *setting.split("="))
    with open_checkout(str(cloned.path)) as source:
        found = source.list_last_commits(story["Write a README"], [HUB, ("apps/rg.yaml",)])
    assert [commit.subject for commit in found.values()] == ["Widen the hub", "First"]


def test_what_git_cannot_read_is_unknown(story, cloned):
    with open_checkout(str(cloned.path)) as source:
        assert source.list_last_commits("f" * 40, [HUB]) == {HUB: UNREADABLE}
    tree = find_work_tree(cloned.path, GitAccess())
    with tree:
        late = replace(tree.repository, timeout=0.0)  # over before it begins: git may be fast
        assert list_last_commits(late, story["Write a README"], [HUB]) == {HUB: UNREADABLE}


def test_a_log_has_an_end(story, cloned):
    """A thousand commits change one file, and another was changed before them all."""
    lines = [f"from {story['Remove the hub']}\n"]
    for number in range(1001):
        text = f"data {len(str(number))}\n{number}\n"
        start = lines.pop() if number == 0 else ""
        lines.append(
            f"commit refs/heads/long\ncommitter Ada <a@x.org> {2_000_000_000 + number} +0000\ndata 1\nx\n{start}"
            f"M 100644 inline apps/base/app.yaml\n{text}"
        )
    cloned.git("fast-import", "--quiet", "--force", stdin="".join(lines).encode())
    long = cloned.git("rev-parse", "long")
    with open_checkout(str(cloned.path)) as source:
        found = source.list_last_commits(long, [SPOKE, ("apps/base/app.yaml",)])
        alone = source.list_last_commits(long, [SPOKE])
    assert (found[SPOKE], found["apps/base/app.yaml",].commit) == (TOO_FAR, long)
    assert alone[SPOKE].subject == "Move the spoke"
