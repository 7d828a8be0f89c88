"""Pull requests that change which identity writes resources: what the live plan reports, and what the sync then does."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from gitsync.emulator.settings import TENANT
from gitsync.errors import ExitCode
from gitsync.model.verdict import Verdict
from gitsync.report import json as json_report
from gitsync.report import markdown, text
from gitsync.report.document import read_report
from gitsync.report.html import page
from tests.agent.run.tenants import OTHER, Tenants, inside, secret
from tests.agent.run.test_credentials_from_elsewhere import Cluster
from tests.agent.run.test_rehearsal import rehearse
from tests.support.json_schemas import read_schema
from tests.support.world import GROUP, GROUP_ID, SUBSCRIPTION, VNET, World, annotated, of

TEAM = f"client team-client of tenant {TENANT}, from Secret default/aso-credential"
OWN = annotated(GROUP, credential_from="mine")
GLOBAL = f"client global-client of tenant {TENANT}, from the settings"


def identities(report) -> dict[str, str]:
    """The identity lines of a report by the name of the resource."""
    lines, found, name = text.render(report).splitlines(), {}, ""
    for line in lines:
        words = line.split()
        name = next((word for word in words if word.startswith(("ResourceGroup/", "VirtualNetwork/"))), name)
        if line.startswith("    ") and line.strip().startswith("identity: "):
            found[name] = line.strip().removeprefix("identity: ")
    return found


@pytest.fixture(scope="module")
def began(tmp_path_factory: pytest.TempPathFactory) -> Tenants:
    world = Tenants(tmp_path_factory.mktemp("began"), "team")
    world.says(group=GROUP).sync()
    return world


@pytest.fixture
def world(began: Tenants, tmp_path: Path) -> Tenants:
    """A world in which the group was synced with the credential of the settings."""
    return began.copy(tmp_path)


BOTH = ("ResourceGroup/core", "VirtualNetwork/hub")
CHANGES = {
    "a new Secret": (
        {"group": GROUP, "vnet": VNET},
        {"group": GROUP, "vnet": VNET, "own": secret("team")},
        dict.fromkeys(BOTH, f"{GLOBAL} → {TEAM} in own.yaml:1"),
    ),
    "a changed client id": (
        {"group": GROUP, "own": secret("team")},
        {"group": GROUP, "own": secret("other")},
        {BOTH[0]: f"{TEAM} → {TEAM.replace('team-', 'other-')} in own.yaml:1"},
    ),
    "a client id in capitals is the same": (
        {"group": GROUP, "own": secret("team")},
        {"group": GROUP, "own": secret("team", AZURE_CLIENT_ID="TEAM-client")},
        {},
    ),
    "a changed tenant": (
        {"group": GROUP, "own": secret("team")},
        {"group": GROUP, "own": secret("team", AZURE_TENANT_ID="elsewhere")},
        {BOTH[0]: f"{TEAM} → client team-client of tenant elsewhere, from Secret default/aso-credential in own.yaml:1"},
    ),
    "a Secret moved to another file": (
        {"group": GROUP, "own": secret("team")},
        {"group": GROUP, "moved": secret("team")},
        {},
    ),
    "a changed client secret is no other identity": (
        {"group": GROUP, "own": secret("team")},
        {"group": GROUP, "own": secret("team", AZURE_CLIENT_SECRET="rotated")},
        {},
    ),
    "credential-from on one resource": (
        {"group": GROUP, "vnet": VNET, "mine": secret("team", "mine")},
        {"group": GROUP, "vnet": annotated(VNET, credential_from="mine"), "mine": secret("team", "mine")},
        {BOTH[1]: f"{GLOBAL} → {TEAM.replace('aso-credential', 'mine')} in mine.yaml:1"},
    ),
    "credential-from a Secret of the same identity": (
        {"group": GROUP, "own": secret("team"), "mine": secret("team", "mine")},
        {"group": OWN, "own": secret("team"), "mine": secret("team", "mine")},
        {},
    ),
    "a Secret of the identity of the settings": (
        {"group": GROUP},
        {"group": GROUP, "own": secret("global")},
        {},
    ),
    "a removed Secret": (
        {"group": GROUP, "own": secret("team")},
        {"group": GROUP},
        {BOTH[0]: f"{TEAM} → {GLOBAL}"},
    ),
    "a namespace annotation": (
        {"group": GROUP, "ns": "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: default\n"},
        {
            "group": GROUP,
            "ns": "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: default\n  annotations:\n"
            "    serviceoperator.azure.com/credential-from: mine\n",
            "mine": secret("team", "mine"),
        },
        {},  # as in ASO, only the annotation of a resource counts
    ),
}


ROWS = {name: f"row{number}" for number, name in enumerate(CHANGES)}
"""The namespace of each row."""


def of_row(text: str, name: str) -> str:
    """A text with the resources, the files and the namespace of a row."""
    row = ROWS[name]
    text = re.sub(r"\b(core|hub|own\.yaml|mine\.yaml)\b", rf"{row}-\g<1>", text)
    return text.replace("namespace: default", f"namespace: {row}").replace("Secret default/", f"Secret {row}/")


def move_to_row(document: str, name: str) -> str:
    """A document in the namespace of a row."""
    row = ROWS[name]
    if "kind: Namespace" in document:
        return document.replace("name: default", f"name: {row}")
    return of_row(document if "namespace:" in document else inside(document, row), name)


def make_documents(revision: int) -> dict[str, str]:
    """The documents of all rows before the change, or now."""
    changes = ((name, change[revision]) for name, change in CHANGES.items())
    return {
        f"{ROWS[name]}-{file}": move_to_row(document, name)
        for name, documents in changes
        for file, document in documents.items()
    }


def expect(lines_by_row: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    return {
        of_row(resource, name): of_row(line, name)
        for name, lines in lines_by_row.items()
        for resource, line in lines.items()
    }


def test_a_plan_reports_who_would_write_what(tmp_path):
    world = Tenants(tmp_path, "team", "other")
    world.says(**make_documents(0)).sync()
    report = world.says(**make_documents(1)).plan()
    lines = expect({name: change[2] for name, change in CHANGES.items()})
    assert identities(report) == lines
    shown = text.render(report)
    assert f"{len(lines)} resources change identity" in shown.splitlines()[0]
    assert "To write as another identity" in shown


@pytest.mark.parametrize(("team", "headline"), [("team", "1 resource changes identity"), ("global", "")])
def test_a_headline_counts_changes_of_identity(world, team, headline):
    shown = text.render(world.says(group=GROUP, own=secret(team)).plan())
    assert headline in shown.splitlines()[0]
    assert ("To write as another identity" in shown) == ("identity" in shown.splitlines()[0]) == bool(headline)


def test_a_change_of_identity_is_a_change_for_the_exit_code(world):
    assert world.plan(detailed_exitcode=True).exit_code is ExitCode.FINE
    assert world.says(group=GROUP, own=secret("team")).plan(detailed_exitcode=True).exit_code is ExitCode.PENDING


def test_the_sync_reports_it_once(world):
    report = world.says(group=GROUP, own=secret("team")).sync()
    assert text.render(report).startswith("Nothing changed; 1 resource changed identity\n")
    assert identities(world.plan()) == {}


def test_an_update_is_written_by_the_new_identity_and_listed_with_it(world):
    world.says(group=GROUP.replace("westeurope", "westeurope\n      tags: {a: b}"), own=secret("team"))
    assert text.render(world.plan()).startswith("A sync would update 1; 1 resource changes identity\n")
    world.sync()
    assert set(world.callers().values()) == {"team-client"}


def test_deletes_come_first(tmp_path):
    world = Tenants(tmp_path, "team")
    world.says(group=GROUP, vnet=VNET).sync()
    shown = text.render(world.says(group=GROUP, own=secret("team")).plan(prune=True))
    assert shown.index("To delete (1)") < shown.index("To write as another identity (1)")


def test_another_subscription_is_blocked_and_the_record_keeps_the_last_identity(world):
    world.says(group=GROUP, own=secret("team", subscription=OTHER))
    for report in (world.plan(), world.sync(), world.plan()):
        assert of(report, "ResourceGroup").condition.reason == "SubscriptionMismatch"
        moved = f", for subscription {OTHER} (before: {SUBSCRIPTION})"
        assert identities(report) == {"ResourceGroup/core": f"{GLOBAL} → {TEAM} in own.yaml:1{moved}"}
        assert world.writes == []


def test_ids_that_an_older_record_lacks_do_not_count_as_changed(tmp_path):
    world = Tenants(tmp_path, "team", "other")
    world.says(group=GROUP, own=secret("team")).sync()
    (path,) = world.state.rglob("core.json")
    record = json.loads(path.read_text())
    del record["gitsync"]["identity"]
    path.write_text(f"{json.dumps(record)}\n")
    assert identities(world.says(group=GROUP, own=secret("other")).plan()) == {}


def test_a_secret_that_the_plan_does_not_read_is_unknown(tmp_path):
    world = Cluster(tmp_path, "team").has("team", name="mine")
    world.says(group=GROUP).sync(subscription=OTHER)
    report = world.says(group=OWN).plan(subscription=OTHER)
    (line,) = identities(report).values()
    assert line.endswith("→ unknown client, from Secret default/mine, which this plan does not read")
    report = world.plan(subscription=OTHER, plan_secrets=True)
    (line,) = identities(report).values()
    assert line.endswith(f"→ client team-client of tenant {TENANT}, from Secret default/mine in kubernetes")


def test_a_plan_warns_of_a_secret_that_only_the_sync_reads(tmp_path):
    world = Cluster(tmp_path, "team").has("team")
    world.says(group=GROUP).sync()
    report = world.plan()
    assert identities(report) == {}
    (warning,) = [problem.message for problem in report.problems if problem.code == "CredentialNotLookedUp"]
    assert "name the same identity" in warning


def test_every_form_of_the_report_has_it_and_none_has_a_secret(world):
    report = world.says(group=GROUP, own=secret("team")).plan()
    machine = json_report.render(report)
    Draft202012Validator(read_schema("report")).validate(json.loads(machine))
    (resource,) = json.loads(machine)["resources"]
    assert resource["identity"]["now"] == {
        "credential": "aso-credential",
        "clientId": "team-client",
        "tenantId": TENANT,
        "subscription": GROUP_ID.split("/")[2],
        "source": {"path": "own.yaml", "line": 1},
        "store": "",
        "unread": False,
    }
    read = read_report(machine.encode(), "a branch").results[0]
    assert read.change.identity == report.results[0].change.identity
    for shown in (text.render(report), markdown.render(report), page.render(report), machine):
        assert "own.yaml" in shown
        assert "team-client" in shown
        assert "s3cret" not in shown


SETTINGS = "the identity of the settings"
OWN_TEAM, OWN_OTHER = (f"{TEAM.replace('team-', f'{who}-')} in own.yaml:1" for who in ("team", "other"))
OFFLINE = {
    "a new Secret": dict.fromkeys(BOTH, f"{SETTINGS} → {OWN_TEAM}"),
    "a changed client id": {BOTH[0]: f"{OWN_TEAM} → {OWN_OTHER}"},
    "a changed tenant": {
        BOTH[
            0
        ]: f"{OWN_TEAM} → client team-client of tenant elsewhere, from Secret default/aso-credential in own.yaml:1"
    },
    "credential-from on one resource": {
        BOTH[1]: f"{SETTINGS} → {TEAM.replace('aso-credential', 'mine')} in mine.yaml:1"
    },
    "a Secret of the identity of the settings": {  # an offline plan does not sign in
        BOTH[0]: f"{SETTINGS} → {TEAM.replace('team-', 'global-')} in own.yaml:1"
    },
    "a removed Secret": {BOTH[0]: f"{OWN_TEAM} → {SETTINGS}"},
}


@pytest.mark.parametrize("subscription", [SUBSCRIPTION, None])
def test_an_offline_plan_reports_who_would_write_what(tmp_path, subscription):
    world = World(tmp_path)
    world.says(**make_documents(0)).says(**make_documents(1))
    report = rehearse(world, subscription=subscription)
    lines = expect(OFFLINE)
    other = f", for subscription {SUBSCRIPTION} (before: not known)"
    assert {key: line.removesuffix(other) for key, line in identities(report).items()} == lines
    first = text.render(report).splitlines()[0]
    assert first.startswith("The change would change nothing")
    assert f"{len(lines)} resources change identity" in first
    assert all(result.verdict is Verdict.IN_SYNC for result in report.results)


def test_the_headline_of_an_offline_plan_counts_changes_of_identity(tmp_path):
    world = World(tmp_path).says(group=GROUP).says(group=GROUP, own=secret("team"))
    assert "1 resource changes identity" in text.render(rehearse(world)).splitlines()[0]
    assert "identity" not in text.render(rehearse(world.says(group=GROUP, moved=secret("team")))).splitlines()[0]


def test_an_offline_plan_names_a_subscription_that_it_cannot_compare(tmp_path):
    world = World(tmp_path).says(group=GROUP).says(group=GROUP, own=secret("team", subscription=OTHER))
    (line,) = identities(rehearse(world)).values()
    assert line == f"{SETTINGS} → {OWN_TEAM}, for subscription {OTHER} (before: not known)"


def encrypted(client: str) -> str:
    """A Secret as SOPS writes it; nothing decrypts it here."""
    return f"""\
    apiVersion: v1
    kind: Secret
    metadata:
      name: aso-credential
    stringData:
      AZURE_SUBSCRIPTION_ID: ENC[AES256_GCM,data:s,iv:s,tag:s,type:str]
      AZURE_TENANT_ID: ENC[AES256_GCM,data:t,iv:t,tag:t,type:str]
      AZURE_CLIENT_ID: ENC[AES256_GCM,data:{client},iv:c,tag:c,type:str]
      AZURE_CLIENT_SECRET: ENC[AES256_GCM,data:{client},iv:d,tag:d,type:str]
    sops:
      lastmodified: "2026-01-01T00:00:00Z"
      mac: ENC[AES256_GCM,data:m,iv:m,tag:m,type:str]
      version: 3.9.0
    """


def test_an_offline_plan_reports_changed_ids_of_an_encrypted_secret_as_unknown(tmp_path):
    world = World(tmp_path).says(group=GROUP, own=encrypted("a")).says(group=GROUP, own=encrypted("b"))
    (line,) = identities(report := rehearse(world)).values()
    unread = "unknown client, from Secret default/aso-credential in own.yaml:1, which this plan does not read"
    assert line == f"{unread} → {unread}"
    assert "ENC[" not in json_report.render(report) + text.render(report)
    moved = world.says(group=GROUP, other=encrypted("b"))
    assert identities(rehearse(moved)) == {}


def test_an_offline_plan_blocks_another_subscription(tmp_path):
    world = World(tmp_path)
    world.says(group=GROUP, vnet=VNET, own=secret("team"))
    world.says(group=GROUP, vnet=VNET, own=secret("other", subscription=OTHER))
    report = rehearse(world)
    for result in report.results:
        assert (result.verdict, result.condition.reason) == (Verdict.BLOCKED, "SubscriptionMismatch")
    assert set(identities(report)) == set(BOTH)
    assert report.exit_code is ExitCode.FAILED


FILE = "AZURE_USER_ASSIGNED_IDENTITY_CREDENTIALS"
NO_SECRET = {"AZURE_CLIENT_SECRET": None}


def by_file(path: Any) -> str:
    """A Secret whose file decides the identity: its own ids are those of another one."""
    return secret("team", **NO_SECRET, **{FILE: str(path)})


def test_an_offline_plan_reports_an_identity_file_that_it_does_not_read_as_unknown(tmp_path):
    world = World(tmp_path).says(group=GROUP, own=secret("team", **NO_SECRET))
    (line,) = identities(rehearse(world.says(group=GROUP, own=by_file("/none/a.json")))).values()
    unread = "unknown client, from Secret default/aso-credential in own.yaml:1, which this plan does not read"
    assert line == f"{OWN_TEAM} → {unread}"
    report = rehearse(world.says(group=GROUP, own=by_file("/none/b.json")))
    assert list(identities(report).values()) == [f"{unread} → {unread}"]
    assert "/none/" not in json_report.render(report) + text.render(report)
    assert identities(rehearse(world.says(group=GROUP, own=by_file("/none/b.json"), readme="    # nothing\n"))) == {}
    used = secret("team", **{FILE: "/none/b.json"})
    assert "→ client team-client" in identities(rehearse(world.says(group=GROUP, own=used)))[BOTH[0]], (
        "a secret goes first"
    )


def test_every_plan_reports_the_ids_of_an_identity_file(tmp_path):
    for name in ("team", "other"):
        ids = {"client_id": f"{name}-client", "tenant_id": TENANT}
        more = {"client_secret": "bm90aGluZw==", "authentication_endpoint": "https://login.example"}
        (tmp_path / f"{name}.json").write_text(json.dumps({**ids, **more}))
    folder = {"identity_folder": str(tmp_path)}
    world = World(tmp_path).says(group=GROUP, own=by_file(tmp_path / "team.json"))
    world.sync(**folder)
    assert identities(world.plan(**folder)) == {}
    world.says(group=GROUP, own=by_file(tmp_path / "other.json"))
    for report in (rehearse(world, **folder), world.plan(**folder)):
        (line,) = identities(report).values()
        assert "client team-client" in line.partition(" → ")[0]
        assert "client other-client" in line.partition(" → ")[2]
    world.sync()
    assert identities(world.plan()) == {}, "ids that are not known are not compared"


UNREAD = {
    "a Secret that no manifest declares": (
        {"group": GROUP},
        {"group": OWN},
        {},
        f"{SETTINGS} → unknown client, from Secret default/mine, which this plan does not read",
    ),
    "a Secret moved to Key Vault": (
        {"group": GROUP, "own": secret("team")},
        {"group": GROUP},
        {"secret_sources": ("manifests", "key-vault")},
        f"{OWN_TEAM} → unknown client, from Secret default/aso-credential, which this plan does not read",
    ),
    "a Secret before one in Key Vault": (
        {"group": GROUP},
        {"group": GROUP, "own": secret("team")},
        {"secret_sources": ("manifests", "key-vault")},
        (
            f"unknown client, from Secret default/aso-credential, which this plan does not read → {OWN_TEAM}"
            f", for subscription {SUBSCRIPTION} (before: not known)"
        ),
    ),
    "Secrets of manifests are no source": (
        {"group": GROUP},
        {"group": GROUP, "own": secret("team")},
        {"secret_sources": ("environment",)},
        "",
    ),
}


@pytest.mark.parametrize(("before", "now", "settings", "line"), UNREAD.values(), ids=UNREAD)
def test_an_offline_plan_reports_what_it_does_not_read_as_unknown(tmp_path, before, now, settings, line):
    world = World(tmp_path)
    report = rehearse(world.says(**before).says(**now), subscription=SUBSCRIPTION, **settings)
    assert identities(report) == ({BOTH[0]: line} if line else {})


def test_an_offline_plan_reports_the_identity_of_a_delete(tmp_path):
    world = World(tmp_path)
    world.says(group=GROUP, vnet=VNET, own=secret("team")).says(group=GROUP, own=secret("other"))
    shown = text.render(rehearse(world, prune=True))
    assert shown.index("To delete (1)") < shown.index("To write as another identity (1)")
    assert set(identities(rehearse(world, prune=True))) == set(BOTH)


def test_a_resource_that_was_not_written_has_no_identity_before(tmp_path):
    world = World(tmp_path)
    skipped = annotated(GROUP, reconcile_policy="skip")
    assert identities(rehearse(world.says(group=skipped).says(group=skipped, own=secret("team")))) == {}
    assert identities(rehearse(world.says(own=secret("team")).says(own=secret("team"), group=GROUP))) == {}
