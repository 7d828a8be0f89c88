"""What gh, glab and az answer, from what their host keeps in files: comments, pull requests, statuses and deployments."""

import json
import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

KEPT = ("comments", "requests", "statuses", "deployments")


class Call:
    """One call of a program in the folder `cwd`, with its arguments, stdin and variables."""

    def __init__(self, home: Path, cwd: Path, name: str, arguments: list[str], stdin: str, variables: dict[str, str]):
        self.home, self.name, self.arguments, self.stdin, self.variables = home, name, arguments, stdin, variables
        self.printed = ""
        if "--in-file" in arguments:
            location = arguments.index("--in-file") + 1
            self.stdin, arguments[location] = (cwd / arguments[location]).read_text(), "FILE"
        if "--description" in arguments:
            location = arguments.index("--description") + 1
            assert arguments[location].startswith("@")
            self.stdin, arguments[location] = (cwd / arguments[location][1:]).read_text().removesuffix("\n"), "@FILE"

    def answer(self) -> str:
        """Record the call, and return what is printed. Raises SystemExit with the message of a refused call."""
        with (self.home / "calls.jsonl").open("a") as file:
            print(json.dumps([self.name, self.arguments, self.stdin, self.variables]), file=file)
        refusal = self.home / "refusal"
        if refusal.exists():
            raise SystemExit(refusal.read_text())
        files = {name: self.home / f"{name}.json" for name in KEPT}
        self.comments, self.requests, self.statuses, self.deployments = (
            json.loads(file.read_text()) for file in files.values()
        )
        answer = {"gh": self.gh, "glab": self.glab, "az": self.az}[self.name]()
        for name, file in files.items():
            file.write_text(json.dumps(getattr(self, name)))
        return f"{self.printed}{json.dumps(answer)}\n"

    def after(self, flag):
        return self.arguments[self.arguments.index(flag) + 1]

    def read_fields(self):
        pairs = [
            argument.partition("=")[2].partition("=")
            for argument in self.arguments
            if argument.startswith(("--raw-field=", "--field="))
        ]
        return {name: self.stdin if value == "@-" else value for name, _, value in pairs}

    def find(self, number):
        return next(request for request in self.requests if request["number"] == int(number))

    def make(self, title, body, branch, base):
        number = 100 + len(self.requests)
        self.requests.append(
            {"number": number, "state": "open", "title": title, "body": body, "branch": branch, "base": base}
        )
        return self.requests[-1]

    def change(self, number, body=None, state=None):
        one = self.find(number)
        assert one["state"] == "open", one
        one.update({key: value for key, value in (("body", body), ("state", state)) if value})
        return one

    def gh_request(self):
        path = next(argument for argument in self.arguments if argument.startswith("repos/acme/estate/pulls"))
        if "--method" not in self.arguments:
            owner, _, branch = parse_qs(urlsplit(path).query)["head"][0].partition(":")
            assert owner == "acme"
            return [on_github(request) for request in self.requests if request["branch"] == branch]
        sent = self.read_fields()
        limit(sent.get("body", ""), 65536)
        if self.after("--method") == "POST":
            return on_github(self.make(sent["title"], sent["body"], sent["head"], sent["base"]))
        return on_github(self.change(path.rpartition("/")[2], sent.get("body"), sent.get("state")))

    def glab_request(self, path):
        if "--method" not in self.arguments:
            (branch,) = parse_qs(urlsplit(path).query)["source_branch"]
            return [on_gitlab(request) for request in self.requests if request["branch"] == branch]
        sent = self.read_fields()
        if self.after("--method") == "POST":
            return on_gitlab(
                self.make(sent["title"], sent["description"], sent["source_branch"], sent["target_branch"])
            )
        state = {"close": "closed"}.get(sent.get("state_event"))
        return on_gitlab(self.change(path.rpartition("/")[2], sent.get("description"), state))

    def az_request(self):
        command, number = self.arguments[2], self.after("--id") if "--id" in self.arguments else ""
        text = self.stdin if "--description" in self.arguments else None
        limit(text or "", 4000)
        if command == "list":
            assert self.after("--status") == "all"
            found = [
                on_azure(request) for request in self.requests if request["branch"] == self.after("--source-branch")
            ]
            return [{**status, "description": status["description"][:400]} for status in found]
        if command == "show":
            return on_azure(self.find(number))
        if command == "create":
            return on_azure(
                self.make(self.after("--title"), text, self.after("--source-branch"), self.after("--target-branch"))
            )
        state = {"abandoned": "closed"}.get(self.after("--status")) if "--status" in self.arguments else None
        return on_azure(self.change(number, text, state))

    def keep_status(self, commit, context, state, description, url, most):
        limit(description, most)
        self.statuses.append(
            {"commit": commit, "context": context, "state": state, "description": description, "url": url}
        )
        return self.statuses[-1]

    def list_last(self, commit):
        return list({status["context"]: status for status in self.statuses if status["commit"] == commit}.values())

    def keep_deployment(self, commit, environment, **more):
        self.deployments.append(
            {"id": 500 + len(self.deployments), "commit": commit, "environment": environment, "states": [], **more}
        )
        return self.deployments[-1]

    def find_deployment(self, number):
        return next(deployment for deployment in self.deployments if deployment["id"] == int(number))

    def gh_commit(self, path):
        if path.startswith("commits/"):
            return {"statuses": self.list_last(path.split("/")[1])}
        sent = json.loads(self.stdin)
        assert sent["state"] in ("pending", "success", "failure", "error")
        commit = path.removeprefix("statuses/")
        return self.keep_status(
            commit, sent["context"], sent["state"], sent.get("description", ""), sent.get("target_url"), 140
        )

    def gh_deployment(self, path):
        if "/" not in path and "--method" not in self.arguments:
            query = {key: value[0] for key, value in parse_qs(urlsplit(path).query).items()}
            wanted = [query["sha"], query["environment"], query["task"]]
            return [
                deployment
                for deployment in reversed(self.deployments)
                if [deployment["commit"], deployment["environment"], deployment["task"]] == wanted
            ][:1]
        if "--method" not in self.arguments:
            return [{"state": state} for state in reversed(self.find_deployment(path.split("/")[1])["states"])][:1]
        sent = json.loads(self.stdin)
        if path == "deployments":
            assert (sent["auto_merge"], sent["required_contexts"]) == (False, [])
            return self.keep_deployment(sent["ref"], sent["environment"], task=sent["task"])
        assert sent["state"] in ("in_progress", "success", "failure")
        limit(sent.get("description", ""), 140)
        self.find_deployment(path.split("/")[1])["states"].append(sent["state"])
        return sent

    def glab_status(self, path):
        location = path.split("/")
        if "--method" not in self.arguments:
            (name,) = parse_qs(urlsplit(path).query)["name"]
            found = [status for status in self.list_last(location[4]) if status["context"] == name]
            return [
                {**status, "id": self.statuses.index(status), "name": name, "status": status["state"]}
                for status in found
            ]
        sent = self.read_fields()
        assert sent["state"] in ("pending", "running", "success", "failed", "canceled")
        if any(
            status["context"] == sent["name"] and status["state"] == sent["state"] == "pending"
            for status in self.list_last(location[3])
        ):
            raise SystemExit("Cannot transition status via :enqueue from :pending")
        return self.keep_status(
            location[3], sent["name"], sent["state"], sent.get("description", ""), sent.get("target_url"), 255
        )

    def glab_deployment(self, path):
        if "--method" not in self.arguments:
            (wanted,) = parse_qs(urlsplit(path).query)["environment"]
            found = [deployment for deployment in reversed(self.deployments) if deployment["environment"] == wanted][:1]
            return [
                {**deployment, "sha": deployment["commit"], "deployable": None, "status": deployment["states"][-1]}
                for deployment in found
            ]
        sent = self.read_fields()
        assert sent["status"] in ("running", "success", "failed", "canceled")
        if self.after("--method") == "POST":
            one = self.keep_deployment(sent["sha"], sent["environment"], ref=sent["ref"], tag=sent["tag"])
        else:
            one = self.find_deployment(path.rpartition("/")[2])
        one["states"].append(sent["status"])
        return one

    def az_status(self):
        (commit,) = (argument.partition("=")[2] for argument in self.arguments if argument.startswith("commitId="))
        if self.after("--http-method") == "GET":
            assert "latestOnly=true" in self.arguments
            split = [(status, *status["context"].rpartition("/")) for status in self.list_last(commit)]
            return {
                "value": [{**one, "context": {"genre": genre or None, "name": name}} for one, genre, _, name in split]
            }
        sent = json.loads(self.stdin)
        assert sent["state"] in ("pending", "succeeded", "failed", "error")
        context = "/".join(filter(None, (sent["context"]["genre"], sent["context"]["name"])))
        return self.keep_status(commit, context, sent["state"], sent.get("description", ""), sent.get("targetUrl"), 255)

    def gh(self):
        for argument in self.arguments:
            path = argument.removeprefix("repos/acme/estate/")
            if path.startswith(("commits/", "statuses/")):
                return self.gh_commit(path)
            if path.startswith("deployments"):
                return self.gh_deployment(path)
        if any(argument.startswith("repos/") for argument in self.arguments):
            return self.gh_request()
        if self.arguments[:2] == ["pr", "view"]:
            return {"comments": self.comments}
        if self.arguments[:2] == ["pr", "comment"]:
            self.comments.append({"id": f"IC_{len(self.comments)}", "viewerDidAuthor": True, "body": self.stdin})
            return {}
        (identity,) = (
            argument.partition("id=")[2] for argument in self.arguments if argument.startswith("--raw-field=id=")
        )
        next(comment for comment in self.comments if comment["id"] == identity)["body"] = self.stdin
        return {}

    def glab(self):
        for argument in self.arguments:
            if re.fullmatch("projects/5/merge_requests([/?][^/]*)?", argument):
                return self.glab_request(argument)
            if re.match("projects/5/(statuses|repository/commits)/", argument):
                return self.glab_status(argument)
            if argument.startswith("projects/5/deployments"):
                return self.glab_deployment(argument)
        if self.arguments[-1] == "user":
            return {"id": 7}
        if "--paginate" in self.arguments:
            half = len(self.comments) // 2  # two pages
            self.printed = json.dumps(self.comments[:half])
            return self.comments[half:]
        if self.after("--method") == "POST":
            self.comments.append(
                {"id": 90 + len(self.comments), "author": {"id": 7}, "system": False, "body": self.stdin}
            )
        else:
            identity = int(self.after("PUT").rpartition("/")[2])
            next(comment for comment in self.comments if comment["id"] == identity)["body"] = self.stdin
        return {}

    def az(self):
        if self.arguments[:2] == ["repos", "pr"]:
            return self.az_request()
        if self.after("--resource") == "statuses":
            return self.az_status()
        if self.after("--resource") == "connectionData":
            return {"authenticatedUser": {"id": "the-build"}}
        if self.after("--http-method") == "GET":
            return {"value": self.comments}
        sent = json.loads(self.stdin)
        if self.after("--http-method") == "POST":
            made = {"id": 1, "author": {"id": "the-build"}, **sent["comments"][0]}
            self.comments.append({"id": 40 + len(self.comments), "comments": [made], "status": sent["status"]})
            return self.comments[-1]
        thread = next(comment for comment in self.comments if f"threadId={comment['id']}" in self.arguments)
        thread["comments"][0].update(sent)
        return thread["comments"][0]


def limit(text, most):
    if len(text) > most:
        raise SystemExit("the text is too long")


def on_github(one):
    is_open, is_merged = one["state"] == "open", one["state"] == "merged"
    head = {"ref": one["branch"], "repo": {"full_name": one.get("repository", "acme/estate")}}
    url = f"https://github.com/acme/estate/pull/{one['number']}"
    times = {"merged_at": "2026-11-24T00:00:00Z" if is_merged else None}
    return {**one, **times, "state": "open" if is_open else "closed", "head": head, "html_url": url}


def on_gitlab(one):
    states = {"open": "opened", "closed": "closed", "merged": "merged"}
    url = f"https://gitlab.example.com/acme/estate/-/merge_requests/{one['number']}"
    ids = {"iid": one["number"], "source_project_id": one.get("repository", 5), "web_url": url}
    return {
        **ids,
        "title": one["title"],
        "description": one["body"],
        "source_branch": one["branch"],
        "state": states[one["state"]],
    }


def on_azure(one):
    states = {"open": "active", "closed": "abandoned", "merged": "completed"}
    more = {"forkSource": {"name": "fork"} if one.get("repository") else None}
    return {
        "pullRequestId": one["number"],
        "status": states[one["state"]],
        "title": one["title"],
        "description": one["body"],
        "sourceRefName": "refs/heads/" + one["branch"],
        **more,
    }
