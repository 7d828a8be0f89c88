"""Work trees as the pipelines of hosts leave them: what signs in to the remote's own host is used, and nothing else."""

from pathlib import Path

import pytest

from gitsync.errors import GitsyncError
from gitsync.model.secret import Secret
from gitsync.repository.git.git_access import GitAccess
from gitsync.repository.git.source.checkout import open_checkout
from gitsync.repository.git.source.git_directory import select_headers
from gitsync.repository.git.source.location import Url
from gitsync.repository.git.state.store_choice import open_store
from tests.repository.git.remembered import a_record, an_update
from tests.support.git_server import basic, serve

WRITER = basic("x-access-token", "t0ken-of-the-pipeline")
BEARER = "bearer eyJ0.t0ken-of-azure.pipelines"
GITLAB = basic("gitlab-ci-token", "t0ken-of-the-job")


def github(work, url, outside):
    """actions/checkout up to v5."""
    origin(work, url)
    work.git("config", f"http.{host_of(url)}/.extraheader", f"AUTHORIZATION: {WRITER}")


def github_with_a_file(work, url, outside):
    """actions/checkout from v6: a file among the runner's temporary ones, once by the path of the host, once by that of
    a container.
    """
    origin(work, url)
    file = outside / "git-credentials-0f.config"
    work.git("config", "--file", str(file), f"http.{host_of(url)}/.extraheader", f"AUTHORIZATION: {WRITER}")
    work.git("config", f"includeIf.gitdir:{work.path}/.git.path", str(file))
    work.git("config", f"includeIf.gitdir:{work.path}/.git/worktrees/*.path", str(file))
    work.git("config", "includeIf.gitdir:/github/workspace/.git.path", "/github/runner_temp/git-credentials-0f.config")


def gitlab(work, url, outside):
    """GitLab Runner: the token of the job is in the address."""
    origin(work, url.replace("://", "://gitlab-ci-token:t0ken-of-the-job@"))


def gitlab_with_a_header(work, url, outside):
    origin(work, url)
    work.git("config", f"http.{host_of(url)}.extraheader", f"Authorization: {GITLAB}")


def gitlab_with_a_file(work, url, outside):
    """GitLab Runner with FF_GIT_URLS_WITHOUT_TOKENS: a file beside the builds."""
    origin(work, url)
    file = outside / ".gitlab-runner.ext.conf"
    work.git("config", "--file", str(file), f"http.{host_of(url)}.extraheader", f"Authorization: {GITLAB}")
    work.git("config", "include.path", str(file))


def azure_pipelines(work, url, outside):
    """persistCredentials: true; the header is for the repository."""
    origin(work, url)
    work.git("config", f"http.{url}.extraheader", f"AUTHORIZATION: {BEARER}")


def azure_pipelines_for_the_host(work, url, outside):
    """The user in the address is the organization."""
    origin(work, url.replace("://", "://org@"))
    work.git("config", f"http.{host_of(url)}.extraheader", f"AUTHORIZATION: {BEARER}")


CHECKOUTS = [
    (github, WRITER),
    (github_with_a_file, WRITER),
    (gitlab, GITLAB),
    (gitlab_with_a_header, GITLAB),
    (gitlab_with_a_file, GITLAB),
    (azure_pipelines, BEARER),
    (azure_pipelines_for_the_host, BEARER),
]


def origin(work, url):
    work.git("remote", "set-url", "origin", url)


def host_of(url):
    return url.rpartition("/")[0]


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "runner_temp"
    folder.mkdir()
    return folder


@pytest.mark.parametrize(("make", "authorization"), CHECKOUTS, ids=[make.__name__ for make, _ in CHECKOUTS])
def test_the_checkout_of_a_pipeline_can_read_and_push(cloned, bare, tmp_path, outside, clock, make, authorization):
    with serve(tmp_path, readers=(authorization,), writers=(authorization,), spies=True) as (url, seen):
        make(cloned, f"{url}/{bare.path.name}", outside)
        with open_checkout(str(cloned.path)) as source, open_store(source, clock=clock) as store:
            assert not source.dirty
            store.load()
            store.check_writable()
            assert store.save(an_update(a_record("one")))
            token = authorization.split()[1]
            assert token not in repr(source)
            assert not [line for line in seen.command_lines if token in line]
    assert {tuple(each) for each in seen.authorizations} <= {(authorization,), ()}
    assert bare.git("log", "--format=%s", "gitsync/status") == "Sync 1 resource [skip ci]"


@pytest.mark.parametrize(("make", "authorization"), CHECKOUTS, ids=[make.__name__ for make, _ in CHECKOUTS])
def test_a_token_of_our_own_goes_alone(cloned, bare, tmp_path, outside, clock, make, authorization):
    ours = basic("x-access-token", "t0ken-of-our-own")
    with serve(tmp_path, readers=(ours,), writers=(ours,)) as (url, seen):
        make(cloned, f"{url}/{bare.path.name}", outside)
        access = GitAccess(token=Secret("t0ken-of-our-own"))
        with open_checkout(str(cloned.path), access=access) as source, open_store(source, clock=clock) as store:
            store.load()
    assert {tuple(each) for each in seen.authorizations} == {(ours,)}


def include_a_file_of_the_work_tree(work, url, header):
    work.git("config", "--file", str(work.path / "included"), *header)
    work.git("config", "include.path", str(work.path / "included"))


def include_a_link_to_the_work_tree(work, url, header):
    work.git("config", "--file", str(work.path / "included"), *header)
    (work.path.parent / "link").symlink_to(work.path / "included")
    work.git("config", "include.path", str(work.path.parent / "link"))


def include_for_another_repository(work, url, header):
    work.git("config", "--file", str(work.path.parent / "outside"), *header)
    work.git("config", "includeIf.gitdir:/another/.git.path", str(work.path.parent / "outside"))


def include_in_an_included_file(work, url, header):
    work.git("config", "--file", str(work.path.parent / "inner"), *header)
    work.git("config", "--file", str(work.path.parent / "outside"), "include.path", str(work.path.parent / "inner"))
    work.git("config", "include.path", str(work.path.parent / "outside"))


def a_header_for_another_host(work, url, header):
    work.git("config", "http.https://github.com/.extraheader", header[1])


def a_header_for_another_port(work, url, header):
    work.git("config", "http.http://127.0.0.1:1/.extraheader", header[1])


def a_header_for_every_host(work, url, header):
    work.git("config", "http.extraheader", header[1])
    work.git("config", "http.http://*/.extraheader", header[1])


def a_header_with_a_line_break(work, url, header):
    work.git("config", header[0], f"X: y\r\n{header[1]}")


@pytest.mark.parametrize(
    "make",
    [
        include_a_file_of_the_work_tree,
        include_a_link_to_the_work_tree,
        include_for_another_repository,
        include_in_an_included_file,
        a_header_for_another_host,
        a_header_for_another_port,
        a_header_for_every_host,
        a_header_with_a_line_break,
    ],
)
def test_no_other_header_is_sent(cloned, bare, tmp_path, clock, make):
    with serve(tmp_path, readers=(WRITER,)) as (url, seen):
        origin(cloned, f"{url}/{bare.path.name}")
        make(cloned, url, (f"http.{url}/.extraheader", f"AUTHORIZATION: {WRITER}"))
        with (
            open_checkout(str(cloned.path)) as source,
            pytest.raises(GitsyncError),
            open_store(source, clock=clock) as store,
        ):
            store.load()
    assert seen.authorizations
    assert {tuple(each) for each in seen.authorizations} == {()}


@pytest.mark.parametrize(
    ("remote", "key", "used"),
    [
        ("https://github.com/o/r", "http.https://github.com/.extraheader", True),
        ("https://github.com/o/r", "http.https://GitHub.com:443/.extraheader", True),
        ("https://dev.azure.com/o/p", "http.https://org@dev.azure.com/o.extraheader", True),
        ("https://github.com/o/r", "http.https://github.com.evil.example/.extraheader", False),
        ("https://github.com/o/r", "http.http://github.com/.extraheader", False),
        ("https://github.com/o/r", "http.https://*.com/.extraheader", False),
        ("https://github.com/o/r", "http.https://[/.extraheader", False),
        ("https://github.com/o/r", "http.https://github.com/.proxy", False),
    ],
)
def test_which_headers_are_for_a_remote(remote, key, used):
    assert bool(select_headers(Url(remote, "https"), ((key, "x"),))) is used


def test_a_remote_that_is_not_reached_over_http_gets_no_header():
    assert (
        select_headers(Url("ssh://git@github.com/o", "ssh"), (("http.ssh://git@github.com/.extraheader", "x"),)) == ()
    )


def test_settings_that_git_cannot_parse_are_reported(cloned):
    cloned.put(".git/config", "[core\n")
    with pytest.raises(GitsyncError, match=r"git cannot read .*/\.git/config: .*bad config"):
        open_checkout(str(cloned.path))


def test_a_persons_own_settings_define_how_remotes_are_spelt(cloned, bare, tmp_path, clock):
    with serve(tmp_path, readers=(WRITER,)) as (url, seen):
        with (tmp_path / "home" / ".gitconfig").open("a") as settings:
            settings.write(f'[url "{url}/"]\n\tinsteadOf = host:\n')
        origin(cloned, f"host:{bare.path.name}")
        with open_checkout(str(cloned.path), access=GitAccess(token=Secret("t0ken-of-the-pipeline"))) as source:
            assert source.remote is not None
            assert source.remote.url == f"{url}/{bare.path.name}"
            with open_store(source, clock=clock) as store:
                store.load()
    assert {tuple(each) for each in seen.authorizations} == {(WRITER,)}
