"""`gitsync status` and `gitsync describe`, over a folder and over a branch that a store wrote."""

import json
import re
import subprocess
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from gitsync.cli.describe import add_advice
from gitsync.model.condition import Condition, ConditionStatus, Severity
from gitsync.model.export import Address, Leftover, ObjectKind, Owner
from gitsync.model.gvk import Key
from gitsync.model.record import Claim, Record
from gitsync.repository.git.source.checkout import open_checkout
from gitsync.repository.git.state.state_folder import StatusFolder
from gitsync.repository.git.state.store import Update
from gitsync.repository.git.state.store_choice import open_store
from tests.support.command_line import run_here
from tests.support.git_repositories import init_bare
from tests.support.parts import build, change

REVISION = "0123456789abcdef0123456789abcdef01234567"
HUB = Key("network.azure.com", "VirtualNetwork", "default", "hub")
CORE = Key("resources.azure.com", "ResourceGroup", "default", "core")
TWIN = Key("resources.azure.com", "ResourceGroup", "other", "core")


def record(key, condition):
    return build(
        Record,
        key=key,
        api_version=f"{key.group}/v1api20200601",
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
    init_bare(bare)
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.test", "-c", "init.defaultBranch=main"]
    for command in (
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
    ended = run_here("status", folder=folder)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.splitlines() == [
        "NAMESPACE   NAME                 READY   SEVERITY   REASON          MESSAGE",
        "default     VirtualNetwork/hub   False   Error      InvalidPrefix   No.",
        "default     ResourceGroup/core   True               Succeeded",
        "other       ResourceGroup/core   True               Succeeded",
        "",
        "1 failed; 2 of 3 resources Ready at 0123456789ab.",
    ]


LAST_RUN = {
    "command": "sync",
    "finished": "2026-01-02T03:04:05Z",
    "revision": REVISION,
    "exitCode": 1,
    "target": {"agent": "gitsync"},
    "outcomes": {"failed": 1, "blocked": 2, "changed": 0, "unchanged": 1},
    "resources": [
        {
            "apiVersion": f"{key.group}/v1",
            "kind": key.kind,
            "namespace": key.namespace,
            "name": key.name,
            "reason": reason,
        }
        for key, reason in ((HUB, "InvalidPrefix"), (CORE, "NotReached"))
    ],
}


def save_report(folder, text):
    with StatusFolder(folder / ".gitsync") as store:
        store.load()
        hub = change(record(HUB, FAILED), count=9)
        store.save(replace(UPDATE, records={HUB: hub}, report=lambda: text))


def test_status_shows_the_last_run_and_what_it_did_not_reach(folder):
    save_report(folder, json.dumps(LAST_RUN))
    lines = run_here("status", folder=folder).out.splitlines()[-2:]
    assert re.sub(r"\d+\w+ ago", "… ago", lines[0]) == (
        "Last run on record: sync of 0123456789ab, … ago (2026-01-02T03:04:05Z): "
        "1 failed, 2 blocked, 1 not reached; exit code 1."
    )
    assert lines[1] == "Not reached: ResourceGroup/core."
    assert json.loads(run_here("status", "--output", "json", folder=folder).out)["gitsync"]["lastRun"] == {
        "command": "sync",
        "agent": "gitsync",
        "finished": "2026-01-02T03:04:05Z",
        "revision": REVISION,
        "exitCode": 1,
        "outcomes": {"failed": 1, "blocked": 2, "changed": 0, "unchanged": 1},
        "notReached": ["ResourceGroup.resources.azure.com/default/core"],
    }


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "it is cut off"),
        ("[]", "it is no report"),
        ("{}", "it is of no version that we know"),
        (json.dumps(LAST_RUN | {"exitCode": "many"}), "a member is of another type"),
        (json.dumps(LAST_RUN | {"resources": [None]}), "a resource is none"),
        ("[" * 100_000, "it is nested too deep"),
    ],
)
def test_a_report_that_cannot_be_read_is_left_out(folder, text, why):
    save_report(folder, text)
    ended = run_here("status", folder=folder)
    assert (ended.code, "Last run" in ended.out, "VirtualNetwork/hub" in ended.out) == (0, False, True), why


def test_what_failed_is_first_then_what_waits(folder):
    waits = Condition(status=ConditionStatus.UNKNOWN, reason="NotReached", message="Later.", time=READY.time)
    stopped = replace(FAILED, severity=Severity.WARNING, reason="Interrupted")
    keys = [Key(CORE.group, CORE.kind, "default", name) for name in ("a", "b", "z")]
    conditions = (waits, stopped, replace(FAILED, severity=Severity.WARNING))
    with StatusFolder(folder / ".gitsync") as store:
        store.load()
        store.save(
            replace(
                UPDATE, records={key: record(key, condition) for key, condition in zip(keys, conditions, strict=True)}
            )
        )
    lines = run_here("status", folder=folder).out.splitlines()
    assert [line.split()[1].partition("/")[2] for line in lines[1:7]] == ["hub", "z", "a", "b", "core", "core"]
    assert lines[-1] == "2 failed; 2 waiting; 2 of 6 resources Ready at 0123456789ab."


def test_status_is_read_from_the_branch_of_a_repository(remote, tmp_path):
    ended = run_here("status", remote, "--only", "VirtualNetwork/*", folder=tmp_path)
    assert (ended.code, ended.err) == (0, "")
    assert "VirtualNetwork/hub" in ended.out
    assert "ResourceGroup" not in ended.out


def test_status_as_json_is_a_list_of_objects_that_a_health_script_reads(folder):
    objects = json.loads(run_here("status", "--output", "json", folder=folder).out)
    assert (objects["apiVersion"], objects["kind"]) == ("v1", "List")
    ready = {
        (item["kind"], item["metadata"]["namespace"]): item["status"]["conditions"][0]["status"]
        for item in objects["items"]
    }
    expected = {("VirtualNetwork", "default"): "False", ("ResourceGroup", "default"): "True"}
    assert ready == expected | {("ResourceGroup", "other"): "True"}


def test_status_as_yaml_reports_the_same_as_json(folder):
    as_json = json.loads(run_here("status", "--output", "json", folder=folder).out)
    assert yaml.safe_load(run_here("status", "--output", "yaml", folder=folder).out) == as_json


def test_namespaces_can_be_chosen(folder):
    assert run_here("status", "--target-namespaces", "other", folder=folder).out.count("ResourceGroup/core") == 1


def test_a_namespace_that_nothing_is_recorded_of_is_refused(folder):
    for command in (["status"], ["describe", "core"]):
        ended = run_here(*command, "-n", "othr", folder=folder)
        assert (ended.code, "Namespace othr has no resources. Did you mean other?" in ended.err) == (2, True)


def test_nothing_recorded_is_not_a_mistake(tmp_path):
    ended = run_here("status", folder=tmp_path)
    assert (ended.code, ended.out) == (0, "No records yet. Run `gitsync sync` first.\n")


def test_a_name_that_nothing_has_is_refused(folder):
    ended = run_here("status", "--only", "VirtualNetwork/hbu", folder=folder)
    assert ended.code == 2
    assert "No resource is called VirtualNetwork/hbu. Did you mean VirtualNetwork/hub?" in ended.err


def test_a_folder_that_is_not_a_status_is_refused(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.txt").write_text("")
    ended = run_here("status", "--status-dir", "docs", folder=tmp_path)
    assert ended.code == 2
    assert "not a gitsync status" in ended.err


def test_describe_shows_all_of_one(folder):
    ended = run_here("describe", "virtualnetwork/hub", folder=folder)
    assert (ended.code, ended.err) == (0, "")
    for line in (
        "Claim:              created",
        "  Reason:                InvalidPrefix",
        '    "location": "westeurope"',
    ):
        assert line in ended.out.splitlines()


def test_describe_as_json_is_the_object(folder):
    described = json.loads(run_here("describe", "VirtualNetwork/hub", "--output", "json", folder=folder).out)
    assert (described["kind"], described["metadata"]["name"]) == ("VirtualNetwork", "hub")
    assert described["gitsync"]["claim"] == "created"


def test_describe_as_json_has_all_advice():
    locked = Condition(status=ConditionStatus.FALSE, severity=Severity.ERROR, reason="ScopeLocked", advice="Ask Ada.")
    document = add_advice({"gitsync": {"advice": "Ask Ada.", "writes": 1}}, record(HUB, locked))
    assert document["gitsync"]["advice"].startswith("Ask Ada. A lock on the resource")
    ready = {"gitsync": {"writes": 1}}
    assert add_advice(ready, record(HUB, Condition(status=ConditionStatus.TRUE, reason="Succeeded"))) == ready


def test_describe_of_an_ambiguous_name_lists_what_is_meant(folder):
    ended = run_here("describe", "ResourceGroup/core", str(folder), folder=Path("/"))
    assert (ended.code, ended.out) == (2, "")
    assert str(CORE) in ended.err
    assert str(TWIN) in ended.err


SHOWN = [
    (["VirtualNetwork"], {"VirtualNetwork/hub"}, "a kind"),
    (["resourcegroups"], {"ResourceGroup/core"}, "a plural kind without case"),
    (["virt"], {"VirtualNetwork/hub"}, "the beginning of a kind"),
    (["VirtualNetwork/hub"], {"VirtualNetwork/hub"}, "a resource"),
    (["hub"], {"VirtualNetwork/hub"}, "a name alone"),
    (["virt/h"], {"VirtualNetwork/hub"}, "abbreviated"),
    (["ResourceGroup", "hub"], {"VirtualNetwork/hub", "ResourceGroup/core"}, "several"),
    (["resource/core", "-n", "other"], {"ResourceGroup/core"}, "in a namespace"),
    (["-q"], {"VirtualNetwork/hub"}, "what is not Ready"),
    (["ResourceGroup", "-q"], set(), "nothing, if all is Ready"),
]


@pytest.mark.parametrize(("arguments", "expected", "why"), SHOWN, ids=[row[-1] for row in SHOWN])
def test_status_shows_what_is_named(folder, arguments, expected, why):
    ended = run_here("status", *arguments, folder=folder)
    assert (ended.code, ended.err) == (0, ""), why
    assert {word for word in ended.out.split() if "/" in word} == expected, why


REFUSED = [
    (["VirtualNetwrok"], "No resource is called VirtualNetwrok. Did you mean VirtualNetwork/hub?", "a slip"),
    (["hbu"], "No resource is called hbu. Did you mean hub?", "a slip in a name"),
    (["core"], "core matches several resources. Use one of: ResourceGroup.resources.azure.com/default/core, ", "two"),
    (["Redis"], "No resource is called Redis.", "nothing of that kind"),
    ([".", "."], "Unexpected argument '.'.", "SOURCE is one"),
    (["--only", "resource/core"], "resource/core matches several resources.", "--only may be short, and must be clear"),
]


@pytest.mark.parametrize(("arguments", "message", "why"), REFUSED, ids=[row[-1] for row in REFUSED])
def test_an_ambiguous_name_is_refused(folder, arguments, message, why):
    ended = run_here("status", *arguments, folder=folder)
    assert (ended.code, ended.out) == (2, ""), why
    assert message in " ".join(ended.err.split()), why


def test_a_folder_among_the_names_is_the_source(folder):
    inside = run_here("status", "VirtualNetwork", folder=folder).out
    assert inside == run_here("status", str(folder), "VirtualNetwork", folder=Path("/")).out
    assert inside == run_here("status", "VirtualNetwork", folder.name, folder=folder.parent).out


def test_a_wide_status_has_ages_and_ids(folder):
    header, row, *_ = run_here("status", "VirtualNetwork", "-o", "wide", folder=folder).out.splitlines()
    assert header.split() == ["NAME", "READY", "SEVERITY", "REASON", "AGE", "AZURE", "ID", "MESSAGE"]
    cells = row.split()
    assert cells[:4] == ["VirtualNetwork/hub", "False", "Error", "InvalidPrefix"]
    assert re.fullmatch(r"(\d+[smhdy])+", cells[4])
    assert cells[5:] == [RECORDS[HUB].arm_id, "No."]


def test_describe_takes_a_short_name(folder):
    assert "Claim:              created" in run_here("describe", "hub", folder=folder).out
    assert "Namespace:          other" in run_here("describe", "core", "-n", "other", folder=folder).out


KEY = "0123456789abcdef0123456789abcdef"


def signed(*arguments, folder, key=KEY):
    return run_here("status", *arguments, folder=folder, GITSYNC_DIGEST_KEY=key)


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
    [file] = (folder / ".gitsync").rglob("hub.json")
    file.write_text(file.read_text().replace('"writes": 0', '"writes": 1'))
    assert "VirtualNetwork/hub   created   manage   altered" in signed(folder=folder).out
    assert (
        signed("--sign", folder=folder).out
        == "All of these records are signed, or must be named: see `gitsync status`.\n"
    )
    assert "Signed 1 record." in signed("--sign", "--only", "VirtualNetwork/hub", folder=folder).out
    assert "not trusted" not in signed(folder=folder).out


def test_signing_needs_a_key(folder):
    ended = run_here("status", "--sign", folder=folder)
    assert ended.code == 2
    assert "GITSYNC_DIGEST_KEY" in ended.err


def test_status_shows_exports_that_no_run_could_remove(folder):
    left = Leftover(Owner(HUB), Address(ObjectKind.SECRET, "default", "keys"), "kubernetes")
    with StatusFolder(folder / ".gitsync") as store:
        store.load()
        store.save(replace(UPDATE, leftovers={left: True}))
    shown = run_here("status", ".", folder=folder).out
    assert f"1 export not removed:\n  Secret default/keys of {HUB}, in the sink kubernetes\n" in shown
    listed = json.loads(run_here("status", ".", "--output", "json", folder=folder).out)
    assert listed["gitsync"] == {
        "leftovers": [{"object": "Secret/default/keys", "owner": str(HUB), "sink": "kubernetes"}]
    }
