"""Repositories that try to run a program, or to have the token sent elsewhere. Each names what it tries with a marker."""

import shutil
import subprocess
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from gitsync.errors import GitsyncError, SourceError
from gitsync.model.secret import Secret
from gitsync.repository.git.git_access import GitAccess
from gitsync.repository.git.source.checkout import open_checkout
from gitsync.repository.git.source.revisions import read_revision
from gitsync.repository.git.state.store_choice import open_store
from tests.repository.git.remembered import a_record, an_update, write_status
from tests.support.git_server import basic, serve
from tests.support.hostile_folders import HOOKS, add_hooks, make_bare, make_look_alike, write_program

TOKEN = "t0ken-that-nobody-may-see"
WRITER = basic("x-access-token", TOKEN)
OTHER = basic("x-access-token", "of-a-pipeline")


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    """What the program of the attacker writes."""
    return tmp_path / "marker"


@pytest.fixture
def evil(tmp_path: Path, marker: Path) -> Path:
    """The program of the attacker."""
    return write_program(tmp_path / "evil", marker)


def everything(source, clock, token=TOKEN, branch=None, **options):
    """All that a run, a plan and a status do with git, as far as they come; what they are refused with."""
    access = GitAccess(token=Secret(token) if token else None, timeout=10)
    try:
        with (
            open_checkout(str(source), access=access, **options) as found,
            open_store(found, status_branch=branch, clock=clock) as store,
        ):
            store.load()
            if found.revision:
                found.revisions_since("0" * 40)
                found.contents_at(found.revision)
            store.check_writable()
            store.save(an_update(a_record("one")))
        with ExitStack() as opened:
            read_revision(str(source), "HEAD", opened, path=".", access=access)
    except GitsyncError as error:
        return str(error)
    return ""


def look_alike(folder: Path, evil: Path) -> Path:
    made = make_look_alike(folder, evil)
    (made / "a.yaml").write_text("a: 1\n")
    return made


def by_common_folder(folder: Path, evil: Path) -> Path:
    """The same, with its objects and settings in another folder, as git has it for linked work trees."""
    real = look_alike(folder.parent / "real", evil)
    folder.mkdir()
    (folder / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / "commondir").write_text("../real\n")
    (folder / "a.yaml").write_text("a: 1\n")
    assert real.is_dir()
    return folder


def real_bare(folder: Path, evil: Path) -> Path:
    made = make_bare(folder, evil)
    (made / "a.yaml").write_text("a: 1\n")
    return made


LOOK_ALIKES = [look_alike, by_common_folder, real_bare]
WAYS = [
    pytest.param(lambda top: {"source": top / "apps/evil"}, id="SOURCE"),
    pytest.param(lambda top: {"source": top / "apps/evil/deeper"}, id="SOURCE inside of it"),
    pytest.param(lambda top: {"source": top, "path": "apps/evil"}, id="--path"),
    pytest.param(lambda top: {"source": top / "apps", "path": "evil/deeper"}, id="--path inside of it"),
    pytest.param(lambda top: {"source": top / "linked"}, id="SOURCE through a link"),
    pytest.param(lambda top: {"source": top / "apps/evil", "offline": True}, id="validate"),
]


@pytest.mark.parametrize("make", LOOK_ALIKES)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("committed", [True, False])
def test_a_folder_that_looks_like_a_repository_is_refused(work, evil, marker, clock, make, way, committed):
    made = make(work.path / "apps" / "evil", evil)
    (made / "deeper").mkdir()
    (work.path / "linked").symlink_to("apps/evil")
    if committed:
        work.commit()
    else:
        shutil.rmtree(work.path / ".git")
    assert "looks like a bare git repository" in everything(**way(work.path), clock=clock)
    assert not marker.exists()


@pytest.mark.parametrize("make", LOOK_ALIKES)
def test_the_working_folder_that_looks_like_a_repository_is_refused(tmp_path, evil, marker, clock, make, monkeypatch):
    monkeypatch.chdir(make(tmp_path / "apps", evil))
    assert "looks like a bare git repository" in everything(".", clock=clock)
    assert not marker.exists()


@pytest.mark.parametrize("ref", [None, "main"])
def test_those_deeper_in_a_source_are_files_like_any_other(work, evil, marker, clock, ref):
    made = {make(work.path / make.__name__ / "evil", evil) for make in LOOK_ALIKES}
    work.put("b.yaml", "b: 1\n")
    work.commit()
    with open_checkout(str(work.path), ref=ref) as found:
        names = {str(folder.relative_to(work.path)) for folder in made}
        assert {"b.yaml", *(f"{name}/a.yaml" for name in names)} <= set(found.contents.files)
        assert not found.dirty
    assert everything(work.path, clock, ref=ref, branch="state") == ""
    assert all(folder.is_dir() for folder in made)
    assert not marker.exists()


def test_the_git_directory_itself_is_not_a_source(work, clock):
    work.commit()
    for folder in (work.path / ".git", work.path / ".git" / "hooks"):
        assert "looks like a bare git repository" in everything(folder, clock)


SETTINGS = [
    ("core.sshCommand", "{evil}", "ssh", "the program that reaches a host"),
    ("core.fsmonitor", "{evil}", "file", "a program that tells what changed"),
    ("core.hooksPath", "{folder}", "file", "a folder of programs"),
    ("core.askPass", "{evil}", "http", "a program that asks for a password"),
    ("core.pager", "{evil}", "file", "a program that shows"),
    ("core.editor", "{evil}", "file", "a program that edits"),
    ("core.gitProxy", "{evil}", "file", "a program that connects"),
    ("core.alternateRefsCommand", "{evil}", "file", "a program that lists refs"),
    ("core.worktree", "/", "file", "another folder"),
    ("credential.helper", "!{evil}", "http", "a program that knows passwords"),
    ("credential.http://127.0.0.1.helper", "!{evil}", "http", "the same for the passwords of one host"),
    ("filter.x.clean", "{evil}", "file", "a program that changes a file on its way into git"),
    ("filter.x.process", "{evil}", "file", "the same, as one that keeps running"),
    ("diff.external", "{evil}", "file", "a program that compares"),
    ("diff.x.textconv", "{evil}", "file", "a program that makes text of a file"),
    ("gpg.program", "{evil}", "file", "a program that checks signatures"),
    ("gpg.ssh.program", "{evil}", "file", "the same for signatures of ssh"),
    ("remote.origin.uploadpack", "{evil}", "file", "the program that hands out"),
    ("remote.origin.receivepack", "{evil}", "file", "the program that takes in"),
    ("remote.origin.vcs", "evil", "file", "a helper for another system"),
    ("remote.origin.proxy", "{elsewhere}", "http", "a proxy for one remote"),
    ("uploadpack.packObjectsHook", "{evil}", "none", "a program that packs"),
    ("receive.procReceiveRefs", "refs", "none", "refs that a hook takes in"),
    ("alias.fetch", "!{evil}", "file", "another meaning of a command"),
    ("url.{elsewhere}/.insteadOf", "{url}/", "http", "another host for a URL"),
    ("url.{elsewhere}/.pushInsteadOf", "{url}/", "http", "another host for pushes to a URL"),
    ("url.ext::{evil} .insteadOf", "{url}/", "http", "a program for a URL"),
    ("http.proxy", "{elsewhere}", "http", "a proxy that reads along"),
    ("http.{url}.proxy", "{elsewhere}", "http", "the same for one host"),
    ("http.cookieFile", "{marker}", "http", "a file that is written"),
    ("protocol.ext.allow", "always", "ext", "a transport that runs programs"),
    ("include.path", "{included}", "ssh", "a file of the work tree"),
    ("includeIf.gitdir:**.path", "{included}", "ssh", "a file of the work tree, on a condition"),
]


TRIED = [
    *(pytest.param(kind, TOKEN, id=kind) for kind in ("file", "none", "http", "ssh", "ext")),
    pytest.param("http", None, id="http, no token"),
]
"""Which settings are tried at once, each with a program, a file or a server of its own: one that is ignored is in the way
of no other. Without a token, git looks for a password; it needs one over http alone.
"""


@pytest.mark.parametrize(("kind", "token"), TRIED)
def test_no_setting_of_a_checkout_runs_a_program_or_leads_elsewhere(
    cloned, bare, tmp_path, evil, marker, clock, kind, token
):
    tried = [(key, value) for key, value, of, why in SETTINGS if of == kind and (token or "password" in why)]
    cloned.put(".gitattributes", "*.yaml filter=x diff=x\n")
    cloned.put("apps/more.yaml", "kind: More\n")
    with ExitStack() as servers:
        start = partial(serve, tmp_path, readers=(WRITER,), writers=(WRITER,))
        url, _ = servers.enter_context(start())
        addresses = {
            "file": str(bare.path),
            "http": f"{url}/{bare.path.name}",
            "ssh": "ssh://git@127.0.0.1:9/a.git",
            "ext": f"ext::{evil}",
        }
        cloned.git("remote", "remove", "origin")
        if kind in addresses:
            cloned.git("remote", "add", "origin", addresses[kind])
        settings, reached = "[log]\nshowSignature = true\n[http]\nsaveCookies = true\n", {}
        for number, (key, value) in enumerate(tried):
            program = write_program(tmp_path / f"evil-{number}-{key.partition('.')[2].replace('/', '-')}", marker)
            included = cloned.put(f"included-{number}", f"[core]\nsshCommand = {program}\n")
            words = {"url": url, "marker": marker, "folder": tmp_path, "included": included, "evil": program}
            if "{elsewhere}" in key + value:
                words["elsewhere"], seen = servers.enter_context(start())
                reached[key] = seen.authorizations
            settings += format_setting(key.format(**words), value.format(**words))
        cloned.commit()
        add_hooks(cloned.path / ".git", evil)
        for hook in HOOKS:
            shutil.copy(evil, tmp_path / hook)
        with (cloned.path / ".git" / "config").open("a") as config:
            config.write(settings)
        branch = "state" if kind == "none" else None
        said = [everything(cloned.path, clock, token, branch, **options) for options in ({}, {"ref": "main"})]
    assert not marker.exists(), marker.read_text()
    assert {key: seen for key, seen in reached.items() if seen} == {}
    if kind in {"file", "none"} or (kind == "http" and token):
        assert said == ["", ""], "what is honest of the repository works all the same"


def format_setting(key: str, value: str) -> str:
    section, _, rest = key.partition(".")
    subsection, _, name = rest.rpartition(".")
    return f'[{section} "{subsection}"]\n{name} = "{value}"\n' if subsection else f"[{section}]\n{name} = {value}\n"


def test_hooks_of_a_checkout_that_holds_the_status_itself_do_not_run(work, evil, marker, clock):
    work.put("a.yaml", "x")
    work.commit()
    work.git("config", "receive.denyCurrentBranch", "updateInstead")
    add_hooks(work.path / ".git", evil)
    assert everything(work.path, clock, branch="state") == ""
    assert work.git("log", "--format=%s", "state") == "Sync 1 resource [skip ci]"
    assert not marker.exists()


def test_a_server_that_redirects_does_not_get_the_token_to_another_host(cloned, bare, tmp_path, clock):
    with (
        serve(tmp_path, readers=(WRITER, OTHER)) as (elsewhere, seen),
        serve(tmp_path, readers=(WRITER, OTHER), redirect=elsewhere) as (url, _),
    ):
        address = f"{url}/{bare.path.name}"
        assert "redirects" in everything(address, clock)
        cloned.git("remote", "set-url", "origin", address)
        cloned.git("config", f"http.{url}/.extraheader", f"AUTHORIZATION: {OTHER}")
        for token in (TOKEN, None):
            assert "redirects" in everything(cloned.path, clock, token)
    assert seen.authorizations == []


def test_a_remote_in_the_work_tree_is_not_spoken_with(work, evil, marker, clock):
    real_bare(work.path / "server.git", evil)
    work.git("remote", "add", "origin", "server.git")
    work.commit()
    assert "is inside the working tree" in everything(work.path, clock)
    assert not marker.exists()


def pointing_into_the_work_tree(work, evil):
    real_bare(work.path / "evil", evil)
    return "gitdir: evil"


def pointing_nowhere(work, evil):
    return "gitdir: /nowhere/at/all"


def pointing_to_anothers_work_tree(work, evil):
    subprocess.run(["git", "init", "--quiet", str(work.path.parent / "other")], check=True)
    other = work.path.parent / "other" / ".git"
    (other / "worktrees" / "x").mkdir(parents=True)
    (other / "worktrees" / "x" / "HEAD").write_text("ref: refs/heads/main\n")
    (other / "worktrees" / "x" / "commondir").write_text("../..\n")
    (other / "worktrees" / "x" / "gitdir").write_text("/somewhere/else/.git\n")
    return f"gitdir: {other}/worktrees/x"


def with_objects_in_the_work_tree(work, evil):
    real_bare(work.path / "evil", evil)
    outside = work.path.parent / "outside"
    outside.mkdir()
    (outside / "HEAD").write_text("ref: refs/heads/main\n")
    (outside / "commondir").write_text(str(work.path / "evil"))
    (outside / "gitdir").write_text(str(work.path / ".git"))
    return f"gitdir: {outside}"


def saying_nothing(work, evil):
    return "hello"


@pytest.mark.parametrize(
    "make",
    [
        pointing_into_the_work_tree,
        pointing_nowhere,
        pointing_to_anothers_work_tree,
        with_objects_in_the_work_tree,
        saying_nothing,
    ],
)
def test_a_git_file_that_leads_astray_is_refused(work, evil, marker, clock, make):
    shutil.rmtree(work.path / ".git")
    work.put("a.yaml", "x")
    work.put(".git", make(work, evil))
    said = everything(work.path, clock)
    assert str(work.path / ".git") in said or "Cannot read" in said
    assert not marker.exists()


@pytest.mark.parametrize("text", ["", "not a repository"])
def test_a_git_directory_that_is_none_is_refused(tmp_path, clock, text):
    (tmp_path / "x" / ".git").mkdir(parents=True)
    (tmp_path / "x" / ".git" / "config").write_text(text)
    assert "it is not a git directory" in everything(tmp_path / "x", clock)


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["worktree", "add", "--quiet", "--detach", "../other"], id="linked work tree"),
        pytest.param(
            ["clone", "--quiet", "--separate-git-dir=../apart", ".", "../other"], id="git directory elsewhere"
        ),
        pytest.param(["clone", "--quiet", "--shared", ".", "../other"], id="objects of another repository"),
        pytest.param(["clone", "--quiet", "--depth=1", "file://{top}", "../other"], id="shallow"),
        pytest.param(["clone", "--quiet", "--filter=blob:none", "file://{top}", "../other"], id="partial"),
    ],
)
def test_checkouts_of_every_kind_are_read(cloned, tmp_path, arguments):
    commit = cloned.git("rev-parse", "HEAD")
    cloned.git("config", "uploadpack.allowFilter", "true")
    cloned.git("config", "extensions.worktreeConfig", "true")
    cloned.git("config", "core.repositoryformatversion", "1")
    cloned.git("pack-refs", "--all")
    cloned.git(*(each.format(top=cloned.path) for each in arguments))
    with open_checkout(str(tmp_path / "other")) as found:
        assert (found.revision, found.dirty, list(found.contents.files)) == (commit, False, ["apps/rg.yaml"])
        assert found.remote is not None
    with open_checkout(str(tmp_path / "other"), ref="HEAD") as found:
        assert list(found.contents.files) == ["apps/rg.yaml"]


def test_a_submodule_is_a_checkout_of_its_own(cloned, tmp_path):
    outer = tmp_path / "outer"
    subprocess.run(["git", "init", "--quiet", str(outer)], check=True)
    command = ["git", "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(cloned.path), "inner"]
    subprocess.run(command, cwd=outer, check=True)
    with open_checkout(str(outer / "inner")) as found:
        assert (found.revision, found.dirty) == (cloned.git("rev-parse", "HEAD"), False)


def test_a_repository_of_the_other_object_format_is_read(tmp_path, clock):
    folder = tmp_path / "new"
    subprocess.run(["git", "init", "--quiet", "--object-format=sha256", str(folder)], check=True)
    (folder / "a.yaml").write_text("x")
    for arguments in (["add", "."], ["commit", "--quiet", "-m", "x"]):
        subprocess.run(["git", *arguments], cwd=folder, check=True)
    with open_checkout(str(folder)) as found:
        assert (len(found.revision or ""), found.dirty) == (64, False)


def test_a_file_that_a_filter_changed_counts_as_changed(work):
    """The filter is not run, so whether git would call the file unchanged is not known."""
    work.git("config", "filter.x.clean", "tr a-z A-Z")
    work.put(".gitattributes", "*.yaml filter=x\n")
    work.put("a.yaml", "a: 1\n")
    work.commit()
    assert work.git("status", "--porcelain") == ""
    with open_checkout(str(work.path)) as found:
        assert found.dirty


@pytest.mark.parametrize("linked", [False, True])
def test_a_branch_that_is_checked_out_somewhere_is_not_moved(work, clock, tmp_path, linked):
    work.put("a.yaml", "x")
    work.commit()
    before = write_status(work.path / ".git", an_update(a_record("one")), branch="state")
    source, other = work.path, tmp_path / "other"
    work.git("worktree", "add", "--quiet", str(other), "main" if linked else "state", *(["--force"] if linked else []))
    if linked:
        work.git("checkout", "--quiet", "state")
        source = other
    with (
        open_checkout(str(source), ref="main") as found,
        open_store(found, status_branch="state", clock=clock) as store,
    ):
        store.load()
        with pytest.raises(GitsyncError, match="checked out"):
            store.save(an_update(a_record("two")))
    assert work.git("rev-parse", "state") == before


def test_nothing_stays_in_the_temporary_folder(cloned, tmp_path, clock, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "home"))
    assert everything(cloned.path, clock, ref="main") == ""
    with pytest.raises(SourceError):
        open_checkout(str(cloned.path), path="nowhere")
    assert not list((tmp_path / "home").glob("gitsync-*"))
