"""Owners and references that another source declares: found in its status, signed or not."""

import pytest

from gitsync.model.verdict import Verdict
from gitsync.repository.git.state.state_folder import StatusFolder
from tests.agent.run.test_secret_digests import KEY, OTHER_KEY
from tests.support.git_repositories import commit_all
from tests.support.world import GROUP, GROUP_ID, SUBNET, SUBNET_ID, SUBSCRIPTION, VNET, VNET_ID, World, annotated, of

NIC = f"{GROUP_ID}/providers/Microsoft.Network/networkInterfaces/web"
INTERFACE = """\
    apiVersion: network.azure.com/v1api20240301
    kind: NetworkInterface
    metadata:
      name: web
    spec:
      location: westeurope
      owner:
        name: core
      ipConfigurations:
        - name: one
          subnet:
            reference: {group: network.azure.com, kind: VirtualNetworksSubnet, name: one}
    """


def said(result):
    return (result.condition.status, result.condition.severity, result.condition.reason)


@pytest.fixture
def platform(tmp_path):
    """The platform team's repository, with a status of its own, and an Azure that both share."""
    (tmp_path / "platform").mkdir()
    return World(tmp_path / "platform").says(group=GROUP, network=VNET, subnet=SUBNET)


@pytest.fixture
def team(tmp_path, platform):
    (tmp_path / "team").mkdir()
    world = World(tmp_path / "team").says(web=INTERFACE)
    world.store = platform.store
    return world


def test_a_signed_record_of_another_repository_is_an_owner_and_a_reference(platform, team):
    platform.sync(digest_key=KEY)
    settings = {"digest_key": KEY, "known_from": (str(platform.state),)}
    planned = team.plan(**settings)
    assert (of(planned, "NetworkInterface").verdict, planned.exit_code) == (Verdict.CREATE, 0)
    report = team.sync(**settings)
    assert (said(of(report, "NetworkInterface")), report.exit_code) == (("True", "", "Succeeded"), 0)
    assert team.writes == [f"PUT {NIC}"]
    body = team.read(NIC, "2024-03-01")
    assert body["properties"]["ipConfigurations"][0]["properties"]["subnet"]["id"] == SUBNET_ID
    assert (team.sync(**settings).exit_code, team.writes) == (0, [])
    report = team.says().sync(prune=True, max_deletes=5, **settings)
    assert (report.exit_code, team.sent("DELETE")) == (0, [NIC])
    assert platform.read(VNET_ID, "2024-03-01")["name"] == "hub", "what others declare stays"


@pytest.mark.parametrize(
    ("theirs", "ours", "hint"),
    [
        (None, KEY, "Its record is not signed. "),
        (OTHER_KEY, KEY, "Its record was signed with a key that this run does not have."),
        (KEY, None, "To use this id by itself, set GITSYNC_DIGEST_KEY"),
    ],
)
def test_an_id_without_a_valid_seal_is_suggested_only(platform, team, theirs, ours, hint):
    platform.sync(digest_key=theirs)
    report = team.sync(digest_key=ours, known_from=(str(platform.state),))
    assert (report.exit_code, team.writes) == (1, [])
    owner = next(problem for problem in report.problems if problem.code == "OwnerNotFound")
    assert owner.hint.startswith(f"Set spec.owner.armId to {GROUP_ID}, the id in the folder {platform.state}. {hint}")


def test_without_any_record_the_error_has_the_likely_id(team):
    report = team.sync()
    assert (report.exit_code, said(of(report, "NetworkInterface"))) == (1, ("False", "Warning", "WaitingForOwner"))
    owner = next(problem for problem in report.problems if problem.code == "OwnerNotFound")
    assert owner.hint.startswith(f"Add its manifest, or set spec.owner.armId to {GROUP_ID}. ")
    assert "missingOwner: wait" in owner.hint


def test_a_status_that_cannot_be_read_is_an_error_and_holds_nothing_else(team, tmp_path):
    """The network is still deleted: no manifest is hidden by a status."""
    own = {"group": GROUP, "network": VNET}
    team.says(**own).sync()
    report = team.says(group=GROUP).sync(prune=True, max_deletes=5, known_from=(str(tmp_path / "nowhere"),))
    assert [problem.code for problem in report.problems if problem.is_error] == ["KnownFromNotRead"]
    assert (report.exit_code, team.sent("DELETE")) == (1, [VNET_ID])


def test_records_of_other_agents_on_the_branch_are_consulted(platform):
    platform.sync(agent="platform")
    report = platform.says(web=INTERFACE).sync(agent="team")
    assert (report.exit_code, platform.writes) == (0, [f"PUT {NIC}"])
    with StatusFolder(platform.state) as store:
        (own,) = store.load().list_own("team").values()
    assert own.manifest.owner.name == "core", "the record keeps the name of the owner"


def test_with_a_key_records_of_other_agents_need_its_seal(platform):
    platform.sync(agent="platform")
    report = platform.says(web=INTERFACE).sync(agent="team", digest_key=KEY)
    assert (report.exit_code, platform.writes) == (1, [])
    hint = next(problem.hint for problem in report.problems if problem.code == "OwnerNotFound")
    assert "not signed with the key of this run" in hint


def test_a_record_that_is_about_to_be_pruned_is_not_an_owner(platform):
    platform.sync()
    report = platform.says(web=INTERFACE).sync()
    assert of(report, "NetworkInterface").verdict is Verdict.INVALID
    assert platform.writes == []


def test_a_record_whose_file_cannot_be_read_is_an_owner(platform):
    """The group's manifest is hidden, so nothing of its folder is pruned, and what is inside goes on."""
    folder = platform.folder / "base"
    folder.mkdir()
    platform.says(network=VNET)
    (folder / "group.yaml").write_text("\n".join(line[4:] for line in GROUP.splitlines()))
    commit_all(platform.folder)
    assert platform.sync().exit_code == 0
    (folder / "group.yaml").write_text("apiVersion: resources.azure.com/v1api20200601\nkind: [")
    platform.says(network=VNET.replace("10.0.0.0/16", "10.0.0.0/15"))
    report = platform.sync(prune=True)
    assert said(of(report, "VirtualNetwork")) == ("True", "", "Succeeded")
    assert platform.writes == [f"PUT {VNET_ID}"]
    assert (of(report, "ResourceGroup").condition.reason, report.exit_code) == ("PruneHeld", 1)


def test_the_group_of_another_subscription_is_reported_as_such(platform, team):
    platform.sync(digest_key=KEY)
    report = team.sync(
        digest_key=KEY, known_from=(str(platform.state),), subscription=SUBSCRIPTION.replace("00000000-", "11111111-")
    )
    assert (of(report, "NetworkInterface").condition.reason, report.exit_code) == ("SubscriptionMismatch", 1)


def test_a_resource_that_another_team_only_reads_is_known_too(platform, team):
    platform.outside("PUT", GROUP_ID, {"location": "westeurope"})
    read = annotated(GROUP, reconcile_policy="skip")
    platform.says(group=read, network=VNET, subnet=SUBNET).sync(digest_key=KEY)
    assert team.sync(digest_key=KEY, known_from=(str(platform.state),)).exit_code == 0


WAIT = "units:\n  - {path: ., missingOwner: wait}\n"


def test_a_unit_that_waits_for_owners_does_not_fail_the_run(team):
    other = GROUP.replace("core", "other")
    team.says(gitsync=WAIT, network=VNET, subnet=SUBNET, other=other)
    for settings in ({}, {"strict": True}):
        planned = team.plan(**settings)
        assert planned.exit_code == 0
    report = team.sync()
    assert (report.exit_code, len(team.writes)) == (0, 1), "all else is applied"
    for kind in ("VirtualNetwork", "VirtualNetworksSubnet"):
        waiting = of(report, kind)
        assert (waiting.verdict, said(waiting)) == (Verdict.BLOCKED, ("False", "Warning", "WaitingForOwner"))
    assert {problem.level.value for problem in report.problems} == {"warning"}
    assert (team.sync().exit_code, team.writes) == (0, [])
    assert team.sync(fail_on=("blocked",)).exit_code == 1, "unless the operator wants it to"


def test_what_waited_goes_on_once_the_owner_is_there(team, platform):
    team.says(gitsync=WAIT, network=VNET, subnet=SUBNET)
    assert team.sync(digest_key=KEY).exit_code == 0
    platform.says(group=GROUP).sync(digest_key=KEY)
    report = team.sync(digest_key=KEY, known_from=(str(platform.state),))
    assert [said(result) for result in report.results] == [("True", "", "Succeeded")] * 2
    assert team.writes == [f"PUT {VNET_ID}", f"PUT {SUBNET_ID}"]


def test_what_waits_is_never_pruned_for_it(team, platform):
    """The owner is gone from the status of others: what is in it stays as it was."""
    platform.says(group=GROUP).sync(digest_key=KEY)
    settings = {"digest_key": KEY, "known_from": (str(platform.state),), "prune": True, "max_deletes": 5}
    team.says(gitsync=WAIT, network=VNET).sync(**settings)
    platform.says(group=annotated(GROUP, reconcile_policy="detach-on-delete")).sync(digest_key=KEY)
    platform.says().sync(digest_key=KEY, prune=True)
    report = team.sync(**settings)
    assert (report.exit_code, team.writes) == (0, [])
    assert said(of(report, "VirtualNetwork")) == ("False", "Warning", "WaitingForOwner")
    assert team.read(VNET_ID, "2024-03-01")["name"] == "hub"


def test_an_error_beside_a_missing_owner_is_an_error(team):
    team.says(gitsync=WAIT, network=VNET.replace("location:", "lokation:"))
    report = team.sync()
    assert (of(report, "VirtualNetwork").verdict, report.exit_code) == (Verdict.INVALID, 1)


OLD = {
    "group": GROUP.replace("v1api20200601", "v1beta20200601"),
    "network": VNET.replace("v1api20240301", "v1api20220701"),
}


MIGRATE = "which has all fields of the manifest, or set `migrateVersions: true` for the unit in gitsync.yaml to read it as that version."


def test_versions_that_aso_has_removed_are_errors_that_name_others(team):
    report = team.says(**OLD).sync()
    assert (report.exit_code, team.writes) == (1, [])
    removed = [problem for problem in report.problems if problem.code == "UnknownVersion"]
    assert [problem.hint.partition(" Known")[0] for problem in removed] == [
        f"Change it to v1api20200601, the nearest later one, {MIGRATE}",
        f"Change it to v1api20240301, the nearest later one, {MIGRATE}",
    ]


MIGRATING = "units:\n  - {path: ., migrateVersions: true}\n"


def test_versions_that_aso_has_removed_may_be_read_as_later_ones(team):
    team.says(gitsync=MIGRATING, **OLD, subnet=SUBNET)
    report = team.sync()
    assert [said(result) for result in report.results] == [("True", "", "Succeeded")] * 3
    assert [problem.code for problem in report.problems if "Version" in problem.code] == ["VersionMigrated"] * 2
    assert (team.sync().exit_code, team.writes) == (0, [])
    report = team.says(gitsync=MIGRATING, **OLD).sync(prune=True, max_deletes=5)
    assert (report.exit_code, team.sent("DELETE")) == (0, [SUBNET_ID])
