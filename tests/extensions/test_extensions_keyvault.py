"""Vaults whose name a deleted one may still hold: what is requested, sent, called and foretold."""

from dataclasses import replace

import pytest

from gitsync.errors import GitsyncError
from gitsync.extensions.api import ActionCall, LookupRequest, PermanentError
from gitsync.model.arm_id import ArmId
from gitsync.model.live import Live
from tests.extensions.asking import REGISTRY, subject

GROUP = "keyvault.azure.com"
SCOPE = "/subscriptions/1/providers/Microsoft.KeyVault/locations/westeurope/deletedVaults"
VAULT = "/subscriptions/1/resourceGroups/{}/providers/Microsoft.KeyVault/vaults/in-azure"
HERE = VAULT.format("core")
REQUESTED = LookupRequest(f"{SCOPE}/in-azure", "2024-11-01")


def about(mode, *, deleted=None, live=None, location="westeurope", arm_id=HERE):
    spec = {"location": location, "properties": {} if mode is None else {"createMode": mode}}
    answers = {REQUESTED: Live(body=deleted)} if deleted is not None else {REQUESTED: None}
    return replace(subject(GROUP, "Vault"), spec=spec, arm_id=ArmId(arm_id), live=live, answers=answers)


def was_in(group):
    return {"properties": {"vaultId": VAULT.format(group)}}


def body(mode):
    return {"properties": {"sku": 1, **({} if mode is None else {"createMode": mode})}}


@pytest.mark.parametrize(
    ("mode", "deleted", "sent", "called", "told", "why"),
    [
        (None, None, None, False, "", "no mode"),
        ("default", None, "default", False, "", "a mode of Azure's"),
        ("recover", None, "recover", False, "", "the same"),
        ("createOrRecover", None, "default", False, "", "nothing to recover"),
        ("createOrRecover", was_in("CORE"), "recover", False, "Would recover the deleted vault in-azure.", "recovered"),
        (
            "createOrRecover",
            {},
            "recover",
            False,
            "Would recover the deleted vault in-azure.",
            "nothing said of its group",
        ),
        ("purgeThenCreate", None, "default", False, "", "nothing to purge"),
        (
            "purgeThenCreate",
            was_in("other"),
            "default",
            True,
            "Would purge the deleted vault in-azure, with all its contents, and create a new one.",
            "purged, whichever group it was in",
        ),
    ],
)
def test_a_mode_is_a_goal(mode, deleted, sent, called, told, why):
    requested = about(mode, deleted=deleted)
    goal = mode in {"createOrRecover", "purgeThenCreate"}
    compared = REGISTRY.compared(body(mode), requested)
    assert compared == body(None if goal else mode), why
    assert REGISTRY.modified(compared, requested) == body(sent)
    assert REGISTRY.lookups(requested) == ((REQUESTED,) if goal else ())
    assert REGISTRY.first_calls(requested) == (
        (ActionCall(path=f"{SCOPE}/in-azure/purge", api_version="2024-11-01"),) if called else ()
    )
    assert REGISTRY.describe_calls(requested) == told


@pytest.mark.parametrize("mode", ["createOrRecover", "purgeThenCreate"])
def test_nothing_is_in_the_way_of_a_vault_that_is_there(mode):
    requested = about(mode, live=Live(body={}), deleted=was_in("other"))
    assert REGISTRY.lookups(requested) == ()
    assert REGISTRY.modified(REGISTRY.compared(body(mode), requested), requested) == body("default")
    assert (REGISTRY.first_calls(requested), REGISTRY.describe_calls(requested)) == ((), "")


def test_a_name_that_only_a_later_step_has_is_not_requested():
    assert REGISTRY.lookups(about("createOrRecover", arm_id="/subscriptions/1/x/<configmap a/b>")) == ()


def test_another_group_is_for_the_manifest_to_fix():
    with pytest.raises(PermanentError, match="was in resource group other, and cannot be recovered to core"):
        REGISTRY.compared(body("createOrRecover"), about("createOrRecover", deleted=was_in("other")))


def test_an_id_that_is_none_is_an_error():
    with pytest.raises(GitsyncError, match="'odd' as the id of the deleted vault in-azure, which is not its id"):
        REGISTRY.compared(body("createOrRecover"), about("createOrRecover", deleted={"properties": {"vaultId": "odd"}}))


def test_without_a_location_nothing_can_be_looked_up():
    with pytest.raises(GitsyncError, match="has no location"):
        REGISTRY.lookups(about("purgeThenCreate", location=""))
