"""The doctor over real repositories, the real client and the emulator."""

from __future__ import annotations

import subprocess

import pytest
import pytest_asyncio

from gitsync.model.allowed_identities import AllowedIdentities, IdentityEntry, IdentityMode
from gitsync.model.problem import SourceLocation
from gitsync.model.record import State, Trust
from gitsync.model.secret import Secret
from gitsync.settings.config.config import Config
from gitsync.settings.redaction import Redactions
from gitsync.workflows.doctor.examination import examine
from gitsync.workflows.doctor.source import describe_allow_list, examine_seals
from tests.support.builders import record, vnet, vnet_id
from tests.support.git_repositories import add_remote, commit_all, init_bare, init_repository, push_main
from tests.support.world import GROUP, SUBSCRIPTION, VNET

OK, WARNING, ERROR = "ok", "warning", "error"


def git(folder, *words):
    subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def location(tmp_path):
    return make_location(tmp_path)


def make_location(outside):
    """A working tree with a group and a network, and its remote."""
    folder = outside / "source"
    folder.mkdir()
    init_repository(folder)
    (folder / "all.yaml").write_text(f"{GROUP}---\n{VNET}".replace("\n    ", "\n").lstrip())
    commit_all(folder, "Manifests")
    remote = outside / "remote.git"
    init_bare(remote)
    push_main(folder, remote)
    add_remote(folder, remote)
    return folder


async def doctor(folder, script="", *, has_branch=False, **settings):
    """The checks by name; of several with one name, the last. The status is in a folder, unless the branch is a subject:
    that it can be pushed takes git 20 programs.
    """
    if not has_branch:
        settings["status_dir"] = str(folder.parent / "status")
    if script:
        (folder.parent / "script.yaml").write_text(script)
        settings["emulator_script"] = str(folder.parent / "script.yaml")
    config = Config(**{"source": str(folder), "subscription": SUBSCRIPTION, "emulator": "", **settings})
    checks = [check async for check in examine(config, Redactions())]
    assert all(check.hint or check.level == OK for check in checks), "each problem says what to do"
    return {check.name: check for check in checks}


def levels(checks):
    return {name: check.level.value for name, check in checks.items()}


async def test_a_set_up_that_is_fine(location):
    checks = await doctor(location, has_branch=True)
    assert set(levels(checks).values()) == {OK}
    assert list(checks) == [
        "git",
        "source",
        "catalog",
        "manifests",
        "allow-identities",
        "status",
        "digest-key",
        "secrets (environment)",
        "endpoint",
        "identity",
        "subscription",
        "providers",
        "rights",
    ]
    assert checks["manifests"].message == "2 resources, no errors"
    assert "5 rights at 2 scopes granted. Deny assignments" in checks["rights"].message


TEAM_SECRET = f"""\
apiVersion: v1
kind: Secret
metadata: {{name: aso-credential}}
stringData:
  AZURE_SUBSCRIPTION_ID: {SUBSCRIPTION}
  AZURE_TENANT_ID: 22222222-2222-4222-8222-222222222222
  AZURE_CLIENT_ID: 33333333-3333-4333-8333-333333333333
"""


def allow(client, mode=IdentityMode.REFUSE):
    entry = IdentityEntry(source=SourceLocation("list.yaml", 2), clients=(client,))
    return AllowedIdentities(name="list.yaml", mode=mode, entries=(entry,))


@pytest.mark.parametrize(
    ("allowed", "level", "secret"),
    [
        (allow("33333333-3333-4333-8333-333333333333"), OK, None),
        (allow("44444444-4444-4444-8444-444444444444"), OK, ERROR),
        (allow("44444444-4444-4444-8444-444444444444", IdentityMode.REPORT), WARNING, WARNING),
        (None, OK, None),
    ],
    ids=["an allowed one", "another one", "another one, only reported", "no list"],
)
async def test_the_identities_of_secrets_are_checked_with_the_allow_list(location, allowed, level, secret):
    (location / "own.yaml").write_text(TEAM_SECRET)
    checks = await doctor(location, allow_identities=allowed)
    assert checks["allow-identities"].level == level
    found = checks.get("credential-secret")
    assert (found.level if found else None) == secret
    if found:
        assert found.message.startswith("own.yaml:1: 2 resources: The identity of credential Secret")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "write access to manifests is access to every identity that trusts this job"),
        ({"secret_sources": ("environment",)}, "may name others"),
        ({"emulator": ""}, "needs no identity"),
    ],
)
def test_doctor_reports_what_no_allow_list_means(settings, message):
    assert message in describe_allow_list(Config(**settings)).message


async def test_nothing_is_pushed(location):
    await doctor(location, has_branch=True)
    refs = subprocess.run(
        ["git", "for-each-ref"], cwd=location.parent / "remote.git", capture_output=True, text=True, check=True
    )
    assert "gitsync" not in refs.stdout


async def test_a_source_that_cannot_be_read_hides_nothing_else(location):
    checks = await doctor(location.parent / "nowhere")
    assert levels(checks) | {"git": OK} == levels(checks)
    assert (checks["source"].level, checks["endpoint"].level, checks["subscription"].level) == (ERROR, OK, OK)


async def test_a_remote_that_refuses_pushes(location):
    hook = location.parent / "remote.git" / "objects"
    hook.chmod(0o555)
    try:
        git(location, "remote", "set-url", "origin", str(location.parent / "gone.git"))
        checks = await doctor(location, has_branch=True)
    finally:
        hook.chmod(0o755)
    assert (checks["status"].level, checks["manifests"].level, checks["rights"].level) == (ERROR, OK, OK)


MISSING = """
settings:
  unregistered: [Microsoft.Network]
  denied:
    - {action: Microsoft.Network/virtualNetworks/write}
    - {action: Microsoft.Resources/subscriptions/resourceGroups/delete}
"""


async def test_rights_that_are_not_granted(location):
    checks = await doctor(location, MISSING)
    assert levels(checks)["rights"] == ERROR
    assert "1 of 5 rights at 2 scopes not granted" in checks["rights"].message
    assert "Microsoft.Network/virtualNetworks/write in resource group core" in checks["rights"].message
    assert (
        "Microsoft.Resources/subscriptions/resourceGroups/delete in"
        in (await doctor(location, MISSING, prune=True))["rights"].message
    )


async def test_providers_that_are_not_registered(location):
    assert (await doctor(location, MISSING))["providers"].level == WARNING, "a sync registers them"
    checks = await doctor(location, MISSING, register_providers=False)
    assert checks["providers"].level == ERROR
    assert "az provider register -n Microsoft.Network" in checks["providers"].hint


async def test_a_subscription_that_is_not_there(location):
    checks = await doctor(location, "settings: {subscriptions: [11111111-1111-4111-8111-111111111111]}")
    assert checks["subscription"].level == ERROR
    assert (
        checks["subscription"].message.startswith("SubscriptionNotFound: ")
        or "not found" in checks["subscription"].message
    )


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def unreachable(tmp_path_factory):
    """The checks with an endpoint that is waited for in vain, in a set-up that prunes."""
    location = make_location(tmp_path_factory.mktemp("unreachable"))
    return await doctor(location, emulator=None, endpoint="http://127.0.0.1:9", credential="anonymous", prune=True)


def test_an_endpoint_that_cannot_be_reached(unreachable):
    assert (unreachable["endpoint"].level, unreachable["rights"].level) == (ERROR, WARNING)
    assert unreachable["rights"].message.startswith("Not checked")


async def test_places_of_secrets_are_checked_one_by_one(location, tmp_path):
    assert (await doctor(location, export_to=("folder",), export_folder=str(tmp_path / "new")))[
        "secrets (folder)"
    ].level == OK
    assert not (tmp_path / "new").exists(), "only a run creates it"
    (tmp_path / "file").write_text("")
    checks = await doctor(location, export_to=("folder", "status"), export_folder=str(tmp_path / "file" / "below"))
    assert (checks["secrets (folder)"].level, checks["secrets (environment)"].level) == (ERROR, OK)


async def test_invalid_manifests_and_uncommitted_changes(location):
    (location / "all.yaml").write_text(GROUP.replace("\n    ", "\n").lstrip().replace("location", "locaton"))
    checks = await doctor(location)
    assert (checks["source"].level, checks["manifests"].level) == (WARNING, WARNING)
    assert checks["manifests"].hint == "Run `gitsync validate`."


async def test_a_credential_secret_without_a_key_is_an_error_with_its_location(location):
    (location / "team.yaml").write_text(
        "apiVersion: v1\nkind: Secret\nmetadata: {name: aso-credential}\nstringData: {AZURE_CLIENT_ID: c}\n"
    )
    check = (await doctor(location))["credential-secret"]
    assert check.level == ERROR
    assert check.message.startswith('team.yaml:1: credential Secret "default/aso-credential" does not contain key')


async def test_resources_with_their_own_credential_are_named(location):
    text = (location / "all.yaml").read_text()
    text = text.replace("name: hub", "name: hub\n  annotations: {serviceoperator.azure.com/credential-from: other}")
    (location / "all.yaml").write_text(text)
    checks = await doctor(location)
    assert checks["credentials"].message.startswith("1 resource with a credential Secret")


@pytest.mark.parametrize(
    ("trusts", "level", "says"),
    [
        ((Trust.SIGNED, Trust.SIGNED), OK, "matches 2 records"),
        (
            (Trust.SIGNED, Trust.UNPLACED),
            WARNING,
            "An older gitsync signed 1 of 2 records without the name of the repo",
        ),
        ((Trust.ALTERED, Trust.UNPLACED), ERROR, "2 of 2 records cannot be trusted"),
    ],
)
def test_seals_that_count_in_any_repository_are_a_doubt(trusts, level, says):
    records = [record(vnet(str(number)), vnet_id(str(number)), trust=trust) for number, trust in enumerate(trusts)]
    state = State({stored.key: stored for stored in records})
    check = examine_seals(Config(digest_key=Secret("k" * 32)), state)
    assert (check.level, says in check.message) == (level, True)


def test_deletes_without_a_key(unreachable):
    assert unreachable["digest-key"].level == WARNING


@pytest.mark.parametrize(
    ("addresses", "level", "message"),
    [
        (
            "slack://AAAAAAAAA/BBBBBBBBB/tokentokentokentokentoken discord://1/hunter2hunter2",
            OK,
            "go to slack, discord.",
        ),
        ("http://hooks.example/hunter2hunter2", WARNING, "Address 1 of GITSYNC_NOTIFY"),
        (" ", WARNING, "have no address"),
    ],
    ids=["two services", "no https", "nothing"],
)
async def test_addresses_of_notifications_are_checked_and_not_shown(location, addresses, level, message):
    checks = await doctor(location, notify=Secret(addresses))
    assert levels(checks)["notifications"] == level
    assert message in checks["notifications"].message
    assert not [check for check in checks.values() if "hunter2" in f"{check}" or "tokentoken" in f"{check}"]
