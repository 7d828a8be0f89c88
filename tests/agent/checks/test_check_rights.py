"""The role has what the checks of a plan request, and nothing that they do not request."""

from __future__ import annotations

import fnmatch
from dataclasses import replace

import pytest

from gitsync.emulator.settings import ANONYMOUS, TENANT, EmulatedPrincipal, read_settings
from gitsync.model.check import CheckName
from gitsync.settings.config.config import Config
from gitsync.settings.redaction import Redactions
from gitsync.workflows.doctor.role import build_role
from tests.support.world import GROUP_ID, SUBSCRIPTION, World


def document(kind, name, spec):
    kind, _, version = kind.partition(".")
    group, _, version = version.partition("/")
    return f"""\
    apiVersion: {group}.azure.com/{version}
    kind: {kind}
    metadata: {{name: {name}}}
    spec: {{owner: {{armId: {GROUP_ID}}}, location: westeurope, {spec}}}
    """


DOCUMENTS = {
    "account": document("StorageAccount.storage/v1api20230101", "stapp", "kind: StorageV2, sku: {name: Standard_LRS}"),
    "vault": document("Vault.keyvault/v1api20230701", "kv-shop", f"properties: {{tenantId: {TENANT}, sku: {{family: A, name: standard}}, accessPolicies: []}}"),
    "address": document("PublicIPAddress.network/v1api20240301", "front", "sku: {name: Standard}, publicIPAllocationMethod: Static, dnsSettings: {domainNameLabel: shop}"),
    "plain": document("PublicIPAddress.network/v1api20240301", "back", "sku: {name: Standard}, publicIPAllocationMethod: Static"),
    "cosmos": document("DatabaseAccount.documentdb/v1api20231115", "shop-db", "databaseAccountOfferType: Standard, locations: [{locationName: westeurope}]"),
    "machine": document("VirtualMachine.compute/v1api20220301", "vm", "hardwareProfile: {vmSize: Standard_D2s_v3}"),
}  # fmt: skip
ESTATE = """
settings:
  throttle: off
  policies:
    - {name: tags, scope: SCOPE, effect: audit, if: {field: tags.env, exists: false}}
  skus: [{name: Standard_D2s_v3, family: standardDSv3Family, vCPUs: 2, location: westeurope}]
""".replace("SCOPE", f"/subscriptions/{SUBSCRIPTION}")


@pytest.mark.parametrize("check", [name for name in CheckName if name is not CheckName.PREFLIGHT])
@pytest.mark.parametrize("documents", [("plain",), (*DOCUMENTS,)], ids=["one address", "every question"])
def test_a_check_requests_just_the_actions_of_the_role(tmp_path, check, documents):
    world = World(tmp_path)
    world.outside("PUT", GROUP_ID, {"location": "westeurope"})
    world.says(**{name: DOCUMENTS[name] for name in documents})
    config = Config(
        source=str(world.folder), subscription=SUBSCRIPTION, checks=(check.value,), register_providers=False
    )
    role, without = (build_role(settings, Redactions()) for settings in (config, replace(config, checks=("none",))))
    (tmp_path / "settings.yaml").write_text(ESTATE)
    anonymous = EmulatedPrincipal(client=ANONYMOUS, object=ANONYMOUS, actions=role.actions, scopes=role.scopes)
    world.settings = replace(read_settings(tmp_path / "settings.yaml"), principals=(anonymous,))
    report = world.plan(checks=(check.value,))
    missing = {finding.missing_right for result in report.results for finding in result.change.checks} - {""}
    assert (missing, [f"{r.method} {r.path}" for r in world.requests if r.status == 403]) == (set(), [])
    requested = {request.action.casefold() for request in world.requests}
    # A role that the check widens to a subscription has the right to policy tokens, which a sync may need there.
    added = set(role.actions) - set(without.actions) - {"Microsoft.Authorization/acquirePolicyToken/action"}
    assert [action for action in sorted(added) if not fnmatch.filter(requested, action.casefold())] == []
