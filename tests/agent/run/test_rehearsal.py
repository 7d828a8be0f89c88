"""A plan of two revisions: no Azure, no login, no state."""

from __future__ import annotations

import json
import subprocess
from textwrap import dedent

import pytest

from gitsync.agent.run import revision_plan as rehearsal
from gitsync.errors import ConfigError, SourceError
from gitsync.model.result import Outcome
from gitsync.model.secret import MASKED
from gitsync.model.verdict import Action, Verdict
from gitsync.report import json as report_json
from gitsync.report import markdown, text
from gitsync.settings.config.config import Config
from tests.support.command_line import run_here
from tests.support.fake_clock import FakeClock
from tests.support.git_repositories import commit_all
from tests.support.loose_git import LooseAccess
from tests.support.world import GROUP, GROUP_ID, SUBNET, SUBNET_ID, VNET, VNET_ID, World, annotated, of

ALL = {"group": GROUP, "network": VNET, "subnet": SUBNET}
PASSWORD = """\
    apiVersion: v1
    kind: Secret
    metadata:
      name: logins
    stringData:
      admin: {}
    """
SERVER = """\
    apiVersion: dbforpostgresql.azure.com/v20240801
    kind: FlexibleServer
    metadata:
      name: database
    spec:
      location: westeurope
      owner:
        name: core
      administratorLogin: boss
      administratorLoginPassword:
        name: logins
        key: admin
    """
APPLICATION = """\
    apiVersion: entra.azure.com/v1
    kind: Application
    metadata:
      name: shop
    spec:
      displayName: Shop
    """


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def rehearse(world, since="HEAD~1", **settings):
    config = Config(source=str(world.folder), from_revision=since, **settings)
    return rehearsal.plan_revisions(config, FakeClock(), world.redactions, LooseAccess())


def rehearse_networks(world, networks):
    """Of networks of these names, what each is before and after."""
    before, after = ({name: pair[side].replace("hub", name) for name, pair in networks.items()} for side in (0, 1))
    return rehearse(world.says(group=GROUP, **before).says(group=GROUP, **after))


def verdicts(report):
    return {f"{r.key.kind}/{r.key.name}": (r.verdict.value, r.action.value) for r in report.results}


def sides(result):
    return [(d.path, d.live, d.desired, d.rule) for d in result.differences]


def test_nothing_changed(world):
    report = rehearse(world.says(**ALL).says(**ALL))
    assert {verdict for verdict, _ in verdicts(report).values()} == {"in-sync"}
    assert (report.exit_code, report.requests.reads) == (0, 0)


def test_what_is_added_changed_and_removed(world):
    world.says(**ALL)
    world.says(group=GROUP, network=VNET.replace("10.0.0.0/16", "10.0.0.0/15"), other=SUBNET.replace("one", "two"))
    report = rehearse(world, detailed_exitcode=True)
    assert verdicts(report) == {
        "ResourceGroup/core": ("in-sync", "none"),
        "VirtualNetwork/hub": ("pending", "update"),
        "VirtualNetworksSubnet/one": ("delete", "none"),
        "VirtualNetworksSubnet/two": ("create", "create"),
    }
    changed = of(report, "VirtualNetwork")
    assert sides(changed) == [
        ("/properties/addressSpace/addressPrefixes", ["10.0.0.0/16"], ["10.0.0.0/15"], "changed in git")
    ]
    assert changed.condition.message == f"PUT {VNET_ID}?api-version=2024-03-01."
    assert report.exit_code == 3


def held(document, day="2026-03-20"):
    return annotated(document, **{"gitsync/hold": f"until {day}, incident 4711"})


WIDER = VNET.replace("10.0.0.0/16", "10.0.0.0/15")
UNTIL = "until 2026-03-20: incident 4711"
STAYS, PUT = f"It stays as it is {UNTIL}.", f"PUT {VNET_ID}?api-version=2024-03-01."
MOVES = f"Its hold changes from `{UNTIL}` to `until 2026-03-25: incident 4711`."
HOLDS = [
    (VNET, held(VNET), "pending", "none", f"Its hold is added: `{UNTIL}`.", "added"),
    (held(VNET), VNET, "pending", "none", f"Its hold is removed: `{UNTIL}`.", "removed"),
    (held(VNET), held(VNET, "2026-03-25"), "pending", "none", MOVES, "another day"),
    (held(VNET), held(VNET), "in-sync", "none", STAYS, "the same"),
    (held(VNET), held(WIDER), "held", "none", STAYS, "a change of what is held"),
    (VNET, held(WIDER), "held", "none", f"{STAYS} Its hold is added: `{UNTIL}`.", "both at once"),
    (held(VNET, "2026-02-20"), VNET, "in-sync", "none", "", "one that had ended"),
    (held(WIDER), VNET, "pending", "update", f"{PUT} Its hold is removed: `{UNTIL}`.", "what was held is written"),
]


def test_a_reviewer_sees_a_hold_that_is_added_changed_or_removed(world):
    """Each row has a network of its own."""
    names = [f"hub{row}" for row in range(len(HOLDS))]
    report = rehearse_networks(world, {name: row[:2] for name, row in zip(names, HOLDS, strict=True)})
    shown = text.render(report).replace("\n    ", " ")
    for name, (_, _, verdict, action, message, why) in zip(names, HOLDS, strict=True):
        network, own = of(report, "VirtualNetwork", name), message.replace("/hub?", f"/{name}?")
        assert (network.verdict, network.action, network.message) == (verdict, action, own), why
        assert own in shown or verdict == "in-sync", why
    assert "4 held until 2026-03-20, 1 until 2026-03-25" in shown


def test_a_held_resource_that_is_removed_stays(world):
    world.says(group=GROUP, network=VNET, subnet=held(SUBNET))
    report = rehearse(world.says(group=GROUP), prune=True, max_deletes=9)
    assert verdicts(report)["VirtualNetworksSubnet/one"] == ("held", "none")
    assert verdicts(report)["VirtualNetwork/hub"] == ("blocked", "none")


def test_both_ends_can_be_named(world):
    world.says(**ALL).says(group=GROUP).says(group=GROUP, network=VNET)
    assert verdicts(rehearse(world, "HEAD~2", to_revision="HEAD~1")) == {
        "ResourceGroup/core": ("in-sync", "none"),
        "VirtualNetwork/hub": ("delete", "none"),
        "VirtualNetworksSubnet/one": ("delete", "none"),
    }
    report = rehearse(world, "HEAD~1", to_revision="HEAD")
    assert (report.source.base, report.revision) == (world.git("rev-parse", "HEAD~1"), world.git("rev-parse", "HEAD"))


def test_a_repository_elsewhere_is_read_by_its_url(world):
    world.says(group=GROUP)
    world.git("branch", "old")
    world.says(group=GROUP, network=VNET)
    config = Config(source=f"file://{world.folder}", from_revision="old", to_revision="main")
    report = rehearsal.plan_revisions(config, FakeClock(), world.redactions)
    assert verdicts(report) == {"ResourceGroup/core": ("in-sync", "none"), "VirtualNetwork/hub": ("create", "create")}


def test_files_are_reported_from_the_top_of_the_repository(world):
    (world.folder / "infra").mkdir()
    (world.folder / "infra" / "group.yaml").write_text(dedent(GROUP))
    commit_all(world.folder)
    config = Config(source=str(world.folder / "infra"), from_revision="HEAD")
    report = rehearsal.plan_revisions(config, FakeClock(), world.redactions)
    assert (report.source.root, str(of(report, "ResourceGroup").manifest.source)) == ("infra", "group.yaml:1")


def test_without_an_end_it_is_the_folder_as_it_is(world):
    world.says(**ALL)
    (world.folder / "subnet.yaml").unlink()
    report = rehearse(world, "HEAD")
    assert of(report, "VirtualNetworksSubnet").verdict is Verdict.DELETE
    assert report.revision is None


def test_with_prune_the_deletes_are_requests(world):
    report = rehearse(world.says(**ALL).says(group=GROUP), prune=True)
    gone = of(report, "VirtualNetworksSubnet")
    assert (gone.action, gone.condition.message) == (
        Action.DELETE,
        f"Removed from git. DELETE {SUBNET_ID}?api-version=2024-03-01.",
    )


def test_the_requests_of_another_provider_are_not_those_of_azure_resource_manager(world):
    """An application is created by a POST at a path that has no id yet."""
    named, renamed = (APPLICATION.replace("Shop", name) for name in ("Shop", "Market"))
    world.says(application=named).says(application=renamed, other=named.replace("name: shop", "name: new"))
    report = rehearse(world)
    assert [(r.action, r.condition.message) for r in report.results] == [(Action.CREATE, ""), (Action.UPDATE, "")]
    (removed, *_) = rehearse(world.says(application=renamed), prune=True).results
    assert (removed.action, removed.condition.message) == (Action.DELETE, "Removed from git.")


def test_what_its_policy_keeps_is_forgotten(world):
    kept = annotated(SUBNET, reconcile_policy="detach-on-delete")
    report = rehearse(world.says(**{**ALL, "subnet": kept}).says(group=GROUP, network=VNET), prune=True)
    assert verdicts(report)["VirtualNetworksSubnet/one"] == ("detach", "detach")


def test_what_is_above_what_stays_is_held_back(world):
    kept = annotated(SUBNET, reconcile_policy="detach-on-delete")
    report = rehearse(world.says(**{**ALL, "subnet": kept}).says(group=GROUP), prune=True)
    assert of(report, "VirtualNetwork").verdict is Verdict.BLOCKED
    assert "must stay in Azure" in of(report, "VirtualNetwork").condition.message
    assert report.exit_code == 0


def tagged(value):
    return VNET.replace("spec:\n", f"spec:\n      tags: {{a: {value}}}\n")


def test_what_a_plan_shows_of_a_change(world):
    ignoring = {"gitsync/ignore": "[/tags]"}
    patched = annotated(VNET, **{"gitsync/update-method": "patch"})
    networks = {
        "untagged": (tagged("b"), VNET),
        "far": (VNET, VNET.replace("westeurope", "northeurope")),
        "spelled": (VNET, VNET.replace("westeurope", "West Europe")),
        "patched": (patched, patched.replace("10.0.", "10.2.")),
        "watched": (VNET, annotated(VNET, reconcile_policy="skip")),
        "ignored": (annotated(tagged("b"), **ignoring), annotated(tagged("c"), **ignoring)),
    }
    report = rehearse_networks(world, networks)
    found = {name: of(report, "VirtualNetwork", name) for name in networks}
    assert sides(found["untagged"]) == [("/tags/a", "b", None, "removed from git")]
    far = found["far"]
    assert (far.verdict, far.action, far.outcome) == (Verdict.PENDING, Action.NONE, Outcome.BLOCKED)
    assert far.change.replacement.reason == "Azure cannot move a resource to another region."
    assert found["spelled"].change.replacement is None, "another spelling of the region"
    assert found["patched"].condition.message.startswith(f"PATCH {VNET_ID.replace('hub', 'patched')}")
    assert (found["watched"].verdict, found["watched"].action) == (Verdict.SKIP, Action.NONE), "it is only read"
    assert found["watched"].condition.message == "Its reconcile policy changes from manage to skip."
    assert found["ignored"].verdict is Verdict.IN_SYNC, "paths that are skipped do not differ"


def test_another_name_in_azure_is_refused(world):
    renamed = VNET.replace("spec:\n", "spec:\n      azureName: spoke\n")
    report = rehearse(world.says(group=GROUP, network=VNET).says(group=GROUP, network=renamed))
    moved = of(report, "VirtualNetwork")
    assert (moved.verdict, report.exit_code) == (Verdict.BLOCKED, 1)
    assert sides(moved)[0][:3] == ("/id", VNET_ID, VNET_ID.replace("hub", "spoke"))
    assert (
        "spec.azureName would change its ARM id, which is refused once the resource exists" in moved.condition.message
    )


def test_another_owner_is_refused(world):
    other = GROUP.replace("core", "other")
    moved = VNET.replace("name: core", "name: other")
    report = rehearse(world.says(group=GROUP, other=other, network=VNET).says(group=GROUP, other=other, network=moved))
    assert "spec.owner would change its ARM id" in of(report, "VirtualNetwork").condition.message


def test_a_manifest_that_is_renamed_keeps_its_resource(world):
    renamed = VNET.replace("name: hub", "name: net").replace("spec:\n", "spec:\n      azureName: hub\n")
    report = rehearse(world.says(group=GROUP, network=VNET).says(group=GROUP, network=renamed), prune=True)
    assert verdicts(report)["VirtualNetwork/hub"] == ("detach", "detach")
    kept = of(report, "VirtualNetwork", "net")
    assert (kept.verdict, kept.condition.message) == (
        Verdict.IN_SYNC,
        "It was VirtualNetwork.network.azure.com/default/hub.",
    )


def test_another_api_version_is_reported(world):
    newer = VNET.replace("v1api20240301", "v20250301")
    report = rehearse(world.says(group=GROUP, network=VNET).says(group=GROUP, network=newer), detailed_exitcode=True)
    told = of(report, "VirtualNetwork")
    assert (told.verdict, told.action) == (Verdict.PENDING, Action.NONE)
    assert told.condition.message == "Its api-version changes from 2024-03-01 to 2025-03-01."


def test_an_invalid_manifest_blocks_what_depends_on_it_and_not_the_delete_of_another(world):
    wrong = VNET.replace("addressSpace", "adressSpace")
    report = rehearse(
        world.says(group=GROUP, old=VNET.replace("hub", "old")).says(group=GROUP, network=wrong, subnet=SUBNET),
        prune=True,
    )
    assert verdicts(report) == {
        "ResourceGroup/core": ("in-sync", "none"),
        "VirtualNetwork/hub": ("invalid", "none"),
        "VirtualNetwork/old": ("delete", "delete"),
        "VirtualNetworksSubnet/one": ("blocked", "none"),
    }
    assert report.exit_code == 1
    assert "UnknownField" in {problem.code for problem in report.problems}


def test_a_manifest_that_was_invalid_is_compared_as_far_as_can_be(world):
    ownerless = VNET.replace("name: core", "name: nowhere")
    report = rehearse(
        world.says(group=GROUP, network=ownerless).says(group=GROUP, network=VNET), detailed_exitcode=True
    )
    mended = of(report, "VirtualNetwork")
    assert (mended.verdict, mended.action, report.exit_code) == (Verdict.PENDING, Action.UPDATE, 3)
    assert "Its manifest is invalid in HEAD~1" in mended.condition.message


def test_a_changed_secret_is_reported_and_not_shown(world):
    world.says(group=GROUP, server=SERVER, secret=PASSWORD.format("Passw0rd-one"))
    world.says(group=GROUP, server=SERVER, secret=PASSWORD.format("Passw0rd-two"))
    report = rehearse(world)
    assert sides(of(report, "FlexibleServer")) == [
        ("/properties/administratorLoginPassword", "<secret>", "<secret>", "the secret changed")
    ]
    everything = "".join(form.render(report) for form in (text, report_json, markdown)) + repr(report)
    assert "Passw0rd" not in everything
    assert [world.redactions.mask(value) for value in ("Passw0rd-one", "Passw0rd-two")] == [MASKED, MASKED]


def test_a_secret_that_stays_is_not_a_difference(world):
    world.says(group=GROUP, server=SERVER, secret=PASSWORD.format("Passw0rd-one"))
    world.says(group=GROUP, server=SERVER.replace("boss", "chief"), secret=PASSWORD.format("Passw0rd-one"))
    assert [path for path, *_ in sides(of(rehearse(world), "FlexibleServer"))] == ["/properties/administratorLogin"]


def test_a_secret_from_elsewhere_changes_with_its_name(world):
    world.says(group=GROUP, server=SERVER).says(group=GROUP, server=SERVER.replace("key: admin", "key: root"))
    assert [rule for *_, rule in sides(of(rehearse(world), "FlexibleServer"))] == ["the secret changed"]


def test_only_what_is_requested_is_reported(world):
    world.says(**ALL).says(group=GROUP.replace("westeurope", "northeurope"))
    assert list(verdicts(rehearse(world, only=("VirtualNetwork/*",)))) == ["VirtualNetwork/hub"]
    with pytest.raises(ConfigError, match="No resource is called Vault/kv"):
        rehearse(world, only=("Vault/kv",))


REFUSED = [
    (
        {"since": None, "to_revision": "HEAD"},
        ConfigError,
        "--to requires --from",
        "there is nothing to compare with",
    ),
    ({"since": "HEAD", "plan_out": "x.json"}, ConfigError, "Remove --out", "no sync can be held to it"),
    ({"since": "nope"}, SourceError, "has no revision nope", "the old one is not there"),
    ({"since": "HEAD", "to_revision": "nope"}, SourceError, "has no revision nope", "the new one is not there"),
    ({"since": "HEAD", "to_revision": "HEAD", "strict": True}, SourceError, "--strict", "invalid"),
]


@pytest.mark.parametrize(("settings", "error", "message", "why"), REFUSED, ids=[row[-1] for row in REFUSED])
def test_what_is_refused(world, settings, error, message, why):
    world.says(group=GROUP, network=VNET.replace("addressSpace", "adressSpace"))
    with pytest.raises(error, match=message) as caught:
        rehearse(world, **settings)
    assert caught.value.exit_code == 2, why


def test_the_report_shows_that_azure_was_not_queried(world):
    report = rehearse(world.says(**ALL).says(group=GROUP))
    base = world.git("rev-parse", "HEAD~1")
    for form in (text, markdown):
        assert f"Compared with revision {base[:12]}, not with Azure." in form.render(report)
        assert "Run `gitsync plan` without --from" in form.render(report)
        assert "Run `gitsync sync` to apply these changes" not in form.render(report)
    assert json.loads(report_json.render(report))["base"] == base


def test_the_command_needs_no_login_and_no_subscription(world):
    tagged = GROUP.replace("westeurope", "westeurope\n      tags: {a: b}")
    world.says(group=GROUP).says(group=tagged)
    ended = run_here("plan", "--from", "HEAD~1", "--detailed-exitcode", folder=world.folder)
    assert (ended.code, ended.err) == (3, "")
    assert '+ spec.tags.a: "b" (group.yaml:' in ended.out
    assert f"PUT {GROUP_ID}?api-version=2020-06-01." in ended.out
    assert not (world.folder / ".gitsync").exists(), "and leaves nothing behind"
    failed = run_here("plan", "--from", "HEAD~1", "--fail-on", "pending", "--output", "json", folder=world.folder)
    assert (failed.code, json.loads(failed.out)["exitCode"]) == (1, 1)


def test_a_pipeline_with_a_shallow_clone(world, tmp_path):
    world.says(group=GROUP).says(group=GROUP.replace("westeurope", "northeurope"))
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", "--depth=1", f"file://{world.folder}", str(clone)], check=True)
    ended = run_here("plan", "--from", "HEAD~1", folder=clone)
    assert (ended.code, ended.err) == (0, "")
    assert "1 pending" in ended.out
    world.folder.rename(tmp_path / "gone")
    refused = run_here("plan", "--from", "HEAD~1", folder=clone)
    assert (refused.code, refused.out) == (2, "")
    assert "The clone is shallow" in refused.err


def test_a_plan_with_prune_reports_that_a_sync_would_delete_too_much(world):
    world.says(**ALL).says(group=GROUP)
    report = rehearse(world, prune=True)
    assert ([problem.code for problem in report.problems], report.exit_code) == (["TooManyDeletes"], 2)
    assert len([result for result in report.results if result.action is Action.DELETE]) == len(ALL) - 1
    assert rehearse(world, prune=True, max_deletes=len(ALL)).exit_code == 0
    assert rehearse(world).exit_code == 0
