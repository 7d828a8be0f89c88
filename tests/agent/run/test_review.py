"""A plan that was reviewed, and the sync that is held to it."""

from __future__ import annotations

import copy
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from gitsync.errors import ConfigError
from gitsync.extensions.api import Extension
from gitsync.extensions.registry import BUILT_IN
from gitsync.model.verdict import Action, Verdict
from gitsync.repository.git.state.plan_file import decode_plan, encode_plan, read_plan
from gitsync.repository.git.state.plan_seal import seal_plan
from tests.agent.run.test_scenarios import ASSIGNMENT, IDENTITY
from tests.agent.run.test_secret_digests import KEY, OTHER_KEY, SERVER_ID, secret
from tests.agent.run.test_secret_digests import SERVER as SERVER_MANIFEST
from tests.support.fault_rules import rules
from tests.support.world import GROUP, GROUP_ID, SUBNET, SUBNET_ID, VNET, VNET_ID, World, annotated, of

NETWORK = "2024-03-01"
WIDER = VNET.replace("[10.0.0.0/16]", "[10.0.0.0/16, 10.1.0.0/16]")
SECOND = SUBNET.replace("name: one", "name: two").replace("10.0.0.0/24", "10.0.1.0/24")


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def planned(world: World, **settings) -> Path:
    """The file of a plan made now."""
    file = world.folder.parent / "plan.json"
    report = world.plan(plan_out=str(file), **settings)
    file.write_text(encode_plan(report.plan.review))
    return file


def rewrite(file: Path, document) -> None:
    """Write another plan with a seal that fits."""
    file.write_text(encode_plan(seal_plan(decode_plan(json.dumps(document).encode()), None)))


def apply(world: World, file: Path, **settings):
    return world.sync(plan_file=str(file), **settings)


def said(result):
    return (result.verdict, result.action, result.condition.reason)


def test_what_was_reviewed_is_done(world):
    file = planned(world.says(group=GROUP, vnet=VNET, subnet=SUBNET))
    report = apply(world, file)
    assert (report.exit_code, world.sent("PUT")) == (0, [GROUP_ID, VNET_ID, SUBNET_ID])
    file = planned(world.says(group=GROUP, vnet=WIDER, subnet=SUBNET))
    assert {str(key): node.action for key, node in read_plan(file).nodes.items()} == {
        "ResourceGroup.resources.azure.com/default/core": Action.NONE,
        "VirtualNetwork.network.azure.com/default/hub": Action.UPDATE,
        "VirtualNetworksSubnet.network.azure.com/default/one": Action.NONE,
    }
    assert (apply(world, file).exit_code, world.sent("PUT")) == (0, [VNET_ID])


def test_the_same_plan_is_the_same_file_and_holds_no_value(world):
    world.synced(group=GROUP, vnet=VNET)
    world.says(group=GROUP, vnet=WIDER)
    first, second = planned(world).read_bytes(), planned(world).read_bytes()
    assert first == second
    assert b"10.1.0.0" not in first
    document = json.loads(first)
    assert set(document) == {"schema", "repository", "revision", "prune", "digestKey", "nodes", "seal"}
    node = document["nodes"]["VirtualNetwork.network.azure.com/default/hub"]
    assert node["action"] == "update"
    assert re.fullmatch("sha256:[0-9a-f]{64}", node["desiredDigest"])
    assert re.fullmatch("sha256:[0-9a-f]{64}", node["liveDigest"])
    assert node["etag"].startswith("W/")


def test_what_moved_in_azure_is_refused_with_what_differs_now_and_the_rest_goes_on(world):
    other = VNET.replace("name: hub", "name: spoke")
    world.synced(group=GROUP, hub=VNET, spoke=other)
    wider = "[10.0.0.0/16, 10.1.0.0/16]"
    world.says(group=GROUP, hub=WIDER, spoke=other.replace("[10.0.0.0/16]", wider))
    file = planned(world)
    changed = {"location": "westeurope", "properties": {"addressSpace": {"addressPrefixes": ["10.9.0.0/16"]}}}
    world.outside("PUT", VNET_ID, changed, NETWORK)
    report = apply(world, file)
    hub = of(report, "VirtualNetwork", "hub")
    assert said(hub)[1:] == (Action.NONE, "PlanOutdated")
    assert hub.verdict in {Verdict.PENDING, Verdict.CONFLICT}
    assert ["10.9.0.0/16"] in [difference.live for difference in hub.differences]
    assert said(of(report, "VirtualNetwork", "spoke")) == (Verdict.PENDING, Action.UPDATE, "Succeeded")
    assert (report.exit_code, world.sent("PUT")) == (1, [VNET_ID.replace("hub", "spoke")])


def test_an_etag_that_moved_is_a_move_though_nothing_that_git_sets_did(world):
    world.synced(group=GROUP, vnet=VNET)
    file = planned(world.says(group=GROUP, vnet=WIDER))
    world.somebody_changes(VNET_ID, {"/properties/resourceGuid": "another"})
    report = apply(world, file)
    assert (of(report, "VirtualNetwork").condition.reason, world.writes) == ("PlanOutdated", [])
    assert "ETag" in of(report, "VirtualNetwork").condition.message


def test_what_the_write_would_reset_is_reviewed(world):
    world.synced(group=GROUP, vnet=VNET)
    world.somebody_changes(VNET_ID, {"/tags": {"by": "hand"}})
    file = planned(world.says(group=GROUP, vnet=WIDER))
    world.somebody_changes(VNET_ID, {"/tags/owner": "rob"})
    report = apply(world, file)
    assert (of(report, "VirtualNetwork").condition.reason, world.writes) == ("PlanOutdated", [])
    assert apply(world, planned(world)).exit_code == 0
    assert world.sent("PUT") == [VNET_ID]


def test_what_the_plan_left_as_it_was_is_not_written(world):
    world.synced(group=GROUP, vnet=VNET)
    file = planned(world)
    changed = {"location": "westeurope", "properties": {"addressSpace": {"addressPrefixes": ["10.9.0.0/16"]}}}
    world.outside("PUT", VNET_ID, changed, NETWORK)
    report = apply(world, file)
    assert said(of(report, "VirtualNetwork")) == (Verdict.DRIFTED, Action.NONE, "PlanOutdated")
    assert (report.exit_code, world.writes) == (1, [])
    always = apply(world, planned(world.says(group=GROUP)), always_put=True)
    assert said(of(always, "ResourceGroup"))[1:] == (Action.NONE, "NotReviewed")


def test_what_the_plan_does_not_have_is_not_written(world):
    file = planned(world.says(group=GROUP, vnet=VNET, subnet=SUBNET), only=("ResourceGroup/core",))
    report = apply(world, file)
    assert world.sent("PUT") == [GROUP_ID]
    assert said(of(report, "VirtualNetwork")) == (Verdict.CREATE, Action.NONE, "NotReviewed")
    assert of(report, "VirtualNetworksSubnet").verdict is Verdict.BLOCKED
    assert report.exit_code == 1
    assert apply(world, file, only=("ResourceGroup/core",)).exit_code == 0


def test_what_appeared_since_is_not_overwritten(world):
    file = planned(world.says(group=GROUP, vnet=VNET))
    world.outside("PUT", GROUP_ID, {"location": "westeurope"})
    somebodys = {"location": "westeurope", "properties": {"addressSpace": {"addressPrefixes": ["10.9.0.0/16"]}}}
    world.outside("PUT", VNET_ID, somebodys, NETWORK)
    report = apply(world, file)
    assert said(of(report, "VirtualNetwork")) == (Verdict.ADOPT, Action.NONE, "PlanOutdated")
    assert (report.exit_code, world.writes) == (1, [])


def test_a_value_that_the_same_run_exports_is_left_out_of_what_was_reviewed(world):
    file = planned(world.says(group=GROUP, identity=IDENTITY, assignment=ASSIGNMENT))
    node = next(node for key, node in read_plan(file).nodes.items() if key.kind == "RoleAssignment")
    assert node.later == ("/properties/principalId",)
    report = apply(world, file)
    assert (report.exit_code, of(report, "RoleAssignment").action) == (0, Action.CREATE)


EXPORTER = """\
    apiVersion: managedidentity.azure.com/v1api20230131
    kind: UserAssignedIdentity
    metadata:
      name: other
    spec:
      location: westeurope
      owner:
        name: core
      operatorSpec:
        configMaps: {principalId: {name: other, key: principal}}
    """
FEDERATION = """\
    apiVersion: managedidentity.azure.com/v1api20230131
    kind: FederatedIdentityCredential
    metadata:
      name: jobs
    spec:
      owner:
        name: IDENTITY
      audiences: [api://AzureADTokenExchange]
      issuer: https://issuer.example
      subjectFromConfig:
        name: other
        key: principal
    """


def test_a_value_of_a_resource_that_the_plan_creates_again_is_written_with_it(world):
    """The plan cannot read the new value, and its reader saw that the resource is created."""
    name = re.search("name: (.*)", IDENTITY)[1]
    world.says(group=GROUP, identity=IDENTITY, other=EXPORTER, federation=FEDERATION.replace("IDENTITY", name)).sync()
    other = f"{GROUP_ID}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/other"
    federation = f"{GROUP_ID}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/{name}"
    federation = f"{federation}/federatedIdentityCredentials/jobs"
    before = world.read(federation, "2023-01-31")["properties"]
    world.outside("DELETE", other, api_version="2023-01-31")
    world.outside(
        "PUT", federation, {"properties": {**before, "subject": "former"}}, "2023-01-31"
    )  # as it had another id
    found = of(world.plan(), "FederatedIdentityCredential")
    assert (found.verdict, found.comparison.unverified) == (Verdict.IN_SYNC, ("/properties/subject",))
    assert found.comparison.because == {
        "/properties/subject": "not known to a plan: another resource of the run exports it"
    }
    report = apply(world, planned(world))
    assert (report.exit_code, len(world.sent("PUT"))) == (0, 2)
    assert of(report, "FederatedIdentityCredential").action is Action.UPDATE


def test_reviewed_deletes_are_done_children_first_though_each_moves_its_parent(world):
    world.synced(group=GROUP, vnet=VNET, subnet=SUBNET, second=SECOND)
    file = planned(world.says(group=GROUP), prune=True)
    report = apply(world, file, prune=True, max_deletes=3)
    assert report.exit_code == 0
    assert world.sent("DELETE") == [SUBNET_ID, f"{VNET_ID}/subnets/two", VNET_ID]


def test_a_group_does_not_take_along_what_is_not_looked_at(world):
    world.synced(group=GROUP, vnet=VNET)
    file = planned(world.says(), prune=True)
    assert apply(world, file, prune=True, max_deletes=2).exit_code == 0
    assert world.sent("DELETE") == [VNET_ID, GROUP_ID]


def test_what_was_to_be_deleted_and_moved_since_stays(world):
    world.synced(group=GROUP, vnet=VNET)
    file = planned(world.says(group=GROUP), prune=True)
    world.outside("PATCH", VNET_ID, {"tags": {"now": "used"}}, NETWORK)
    report = apply(world, file, prune=True)
    assert said(of(report, "VirtualNetwork")) == (Verdict.DELETE, Action.NONE, "PlanOutdated")
    assert (report.exit_code, world.writes) == (1, [])
    assert of(world.plan(), "VirtualNetwork").record is not None, "it is still ours"


def test_a_delete_that_no_one_reviewed_is_held(world):
    world.synced(group=GROUP, vnet=VNET, subnet=SUBNET)
    file = planned(world.says(group=GROUP), prune=True, only=("VirtualNetwork/hub",))
    report = apply(world, file, prune=True, max_deletes=3)
    assert said(of(report, "VirtualNetworksSubnet")) == (Verdict.BLOCKED, Action.NONE, "PruneHeld")
    assert said(of(report, "VirtualNetwork")) == (Verdict.BLOCKED, Action.NONE, "PruneHeld")
    assert world.writes == []


def test_a_detach_that_no_one_reviewed_is_held(world):
    world.synced(group=GROUP, vnet=annotated(VNET, reconcile_policy="detach-on-delete"))
    nothing = planned(world, prune=True)
    world.says(group=GROUP)
    document = json.loads(nothing.read_text())
    rewrite(nothing, {**document, "revision": world.git("rev-parse", "HEAD")})
    assert of(apply(world, nothing, prune=True), "VirtualNetwork").record is not None
    assert of(apply(world, planned(world, prune=True), prune=True), "VirtualNetwork").record is None


@pytest.mark.parametrize(
    "at_plan, at_sync, reason, sent, why",
    [
        (KEY, KEY, "Succeeded", True, "the digest is the same: it is the secret that was reviewed"),
        (None, None, "SecretsNotReviewed", False, "without a key nobody can tell whether it is the same secret"),
        (KEY, None, "SecretsNotReviewed", False, "this run has nothing to compare with"),
    ],
)
def test_a_resource_with_secrets_needs_the_digest_key(world, at_plan, at_sync, reason, sent, why):
    world.says(group=GROUP, server=SERVER_MANIFEST, secret=secret("one"))
    report = apply(world, planned(world, digest_key=at_plan), digest_key=at_sync)
    assert of(report, "FlexibleServer").condition.reason == reason, why
    assert (SERVER_ID in world.sent("PUT")) is sent, why
    assert of(report, "ResourceGroup").is_fine, "what has no secrets goes on"


def test_a_changed_secret_that_the_run_cannot_see_is_not_skipped(world):
    world.says(group=GROUP, server=SERVER_MANIFEST, secret=secret("one")).sync(digest_key=KEY)
    file = planned(world.says(group=GROUP, server=SERVER_MANIFEST, secret=secret("two")), digest_key=KEY)
    report = apply(world, file, digest_key=OTHER_KEY, previous_digest_key=KEY)
    assert said(of(report, "FlexibleServer"))[1:] == (Action.NONE, "SecretsNotReviewed")
    assert (report.exit_code, world.writes) == (1, [])
    back = {"digest_key": KEY, "previous_digest_key": OTHER_KEY}
    assert apply(world, file, **back).exit_code == 0
    assert apply(world, file, **back).exit_code == 0, "what is done already is nothing to refuse"


def test_another_secret_than_the_reviewed_one_is_refused(world):
    world.says(group=GROUP, server=SERVER_MANIFEST, secret=secret("one"))
    file = planned(world, digest_key=KEY)
    world.folder.joinpath("secret.yaml").write_text(secret("two").replace("\n    ", "\n").lstrip())
    report = apply(world, file, digest_key=KEY, allow_dirty=True)
    assert of(report, "FlexibleServer").condition.reason == "PlanOutdated"
    assert SERVER_ID not in world.sent("PUT")


@pytest.fixture(scope="module")
def reviewed(tmp_path_factory):
    """Plans by whether they have the seal of a digest key: a world in which nothing was done yet, and its plan."""
    plans = {}
    for key in (None, KEY):
        world = World(tmp_path_factory.mktemp("reviewed")).says(group=GROUP, vnet=VNET)
        plans[key is not None] = (world, json.loads(planned(world, digest_key=key).read_text()))
    return plans


def write(world: World, document) -> Path:
    """Write a file of a plan, in another layout than gitsync does."""
    file = world.folder.parent / "written.json"
    file.write_text(json.dumps(document))
    return file


def refuse(world: World, document, **settings) -> ConfigError:
    """The refusal of a plan before anything is touched."""
    with pytest.raises(ConfigError) as refused:
        apply(world, write(world, document), **settings)
    assert (refused.value.exit_code, world.requests) == (2, [])
    return refused.value


@pytest.mark.parametrize(
    "change, word, why",
    [
        ({"repository": "github.com/acme/other"}, "another repository", "it speaks of other manifests"),
        ({"revision": "0" * 40}, "another revision", "git moved since it was reviewed"),
        ({"prune": True}, "another prune", "deletes were reviewed, and would not be done"),
        ({"schema": 2}, "schema is 2", "a newer gitsync may mean something else by it"),
        ({"nodes": []}, "nodes must be a mapping", "it was edited"),
        ({"extra": 1}, "extra is not a known member", "what is not understood may narrow"),
    ],
)
def test_a_plan_of_something_else_is_refused_before_anything_is_touched(reviewed, change, word, why):
    world, document = reviewed[False]
    refusal = refuse(world, {**document, **change})
    assert (word in refusal.message, bool(refusal.hint)) == (True, True), why
    assert not world.state.exists() or not list(world.state.rglob("*.json")), why


def racing(world: World, *moves) -> None:
    """Let somebody change the network right before each of the next writes of it, or not ("")."""
    left = list(moves)

    def modify(body, subject):
        if left and (tag := left.pop(0)):
            found = world.store.resource(VNET_ID.lower())
            moved = {**found.body, "tags": {"move": tag}}
            world.store.put_resource(VNET_ID.lower(), replace(found, body=moved, version=found.version + 1))
        return body

    world.extensions = (*BUILT_IN, Extension(group="network.azure.com", kind="VirtualNetwork", modify=modify))


def test_a_write_that_was_overtaken_looks_again_once(world):
    world.synced(group=GROUP, vnet=VNET)
    racing(world, "first")
    report = world.says(group=GROUP, vnet=WIDER).sync()
    assert said(of(report, "VirtualNetwork")) == (Verdict.PENDING, Action.UPDATE, "Succeeded")
    assert [attempt.code for attempt in of(report, "VirtualNetwork").attempts] == ["PreconditionFailed"]
    assert world.sent("PUT") == [VNET_ID, VNET_ID]


def test_a_write_that_is_overtaken_again_is_left_to_the_next_run(world):
    world.synced(group=GROUP, vnet=VNET)
    racing(world, "first", "second")
    report = world.says(group=GROUP, vnet=WIDER).sync()
    assert said(of(report, "VirtualNetwork")) == (Verdict.PENDING, Action.NONE, "PreconditionFailed")
    assert (report.exit_code, world.sent("PUT")) == (1, [VNET_ID, VNET_ID])
    assert world.sync().exit_code == 0


def test_a_reviewed_write_that_was_overtaken_is_refused(world):
    world.synced(group=GROUP, vnet=VNET)
    file = planned(world.says(group=GROUP, vnet=WIDER))
    racing(world, "first")
    report = apply(world, file)
    assert said(of(report, "VirtualNetwork")) == (Verdict.PENDING, Action.NONE, "PlanOutdated")
    assert world.sent("PUT") == [VNET_ID]


def test_a_provider_that_means_something_else_by_its_etag_is_written_without(tmp_path):
    refusing = rules("{match: {method: PUT, path: '*/hub', nth: 2}, answer: {code: PreconditionFailed}}")
    world = World(tmp_path, rules=refusing)
    world.synced(group=GROUP, vnet=VNET)
    racing(world, "", "moved right before the second try")
    report = world.says(group=GROUP, vnet=WIDER).sync()
    assert said(of(report, "VirtualNetwork")) == (Verdict.PENDING, Action.UPDATE, "Succeeded")
    assert world.sent("PUT") == [VNET_ID, VNET_ID]


def test_a_delete_that_was_overtaken_looks_again_once(tmp_path):
    refusing = rules("{match: {method: DELETE, nth: 1}, answer: {code: PreconditionFailed}}")
    world = World(tmp_path, rules=refusing)
    world.synced(group=GROUP, vnet=VNET)
    report = world.says(group=GROUP).sync(prune=True)
    assert said(of(report, "VirtualNetwork")) == (Verdict.DELETE, Action.DELETE, "Deleted")
    assert world.sent("DELETE") == [VNET_ID, VNET_ID]


def test_siblings_do_not_overtake_each_other(world):
    """In Azure a write of one subnet moves the ETags of all subnets of the network."""
    ids = [SUBNET_ID, f"{VNET_ID}/subnets/two"]
    world.synced(group=GROUP, vnet=VNET, subnet=SUBNET, second=SECOND)
    file = planned(world.says(group=GROUP, vnet=VNET, subnet=moved(SUBNET), second=moved(SECOND)))

    def modify(body, subject):
        other = next(arm_id.lower() for arm_id in ids if arm_id.casefold() != subject.arm_id.casefold())
        found = world.store.resource(other)
        world.store.put_resource(other, replace(found, version=found.version + 1))
        return body

    world.extensions = (*BUILT_IN, Extension(group="network.azure.com", kind="VirtualNetworksSubnet", modify=modify))
    report = apply(world, file)
    assert (report.exit_code, sorted(world.sent("PUT"))) == (0, ids)


def moved(subnet: str) -> str:
    return subnet.replace("addressPrefix: 10.0.", "addressPrefix: 10.0.9")


@pytest.mark.parametrize(
    "at_plan, at_sync, word, why",
    [
        (None, {"digest_key": KEY}, "without a digest key", "anybody could have made its seal"),
        (KEY, {"digest_key": OTHER_KEY}, "digest key that this run does not have", "its seal cannot be checked"),
    ],
)
def test_a_plan_whose_seal_the_key_of_the_run_cannot_check_is_refused(reviewed, at_plan, at_sync, word, why):
    world, document = reviewed[at_plan is not None]
    refusal = refuse(world, document, **at_sync)
    assert (word in refusal.message, "GITSYNC_DIGEST_KEY" in refusal.hint) == (True, True), why


@pytest.mark.parametrize(
    "at_plan, at_sync, why",
    [
        (KEY, {"digest_key": KEY}, "the same key"),
        (KEY, {"digest_key": OTHER_KEY, "previous_digest_key": KEY}, "the key was exchanged since"),
        (KEY, {}, "a run without a key cannot check it"),
        (None, {}, "nobody has a key"),
    ],
)
def test_a_plan_with_its_seal_is_taken_in_any_layout(reviewed, tmp_path, at_plan, at_sync, why):
    world, document = reviewed[at_plan is not None]
    world = world.copy(tmp_path)
    assert apply(world, write(world, document), **at_sync).exit_code == 0, why
    assert world.sent("PUT") == [GROUP_ID, VNET_ID], why


def narrow(document):
    """Leave a resource out: what is left goes on, and was never reviewed that way."""
    del document["nodes"]["VirtualNetwork.network.azure.com/default/hub"]


def allow(document):
    document["nodes"]["VirtualNetwork.network.azure.com/default/hub"]["action"] = "delete"


def change_a_digest(document):
    document["nodes"]["ResourceGroup.resources.azure.com/default/core"]["liveDigest"] = "sha256:0"


def change_the_key(document):
    document["digestKey"] = "00000000"


def change_the_seal(document):
    document["seal"] = document["seal"][:-1] + ("0" if document["seal"][-1] != "0" else "1")


@pytest.mark.parametrize("edit", [narrow, allow, change_a_digest, change_the_key, change_the_seal])
@pytest.mark.parametrize("key", [KEY, None], ids=["key", "no key"])
def test_a_plan_that_was_edited_is_refused(reviewed, edit, key):
    world, document = reviewed[key is not None]
    edited = copy.deepcopy(document)
    edit(edited)
    assert "was changed since it was made" in refuse(world, edited, digest_key=key).message


def drop_the_seal(document):
    del document["seal"]


def make_a_plain_seal(document):
    drop_the_seal(document)
    narrow(document)
    document["seal"] = seal_plan(decode_plan(json.dumps(document).encode()), None).seal


def make_a_seal_with_another_key(document):
    narrow(document)
    document["seal"] = seal_plan(decode_plan(json.dumps(document).encode()), OTHER_KEY).seal


def name_the_key_in_a_made_up_seal(document):
    scheme, name, _ = document["seal"].split(":")
    document["seal"] = f"{scheme}:{name}:{'0' * 64}"


@pytest.mark.parametrize(
    "edit", [drop_the_seal, make_a_plain_seal, make_a_seal_with_another_key, name_the_key_in_a_made_up_seal]
)
def test_no_one_without_the_key_makes_a_seal_that_fits(reviewed, edit):
    world, document = reviewed[True]
    edited = copy.deepcopy(document)
    edit(edited)
    assert refuse(world, edited, digest_key=KEY).hint


def test_without_a_key_an_edit_with_a_new_seal_is_not_found(reviewed, tmp_path):
    """The page lists it: a plain digest finds accidents."""
    world, document = reviewed[False]
    world, edited = world.copy(tmp_path), copy.deepcopy(document)
    make_a_plain_seal(edited)
    assert of(apply(world, write(world, edited)), "VirtualNetwork").condition.reason == "NotReviewed"


def test_a_file_of_an_older_version_is_taken_without_a_key(reviewed, tmp_path):
    world, document = reviewed[False]
    world, older = world.copy(tmp_path), copy.deepcopy(document)
    drop_the_seal(older)
    assert apply(world, write(world, older)).exit_code == 0
