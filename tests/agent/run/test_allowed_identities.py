"""Pull requests that choose an identity, with an operator's allow-list: what the plan reports offline and live, what the
sync does, and that the authority is never asked for a token of an identity that is not allowed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from gitsync.emulator.settings import TENANT, EmulatedPrincipal
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
ONLY_TENANT = allow({"namespaces": ["default"], "tenants": [TENANT]})
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
        allow({"namespaces": ["default"], "clients": ["team-client"], "subscriptions": [SUBSCRIPTION]}),
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


ROWS = {name: f"row{number}" for number, name in enumerate(PULL_REQUESTS)}
"""The namespace of each row; its files, its groups and the identities that it names begin so, too."""

OF_A_ROW = re.compile(r"\b(core|hub|far|(team|other)-client)\b", re.IGNORECASE)
IN_ONE_NAMESPACE = tuple(
    name for name, row in PULL_REQUESTS.items() if [entry.namespaces for entry in row.allowed.entries] == [("default",)]
)
BATCHES = {
    "a namespace each": IN_ONE_NAMESPACE,
    **{name: (name,) for name in PULL_REQUESTS if name not in IN_ONE_NAMESPACE},
}
"""Rows that share a list, which has an entry for the namespace of each, and those that have a list of their own."""


def of_row(text: str, name: str) -> str:
    row = ROWS[name]
    text = text.replace("namespace: default", f"namespace: {row}").replace("namespace default", f"namespace {row}")
    return OF_A_ROW.sub(rf"{row}-\g<1>", text)


def move_to_row(document: str, name: str) -> str:
    """A document in the namespace of a row."""
    if "kind: Namespace" in document:
        return document.replace("name: default", f"name: {ROWS[name]}")
    return of_row(document if "namespace:" in document else inside(document, ROWS[name]), name)


def move_all(names: Iterable[str], moment: str) -> dict[str, str]:
    """What git has of these rows before or now."""
    return {
        f"{ROWS[name]}-{file}": move_to_row(document, name)
        for name in names
        for file, document in getattr(PULL_REQUESTS[name], moment).items()
    }


def join_lists(names: Sequence[str], mode: IdentityMode = IdentityMode.REFUSE) -> AllowedIdentities:
    """One list with the entries of these rows, a line each."""
    entries = (
        replace(
            entry,
            source=SourceLocation(LIST, line),
            namespaces=tuple(ROWS[name] if namespace == "default" else namespace for namespace in entry.namespaces),
            clients=tuple(of_row(client, name) for client in entry.clients),
        )
        for line, name in enumerate(names, 1)
        for entry in PULL_REQUESTS[name].allowed.entries
    )
    return replace(PULL_REQUESTS[names[0]].allowed, mode=mode, entries=tuple(entries))


def find_of_row(report, name: str) -> tuple[list[Any], list[Any]]:
    """The problems and the results of a row."""
    row = ROWS[name]
    own = [result for result in report.results if result.key.namespace in {row, f"{row}-far"}]
    return [problem for problem in problems(report) if problem.location.startswith(f"{row}-")], own


def is_as_told(problem, name: str, line: int) -> bool:
    row = PULL_REQUESTS[name]
    told = of_row(row.refused, name).replace(f"{LIST}:1 ", f"{LIST}:{line} ")
    return problem.location.startswith(f"{ROWS[name]}-{row.where}") and problem.message.endswith(told)


def rename_principal(principal: EmulatedPrincipal, name: str) -> EmulatedPrincipal:
    return replace(principal, client=of_row(principal.client, name), object=f"{ROWS[name]}-{principal.object}")


@pytest.fixture(scope="module")
def begin(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path, Sequence[str]], Tenants]:
    """Make a world in which what git had of some rows before was synced, and has what it has now."""

    @cache
    def sync(names: tuple[str, ...]) -> Tenants:
        world = Tenants(tmp_path_factory.mktemp("before"), "team", "other")
        everybody, team, other = world.settings.principals
        of_rows = (rename_principal(who, name) for name in names for who in (team, other))
        world.settings = replace(world.settings, principals=(everybody, *of_rows))
        world.says(**move_all(names, "before")).sync()
        return world

    def begin(folder: Path, names: Sequence[str]) -> Tenants:
        world = sync(tuple(names)).copy(folder)
        world.says(**move_all(names, "now"))
        return world

    return begin


@pytest.mark.parametrize("names", BATCHES.values(), ids=BATCHES)
def test_a_pull_request_gets_no_token_of_an_identity_that_is_not_allowed(tmp_path, begin, names):
    settings = {"allow_identities": join_lists(names), "allow_multi_env_management": True}
    callers = {of_row(client, name) for name in names for client in PULL_REQUESTS[name].callers}
    world = begin(tmp_path, names)
    for run in (partial(rehearse, world, subscription=SUBSCRIPTION), world.plan, world.sync):
        world.issued, world.requests = [], []
        report = run(**settings)
        assert set(world.issued) == (callers if run in (world.plan, world.sync) else set())
        for line, name in enumerate(names, 1):
            row, (found, own) = PULL_REQUESTS[name], find_of_row(report, name)
            assert [is_as_told(problem, name, line) for problem in found] == [True] * bool(row.refused), name
            assert all(problem.is_error for problem in found), name
            refused = [result for result in own if result.condition.reason == "IdentityNotAllowed"]
            assert {result.verdict for result in refused} == ({Verdict.BLOCKED} if row.refused else set()), name
            assert all(result.is_fine for result in own) == (not row.refused), name
            assert row.callers or not any(f"/{ROWS[name]}-" in request.path for request in world.requests), name
        assert (report.exit_code is ExitCode.FAILED) == any(PULL_REQUESTS[name].refused for name in names)
        assert "s3cret" not in text.render(report)


def refused_here(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(
        name for name in names if PULL_REQUESTS[name].refused and "cloud" not in name and PULL_REQUESTS[name].before
    )


REFUSED = {name: refused for name, names in BATCHES.items() if (refused := refused_here(names))}


@pytest.mark.parametrize("names", REFUSED.values(), ids=REFUSED)
def test_a_list_that_only_reports_changes_nothing(tmp_path, begin, names):
    world, other = (begin(tmp_path / folder, names) for folder in ("with", "without"))
    report = join_lists(names, IdentityMode.REPORT)
    offline = rehearse(world, subscription=SUBSCRIPTION, allow_identities=report)
    for found in (offline, world.plan(allow_identities=report), world.sync(allow_identities=report)):
        for line, name in enumerate(names, 1):
            (problem,), _ = find_of_row(found, name)
            assert (problem.level, is_as_told(problem, name, line)) == (Level.WARNING, True), name
    done = other.sync()
    assert (sorted(world.issued), sorted(world.writes)) == (sorted(other.issued), sorted(other.writes))
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
