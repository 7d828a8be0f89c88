"""What resources export to Secrets and config maps, in whole runs (tests/scenarios.md 13, 14 and 26 to 34)."""

from __future__ import annotations

import pytest

from gitsync.emulator.settings import EmulatorSettings
from gitsync.errors import SecretStoreError
from gitsync.model.condition import ConditionStatus, Severity
from gitsync.model.export import Owner
from gitsync.model.secret import MASKED
from gitsync.model.verdict import Action, Verdict
from gitsync.planning.status.advice import find_condition_advice
from gitsync.repository.secrets.stores import SecretStores
from tests.agent.run.exporters import (
    ACCOUNT_ID,
    BOTH,
    ENDPOINT,
    KEY_1,
    OWNER,
    READY,
    SERVER_ID,
    UNWRITABLE,
    account,
    config_map_at,
    revealed,
    said,
    secret_at,
    server,
    world_with,
)
from tests.support.fault_rules import rules
from tests.support.memory_places import MemorySink, MemorySource
from tests.support.world import GROUP, GROUP_ID, World, annotated, of


@pytest.fixture
def sink():
    return MemorySink()


@pytest.fixture
def world(tmp_path, sink):
    return world_with(tmp_path, sink)


def test_a_key_goes_to_its_secret_and_feeds_another_resource_of_the_same_run(world, sink):
    report = world.says(group=GROUP, account=account(KEY_1), server=server()).sync()
    assert [said(result) for result in report.results] == [READY] * 3
    key = revealed(sink, secret_at("lake"))["first"]
    assert len(key) > 30
    assert world.writes[-1] == f"PUT {SERVER_ID}"
    assert world.sent("POST") == [f"{ACCOUNT_ID}/listKeys"]
    assert world.redactions.mask(key) == MASKED, "logs are told what to mask"


def test_what_an_expression_makes_of_a_key_is_a_secret_too(world, sink):
    made = "{key: first, value: secret.key1.reverse()}, {key: second, value: self.status.primaryEndpoints.blob}"
    world.synced(group=GROUP, account=account(f"secretExpressions: [{made.replace('key:', 'name: lake, key:')}]"))
    values = revealed(sink, secret_at("lake"))
    assert world.redactions.mask(values["first"]) == MASKED
    assert world.redactions.mask(values["second"]) == values["second"], "an address is none, wherever it is kept"


def test_nothing_is_requested_where_nothing_is_exported(world, sink):
    world.synced(group=GROUP, account=account("{}"))
    assert (world.sent("POST"), sink.objects) == ([], {})


def test_a_second_run_exports_again_and_writes_nothing_to_azure(world, sink):
    world.synced(group=GROUP, account=account(KEY_1), server=server())
    before = dict(sink.objects)
    report = world.sync()
    assert [result.verdict for result in report.results] == [Verdict.IN_SYNC] * 3
    assert world.writes == [f"POST {ACCOUNT_ID}/listKeys"]
    assert sink.objects == before


def test_a_plan_exports_nothing_and_calls_no_action(world, sink):
    world.says(group=GROUP, account=account(BOTH), server=server())
    report = world.plan()
    assert [result.action for result in report.results] == [Action.CREATE] * 3
    assert (world.writes, sink.objects) == ([], {})
    world.sync()
    sink.objects.clear()
    report = world.plan()
    assert [result.verdict for result in report.results] == [Verdict.IN_SYNC] * 3
    assert (world.writes, sink.objects) == ([], {})


def test_config_maps_are_kept_beside_the_status(world):
    report = world.says(group=GROUP, account=account(ENDPOINT)).sync()
    assert said(of(report, "StorageAccount")) == READY
    text = (world.state / "default/ConfigMap/where.json").read_text()
    assert '"blob": "https://lake.blob.' in text
    assert '"gitsync/owner": "StorageAccount.storage.azure.com/default/lake"' in text
    record = (world.state / "default/storage.azure.com/StorageAccount/lake.json").read_text()
    assert "ConfigMap/where" in record


def test_a_config_map_goes_with_its_owner(world):
    world.synced(group=GROUP, account=account(ENDPOINT))
    world.says(group=GROUP).sync(prune=True, max_deletes=5)
    assert not (world.state / "default/ConfigMap").exists()


def test_secrets_are_never_kept_beside_the_status(world, sink):
    world.synced(group=GROUP, account=account(KEY_1))
    key = revealed(sink, secret_at("lake"))["first"]
    files = [path for path in world.state.rglob("*") if path.is_file()]
    assert files
    assert [path for path in files if key in path.read_text()] == []


EXPRESSIONS = {
    "one key": (
        "secretExpressions: [{name: app, key: connection, value: '\"key=\" + secret.key1'}]",
        {"connection"},
    ),
    "a map": (
        'secretExpressions: [{name: app, value: \'{"a": secret.key1, "b": self.metadata.name}\'}]',
        {"a", "b"},
    ),
}


def number_account(exports, row):
    """An account of its own for a row, whose exports go to objects of their own."""
    text = account(exports.replace("name: app", f"name: app{row}"))
    return text.replace("name: lake\n    spec", f"name: lake{row}\n    spec")


def test_an_expression_gets_the_secrets_that_it_names(world, sink):
    """Each row is an account of its own."""
    texts = {f"row{row}": number_account(exports, row) for row, (exports, _) in enumerate(EXPRESSIONS.values())}
    report = world.says(group=GROUP, **texts).sync()
    for row, (why, (_, keys)) in enumerate(EXPRESSIONS.items()):
        found = of(report, "StorageAccount", f"lake{row}")
        assert said(found) == READY, f"{why}: {found.condition.message}"
        assert revealed(sink, secret_at(f"app{row}")).keys() == keys, why
    assert sorted(world.sent("POST")) == [f"{ACCOUNT_ID}{row}/listKeys" for row in range(len(texts))]


def test_an_expression_without_secrets_calls_no_action(world, sink):
    exports = "configMapExpressions: [{name: app, key: id, value: self.status.id}]"
    world.synced(group=GROUP, account=account(exports))
    assert revealed(sink, config_map_at("app")) == {"id": ACCOUNT_ID}
    assert world.sent("POST") == []


def test_13_a_secret_that_is_missing_and_then_there(world):
    source = MemorySource("folder", {})
    world.secret_stores = SecretStores(order=("manifests", "folder"), sources={"folder": source})
    report = world.says(group=GROUP, server=server("db", "password")).sync()
    found = of(report, "FlexibleServer")
    assert said(found) == (ConditionStatus.FALSE, Severity.WARNING, "SecretNotFound")
    assert "failed resolving secret references" in found.condition.message
    assert "default/db does not exist" in found.condition.message
    source.has(secret_at("db"), password="hunter2hunter2")
    assert said(of(world.sync(), "FlexibleServer")) == READY


def test_14_a_secret_that_lacks_the_key(world):
    source = MemorySource("folder", {})
    source.has(secret_at("db"), other="hunter2hunter2")
    world.secret_stores = SecretStores(order=("manifests", "folder"), sources={"folder": source})
    found = of(world.says(group=GROUP, server=server("db", "password")).sync(), "FlexibleServer")
    assert said(found) == (ConditionStatus.FALSE, Severity.WARNING, "SecretNotFound")
    assert 'Secret "default/db" does not contain key "password"' in found.condition.message


def test_a_source_that_does_not_answer_is_not_a_secret_that_is_missing(world):
    source = MemorySource("folder", {}, refuses=SecretStoreError("The folder cannot be read.", hint="Mend it."))
    world.secret_stores = SecretStores(order=("manifests", "folder"), sources={"folder": source})
    found = of(world.says(group=GROUP, server=server("db", "password")).sync(), "FlexibleServer")
    assert said(found) == (ConditionStatus.FALSE, Severity.WARNING, "Failed")
    assert found.condition.message.endswith("The folder cannot be read.")
    assert found.condition.advice.startswith("Mend it.")
    assert world.writes == [], "as whom to write is unknown too"


def test_a_plan_reads_no_remote_source_and_does_not_take_that_for_missing(world):
    source = MemorySource("key-vault", {}, is_remote=True)
    world.secret_stores = SecretStores(order=("manifests", "key-vault"), sources={"key-vault": source})
    world.says(group=GROUP, server=server("db", "password"))
    report = world.plan()
    assert [result.action for result in report.results] == [Action.CREATE] * 2
    assert source.requested == []
    source.has(secret_at("db"), password="hunter2hunter2")
    assert said(of(world.sync(), "FlexibleServer")) == READY
    assert source.requested[-1] == secret_at("db")
    requested = len(source.requested)
    assert [result.verdict for result in world.plan().results] == [Verdict.IN_SYNC] * 2
    assert len(source.requested) == requested


def test_26_what_is_skipped_exports_anyway(world, sink):
    world.outside("PUT", GROUP_ID, {"location": "westeurope"})
    body = {"location": "westeurope", "kind": "StorageV2", "sku": {"name": "Standard_LRS"}}
    world.outside("PUT", ACCOUNT_ID, body, api_version="2023-01-01")
    skipped = annotated(account(BOTH), reconcile_policy="skip")
    report = world.says(group=GROUP, account=skipped).sync()
    assert said(of(report, "StorageAccount")) == READY
    assert set(sink.objects) == {secret_at("lake"), config_map_at("where")}


def test_27_a_secret_that_belongs_to_no_one_is_not_written_over(world, sink):
    sink.has(secret_at("lake"), owner="", first="theirs")
    report = world.says(group=GROUP, account=account(KEY_1)).sync()
    found = of(report, "StorageAccount")
    assert said(found) == UNWRITABLE
    assert found.condition.message == (
        "cannot overwrite Secret default/lake which is not owned by StorageAccount.storage.azure.com default/lake"
    )
    assert (
        world.read(
            ACCOUNT_ID,
        )
        is not None
    ), "the resource itself was created"
    assert revealed(sink, secret_at("lake")) == {"first": "theirs"}
    report = world.says(group=GROUP).sync(prune=True, max_deletes=5)
    assert of(report, "StorageAccount").action is Action.DELETE


def test_28_of_two_resources_that_export_to_one_secret_the_first_wins(world, sink):
    other = account(KEY_1).replace("name: lake\n    spec", "name: pond\n    spec")
    report = world.says(group=GROUP, account=account(KEY_1), other=other).sync()
    assert said(of(report, "StorageAccount", "lake")) == READY
    assert said(of(report, "StorageAccount", "pond")) == UNWRITABLE
    assert sink.objects[secret_at("lake")].owner == Owner(OWNER)
    early = account(KEY_1).replace("name: lake\n    spec", "name: brook\n    spec")
    report = world.says(group=GROUP, account=account(KEY_1), other=early).sync()
    assert said(of(report, "StorageAccount", "lake")) == READY, "who had it keeps it"
    assert said(of(report, "StorageAccount", "brook")) == UNWRITABLE


def test_a_resource_of_another_agent_is_another_owner_whatever_its_key(world, sink, tmp_path):
    world.says(group=GROUP, account=account(KEY_1)).sync(agent="one")
    (tmp_path / "other").mkdir()
    other = World(tmp_path / "other")
    other.secret_stores = SecretStores(sinks=(sink,))
    found = of(other.says(group=GROUP, account=account(KEY_1)).sync(agent="two"), "StorageAccount")
    assert said(found) == UNWRITABLE
    assert sink.objects[secret_at("lake")].owner == Owner(OWNER, "one")
    other.says(group=GROUP).sync(agent="two", prune=True, max_deletes=5)
    assert secret_at("lake") in sink.objects, "what another agent exported stays"


def test_30_two_maps_that_meet_in_a_key(world, sink):
    map_of = '{{name: app, value: \'{{"greeting": "{word}", "name": "{word}"}}\'}}'
    both = f"secretExpressions: [{map_of.format(word='hello')}, {map_of.format(word='bye')}]"
    report = world.says(group=GROUP, account=account(both)).sync()
    found = of(report, "StorageAccount")
    assert said(found) == UNWRITABLE
    assert found.condition.message == (
        "failed to parse secret expressions for export: [key collision, entry exists for key 'greeting' in StringData, "
        "key collision, entry exists for key 'name' in StringData]"
    )
    assert sink.objects == {}
    both = both.replace("secretExpressions", "configMapExpressions")
    found = of(world.says(group=GROUP, account=account(both)).sync(), "StorageAccount")
    assert found.condition.message.startswith(
        "failed to parse configmap expressions for export: [key collision, entry exists for key 'greeting' in Data, "
    )


def test_33_annotations_and_labels_of_a_destination(world, sink):
    exports = "secrets: {key1: {name: lake, key: first, annotations: {note: ours}, labels: {app: web}}}"
    world.synced(group=GROUP, account=account(exports))
    found = sink.objects[secret_at("lake")]
    assert (found.annotations, found.labels, found.owner) == ({"note": "ours"}, {"app": "web"}, Owner(OWNER))


def test_what_is_no_longer_exported_vanishes_from_the_secret(world, sink):
    both = "secrets: {key1: {name: lake, key: first}, key2: {name: lake, key: second}}"
    world.synced(group=GROUP, account=account(both))
    assert revealed(sink, secret_at("lake")).keys() == {"first", "second"}
    world.synced(group=GROUP, account=account(KEY_1))
    assert revealed(sink, secret_at("lake")).keys() == {"first"}


def test_a_refused_action_fails_the_resource_and_exports_nothing(world, sink):
    refusal = "answer: {code: AuthorizationFailed, status: 403}"
    world.settings = EmulatorSettings(limits=None, rules=rules(f"{{match: {{method: POST}}, {refusal}}}"))
    found = of(world.says(group=GROUP, account=account(BOTH)).sync(), "StorageAccount")
    assert said(found) == (ConditionStatus.FALSE, Severity.WARNING, "Failed")
    assert found.condition.message.startswith("extension failed to produce resources for export: AuthorizationFailed: ")
    assert "listKeys" in found.condition.advice
    assert "Contributor is enough" in find_condition_advice(found.condition, found.arm_id), "the code is still known"
    assert sink.objects == {}


NO_KEY = 'failed to eval CEL expression: "self.spec.tags.none": no such key: none'
OF_SECRETS, OF_CONFIG_MAPS = (f"failed to parse {noun} expressions for export: " for noun in ("secret", "configmap"))
IN_LABEL = 'evaluating label expressions for configmap "app": evaluating expression for key "l": '
FIXED_AND_MAP = """secrets: {key1: {name: app, key: first}}
        secretExpressions: [{name: app, value: "{'first': 'x'}"}]"""
STAGES = [
    ("secretExpressions: [{name: app, key: k, value: self.spec.tags.none}]", f"{OF_SECRETS}{NO_KEY}"),
    ("configMapExpressions: [{name: app, key: k, value: self.spec.tags.none}]", f"{OF_CONFIG_MAPS}{NO_KEY}"),
    (
        "configMapExpressions: [{name: app, key: k, value: self.status.id, labels: {l: self.spec.tags.none}}]",
        f"{OF_CONFIG_MAPS}{IN_LABEL}{NO_KEY}",
    ),
    (
        "secretExpressions: [{name: app, key: k, value: self.status.accessTier}]",
        f"{OF_SECRETS}unexpected expression output",
    ),
    (FIXED_AND_MAP, "failed merging secrets: key collision, entry exists for key 'first' in StringData"),
]


def test_an_error_bears_the_words_of_its_stage(world, sink):
    """Each row is an account of its own."""
    texts = {f"row{row}": number_account(exports, row) for row, (exports, _) in enumerate(STAGES)}
    report = world.says(group=GROUP, **texts).sync()
    for row, (_, message) in enumerate(STAGES):
        found = of(report, "StorageAccount", f"lake{row}")
        assert (said(found), found.condition.message) == (UNWRITABLE, message.replace('"app"', f'"app{row}"'))
    assert sink.objects == {}


def test_a_sink_that_cannot_be_written_to_fails_the_resource(world, sink):
    sink.refuses = SecretStoreError("The vault is closed.", hint="Open it.")
    found = of(world.says(group=GROUP, account=account(KEY_1)).sync(), "StorageAccount")
    assert said(found) == (ConditionStatus.FALSE, Severity.WARNING, "Failed")
    assert (found.condition.message, found.condition.advice) == ("The vault is closed.", "Open it.")
    sink.refuses = None
    assert said(of(world.sync(), "StorageAccount")) == READY
