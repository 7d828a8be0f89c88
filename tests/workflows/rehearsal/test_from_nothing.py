"""Drills of whole sources: an empty subscription, and all that git has."""

from __future__ import annotations

import shutil
import textwrap
from pathlib import Path

import pytest

from gitsync.errors import ExitCode
from gitsync.model.rehearsal import Rehearsal
from gitsync.settings.config.config import Config
from gitsync.workflows.rehearsal.rehearse import rehearse
from tests.agent.run import test_flux_runs, test_helm_runs
from tests.support.fake_clock import FakeClock
from tests.support.git_repositories import commit_all, init_repository
from tests.support.programs import needs_build_tool, needs_helm
from tests.support.world import run_to_end
from tests.workflows.rehearsal.pieces import SCRIPT
from tests.workflows.rehearsal.short_manifests import (
    GROUP,
    GUID,
    OTHER,
    SUBSCRIPTION,
    group_id,
    in_group,
    network_id,
    one,
    show,
)

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
PROD = "clusters/prod"


@pytest.fixture
def drill(tmp_path):
    """A drill of the files of a folder, or of files by path. Azure operations end at once."""
    folder, script = tmp_path / "source", tmp_path / "script.yaml"
    script.write_text(SCRIPT)

    def run(files: Path | dict[str, str], **settings: object) -> Rehearsal:
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(files, Path):
            shutil.copytree(files, folder)
        for path, text in files.items() if isinstance(files, dict) else ():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(textwrap.dedent(text))
        init_repository(folder)
        commit_all(folder, "all")
        config = Config(source=str(folder), emulator_script=str(script), **settings)  # type: ignore[arg-type]
        return run_to_end(rehearse(config, from_nothing=True, clock=FakeClock()))

    return run


def names(rehearsal: Rehearsal) -> set[str]:
    """What Azure made."""
    return {f"{write.key.kind}/{write.key.name}" for write in rehearsal.writes if write.key and write.status < 400}


def test_the_landing_zone_comes_back(drill):
    rehearsal = drill(EXAMPLES / "manifests")
    assert rehearsal.first is not None
    assert (rehearsal.exit_code, rehearsal.is_silent, len(rehearsal.first.results)) == (ExitCode.FINE, True, 69)
    assert len(rehearsal.writes) == 69
    assert rehearsal.stubs == ()
    assert show(rehearsal.gaps) == [
        "name Vault/shop-vault",
        "data Redis/shop-sessions",
        "data ManagedCluster/shop",
        "data FlexibleServer/shop-db",
        "data Cluster/warehouse",
        "data Workspace/platform-logs",
        "data StorageAccount/lake",
        "data StorageAccount/shop-assets",
    ]


FLUX = [
    pytest.param(EXAMPLES / "flux", 3, ["data StorageAccount/fleet"], marks=needs_build_tool, id="the example"),
    pytest.param(test_flux_runs.TREE, 3, [], marks=needs_build_tool, id="a cluster of flux bootstrap"),
    pytest.param(
        test_helm_runs.TREE,
        1,
        ["value ResourceGroup/prod-web"],
        marks=[needs_build_tool, needs_helm],
        id="a HelmRelease with a value that git does not have",
    ),
]


@pytest.mark.parametrize(("tree", "writes", "gaps"), FLUX)
def test_a_tree_of_flux_comes_back(drill, tree, writes, gaps):
    rehearsal = drill(tree, path=PROD)
    assert (len(rehearsal.writes), rehearsal.is_silent, show(rehearsal.gaps)) == (writes, True, gaps)
    assert rehearsal.exit_code is ExitCode.FINE


NETWORK = "addressSpace: {addressPrefixes: [10.0.0.0/16]}"
SEEDED = "".join(
    (
        GROUP,
        in_group("VirtualNetwork", "hub", NETWORK),
        one(
            "VirtualNetworksVirtualNetworkPeering",
            "to-spoke",
            f"owner: {{name: hub}}\nremoteVirtualNetwork: {{reference: {{armId: {network_id('spoke', 'spokes')}}}}}",
        ),
        one(
            "VirtualNetworksVirtualNetworkPeering",
            "to-partner",
            "owner: {name: hub}\nremoteVirtualNetwork: {reference: {armId: "
            f"{network_id('partner', 'net', OTHER)}}}}}",
        ),
        one("ResourceGroup", "shared", policy="skip"),
        one("VirtualNetwork", "spare", f"owner: {{name: shared}}\nlocation: westeurope\n{NETWORK}"),
        one("VirtualNetworksSubnet", "spare", "owner: {name: spare}\naddressPrefix: 10.0.1.0/24"),
        in_group("UserAssignedIdentity", "app"),
        one(
            "RoleAssignment",
            "app-reads",
            "owner: {group: resources.azure.com, kind: ResourceGroup, name: rg}\nprincipalType: ServicePrincipal\n"
            f"principalId: {GUID}\nroleDefinitionReference: {{wellKnownName: Reader}}",
        ),
        in_group(
            "FlexibleServer",
            "database",
            "version: '16'\nadministratorLogin: boss\nadministratorLoginPassword: {name: admin, key: password}",
        ),
        in_group("StorageAccount", "store", "kind: StorageV2\nsku: {name: Standard_LRS}"),
    )
)


def test_each_seeded_gap_is_listed_and_the_rest_comes_back(drill):
    rehearsal = drill({"estate.yaml": SEEDED}, subscription=SUBSCRIPTION)
    remote = "spec.remoteVirtualNetwork.reference.armId"
    assert show(rehearsal.gaps) == [
        f"owner VirtualNetworksVirtualNetworkPeering/to-spoke {remote}!",
        "owner ResourceGroup/shared!",
        f"owner VirtualNetworksVirtualNetworkPeering/to-partner {remote}",
        "value FlexibleServer/database spec.administratorLoginPassword",
        "id RoleAssignment/app-reads spec.principalId",
        "data FlexibleServer/database",
        "data StorageAccount/store",
    ]
    assert names(rehearsal) == {
        "ResourceGroup/rg",
        "VirtualNetwork/hub",
        "VirtualNetworksVirtualNetworkPeering/to-partner",
        "UserAssignedIdentity/app",
        "RoleAssignment/app-reads",
        "FlexibleServer/database",
        "StorageAccount/store",
    }, "nothing below a missing owner, and nothing that refers to what is missing"
    assert (rehearsal.is_silent, rehearsal.exit_code) == (True, ExitCode.FAILED)
    assert [stub.arm_id for stub in rehearsal.stubs] == [
        group_id("net", OTHER),
        network_id("partner", "net", OTHER),
    ], "only another subscription is not empty"


def test_gaps_that_are_closed_leave_none(drill):
    closed = SEEDED.replace("serviceoperator.azure.com/reconcile-policy: skip", "a: b")
    closed = "---\n".join(part for part in closed.split("---\n") if "to-" not in part and "StorageAccount" not in part)
    closed = closed.replace(f"principalId: {GUID}", "principalIdFromConfig: {name: app, key: principalId}")
    closed = closed.replace(
        "kind: UserAssignedIdentity\nmetadata:\n  name: app\n  namespace: default\nspec:\n",
        "kind: UserAssignedIdentity\nmetadata:\n  name: app\n  namespace: default\nspec:\n"
        "  operatorSpec: {configMaps: {principalId: {name: app, key: principalId}}}\n",
    )
    secret = (
        "apiVersion: v1\nkind: Secret\nmetadata: {name: admin, namespace: default}\nstringData: {password: Correct-9}\n"
    )
    closed = closed.replace("  version: '16'\n", "  version: '16'\n  createMode: PointInTimeRestore\n")
    rehearsal = drill({"estate.yaml": closed, "secret.yaml": secret}, subscription=SUBSCRIPTION)
    assert (show(rehearsal.gaps), rehearsal.is_silent, rehearsal.exit_code) == ([], True, ExitCode.FINE)
    assert len(rehearsal.writes) == 8


@needs_build_tool
def test_a_missing_value_of_a_cluster_is_a_gap_and_its_defaults_stay(drill):
    """A ConfigMap in git has what it has: a variable that it lacks has its default, also in a drill."""
    group = test_flux_runs.group("core", env="${env}", tier="${tier:=free}")
    tree = {key: text for key, text in test_flux_runs.TREE.items() if "dev" not in key} | {
        "infra/base/core.yaml": group,
        f"{PROD}/cluster-vars.yaml": test_flux_runs.TREE[f"{PROD}/cluster-vars.yaml"].replace("tier:", "other:"),
    }
    rehearsal = drill(tree, path=PROD)
    assert (show(rehearsal.gaps), rehearsal.not_rehearsed[0].blank) == ([], "policies")
    del tree[f"{PROD}/cluster-vars.yaml"]
    rehearsal = drill(tree, path=PROD)
    (gap,) = rehearsal.gaps
    assert gap.message.startswith(
        "No manifest declares ConfigMap flux-system/cluster-vars, and no resource exports it; the variables of "
        "Kustomization clusters/prod/flux-system/infra need it."
    )
    assert (gap.stops, str(gap.source)) == (True, f"{PROD}/infra.yaml:1")
