"""The emulator of a command: what it answers about providers, so that a plan has every check."""

import pytest

from gitsync.agent.checks.versions import evaluate, read_listings
from gitsync.agent.run.emulator_settings import load_emulator_settings
from gitsync.desired.catalog.catalog import open_catalog
from gitsync.emulator.settings import EmulatorSettings
from gitsync.errors import ConfigError
from gitsync.model.arm_id import ArmId
from gitsync.model.check import CheckVerdict, PlannedChange
from gitsync.model.gvk import Key
from gitsync.model.verdict import Action
from tests.emulator.asked import emulated


def list_kinds():
    catalog = open_catalog()
    for group in catalog.groups():
        for kind in catalog.kinds(group):
            newest = catalog.newest(group, kind)
            if newest and catalog.is_arm_kind(group, kind):
                yield newest


async def test_every_kind_of_the_catalog_is_listed_with_its_version():
    listings = {}
    async with emulated(load_emulator_settings(None)) as azure:
        for kind in list_kinds():
            namespace = kind.arm_type.partition("/")[0]
            if namespace.casefold() not in listings:
                answer = await azure.get(f"/providers/{namespace}")
                listings[namespace.casefold()] = read_listings(answer.body)
            change = PlannedChange(
                key=Key("default", kind.gvk.group, kind.gvk.kind, "one"),
                action=Action.CREATE,
                arm_id=ArmId(f"/subscriptions/s/resourceGroups/g/providers/{kind.arm_type}/one"),
                arm_type=kind.arm_type,
                api_version=kind.api_version,
                body={"location": "moonbase"},
            )
            findings = evaluate(change, listings[namespace.casefold()])
            assert [finding.verdict for finding in findings] == [CheckVerdict.FINE], kind.arm_type


async def test_every_version_of_arms_types_is_listed():
    """A plan on the emulator would report each AzureResource whose version ASO lacks as refused."""
    async with emulated(load_emulator_settings(None)) as azure:
        answer = await azure.get("/providers/Microsoft.Network")
    listings = read_listings(answer.body)
    assert {"2024-05-01", "2024-03-01"} <= {*listings["virtualnetworks"].versions}
    assert listings["ddoscustompolicies"].versions


def test_a_script_keeps_its_settings(tmp_path):
    script = tmp_path / "azure.yaml"
    script.write_text("settings:\n  pageSize: 7\n")

    assert load_emulator_settings(script).page_size == 7
    assert load_emulator_settings(str(script), EmulatorSettings(limits=None)).limits is not None
    assert load_emulator_settings(None, EmulatorSettings(limits=None)).limits is None


def test_a_missing_script_is_an_error(tmp_path):
    with pytest.raises(ConfigError):
        load_emulator_settings(tmp_path / "nowhere.yaml")
