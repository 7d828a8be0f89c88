"""Where the page leads to: the portal, and commits and lines on the host of the repository. Nothing else is linked."""

import re
from dataclasses import replace
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.model.plan import LastCommit
from gitsync.model.problem import SourceLocation
from gitsync.report.html.links import find_forge, make_links
from gitsync.report.html.page import render
from tests.report.report_builders import DRIFTED, FULL, IN_SYNC, ORPHAN, PROBLEMS, TARGET, report
from tests.support.parts import change

COMMIT = "0123456789abcdef0123456789abcdef01234567"
GITHUB, GITLAB = "https://github.com/contoso/estate", "https://gitlab.com/contoso/infra/estate"
AZURE = "https://dev.azure.com/contoso/Platform%20Team/_git/estate"

REMOTES = [
    ("https://github.com/contoso/estate", GITHUB, "https"),
    ("https://github.com/contoso/estate.git/", GITHUB, "the end that git adds"),
    ("https://GitHub.com:443/contoso/estate", GITHUB, "a host in another case, and the usual port"),
    ("git@github.com:contoso/estate.git", GITHUB, "as scp writes it"),
    ("ssh://git@ssh.github.com:443/contoso/estate.git", GITHUB, "ssh over the port of https"),
    ("https://contoso.ghe.com/contoso/estate", "https://contoso.ghe.com/contoso/estate", "GitHub of an enterprise"),
    ("git@github.contoso.com:a/b.git", "https://github.contoso.com/a/b", "a server of its own"),
    ("git@gitlab.com:contoso/infra/estate.git", GITLAB, "GitLab has groups in groups"),
    (
        "ssh://git@gitlab.contoso.com:2222/a/b.git",
        "https://gitlab.contoso.com/a/b",
        "a port of ssh is not that of https",
    ),
    ("https://contoso@dev.azure.com/contoso/Platform%20Team/_git/estate", AZURE, "a space in the name of a project"),
    ("git@ssh.dev.azure.com:v3/contoso/Platform%20Team/estate", AZURE, "ssh of Azure DevOps"),
    (
        "https://dev.azure.com/contoso/_git/estate",
        "https://dev.azure.com/contoso/estate/_git/estate",
        "without a project",
    ),
    ("https://contoso.visualstudio.com/DefaultCollection/Platform%20Team/_git/estate", AZURE, "the older host"),
    ("contoso@vs-ssh.visualstudio.com:v3/contoso/Platform%20Team/estate", AZURE, "the older host over ssh"),
]


@pytest.mark.parametrize(("remote", "base", "why"), REMOTES, ids=[r[-1] for r in REMOTES])
def test_a_repository_is_found_on(remote, base, why):
    assert find_forge(remote).base == base, why


UNKNOWN = [
    ("https://git.contoso.com/a/b", "a host that says nothing of itself"),
    ("/srv/git/estate.git", "a folder"),
    ("file:///srv/github.com/a/b", "a folder as a URL"),
    ("http://github.com/a/b", "not https"),
    ("https://github.com.evil.example/a/b", "a host that begins as a known one"),
    ("https://evilgithub.com/a/b", "a host that ends as a known one"),
    ("https://github.com:8443/a/b", "another port"),
    ("https://github.com/a", "no repository"),
    ("https://github.com/a/b/c", "more than a repository"),
    ("https://github.com/a/..", "a way out"),
    ("https://github.com/a/b?x=1", "a query"),
    ("https://github.com/a/b#x", "a fragment"),
    ("https://github.com/a/%22onclick=", "what no name has"),
    ("https://dev.azure.com/a/b/c", "no repository of Azure DevOps"),
    ("https://[github.com/a/b", "no URL at all"),
    ("javascript://github.com/a/b", "another scheme"),
    ("", "nothing"),
]


@pytest.mark.parametrize(("remote", "why"), UNKNOWN, ids=[u[-1] for u in UNKNOWN])
def test_there_is_no_link_for(remote, why):
    assert find_forge(remote) is None, why


AZURE_LINE = "&line=7&lineEnd=7&lineStartColumn=1&lineEndColumn=200&lineStyle=plain"
LINES = [
    (GITHUB, f"{GITHUB}/commit/{COMMIT}", f"{GITHUB}/blob/{COMMIT}/net/hub%20%231.yaml#L7"),
    (GITLAB, f"{GITLAB}/-/commit/{COMMIT}", f"{GITLAB}/-/blob/{COMMIT}/net/hub%20%231.yaml#L7"),
    (
        AZURE,
        f"{AZURE}/commit/{COMMIT}",
        f"{AZURE}?path=/net/hub%20%231.yaml&version=GC{COMMIT}{AZURE_LINE}",
    ),
]


@pytest.mark.parametrize(("remote", "commit", "line"), LINES, ids=["GitHub", "GitLab", "Azure DevOps"])
def test_a_commit_and_a_line_are_linked(remote, commit, line):
    forge = find_forge(remote)
    assert forge.make_commit_link(COMMIT) == commit
    assert forge.make_line_link(COMMIT, "net/hub #1.yaml", 7) == line


@pytest.mark.parametrize("commit", [None, "", "main", "-x", "../..", COMMIT.upper(), f"{COMMIT}/x"])
def test_only_an_id_is_a_commit(commit):
    assert find_forge(GITHUB).make_commit_link(commit) == find_forge(GITHUB).make_line_link(commit, "a.yaml", 1) == ""


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../a.yaml", "a/../../b", "a//b", "./a"])
def test_a_path_out_of_the_repository_is_not_a_link(path):
    assert find_forge(GITHUB).make_line_link(COMMIT, path, 1) == ""


@given(st.text(max_size=60), st.text(max_size=60))
def test_a_link_stays_on_the_host_of_the_remote(path, arm_id):
    """Whatever a path or an id holds, it ends in a percent-encoded part of the address."""
    line = find_forge(GITHUB).make_line_link(COMMIT, path, 3)
    portal = make_links(FULL).make_portal_link(change(IN_SYNC, arm_id=f"/subscriptions/{arm_id}", exists=True))
    for link, host in ((line, "github.com"), (portal, "portal.azure.com")):
        assert link == "" or urlsplit(link).netloc == host
        assert re.fullmatch(r"[!-~]*", link)
        assert not set("\"'<>`") & set(link.replace("%27", ""))


PORTALS = [
    ("https://management.azure.com", "https://portal.azure.com"),
    ("https://management.usgovcloudapi.net/", "https://portal.azure.us"),
    ("https://management.chinacloudapi.cn", "https://portal.azure.cn"),
    ("https://management.azure.com.evil.example", ""),
    ("http://127.0.0.1:5000", ""),
    ("built-in emulator", ""),
    ("https://[", ""),
    ("", ""),
]


@pytest.mark.parametrize(("endpoint", "portal"), PORTALS)
def test_each_cloud_has_its_portal(endpoint, portal):
    links = make_links(replace(FULL, target=replace(TARGET, endpoint=endpoint)))
    expected = f"{portal}/#resource/subscriptions/0000/resourceGroups/core/core" if portal else ""
    assert links.make_portal_link(change(IN_SYNC, exists=True)) == expected
    assert links.make_portal_link(change(IN_SYNC, exists=False)) == "", "there is nothing to see yet"
    assert links.make_portal_link(change(IN_SYNC, exists=True, arm_id=None)) == ""


def linked(value):
    return re.findall(r'<a class="out" href="([^"]+)" rel="noreferrer">', render(value))


def test_the_page_links_resources_manifests_problems_and_commits():
    gone = change(ORPHAN, last_commit=LastCommit(commit="fedcba9876543210fedcba9876543210fedcba98"))
    there = change(DRIFTED, exists=True)
    links = linked(report(there, IN_SYNC, gone, problems=PROBLEMS, target=TARGET, root="env/prod"))
    assert f"{GITHUB}/commit/{COMMIT}" in links
    assert f"{GITHUB}/blob/{COMMIT}/env/prod/net/hub.yaml#L1" in links
    assert f"{GITHUB}/blob/{COMMIT}/env/prod/azure.yaml#L9" in links
    assert f"{GITHUB}/commit/fedcba9876543210fedcba9876543210fedcba98" in links
    assert "https://portal.azure.com/#resource/subscriptions/0000/resourceGroups/core/hub" in links


def test_lines_of_an_uncommitted_working_tree_are_not_linked():
    assert linked(report(DRIFTED, target=TARGET, revision=None)) == []
    assert make_links(replace(FULL, revision=None)).make_source_link(SourceLocation("a.yaml", 1)) == ""
    assert linked(report(DRIFTED)) == [], "nor is anything of a report without a target"
