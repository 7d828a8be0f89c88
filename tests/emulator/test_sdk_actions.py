"""The SDK's own poller over the socket: actions that take time end as it expects."""

import json
from dataclasses import replace

import pytest
from azure.core.exceptions import HttpResponseError
from azure.core.pipeline import AsyncPipeline
from azure.core.pipeline.policies import RequestIdPolicy
from azure.core.pipeline.transport import AioHttpTransport
from azure.core.polling import AsyncLROPoller
from azure.core.rest import HttpRequest
from azure.mgmt.core import AsyncARMPipelineClient
from azure.mgmt.core.polling.async_arm_polling import AsyncARMPolling

from gitsync.emulator.faults import FaultRule, Match
from gitsync.emulator.http.messages import Course
from gitsync.emulator.http.server import Emulator
from gitsync.emulator.settings import EmulatorSettings
from tests.emulator.asked import GROUP, OPEN, SUBSCRIPTION, at

CLUSTER = at("Microsoft.RedHatOpenShift/hcpOpenShiftClusters", "c")
BACKUP = at("Microsoft.DataProtection/backupVaults/backupInstances", "v", "i")
VAULT = at("Microsoft.KeyVault/vaults", "kv")
PURGE = f"{SUBSCRIPTION}/providers/Microsoft.KeyVault/locations/westeurope/deletedVaults/kv/purge"
FORMER = (
    VAULT,
    at("Microsoft.ApiManagement/service", "api"),
    at("Microsoft.CognitiveServices/accounts", "ai"),
)
"""What is there, and is deleted first."""
PURGED_BY_DELETE = [
    f"{SUBSCRIPTION}/providers/Microsoft.ApiManagement/locations/westeurope/deletedservices/api",
    f"{SUBSCRIPTION}/providers/Microsoft.CognitiveServices/locations/westeurope/resourceGroups/net/deletedAccounts/ai",
]
FAILS = FaultRule(
    match=Match(methods=("POST",)), course=Course(result="Failed", error={"code": "Busy", "message": "Later."})
)

FAILS_PURGE = replace(FAILS, match=Match(methods=("DELETE",), path="*/locations/*"))


async def acted(path, settings=OPEN, method="POST"):
    """What the poller ends with, for a POST of an action or the DELETE of what is deleted already."""
    async with Emulator(settings) as azure:
        for arm_id in (GROUP, CLUSTER, BACKUP.rpartition("/backupInstances/")[0], BACKUP, *FORMER):
            azure.put(arm_id, {"location": "westeurope"})
        pipeline = AsyncPipeline(AioHttpTransport(), policies=[RequestIdPolicy()])
        async with AsyncARMPipelineClient(base_url=azure.url, pipeline=pipeline, policies=[]) as client:
            url = f"{azure.url}%s?api-version=2024-11-01"
            for arm_id in FORMER:
                deleted = await pipeline.run(HttpRequest("DELETE", url % arm_id))
                await AsyncLROPoller(client, deleted, content, AsyncARMPolling(0)).result()
            first = await pipeline.run(HttpRequest(method, url % path))
            return await AsyncLROPoller(client, first, content, AsyncARMPolling(0)).result()


def content(response):
    text = response.http_response.body()
    return json.loads(text) if text else None


@pytest.mark.parametrize("path", PURGED_BY_DELETE)
async def test_a_purge_by_a_delete_ends(path):
    end = await acted(path, method="DELETE")
    assert end is None or end["status"] == "Succeeded"
    with pytest.raises(HttpResponseError, match="Later"):
        await acted(path, replace(OPEN, rules=(FAILS_PURGE,)), method="DELETE")


@pytest.mark.parametrize("path", [f"{BACKUP}/sync", PURGE])
async def test_an_action_without_a_result_ends(path):
    assert await acted(path) is None


async def test_an_action_ends_with_its_result():
    assert set(await acted(f"{CLUSTER}/requestAdminCredential")) == {"expirationTimestamp", "kubeconfig"}


@pytest.mark.parametrize("path", [f"{BACKUP}/sync", f"{CLUSTER}/requestAdminCredential", PURGE])
async def test_an_action_that_fails_says_why(path):
    with pytest.raises(HttpResponseError, match="Later"):
        await acted(path, EmulatorSettings(limits=None, rules=(FAILS,)))
