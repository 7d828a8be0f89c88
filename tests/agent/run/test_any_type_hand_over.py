"""A resource that changes between an ASO kind and an AzureResource, with all that names it: no write, no delete."""

from __future__ import annotations

import pytest

from gitsync.model.secret import Secret
from gitsync.model.verdict import Action, Verdict
from tests.agent.run.test_any_types import ACCOUNT, ACCOUNT_ID, GROUP, IN_GROUP, SAME_ACCOUNT
from tests.support.world import World

OLD = "{group: storage.azure.com, kind: StorageAccount, name: files}"
NEW = "{group: azure.gitsync, kind: AzureResource, name: files}"
BLOBS = """
apiVersion: storage.azure.com/v1api20230101
kind: StorageAccountsBlobService
metadata: {name: blobs}
spec: {owner: {name: files}, isVersioningEnabled: true}
"""
SAME_BLOBS = f"""
apiVersion: azure.gitsync/v1
kind: AzureResource
metadata: {{name: blobs}}
spec:
  type: Microsoft.Storage/storageAccounts/blobServices@2023-01-01
  owner: {NEW}
  body: {{properties: {{isVersioningEnabled: true}}}}
"""
CONTAINER = """
apiVersion: storage.azure.com/v1api20230101
kind: StorageAccountsBlobServicesContainer
metadata: {name: invoices}
spec: {owner: {name: blobs}, metadata: {team: shop}}
"""
SETTING = f"""
apiVersion: insights.azure.com/v1api20210501preview
kind: DiagnosticSetting
metadata: {{name: log}}
spec: {{owner: {OLD}, storageAccountReference: {OLD}}}
"""
FLOW = f"""
apiVersion: azure.gitsync/v1
kind: AzureResource
metadata: {{name: orders}}
spec:
  type: Microsoft.Logic/workflows@2019-05-01
  owner: {{group: resources.azure.com, kind: ResourceGroup, name: shop}}
  body: {{location: westeurope, properties: {{parameters: {{files: {{value: {{$reference: {OLD}}}}}}}}}}}
"""
BEFORE = {"group": GROUP, "files": ACCOUNT, "blobs": BLOBS, "invoices": CONTAINER, "log": SETTING, "flow": FLOW}
BLOBS_ID = f"{ACCOUNT_ID}/blobServices/default"
AFTER = {
    "group": GROUP,
    "files": SAME_ACCOUNT,
    "blobs": SAME_BLOBS,
    "invoices": CONTAINER.replace("{name: blobs}", f"{{armId: {BLOBS_ID}}}"),
    "log": SETTING.replace(OLD, NEW, 1).replace(OLD, f"{{armId: {ACCOUNT_ID}}}"),
    "flow": FLOW.replace(OLD, NEW),
}
SQL_ID = f"{IN_GROUP}/providers/Microsoft.Sql/servers/shop-sql"
PASSWORD = """
apiVersion: v1
kind: Secret
metadata: {name: sql}
stringData: {password: Not-really-a-password-1}
"""
SERVER = """
apiVersion: sql.azure.com/v1api20211101
kind: Server
metadata: {name: sql}
spec:
  azureName: shop-sql
  owner: {name: shop}
  location: westeurope
  administratorLogin: boss
  administratorLoginPassword: {name: sql, key: password}
"""
SAME_SERVER = """
apiVersion: azure.gitsync/v1
kind: AzureResource
metadata: {name: sql}
spec:
  type: Microsoft.Sql/servers@2021-11-01
  azureName: shop-sql
  owner: {group: resources.azure.com, kind: ResourceGroup, name: shop}
  body:
    location: westeurope
    properties: {administratorLogin: boss, administratorLoginPassword: {$secret: {name: sql, key: password}}}
"""
NEWER = """\
    gitsync/api-version: 2025-01-01
    gitsync/body: |
      properties: {dualStackEndpointPreference: {publishIpv6Endpoint: true}}
"""
ASSIGNMENT = """
apiVersion: authorization.azure.com/v1api20220401
kind: RoleAssignment
metadata: {name: reader}
spec:
  owner: {group: resources.azure.com, kind: ResourceGroup, name: shop}
  principalId: 00000000-0000-0000-0000-000000000007
  principalType: ServicePrincipal
  roleDefinitionReference:
    armId: /subscriptions/00000000-0000-0000-0000-000000000001/providers/Microsoft.Authorization/roleDefinitions/acdd72a7-3385-48ef-bd42-f606fba81ae7
"""
SAME_ASSIGNMENT = """
apiVersion: azure.gitsync/v1
kind: AzureResource
metadata: {name: reader}
spec:
  type: Microsoft.Authorization/roleAssignments@2022-04-01
  owner: {group: resources.azure.com, kind: ResourceGroup, name: shop}
  body:
    properties:
      principalId: 00000000-0000-0000-0000-000000000007
      principalType: ServicePrincipal
      roleDefinitionId: /subscriptions/00000000-0000-0000-0000-000000000001/providers/Microsoft.Authorization/roleDefinitions/acdd72a7-3385-48ef-bd42-f606fba81ae7
"""
DIGESTS = {"digest_key": Secret("a key of thirty-two characters...")}


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


@pytest.mark.parametrize(("before", "after"), [(BEFORE, AFTER), (AFTER, BEFORE)])
def test_a_parent_its_children_and_what_refers_to_it_change_in_one_commit(world, before, after):
    assert world.says(**before).sync().exit_code == 0
    assert len(world.writes) == len(before)
    for _ in range(2):
        report = world.says(**after).sync(prune=True)
        assert (report.exit_code, world.writes) == (0, [])
    assert {result.verdict for result in report.results} == {Verdict.IN_SYNC}
    assert len(report.results) == len(after)


@pytest.mark.parametrize(
    ("before", "after"), [(ASSIGNMENT, SAME_ASSIGNMENT), (SAME_ASSIGNMENT, ASSIGNMENT)], ids=["from ASO", "to ASO"]
)
def test_a_derived_name_stays_the_same(world, before, after):
    """Else the change would delete the assignment, and with it rights, before it creates another."""
    assert world.says(group=GROUP, reader=before).sync().exit_code == 0
    report = world.says(group=GROUP, reader=after).sync(prune=True)
    assert (report.exit_code, world.writes) == (0, [])


def test_the_record_that_moves_shows_that_the_resource_stays(world):
    world.synced(group=GROUP, files=ACCOUNT)
    report = world.says(group=GROUP, files=SAME_ACCOUNT).sync(prune=True)
    (moved,) = (result for result in report.results if result.action is Action.DETACH)
    assert moved.message == (
        "Removed from git: files.yaml no longer declares it. AzureResource.azure.gitsync/default/files takes over its "
        "record. It stays in Azure."
    )


def test_what_still_names_the_old_kind_learns_the_new_one(world):
    world.says(**BEFORE).sync()
    report = world.says(**BEFORE | {"files": SAME_ACCOUNT}).plan(prune=True)
    assert report.exit_code != 0
    hints = {
        problem.path: problem.hint for problem in report.problems if problem.code in {"OwnerKind", "ReferenceNotFound"}
    }
    by_kind = "AzureResource/files exists: set group to azure.gitsync and kind to AzureResource."
    by_id = f"AzureResource/files exists: replace name by armId: {ACCOUNT_ID}."
    assert hints == {"blobs.yaml": by_id, "log.yaml": by_kind, "flow.yaml": by_kind}
    assert not [result for result in report.results if result.action in {Action.DELETE, Action.CREATE}]


@pytest.mark.parametrize(("before", "after"), [(SERVER, SAME_SERVER), (SAME_SERVER, SERVER)])
def test_the_digests_of_secrets_move_too(world, before, after):
    assert world.says(group=GROUP, password=PASSWORD, sql=before).sync(**DIGESTS).exit_code == 0
    report = world.says(group=GROUP, password=PASSWORD, sql=after).sync(prune=True, **DIGESTS)
    assert (report.exit_code, world.writes) == (0, [])
    world.says(group=GROUP, password=PASSWORD.replace("-1", "-2"), sql=after)
    assert world.sync(prune=True, **DIGESTS).exit_code == 0
    assert world.writes == [f"PUT {SQL_ID}"]


@pytest.mark.parametrize("is_first", [True, False])
def test_a_body_in_an_annotation_becomes_a_part_of_the_body(world, is_first):
    """Both are sent at the newer version."""
    annotated = ACCOUNT.replace("{name: files}", f"\n  name: files\n  annotations:\n{NEWER.rstrip()}")
    changed_account = SAME_ACCOUNT.replace("2023-01-01", "2025-01-01").replace(
        "{accessTier: Hot}", "{accessTier: Hot, dualStackEndpointPreference: {publishIpv6Endpoint: true}}"
    )
    before, after = (annotated, changed_account) if is_first else (changed_account, annotated)
    assert world.says(group=GROUP, files=before).sync().exit_code == 0
    report = world.says(group=GROUP, files=after).sync(prune=True)
    assert (report.exit_code, world.writes) == (0, [])
    assert {result.action for result in report.results} == {Action.NONE, Action.DETACH}


def test_a_change_in_the_same_commit_is_the_only_write(world):
    world.synced(group=GROUP, files=ACCOUNT)
    report = world.says(group=GROUP, files=SAME_ACCOUNT.replace("Hot", "Cool")).sync(prune=True)
    assert (report.exit_code, world.writes) == (0, [f"PUT {ACCOUNT_ID}"])
    (updated,) = (result for result in report.results if result.action is Action.UPDATE)
    assert [difference.path for difference in updated.differences] == ["/properties/accessTier"]


@pytest.mark.parametrize(
    ("other", "text"),
    [
        (
            SAME_ACCOUNT.replace("Hot", "Cool"),
            'with different bodies: /properties/accessTier is "Hot" here and "Cool" there',
        ),
        (ACCOUNT, "as two kinds"),
    ],
)
def test_two_that_differ_are_an_error_that_names_both(world, other, text):
    report = world.says(group=GROUP, files=SAME_ACCOUNT, other=other.replace("{name: files}", "{name: other}")).plan()
    messages = [problem.message for problem in report.problems if problem.code == "ArmIdTwice"]
    assert len(messages) == 2
    assert all("/files" in message and "/other" in message for message in messages)
    assert any(text in message for message in messages)
