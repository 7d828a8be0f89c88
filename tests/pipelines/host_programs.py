"""gh, glab and az as this machine does not have them: programs on the path that keep comments and pull requests in files.

They record how they were called, with the variables that they got, and answer as the real ones do.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_PROGRAM = """\
#!{python} -ISE
import json, os, re, sys
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

home = Path({home!r})
comments = json.loads((home / "comments.json").read_text())
arguments, name = sys.argv[1:], {name!r}
read_stdin = "-" in arguments or any(one.endswith("=@-") for one in arguments)
stdin = sys.stdin.read() if read_stdin else ""
if "--in-file" in arguments:
    place = arguments.index("--in-file") + 1
    stdin, arguments[place] = Path(arguments[place]).read_text(), "FILE"
if "--description" in arguments:
    place = arguments.index("--description") + 1
    assert arguments[place].startswith("@")
    stdin, arguments[place] = Path(arguments[place][1:]).read_text().removesuffix("\\n"), "@FILE"
with (home / "calls.jsonl").open("a") as file:
    print(json.dumps([name, arguments, stdin, dict(os.environ)]), file=file)
refusal = home / "refusal"
if refusal.exists():
    sys.exit(refusal.read_text())

def after(flag):
    return arguments[arguments.index(flag) + 1]

requests = json.loads((home / "requests.json").read_text())

def read_fields():
    pairs = [one.partition("=")[2].partition("=") for one in arguments if one.startswith(("--raw-field=", "--field="))]
    return {{name: stdin if value == "@-" else value for name, _, value in pairs}}

def find(number):
    return next(one for one in requests if one["number"] == int(number))

def make(title, body, branch, base):
    number = 100 + len(requests)
    requests.append(
        {{"number": number, "state": "open", "title": title, "body": body, "branch": branch, "base": base}}
    )
    return requests[-1]

def change(number, body=None, state=None):
    one = find(number)
    assert one["state"] == "open", one
    one.update({{key: value for key, value in (("body", body), ("state", state)) if value}})
    return one

def limit(text, most):
    if len(text) > most:
        sys.exit("the text is too long")

def on_github(one):
    is_open, is_merged = one["state"] == "open", one["state"] == "merged"
    head = {{"ref": one["branch"], "repo": {{"full_name": one.get("repository", "acme/estate")}}}}
    url = f"https://github.com/acme/estate/pull/{{one['number']}}"
    times = {{"merged_at": "2026-11-24T00:00:00Z" if is_merged else None}}
    return {{**one, **times, "state": "open" if is_open else "closed", "head": head, "html_url": url}}

def gh_request():
    path = next(one for one in arguments if one.startswith("repos/acme/estate/pulls"))
    if "--method" not in arguments:
        owner, _, branch = parse_qs(urlsplit(path).query)["head"][0].partition(":")
        assert owner == "acme"
        return [on_github(one) for one in requests if one["branch"] == branch]
    sent = read_fields()
    limit(sent.get("body", ""), 65536)
    if after("--method") == "POST":
        return on_github(make(sent["title"], sent["body"], sent["head"], sent["base"]))
    return on_github(change(path.rpartition("/")[2], sent.get("body"), sent.get("state")))

def on_gitlab(one):
    states = {{"open": "opened", "closed": "closed", "merged": "merged"}}
    url = f"https://gitlab.example.com/acme/estate/-/merge_requests/{{one['number']}}"
    ids = {{"iid": one["number"], "source_project_id": one.get("repository", 5), "web_url": url}}
    return {{**ids, "title": one["title"], "description": one["body"], "source_branch": one["branch"],
             "state": states[one["state"]]}}

def glab_request(path):
    if "--method" not in arguments:
        (branch,) = parse_qs(urlsplit(path).query)["source_branch"]
        return [on_gitlab(one) for one in requests if one["branch"] == branch]
    sent = read_fields()
    if after("--method") == "POST":
        return on_gitlab(make(sent["title"], sent["description"], sent["source_branch"], sent["target_branch"]))
    state = {{"close": "closed"}}.get(sent.get("state_event"))
    return on_gitlab(change(path.rpartition("/")[2], sent.get("description"), state))

def on_azure(one):
    states = {{"open": "active", "closed": "abandoned", "merged": "completed"}}
    more = {{"forkSource": {{"name": "fork"}} if one.get("repository") else None}}
    return {{"pullRequestId": one["number"], "status": states[one["state"]], "title": one["title"],
             "description": one["body"], "sourceRefName": "refs/heads/" + one["branch"], **more}}

def az_request():
    command, number = arguments[2], after("--id") if "--id" in arguments else ""
    text = stdin if "--description" in arguments else None
    limit(text or "", 4000)
    if command == "list":
        assert after("--status") == "all"
        found = [on_azure(one) for one in requests if one["branch"] == after("--source-branch")]
        return [{{**one, "description": one["description"][:400]}} for one in found]
    if command == "show":
        return on_azure(find(number))
    if command == "create":
        return on_azure(make(after("--title"), text, after("--source-branch"), after("--target-branch")))
    state = {{"abandoned": "closed"}}.get(after("--status")) if "--status" in arguments else None
    return on_azure(change(number, text, state))

def gh():
    if any(one.startswith("repos/") for one in arguments):
        return gh_request()
    if arguments[:2] == ["pr", "view"]:
        return {{"comments": comments}}
    if arguments[:2] == ["pr", "comment"]:
        comments.append({{"id": f"IC_{{len(comments)}}", "viewerDidAuthor": True, "body": stdin}})
        return {{}}
    (identity,) = (one.partition("id=")[2] for one in arguments if one.startswith("--raw-field=id="))
    next(one for one in comments if one["id"] == identity)["body"] = stdin
    return {{}}

def glab():
    for one in arguments:
        if re.fullmatch("projects/5/merge_requests([/?][^/]*)?", one):
            return glab_request(one)
    if arguments[-1] == "user":
        return {{"id": 7}}
    if "--paginate" in arguments:
        half = len(comments) // 2  # two pages
        print(json.dumps(comments[:half]), end="")
        return comments[half:]
    if after("--method") == "POST":
        comments.append({{"id": 90 + len(comments), "author": {{"id": 7}}, "system": False, "body": stdin}})
    else:
        identity = int(after("PUT").rpartition("/")[2])
        next(one for one in comments if one["id"] == identity)["body"] = stdin
    return {{}}

def az():
    if arguments[:2] == ["repos", "pr"]:
        return az_request()
    if after("--resource") == "connectionData":
        return {{"authenticatedUser": {{"id": "the-build"}}}}
    if after("--http-method") == "GET":
        return {{"value": comments}}
    sent = json.loads(stdin)
    if after("--http-method") == "POST":
        made = {{"id": 1, "author": {{"id": "the-build"}}, **sent["comments"][0]}}
        comments.append({{"id": 40 + len(comments), "comments": [made], "status": sent["status"]}})
        return comments[-1]
    thread = next(one for one in comments if f"threadId={{one['id']}}" in arguments)
    thread["comments"][0].update(sent)
    return thread["comments"][0]

answer = locals()[name]()
(home / "comments.json").write_text(json.dumps(comments))
(home / "requests.json").write_text(json.dumps(requests))
print(json.dumps(answer))
"""


TOKEN = "t0ken-of-the-job-which-is-long"
GITHUB = {
    "GITHUB_ACTIONS": "true",
    "GITHUB_SERVER_URL": "https://github.com",
    "GITHUB_REPOSITORY": "acme/estate",
    "GITHUB_REF": "refs/pull/12/merge",
    "GITHUB_RUN_ID": "987",
    "GH_TOKEN": TOKEN,
}
GITLAB = {
    "GITLAB_CI": "true",
    "CI_SERVER_HOST": "gitlab.example.com",
    "CI_PROJECT_ID": "5",
    "CI_MERGE_REQUEST_IID": "12",
    "CI_JOB_URL": "https://gitlab.example.com/acme/estate/-/jobs/987",
    "GITLAB_TOKEN": TOKEN,
}
AZURE = {
    "TF_BUILD": "True",
    "SYSTEM_COLLECTIONURI": "https://dev.azure.com/acme/",
    "SYSTEM_TEAMPROJECT": "The estate",
    "BUILD_REPOSITORY_ID": "0a1b",
    "SYSTEM_PULLREQUEST_PULLREQUESTID": "12",
    "BUILD_BUILDID": "987",
    "AZURE_DEVOPS_EXT_PAT": TOKEN,
}


@dataclass(frozen=True)
class Call:
    program: str
    arguments: list[str]
    stdin: str
    environment: dict[str, str]


@dataclass(frozen=True)
class Host:
    """What one of the programs speaks to: comments in the form of its host, and pull requests."""

    home: Path

    @property
    def path(self) -> str:
        """A search path on which the programs come first."""
        return f"{self.home}{os.pathsep}{os.environ['PATH']}"

    @property
    def comments(self) -> list[dict[str, Any]]:
        return json.loads((self.home / "comments.json").read_text())

    def put(self, *comments: dict[str, Any]) -> None:
        (self.home / "comments.json").write_text(json.dumps(comments))

    @property
    def requests(self) -> list[dict[str, Any]]:
        """The pull requests, in a form that no host has: number, state, title, body, branch and base."""
        return json.loads((self.home / "requests.json").read_text())

    def put_requests(self, *requests: dict[str, Any]) -> None:
        (self.home / "requests.json").write_text(json.dumps(requests))

    def refuse(self, complaint: str) -> None:
        """Fail every call from now on."""
        (self.home / "refusal").write_text(complaint)

    @property
    def calls(self) -> list[Call]:
        log = self.home / "calls.jsonl"
        return [Call(*json.loads(line)) for line in log.read_text().splitlines()] if log.exists() else []


def make_host(home: Path, *programs: str) -> Host:
    """Install programs in a folder."""
    home.mkdir()
    for name in programs:
        program = home / name
        program.write_text(_PROGRAM.format(python=sys.executable, home=str(home), name=name))
        program.chmod(0o755)
    host = Host(home)
    host.put()
    host.put_requests()
    return host
