"""Kinds that are not ARM's on their way to a request: ids, bodies, and what is not compared."""

import pytest

from gitsync.desired.formats.ignored_paths import remove_paths
from gitsync.desired.request.exports import collect_destinations, iterate_destinations
from gitsync.desired.request.placeholders import show
from gitsync.model.export import Address, ObjectKind
from gitsync.model.template import SecretKeyRef
from gitsync.planning.status.aso_status import collect_config_map_values
from tests.support.provided import CATALOG, GROUP_ID, LOCAL, MANIFESTS, NAMES, prepare_all

BOOKS = f"{GROUP_ID}/providers/Microsoft.DBforPostgreSQL/flexibleServers/books"
SHOP = f"{GROUP_ID}/providers/Microsoft.DBforMySQL/flexibleServers/shop"
GOODS = f"{GROUP_ID}/providers/Microsoft.Sql/servers/stock/databases/goods"
APP, BOSS = SecretKeyRef("app", "password"), SecretKeyRef("boss", "password")
SIGN_IN = {"serverAdminUsername": "boss", "serverAdminPassword": BOSS}
NO_OPTIONS = {"login": True, "createRole": False, "createDb": False, "replication": False}


@pytest.fixture(scope="module")
def ready():
    return prepare_all()


def test_all_are_valid_and_wait_for_their_server(ready):
    assert [resource.problems for resource in ready.values() if resource.problems] == []
    assert all(resource.is_valid for resource in ready.values())
    above = {name: [key.name for key in ready[name].relations.depends_on] for name in NAMES}
    assert above == {"reader": ["books"], "clerk": ["shop"], "team": ["shop"], "teller": ["goods"], "readers": []}


@pytest.mark.parametrize(
    ("name", "arm_id"),
    [
        ("reader", f"{BOOKS}/users/reader"),
        ("clerk", f"{SHOP}/users/clerk@10.0.0.%25"),
        ("team", f"{SHOP}/users/%54eam%20%41%40example.com"),
        ("teller", f"{GOODS}/users/teller"),
        ("readers", "/providers/Microsoft.Graph/groups/default.readers"),
    ],
)
def test_an_id_reports_whose_it_is(ready, name, arm_id):
    assert (ready[name].arm_id, ready[name].api_version) == (arm_id, "v1")


@pytest.mark.parametrize(
    ("name", "body"),
    [
        (
            "reader",
            {
                "roles": ["azure_pg_admin"],
                "roleOptions": NO_OPTIONS | {"createRole": True},
                "localUser": {**SIGN_IN, "password": APP},
            },
        ),
        (
            "clerk",
            {
                "hostname": "10.0.0.%",
                "privileges": [],
                "databasePrivileges": {"orders": ["SELECT", "INSERT"]},
                "localUser": {**SIGN_IN, "password": APP},
            },
        ),
        ("team", {"aadUser": {"alias": "team_a", "serverAdminUsername": "dba"}}),
        ("teller", {"roles": ["db_datareader"], "localUser": {**SIGN_IN, "password": APP}}),
        (
            "readers",
            {
                "displayName": "Readers",
                "mailNickname": "readers",
                "description": "All who read",
                "membershipType": "assignedm365",
            },
        ),
    ],
)
def test_a_body_has_the_names_of_the_manifest_and_defaults(ready, name, body):
    assert ready[name].template.body == body


@pytest.mark.parametrize(
    ("options", "expected", "why"),
    [
        ("roleOptions: {createRole: true}", NO_OPTIONS | {"createRole": True}, "a part has the rest of the defaults"),
        ("roleOptions: {}", NO_OPTIONS, "all defaults"),
        ("roleOptions: {login: null}", NO_OPTIONS, "an API server drops null, and fills in the default"),
        ("roleOptions: {login: false}", NO_OPTIONS | {"login": False}, "what is set counts"),
        ("", NO_OPTIONS, "without the field too"),
    ],
)
def test_options_of_a_role(options, expected, why):
    text = MANIFESTS.replace("roleOptions: {createRole: true}", options)
    assert prepare_all(text)["reader"].template.body["roleOptions"] == expected, why


def test_an_empty_list_reports_that_there_is_nothing_and_no_list_reports_nothing():
    assert prepare_all(MANIFESTS.replace("[azure_pg_admin]", "[]"))["reader"].template.body["roles"] == []
    assert "roles" not in prepare_all(MANIFESTS.replace("roles: [azure_pg_admin]\n", "\n"))["reader"].template.body


def test_how_to_sign_in_is_sent_but_neither_compared_nor_recorded(ready):
    left = {name: remove_paths(ready[name].template.body, ready[name].ignored) for name in NAMES}
    assert left["reader"]["localUser"] == left["clerk"]["localUser"] == left["teller"]["localUser"] == {"password": APP}
    assert left["team"] == {"aadUser": {"alias": "team_a"}}
    assert left["readers"] == ready["readers"].template.body
    assert [
        resource.key.name for resource in ready.values() if resource.ignored and resource.key.name not in NAMES
    ] == []


def test_what_a_manifest_ignores_is_joined_with_it():
    text = MANIFESTS.replace(
        "metadata: {name: reader}", "metadata: {name: reader, annotations: {gitsync/ignore: '[/roles]'}}"
    )
    assert prepare_all(text)["reader"].ignored == (
        ("localUser", "serverAdminPassword"),
        ("localUser", "serverAdminUsername"),
        ("roles",),
    )


def test_a_request_is_shown_without_its_secrets(ready):
    (shown,) = show([ready["reader"]], {})
    assert shown.request.body["localUser"] == {
        "password": "<secret app/password>",
        "serverAdminPassword": "<secret boss/password>",
        "serverAdminUsername": "boss",
    }


def test_two_manifests_of_one_user_are_found_and_two_users_in_other_case_are_not():
    user = f"""
---
apiVersion: dbforpostgresql.azure.com/v1
kind: User
metadata: {{name: second}}
spec:
  azureName: NAME
  owner: {{name: books}}
  localUser: {LOCAL}
"""
    codes = {
        name: [problem.code for problem in prepare_all(MANIFESTS + user.replace("NAME", name))["second"].problems]
        for name in ("reader", "Reader")
    }
    assert codes == {"reader": ["ArmIdTwice"], "Reader": []}


def test_the_id_of_a_group_goes_to_a_config_map(ready):
    resource, kind = ready["readers"].resource, CATALOG.kind(ready["readers"].resource.gvk)
    (field,) = collect_destinations(resource, ObjectKind.CONFIG_MAP).items()
    address = Address(ObjectKind.CONFIG_MAP, "default", "ids")
    assert (field[0], field[1].address, field[1].key) == ("entraID", address, "readers")
    assert list(iterate_destinations(resource)) == [
        (("spec", "operatorSpec", "configmaps", "entraID"), address, "readers")
    ]
    assert collect_config_map_values(kind, ["entraID"], {"id": "0-1", "displayName": "Readers"}) == {"entraID": "0-1"}
