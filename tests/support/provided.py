"""Manifests of the kinds that are not ARM's, with the servers that they are on, and the same made ready."""

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.manifests.reader import read_manifests
from gitsync.desired.request.build import prepare
from tests.support.builders import SUBSCRIPTION

CATALOG = open_catalog()
GROUP_ID = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/data"
LOCAL = """
    serverAdminUsername: boss
    serverAdminPassword: {name: boss, key: password}
    password: {name: app, key: password}"""
MANIFESTS = f"""
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {{name: data}}
spec: {{location: westeurope}}
---
apiVersion: dbforpostgresql.azure.com/v20250801
kind: FlexibleServer
metadata: {{name: books}}
spec: {{location: westeurope, owner: {{name: data}}}}
---
apiVersion: dbformysql.azure.com/v20241230
kind: FlexibleServer
metadata: {{name: shop}}
spec: {{location: westeurope, owner: {{name: data}}}}
---
apiVersion: sql.azure.com/v20250101
kind: Server
metadata: {{name: stock}}
spec: {{location: westeurope, owner: {{name: data}}}}
---
apiVersion: sql.azure.com/v20250101
kind: ServersDatabase
metadata: {{name: goods}}
spec: {{location: westeurope, owner: {{name: stock}}}}
---
apiVersion: dbforpostgresql.azure.com/v1
kind: User
metadata: {{name: reader}}
spec:
  owner: {{name: books}}
  roles: [azure_pg_admin]
  roleOptions: {{createRole: true}}
  localUser: {LOCAL}
---
apiVersion: dbformysql.azure.com/v1
kind: User
metadata: {{name: clerk}}
spec:
  owner: {{name: shop}}
  hostname: 10.0.0.%
  privileges: []
  databasePrivileges: {{orders: [SELECT, INSERT]}}
  localUser: {LOCAL}
---
apiVersion: dbformysql.azure.com/v1
kind: User
metadata: {{name: team}}
spec:
  azureName: Team A@example.com
  owner: {{name: shop}}
  aadUser: {{alias: team_a, serverAdminUsername: dba}}
---
apiVersion: sql.azure.com/v1
kind: User
metadata: {{name: teller}}
spec:
  owner: {{name: goods}}
  roles: [db_datareader]
  localUser: {LOCAL}
---
apiVersion: entra.azure.com/v1
kind: SecurityGroup
metadata: {{name: readers}}
spec:
  displayName: Readers
  mailNickname: readers
  description: All who read
  membershipType: assignedm365
  operatorSpec:
    creationMode: AlwaysCreate
    configmaps: {{entraID: {{name: ids, key: readers}}}}
"""
NAMES = ("reader", "clerk", "team", "teller", "readers")
"""The manifests that are not ARM's."""


def prepare_all(text=MANIFESTS, **more):
    """The manifests, made ready, by the names of their metadata."""
    ready = prepare(read_manifests({"all.yaml": text.encode()}), catalog=CATALOG, subscription=SUBSCRIPTION, **more)
    return {resource.key.name: resource for resource in ready}
