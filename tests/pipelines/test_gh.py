"""`gitsync comment` with the real gh, and a GitHub that answers its queries: gh speaks to `github.localhost` without TLS."""

import http.server
import json
import shutil
import threading
from contextlib import contextmanager

import pytest

from tests.support.command_line import gitsync

REASON = "gh is not installed"
FORGED = {"id": "IC_0", "viewerDidAuthor": False, "author": {"login": "mallory"}, "body": "<!-- gitsync -->\nForged."}


class GitHub(http.server.BaseHTTPRequestHandler):
    """The three queries of GraphQL that gh sends, over the comments of one pull request."""

    comments: list
    seen: list

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.seen.append((self.path, self.headers["Authorization"]))
        answer = json.dumps({"data": self.answer(asked["query"], asked.get("variables", {}))}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def answer(self, query, variables):
        if "updateIssueComment" in query:
            next(one for one in self.comments if one["id"] == variables["id"])["body"] = variables["body"]
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
    handler = type("Handler", (GitHub,), {"comments": [dict(FORGED)], "seen": []})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", handler
        server.shutdown()


@pytest.mark.skipif(shutil.which("gh") is None, reason=REASON)
def test_gh_posts_a_comment_and_replaces_it(tmp_path):
    report = tmp_path / "report.md"
    with serve() as (proxy, hosted):
        job = {
            "GITHUB_ACTIONS": "true",
            "GITHUB_SERVER_URL": "http://github.localhost",
            "GITHUB_REPOSITORY": "acme/estate",
            "GITHUB_REF": "refs/pull/12/merge",
            "GH_TOKEN": "t0ken-of-the-job",
            "HTTP_PROXY": proxy,
            "HOME": str(tmp_path),
        }
        for text in ('1 create: "a" & $(b) `c` @d', "2 create"):
            report.write_text(f"<!-- gitsync -->\n{text}\n")
            ended = gitsync("comment", "report.md", folder=tmp_path, **job)
            assert (ended.code, ended.err) == (0, "")
            assert hosted.comments == [FORGED, {"id": "IC_1", "viewerDidAuthor": True, "body": report.read_text()}]
    assert set(hosted.seen) == {("http://api.github.localhost/graphql", "token t0ken-of-the-job")}
