"""`gitsync status` and `gitsync describe`, over a folder and over a branch that a store wrote."""

import json
import subprocess
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml
from command_line import gitsync

from gitsync.cli.describe import find_record_key
from gitsync.errors import ConfigError
from gitsync.git.source.checkout import open_checkout
from gitsync.git.state.folder import StatusFolder
from gitsync.git.state.store import Update
from gitsync.git.state.stores import open_store
from gitsync.model.condition import Condition, ConditionStatus, Severity
from gitsync.model.export import Address, Holder, Leftover, Owner
from gitsync.model.gvk import Key
from gitsync.model.record import Claim, Record, State

REVISION = "0123456789abcdef0123456789abcdef01234567"
HUB = Key("network.azure.com", "VirtualNetwork", "default", "hub")
CORE = Key("resources.azure.com", "ResourceGroup", "default", "core")
TWIN = Key("resources.azure.com", "ResourceGroup", "other", "core")


def record(key, condition):
    return Record(
        key=key,
        manifest_api_version=f"{key.group}/v1api20200601",
        arm_id=f"/subscriptions/0/resourceGroups/core/{key.name}",
        arm_api_version="2020-06-01",
        claim=Claim.CREATED,
        applied={"location": "westeurope"},
        condition=condition,
    )


READY = Condition(status=ConditionStatus.TRUE, reason="Succeeded", time="2026-01-02T03:04:05Z")
FAILED = Condition(
    status=ConditionStatus.FALSE,
    severity=Severity.ERROR,
    reason="InvalidPrefix",
    message="No.",
    time="2026-01-02T03:04:05Z",
)
RECORDS = {r.key: r for r in (record(HUB, FAILED), record(CORE, READY), record(TWIN, READY))}
UPDATE = Update(records=RECORDS, revision=REVISION, summary=None, report=None, headline="Status")


class Clock:
    def now(self):
        return datetime(2026, 1, 2, tzinfo=UTC)

    def monotonic(self):
        return 0.0

    async def sleep(self, seconds):
        raise AssertionError(seconds)


@pytest.fixture
def folder(tmp_path):
    """A SOURCE without a remote, with its state beside it."""
    with StatusFolder(tmp_path / ".gitsync") as store:
        store.load()
        store.save(UPDATE)
    return tmp_path


@pytest.fixture
def remote(tmp_path):
    """A repository with manifests on one branch and status on another."""
    bare, work = tmp_path / "bare.git", tmp_path / "work"
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.test", "-c", "init.defaultBranch=main"]
    for command in (
        ["init", "--quiet", "--bare", str(bare)],
        ["clone", "--quiet", str(bare), str(work)],
        ["-C", str(work), "commit", "--quiet", "--allow-empty", "-m", "Begin"],
        ["-C", str(work), "push", "--quiet", "origin", "HEAD:main"],
    ):
        subprocess.run([*git, *command], check=True, capture_output=True, timeout=60)
    with open_checkout(str(work)) as source, open_store(source, clock=Clock()) as store:
        store.load()
        store.save(UPDATE)
    return bare.as_uri()


def test_status_is_a_line_for_each_resource(folder):
    ended = gitsync("status", folder=folder)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.splitlines() == [
        "NAMESPACE   NAME                 READY   SEVERITY   REASON          MESSAGE",
        "default     VirtualNetwork/hub   False   Error      InvalidPrefix   No.",
        "default     ResourceGroup/core   True               Succeeded",
        "other       ResourceGroup/core   True               Succeeded",
        "",
        "2 of 3 resources Ready at 0123456789ab.",
    ]


def test_status_is_read_from_the_branch_of_a_repository(remote, tmp_path):
    ended = gitsync("status", remote, "--only", "VirtualNetwork/*", folder=tmp_path)
    assert (ended.code, ended.err) == (0, "")
    assert "VirtualNetwork/hub" in ended.out
    assert "ResourceGroup" not in ended.out


def test_status_as_json_is_a_list_of_objects_that_a_health_script_reads(folder):
    objects = json.loads(gitsync("status", "--output", "json", folder=folder).out)
    assert (objects["apiVersion"], objects["kind"]) == ("v1", "List")
    ready = {
        (item["kind"], item["metadata"]["namespace"]): item["status"]["conditions"][0]["status"]
        for item in objects["items"]
    }
    expected = {("VirtualNetwork", "default"): "False", ("ResourceGroup", "default"): "True"}
    assert ready == expected | {("ResourceGroup", "other"): "True"}


def test_status_as_yaml_says_the_same_as_json(folder):
    as_json = json.loads(gitsync("status", "--output", "json", folder=folder).out)
    assert yaml.safe_load(gitsync("status", "--output", "yaml", folder=folder).out) == as_json


def test_namespaces_can_be_chosen(folder):
    assert gitsync("status", "--target-namespaces", "other", folder=folder).out.count("ResourceGroup/core") == 1


def test_nothing_recorded_is_no_mistake(tmp_path):
    ended = gitsync("status", folder=tmp_path)
    assert (ended.code, ended.out) == (0, "No records yet. Run `gitsync sync` first.\n")


def test_a_name_that_nothing_has_is_refused(folder):
    ended = gitsync("status", "--only", "VirtualNetwork/hbu", folder=folder)
    assert ended.code == 2
    assert "No record of VirtualNetwork/hbu." in ended.err


def test_a_folder_that_is_no_status_is_refused(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.txt").write_text("")
    ended = gitsync("status", "--status-dir", "docs", folder=tmp_path)
    assert ended.code == 2
    assert "not a status of gitsync" in ended.err


def test_describe_shows_all_of_one(folder):
    ended = gitsync("describe", "virtualnetwork/hub", folder=folder)
    assert (ended.code, ended.err) == (0, "")
    for line in (
        "Claim:              created",
        "  Reason:                InvalidPrefix",
        '    "location": "westeurope"',
    ):
        assert line in ended.out.splitlines()


def test_describe_as_json_is_the_object(folder):
    described = json.loads(gitsync("describe", "VirtualNetwork/hub", "--output", "json", folder=folder).out)
    assert (described["kind"], described["metadata"]["name"]) == ("VirtualNetwork", "hub")
    assert described["gitsync"]["claim"] == "created"


def test_describe_of_an_ambiguous_name_lists_what_is_meant(folder):
    ended = gitsync("describe", "ResourceGroup/core", str(folder), folder=Path("/"))
    assert (ended.code, ended.out) == (2, "")
    assert str(CORE) in ended.err
    assert str(TWIN) in ended.err


NAMES = [
    ("VirtualNetwork/hub", HUB, "short"),
    ("virtualnetwork/hub", HUB, "kinds compare without case"),
    ("VirtualNetwork.network.azure.com/hub", HUB, "with the group"),
    ("ResourceGroup/other/core", TWIN, "with the namespace"),
    (str(CORE), CORE, "in full"),
]


@pytest.mark.parametrize(("name", "key", "why"), NAMES, ids=[n[-1] for n in NAMES])
def test_what_a_name_means(name, key, why):
    assert find_record_key(name, State(RECORDS)) == key, why


WRONG = [
    ("VirtualNetwork/hbu", "Did you mean VirtualNetwork/hub?", "a slip"),
    ("hub", "No record of hub.", "a name without a kind"),
    ("VirtualNetwork/HUB", "Did you mean VirtualNetwork/hub?", "names have their case"),
    ("ResourceGroup/core", "matches several resources", "two namespaces"),
]


@pytest.mark.parametrize(("name", "message", "why"), WRONG, ids=[w[-1] for w in WRONG])
def test_what_means_nothing_or_too_much_is_told(name, message, why):
    with pytest.raises(ConfigError) as caught:
        find_record_key(name, State(RECORDS))
    assert message in str(caught.value), why


KEY = "0123456789abcdef0123456789abcdef"


def signed(*arguments, folder, key=KEY):
    return gitsync("status", *arguments, folder=folder, GITSYNC_DIGEST_KEY=key)


def test_an_old_status_is_signed_once_after_it_is_shown(folder):
    assert "3 records not trusted:" in signed(folder=folder).out
    ended = signed("--sign", folder=folder)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.splitlines() == [
        "NAMESPACE   NAME                 CLAIM     POLICY   SEAL       ARM ID",
        "default     VirtualNetwork/hub   created   manage   unsigned   /subscriptions/0/resourceGroups/core/hub",
        "default     ResourceGroup/core   created   manage   unsigned   /subscriptions/0/resourceGroups/core/core",
        "other       ResourceGroup/core   created   manage   unsigned   /subscriptions/0/resourceGroups/core/core",
        "",
        "Signed 3 records.",
    ]
    assert "not trusted" not in signed(folder=folder).out
    assert signed("--sign", folder=folder).out == "All of these records are signed.\n"


def test_a_record_that_was_changed_after_it_was_signed_must_be_named(folder):
    signed("--sign", folder=folder)
    [file] = (folder / ".gitsync").rglob("hub.yaml")
    file.write_text(file.read_text().replace("writes: 0", "writes: 1"))
    assert "VirtualNetwork/hub   created   manage   altered" in signed(folder=folder).out
    assert (
        signed("--sign", folder=folder).out
        == "All of these records are signed, or were changed: see `gitsync status`.\n"
    )
    assert "Signed 1 record." in signed("--sign", "--only", "VirtualNetwork/hub", folder=folder).out
    assert "not trusted" not in signed(folder=folder).out


def test_signing_needs_a_key(folder):
    ended = gitsync("status", "--sign", folder=folder)
    assert ended.code == 2
    assert "GITSYNC_DIGEST_KEY" in ended.err


def test_status_shows_exports_that_no_run_could_remove(folder):
    left = Leftover(Owner(HUB), Address(Holder.SECRET, "default", "keys"), "kubernetes")
    with StatusFolder(folder / ".gitsync") as store:
        store.load()
        store.save(replace(UPDATE, leftovers={left: True}))
    shown = gitsync("status", ".", folder=folder).out
    assert f"1 export left over:\n  Secret default/keys of {HUB}, in the sink kubernetes\n" in shown
    listed = json.loads(gitsync("status", ".", "--output", "json", folder=folder).out)
    assert listed["gitsync"] == {
        "leftovers": [{"object": "Secret/default/keys", "owner": str(HUB), "sink": "kubernetes"}]
    }
