"""A run that is not what it seems is refused before anything is touched: an old revision, an unknown agent."""

from __future__ import annotations

import json

import pytest

from gitsync.errors import ConfigError, UnsafePlanError
from gitsync.model.problem import Level
from gitsync.model.verdict import Verdict
from gitsync.report import markdown, text
from tests.support.world import GROUP, GROUP_ID, World, of

TAGGED = GROUP.replace("location: westeurope", "location: westeurope\n      tags: {a: b}")
OTHER = GROUP.replace("name: core", "name: other")


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def codes(report):
    return [problem.code for problem in report.problems if problem.code != "RecordsNotSigned"]


# ---- revisions ----


def test_an_old_job_that_runs_again_is_refused(world):
    world.synced(group=GROUP)
    old = world.git("rev-parse", "HEAD")
    world.synced(group=TAGGED)
    world.git("checkout", "-q", old)
    with pytest.raises(UnsafePlanError, match=f"RevisionSuperseded: Revision {old[:12]} is older than") as refusal:
        world.sync()
    assert "--allow-rollback" in refusal.value.hint
    assert world.requests == []
    assert world.read(GROUP_ID)["tags"] == {"a": "b"}


def test_a_plan_of_it_is_shown_in_full_and_ends_as_the_sync(world):
    world.synced(group=GROUP)
    old = world.git("rev-parse", "HEAD")
    world.synced(group=TAGGED)
    world.git("checkout", "-q", old)
    report = world.plan()
    assert (codes(report), report.exit_code) == (["RevisionSuperseded"], 2)
    assert of(report, "ResourceGroup").verdict is Verdict.PENDING


def test_a_rollback_that_is_meant_is_done_and_counts_from_then_on(world):
    world.synced(group=GROUP)
    old = world.git("rev-parse", "HEAD")
    world.synced(group=TAGGED)
    newest = world.git("rev-parse", "HEAD")
    world.git("checkout", "-q", old)
    assert world.sync(allow_rollback=True).exit_code == 0
    assert "tags" not in world.read(GROUP_ID)
    assert world.sync().exit_code == 0, "it is the recorded revision now"
    world.git("checkout", "-q", newest)
    assert world.sync().exit_code == 0


def test_a_branch_beside_the_recorded_revision_is_not_a_rollback(world):
    world.synced(group=GROUP)
    old = world.git("rev-parse", "HEAD")
    world.synced(group=TAGGED)
    world.git("checkout", "-q", old)
    world.says(group=GROUP, other=OTHER)
    assert codes(world.plan()) == []


def test_a_history_that_is_not_there_goes_on_with_a_note(world):
    world.synced(group=GROUP)
    first = world.git("rev-parse", "HEAD")
    inventory = world.state / "inventory.json"
    inventory.write_text(inventory.read_text().replace(first, "f" * 40))
    report = world.says(group=TAGGED).sync()
    assert (codes(report), report.exit_code) == (["RevisionNotCompared"], 0)
    assert codes(world.sync()) == []


def test_each_agent_has_its_own_revision(world):
    world.says(group=GROUP).sync(agent="one")
    old = world.git("rev-parse", "HEAD")
    world.says(other=OTHER).sync(agent="two")
    world.git("checkout", "-q", old)
    assert world.sync(agent="one").exit_code == 0, "the other agent is ahead, and this one is not behind"
    with pytest.raises(UnsafePlanError, match="RevisionSuperseded"):
        world.sync(agent="two")
    inventory = json.loads((world.state / "inventory.json").read_text())
    assert inventory["revisions"] == {"one": old, "two": inventory["revision"]}


# ---- agents ----


def test_an_agent_without_records_takes_nothing_from_another(world):
    world.says(group=GROUP).sync(agent="one")
    with pytest.raises(UnsafePlanError, match="AgentUnknown: No record belongs to the agent two") as refusal:
        world.says(group=TAGGED).sync(agent="two")
    assert "run with --agent one" in refusal.value.hint
    assert world.requests == []
    report = world.plan(agent="two")
    assert (codes(report), report.exit_code) == (["AgentUnknown"], 2)
    assert world.sync(agent="one").exit_code == 0, "the way that the hint names"


def test_a_second_agent_with_manifests_of_its_own_is_welcome(world):
    world.says(group=GROUP).sync(agent="one")
    report = world.says(other=OTHER).sync(agent="two")
    assert (codes(report), report.exit_code) == ([], 0)


def test_a_namespace_alone_names_no_agent(world, monkeypatch):
    monkeypatch.setenv("POD_NAMESPACE", "pod")
    assert of(world.says(group=GROUP).sync(), "ResourceGroup").record.agent == "gitsync"


def test_records_that_bear_the_namespace_keep_it(world, monkeypatch):
    world.says(group=GROUP).sync(agent="pod")
    monkeypatch.setenv("POD_NAMESPACE", "pod")
    report = world.says(group=TAGGED).sync()
    assert (codes(report), report.exit_code) == (["AgentOfNamespace"], 0)
    assert of(report, "ResourceGroup").record.agent == "pod"
    monkeypatch.delenv("POD_NAMESPACE")
    with pytest.raises(UnsafePlanError, match="the agent pod manages"):
        world.sync()


# ---- deletes ----


def test_a_plan_reports_that_a_sync_would_delete_too_much(world):
    groups = {f"g{number}": GROUP.replace("name: core", f"name: g{number}") for number in range(3)}
    world.synced(group=GROUP, **groups)
    world.says(group=GROUP)
    report = world.plan(prune=True)
    assert (codes(report), report.exit_code) == (["TooManyDeletes"], 2)
    verdicts = [Verdict.IN_SYNC, *[Verdict.DELETE] * 3]
    assert [result.verdict for result in report.results] == verdicts, "the plan is shown whole"
    with pytest.raises(UnsafePlanError, match="TooManyDeletes: This run would delete 3 of 4") as refusal:
        world.sync(prune=True)
    assert refusal.value.hint == next(problem.hint for problem in report.problems if problem.code == "TooManyDeletes")
    assert world.plan().exit_code == 0, "without --prune nothing is deleted"
    assert (world.plan(prune=True, max_deletes=3).exit_code, world.sync(prune=True, max_deletes=3).exit_code) == (0, 0)


@pytest.mark.parametrize(
    ("settings", "code", "why"),
    [
        ({"prune": True}, 2, "an empty source looks like a wrong folder, even with a single delete"),
        ({"prune": True, "max_deletes": 0}, 2, "a limit that does not cover the deletes"),
        ({"prune": True, "max_deletes": 1}, 0, "the number is named"),
        ({"prune": True, "max_deletes": 50}, 0, "a limit that was set covers it"),
        ({}, 0, "nothing is deleted without --prune"),
    ],
)
def test_an_empty_source_deletes_nothing_unless_the_number_is_named(world, settings, code, why):
    world.synced(group=GROUP)
    plan = world.says(README="not: a manifest").plan(**settings)
    refusals = ["TooManyDeletes"] if code else []
    assert (codes(plan), plan.exit_code) == (["EmptySource", *refusals], code), why
    if code:
        with pytest.raises(UnsafePlanError, match="TooManyDeletes") as refusal:
            world.sync(**settings)
        assert "Check SOURCE and --path." in refusal.value.hint or "max_deletes" in settings
        assert (world.sent("DELETE"), world.read(GROUP_ID)["name"]) == ([], "core")
    else:
        world.sync(**settings)
        assert len(world.sent("DELETE")) == bool(settings), why


@pytest.mark.parametrize("writes", [True, False], ids=["sync", "plan"])
def test_a_source_without_resources_is_a_warning(world, writes):
    report = world.says().sync() if writes else world.says().plan()
    (problem,) = report.problems
    assert (problem.code, problem.level, problem.hint) == ("EmptySource", Level.WARNING, "Check SOURCE and --path.")
    assert report.exit_code == 0
    names = "\n---\n".join(
        f"{{apiVersion: v1, kind: Namespace, metadata: {{name: {name}}}}}" for name in ("shop", "apps")
    )
    report = world.says(group=GROUP, names=names).plan(target_namespaces=("shop", "apps"))
    assert report.problems[0].message == (
        "The source has no resource in the namespaces of --target-namespaces (apps, shop)."
    )
    assert codes(world.plan(only=("ResourceGroup/core",))) == [], "the source counts, not what a run selects of it"


@pytest.mark.parametrize("writes", [True, False], ids=["sync", "plan"])
def test_a_namespace_that_nothing_is_in_is_refused(world, writes):
    world.says(group=GROUP)
    with pytest.raises(ConfigError, match=r"Namespace defalt has no resources\. Did you mean default"):
        (world.sync if writes else world.plan)(target_namespaces=("defalt",))
    assert world.requests == []


# ---- what a plan has ----


def test_a_plan_foretells_that_a_region_cannot_change(world):
    world.synced(group=GROUP)
    report = world.says(group=GROUP.replace("westeurope", "northeurope")).plan()
    assert "Azure cannot move a resource to another region" in of(report, "ResourceGroup").condition.message
    spelt = world.says(group=GROUP.replace("westeurope", "West Europe")).plan()
    assert "another region" not in of(spelt, "ResourceGroup").condition.message


def test_a_plan_of_creates_has_their_ids_and_values(world):
    report = world.says(group=TAGGED).plan()
    plain = text.render(report)
    assert "  create   ResourceGroup/core   group.yaml:1\n    + location: westeurope\n" in plain
    assert "    + tags:\n    +   a: b\n" in plain
    assert f"    id: {GROUP_ID}\n" in plain
    assert GROUP_ID in markdown.render(report)
    assert of(world.sync(), "ResourceGroup").change.body is None, "a sync has done it"


def test_the_body_of_a_create_has_no_secret(world):
    secret = """\
        apiVersion: v1
        kind: Secret
        metadata: {name: admin}
        stringData: {password: "a password of some length"}
        """
    server = """\
        apiVersion: dbformysql.azure.com/v1api20231230
        kind: FlexibleServer
        metadata: {name: db}
        spec:
          location: westeurope
          owner: {name: core}
          administratorLogin: root
          administratorLoginPassword: {name: admin, key: password}
        """
    report = world.says(group=GROUP, secret=secret, server=server).plan()
    verbose = text.render(report, verbose=True)
    assert "administratorLoginPassword: <secret>" in verbose
    assert "a password of some length" not in verbose
