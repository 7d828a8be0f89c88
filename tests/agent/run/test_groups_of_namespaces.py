"""One resource in Azure that several manifests declare: a group in each namespace, since owners stay in theirs."""

import pytest

from gitsync.agent.run.revision_plan import plan_revisions
from gitsync.emulator.settings import EmulatorSettings
from gitsync.model.reconcile_policy import Policy
from gitsync.model.record import Claim
from gitsync.model.verdict import Action, Verdict
from gitsync.repository.git.state.state_folder import StatusFolder
from gitsync.settings.config.config import Config
from gitsync.settings.redaction import Redactions
from tests.agent.run.test_review import planned
from tests.support.fault_rules import rules
from tests.support.loose_git import LooseAccess
from tests.support.world import GROUP, GROUP_ID, World, annotated, of

READY = ("True", "", "Succeeded")


def group(namespace, *, policy=None, spec=""):
    text = GROUP.replace("name: core", f"name: core\n      namespace: {namespace}")
    text = text.replace("location: westeurope", f"location: westeurope{spec}")
    return annotated(text, reconcile_policy=policy) if policy else text


def identity(namespace):
    return f"""\
    apiVersion: managedidentity.azure.com/v1api20230131
    kind: UserAssignedIdentity
    metadata:
      name: worker
      namespace: {namespace}
    spec:
      azureName: worker-{namespace}
      location: westeurope
      owner:
        name: core
      operatorSpec:
        configMaps:
          clientId: {{name: worker, key: clientId}}
    """


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def said(result):
    return (result.condition.status, result.condition.severity, result.condition.reason)


def claims(world):
    with StatusFolder(world.state) as store:
        return {
            key.namespace: (record.claim, record.manifest.policy)
            for key, record in store.load().records.items()
            if key.kind == "ResourceGroup"
        }


def verdicts(report, kind="ResourceGroup"):
    return {r.key.namespace: r.verdict for r in report.results if r.key.kind == kind}


def test_a_group_of_many_namespaces_is_created_once_and_owned_once(world):
    documents = {f"group-{name}": group(name, policy="detach-on-delete") for name in ("a", "b", "c")}
    documents |= {f"identity-{name}": identity(name) for name in ("a", "b", "c")}
    planned = world.says(**documents).plan()
    assert verdicts(planned) == {"a": Verdict.CREATE, "b": Verdict.IN_SYNC, "c": Verdict.IN_SYNC}
    told = {r.key.namespace: r.condition.message for r in planned.results if r.key.kind == "ResourceGroup"}
    assert told["b"] == "ResourceGroup.resources.azure.com/a/core writes it."
    report = world.sync()
    assert [said(result) for result in report.results] == [READY] * 6
    assert world.writes.count(f"PUT {GROUP_ID}") == 1
    assert len(world.writes) == 4
    assert claims(world) == {
        "a": (Claim.CREATED, Policy.DETACH_ON_DELETE),
        "b": (Claim.NONE, Policy.DETACH_ON_DELETE),
        "c": (Claim.NONE, Policy.DETACH_ON_DELETE),
    }
    again = world.sync()
    assert (again.exit_code, world.writes) == (0, [])
    assert {result.verdict for result in again.results} == {Verdict.IN_SYNC}


def test_each_manifest_exports_to_its_own_namespace(world):
    export = "\n      operatorSpec:\n        configMapExpressions:\n          - {name: group, key: id, value: self.status.id}"
    world.says(a=group("a", spec=export), b=group("b", spec=export)).sync()
    with StatusFolder(world.state) as store:
        exported = {address.namespace for address in store.load().config_maps}
    assert exported == {"a", "b"}


def test_the_record_moves_when_the_manifest_that_has_it_leaves(world):
    both = {"a": group("a"), "b": group("b"), "worker": identity("b")}
    world.synced(**both)
    report = world.says(b=both["b"], worker=both["worker"]).sync(prune=True)
    assert (report.exit_code, world.writes) == (0, [])
    left = [r for r in report.results if r.key.namespace == "a"]
    assert [(r.verdict, r.action) for r in left] == [(Verdict.DETACH, Action.DETACH)]
    assert "ResourceGroup.resources.azure.com/b/core takes over its record." in left[0].condition.message
    assert verdicts(report)["b"] is Verdict.IN_SYNC
    assert claims(world) == {"b": (Claim.CREATED, Policy.MANAGE)}
    assert (world.sync(prune=True).exit_code, world.writes) == (0, [])
    world.says().sync(prune=True, max_deletes=5)
    assert world.sent("DELETE") == [GROUP_ID]


def test_without_prune_the_record_moves_too(world):
    world.synced(a=group("a"), b=group("b"))
    report = world.says(b=group("b")).sync()
    assert (report.exit_code, world.writes) == (0, [])
    assert verdicts(report) == {"a": Verdict.DETACH, "b": Verdict.IN_SYNC}
    assert claims(world) == {"a": (Claim.NONE, Policy.MANAGE), "b": (Claim.CREATED, Policy.MANAGE)}
    assert world.sync(adopt="report").exit_code == 0, "it is not adopted again"


def test_a_manifest_that_no_longer_writes_gives_its_record_up(world):
    world.synced(a=group("a"), b=group("b"))
    report = world.says(a=group("a", policy="skip"), b=group("b")).sync()
    assert (report.exit_code, world.writes) == (0, [])
    assert verdicts(report) == {"a": Verdict.SKIP, "b": Verdict.IN_SYNC}
    assert claims(world) == {"a": (Claim.NONE, Policy.SKIP), "b": (Claim.CREATED, Policy.MANAGE)}


def test_a_change_of_all_is_written_once_and_drift_is_reported_for_the_writer(world):
    world.synced(a=group("a"), b=group("b"))
    tag = "\n      tags: {team: web}"
    report = world.says(a=group("a", spec=tag), b=group("b", spec=tag)).sync()
    assert (report.exit_code, world.writes) == (0, [f"PUT {GROUP_ID}"])
    world.outside("PUT", GROUP_ID, {"location": "westeurope", "tags": {"team": "ops"}})
    assert verdicts(world.plan()) == {"a": Verdict.DRIFTED, "b": Verdict.IN_SYNC}


LEAVING = [
    ({"a": "manage", "b": "manage"}, True, "nothing keeps it"),
    ({"a": "manage", "b": "detach-on-delete"}, False, "detach wins at the end"),
    ({"a": "detach-on-delete", "b": "manage"}, False, "in any order"),
    ({"a": "manage", "b": "skip"}, True, "what only reads has no say"),
]


def name_group(text, row):
    return text.replace("name: core", f"name: row{row}")


def test_the_last_ones_leave_together(world):
    """Each row is a group of its own."""
    documents = {
        f"row{row}-{name}": name_group(group(name, policy=policy), row)
        for row, (policies, _, _) in enumerate(LEAVING)
        for name, policy in policies.items()
    }
    other = group("other").replace("name: core", "name: other")
    world.says(**documents, other=other).sync()
    assert world.says(other=other).plan(prune=True, max_deletes=5).exit_code == 0
    report = world.sync(prune=True, max_deletes=5)
    for row, (_, is_deleted, why) in enumerate(LEAVING):
        assert (GROUP_ID.replace("core", f"row{row}") in world.sent("DELETE")) == is_deleted, why
    assert (report.exit_code, claims(world)) == (0, {"other": (Claim.CREATED, Policy.MANAGE)})


def test_the_last_ones_leave_one_after_the_other(world):
    world.says(a=group("a"), b=group("b", policy="detach-on-delete")).sync()
    world.says(b=group("b", policy="detach-on-delete")).sync(prune=True)
    assert claims(world) == {"b": (Claim.CREATED, Policy.DETACH_ON_DELETE)}
    world.says().sync(prune=True)
    assert (world.sent("DELETE"), claims(world)) == ([], {})
    assert world.read(GROUP_ID)["name"] == "core"


def test_what_is_in_it_goes_first_wherever_it_was_declared(world):
    documents = {"a": group("a"), "b": group("b"), "worker": identity("b")}
    world.synced(**documents)
    report = world.says().sync(prune=True, max_deletes=5)
    assert report.exit_code == 0
    assert world.sent("DELETE")[-1] == GROUP_ID
    assert claims(world) == {}


def test_a_delete_is_held_while_a_namespace_outside_of_the_run_has_a_manifest(world):
    both = {"a": group("a"), "b": group("b")}
    world.synced(**both)
    report = world.says(b=both["b"]).sync(prune=True, max_deletes=5, target_namespaces=("a",))
    assert world.sent("DELETE") == []
    assert of(report, "ResourceGroup").condition.reason == "PruneHeld"


READING = [
    ({"a": "manage", "b": "skip"}, 1, "managed in one namespace, read in the other"),
    ({"a": "skip", "b": "manage"}, 1, "whichever comes first"),
    ({"a": "skip", "b": "skip"}, 0, "read in both"),
]


def test_a_manifest_may_only_read_what_another_writes(world):
    """Each row is a group of its own, with what is in it."""
    different = {"skip": "\n      tags: {by: another}", "manage": ""}
    documents, ids = {}, [GROUP_ID.replace("core", f"row{row}") for row in range(len(READING))]
    for row, (policies, puts, _) in enumerate(READING):
        for name, policy in policies.items():
            documents[f"row{row}-{name}"] = name_group(group(name, policy=policy, spec=different[policy]), row)
        worker = name_group(identity("a"), row).replace("worker", f"worker{row}")
        documents[f"worker{row}"] = worker
        if not puts:
            world.azure().put(ids[row], {"location": "westeurope"})
    assert world.says(**documents).plan().exit_code == 0
    report = world.sync()
    for row, (_, puts, why) in enumerate(READING):
        own = [said(result) for result in report.results if result.key.name in {f"row{row}", f"worker{row}"}]
        assert own == [READY] * 3, why
        assert world.writes.count(f"PUT {ids[row]}") == puts, why
    assert (world.sync().exit_code, world.writes) == (0, [])


def test_different_bodies_are_an_error_of_those_that_write(world):
    report = world.says(a=group("a"), b=group("b", spec="\n      tags: {team: web}"), worker=identity("a")).sync()
    assert verdicts(report) == {"a": Verdict.INVALID, "b": Verdict.INVALID}
    assert (report.exit_code, world.writes) == (1, [])
    assert 'with different bodies: /tags/team is absent here and "web" there.' in next(
        problem.message for problem in report.problems if problem.path == "a.yaml"
    )


def test_a_failed_write_is_reported_for_each_and_what_is_inside_goes_on(world):
    documents = {"a": group("a"), "b": group("b"), "worker": identity("b")}
    world.synced(**documents)
    tag = "\n      tags: {team: web}"
    refused = "{match: {method: PUT, path: '*/resourceGroups/core'}, answer: {code: Policy, status: 400}}"
    world.settings = EmulatorSettings(limits=None, rules=rules(refused))
    report = world.says(**documents | {"a": group("a", spec=tag), "b": group("b", spec=tag)}).sync()
    shared = next(r for r in report.results if r.key.namespace == "b" and r.key.kind == "ResourceGroup")
    assert (report.exit_code, shared.verdict) == (1, Verdict.BLOCKED)
    assert shared.condition.message.startswith(
        "ResourceGroup.resources.azure.com/a/core writes this resource, but is not ready"
    )
    assert said(of(report, "UserAssignedIdentity")) == READY


def test_only_one_manifest_of_several(world):
    both = {"a": group("a"), "b": group("b")}
    report = world.says(**both).sync(only=("ResourceGroup.resources.azure.com/b/core",))
    assert (report.exit_code, world.writes) == (1, []), "the writer is not part of the run, and the group is not there"
    world.sync()
    report = world.sync(only=("ResourceGroup.resources.azure.com/b/core",))
    assert (report.exit_code, world.writes) == (0, [])


def test_a_manifest_that_is_renamed_in_azure_leaves_the_resource_to_the_others(world):
    world.synced(a=group("a"), b=group("b"))
    other = group("a").replace("spec:", "spec:\n      azureName: other")
    report = world.says(a=other, b=group("b")).sync()
    assert (report.exit_code, world.writes) == (0, [f"PUT {GROUP_ID.replace('core', 'other')}"])
    assert verdicts(report) == {"a": Verdict.CREATE, "b": Verdict.IN_SYNC}


def test_a_reviewed_plan_covers_all_of_them(world):
    file = planned(world.says(a=group("a"), b=group("b")))
    assert (world.sync(plan_file=str(file)).exit_code, world.sent("PUT")) == (0, [GROUP_ID])
    settings = {"prune": True, "max_deletes": 5}
    file = planned(world.says(), **settings)
    assert (world.sync(plan_file=str(file), **settings).exit_code, world.sent("DELETE")) == (0, [GROUP_ID])


def test_a_plan_of_two_revisions_has_the_writer(world):
    both = {"a": group("a"), "b": group("b")}
    world.says(other=group("x").replace("core", "other")).says(**both)
    config = Config(source=str(world.folder), from_revision="HEAD~1", to_revision="HEAD", prune=True, max_deletes=9)
    added = plan_revisions(config, world.clock, Redactions(), LooseAccess())
    assert [(r.key.namespace, r.action) for r in added.results if r.key.name == "core"] == [
        ("a", Action.CREATE),
        ("b", Action.NONE),
    ]
    world.says()
    removed = plan_revisions(config, world.clock, Redactions(), LooseAccess())
    messages = {r.key.namespace: r.condition.message for r in removed.results}
    assert "DELETE " in messages["a"]
    assert messages["b"].endswith("It is deleted with ResourceGroup.resources.azure.com/a/core.")
