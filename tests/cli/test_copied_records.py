"""A sealed record of one repository, copied to the status branch of another with the same key and agent name."""

from __future__ import annotations

import json
import shutil

import pytest

from gitsync.desired.formats.repository_name import normalize_repository
from gitsync.repository.git.state.seal import name_source
from tests.support.branch_files import check_out, commit_folder
from tests.support.command_line import SUBSCRIPTION, run_here
from tests.support.former_seals import make_former_seal
from tests.support.git_repositories import add_remote, commit_all, init_bare, init_repository, push_main

KEY = "0123456789abcdef0123456789abcdef"
STATUS = "gitsync/status"
RECORDS = "default/resources.azure.com/ResourceGroup"


def group(name):
    return (
        f"apiVersion: resources.azure.com/v1api20200601\nkind: ResourceGroup\nmetadata: {{name: {name}}}\n"
        "spec: {location: westeurope}\n"
    )


class Estate:
    """One repository with its remote. All of them share an Azure and a key."""

    def __init__(self, folder, name, *, has_remote=True, is_new=True):
        self.azure, self.remote, self.folder = folder / "azure.db", folder / f"{name}.git", folder / name
        self.status_folder = folder / f"{name}-status"
        if not is_new:
            return
        self.folder.mkdir()
        init_repository(self.folder)
        if has_remote:
            init_bare(self.remote)
            add_remote(self.folder, self.remote)

    def commit(self, **groups):
        for file in self.folder.glob("*.yaml"):
            file.unlink()
        for name in groups:
            (self.folder / f"{name}.yaml").write_text(group(name))
        commit_all(self.folder)
        if self.remote.exists():
            push_main(self.folder, self.remote)

    def run(self, command, *arguments):
        more = {"GITSYNC_DIGEST_KEY": KEY, "AZURE_SUBSCRIPTION_ID": SUBSCRIPTION}
        where = ("--emulator", str(self.azure)) if command in {"plan", "sync"} else ()
        return run_here(command, *arguments, *where, folder=self.folder, **more)

    def open_status(self):
        """The files of the status branch, as anybody who can push has them."""
        check_out(self.remote, STATUS, self.status_folder)
        return self.status_folder

    def push_status(self):
        commit_folder(self.remote, STATUS, self.status_folder)


def move_records(source, target, former_location):
    """Put the records of the victim's groups into the other status, with their entries in the index: one as it is, and
    one as it was signed before statuses had what seals name now.
    """
    records = {name: json.loads((source / RECORDS / f"{name}.json").read_text()) for name in ("former", "shared")}
    records["former"]["gitsync"]["seal"] = make_former_seal(KEY, records["former"], former_location)
    for name, record in records.items():
        (target / RECORDS / f"{name}.json").write_text(json.dumps(record) + "\n")
    index, theirs = (json.loads((folder / "inventory.json").read_text()) for folder in (target, source))
    index["resources"] += theirs["resources"]
    (target / "inventory.json").write_text(json.dumps(index) + "\n")


def list_untrusted(ended):
    """What is reported of each record that is not trusted, by the name of its resource."""
    messages = [one["message"] for one in json.loads(ended.out)["problems"] if one["code"] == "RecordNotTrusted"]
    return {subject.rpartition("/")[2]: text for subject, _, text in (message.partition(": ") for message in messages)}


PRUNE = ("--prune", "--max-deletes", "9", "--output", "json")


def test_copied_records_delete_nothing_and_are_signed_by_name_only(tmp_path):
    victim, other = Estate(tmp_path, "victim"), Estate(tmp_path, "other")
    victim.commit(shared=True, former=True)
    other.commit(own=True)
    assert (victim.run("sync").code, other.run("sync").code) == (0, 0)
    target = other.open_status()
    move_records(victim.open_status(), target, "")
    other.push_status()
    for command in ("plan", "sync"):
        ended = other.run(command, *PRUNE)
        untrusted = list_untrusted(ended)
        assert (ended.code, sorted(untrusted)) == (1, ["former", "shared"])
        assert "was signed for another repository or status branch" in untrusted["shared"]
        assert "without the name of the repository" in untrusted["former"]
    assert "nothing changed" in json.loads(ended.out)["headline"]
    found = victim.run("plan", "--detailed-exitcode")
    assert (found.code, "2 resources, 2 in-sync" in found.out) == (0, True), found.out

    assert "other-repository" in other.run("status").out
    assert "Signed 1 record." in other.run("status", "--sign", "ResourceGroup/former").out
    assert "must be named" in other.run("status", "--sign").out
    assert "Signed 1 record." in other.run("status", "--sign", "ResourceGroup/shared").out


def test_a_repository_that_was_renamed_is_signed_as_a_whole(tmp_path):
    estate = Estate(tmp_path, "estate")
    estate.commit(shared=True)
    assert estate.run("sync").code == 0
    estate.remote.rename(tmp_path / "renamed.git")
    config = estate.folder / ".git" / "config"
    config.write_text(config.read_text().replace("estate.git", "renamed.git"))
    found = estate.run("sync")
    assert (found.code, "If this repository or its branch was renamed" in " ".join(found.out.split())) == (1, True)
    assert "Signed 1 record." in estate.run("status", "--sign").out
    assert estate.run("sync").code == 0


# ---- repositories without a remote, whose statuses have the same name ----


FOLDER, BRANCH = "#", "#gitsync/status"
"""Where a status is, as the seals of before named it: in a folder, or on a branch of its own."""


class Local(Estate):
    """A repository without a remote."""

    def __init__(self, folder, name, location, *, is_new=True):
        super().__init__(folder, name, has_remote=False, is_new=is_new)
        self.location = location

    def run(self, command, *arguments):
        flags = {FOLDER: ("--status-dir", str(self.status_folder)), BRANCH: ("--status-branch", "gitsync/status")}
        return super().run(command, *flags[self.location], *arguments)

    def open_status(self):
        if self.location == BRANCH:
            check_out(self.folder / ".git", STATUS, self.status_folder)
        return self.status_folder

    def push_status(self):
        if self.location == BRANCH:
            commit_folder(self.folder / ".git", STATUS, self.status_folder)


@pytest.fixture(scope="module", params=[FOLDER, BRANCH], ids=["folder", "branch"])
def two_locals(request, tmp_path_factory):
    """The location of their statuses, and the folder of two repositories after a sync, to copy: one declares groups
    that the other does not know.
    """
    folder = tmp_path_factory.mktemp("locals")
    for name, declared in (("victim", ("shared", "former")), ("other", ("own",))):
        estate = Local(folder, name, request.param)
        estate.commit(**dict.fromkeys(declared, True))
        assert estate.run("sync").code == 0
    return request.param, folder


def sign_as_before(status, location):
    """Sign the records of a status as a version did that knew no identity of statuses."""
    for file in status.rglob("default/**/*.json"):
        document = json.loads(file.read_text())
        document["gitsync"]["seal"] = make_former_seal(KEY, document, location)
        file.write_text(json.dumps(document) + "\n")
    (status / "identity").unlink()


def remove_identity(status):
    (status / "identity").unlink()


def change_identity(status):
    (status / "identity").write_text("0" * 32 + "\n")


@pytest.mark.parametrize("tamper", [None, remove_identity, change_identity])
def test_a_record_does_not_move_between_statuses_of_one_name(tmp_path, two_locals, tamper):
    location, folder = two_locals
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    victim, other = (Local(tmp_path, name, location, is_new=False) for name in ("victim", "other"))
    status = other.open_status()
    move_records(victim.open_status(), status, location)
    if tamper:
        tamper(status)
    other.push_status()
    for _ in range(2):
        ended = other.run("sync", *PRUNE)
        untrusted = list_untrusted(ended)
        assert (ended.code, {"former", "shared"} <= untrusted.keys()) == (1, True), ended.out
        assert "was signed for another status" in untrusted["shared"]
        assert "without the identity of the status" in untrusted["former"]
    found = victim.run("plan", "--detailed-exitcode")
    assert (found.code, "2 resources, 2 in-sync" in found.out) == (0, True), found.out


def test_a_moved_record_is_signed_by_name_only(tmp_path, two_locals):
    location, folder = two_locals
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    victim, other = (Local(tmp_path, name, location, is_new=False) for name in ("victim", "other"))
    move_records(victim.open_status(), other.open_status(), location)
    other.push_status()
    assert "other-status" in other.run("status").out
    assert "Signed 1 record." in other.run("status", "--sign", "ResourceGroup/former").out
    assert "must be named" in other.run("status", "--sign").out
    assert "Signed 1 record." in other.run("status", "--sign", "ResourceGroup/shared").out
    assert "All of these records are signed." in other.run("status", "--sign").out


def test_a_status_whose_identity_was_lost_is_restored_or_signed_as_a_whole(tmp_path):
    estate = Local(tmp_path, "estate", FOLDER)
    estate.commit(shared=True)
    assert estate.run("sync").code == 0
    identity = (estate.open_status() / "identity").read_text()
    remove_identity(estate.open_status())
    assert estate.run("sync").code == 1
    (estate.open_status() / "identity").write_text(identity)
    assert estate.run("sync").code == 0
    remove_identity(estate.open_status())
    assert "Signed 1 record." in estate.run("status", "--sign").out
    assert estate.run("sync", "--prune").code == 0
    (estate.open_status() / "identity").write_text("no identity\n")
    refused = estate.run("sync")
    assert (refused.code, "identity:1: The file is not the identity of a status" in refused.out + refused.err) == (
        2,
        True,
    )


# ---- statuses that an older version signed ----


def test_a_status_of_a_named_branch_goes_on_without_a_word(tmp_path):
    estate = Estate(tmp_path, "estate")
    estate.commit(kept=True, shared=True, gone=True)
    assert estate.run("sync").code == 0
    status = estate.open_status()
    sign_as_before(status, name_source(normalize_repository(str(estate.remote)), "gitsync/status"))
    estate.push_status()
    estate.commit(kept=True, shared=True)
    synced = estate.run("sync", "--prune", "--max-deletes", "9")
    assert (synced.code, "SealsRenewed" in synced.out, "Deleted 1" in synced.out) == (0, False, True), synced.out
    status = estate.open_status()
    seals = [json.loads(path.read_text())["gitsync"]["seal"] for path in status.rglob("default/**/*.json")]
    assert [seal.count(":") for seal in seals] == [4, 4], "all of them have the identity after one run"
    assert (status / "identity").exists()
    tip = (estate.remote / "refs/heads" / STATUS).read_text()
    assert estate.run("sync", "--prune").code == 0
    assert (estate.remote / "refs/heads" / STATUS).read_text() == tip


@pytest.mark.parametrize("location", [FOLDER, BRANCH], ids=["folder", "branch"])
def test_a_status_without_a_name_goes_on_with_what_manifests_declare(tmp_path, location):
    estate = Local(tmp_path, "estate", location)
    estate.commit(kept=True, gone=True)
    assert estate.run("sync").code == 0
    sign_as_before(estate.open_status(), location)
    estate.push_status()
    synced = estate.run("sync", "--prune")
    assert (synced.code, "SealsRenewed" in synced.out, "identity of the status" in synced.out) == (0, True, True)
    again = estate.run("sync", "--prune")
    assert (again.code, "SealsRenewed" in again.out) == (0, False)
    estate.commit(kept=True)
    assert "Deleted 1" in estate.run("sync", "--prune", "--max-deletes", "9").out


def test_what_no_manifest_declares_waits_for_a_person(tmp_path):
    estate = Local(tmp_path, "estate", FOLDER)
    estate.commit(kept=True, gone=True)
    assert estate.run("sync").code == 0
    sign_as_before(estate.open_status(), FOLDER)
    estate.commit(kept=True)
    refused = estate.run("sync", "--prune", "--max-deletes", "9")
    assert (refused.code, "without the identity of the status" in " ".join(refused.out.split())) == (1, True), (
        refused.out
    )
    assert "Signed 1 record." in estate.run("status", "--sign").out
    assert "Deleted 1" in estate.run("sync", "--prune", "--max-deletes", "9").out
