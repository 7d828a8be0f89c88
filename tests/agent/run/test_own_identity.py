"""The identity that gitsync runs as is not changed by it, unless --only names the resource."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager, contextmanager

import pytest

from gitsync.emulator.http.server import Emulator
from gitsync.emulator.settings import EmulatedPrincipal, EmulatorSettings
from tests.support.command_line import SUBSCRIPTION, in_background, run_here
from tests.support.private_ca import make

CLIENT = "11111111-1111-4111-8111-111111111111"
OBJECT = "22222222-2222-4222-8222-222222222222"
OTHER = "44444444-4444-4444-8444-444444444444"
TENANT = "33333333-3333-4333-8333-333333333333"
GROUP = """
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {name: core}
spec: {location: westeurope}
"""


def role(name: str, principal: str) -> str:
    return f"""---
apiVersion: authorization.azure.com/v1api20220401
kind: RoleAssignment
metadata: {{name: {name}}}
spec:
  owner: {{group: resources.azure.com, kind: ResourceGroup, name: core}}
  principalId: {principal}
  roleDefinitionReference: {{wellKnownName: Contributor}}
"""


@pytest.fixture(scope="module")
def ca(tmp_path_factory):
    return make(tmp_path_factory.mktemp("ca"))


@asynccontextmanager
async def started(ca):
    principal = EmulatedPrincipal(client=CLIENT, object=OBJECT, secret="s3cret-of-it", tenant=TENANT)
    emulator = Emulator(EmulatorSettings(require_token=True, principals=(principal,)))
    await emulator.start(tls=ca.tls)
    try:
        yield emulator
    finally:
        await emulator.stop()


@contextmanager
def site(ca, folder):
    """A function that runs a command on manifests, and returns its report by the names of the resources."""
    source = folder / "source"
    source.mkdir()
    with in_background(started(ca)) as emulator:

        def run(command, manifests, *more):
            (source / "all.yaml").write_text(manifests.lstrip())
            ended = run_here(
                *(command, "--output", "json", "--ca-bundle", str(ca.bundle), "--status-dir", str(folder / "status")),
                *more,
                folder=source,
                AZURE_RESOURCE_MANAGER_ENDPOINT=emulator.url,
                AZURE_AUTHORITY_HOST=emulator.url,
                AZURE_SUBSCRIPTION_ID=SUBSCRIPTION,
                AZURE_TENANT_ID=TENANT,
                AZURE_CLIENT_ID=CLIENT,
                AZURE_CLIENT_SECRET="s3cret-of-it",
                GITSYNC_CREDENTIAL="client-secret",
            )
            assert "resources" in ended.out, ended.err
            return {found["name"]: found for found in json.loads(ended.out)["resources"]}

        yield run


def test_a_role_of_its_own_is_refused_in_plan_and_sync_and_one_of_another_is_made(ca, tmp_path):
    estate = GROUP + role("own", OBJECT) + role("other", OTHER)
    with site(ca, tmp_path) as run:
        planned = run("plan", estate)
        assert planned["own"]["reason"] == "OwnIdentity"
        assert planned["other"]["action"] == "create"
        synced = run("sync", estate)
        assert (synced["own"]["action"], synced["other"]["action"]) == ("none", "create")
        named = run("sync", estate, "--only", "RoleAssignment/own")
        assert named["own"]["action"] == "create"
        pruned = run("sync", GROUP, "--prune", "--max-deletes", "5")
        assert pruned["own"]["reason"] == "OwnIdentity"
        assert pruned["other"]["action"] == "delete"
