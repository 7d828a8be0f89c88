"""The examples are right: every file is read, nothing is wrong with any of it, and it keeps its own conventions."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from gitsync.cli.offline import read_offline
from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.manifests.reader import read_manifests
from gitsync.desired.request.build import prepare
from gitsync.model.reconcile_policy import Policy
from gitsync.settings.config.config import Config
from gitsync.settings.redaction import Redactions
from tests.support.command_line import run_here
from tests.support.programs import needs_build_tool

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "examples" / "manifests"
FILES = sorted(FOLDER.rglob("*.yaml"))
SUBSCRIPTION = "00000000-0000-0000-0000-000000000000"


@pytest.fixture(scope="module")
def manifests():
    return read_manifests({str(path.relative_to(FOLDER)): path.read_bytes() for path in FILES})


@pytest.fixture(scope="module")
def prepared(manifests):
    return prepare(manifests, catalog=open_catalog(), subscription=SUBSCRIPTION)


def test_every_document_is_read_and_has_a_use(manifests):
    assert manifests.problems == ()
    assert manifests.skipped_documents == 0
    assert len(manifests.resources) >= 30


def test_nothing_is_wrong_with_any_of_them(prepared):
    assert [problem for resource in prepared for problem in resource.problems] == []
    assert all(resource.is_valid for resource in prepared)


def test_a_file_is_in_the_folder_of_its_namespace(manifests):
    outside = [str(r.key) for r in manifests.resources if r.source.path.partition("/")[0] != r.key.namespace]
    assert outside == []


def test_every_namespace_is_declared_and_used(manifests):
    assert set(manifests.namespaces) == {resource.key.namespace for resource in manifests.resources}


def test_an_arm_id_names_what_the_manifests_make_or_what_azure_has(prepared):
    made = {resource.arm_id.casefold() for resource in prepared if isinstance(resource.arm_id, str)}
    named = {
        found.casefold()
        for path in FILES
        for found in re.findall(r"armId: (\S+)", path.read_text())
        if "providers" in found
    }
    built_in = f"/subscriptions/{SUBSCRIPTION}/providers/microsoft.authorization/roledefinitions/"
    assert {arm_id for arm_id in named if not arm_id.startswith(built_in)} - made == set()


def test_both_halves_of_the_peering_wait_for_both_networks(prepared):
    waits_for = {resource.key.name: {key.name for key in resource.relations.depends_on} for resource in prepared}
    assert waits_for["hub-to-shop"] == {"hub", "shop-spoke"}
    assert waits_for["shop-to-hub"] == {"hub", "shop-spoke"}


def test_what_reads_a_config_map_waits_for_the_identity_that_writes_it(prepared):
    waits_for = {resource.key.name: {key.name for key in resource.relations.depends_on} for resource in prepared}
    assert "gitsync" in waits_for["gitsync-contributor"]
    assert {"shop-db", "shop-app"} <= waits_for["shop-db-administrator"]


def test_the_policies_that_the_comments_promise_hold(prepared):
    policies = {(resource.key.kind, resource.key.name): resource.policy for resource in prepared}
    assert policies["FlexibleServersDatabase", "shop-orders"] is Policy.DETACH_ON_DELETE
    assert policies["Cluster", "warehouse"] is Policy.DETACH_ON_DELETE
    assert policies["Database", "scratch"] is Policy.MANAGE
    assert policies["VirtualNetwork", "hub"] is Policy.MANAGE


def test_there_is_no_secret_in_them(manifests):
    """Except for a placeholder: a Logic App shows how its body reads a Secret."""
    found = {
        key: {name: value.reveal() for name, value in data.items()} for key, data in manifests.objects.secrets.items()
    }
    assert found == {("shop", "shop-orders"): {"apiKey": "not-a-real-key"}}


def test_the_command_line_reports_the_same(manifests):
    done = run_here("render", str(FOLDER), "--subscription", SUBSCRIPTION, "--output", "json", folder=FOLDER)
    assert done.code == 0, done.err
    rendered = json.loads(done.out)
    assert rendered["problems"] == []
    assert len(rendered["resources"]) == len(manifests.resources)
    assert all(resource["problems"] == [] and resource["body"] for resource in rendered["resources"])


@pytest.mark.parametrize("page", ["README.md", "examples/README.md"])
def test_the_documents_count_them_right(manifests, page):
    told = re.findall(r"(?:landing zone of|in Azure:) (\d+) resources", (ROOT / page).read_text())
    assert {int(number) for number in told} == {len(manifests.resources)}


@needs_build_tool
@pytest.mark.parametrize("cluster", ["prod", "dev"])
def test_each_cluster_of_the_tree_of_flux_has_its_own_values(cluster):
    found = read_offline(Config(source=str(ROOT / "examples" / "flux"), path=f"clusters/{cluster}"), Redactions())
    ids = {resource.key.kind: str(resource.arm_id) for resource in found.prepared}
    assert (found.problems, len(ids)) == ((), 3)
    assert ids["StorageAccount"].endswith(f"/resourceGroups/fleet-{cluster}/providers/Microsoft.Storage/storageAccounts/contosofleet{cluster}")  # fmt: skip
