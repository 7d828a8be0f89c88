"""A sealed record of one repository, copied to the status branch of another with the same key and agent name."""

from __future__ import annotations

import subprocess

import pytest
import yaml

from tests.support.command_line import SUBSCRIPTION, run_here
from tests.support.former_seals import make_former_seal
from tests.support.git_repositories import init_bare

KEY = "0123456789abcdef0123456789abcdef"
SHARED = "default/resources.azure.com/ResourceGroup/shared.yaml"


def git(folder, *arguments):
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)


def group(name):
    return (
        f"apiVersion: resources.azure.com/v1api20200601\nkind: ResourceGroup\nmetadata: {{name: {name}}}\n"
        "spec: {location: westeurope}\n"
    )


class Estate:
    """One repository with its remote. All of them share an Azure and a key."""

    def __init__(self, folder, name):
        self.azure, self.remote, self.folder = folder / "azure.db", folder / f"{name}.git", folder / name
        self.status_folder = folder / f"{name}-status"
        init_bare(self.remote)
        git(folder, "clone", "-q", str(self.remote), str(self.folder))

    def commit(self, **groups):
        for file in self.folder.glob("*.yaml"):
            file.unlink()
        for name in groups:
            (self.folder / f"{name}.yaml").write_text(group(name))
        push(self.folder)

    def run(self, command, *arguments):
        more = {"GITSYNC_DIGEST_KEY": KEY, "AZURE_SUBSCRIPTION_ID": SUBSCRIPTION}
        where = ("--emulator", str(self.azure)) if command in {"plan", "sync"} else ()
        return run_here(command, *arguments, *where, folder=self.folder, **more)

    def open_status(self):
        """A clone of the status branch, as anybody who can push has it."""
        git(self.folder, "clone", "-q", "-b", "gitsync/status", str(self.remote), str(self.status_folder))
        return self.status_folder


def push(folder):
    git(folder, "add", "-A")
    git(folder, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "Change")
    git(folder, "push", "-q", "origin", "HEAD")


@pytest.fixture
def estates(tmp_path):
    """Two repositories after a sync: one declares a group that the other does not know."""
    victim, other = Estate(tmp_path, "victim"), Estate(tmp_path, "other")
    victim.commit(shared=True)
    other.commit(own=True)
    assert (victim.run("sync").code, other.run("sync").code) == (0, 0)
    return victim, other


def copy_record(victim, other, *, former=False):
    """Push the record of the victim's group to the other branch, with its entry in the index."""
    source, target = victim.open_status(), other.open_status()
    record = yaml.safe_load((source / SHARED).read_text())
    if former:
        record["gitsync"]["seal"] = make_former_seal(KEY, record)
    (target / SHARED).write_text(yaml.safe_dump(record, allow_unicode=True))
    index, theirs = (yaml.safe_load((folder / "inventory.yaml").read_text()) for folder in (target, source))
    index["resources"] += theirs["resources"]
    (target / "inventory.yaml").write_text(yaml.safe_dump(index))
    push(target)


@pytest.mark.parametrize(
    ("former", "says"),
    [
        (False, "was signed for another repository or status branch"),
        (True, "did not say for which repository"),
    ],
)
def test_a_copied_record_deletes_nothing(estates, former, says):
    victim, other = estates
    copy_record(victim, other, former=former)
    planned, synced = other.run("plan", "--prune"), other.run("sync", "--prune", "--max-deletes", "9")
    for ended in (planned, synced):
        assert ended.code == 1, ended.out
        assert "RecordNotTrusted" in ended.out
        assert says in " ".join(ended.out.split())
    assert "nothing changed" in synced.out.splitlines()[0]
    found = victim.run("plan", "--detailed-exitcode")
    assert (found.code, "1 resource, 1 in-sync" in found.out) == (0, True), found.out


def test_a_copied_record_is_signed_by_name_only(estates):
    victim, other = estates
    copy_record(victim, other)
    assert "other-repository" in other.run("status").out
    assert "must be named" in other.run("status", "--sign").out
    assert "Signed 1 record." in other.run("status", "--sign", "ResourceGroup/shared").out


def test_a_repository_that_was_renamed_is_signed_as_a_whole(estates):
    victim, _ = estates
    victim.remote.rename(victim.remote.with_name("renamed.git"))
    git(victim.folder, "remote", "set-url", "origin", str(victim.remote.with_name("renamed.git")))
    found = victim.run("sync")
    assert (found.code, "If this repository or its branch was renamed" in " ".join(found.out.split())) == (1, True)
    assert "Signed 1 record." in victim.run("status", "--sign").out
    assert victim.run("sync").code == 0
