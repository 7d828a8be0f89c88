"""Names that only a unit that cannot be built may declare, and that no record has: they are unknown, and not absent."""

from __future__ import annotations

import pytest

from gitsync.agent.run.revision_plan import plan_revisions
from gitsync.desired.manifests.unbuilt_units import UNREAD_OBJECTS
from gitsync.model.result import Outcome
from gitsync.model.verdict import Verdict
from gitsync.repository.units.object_reader import CONTROLLERS
from gitsync.settings.config.config import Config
from gitsync.settings.redaction import Redactions
from tests.support.command_line import run_here
from tests.support.programs import needs_build_tool
from tests.support.world import SUBSCRIPTION, World

pytestmark = needs_build_tool

GROUP = """\
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {name: base}
spec: {location: westeurope}
---
apiVersion: network.azure.com/v1api20240301
kind: NetworkSecurityGroup
metadata: {name: rules}
spec: {owner: {name: base}, location: westeurope}
---
apiVersion: managedidentity.azure.com/v1api20230131
kind: UserAssignedIdentity
metadata: {name: robot}
spec: {owner: {name: base}, location: westeurope}
"""
BUILT = {"apps/kustomization.yaml": "resources: [group.yaml]\n", "apps/group.yaml": GROUP}
BROKEN = {"apps/kustomization.yaml": "resources: [group.yaml]\ncomponents: [../nowhere]\n", "apps/group.yaml": GROUP}
MANAGED = (
    "apiVersion: resources.azure.com/v1api20200601\nkind: ResourceGroup\nspec: {location: westeurope}\nmetadata:\n"
)
NETWORK = """\
apiVersion: network.azure.com/v1api20240301
kind: VirtualNetwork
metadata: {name: net}
spec: {owner: {name: base}, location: westeurope, addressSpace: {addressPrefixes: [10.9.0.0/16]}}
"""
SUBNET = """\
apiVersion: network.azure.com/v1api20240301
kind: VirtualNetworksSubnet
metadata: {name: consumer}
spec:
  owner: {name: net}
  addressPrefix: 10.9.0.0/24
"""
SERVER = """\
apiVersion: dbforpostgresql.azure.com/v1api20220120preview
kind: FlexibleServer
metadata: {name: db}
spec:
  owner: {name: base}
  location: westeurope
  administratorLogin: admin
  administratorLoginPassword: {name: admin, key: password}
"""

NAMES = {
    "an owner": NETWORK.replace("name: net}", "name: consumer}"),
    "an owner of an owner": f"{NETWORK}---\n{SUBNET}",
    "a reference": f"{SUBNET}  networkSecurityGroup:\n    reference: "
    "{group: network.azure.com, kind: NetworkSecurityGroup, name: rules}\n",
    "an order": f"{MANAGED}  name: consumer\n  annotations: {{gitsync/depends-on: ResourceGroup/base}}\n",
    "a value": f"{MANAGED}  name: consumer\n  annotations:\n    gitsync/set: |\n"
    '      spec.tags.other: resource("ResourceGroup/base").id\n',
    "a member": "apiVersion: entra.azure.com/v1\nkind: SecurityGroup\nspec: {displayName: all, mailNickname: all}\n"
    "metadata:\n  name: consumer\n  annotations:\n    gitsync/members: |\n      complete: [UserAssignedIdentity/robot]\n",
}


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def find(report):
    return next(result for result in report.results if result.key.name == "consumer")


@pytest.mark.parametrize("text", NAMES.values(), ids=NAMES)
def test_what_names_something_of_a_unit_that_cannot_be_built_waits(world, text):
    world.says_files(BROKEN | {"plain/use.yaml": text})
    for report in (world.plan(), world.sync()):
        result = find(report)
        assert (result.verdict, result.outcome) == (Verdict.BLOCKED, Outcome.BLOCKED)
        assert result.condition.reason == "WaitingForUnit"
        assert (
            "The unit apps (apps/kustomization.yaml:2) cannot be built, and may declare it." in result.condition.message
        )
        assert result.condition.advice == "Fix apps/kustomization.yaml:2: this resource follows."
        assert [problem.code for problem in report.problems if problem.is_error] == ["KustomizationFailed"]
        assert report.exit_code == 1
    assert world.writes == []
    result = find(world.says_files(BUILT | {"plain/use.yaml": text}).sync())
    assert result.condition.reason != "WaitingForUnit", "and follows once the unit can be built"


def test_a_plan_of_two_revisions_does_not_tolerate_such_a_wait(world):
    old = world.says_files(BUILT).git("rev-parse", "HEAD").strip()
    new = world.says_files(BROKEN | {"plain/use.yaml": NAMES["an owner"]}).git("rev-parse", "HEAD").strip()
    report = plan_revisions(
        Config(source=str(world.folder), from_revision=old, to_revision=new), world.clock, Redactions()
    )
    result = find(report)
    assert (result.condition.reason, result.ending.is_tolerated) == ("WaitingForUnit", False)
    assert result.condition.advice == "Fix apps/kustomization.yaml:2: this resource follows."


def write(folder, files):
    for path, text in files.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text)


def test_a_rebuild_does_not_count_such_a_name_as_one_without_a_manifest(tmp_path):
    write(tmp_path, BROKEN | {"plain/use.yaml": f"{NAMES['an owner']}---\n{SERVER}"})
    end = run_here("rehearse", "--from-nothing", folder=tmp_path, AZURE_SUBSCRIPTION_ID=SUBSCRIPTION)
    said = " ".join(end.out.split())
    unknown = "The unit apps (apps/kustomization.yaml:2) cannot be built, and may declare it."
    assert f"spec.owner: No manifest that can be read declares ResourceGroup/base. {unknown}" in said
    assert f"no resource exports it; FlexibleServer/db needs it. {unknown}" in said
    assert "No manifest declares" not in said


SET = """\
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: teams, namespace: argocd}
spec:
  generators: [{clusters: {}}]
  template: {metadata: {name: x}, spec: {project: default, source: {repoURL: x, path: y}}}
"""

SAID = {
    "a near name": (
        BROKEN | {"plain/use.yaml": NAMES["an order"] + "---\n" + GROUP.partition("---")[0].replace("base", "bases")},
        ("warning: WaitingForUnit", "Did you mean ResourceGroup/bases? Otherwise, fix apps/kustomization.yaml:2:"),
    ),
    "several units": (
        BROKEN | {"more/kustomization.yaml": "resources: [none.yaml, group.yaml]\n", "more/group.yaml": GROUP, "plain/use.yaml": NAMES["an owner"]},
        (
            "units apps (apps/kustomization.yaml:2) and more (more/kustomization.yaml:1) cannot be built, and one of them",
            "Fix apps/kustomization.yaml:2 and more/kustomization.yaml:1: this resource follows.",
        ),
    ),
    "a file that the unit leaves out": (
        {"apps/kustomization.yaml": "resources: [grup.yaml]\n", "apps/group.yaml": GROUP, "plain/use.yaml": NAMES["an owner"]},
        ("apps/group.yaml:1 declares it, but its kustomization leaves that file out.", "Otherwise, fix apps/kust"),
    ),
    "a Secret": (
        BROKEN | {"plain/use.yaml": SERVER.replace("name: base", f"armId: /subscriptions/{SUBSCRIPTION}/resourceGroups/base")},
        (
            "warning: ValueNotFound",
            "No source that can be read has key password of Secret default/admin, which FlexibleServer/db needs. The unit apps",
            "name the source that has it with --secret-sources. Otherwise, fix apps/kustomization.yaml:2: this resource follows.",
        ),
    ),
    "a generator, for which no run fails": (
        {"argo/set.yaml": SET, "plain/use.yaml": NAMES["an owner"]},
        ("error: WaitingForUnit", "The unit of argo/set.yaml:5 cannot be built", "Add its manifest, or set spec.owner.armId", "Otherwise, fix argo/set.yaml"),
    ),
    "a unit that waits for owners in any case": (
        BROKEN | {"gitsync.yaml": "units: [{path: plain, missingOwner: wait}]\n", "plain/use.yaml": NAMES["an owner"]},
        ("warning: OwnerNotFound", "The unit apps (apps/kustomization.yaml:2) cannot be built, and may declare it.", "resourceGroups/base. Otherwise, fix apps/kust"),
    ),
    "a unit that has nothing for gitsync": (
        {"web/kustomization.yaml": "resources: [none.yaml, web.yaml]\n", "web/web.yaml": "kind: Deployment\n", "plain/use.yaml": NAMES["an owner"]},
        ("error: OwnerNotFound",),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("files", "said"), SAID.values(), ids=SAID)
def test_validate_names_the_unit_and_what_to_fix(tmp_path, files, said):
    write(tmp_path, files)
    end = run_here("validate", folder=tmp_path)
    assert end.code == 1
    for text in said:
        assert text in " ".join(end.out.split()), end.out


def test_an_object_that_cannot_be_read_may_declare_any_name():
    assert {controller.invalid for controller in CONTROLLERS} <= UNREAD_OBJECTS
