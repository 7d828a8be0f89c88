"""A whole set of manifests made ready: what each part contributes, and what the order of files may not change."""

import random
from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitsync.desired.manifests.reader import read_manifests
from gitsync.desired.request.build import prepare
from gitsync.desired.request.placeholders import show
from gitsync.model.gvk import Key
from gitsync.model.reconcile_policy import RECONCILE_POLICY, Policy
from gitsync.model.template import ConfigMapKeyRef, ResourceRef, Text
from tests.support.hypothesis_profile import scale

SUBSCRIPTION = "11111111-1111-1111-1111-111111111111"
GROUP_ID = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/Core"

FILES = {
    "group.yaml": """
        apiVersion: resources.azure.com/v1api20200601
        kind: ResourceGroup
        metadata: {name: core}
        spec: {location: westeurope, azureName: Core}
        """,
    "net.yaml": """
        apiVersion: network.azure.com/v1api20240301
        kind: VirtualNetwork
        metadata: {name: hub}
        spec:
          location: westeurope
          owner: {name: core}
          addressSpace: {addressPrefixes: [10.0.0.0/16]}
        ---
        apiVersion: network.azure.com/v1api20240301
        kind: VirtualNetworksSubnet
        metadata: {name: apps}
        spec:
          owner: {name: hub}
          addressPrefix: 10.0.0.0/24
          networkSecurityGroup:
            reference: {group: network.azure.com, kind: NetworkSecurityGroup, name: guard}
        ---
        apiVersion: network.azure.com/v1api20240301
        kind: NetworkSecurityGroup
        metadata: {name: guard}
        spec: {location: westeurope, owner: {name: core}}
        """,
    "who.yaml": f"""
        apiVersion: managedidentity.azure.com/v1api20230131
        kind: UserAssignedIdentity
        metadata: {{name: app}}
        spec:
          location: westeurope
          owner: {{name: core}}
          operatorSpec: {{configMaps: {{principalId: {{name: app, key: principalId}}}}}}
        ---
        apiVersion: authorization.azure.com/v1api20220401
        kind: RoleAssignment
        metadata: {{name: app-reads}}
        spec:
          owner: {{armId: {GROUP_ID}}}
          principalIdFromConfig: {{name: app, key: principalId}}
          roleDefinitionReference: {{wellKnownName: Reader}}
        """,
}


def ready(catalog, files, **more):
    read = read_manifests({path: dedent(text).encode() for path, text in files.items()})
    return prepare(read, catalog=catalog, subscription=SUBSCRIPTION, **more)


def by_name(prepared):
    return {resource.key.name: resource for resource in prepared}


def codes(resource):
    return [(p.code, p.line) for p in resource.problems]


def with_annotation(text, value):
    return text.replace(
        "metadata: {name: core}", f"metadata: {{name: core, annotations: {{{RECONCILE_POLICY}: '{value}'}}}}"
    )


def test_a_set_without_a_fault_is_ready(catalog):
    found = ready(catalog, FILES)
    assert [resource.problems for resource in found] == [()] * 6
    assert all(resource.is_valid for resource in found)
    assert [resource.key for resource in found] == sorted(resource.key for resource in found)


def test_a_resource_has_its_request(catalog):
    subnet = by_name(ready(catalog, FILES))["apps"]
    guard = Key("network.azure.com", "NetworkSecurityGroup", "default", "guard")
    assert subnet.arm_id == f"{GROUP_ID}/providers/Microsoft.Network/virtualNetworks/hub/subnets/apps"
    assert (subnet.template.arm_id, subnet.template.api_version) == (subnet.arm_id, "2024-03-01")
    assert subnet.api_version == "2024-03-01"
    assert subnet.template.body == {
        "name": "apps",
        "properties": {"addressPrefix": "10.0.0.0/24", "networkSecurityGroup": {"id": ResourceRef(guard)}},
    }
    assert subnet.relations.owner.key.name == "hub"
    assert [key.name for key in subnet.relations.depends_on] == ["guard", "hub"]


def test_what_reads_a_value_waits_for_who_exports_it_and_an_id_for_who_makes_it(catalog):
    assignment = by_name(ready(catalog, FILES))["app-reads"]
    assert [key.name for key in assignment.relations.depends_on] == ["app", "core"]
    assert assignment.template.body["properties"]["principalId"] == ConfigMapKeyRef("app", "principalId")


@pytest.mark.parametrize(
    ("own", "of_namespace", "default", "expected", "why"),
    [
        (None, None, Policy.MANAGE, Policy.MANAGE, "nothing is said"),
        (None, None, Policy.SKIP, Policy.SKIP, "the default"),
        (None, "skip", Policy.MANAGE, Policy.SKIP, "the Namespace's"),
        ("detach-on-delete", "skip", Policy.MANAGE, Policy.DETACH_ON_DELETE, "the resource's own"),
        ("", "skip", Policy.MANAGE, Policy.SKIP, "empty is not said"),
        ("", "", Policy.SKIP, Policy.SKIP, "nor in the Namespace"),
    ],
)
def test_the_policy(catalog, own, of_namespace, default, expected, why):
    files = {"group.yaml": FILES["group.yaml"] if own is None else with_annotation(FILES["group.yaml"], own)}
    if of_namespace is not None:
        files["ns.yaml"] = with_annotation("apiVersion: v1\nkind: Namespace\nmetadata: {name: core}\n", of_namespace)
        files["ns.yaml"] = files["ns.yaml"].replace("name: core", "name: default")
    (group,) = ready(catalog, files, default_policy=default)
    assert (group.policy, group.problems) == (expected, ()), why


def test_an_unknown_policy_is_a_problem_that_names_the_three(catalog):
    (group,) = ready(catalog, {"group.yaml": with_annotation(FILES["group.yaml"], "Manage")})
    (problem,) = group.problems
    assert problem.code == "ReconcilePolicy"
    assert all(policy.value in problem.message for policy in Policy)
    assert not group.is_valid


@pytest.mark.parametrize(
    ("file", "change", "name", "code", "has_id", "has_template", "why"),
    [
        ("group.yaml", ("location:", "lokation:"), "core", "UnknownField", True, True, "an unknown field is left out"),
        ("net.yaml", ("owner: {name: core}", "owner: {name: kore}"), "hub", "OwnerNotFound", False, False, "no owner"),
        (
            "net.yaml",
            ("NetworkSecurityGroup, name: guard", "NetworkSecurityGroup, name: gard"),
            "apps",
            "ReferenceNotFound",
            True,
            False,
            "no reference",
        ),
        ("net.yaml", ("20240301", "20990101"), "hub", "UnknownVersion", False, False, "no such version"),
        (
            "net.yaml",
            ("reference: {group: network.azure.com, ", "reference: {"),
            "apps",
            "ReferenceForm",
            True,
            False,
            "half",
        ),
    ],
)
def test_a_problem_leaves_what_can_be_worked_out(catalog, file, change, name, code, has_id, has_template, why):
    found = by_name(ready(catalog, FILES | {file: FILES[file].replace(*change)}))[name]
    assert code in [p.code for p in found.problems], why
    assert (found.arm_id is not None, found.template is not None) == (has_id, has_template), why
    assert not found.is_valid


def test_unknown_fields_may_be_warnings(catalog):
    files = {"group.yaml": FILES["group.yaml"].replace("azureName: Core", "azureNames: Core, azureName: Core")}
    (group,) = ready(catalog, files, unknown_fields="warn")
    assert [p.is_error for p in group.problems] == [False]
    assert group.is_valid
    assert group.template.body == {"location": "westeurope", "name": "Core"}


def test_a_key_that_stands_twice_comes_twice_each_with_the_problem(catalog):
    newer = FILES["net.yaml"].replace("v1api20240301", "v20250301", 1)
    found = ready(catalog, FILES | {"twice.yaml": newer.partition("---")[0]})
    twice = [resource for resource in found if resource.key.name == "hub"]
    assert [request.api_version for request in twice] == ["2024-03-01", "2025-03-01"]
    assert all([p.code for p in resource.problems] == ["ManifestTwice"] for resource in twice)
    assert twice[0].arm_id == twice[1].arm_id


def test_what_was_wrong_in_reading_a_manifest_is_among_its_problems(catalog):
    text = FILES["group.yaml"].replace("azureName: Core", "azureName: Core, azureName: Core")
    (group,) = ready(catalog, {"group.yaml": text})
    assert codes(group) == [("DuplicateKey", 5)]
    assert not group.is_valid


def test_a_random_name_is_refused(catalog):
    text = FILES["who.yaml"].replace(
        "spec:\n          owner", "spec:\n          operatorSpec: {namingConvention: random}\n          owner"
    )
    assignment = by_name(ready(catalog, FILES | {"who.yaml": text}))["app-reads"]
    assert [p.code for p in assignment.problems] == ["RandomName"]
    assert (assignment.arm_id, assignment.template) == (None, None)


def test_what_has_no_request_has_a_problem_whatever_the_reason(catalog):
    nameless = FILES["group.yaml"].replace("azureName: Core", "azureName: 5")
    found = by_name(ready(catalog, FILES | {"group.yaml": nameless}))
    assert found["hub"].template is None
    assert [p.is_error for p in found["hub"].problems] == [True]


def test_an_unknown_kind_has_nothing(catalog):
    (login,) = ready(catalog, {"a.yaml": "apiVersion: sql.azure.com/v1\nkind: Login\nmetadata: {name: u}\nspec: {}\n"})
    assert [p.code for p in login.problems] == ["UnknownKind"]
    assert (login.arm_id, login.api_version, login.relations.owner, login.template) == (None, None, None, None)


ADMINISTRATOR = """
    apiVersion: dbforpostgresql.azure.com/v20250801
    kind: FlexibleServer
    metadata: {name: db}
    spec: {location: westeurope, owner: {name: core}}
    ---
    apiVersion: dbforpostgresql.azure.com/v20250801
    kind: FlexibleServersAdministrator
    metadata: {name: boss}
    spec:
      owner: {name: db}
      azureNameFromConfig: {name: app, key: principalId}
    """


def test_a_name_that_only_a_run_has_leaves_a_placeholder_in_the_id(catalog):
    found = ready(catalog, FILES | {"db.yaml": ADMINISTRATOR})
    boss = by_name(found)["boss"]
    server = f"{GROUP_ID}/providers/Microsoft.DBforPostgreSQL/flexibleServers/db"
    ref = ConfigMapKeyRef("app", "principalId")
    assert boss.arm_id is None
    assert boss.template.arm_id == Text((f"{server}/administrators/", ref))
    assert boss.template.body["name"] == ref
    assert [key.name for key in boss.relations.depends_on] == ["db", "app"]
    shown = {resource.prepared.key.name: resource for resource in show(found, {})}
    assert shown["boss"].arm_id == f"{server}/administrators/<configmap app/principalId>"


def test_a_name_from_a_manifest_makes_the_id_known(catalog):
    config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app}\ndata: {principalId: '123'}\n"
    boss = by_name(ready(catalog, FILES | {"db.yaml": ADMINISTRATOR, "cm.yaml": config}))["boss"]
    assert boss.arm_id.endswith("/administrators/123")


@settings(max_examples=scale(15), deadline=None)
@given(st.randoms())
def test_the_order_of_files_changes_no_byte(catalog, shuffler: random.Random):
    shuffled = list(FILES.items())
    shuffler.shuffle(shuffled)
    assert repr(ready(catalog, dict(shuffled))) == repr(ready(catalog, FILES))


@settings(max_examples=scale(15), deadline=None)
@given(st.sets(st.sampled_from(sorted(FILES))))
def test_every_edge_leads_to_a_manifest_of_the_set(catalog, chosen):
    found = ready(catalog, {path: FILES[path] for path in chosen})
    keys = {resource.key for resource in found}
    assert all(
        keys.issuperset(resource.relations.depends_on) and resource.key not in resource.relations.depends_on
        for resource in found
    )
    assert all(entry.template is not None or not entry.is_valid for entry in found)
