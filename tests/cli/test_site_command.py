"""`gitsync site`: from status branches and their history to a folder of pages."""

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from gitsync.report.site.data_files import decode_data
from gitsync.workflows.site.site_folder import LIST
from tests.support.command_line import SUBSCRIPTION, gitsync, run_here
from tests.support.git_repositories import add_remote, commit_all, init_bare, init_repository, push_main

PASSWORD = "hunter2-of-the-database"
MANIFESTS = f"""\
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {{name: shop, annotations: {{contoso.com/note: {PASSWORD}}}}}
spec:
  location: westeurope # {PASSWORD}
  tags: {{note: "</script><b>", "__proto__": "\\u2028"}}
---
apiVersion: dbforpostgresql.azure.com/v1api20221201
kind: FlexibleServer
metadata: {{name: shop-db}}
spec:
  owner: {{name: shop}}
  location: westeurope
  version: "14"
  administratorLogin: boss
  administratorLoginPassword: {{name: db, key: password}}
  sku: {{name: Standard_D2s_v3, tier: GeneralPurpose}}
  storage: {{storageSizeGB: 128}}
---
apiVersion: v1
kind: Secret
metadata: {{name: db}}
stringData: {{password: {PASSWORD}}}
"""


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def sync(folder: Path, *flags: str) -> None:
    store = f"--emulator={folder.parent / 'azure.db'}"
    done = run_here("sync", "--yes", f"--subscription={SUBSCRIPTION}", store, "--checks=none", *flags, folder=folder)
    assert done.code == 0, done.err + done.out


@pytest.fixture(scope="module")
def synced(tmp_path_factory):
    """A repository whose manifests were synced, changed, and synced again."""
    top = tmp_path_factory.mktemp("estate")
    folder = top / "shop"
    folder.mkdir()
    init_repository(folder)
    init_bare(top / "shop.git")
    add_remote(folder, f"file://{top / 'shop.git'}")
    for text in (MANIFESTS, MANIFESTS.replace("tags: {", "tags: {more: yes-more, ")):
        (folder / "all.yaml").write_text(text)
        commit_all(folder)
        push_main(folder, top / "shop.git")
        sync(folder)
    return folder


@pytest.fixture
def out(tmp_path):
    return tmp_path / "site"


def make(out, *arguments, folder, **more):
    return run_here("site", "--out", str(out), *arguments, folder=folder, **more)


@pytest.fixture(scope="module")
def first(synced, tmp_path_factory):
    """A site of it, to copy, and how the command ended that made it."""
    folder = tmp_path_factory.mktemp("first") / "site"
    return folder, make(folder, folder=synced)


@pytest.fixture
def made(first, out):
    """A site that can be changed."""
    return Path(shutil.copytree(first[0], out))


def read(out, name):
    return decode_data(name, (out / "data" / f"{name}.js").read_bytes())


def read_files(out):
    return {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*") if path.is_file()}


def test_a_site_shows_the_estate_and_what_happened_to_it(first):
    out, done = first
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("2 resources in ")
    assert done.out.endswith(f"{out}/index.html\n")
    card = read(out, "site")["targets"][0]
    assert (card["id"], card["headline"], card["counts"]) == ("shop", "2 of 2 resources Ready", [["ready", 2]])
    assert card["run"]["command"] == "sync"
    tree = read(out, "tree")
    assert tree["parent"] == [1, -1]
    group = read(out, "resources/shop/0")["ResourceGroup.resources.azure.com/default/shop"]
    assert group["manifest"]["line"] == 1
    assert "</script><b>" in group["manifest"]["text"]
    assert group["referredBy"] == [["FlexibleServer.dbforpostgresql.azure.com/default/shop-db", "owner", ""]]
    history = read(out, "history/shop/0")["ResourceGroup.resources.azure.com/default/shop"]
    assert [event[2] for event in reversed(history)] == ["expected", "created", "ready", "generation", "updated"]


def test_no_file_has_a_secret_or_a_comment_of_a_manifest(first):
    out, _ = first
    assert [path for path, content in read_files(out).items() if PASSWORD.encode() in content] == []
    assert all(content.isascii() for path, content in read_files(out).items() if path.startswith("data/"))


def test_a_site_that_is_made_again_writes_only_what_changed(synced, made):
    before = read_files(made)
    assert ", 0 of them changed:" in make(made, folder=synced).out
    assert read_files(made) == before


def test_what_others_changed_in_a_site_counts_for_nothing(synced, made):
    before = read_files(made)
    month = read(made, "site")["months"][0]
    for path in ("data/site.js", "data/history/shop/0.js", f"data/activity/{month}.js", "data/drift.js"):
        forged = before[path].replace(b"created", b"removed").replace(b"[]", b"[[]]")
        (made / path).write_bytes(forged + b"//")
    make(made, folder=synced)
    after = read_files(made)
    assert [path for path, content in before.items() if after.get(path) != content] == []
    assert after == before


def test_a_history_that_somebody_rewrote_is_read_again(synced, made):
    """It has the form of a history, so only the list with its digest shows that it is not gitsync's."""
    file = made / "data" / "history" / "shop" / "0.js"
    before = file.read_bytes()
    file.write_bytes(before.replace(b'"created"', b'"adopted"'))
    assert file.read_bytes() != before
    make(made, folder=synced)
    assert file.read_bytes() == before


FOREIGN = (
    ("notes.txt", "a file of somebody"),
    ("data/more.js", "also among the data"),
    (".htaccess", "also hidden"),
)


@pytest.mark.parametrize(("name", "why"), FOREIGN)
def test_a_folder_with_other_files_is_refused(synced, tmp_path, name, why):
    out = tmp_path / "site"
    (out / name).parent.mkdir(parents=True)
    (out / name).write_text(why)
    done = make(out, folder=synced)
    assert done.code == 2
    assert f"{out} has {name}, which gitsync did not write." in done.err
    assert sorted(read_files(out)) == [name]


KILLED = """
import os, signal, sys

def kill(event, arguments):
    if event == "os.rename" and arguments[1] == os.environ["LAST"]:
        os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(kill)
"""


@pytest.mark.parametrize(("last", "why"), [(LIST, "the first file"), ("tree.js", "in the middle")])
def test_a_site_that_was_killed_while_it_was_written_is_finished(synced, first, out, tmp_path, last, why):
    (tmp_path / "sitecustomize.py").write_text(KILLED)
    killed = gitsync("site", "--out", str(out), folder=synced, PYTHONPATH=str(tmp_path), LAST=last)
    assert killed.code == -signal.SIGKILL, (why, killed.err)
    assert len([path for path in out.rglob(".*") if path.name != LIST]) == 1, "a temporary file is left"
    done = make(out, folder=synced)
    assert (done.code, done.err) == (0, "")
    assert read_files(out) == read_files(first[0]), "the same input, the same bytes"


def test_a_list_that_names_other_files_removes_none(synced, made):
    listed = json.loads((made / LIST).read_text())
    (made / "notes.txt").write_text("ours")
    (made / LIST).write_text(json.dumps(listed | {"files": listed["files"] | {"notes.txt": "0", "../shop": "0"}}))
    make(made, folder=synced)
    assert (made / "notes.txt").read_text() == "ours"


def test_a_link_in_the_site_is_not_followed(synced, made, tmp_path):
    target = tmp_path / "target"
    target.mkdir()
    (made / "data" / "tree.js").unlink()
    (made / "data" / "tree.js").symlink_to(target / "stolen")
    done = make(made, folder=synced)
    assert done.code == 2
    assert "is a link" in done.err
    assert list(target.iterdir()) == []


def test_a_link_of_the_checkout_is_not_followed(synced, tmp_path):
    target = tmp_path / "target"
    target.mkdir()
    link = synced / "public"
    link.symlink_to(target)
    try:
        done = make(link, folder=synced)
    finally:
        link.unlink()
    assert done.code == 2
    assert "The site cannot be written: " in done.err
    assert list(target.iterdir()) == []


def test_several_targets_have_a_card_each(synced, out, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    init_repository(empty)
    done = make(out, ".", ".#gitsync/none", str(empty), folder=synced)
    assert done.code == 0, done.err
    cards = read(out, "site")["targets"]
    assert [(card["id"], card["title"], card["branch"]) for card in cards] == [
        ("shop", "shop", "gitsync/status"),
        ("shop-gitsync-none", "shop (gitsync/none)", "gitsync/none"),
        ("empty", "empty", ".gitsync"),
    ]
    assert [card["headline"] for card in cards[1:]] == ["No records yet", "No records yet"]


def test_a_status_that_two_sources_have_is_refused(synced, out):
    done = make(out, ".", f"{synced}#gitsync/status", folder=synced)
    assert done.code == 2
    assert f". and {synced} have the same status." in done.err
    assert not out.exists()


def test_a_folder_without_reports_is_refused_and_a_pipe_not_waited_for(synced, out, tmp_path):
    found = tmp_path / "found"
    found.mkdir()
    assert f"--with {found} has no JSON file." in make(out, "--with", str(found), folder=synced).err
    os.mkfifo(found / "audit.json")
    done = make(out, "--with", str(found), folder=synced)
    assert done.code == 2
    assert f"{found / 'audit.json'} is not a file." in done.err


def test_a_target_that_cannot_be_read_hides_no_other(synced, out):
    git(synced, "push", "--quiet", "--force", "origin", "HEAD:refs/heads/other")
    done = make(out, ".", ".#other", folder=synced)
    assert done.code == 1
    cards = read(out, "site")["targets"]
    assert cards[0]["counts"] == [["ready", 2]]
    assert "not a gitsync status" in cards[1]["notes"][0]
    assert make(out, ".#other", folder=synced).code == 2, "alone it is refused"


def test_what_other_commands_found_is_shown_without_names_of_people(synced, out, tmp_path):
    found = tmp_path / "found"
    found.mkdir()
    person = {
        "author": "person",
        "name": "Rob Miller",
        "label": "Rob",
        "correlationId": "1",
        "doubt": "by rob@contoso.com",
    }
    audit = {"operations": [{"author": person}], "counts": {}, "until": "2026-01-01T00:00:00Z"}
    (found / "audit.json").write_text(json.dumps(audit))
    (found / "unmanaged.json").write_text(
        json.dumps({"scopes": [], "unmanaged": 1, "resources": [{"created": person}]})
    )
    assert make(out, "--with", str(found), folder=synced).code == 0
    assert read(out, "site")["has"] == {"coverage": True, "audit": True}
    for name in ("audit", "coverage"):
        [[file, text]] = read(out, name)["files"]
        assert file in {"audit.json", "unmanaged.json"}
        assert "Rob" not in text
        assert "rob@" not in text
    (found / "plan.json").write_text("{}")
    done = make(out, "--with", str(found), folder=synced)
    assert done.code == 2
    assert "plan.json is neither a report of unmanaged resources nor an audit" in done.err


def test_a_record_with_a_wrong_seal_is_untrusted(tmp_path, out, synced):
    key = {"GITSYNC_DIGEST_KEY": "k" * 32}
    done = make(out, folder=synced, **key)
    assert done.code == 0
    card = read(out, "site")["targets"][0]
    assert card["trust"] == "2 records not trusted: 2 unsigned."
    assert [failure["state"] for failure in card["failures"]] == ["untrusted", "untrusted"]
