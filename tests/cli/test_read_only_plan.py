"""A plan needs no right to write: the real command over the examples, with a token that every write is refused for.

The emulator serves https, issues the tokens and checks them. The reader's own account may read and nothing else.
"""

import json
import re
import shutil
import signal
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from gitsync.emulator.http.server import Emulator
from gitsync.emulator.settings import TENANT
from gitsync.emulator.state.store import SqliteStore
from gitsync.providers.arm.client import is_check
from tests.support.command_line import SUBSCRIPTION, run_here, start
from tests.support.git_repositories import commit_all, init_repository

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "manifests"
READER, WRITER = "00000000-0000-4000-8000-00000000000a", "00000000-0000-4000-8000-00000000000b"
SCRIPT = f"""\
settings:
  requireToken: true
  throttle: off
  rewrite: true
  operations: {{style: done}}
  principals:
    - {{clientId: {READER}, secret: the-readers, readOnly: true}}
    - {{clientId: {WRITER}, secret: the-writers}}
"""
WRITES = {"PUT", "PATCH", "DELETE", "POST"}


@contextmanager
def served(folder):
    """An emulator of its own: its URL, and the variables that lead the reader there."""
    (folder / "script.yaml").write_text(SCRIPT)
    options = ["--tls", "--script=script.yaml", "--certificate=ca.pem", "--state=azure.db"]
    with start("emulator", *options, folder=folder) as server:
        try:
            url = server.stdout.readline().strip()
            assert server.stdout.readline().startswith("certificate: ")
            yield url
        finally:
            server.send_signal(signal.SIGTERM)
            assert server.wait(timeout=30) == 0


@pytest.fixture(scope="module")
def location(tmp_path_factory):
    """The examples as a repository, and an Azure that has nothing of them until they are written."""
    folder = tmp_path_factory.mktemp("location")
    shutil.copytree(EXAMPLES, folder / "manifests")
    init_repository(folder / "manifests")
    commit_all(folder / "manifests")
    with served(folder) as url:
        yield SimpleNamespace(folder=folder, url=url)


def run(location, *arguments, client=READER, secret="the-readers"):
    """`gitsync ARGUMENTS manifests` as somebody; how it ended, and what the emulator was sent in between."""
    settings = {
        "AZURE_RESOURCE_MANAGER_ENDPOINT": location.url,
        "AZURE_RESOURCE_MANAGER_AUDIENCE": location.url,
        "AZURE_AUTHORITY_HOST": location.url,
        "AZURE_TENANT_ID": TENANT,
        "AZURE_SUBSCRIPTION_ID": SUBSCRIPTION,
        "AZURE_CLIENT_ID": client,
        "AZURE_CLIENT_SECRET": secret,
        "GITSYNC_CREDENTIAL": "client-secret",
        "GITSYNC_CA_BUNDLE": str(location.folder / "ca.pem"),
    }
    before = len(requested(location))
    ended = run_here(*arguments, "manifests", folder=location.folder, **settings)
    return ended, requested(location)[before:]


def requested(location):
    """The emulator's log, which signing in does not count to."""
    from ssl import create_default_context
    from urllib.request import urlopen

    context = create_default_context(cafile=location.folder / "ca.pem")
    with urlopen(f"{location.url}/_emulator/requests", timeout=30, context=context) as answer:
        return json.loads(answer.read())["requests"]


def writes(log):
    return [request for request in log if request["method"] in WRITES and not is_check(request["path"])]


def checks(log):
    return [request for request in log if request["method"] == "POST" and is_check(request["path"])]


def write_everything(location):
    ended, log = run(location, "sync", client=WRITER, secret="the-writers")
    assert ended.code == 0, ended
    assert writes(log) != []


def stored(location):
    """What Azure holds, in the file that the emulator keeps it in."""
    azure = Emulator(None, SqliteStore(location.folder / "azure.db"))
    try:
        return {arm_id: azure.received(arm_id) for arm_id in azure.ids()}
    finally:
        azure.cloud.store.close()


def test_the_doctor_names_the_identity_and_the_rights_that_it_lacks(location):
    found, requests = run(location, "doctor")
    assert found.code == 1
    assert f"client {READER}" in found.out
    assert f"tenant {TENANT}" in found.out
    assert "the-readers" not in found.out
    assert re.search(r"error    rights: \d+ of \d+ rights at \d+ scopes not granted: ", found.out)
    assert "Microsoft.Authorization/roleAssignments/write in resource group" in found.out
    assert not WRITES & {request["method"] for request in requests}
    allowed, _ = run(location, "doctor", "--output", "json", client=WRITER, secret="the-writers")
    doubts = [check["name"] for check in json.loads(allowed.out)["checks"] if check["level"] != "ok"]
    assert (allowed.code, doubts) == (0, ["allow-identities"])


def test_a_plan_reads_and_a_sync_that_may_not_write_leaves_nothing_half_done(location):
    ended, log = run(location, "plan", "--detailed-exitcode")
    assert ended.code == 3, ended
    assert {request["method"] for request in log} == {"GET", "POST"}
    assert (writes(log), stored(location)) == ([], {}), "it asks, and changes nothing"
    assert {check["status"] for check in checks(log)} <= {200, 400, 404}, "none is refused to a reader"

    ended, log = run(location, "sync", "--output=json")
    assert ended.code == 1, ended
    assert {write["status"] for write in writes(log)} == {403}
    assert stored(location) == {}
    require_refusals(json.loads(ended.out)["resources"], len(writes(log)))

    write_everything(location)
    ended, log = run(location, "plan", "--detailed-exitcode")
    assert (ended.code, writes(log), checks(log)) == (0, [], []), (
        "what does not change is not asked about, and what was recorded by the run that could not write does no harm"
    )

    azure = Emulator(None, SqliteStore(location.folder / "azure.db"))
    vault = next(arm_id for arm_id in azure.ids() if arm_id.endswith("vaults/contoso-shop-kv"))
    azure.change(vault, "/properties/networkAcls/defaultAction", "Allow")
    azure.cloud.store.close()
    ended, log = run(location, "plan", "--detailed-exitcode", "--output=json")
    report = json.loads(ended.out)
    assert (ended.code, writes(log)) == (4, [])
    assert [
        (resource["name"], resource["verdict"]) for resource in report["resources"] if resource["verdict"] != "in-sync"
    ] == [("shop-vault", "drifted")]
    assert report["requests"]["writes"] == report["requests"]["deletes"] == 0


def require_refusals(resources, writes):
    """Each write that was refused is reported of its resource."""
    refused = [resource for resource in resources if resource["attempts"]]
    assert len(refused) == writes, "each refusal is told, and none is tried again"
    for row in refused:
        assert (row["ready"], row["reason"], row["action"]) == ("False", "AuthorizationFailed", "none"), row
        assert [(attempt["stage"], attempt["status"]) for attempt in row["attempts"]] == [("act", 403)]
        assert re.search(f"'{READER}'.*does not have authorization to perform action '.*/write'", row["message"])
    assert {resource["reason"] for resource in resources} == {
        "AuthorizationFailed",
        "ReferenceNotFound",
        "WaitingForOwner",
    }
