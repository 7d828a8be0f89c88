"""Who changed a resource, in whole runs: what a plan and a sync report of drift, when, and what it costs."""

from __future__ import annotations

import shutil
from dataclasses import replace
from uuid import UUID

import pytest

from gitsync.agent.attribution.drift_authors import OTHER_FIELDS, RIGHTS
from gitsync.emulator.faults import Canned, FaultRule, Match, Move
from gitsync.emulator.settings import ANONYMOUS, EmulatedPrincipal
from gitsync.model.attribution import AuthorKind, ChangeSource
from gitsync.model.record import Claim
from gitsync.model.verdict import Verdict
from gitsync.report.run_facts import format_costs
from gitsync.settings.config.config import Config
from gitsync.settings.redaction import Redactions
from gitsync.workflows.doctor.role import build_role
from tests.agent.attribution.rows import OUR_OBJECT, OURS
from tests.agent.run.tenants import Tenants
from tests.support.world import GROUP, GROUP_ID, SUBNET, SUBNET_ID, SUBSCRIPTION, VNET, VNET_ID, World, of

TAGGED = GROUP.replace("location: westeurope", "location: westeurope\n      tags: {team: a}")
ESTATE = {"core": TAGGED, "hub": VNET, "one": SUBNET}
PREFIXES = "/properties/addressSpace/addressPrefixes"
WIDER, NARROWER = {PREFIXES: ["10.0.0.0/8"]}, {"/properties/addressPrefix": "10.0.0.0/28"}
DAY = 86_400
GRAPH, LOG = "resources", "values"


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path)
    world.synced(**ESTATE)
    world.clock.elapsed += 3600
    return world


def authors(report) -> dict[str, list[tuple[str, str]]]:
    """Author and what he used, or a doubt, of each resource that has one."""
    return {
        result.key.name: [
            ("", author.doubt) if author.doubt else (author.name, author.client) for author in result.changed_by
        ]
        for result in report.results
        if result.changed_by
    }


def requested(world) -> list[str]:
    """The checks of the last run, by the last word of their paths."""
    return sorted(r.path.rpartition("/")[2] for r in world.requests if r.path.endswith((f"/{GRAPH}", f"/{LOG}")))


def test_a_plan_and_a_sync_report_who_changed_what(world):
    first = world.somebody_changes(VNET_ID, WIDER)
    second = world.somebody_changes(SUBNET_ID, NARROWER, by="amy@contoso.com", client="CLI")
    world.somebody_changes(GROUP_ID, {"/tags/team": "b"}, by="44444444-0000-4000-8000-000000000000", client="")
    for run in (World.plan, World.sync):
        report = run(world, who="auto")
        assert authors(report) == {
            "hub": [("rob@contoso.com", "Azure Portal")],
            "one": [("amy@contoso.com", "Azure CLI")],
            "core": [("44444444-0000-4000-8000-000000000000", "")],
        }, run
        assert requested(world) == [GRAPH, GRAPH, LOG], "groups have a table of their own, and the child is in the log"
        [vnet], [subnet] = of(report, "VirtualNetwork").changed_by, of(report, "VirtualNetworksSubnet").changed_by
        assert (vnet.correlation_id, vnet.paths, vnet.source) == (first, (PREFIXES,), ChangeSource.RESOURCE_GRAPH)
        assert (subnet.correlation_id, subnet.paths, subnet.source) == (second, (), ChangeSource.ACTIVITY_LOG)
    assert authors(world.plan(who="auto")) == {}, "the sync has put all back"


def test_what_the_checks_cost_is_in_the_cost_of_the_sync(world):
    world.somebody_changes(VNET_ID, WIDER)
    world.somebody_changes(SUBNET_ID, NARROWER)
    plan = world.plan(who="auto")
    assert (plan.requests.checks, len(requested(world))) == (1, 2)
    [_, promised, *_] = format_costs(plan)
    sent = world.sync(who="auto").requests
    assert f"about {sent.reads} reads, {sent.checks} check, {sent.writes} writes" in promised


@pytest.mark.parametrize(
    ("changes", "settings", "why"),
    [
        ({}, {"who": "auto"}, "nothing drifted"),
        ({"hub": VNET.replace("10.0.0.0/16", "10.0.0.0/15")}, {"who": "auto"}, "git changed, and Azure did not"),
        (None, {"who": "off"}, "the operator does not want to know"),
    ],
)
def test_nothing_is_requested(world, changes, settings, why):
    if changes is None:
        world.somebody_changes(VNET_ID, WIDER)
    else:
        world.says(**{**ESTATE, **changes})
    report = world.plan(**settings)
    assert (authors(report), requested(world)) == ({}, []), why


def test_who_changed_what_git_changed_too(world):
    """The same field on both sides, and another one only in Azure."""
    world.somebody_changes(VNET_ID, WIDER)
    world.somebody_changes(VNET_ID, {"/location": "northeurope"}, by="amy@contoso.com")
    world.says(**{**ESTATE, "hub": VNET.replace("10.0.0.0/16", "10.0.0.0/15")})
    result = of(world.plan(who="auto"), "VirtualNetwork")
    assert result.verdict is Verdict.CONFLICT
    assert [(author.name, author.paths) for author in result.changed_by] == [
        ("amy@contoso.com", ("/location",)),
        ("rob@contoso.com", (PREFIXES,)),
    ]


def test_who_deleted_what_is_missing(world):
    world.somebody_deletes(VNET_ID, by="sam@contoso.com")
    report = world.plan(who="auto")
    assert {result.verdict for result in report.results} == {Verdict.IN_SYNC, Verdict.MISSING}
    assert authors(report) == {name: [("sam@contoso.com", "Azure Portal")] for name in ("hub", "one")}, (
        "and all below it"
    )
    assert requested(world) == [GRAPH, LOG]


TIMES = [
    (10, "doubt", "no source has it yet"),
    (70, "rob@contoso.com", "Resource Graph has it, and the log has who it was, or will have"),
    (200, "rob@contoso.com", "both have it"),
    (20 * DAY, "rob@contoso.com", "Resource Graph has forgotten it"),
    (95 * DAY, "doubt", "both have"),
]


@pytest.mark.parametrize(("ago", "expected", "why"), TIMES, ids=[row[-1] for row in TIMES])
def test_a_change_is_known_after_some_time_and_not_without_end(world, ago, expected, why):
    world.settings = replace(world.settings, change_log=replace(world.settings.change_log, actor_delay=0))
    world.somebody_moves(VNET_ID, Move(set=WIDER, by="rob@contoso.com", client="Azure Portal"), ago=ago)
    [change] = of(world.plan(who="auto"), "VirtualNetwork").changed_by
    assert ("doubt" if change.doubt else change.name) == expected, why
    if ago == 10:  # all that is there so far is the subnet that the first sync wrote
        assert change.doubt == OTHER_FIELDS


def test_the_log_is_read_page_by_page(world):
    """A page may be empty, and not be the last."""
    world.settings = replace(world.settings, change_log=replace(world.settings.change_log, page_size=2))
    for number in range(4):
        world.somebody_changes(VNET_ID, {"/tags": {"number": str(number)}}, by="amy@contoso.com")
        world.somebody_changes(
            SUBNET_ID, {"/properties/addressPrefix": f"10.0.{number}.0/28"}, by=f"{number}@contoso.com"
        )
    report = world.plan(who="auto")
    assert authors(report) == {
        "hub": [("amy@contoso.com", "Azure Portal")],
        "one": [(f"{number}@contoso.com", "Azure Portal") for number in (3, 2, 1, 0)],
    }
    assert requested(world).count(LOG) > 4


def test_the_author_comes_later_than_the_change(world):
    world.somebody_moves(VNET_ID, Move(set=WIDER, by="rob@contoso.com", client="Azure Portal"), ago=90)
    [change] = of(world.plan(who="auto"), "VirtualNetwork").changed_by
    assert (change.author, change.paths) == (AuthorKind.UNKNOWN, (PREFIXES,)), "what changed is known, and when"
    world.clock.elapsed += 100
    [change] = of(world.plan(who="auto"), "VirtualNetwork").changed_by
    assert (change.author, change.name) == (AuthorKind.PERSON, "rob@contoso.com")


def test_what_was_before_the_last_write_counts_no_more(world):
    world.somebody_changes(VNET_ID, WIDER, by="amy@contoso.com")
    world.sync()
    world.clock.elapsed += 600
    world.somebody_changes(VNET_ID, {PREFIXES: ["10.0.0.0/12"]})
    assert authors(world.plan(who="auto")) == {"hub": [("rob@contoso.com", "Azure Portal")]}


def test_without_a_write_on_record_changes_count_from_when_the_resource_was_ready(tmp_path):
    """One that gitsync adopted as it was, or an older record."""
    world = World(tmp_path)
    world.says(core=TAGGED, hub=VNET).sync()
    world.somebody_creates(SUBNET_ID, {"properties": {"addressPrefix": "10.0.0.0/24"}}, by="amy@contoso.com")
    record = of(world.says(**ESTATE).sync(), "VirtualNetworksSubnet").record
    assert (record.claim, record.writes.last) == (Claim.ADOPTED, None)
    world.clock.elapsed += 3600
    world.somebody_changes(SUBNET_ID, NARROWER)
    assert authors(world.plan(who="auto")) == {"one": [("rob@contoso.com", "Azure Portal")]}


@pytest.mark.parametrize("missing", RIGHTS)
def test_the_role_has_the_rights_to_know_and_none_of_them_is_needed_to_run(world, missing, tmp_path):
    world.somebody_changes(VNET_ID, WIDER)
    world.somebody_changes(SUBNET_ID, NARROWER)
    config = Config(source=str(world.folder), subscription=SUBSCRIPTION, checks=("none",), register_providers=False)
    role, less = (build_role(replace(config, who=who), Redactions()) for who in ("auto", "off"))
    assert set(role.actions) - set(less.actions) == set(RIGHTS)
    assert role.scopes == less.scopes, "a name is no reason to grant more"

    def plan(actions):
        caller = EmulatedPrincipal(client=ANONYMOUS, object=ANONYMOUS, actions=tuple(actions), scopes=role.scopes)
        world.settings = replace(world.settings, principals=(caller,))
        report = world.plan(who="auto")
        assert not any(result.ending.fault or result.attempts for result in report.results)
        return authors(report)

    rob = [("rob@contoso.com", "Azure Portal")]
    assert plan(role.actions) == {"hub": rob, "one": rob}
    short = plan(action for action in role.actions if action != missing)
    if missing == RIGHTS[0]:
        [(_, doubt)] = short["one"]
        assert missing in doubt
    else:
        assert short == {"hub": rob, "one": rob}, "the log has it, too"


class SignedIn(Tenants):
    """A world whose runs sign in as an application, as in a pipeline."""

    def __init__(self, folder):
        super().__init__(folder)
        us = EmulatedPrincipal(client=OURS, object=OUR_OBJECT, secret="global-s3cret")
        self.settings = replace(self.settings, principals=(us,))

    def access(self, url):
        access = super().access(url)
        return replace(access, sign_in=replace(access.sign_in, client_id=OURS), run_id=UUID(int=self.runs))


@pytest.mark.parametrize("subnet", [False, True], ids=["Resource Graph", "the activity log"])
def test_a_run_whose_record_was_lost_is_known_by_its_identity(tmp_path, subnet):
    """The status of the newer run is gone, such as by a push that was undone; Azure has what it wrote."""
    world = SignedIn(tmp_path)
    newer = {"one": SUBNET.replace("10.0.0.0/24", "10.0.0.0/28")} if subnet else {"hub": VNET.replace("/16", "/15")}
    world.says(**ESTATE).sync(credential="client-secret")
    world.state.rename(tmp_path / "older")
    shutil.copytree(tmp_path / "older", world.state)
    world.clock.elapsed += 600
    world.says(**{**ESTATE, **newer}).sync(credential="client-secret")
    shutil.rmtree(world.state)
    (tmp_path / "older").rename(world.state)
    world.clock.elapsed += 600
    report = world.says(**ESTATE).plan(credential="client-secret", who="auto")
    [(name, [change])] = [(result.key.name, result.changed_by) for result in report.results if result.changed_by]
    assert (name, change.author, change.name) == ("one" if subnet else "hub", AuthorKind.GITSYNC, "")


ANSWERS = [
    ({"status": 200, "body": {"data": 5, "value": 5}}, "is malformed", "odd"),
    ({"status": 200, "body": "<html>"}, "UnusableAnswer", "a proxy's page"),
    ({"status": 500, "code": "InternalServerError"}, "500 InternalServerError", "down"),
    ({"status": 403, "code": "AuthorizationFailed"}, "lacks the right", "refused"),
]


@pytest.mark.parametrize(("answer", "expected", "why"), ANSWERS, ids=[row[-1] for row in ANSWERS])
def test_no_answer_fails_a_run(world, answer, expected, why):
    world.somebody_changes(VNET_ID, WIDER)
    paths = ("*/microsoft.resourcegraph/*", "*/microsoft.insights/*")
    rules = tuple(FaultRule(match=Match(path=path), answer=Canned(**answer)) for path in paths)
    world.settings = replace(world.settings, rules=rules)
    report = world.sync(who="auto")
    [change] = of(report, "VirtualNetwork").changed_by
    assert expected in change.doubt, why
    assert report.exit_code == 0
    assert of(report, "VirtualNetwork").is_fine
    assert len(requested(world)) == 2, "neither is asked twice"
