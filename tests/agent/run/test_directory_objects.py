"""Applications and service principals of Entra ID through whole runs: created, adopted, changed, pruned, and killed."""

import textwrap
from contextlib import suppress

import pytest

from gitsync.emulator.graph.graph_settings import GraphDelays, GraphSettings
from gitsync.model.verdict import Action, Verdict
from gitsync.planning.run_problems import DEFAULT_AGENT
from gitsync.repository.git.state.seal import RecordSeals
from gitsync.repository.git.state.state_folder import StatusFolder
from tests.support.hypothesis_profile import sample
from tests.support.world import GROUP, KilledError, World, of

APPLICATIONS, PRINCIPALS = "/v1.0/applications", "/v1.0/servicePrincipals"
GRAPH = "00000003-0000-0000-c000-000000000000"
ID, OTHER_ID = "00000000-0000-4000-8000-00000000000a", "00000000-0000-4000-8000-00000000000b"

SAMPLE = """\
    apiVersion: entra.azure.com/v1
    kind: Application
    metadata:
      name: aso-sample-application
      namespace: default
    spec:
      displayName: ASO Sample Application
      description: Sample application created by Azure Service Operator
      signInAudience: AzureADMyOrg
      web:
        redirectUris:
          - https://localhost:5001/signin-oidc
        implicitGrantSettings:
          enableIdTokenIssuance: true
          enableAccessTokenIssuance: false
      operatorSpec:
        configmaps:
          appId:
            key: appId
            name: application-configmap
          entraID:
            key: entraID
            name: application-configmap
    """
SAMPLE_PRINCIPAL = f"""\
    apiVersion: entra.azure.com/v1
    kind: ServicePrincipal
    metadata:
      name: cassandra-service-principal
      namespace: default
    spec:
      appId: {GRAPH}
      operatorSpec:
        creationMode: AdoptOnly
        configmaps:
          entraID:
            name: cassandra-service-principal
            key: objectId
    """
PRINCIPAL = """\
    apiVersion: entra.azure.com/v1
    kind: ServicePrincipal
    metadata:
      name: shop
      annotations:
        gitsync/set: 'spec.appId: resource("Application/aso-sample-application").status.appId'
    spec:
      operatorSpec:
        configmaps:
          entraID: {name: principal, key: id}
    """


def principal(**spec: str) -> str:
    lines = "".join(f"\n  {name}: {value}" for name, value in spec.items())
    return f"apiVersion: entra.azure.com/v1\nkind: ServicePrincipal\nmetadata: {{name: shop}}\nspec:{lines}\n"


def application(**spec: str) -> str:
    lines = "".join(f"\n  {name}: {value}" for name, value in spec.items())
    return f"apiVersion: entra.azure.com/v1\nkind: Application\nmetadata: {{name: shop}}\nspec:{lines}\n"


def app_id(number: int) -> str:
    return f"abcdefab-0000-4000-8000-{number:012}"


COLLECTIONS = {"Application": APPLICATIONS, "ServicePrincipal": PRINCIPALS}
MANIFESTS = {"Application": application, "ServicePrincipal": principal}


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def records_of(world: World):
    with StatusFolder(world.state, RecordSeals(DEFAULT_AGENT)) as store:
        return {key.kind: record for key, record in store.load().records.items()}


def exported(world: World, name: str) -> str:
    return (world.state / "default" / "ConfigMap" / f"{name}.json").read_text()


def test_the_samples_of_aso_are_ready_and_then_silent(world):
    """With the principal of an application that each tenant has."""
    report = world.says(application=textwrap.dedent(SAMPLE), principal=SAMPLE_PRINCIPAL).sync()
    assert (report.exit_code, of(report, "Application").action) == (0, Action.CREATE)
    assert {result.condition.reason for result in report.results} == {"Succeeded"}
    object_id = records_of(world)["Application"].kept.given_id
    assert object_id in exported(world, "application-configmap")
    assert '"objectId"' in exported(world, "cassandra-service-principal")
    again = world.sync()
    assert (again.exit_code, world.writes) == (0, [])
    assert of(again, "Application").verdict is Verdict.IN_SYNC
    assert [(r.method, r.path) for r in world.requests] == [
        ("GET", f"{APPLICATIONS}/{object_id}"),
        ("GET", f"{PRINCIPALS}/{records_of(world)['ServicePrincipal'].kept.given_id}"),
    ]


def test_a_principal_takes_the_client_id_of_its_application(world):
    report = world.says(application=SAMPLE, principal=PRINCIPAL).sync()
    assert (report.exit_code, of(report, "ServicePrincipal").action) == (0, Action.CREATE)
    live = world.read(f"{PRINCIPALS}/{records_of(world)['ServicePrincipal'].kept.given_id}")
    assert live["appId"] in exported(world, "application-configmap")
    assert live["displayName"] == "ASO Sample Application"
    assert live["id"] in exported(world, "principal")
    assert world.sync().exit_code == 0
    assert world.writes == []


def test_both_go_with_their_manifests_and_the_application_can_be_restored(world):
    world.says(application=SAMPLE, principal=PRINCIPAL, group=GROUP).sync()
    ids = {kind: record.kept.given_id for kind, record in records_of(world).items()}
    report = world.says(group=GROUP).sync(prune=True, max_deletes=9)
    assert (report.exit_code, len(world.sent("DELETE"))) == (0, 2)
    assert world.azure().ids("/v1.0/applications/") == world.azure().ids("/v1.0/serviceprincipals/") == []
    deleted = world.read("/v1.0/directory/deletedItems/microsoft.graph.application")
    assert [entry["id"] for entry in deleted["value"]] == [ids["Application"]]


ADOPTED = {
    # kind, what git states, what exists, what is written
    "an application": ("Application", {"displayName": "Shop one"}, {"displayName": "Shop one"}, []),
    "another case": ("Application", {"displayName": "shop two"}, {"displayName": "Shop two"}, ["PATCH"]),
    "a tag more in git": (
        "Application",
        {"displayName": "Shop three", "tags": "[a]"},
        {"displayName": "Shop three"},
        ["PATCH"],
    ),
    "a tag more in Entra ID": (
        "Application",
        {"displayName": "Shop four"},
        {"displayName": "Shop four", "tags": ["a"]},
        [],
    ),
    "a principal": ("ServicePrincipal", {"appId": app_id(1)}, {"appId": app_id(1), "displayName": "A"}, []),
    "its id in capitals": (
        "ServicePrincipal",
        {"appId": app_id(2).upper()},
        {"appId": app_id(2), "displayName": "B"},
        [],
    ),
    "another name": (
        "ServicePrincipal",
        {"appId": app_id(3), "displayName": "New"},
        {"appId": app_id(3), "displayName": "C"},
        ["PATCH"],
    ),
    "a principal by its name": (
        "ServicePrincipal",
        {"displayName": "D"},
        {"appId": app_id(4), "displayName": "D"},
        [],
    ),
}
"""All of one estate, so that each step is one run."""


class Adoption:
    """The runs of the estate, from the plan of its adoption until nothing of it is in git any more."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.keys = {why: f"shop-{number}" for number, why in enumerate(ADOPTED)}
        self.ids = {why: f"00000000-0000-4000-8000-{number:011}a" for number, why in enumerate(ADOPTED)}
        for why, (kind, _, existing, _) in ADOPTED.items():
            world.azure().put(f"{COLLECTIONS[kind]}/{self.ids[why]}", existing)
        world.clock.elapsed += 3600
        manifests = {
            self.keys[why]: MANIFESTS[kind](**spec).replace("name: shop", f"name: {self.keys[why]}")
            for why, (kind, spec, _, _) in ADOPTED.items()
        }
        self.planned, self.plan_writes = world.says(**manifests).plan(), world.writes
        self.synced, self.writes = world.sync(), world.writes
        with StatusFolder(world.state, RecordSeals(DEFAULT_AGENT)) as store:
            self.given = {key.name: record.kept.given_id for key, record in store.load().records.items()}
        self.silent = world.sync()
        self.gone, self.deletes = world.says(group=GROUP).sync(prune=True, max_deletes=9), world.sent("DELETE")


@pytest.fixture(scope="module")
def adoption(tmp_path_factory):
    return Adoption(World(tmp_path_factory.mktemp("adoption")))


@pytest.mark.parametrize("why", ADOPTED)
def test_what_is_adopted_is_shown_by_a_plan_changed_and_never_deleted(adoption, why):
    kind, _, _, methods = ADOPTED[why]
    name, own = adoption.keys[why], adoption.ids[why]
    planned = of(adoption.planned, kind, name)
    assert (planned.verdict, bool(planned.differences)) == (Verdict.ADOPT, bool(methods))
    assert adoption.plan_writes == []
    written = [entry.split()[0] for entry in adoption.writes if own in entry]
    assert (of(adoption.synced, kind, name).verdict, written) == (Verdict.ADOPT, methods)
    assert adoption.given[name] == own
    assert of(adoption.silent, kind, name).verdict is Verdict.IN_SYNC
    gone = of(adoption.gone, kind, name)
    assert (gone.verdict, adoption.deletes) == (Verdict.DETACH, [])
    assert "does not delete it" in gone.message


def test_what_is_adopted_is_all_that_is_written(adoption):
    assert len(adoption.writes) == sum(len(methods) for *_, methods in ADOPTED.values())


TWO = {ID: "Shop", OTHER_ID: "shop"}
REFUSED = [
    (application(displayName="Shop"), APPLICATIONS, TWO, "AmbiguousApplication", "2 applications have the displayName"),
    (principal(displayName="Shop"), PRINCIPALS, TWO, "AmbiguousServicePrincipal", "have the displayName 'Shop'"),
    (
        principal(appId=GRAPH.replace("3", "4"), displayName="Shop"),
        PRINCIPALS,
        {ID: "Shop"},
        "ServicePrincipalMismatch",
        f"has the displayName 'Shop' and the appId {ID}, and git states",
    ),
    (
        principal(displayName="Nobody"),
        PRINCIPALS,
        {ID: "Shop"},
        "ServicePrincipalNotFound",
        "No service principal has the displayName 'Nobody', and without appId none can be created.",
    ),
]


@pytest.mark.parametrize(
    ("manifest", "collection", "existing", "code", "message"), REFUSED, ids=[r[3] for r in REFUSED]
)
def test_a_plan_reports_what_cannot_be_meant(world, manifest, collection, existing, code, message):
    for object_id, name in existing.items():
        world.azure().put(f"{collection}/{object_id}", {"displayName": name, "appId": object_id})
    for report in (world.says(manifest=manifest).plan(), world.sync()):
        (result,) = report.results
        assert (result.condition.is_ready, world.writes) == (False, [])
        assert code in result.message
        assert message in result.message


ONLY_ADOPTED = [
    (application(displayName="Shop", tags="[a]", operatorSpec="{creationMode: AdoptOnly}"), APPLICATIONS),
    (principal(appId=OTHER_ID, displayName="Other", operatorSpec="{creationMode: AdoptOnly}"), PRINCIPALS),
]


@pytest.mark.parametrize(("manifest", "collection"), ONLY_ADOPTED, ids=["application", "principal"])
def test_what_may_only_be_adopted_is_neither_created_nor_written_nor_deleted(world, manifest, collection):
    absent = world.says(manifest=manifest).sync()
    assert (absent.results[0].condition.reason, absent.exit_code, world.writes) == ("AzureResourceNotFound", 1, [])
    assert "Microsoft Entra ID has no " in absent.results[0].message
    world.azure().put(f"{collection}/{ID}", {"displayName": "Shop", "appId": OTHER_ID})
    world.clock.elapsed += 3600
    found = world.sync()
    assert (found.results[0].verdict, found.exit_code, world.writes) == (Verdict.SKIP, 0, [])
    assert world.sync().exit_code == 0
    world.says(group=GROUP).sync(prune=True, max_deletes=9)
    assert world.sent("DELETE") == []


def test_a_created_principal_is_not_given_to_another_application(world):
    world.azure().put(f"{APPLICATIONS}/{ID}", {"displayName": "A", "appId": ID})
    world.synced(manifest=principal(appId=ID))
    refused = world.says(manifest=principal(appId=OTHER_ID)).sync()
    assert (refused.results[0].condition.reason, world.writes) == ("ReplaceNeeded", [])
    assert "/appId" in refused.results[0].message


def test_an_adopted_object_is_not_replaced_either(world):
    world.azure().put(f"{PRINCIPALS}/{ID}", {"displayName": "A", "appId": ID})
    world.azure().put(f"{APPLICATIONS}/{ID}", {"displayName": "B", "appId": OTHER_ID})
    world.clock.elapsed += 3600
    world.synced(manifest=principal(appId=ID))
    consented = principal(appId=OTHER_ID).replace(
        "{name: shop}", "{name: shop, annotations: {gitsync/replace: appId=" + OTHER_ID + "}}"
    )
    report = world.says(manifest=consented).sync(prune=True, max_deletes=9)
    assert (report.results[0].condition.reason, world.writes) == ("ReplaceNeeded", [])
    assert "adopted" in report.results[0].condition.advice


def test_drift_is_reported_and_reverted(world):
    world.says(application=SAMPLE).sync()
    object_id = records_of(world)["Application"].kept.given_id
    world.azure().change(f"{APPLICATIONS}/{object_id}", "/web/redirectUris", value=["https://evil.example"])
    drifted = of(world.plan(), "Application")
    assert (drifted.verdict, [d.path for d in drifted.differences]) == (Verdict.DRIFTED, ["/web/redirectUris"])
    world.sync()
    assert world.azure().received(f"{APPLICATIONS}/{object_id}")["web"]["redirectUris"] == [
        "https://localhost:5001/signin-oidc"
    ]


def test_a_directory_that_lags_gets_one_object_of_each(tmp_path):
    delays = GraphDelays(read=8, filter=30, patch=12, delete=12, gone=20)
    world = World(tmp_path, graph=GraphSettings(delays=delays))
    report = world.says(application=SAMPLE, principal=PRINCIPAL).sync()
    assert report.exit_code == 0
    assert len(world.azure().ids("/v1.0/applications/")) == len(world.azure().ids("/v1.0/serviceprincipals/")) == 1
    assert world.sync().exit_code == 0
    assert world.writes == []


@pytest.mark.parametrize("requests", sample(range(1, 12)))
def test_a_run_that_is_killed_leaves_one_application_and_one_principal(world, requests):
    world.says(application=SAMPLE, principal=PRINCIPAL)
    world.kill_after = requests
    with suppress(KilledError):
        world.sync()
    world.kill_after = None
    world.clock.elapsed += 3600
    assert world.sync().exit_code == 0
    assert len(world.azure().ids("/v1.0/applications/")) == len(world.azure().ids("/v1.0/serviceprincipals/")) == 1
    assert {record.claim.value for record in records_of(world).values()} == {"created"}
    world.says(group=GROUP).sync(prune=True, max_deletes=9)
    assert world.azure().ids("/v1.0/applications/") == world.azure().ids("/v1.0/serviceprincipals/") == []
