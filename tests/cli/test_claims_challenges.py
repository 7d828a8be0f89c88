"""Azure requires multifactor authentication before a person writes: what gitsync shows, and that it helps."""

import json
import os
import re
import shlex
import subprocess

import pytest

from gitsync.emulator.settings import EmulatedPrincipal
from tests.support.az_double import AZURE_CLI, make_az
from tests.support.command_line import SUBSCRIPTION, azure, in_background, run_here
from tests.support.scripted_server import Say, serving

TENANT = "33333333-3333-4333-8333-333333333333"
MANIFESTS = """
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {name: core, namespace: default}
spec: {location: westeurope}
---
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {name: other, namespace: default}
spec: {location: westeurope}
"""


IMDS = "/metadata/identity/oauth2/token"


@pytest.fixture(scope="module", autouse=True)
def machine():
    """The endpoint of a machine in Azure that has no identity."""
    with in_background(serving()) as server:
        server.on("GET", IMDS, Say(400, {"error": "invalid_request", "error_description": "Identity not found"}))
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("AZURE_POD_IDENTITY_AUTHORITY_HOST", server.url)
            yield server.url


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "groups.yaml").write_text(MANIFESTS.lstrip())
    return folder


def signed_in(client=AZURE_CLI):
    principal = EmulatedPrincipal(
        client=client, object="of-anna", tenant=TENANT, secret="of-the-person", user="anna@contoso.com", needs_mfa=True
    )
    return azure(require_token=True, principals=(principal,))


def run(command, source, served, tmp_path, *arguments):
    variables = {
        "AZURE_RESOURCE_MANAGER_ENDPOINT": served.url,
        "AZURE_SUBSCRIPTION_ID": SUBSCRIPTION,
        "AZURE_POD_IDENTITY_AUTHORITY_HOST": os.environ["AZURE_POD_IDENTITY_AUTHORITY_HOST"],
        "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}",
    }
    return run_here(command, *arguments, "--status-dir", str(tmp_path / "status"), folder=source, **variables)


def test_the_printed_command_signs_in_again_and_the_next_sync_writes(source, tmp_path):
    with signed_in() as served:
        az = make_az(tmp_path / "bin", served.url, TENANT)
        refused = run("sync", source, served, tmp_path, "--output", "json")
        writes = served.sent("PUT")
        command = re.search(r"Run `(az login [^`]+)`", refused.out)[1].replace('\\"', '"')
        described = run("describe", source, served, tmp_path, "ResourceGroup/core")
        subprocess.run([az, *shlex.split(command)[1:]], check=True)
        synced = run("sync", source, served, tmp_path)
    assert refused.code == 1
    assert sorted(writes) == [
        ("PUT", f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{name}", 401) for name in ("core", "other")
    ], "each write is sent once"
    assert (synced.code, described.code) == (0, 0)
    for result in json.loads(refused.out)["resources"]:
        assert result["reason"] == "InsufficientClaims"
        assert "multifactor authentication" in result["message"]
        assert f"Run `{command}`" in result["advice"]
    assert "az login --tenant" in described.out


def test_a_plan_needs_no_more_than_before(source, tmp_path):
    with signed_in() as served:
        make_az(tmp_path / "bin", served.url, TENANT)
        assert run("plan", source, served, tmp_path).code == 0


def test_an_application_that_az_signed_in_gets_other_advice(source, tmp_path):
    client = "44444444-4444-4444-8444-444444444444"
    with signed_in(client) as served:
        make_az(tmp_path / "bin", served.url, TENANT, client)
        refused = run("sync", source, served, tmp_path)
    assert "Set --credential to the method of this application" in refused.out
    assert "az login --tenant" not in refused.out
