"""The real gh, with a GitHub that answers its queries: gh speaks to `github.localhost` without TLS."""

import http.server
import json
import os
import shutil
import threading
from contextlib import contextmanager

import pytest

from gitsync.report.hosts.host import HostUse, PullRequest, RequestState
from gitsync.report.hosts.opening import open_host
from tests.support.command_line import run_here

REASON = "gh is not installed"
FORGED = {"id": "IC_0", "viewerDidAuthor": False, "author": {"login": "mallory"}, "body": "<!-- gitsync -->\nForged."}


class GitHub(http.server.BaseHTTPRequestHandler):
    """The three queries of GraphQL that gh sends, over the comments of one pull request, and pull requests by REST."""

    comments: list
    seen: list
    pulls: list
    posted: list

    def do_POST(self):
        requested = json.loads(self.read_body() or "{}")
        self.seen.append((self.path, self.headers["Authorization"]))
        if "/statuses" in self.path or "/status?" in self.path or "/deployments" in self.path:
            answer = json.dumps(self.answer_commits(requested)).encode()
        elif "/repos/" in self.path:
            answer = json.dumps(self.answer_pulls(requested)).encode()
        else:
            answer = json.dumps({"data": self.answer(requested["query"], requested.get("variables", {}))}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_GET = do_PATCH = do_POST  # noqa: N815 - the names that the server calls

    def read_body(self):
        if self.headers.get("Transfer-Encoding") != "chunked":  # as what gh reads from its own stdin is
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        chunks = []
        while size := int(self.rfile.readline(), 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        return b"".join(chunks)

    def answer_pulls(self, requested):
        if self.command == "GET":
            assert self.path.endswith("/repos/acme/estate/pulls?state=all&per_page=100&head=acme:gitsync/accept/1")
            return self.pulls
        if self.command == "POST":
            assert self.path.endswith("/repos/acme/estate/pulls")
            head = {"ref": requested.pop("head"), "repo": {"full_name": "acme/estate"}}
            made = {
                "number": 3,
                "state": "open",
                "merged_at": None,
                "html_url": "https://x/3",
                "head": head,
                **requested,
            }
            self.pulls.append(made)
            return made
        assert self.path.endswith("/repos/acme/estate/pulls/3")
        self.pulls[0].update(requested)
        return self.pulls[0]

    def answer_commits(self, requested):
        path = self.path.partition("/repos/acme/estate/")[2]
        if self.command == "POST":
            self.posted.append((path, requested))
            return {"id": 500, **requested}
        if path == "commits/c0ffee/status?per_page=100":
            return {"statuses": [requested for path, requested in self.posted if path.startswith("statuses/")]}
        if path == "deployments?sha=c0ffee&environment=pro%20d&task=gitsync&per_page=1":
            return [{"id": 500} for path, _ in self.posted if path == "deployments"]
        assert path == "deployments/500/statuses?per_page=1"
        return [requested for path, requested in self.posted if path == "deployments/500/statuses"]

    def answer(self, query, variables):
        if "updateIssueComment" in query:
            next(comment for comment in self.comments if comment["id"] == variables["id"])["body"] = variables["body"]
            return {"updateIssueComment": {"issueComment": {"url": ""}}}
        if "addComment" in query:
            made = {"id": f"IC_{len(self.comments)}", "viewerDidAuthor": True, "body": variables["input"]["body"]}
            self.comments.append(made)
            return {"addComment": {"commentEdge": {"node": {"url": ""}}}}
        comments = {"nodes": self.comments, "pageInfo": {"hasNextPage": False}, "totalCount": len(self.comments)}
        return {"repository": {"pullRequest": {"id": "PR", "number": 12, "url": "", "comments": comments}}}

    def log_message(self, *_arguments):
        """Nothing is logged."""


@contextmanager
def serve():
    handler = type("Handler", (GitHub,), {"comments": [dict(FORGED)], "seen": [], "pulls": [], "posted": []})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", handler
        server.shutdown()


def make_job(proxy, folder):
    return {
        "GITHUB_ACTIONS": "true",
        "GITHUB_SERVER_URL": "http://github.localhost",
        "GITHUB_REPOSITORY": "acme/estate",
        "GITHUB_REF": "refs/pull/12/merge",
        "GITHUB_SHA": "c0ffee",
        "GH_TOKEN": "t0ken-of-the-job",
        "HTTP_PROXY": proxy,
        "HOME": str(folder),
    }


@pytest.mark.skipif(shutil.which("gh") is None, reason=REASON)
def test_gh_opens_a_pull_request_edits_it_and_closes_it(tmp_path):
    with serve() as (proxy, hosted):
        host = open_host({"PATH": os.environ["PATH"], **make_job(proxy, tmp_path)}, HostUse.PULL_REQUEST)
        assert host.find_request("gitsync/accept/1") is None
        text = 'a "b" & $(c) `d` @e\n\n| f |\n'
        made = host.open_request("gitsync/accept/1", "main", "Accept @drift", text)
        assert made == PullRequest("3", RequestState.OPEN, "Accept @drift", text, "https://x/3")
        host.edit_request("3", "@other")
        host.close_request("3")
        closed = made._replace(state=RequestState.CLOSED, body="@other")
        assert host.find_request("gitsync/accept/1") == closed
    assert {token for _, token in hosted.seen} == {"token t0ken-of-the-job"}


@pytest.mark.skipif(shutil.which("gh") is None, reason=REASON)
def test_gh_posts_a_comment_and_replaces_it(tmp_path):
    report = tmp_path / "report.md"
    with serve() as (proxy, hosted):
        job = make_job(proxy, tmp_path)
        for text in ('1 create: "a" & $(b) `c` @d', "2 create"):
            report.write_text(f"<!-- gitsync -->\n{text}\n")
            ended = run_here("comment", "report.md", folder=tmp_path, **job)
            assert (ended.code, ended.err) == (0, "")
            assert hosted.comments == [FORGED, {"id": "IC_1", "viewerDidAuthor": True, "body": report.read_text()}]
    assert set(hosted.seen) == {("http://api.github.localhost/graphql", "token t0ken-of-the-job")}


@pytest.mark.skipif(shutil.which("gh") is None, reason=REASON)
def test_gh_posts_a_status_and_a_deployment_once(tmp_path):
    headline = 'Updated 1: "a" & $(b) `c` @d'
    report = {"command": "sync", "exitCode": 0, "headline": headline, "interrupted": False}
    (tmp_path / "report.json").write_text(json.dumps(report))
    with serve() as (proxy, hosted):
        flags = ("--status=report", "--name=pro d", "--deployment")
        for _ in range(2):
            ended = run_here("comment", "report.md", *flags, folder=tmp_path, **make_job(proxy, tmp_path))
            assert (ended.code, ended.err) == (0, "")
    assert hosted.posted == [
        (
            "deployments",
            {"ref": "c0ffee", "environment": "pro d", "task": "gitsync", "auto_merge": False, "required_contexts": []},
        ),
        ("deployments/500/statuses", {"state": "success", "description": headline}),
        ("statuses/c0ffee", {"state": "success", "context": "gitsync/pro d", "description": headline}),
    ]
