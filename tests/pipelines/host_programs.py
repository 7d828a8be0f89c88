"""gh, glab and az as this machine does not have them: programs on the path that keep comments, pull requests, statuses
and deployments in files.

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
statuses = json.loads((home / "statuses.json").read_text())
deployments = json.loads((home / "deployments.json").read_text())

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

def keep_status(commit, context, state, description, url, most):
    limit(description, most)
    statuses.append(
        {{"commit": commit, "context": context, "state": state, "description": description, "url": url}}
    )
    return statuses[-1]

def list_last(commit):
    return list({{one["context"]: one for one in statuses if one["commit"] == commit}}.values())

def keep_deployment(commit, environment, **more):
    deployments.append({{"id": 500 + len(deployments), "commit": commit, "environment": environment, "states": [], **more}})
    return deployments[-1]

def find_deployment(number):
    return next(one for one in deployments if one["id"] == int(number))

def gh_commit(path):
    if path.startswith("commits/"):
        return {{"statuses": list_last(path.split("/")[1])}}
    sent = json.loads(stdin)
    assert sent["state"] in ("pending", "success", "failure", "error")
    commit = path.removeprefix("statuses/")
    return keep_status(commit, sent["context"], sent["state"], sent.get("description", ""), sent.get("target_url"), 140)

def gh_deployment(path):
    if "/" not in path and "--method" not in arguments:
        query = {{key: value[0] for key, value in parse_qs(urlsplit(path).query).items()}}
        wanted = [query["sha"], query["environment"], query["task"]]
        return [one for one in reversed(deployments) if [one["commit"], one["environment"], one["task"]] == wanted][:1]
    if "--method" not in arguments:
        return [{{"state": one}} for one in reversed(find_deployment(path.split("/")[1])["states"])][:1]
    sent = json.loads(stdin)
    if path == "deployments":
        assert (sent["auto_merge"], sent["required_contexts"]) == (False, [])
        return keep_deployment(sent["ref"], sent["environment"], task=sent["task"])
    assert sent["state"] in ("in_progress", "success", "failure")
    limit(sent.get("description", ""), 140)
    find_deployment(path.split("/")[1])["states"].append(sent["state"])
    return sent

def glab_status(path):
    place = path.split("/")
    if "--method" not in arguments:
        (name,) = parse_qs(urlsplit(path).query)["name"]
        found = [one for one in list_last(place[4]) if one["context"] == name]
        return [{{**one, "id": statuses.index(one), "name": name, "status": one["state"]}} for one in found]
    sent = read_fields()
    assert sent["state"] in ("pending", "running", "success", "failed", "canceled")
    if any(one["context"] == sent["name"] and one["state"] == sent["state"] == "pending" for one in list_last(place[3])):
        sys.exit("Cannot transition status via :enqueue from :pending")
    return keep_status(place[3], sent["name"], sent["state"], sent.get("description", ""), sent.get("target_url"), 255)

def glab_deployment(path):
    if "--method" not in arguments:
        (wanted,) = parse_qs(urlsplit(path).query)["environment"]
        found = [one for one in reversed(deployments) if one["environment"] == wanted][:1]
        return [{{**one, "sha": one["commit"], "deployable": None, "status": one["states"][-1]}} for one in found]
    sent = read_fields()
    assert sent["status"] in ("running", "success", "failed", "canceled")
    if after("--method") == "POST":
        one = keep_deployment(sent["sha"], sent["environment"], ref=sent["ref"], tag=sent["tag"])
    else:
        one = find_deployment(path.rpartition("/")[2])
    one["states"].append(sent["status"])
    return one

def az_status():
    (commit,) = (one.partition("=")[2] for one in arguments if one.startswith("commitId="))
    if after("--http-method") == "GET":
        assert "latestOnly=true" in arguments
        split = [(one, *one["context"].rpartition("/")) for one in list_last(commit)]
        return {{"value": [{{**one, "context": {{"genre": genre or None, "name": name}}}} for one, genre, _, name in split]}}
    sent = json.loads(stdin)
    assert sent["state"] in ("pending", "succeeded", "failed", "error")
    context = "/".join(filter(None, (sent["context"]["genre"], sent["context"]["name"])))
    return keep_status(commit, context, sent["state"], sent.get("description", ""), sent.get("targetUrl"), 255)

def gh():
    for one in arguments:
        path = one.removeprefix("repos/acme/estate/")
        if path.startswith(("commits/", "statuses/")):
            return gh_commit(path)
        if path.startswith("deployments"):
            return gh_deployment(path)
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
        if re.match("projects/5/(statuses|repository/commits)/", one):
            return glab_status(one)
        if one.startswith("projects/5/deployments"):
            return glab_deployment(one)
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
    if after("--resource") == "statuses":
        return az_status()
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
(home / "statuses.json").write_text(json.dumps(statuses))
(home / "deployments.json").write_text(json.dumps(deployments))
print(json.dumps(answer))
"""


TOKEN = "t0ken-of-the-job-which-is-long"
GITHUB = {
    "GITHUB_ACTIONS": "true",
    "GITHUB_SERVER_URL": "https://github.com",
    "GITHUB_REPOSITORY": "acme/estate",
    "GITHUB_REF": "refs/pull/12/merge",
    "GITHUB_RUN_ID": "987",
    "GITHUB_SHA": "c0ffee" * 6 + "beef",
    "GH_TOKEN": TOKEN,
}
GITLAB = {
    "GITLAB_CI": "true",
    "CI_SERVER_HOST": "gitlab.example.com",
    "CI_PROJECT_ID": "5",
    "CI_MERGE_REQUEST_IID": "12",
    "CI_COMMIT_SHA": "c0ffee" * 6 + "beef",
    "CI_COMMIT_REF_NAME": "main",
    "CI_PIPELINE_ID": "654",
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
    "BUILD_SOURCEVERSION": "c0ffee" * 6 + "beef",
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

    @property
    def statuses(self) -> list[dict[str, Any]]:
        """All statuses, the oldest first: commit, context, state, description and url."""
        return json.loads((self.home / "statuses.json").read_text())

    @property
    def deployments(self) -> list[dict[str, Any]]:
        """All deployments, the oldest first: commit, environment, and the states that each had."""
        return json.loads((self.home / "deployments.json").read_text())

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
    for name in ("statuses", "deployments"):
        (home / f"{name}.json").write_text("[]")
    return host
