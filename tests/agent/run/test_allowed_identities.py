"""Pull requests that choose an identity, with an operator's allow-list: what the plan reports offline and live, what the
sync does, and that the authority is never asked for a token of an identity that is not allowed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from gitsync.emulator.settings import TENANT
from gitsync.errors import ExitCode
from gitsync.model.allowed_identities import AllowedIdentities, IdentityEntry, IdentityMode
from gitsync.model.problem import Level, SourceLocation
from gitsync.model.verdict import Verdict
from gitsync.report import text
from tests.agent.run.tenants import OTHER, Tenants, inside, secret
from tests.agent.run.test_credentials_from_elsewhere import Cluster
from tests.agent.run.test_identity_changes import encrypted
from tests.agent.run.test_rehearsal import rehearse
from tests.support.world import GROUP, SUBSCRIPTION, VNET, World, annotated, of

LIST = "identities.yaml"


def allow(*entries: Mapping[str, Any], **more: Any) -> AllowedIdentities:
    """An allow-list with one entry per line."""
    made = (
        IdentityEntry(source=SourceLocation(LIST, line), **{name: tuple(values) for name, values in entry.items()})
        for line, entry in enumerate(entries, 1)
    )
    return AllowedIdentities(name=LIST, entries=tuple(made), **more)


TEAM = allow({"namespaces": ["default"], "clients": ["team-client"], "tenants": [TENANT]})
ONLY_TENANT = allow({"tenants": [TENANT]})
OWN = annotated(GROUP, credential_from="mine")
USER = """\
    apiVersion: entra.azure.com/v1
    kind: SecurityGroup
    metadata:
      name: admins
    spec:
      displayName: admins
      mailNickname: admins
    """
NOTHING = {"AZURE_CLIENT_SECRET": None}


class PullRequest(NamedTuple):
    """What git has before and after, the list, and what is refused."""

    before: Mapping[str, str]
    now: Mapping[str, str]
    allowed: AllowedIdentities
    refused: str  # the end of the message; "" if nothing is refused
    where: str  # the location of the problem
    callers: frozenset[str] = frozenset()  # who gets a token in the sync


GLOBAL, ALLOWED = frozenset({"global-client"}), frozenset({"team-client"})
PULL_REQUESTS = {
    "a new Secret of an allowed identity": PullRequest(
        {"group": GROUP}, {"group": GROUP, "own": secret("team")}, TEAM, "", "", ALLOWED
    ),
    "an id in capitals": PullRequest(
        {"group": GROUP}, {"group": GROUP, "own": secret("team", AZURE_CLIENT_ID="TEAM-client")}, TEAM, "", "",
        frozenset({"TEAM-client"}),
    ),
    "a new Secret of another identity": PullRequest(
        {"group": GROUP, "vnet": VNET},
        {"group": GROUP, "vnet": VNET, "own": secret("other")},
        TEAM,
        f"client other-client of tenant {TENANT}, subscription {SUBSCRIPTION}. {LIST}:1 does not have the client.",
        "own.yaml:1",
    ),
    "a changed client id": PullRequest(
        {"group": GROUP, "own": secret("team")},
        {"group": GROUP, "own": secret("other")},
        TEAM,
        "identities.yaml:1 does not have the client.",
        "own.yaml:1",
    ),
    "a federated token, which needs no secret": PullRequest(
        {"group": GROUP},
        {"group": GROUP, "own": secret("other", **NOTHING)},
        TEAM,
        "does not have the client.",
        "own.yaml:1",
    ),
    "a mode that names it": PullRequest(
        {"group": GROUP},
        {"group": GROUP, "own": secret("other", **NOTHING, AUTH_MODE="workloadidentity")},
        TEAM,
        "does not have the client.",
        "own.yaml:1",
    ),
    "an identity of the machine": PullRequest(
        {"group": GROUP},
        {"group": GROUP, "own": secret("other", **NOTHING, AUTH_MODE="podidentity")},
        ONLY_TENANT,
        "does not have the client of the managed identity, whose tenant no Secret decides.",
        "own.yaml:1",
    ),
    "a certificate": PullRequest(
        {"group": GROUP},
        {"group": GROUP, "own": secret("other", **NOTHING, AZURE_CLIENT_CERTIFICATE="bm90aGluZw==")},
        TEAM,
        "does not have the client.",
        "own.yaml:1",
    ),
    "another tenant": PullRequest(
        {"group": GROUP},
        {"group": GROUP, "own": secret("team", AZURE_TENANT_ID="22222222-2222-4222-8222-222222222222")},
        TEAM,
        "does not have the tenant.",
        "own.yaml:1",
    ),
    "a tenant by its domain": PullRequest(
        {"group": GROUP},
        {"group": GROUP, "own": secret("team", AZURE_TENANT_ID="contoso.onmicrosoft.com")},
        TEAM,
        "does not have the tenant.",
        "own.yaml:1",
    ),
    "an additional tenant": PullRequest(
        {"group": GROUP},
        {"group": GROUP, "own": secret("team", AZURE_ADDITIONAL_TENANTS=f"{TENANT},elsewhere")},
        TEAM,
        "does not have the additional tenant elsewhere.",
        "own.yaml:1",
    ),
    "another subscription": PullRequest(
        {},
        {"group": GROUP, "own": secret("team", subscription=OTHER)},
        allow({"clients": ["team-client"], "subscriptions": [SUBSCRIPTION]}),
        "does not have the subscription.",
        "own.yaml:1",
    ),
    "another cloud": PullRequest(
        {"group": GROUP},
        {
            "group": GROUP,
            "own": secret(
                "team",
                AZURE_RESOURCE_MANAGER_ENDPOINT="https://management.example",
                AZURE_RESOURCE_MANAGER_AUDIENCE="https://management.example",
                AZURE_AUTHORITY_HOST="https://login.example",
            ),
        },
        TEAM,
        "does not have the other cloud https://management.example and the other cloud https://login.example.",
        "own.yaml:1",
    ),
    "credential-from on one resource": PullRequest(
        {"group": GROUP, "vnet": VNET, "mine": secret("other", "mine")},
        {"group": GROUP, "vnet": annotated(VNET, credential_from="mine"), "mine": secret("other", "mine")},
        TEAM,
        "does not have the client.",
        "mine.yaml:1",
        GLOBAL,
    ),
    "a Secret copied to another namespace": PullRequest(
        {"group": GROUP, "own": secret("team")},
        {
            "group": GROUP,
            "own": secret("team"),
            "copy": secret("team", namespace="far"),
            "far": inside(GROUP, "far").replace("name: core", "name: far"),
        },
        TEAM,
        f"{LIST} has no entry for namespace far.",
        "copy.yaml:1",
        ALLOWED,
    ),
    "a removed Secret, where the global credential may not be used": PullRequest(
        {"group": GROUP, "own": secret("team")},
        {"group": GROUP},
        allow({"clients": ["team-client"]}, of_global=("platform",)),
        f"global of {LIST} does not name it.",
        "group.yaml:",
    ),
    "a group of Entra ID": PullRequest(
        {}, {"user": USER, "own": secret("other")}, TEAM, "does not have the client.", "own.yaml:1"
    ),
    "an annotation of a Namespace, which chooses none": PullRequest(
        {"group": GROUP},
        {
            "group": GROUP,
            "ns": annotated("    apiVersion: v1\n    kind: Namespace\n    metadata:\n      name: default\n", credential_from="mine"),
            "mine": secret("other", "mine"),
        },
        TEAM,
        "",
        "",
        GLOBAL,
    ),
    "an empty list": PullRequest(
        {"group": GROUP},
        {"group": GROUP, "own": secret("global")},
        allow(),
        f"{LIST} has no entry for namespace default.",
        "own.yaml:1",
    ),
}  # fmt: skip


def problems(report, code: str = "IdentityNotAllowed") -> list[Any]:
    return [problem for problem in report.problems if problem.code == code]


@pytest.fixture(scope="module")
def begin(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path, PullRequest], Tenants]:
    """Make a world in which what git had before was synced, and has what it has now."""

    @cache
    def sync(*before: tuple[str, str]) -> Tenants:
        world = Tenants(tmp_path_factory.mktemp("before"), "team", "other")
        world.says(**dict(before)).sync()
        return world

    def begin(folder: Path, row: PullRequest) -> Tenants:
        world = sync(*row.before.items()).copy(folder)
        world.says(**row.now)
        return world

    return begin


@pytest.mark.parametrize("row", PULL_REQUESTS.values(), ids=PULL_REQUESTS)
def test_a_pull_request_gets_no_token_of_an_identity_that_is_not_allowed(tmp_path, begin, row: PullRequest):
    settings = {"allow_identities": row.allowed, "allow_multi_env_management": True}
    world = begin(tmp_path, row)
    offline = rehearse(world, subscription=SUBSCRIPTION, **settings)
    live, issued_live = world.plan(**settings), list(world.issued)
    done = world.sync(**settings)
    assert (set(issued_live), set(world.issued)) == (row.callers, row.callers)
    for report in (offline, live, done):
        found = problems(report)
        assert [problem.location.startswith(row.where) for problem in found] == [True] * bool(row.refused)
        assert all(problem.message.endswith(row.refused) and problem.is_error for problem in found)
        refused = [result for result in report.results if result.condition.reason == "IdentityNotAllowed"]
        assert {result.verdict for result in refused} == ({Verdict.BLOCKED} if row.refused else set())
        assert (report.exit_code is ExitCode.FAILED) == bool(row.refused), text.render(report)
        assert "s3cret" not in text.render(report)
    assert all(result.is_fine for result in done.results) == (not row.refused)


@pytest.mark.parametrize(
    "name", [name for name, row in PULL_REQUESTS.items() if row.refused and "cloud" not in name and row.before]
)
def test_a_list_that_only_reports_changes_nothing(tmp_path, begin, name: str):
    row = PULL_REQUESTS[name]
    world, other = (begin(tmp_path / folder, row) for folder in ("with", "without"))
    report = AllowedIdentities(
        name=LIST, mode=IdentityMode.REPORT, of_global=row.allowed.of_global, entries=row.allowed.entries
    )
    offline = rehearse(world, subscription=SUBSCRIPTION, allow_identities=report)
    for found in (offline, world.plan(allow_identities=report), world.sync(allow_identities=report)):
        (problem,) = problems(found)
        assert (problem.level, problem.location.startswith(row.where)) == (Level.WARNING, True)
        assert problem.message.endswith(row.refused)
    done = other.sync()
    assert (world.issued, world.writes) == (other.issued, other.writes)
    assert [result.verdict for result in found.results] == [result.verdict for result in done.results]


def test_a_delete_uses_no_identity_that_is_not_allowed(tmp_path):
    world = Tenants(tmp_path, "team", "other")
    world.says(group=GROUP, vnet=VNET, own=secret("other")).sync()
    world.says(group=GROUP, own=secret("other"), readme="    # nothing\n")
    offline = rehearse(world, prune=True, allow_identities=TEAM, subscription=SUBSCRIPTION)
    for report in (
        offline,
        world.plan(prune=True, allow_identities=TEAM),
        world.sync(prune=True, allow_identities=TEAM),
    ):
        assert {result.condition.reason for result in report.results} == {"IdentityNotAllowed"}
        assert of(report, "VirtualNetwork").verdict is Verdict.BLOCKED
        assert [problem.location for problem in problems(report)] == ["own.yaml:1"], "once for all resources"
        assert (world.issued, world.requests) == ([], [])
    world.says(readme="    # nothing\n", own=secret("other"))
    (problem,) = problems(world.sync(prune=True, max_deletes=9, allow_identities=TEAM))
    assert (problem.location, world.issued) == ("own.yaml:1", [])
    (problem,) = problems(rehearse(world, prune=True, max_deletes=9, allow_identities=TEAM, subscription=SUBSCRIPTION))
    assert problem.location == "own.yaml:1"


def test_a_secret_that_a_plan_does_not_read_is_not_checked_and_its_sync_decides(tmp_path):
    world = Cluster(tmp_path, "team", "other").has("other", subscription=SUBSCRIPTION)
    world.says(group=GROUP)
    report = world.plan(allow_identities=TEAM)
    (problem,) = problems(report, "IdentityNotChecked")
    assert "default/aso-credential" in problem.message
    assert (problems(report), of(report, "ResourceGroup").is_fine) == ([], True)
    (problem,) = problems(world.plan(allow_identities=TEAM, plan_secrets=True))
    assert (problem.location, world.issued) == ("group.yaml:3", [])
    assert problems(world.sync(allow_identities=TEAM)) == [problem]
    assert world.issued == []
    world.has("team", subscription=SUBSCRIPTION)
    assert of(world.sync(allow_identities=TEAM), "ResourceGroup").is_fine
    assert set(world.issued) == ALLOWED


UNREAD = {
    "a Secret that no manifest declares": ({"group": OWN}, {}, "default/mine"),
    "a Secret that may be in Key Vault": (
        {"group": GROUP},
        {"secret_sources": ("manifests", "key-vault")},
        "default/aso",
    ),
    "a Secret that SOPS encrypted": ({"group": GROUP, "own": encrypted("a")}, {}, "default/aso-credential"),
    "an identity file that this machine does not have": (
        {"group": GROUP, "own": secret("team", **NOTHING, AZURE_USER_ASSIGNED_IDENTITY_CREDENTIALS="/mnt/one.json")},
        {},
        "default/aso-credential",
    ),
    "all are read": ({"group": GROUP, "own": secret("team")}, {}, ""),
    "the global credential": ({"group": GROUP}, {}, ""),
}


@pytest.mark.parametrize(("now", "settings", "name"), UNREAD.values(), ids=UNREAD)
def test_an_offline_plan_names_what_it_did_not_check(tmp_path, now, settings, name):
    world = World(tmp_path).says(group=GROUP).says(**now)
    report = rehearse(world, subscription=SUBSCRIPTION, allow_identities=TEAM, **settings)
    found = problems(report, "IdentityNotChecked")
    assert [name in problem.message for problem in found] == [True] * bool(name)
    assert problems(report) == []


def test_secrets_of_manifests_are_not_checked_without_that_source(tmp_path):
    world = World(tmp_path).says(group=GROUP).says(group=GROUP, own=secret("other"))
    report = rehearse(world, subscription=SUBSCRIPTION, allow_identities=TEAM, secret_sources=("environment",))
    assert report.problems == ()


def test_the_ids_of_an_identity_file_count(tmp_path):
    """Azure gets the ids of the file, whatever the Secret names."""
    folder = tmp_path / "identities"
    folder.mkdir()
    file = folder / "one.json"
    world = Tenants(tmp_path, "team", "other")
    world.says(group=GROUP, own=secret("team", **NOTHING, AZURE_USER_ASSIGNED_IDENTITY_CREDENTIALS=str(file)))
    settings = {"identity_folder": str(folder), "allow_identities": TEAM}
    members = {"tenant_id": TENANT, "client_secret": "", "authentication_endpoint": "https://login.example"}
    file.write_text(json.dumps({**members, "client_id": "other-client", "client_secret": "bm90aGluZw=="}))
    (problem,) = problems(world.sync(**settings))
    assert "client other-client of tenant" in problem.message
    assert "does not have the client." in problem.message
    file.write_text(json.dumps({**members, "client_id": "team-client", "client_secret": "bm90aGluZw=="}))
    assert problems(world.sync(**settings)) == []
    found = of(world.sync(identity_folder=str(tmp_path / "none"), allow_identities=TEAM), "ResourceGroup")
    assert "outside the identity folder" in found.condition.message
    assert world.issued == []


def test_without_a_list_all_works_as_before(tmp_path):
    world = Tenants(tmp_path, "team", "other")
    world.says(group=GROUP, own=secret("other")).sync()
    assert (set(world.issued), problems(world.plan())) == ({"other-client"}, [])


def test_a_rehearsal_refuses_as_the_sync_does(tmp_path):
    world = World(tmp_path).says(group=GROUP, own=secret("other"))
    assert of(world.sync(allow_identities=TEAM), "ResourceGroup").verdict is Verdict.BLOCKED
    assert world.requests == []
