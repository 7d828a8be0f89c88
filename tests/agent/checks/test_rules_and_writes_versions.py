"""What the check `versions` reports before a change is what the emulator does at the write, for each rule of both."""

import pytest

from gitsync.agent.checks.versions import check_versions
from gitsync.model.verdict import Action
from tests.agent.checks.asking import GROUP, change, storage
from tests.agent.checks.writing import GROUP_API, compare

REFUSED, FINE = "refused", "fine"
BODY = {"location": "westeurope"}
ACCOUNT = storage(body=BODY)
UPDATE, DELETE = storage(body=BODY, action=Action.UPDATE), storage(action=Action.DELETE)
BLOBS = change(f"{ACCOUNT.arm_id}/blobServices/default", {"properties": {}})
ZONE = change(f"{GROUP}/providers/Microsoft.Network/dnsZones/example.org", {"location": "global"})
NEW_GROUP = change(f"{GROUP}2", {"location": "westeurope"}, api_version=GROUP_API)


def lists(versions: list[str], *locations: str, arm_type: str = "Microsoft.Storage/storageAccounts") -> dict:
    return {"versions": {arm_type: {"apiVersions": versions, "locations": list(locations)}}}


USED, OTHER = [ACCOUNT.api_version], ["2024-01-01", "2030-01-01-preview"]
CASES = [
    (ACCOUNT, lists(USED, "westeurope"), FINE),
    (ACCOUNT, lists(USED, "westeurope", "northeurope"), FINE),
    (ACCOUNT, lists([*OTHER, *USED]), FINE),
    (ACCOUNT, lists(USED, arm_type="microsoft.storage/STORAGEACCOUNTS"), FINE),
    (storage(body={"location": "West Europe"}), lists(USED, "westeurope"), FINE),
    (storage(body={"location": "northeurope"}), lists(USED, "westeurope"), REFUSED),
    (ACCOUNT, lists(OTHER, "westeurope"), REFUSED),
    (ACCOUNT, lists(OTHER, "northeurope"), REFUSED),
    (UPDATE, lists(OTHER, "westeurope"), REFUSED),
    (UPDATE, lists(USED, "westeurope"), FINE),
    (UPDATE, lists(USED, "northeurope"), REFUSED),
    (DELETE, lists(OTHER, "westeurope"), REFUSED),
    (DELETE, lists(USED, "northeurope"), FINE),
    (storage(body=BODY, replaces=True), lists(OTHER), REFUSED),
    (BLOBS, lists([BLOBS.api_version]), FINE),
    (BLOBS, lists(OTHER, arm_type="Microsoft.Storage/storageAccounts/blobServices"), REFUSED),
    (ZONE, lists([ZONE.api_version], arm_type="Microsoft.Network/dnsZones"), FINE),
    (ZONE, lists([ZONE.api_version], "global", arm_type="Microsoft.Network/dnsZones"), FINE),
    (NEW_GROUP, lists([GROUP_API], "westeurope", arm_type="Microsoft.Resources/resourceGroups"), FINE),
    (NEW_GROUP, lists(OTHER, "westeurope", arm_type="Microsoft.Resources/resourceGroups"), REFUSED),
]


@pytest.mark.parametrize(("change", "settings", "verdict"), CASES)
def test_the_verdict_is_what_the_write_gets(change, settings, verdict):
    present = () if change.creates and not change.replaces and change is not BLOBS else [ACCOUNT]
    verdicts, code = compare(check_versions, change, settings, present)
    assert verdicts == {verdict}
    refusals = {"NoRegisteredProviderFound", "LocationNotAvailableForResourceType"}
    assert code in (refusals if verdict == REFUSED else {""})


@pytest.mark.parametrize("settings", [{}, lists(USED, arm_type="Microsoft.Storage/other")])
def test_a_type_that_is_not_listed_is_not_checked(settings):
    """The emulator takes any version of it, which a check cannot predict."""
    assert compare(check_versions, ACCOUNT, settings) == ({"not-checked"}, "")
