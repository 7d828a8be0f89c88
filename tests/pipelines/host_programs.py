"""gh, glab and az as this machine does not have them: programs on the path that keep comments in a file.

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
import json, os, sys
from pathlib import Path

home = Path({home!r})
comments = json.loads((home / "comments.json").read_text())
arguments, name = sys.argv[1:], {name!r}
read_stdin = "-" in arguments or "--field=body=@-" in arguments
stdin = sys.stdin.read() if read_stdin else ""
if "--in-file" in arguments:
    place = arguments.index("--in-file") + 1
    stdin, arguments[place] = Path(arguments[place]).read_text(), "FILE"
with (home / "calls.jsonl").open("a") as file:
    print(json.dumps([name, arguments, stdin, dict(os.environ)]), file=file)
refusal = home / "refusal"
if refusal.exists():
    sys.exit(refusal.read_text())

def after(flag):
    return arguments[arguments.index(flag) + 1]

def gh():
    if arguments[:2] == ["pr", "view"]:
        return {{"comments": comments}}
    if arguments[:2] == ["pr", "comment"]:
        comments.append({{"id": f"IC_{{len(comments)}}", "viewerDidAuthor": True, "body": stdin}})
        return {{}}
    (identity,) = (one.partition("id=")[2] for one in arguments if one.startswith("--raw-field=id="))
    next(one for one in comments if one["id"] == identity)["body"] = stdin
    return {{}}

def glab():
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
print(json.dumps(answer))
"""


@dataclass(frozen=True)
class Call:
    program: str
    arguments: list[str]
    stdin: str
    environment: dict[str, str]


@dataclass(frozen=True)
class Host:
    """What one of the programs speaks to: comments in the form of its host."""

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
    return host
