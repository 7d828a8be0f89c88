"""A repository of manifests on a server that wants a token, a clone of a person, and the programs of its host."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.pipelines.action_runner import Job
from tests.pipelines.host_programs import Host, make_host
from tests.support.branch_files import write_merge
from tests.support.command_line import SUBSCRIPTION
from tests.support.git_repositories import (
    add_remote,
    commit_all,
    init_bare,
    init_repository,
    push_commits,
    push_main,
)
from tests.support.git_server import basic, serve

TOKEN = "t0ken-of-the-job-which-is-long"
GROUP = """\
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {name: web}
spec: {location: westeurope}
"""


@dataclass
class Estate:
    """A bare repository on a server that wants the token, a clone of a person, and the host's programs."""

    folder: Path
    server: str
    host: Host

    @property
    def clone(self) -> Path:
        return self.folder / "clone"

    def git(self, *arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=self.clone, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    @property
    def bare(self) -> Path:
        return self.folder / "hosted" / "acme" / "estate"

    def commit(self, path: str, text: str, message: str) -> str:
        (self.clone / path).parent.mkdir(exist_ok=True)
        (self.clone / path).write_text(text)
        return commit_all(self.clone, message)

    def push(self) -> None:
        """Push the branch main, as the person does."""
        push_main(self.clone, self.bare)

    def open_pull_request(self, branch: str) -> str:
        """Push a branch, which has all of main, and the commit that merging it would make, as the host does; its id."""
        heads = self.clone / ".git" / "refs" / "heads"
        main, tip = ((heads / name).read_text().strip() for name in ("main", branch))
        merge = write_merge(self.clone / ".git", main, tip)
        push_commits(self.clone, self.bare, {f"refs/heads/{branch}": tip, "refs/pull/1/merge": merge})
        return merge

    def job(self, event: str, commit: str, **inputs: str) -> Job:
        is_pull_request = event == "pull_request"
        repository = {"full_name": "acme/estate"}
        folder = self.folder / f"job-{len(list(self.folder.iterdir()))}"
        folder.mkdir()
        return Job(
            folder=folder,
            github={
                "server_url": self.server,
                "repository": "acme/estate",
                "event_name": event,
                "event": {"pull_request": {"head": {"repo": repository}}} if is_pull_request else {},
                "ref": "refs/pull/1/merge" if is_pull_request else "refs/heads/main",
                "ref_name": "1/merge" if is_pull_request else "main",
                "ref_type": "branch",
                "sha": commit,
                "token": TOKEN,
                "run_id": 7,
                "run_attempt": 1,
            },
            env={
                "PATH": self.host.path,
                "HOME": str(self.folder),
                "AZURE_SUBSCRIPTION_ID": SUBSCRIPTION,
                "GITSYNC_EMULATOR": str(self.folder / "azure.db"),
                "GITSYNC_PATH": "azure",
            },
            inputs=inputs,
        )


@contextmanager
def host_estate(folder: Path, user: str) -> Iterator[Estate]:
    """Serve `acme/estate`, with a resource group in `azure`, to a user with the token."""
    reads = (basic(user, TOKEN),)
    with serve(folder / "hosted", readers=reads, writers=reads) as (url, _):
        estate = Estate(folder, url, make_host(folder / "bin", "gh", "glab", "az"))
        estate.clone.mkdir()
        init_repository(estate.clone)
        init_bare(estate.bare)
        with (estate.bare / "config").open("a") as config:
            config.write("[http]\n\treceivepack = true\n")
        add_remote(estate.clone, estate.bare)
        estate.commit("azure/group.yaml", GROUP, "Add the group")
        estate.push()
        yield estate
