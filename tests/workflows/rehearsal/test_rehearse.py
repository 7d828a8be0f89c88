"""Rehearsals of whole syncs: what they need, what they skip, and how they fill the values that they lack."""

from __future__ import annotations

import asyncio
import hashlib
import socket
import textwrap
from pathlib import Path

import pytest

from gitsync.agent.run.run import execute
from gitsync.errors import ConfigError, SourceError
from gitsync.model.export import Address, ObjectKind
from gitsync.model.record import Claim, PendingOperation, Record
from gitsync.model.rehearsal import Blank, Rehearsal
from gitsync.model.secret import Secret
from gitsync.model.verdict import Action, Verdict
from gitsync.repository.git.state.state_folder import StatusFolder
from gitsync.repository.git.state.store import Update
from gitsync.repository.secrets.stores import SecretStores
from gitsync.settings.config.config import Config
from tests.support.git_repositories import add_remote, init_bare, push_main
from tests.support.memory_places import MemorySink, MemorySource
from tests.support.parts import change
from tests.support.programs import needs_build_tool
from tests.support.world import (
    GROUP,
    GROUP_ID,
    SUBNET,
    SUBNET_ID,
    SUBSCRIPTION,
    VNET,
    VNET_ID,
    World,
    annotated,
    key,
    of,
)
from tests.workflows.rehearsal.pieces import PIECES, document, make_world, rehearse_world

OTHER = "22222222-2222-2222-2222-222222222222"
LARGER = VNET.replace("10.0.0.0/16", "10.0.0.0/15")
KEY = Secret("a key that signs all records of this estate")


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path)


@pytest.fixture
def plain(tmp_path: Path) -> World:
    """A world that can begin as a copy of one that was synced: it has no vault."""
    return World(tmp_path)


def writes(rehearsal: Rehearsal) -> list[tuple[str, str]]:
    return [(write.method, write.arm_id) for write in rehearsal.writes]


def find(rehearsal: Rehearsal, blank: Blank):
    return next((gap for gap in rehearsal.not_rehearsed if gap.blank is blank), None)


def all_pieces() -> dict[str, str]:
    return {name: document(name, 0) for name in PIECES}


# What it needs, and what it skips.


def test_the_first_sync_of_a_source_without_a_status(world):
    rehearsal = rehearse_world(world.says(group=GROUP, vnet=VNET, subnet=SUBNET))
    assert writes(rehearsal) == [("PUT", GROUP_ID), ("PUT", VNET_ID), ("PUT", SUBNET_ID)]
    assert [(write.number, write.status, write.action) for write in rehearsal.writes] == [
        (number, 201, Action.CREATE) for number in (1, 2, 3)
    ]
    assert [write.key.name for write in rehearsal.writes] == ["core", "hub", "one"]
    assert (rehearsal.is_silent, rehearsal.exit_code) == (True, 0)


def test_a_commit_that_changes_creates_and_removes(plain):
    plain.synced(group=GROUP, vnet=VNET, subnet=SUBNET)
    plain.says(group=GROUP, vnet=LARGER, other=GROUP.replace("name: core", "name: other"))
    rehearsal = rehearse_world(plain, prune=True)
    assert sorted(writes(rehearsal)) == [
        ("DELETE", SUBNET_ID),
        ("PUT", VNET_ID),
        ("PUT", GROUP_ID.replace("core", "other")),
    ]
    assert {write.key.name: write.action for write in rehearsal.writes} == {
        "one": Action.DELETE,
        "other": Action.CREATE,
        "hub": Action.UPDATE,
    }
    assert (rehearsal.is_silent, rehearsal.exit_code) == (True, 0)


def test_nothing_to_do(plain):
    plain.synced(group=GROUP, vnet=VNET, subnet=SUBNET)
    rehearsal = rehearse_world(plain, prune=True)
    assert (rehearsal.writes, rehearsal.not_rehearsed, rehearsal.stubs, rehearsal.exit_code) == ((), (), (), 0)


def test_what_azure_has_beside_gits_fields_is_not_rehearsed(world):
    world.outside("PUT", GROUP_ID, {"location": "westeurope", "tags": {"owner": "rob"}})
    world.says(group=GROUP).sync()
    rehearsal = rehearse_world(world)
    assert [result.comparison.outside for result in rehearsal.first.results] == [()]


def test_files_that_are_not_committed_are_rehearsed(plain):
    plain.synced(group=GROUP, vnet=VNET)
    (plain.folder / "vnet.yaml").write_text(LARGER)
    assert writes(rehearse_world(plain)) == [("PUT", VNET_ID)]


def test_a_branch_is_rehearsed_by_its_name(plain):
    plain.synced(group=GROUP, vnet=VNET)
    plain.git("switch", "-q", "-c", "wider")
    plain.says(group=GROUP, vnet=LARGER)
    plain.git("switch", "-q", "main")
    assert writes(rehearse_world(plain)) == []
    assert writes(rehearse_world(plain, ref="wider")) == [("PUT", VNET_ID)]


def test_nothing_is_written_and_nothing_is_reached_but_the_emulator(world, monkeypatch):
    world.says(**all_pieces()).sync()
    world.says(**all_pieces() | {"hub": document("hub", 3)})
    before, requested = _digest(world.folder.parent), []
    connect = socket.socket.connect

    def note(own, address):
        requested.append(address[0] if isinstance(address, tuple) else address)
        return connect(own, address)

    monkeypatch.setattr(socket.socket, "connect", note)
    rehearsal = rehearse_world(
        world, prune=True, notify=Secret("json://192.0.2.1"), heartbeat=True, key_vault="https://x"
    )
    assert writes(rehearsal) == [("PUT", PIECES["hub"].arm_id)]
    assert set(requested) <= {"127.0.0.1"}
    (world.folder.parent / "script.yaml").unlink()
    assert _digest(world.folder.parent) == before


def _digest(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file() and path.name not in {"script.yaml", "index"})
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_a_status_branch_is_read_and_no_ref_moves(world, tmp_path):
    """The remote and the working tree have the same refs before and after, whether or not there is a status yet."""
    bare = tmp_path / "bare.git"
    world.says(group=GROUP, vnet=VNET)
    init_bare(bare)
    add_remote(world.folder, bare.as_uri())
    push_main(world.folder, bare)
    assert len(rehearse_world(world, status_dir=None).writes) == 2
    config = Config(source=str(world.folder), emulator="", subscription=SUBSCRIPTION, checks=("none",))
    assert asyncio.run(execute(config, writes=True)).exit_code == 0
    (world.folder / "vnet.yaml").write_text(LARGER)
    before = _list_refs(world, bare)
    assert "refs/heads/gitsync/status" in before
    assert writes(rehearse_world(world, status_dir=None, prune=True)) == [("PUT", VNET_ID)]
    assert _list_refs(world, bare) == before


def _list_refs(world: World, bare: Path) -> str:
    return world.git("for-each-ref") + world.git("--git-dir", str(bare), "for-each-ref")


def test_records_are_believed_without_the_key_of_their_seals(world, monkeypatch):
    monkeypatch.setenv("GITSYNC_DIGEST_KEY", KEY.reveal())
    world.says(group=GROUP, vnet=VNET).sync(digest_key=KEY)
    world.says(group=GROUP, vnet=LARGER)
    rehearsal = rehearse_world(world)
    assert writes(rehearsal) == [("PUT", VNET_ID)]
    found = find(rehearsal, Blank.SEALS)
    assert (found.count, found.sentence) == (
        2,
        "The seals of 2 records were not checked: a rehearsal has no key.",
    )


# What guards refuse.

REFUSALS = [
    pytest.param(
        {"group": GROUP},
        {"prune": True, "max_deletes": 0},
        "TooManyDeletes: This run would delete",
        id="more deletes than the limit",
    ),
    pytest.param(
        {"group": GROUP, "vnet": VNET.replace("addressSpace", "adressSpace"), "subnet": SUBNET},
        {"strict": True},
        "--strict refuses the run: vnet.yaml:",
        id="an invalid manifest, with --strict",
    ),
]


@pytest.mark.parametrize(("documents", "options", "message"), REFUSALS)
def test_what_a_sync_refuses_is_a_finding(documents, options, message, plain):
    plain.synced(group=GROUP, vnet=VNET, subnet=SUBNET)
    rehearsal = rehearse_world(plain.says(**documents), **options)
    assert (rehearsal.first, rehearsal.writes, rehearsal.exit_code) == (None, (), 1)
    assert rehearsal.refusal.startswith(message)


def test_an_older_revision_is_refused(plain):
    plain.synced(group=GROUP)
    plain.says(group=GROUP, vnet=VNET).sync()
    plain.git("reset", "-q", "--hard", "HEAD~1")
    assert rehearse_world(plain).refusal.startswith("RevisionSuperseded: ")
    assert rehearse_world(plain, allow_rollback=True).exit_code == 0


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        pytest.param({"emulator_script": "missing.yaml"}, ConfigError, id="a script that is not there"),
        pytest.param({"ref": "missing"}, SourceError, id="a revision that is not there"),
    ],
)
def test_wrong_settings_are_an_error(settings, error, world):
    with pytest.raises(error):
        rehearse_world(world.says(group=GROUP), **settings)


# What records have about Azure resources.


def test_an_agent_leaves_what_another_one_keeps(world):
    world.says(group=GROUP, vnet=VNET).sync(agent="network")
    world.says(group=GROUP, vnet=VNET).sync(agent="network")
    world.says(subnet=SUBNET, own=GROUP.replace("name: core", "name: own"))
    rehearsal = rehearse_world(world, prune=True, agent="teams")
    assert sorted(writes(rehearsal)) == [("PUT", SUBNET_ID), ("PUT", GROUP_ID.replace("core", "own"))]
    assert rehearsal.stubs == ()


def test_the_owner_of_another_repository_is_there(world, tmp_path):
    (tmp_path / "theirs").mkdir()
    theirs = World(tmp_path / "theirs")
    theirs.synced(group=GROUP, vnet=VNET)
    world.says(subnet=SUBNET)
    rehearsal = rehearse_world(world, known_from=(str(theirs.state),))
    assert (writes(rehearsal), rehearsal.exit_code) == ([("PUT", SUBNET_ID)], 0)


def change_records(world: World, **changes: object) -> None:
    """Make the records of networks say something else, as a run does that is killed."""
    with StatusFolder(world.state) as store:
        state = store.load()
        records = {stored: _change(record, changes) for stored, record in state.records.items()}
        store.save(Update(records=records, revision=state.revision, summary=None, report=None, headline="Change"))


def _change(record: Record, changes: dict[str, object]) -> Record:
    return change(record, **changes) if record.key.kind == "VirtualNetwork" else record


INTERRUPTED = [
    pytest.param(
        {"claim": Claim.EXPECTED, "applied": None, "baseline": None, "condition": None},
        [("PUT", VNET_ID)],
        id="a create that was expected, and may not have been sent",
    ),
    pytest.param(
        {"operation": PendingOperation("update", "2026-03-01T00:00:00Z")}, [], id="an update that was under way"
    ),
    pytest.param({"baseline": None}, [], id="written, and not seen since"),
]


@pytest.mark.parametrize(("changes", "expected"), INTERRUPTED)
def test_what_an_interrupted_run_left(changes, expected, plain):
    plain.synced(group=GROUP, vnet=VNET)
    change_records(plain, **changes)
    rehearsal = rehearse_world(plain)
    assert (writes(rehearsal), rehearsal.exit_code) == (expected, 0)


def test_what_is_only_read_is_there_and_what_is_detached_stays(world):
    policy = "reconcile_policy"
    world.outside("PUT", GROUP_ID, {"location": "westeurope"})
    kept = annotated(VNET, **{policy: "detach-on-delete"})
    world.says(group=annotated(GROUP, **{policy: "skip"}), vnet=kept).sync()
    world.says(group=annotated(GROUP, **{policy: "skip"}))
    rehearsal = rehearse_world(world, prune=True, max_deletes=5)
    assert (writes(rehearsal), rehearsal.exit_code, rehearsal.stubs) == ([], 0, ())
    assert of(rehearsal.first, "VirtualNetwork").verdict is Verdict.DETACH


# What nothing has a record of.


def test_owners_by_id_and_what_is_above_them_are_stubs(world):
    network = GROUP_ID.replace("core", "network") + "/providers/Microsoft.Network/virtualNetworks/hub"
    world.says(subnet=SUBNET.replace("name: hub", f"armId: {network}"))
    rehearsal = rehearse_world(world)
    assert writes(rehearsal) == [("PUT", f"{network}/subnets/one")]
    assert [stub.arm_id for stub in rehearsal.stubs] == [network.partition("/providers")[0], network]
    assert {stub.wanted_by for stub in rehearsal.stubs} == {(key("VirtualNetworksSubnet", "network.azure.com", "one"),)}
    found = find(rehearsal, Blank.STUBS)
    assert (found.count, found.names) == (2, tuple(stub.arm_id for stub in rehearsal.stubs))


def test_what_azure_has_by_itself_is_not_a_stub(world):
    reader = "/providers/Microsoft.Authorization/roleDefinitions/acdd72a7-3385-48ef-bd42-f606fba81ae7"
    role = f"""\
        apiVersion: authorization.azure.com/v1api20220401
        kind: RoleAssignment
        metadata: {{name: reader}}
        spec:
          owner: {{armId: /subscriptions/{SUBSCRIPTION}}}
          principalId: {OTHER}
          roleDefinitionReference: {{armId: {reader}}}
        """
    rehearsal = rehearse_world(world.says(role=role), subscription=SUBSCRIPTION)
    assert (len(rehearsal.writes), rehearsal.stubs, rehearsal.exit_code) == (1, (), 0)


def test_what_is_only_read_for_the_first_time_is_a_stub(world):
    world.says(group=annotated(GROUP, reconcile_policy="skip"), vnet=VNET)
    rehearsal = rehearse_world(world)
    assert (writes(rehearsal), rehearsal.exit_code) == ([("PUT", VNET_ID)], 0)
    assert [stub.arm_id for stub in rehearsal.stubs] == [GROUP_ID]


# Secrets and config maps.

SERVER = document("server", 0) + "---\n" + document("b", 0)


def test_a_secret_that_no_manifest_has_is_made_up_and_counts_as_unchanged(world):
    world.says(server=SERVER).sync(digest_key=KEY)
    rehearsal = rehearse_world(world.says(server=SERVER))
    assert (writes(rehearsal), rehearsal.exit_code) == ([], 0)
    found = find(rehearsal, Blank.SECRETS)
    assert found.names == ("Secret default/passwords",)
    assert not [problem for problem in rehearsal.first.problems if problem.code == "SecretsNotCompared"]


def test_a_secret_of_a_manifest_is_not_shown(world):
    password = "S3cret-of-the-manifest"
    own = f"apiVersion: v1\nkind: Secret\nmetadata: {{name: passwords}}\nstringData: {{server: {password}}}\n"
    rehearsal = rehearse_world(world.says(server=SERVER, own=own))
    assert (len(rehearsal.writes), find(rehearsal, Blank.SECRETS)) == (2, None)
    assert password not in repr(rehearsal)


def test_an_encrypted_secret_is_not_decrypted(world):
    own = (
        "apiVersion: v1\nkind: Secret\nmetadata: {name: passwords, namespace: default}\n"
        "stringData: {server: 'ENC[AES256_GCM,data:4Xk=,iv:aa=,tag:bb==,type:str]'}\n"
        "sops: {mac: x, version: 3.9.0, encrypted_regex: ^(data|stringData)$}\n"
    )
    rehearsal = rehearse_world(world.says(server=SERVER, own=own))
    assert (len(rehearsal.writes), rehearsal.exit_code) == (2, 0)
    assert find(rehearsal, Blank.SECRETS).names == ("Secret default/passwords",)


EXTENSION = """\
    apiVersion: kubernetesconfiguration.azure.com/v1api20230501
    kind: Extension
    metadata: {name: agent}
    spec:
      owner: {armId: OWNER}
      extensionType: agent
      configurationProtectedSettings: {name: db}
    """


def test_a_whole_secret_has_the_keys_that_were_sent(world):
    owner = f"{GROUP_ID}/providers/Microsoft.ContainerService/managedClusters/fleet"
    address = Address(ObjectKind.SECRET, "default", "db")
    vault = MemorySource("vault", {address: {"user": Secret("us3r-of-db"), "password": Secret("passw0rd-of-db")}})
    world.secret_stores = SecretStores(order=("vault",), sources={"vault": vault})
    world.outside("PUT", GROUP_ID, {"location": "westeurope"})
    world.outside("PUT", owner, {"location": "westeurope"}, "2024-09-01")
    world.says(agent=EXTENSION.replace("OWNER", owner)).sync(digest_key=KEY)
    rehearsal = rehearse_world(world, prune=True)
    assert (writes(rehearsal), rehearsal.exit_code) == ([], 0)
    assert find(rehearsal, Blank.SECRETS).names == ("Secret default/db",)


def test_exports_go_to_memory_and_are_still_owned(world):
    sink = MemorySink()
    world.secret_stores = SecretStores(sinks=(sink,))
    account = document("lake", 0) + "---\n" + document("a", 0)
    world.says(account=account).sync()
    world.says(account=account.replace("number: '0'", "number: '1'"))
    rehearsal = rehearse_world(world, export_to=("status", "folder", "key-vault"), export_folder="nowhere")
    assert (len(rehearsal.writes), rehearsal.exit_code) == (2, 0)
    assert not Path("nowhere").exists()


TEMPLATE = """\
    apiVersion: managedidentity.azure.com/v1api20230131
    kind: FederatedIdentityCredential
    metadata: {name: pods}
    spec:
      owner: {name: robot}
      audiences: [api://AzureADTokenExchange]
      subject: system:serviceaccount:default:shop
      issuerFromConfig: {name: cluster, key: issuer}
    """


def test_a_config_map_from_elsewhere_has_the_value_that_was_sent(world):
    address = Address(ObjectKind.CONFIG_MAP, "default", "cluster")
    values = {address: {"issuer": Secret("https://issuer.example.com/")}}
    world.secret_stores = SecretStores(order=("cluster",), sources={"cluster": MemorySource("cluster", values)})
    pods = {"b": document("b", 0), "robot": document("robot", 0), "pods": TEMPLATE}
    world.says(**pods).sync()
    rehearsal = rehearse_world(world.says(**pods))
    assert (writes(rehearsal), find(rehearsal, Blank.SECRETS)) == ([], None)


def test_an_unknown_config_map_is_made_up(world):
    pods = {"b": document("b", 0), "robot": document("robot", 0), "pods": TEMPLATE}
    rehearsal = rehearse_world(world.says(**pods))
    assert (len(rehearsal.writes), rehearsal.exit_code) == (3, 0)
    assert find(rehearsal, Blank.SECRETS).names == ("ConfigMap default/cluster",)


def secret(name: str, subscription: str) -> str:
    """The Secret of a credential."""
    ids = {"AZURE_SUBSCRIPTION_ID": subscription, "AZURE_TENANT_ID": OTHER, "AZURE_CLIENT_ID": OTHER}
    lines = "".join(f"  {key}: {value}\n" for key, value in ids.items())
    return f"apiVersion: v1\nkind: Secret\nmetadata: {{name: {name}}}\nstringData:\n{lines}"


def test_credentials_that_no_manifest_has_keep_their_subscriptions(world):
    """Each resource stays where its record has it, and a new one goes where others with the same Secret are."""
    third = "33333333-3333-3333-3333-333333333333"
    here, there = (annotated(GROUP.replace("core", name), credential_from=name) for name in ("here", "there"))
    world.says(here=here, there=there, one=secret("here", OTHER), two=secret("there", third)).sync()
    new = annotated(GROUP.replace("core", "new"), credential_from="there")
    rehearsal = rehearse_world(world.says(here=here, there=there, new=new), prune=True)
    assert writes(rehearsal) == [("PUT", f"/subscriptions/{third}/resourceGroups/new")]
    assert rehearsal.exit_code == 0


def test_without_a_subscription_it_is_that_of_the_records(world):
    world.says(group=GROUP).sync(subscription=OTHER)
    rehearsal = rehearse_world(world.says(group=GROUP, vnet=VNET))
    assert [write.arm_id for write in rehearsal.writes] == [VNET_ID.replace(GROUP_ID.split("/")[2], OTHER)]


FLUX = """\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: NAME, namespace: flux-system}
spec:
  interval: 10m
  path: PATH
  prune: true
  sourceRef: {kind: GitRepository, name: flux-system}
"""
APPS = FLUX.replace("NAME", "apps").replace("PATH", "./apps")
TREE = {
    "clusters/prod/flux-system/gotk-sync.yaml": FLUX.replace("NAME", "flux-system").replace("PATH", "./clusters/prod"),
    "clusters/prod/apps.yaml": f"{APPS}  postBuild: {{substituteFrom: [{{kind: Secret, name: cluster}}]}}\n",
}
NAMED = "---\n".join(
    textwrap.dedent(text).replace("name: core", "name: ${env}-core").replace("name: hub", "name: hub-${env}")
    for text in (GROUP, VNET)
)


@needs_build_tool
def test_a_variable_of_a_secret_has_the_value_that_the_records_tell(world):
    """Else all names would be others, and the rehearsal would create and delete the whole estate."""
    world.secret_stores = SecretStores(
        order=("vault",),
        sources={
            "vault": MemorySource(
                "vault", {Address(ObjectKind.SECRET, "flux-system", "cluster"): {"env": Secret("production")}}
            )
        },
    )
    files = {**TREE, "apps/net.yaml": NAMED}
    assert world.says_files(files).sync(path="clusters/prod").exit_code == 0
    files["apps/net.yaml"] = files["apps/net.yaml"].replace("/16", "/15")
    rehearsal = rehearse_world(world.says_files(files), path="clusters/prod", prune=True, max_deletes=9)
    assert [(write.method, write.key.name) for write in rehearsal.writes] == [("PUT", "hub-production")]
    assert (rehearsal.exit_code, find(rehearsal, Blank.SECRETS)) == (0, None)


@needs_build_tool
def test_an_unknown_variable_of_a_secret_is_made_up(world):
    world.says_files({**TREE, "apps/net.yaml": NAMED})
    rehearsal = rehearse_world(world, path="clusters/prod")
    assert (len(rehearsal.writes), rehearsal.exit_code) == (2, 0)
    assert find(rehearsal, Blank.SECRETS).names == ("Secret flux-system/cluster",)


def test_a_key_vault_is_never_opened(world):
    world.says(server=SERVER)
    rehearsal = rehearse_world(
        world, secret_sources=("manifests", "key-vault"), key_vault="https://none.vault.azure.net"
    )
    assert (len(rehearsal.writes), rehearsal.exit_code) == (2, 0)


# Faults, and what the emulator cannot simulate.


def test_a_script_injects_its_faults(world):
    script = world.folder.parent / "faults.yaml"
    script.write_text(
        "settings: {operations: {style: done}, throttle: off}\n"
        "rules:\n- match: {method: PUT, type: '*/virtualNetworks'}\n  answer: {code: RequestDisallowedByPolicy}\n"
    )
    rehearsal = rehearse_world(world.says(group=GROUP, vnet=VNET), emulator_script=str(script))
    assert [write.status for write in rehearsal.writes] == [201, 403]
    assert (of(rehearsal.first, "VirtualNetwork").is_fine, rehearsal.exit_code) == (False, 1)


def test_what_has_no_fixture_and_no_recording_is_reported(world):
    rehearsal = rehearse_world(world.says(group=GROUP, vnet=VNET))
    assert [gap.blank for gap in rehearsal.not_rehearsed] == [Blank.POLICIES, Blank.QUOTAS]
    script = world.folder.parent / "fixtures.yaml"
    script.write_text(
        "settings:\n  policies: [{name: none, scope: /subscriptions/x, effect: audit, if: []}]\n"
        "  quotas: [{provider: Microsoft.Compute, location: westeurope, name: cores, limit: 9}]\n"
    )
    rehearsal = rehearse_world(world, emulator_script=str(script))
    assert rehearsal.not_rehearsed == ()
