"""The table of drifts over plain files: what somebody did in Azure, and what the file has after `gitsync accept`."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

GROUP = "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/core"

PLANS = f"{GROUP}/providers/Microsoft.Network/ddosProtectionPlans"

STORAGE = """\
apiVersion: storage.azure.com/v1api20230101
kind: StorageAccount
metadata:
  name: {name}
spec:
  location: westeurope
  owner:
    name: core
  kind: StorageV2
  sku:
    name: Standard_LRS
"""
VNET = """\
apiVersion: network.azure.com/v1api20240301
kind: VirtualNetwork
metadata:
  name: {name}
spec:
  location: westeurope
  owner:
    name: core
"""
COSMOS = """\
apiVersion: documentdb.azure.com/v1api20231115
kind: DatabaseAccount
metadata:
  name: {name}
spec:
  location: westeurope
  owner:
    name: core
  databaseAccountOfferType: Standard
"""
TAGGED = """\
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata:
  name: {name}
spec:
  location: westeurope
"""


@dataclass(frozen=True, kw_only=True)
class Drift:
    """One row."""

    why: str  # what the row shows
    name: str  # of the resource, and of its file without the suffix
    text: str  # the file before
    changes: Mapping[str, Any] = field(default_factory=dict)  # what somebody sets in Azure, by JSON pointers
    remove: tuple[str, ...] = ()  # what they remove
    deletes: bool = False  # the resource goes
    edits: tuple[tuple[str, str], ...] = ()  # the pieces of the text that change, each of which is there once
    is_gone: bool = False  # the file is removed
    left: Mapping[str, str] = field(default_factory=dict)  # those that stay, with a part of the reason
    is_named: bool = False  # the row is accepted by its name only, with that of `others`
    others: tuple[str, ...] = ()
    suffix: str = ".yaml"
    git: str = ""  # the text that git has by then
    encoding: str = "utf-8"
    silent: bool = True  # the next plan has nothing of it

    @property
    def path(self) -> str:
        return f"{self.name}{self.suffix}"

    @property
    def before(self) -> bytes:
        return (self.git or self.text).encode(self.encoding)

    @property
    def after(self) -> bytes | None:
        if self.is_gone:
            return None
        text = self.git or self.text
        for old, new in self.edits:
            assert text.count(old) == 1, f"{self.name}: {old!r} is there {text.count(old)} times"
            text = text.replace(old, new)
        return text.encode(self.encoding)


def storage(name: str, more: str = "") -> str:
    return STORAGE.format(name=name) + textwrap.indent(textwrap.dedent(more), "  ")


def vnet(name: str, more: str = "") -> str:
    return VNET.format(name=name) + textwrap.indent(textwrap.dedent(more), "  ")


def cosmos(name: str, more: str = "") -> str:
    return COSMOS.format(name=name) + textwrap.indent(textwrap.dedent(more), "  ")


def group(name: str, more: str = "") -> str:
    return TAGGED.format(name=name) + textwrap.indent(textwrap.dedent(more), "  ")


ROUTES = """\
apiVersion: network.azure.com/v1api20240301
kind: RouteTable
metadata:
  name: {name}
spec:
  location: westeurope
  owner:
    name: core
"""
SUBNET = """\
apiVersion: network.azure.com/v1api20240301
kind: VirtualNetworksSubnet
metadata:
  name: {name}
spec:
  owner:
    name: hub
  addressPrefix: 10.0.{number}.0/24
  routeTable:
    reference:
      group: network.azure.com
      kind: RouteTable
      name: {table}
"""
PREFIXES = "addressSpace:\n  addressPrefixes: [10.0.0.0/16]\n"
LOCATIONS = """\
locations:
  # the first one writes
  - locationName: westeurope
    failoverPriority: 0
  - locationName: northeurope   # reads
    failoverPriority: 1
"""

SCALARS = (
    Drift(
        why="a scalar keeps the comment on its line",
        name="scalarcomment",
        text=storage("scalarcomment").replace("Standard_LRS", "Standard_LRS   # cheap"),
        changes={"/sku/name": "Premium_LRS"},
        edits=(("Standard_LRS   # cheap", "Premium_LRS   # cheap"),),
    ),
    Drift(
        why="quotes stay",
        name="doublequotes",
        text=storage("doublequotes", 'accessTier: "Hot"\n'),
        changes={"/properties/accessTier": "Cool"},
        edits=(('"Hot"', '"Cool"'),),
    ),
    Drift(
        why="single ones, too",
        name="singlequotes",
        text=storage("singlequotes", "accessTier: 'Hot'  # it's read daily\n"),
        changes={"/properties/accessTier": "Cool"},
        edits=(("'Hot'", "'Cool'"),),
    ),
    Drift(
        why="a value in braces",
        name="inbraces",
        text=storage("inbraces").replace("sku:\n    name: Standard_LRS", "sku: {name: Standard_LRS}"),
        changes={"/sku/name": "Standard_ZRS"},
        edits=(("{name: Standard_LRS}", "{name: Standard_ZRS}"),),
    ),
    Drift(
        why="a boolean",
        name="boolean",
        text=storage("boolean", "isLocalUserEnabled: true\n"),
        changes={"/properties/isLocalUserEnabled": False},
        edits=(("isLocalUserEnabled: true", "isLocalUserEnabled: false"),),
    ),
    Drift(
        why="a number",
        name="number",
        text=vnet("number", f"{PREFIXES}flowTimeoutInMinutes: 4\n"),
        changes={"/properties/flowTimeoutInMinutes": 30},
        edits=(("flowTimeoutInMinutes: 4", "flowTimeoutInMinutes: 30"),),
    ),
    Drift(
        why="two fields at once",
        name="twofields",
        text=storage("twofields", "accessTier: Hot\n"),
        changes={"/sku/name": "Standard_GRS", "/properties/accessTier": "Cool"},
        edits=(("Standard_LRS", "Standard_GRS"), ("accessTier: Hot", "accessTier: Cool")),
    ),
    Drift(
        why="a tag",
        name="tag",
        text=group("tag", "tags:\n  env: dev\n  team: shop\n"),
        changes={"/tags/env": "prod"},
        edits=(("env: dev", "env: prod"),),
    ),
    Drift(
        why="a tag that is removed",
        name="tagremoved",
        text=group("tagremoved", "tags:\n  env: dev  # until march\n  team: shop\n"),
        remove=("/tags/env",),
        edits=(("    env: dev  # until march\n", ""),),
    ),
    Drift(
        why="a tag that is removed from braces",
        name="tagofbraces",
        text=group("tagofbraces", "tags: {env: dev, team: shop}\n"),
        remove=("/tags/env",),
        edits=(("{env: dev, team: shop}", "{team: shop}"),),
    ),
    Drift(
        why="a tag that git does not set becomes one that it sets",
        name="othertag",
        text=group("othertag", "tags: {env: dev}\n"),
        changes={"/tags/env": "prod", "/tags/cost": "7"},
        edits=(("{env: dev}", '{env: prod, cost: "7"}'),),
    ),
    Drift(
        why="text that YAML would read as something else gets quotes",
        name="oddtexts",
        text=group("oddtexts", "tags:\n  a: x\n  b: x\n  c: x\n  d: x\n".replace("x", "t")),
        changes={"/tags/a": "yes", "/tags/b": "007", "/tags/c": "a: b #c", "/tags/d": "*x"},
        edits=(("a: t", 'a: "yes"'), ("b: t", 'b: "007"'), ("c: t", 'c: "a: b #c"'), ("d: t", 'd: "*x"')),
    ),
    Drift(
        why="what would be several lines, a key, an alias or a comment of YAML stays one text",
        name="attack",
        text=group("attack", "tags:\n  a: t\n  b: t\n  c: t\n"),
        changes={"/tags/a": "x\nkind: Secret", "/tags/b": "- *a # {", "/tags/c": "long " * 500},
        edits=(
            ("a: t", "a: |-\n      x\n      kind: Secret"),
            ("b: t", 'b: "- *a # {"'),
            ("c: t", f'c: "{"long " * 500}"'),
        ),
    ),
    Drift(
        why="a field that Azure does not have any more",
        name="fieldremoved",
        text=storage("fieldremoved", "accessTier: Hot  # as ever\nlargeFileSharesState: Enabled\n"),
        remove=("/properties/accessTier",),
        edits=(("  accessTier: Hot  # as ever\n", ""),),
    ),
    Drift(
        why="a reference by its ARM id",
        name="byarmid",
        text=vnet("byarmid", f"{PREFIXES}ddosProtectionPlan:\n  reference:\n    armId: {PLANS}/one\n"),
        changes={"/properties/ddosProtectionPlan/id": f"{PLANS}/two"},
        edits=((f"{PLANS}/one", f"{PLANS}/two"),),
    ),
)

LISTS = (
    Drift(
        why="an item of a plain list in brackets that is added",
        name="itemadded",
        text=vnet("itemadded", PREFIXES),
        changes={"/properties/addressSpace/addressPrefixes": ["10.0.0.0/16", "10.9.0.0/16"]},
        edits=(("[10.0.0.0/16]", "[10.0.0.0/16, 10.9.0.0/16]"),),
    ),
    Drift(
        why="an item that is removed goes with its comment",
        name="itemremoved",
        text=vnet("itemremoved", "addressSpace:\n  addressPrefixes:\n    - 10.0.0.0/16  # hub\n    - 10.1.0.0/16\n"),
        changes={"/properties/addressSpace/addressPrefixes": ["10.1.0.0/16"]},
        edits=(("      - 10.0.0.0/16  # hub\n", ""),),
    ),
    Drift(
        why="an item that is changed keeps its place",
        name="itemchanged",
        text=vnet("itemchanged", "addressSpace:\n  addressPrefixes:\n    - 10.0.0.0/16  # hub\n    - 10.1.0.0/16\n"),
        changes={"/properties/addressSpace/addressPrefixes": ["10.1.0.0/16", "10.2.0.0/16"]},
        edits=(("10.0.0.0/16  # hub", "10.2.0.0/16  # hub"),),
    ),
    Drift(
        why="a list whose order counts is taken as a whole",
        name="ordered",
        text=vnet("ordered", f"{PREFIXES}dhcpOptions:\n  dnsServers: [10.0.0.4, 10.0.0.5]\n"),
        changes={"/properties/dhcpOptions/dnsServers": ["10.0.0.5", "10.0.0.4"]},
        edits=(("[10.0.0.4, 10.0.0.5]", "[10.0.0.5, 10.0.0.4]"),),
    ),
    Drift(
        why="a field of an item, which Azure has at another index",
        name="fieldofitem",
        text=cosmos("fieldofitem", LOCATIONS.replace("   # reads\n", "   # reads\n    isZoneRedundant: false\n")),
        changes={
            "/properties/locations": [
                {"locationName": "North Europe", "failoverPriority": 1, "isZoneRedundant": True},
                {"locationName": "West Europe", "failoverPriority": 0},
            ]
        },
        edits=(("isZoneRedundant: false", "isZoneRedundant: true"),),
    ),
    Drift(
        why="an item with a name that is added, without what Azure alone sets",
        name="nameadded",
        text=cosmos("nameadded", LOCATIONS),
        changes={
            "/properties/locations": [
                {"id": "x-westeurope", "locationName": "West Europe", "failoverPriority": 0},
                {"id": "x-northeurope", "locationName": "North Europe", "failoverPriority": 1},
                {
                    "id": "x-uksouth",
                    "locationName": "UK South",
                    "failoverPriority": 2,
                    "provisioningState": "Succeeded",
                    "documentEndpoint": "https://x",
                },
            ]
        },
        edits=(
            (
                "    failoverPriority: 1\n",
                "    failoverPriority: 1\n    - failoverPriority: 2\n      locationName: uksouth\n",
            ),
        ),
    ),
    Drift(
        why="an item with a name that is removed",
        name="nameremoved",
        text=cosmos("nameremoved", LOCATIONS),
        changes={"/properties/locations": [{"locationName": "West Europe", "failoverPriority": 0}]},
        edits=(("    - locationName: northeurope   # reads\n      failoverPriority: 1\n", ""),),
    ),
)

FILES = (
    Drift(
        why="line ends of Windows stay",
        name="crlf",
        text=storage("crlf", "accessTier: Hot\ntags:\n  a: b\n  c: d\n").replace("\n", "\r\n"),
        changes={"/properties/accessTier": "Cool"},
        remove=("/tags/a",),
        edits=(("accessTier: Hot", "accessTier: Cool"), ("    a: b\r\n", "")),
    ),
    Drift(
        why="and so does a byte order mark",
        name="bom",
        text=storage("bom"),
        encoding="utf-8-sig",
        changes={"/sku/name": "Standard_GRS"},
        edits=(("Standard_LRS", "Standard_GRS"),),
    ),
    Drift(
        why="JSON stays JSON",
        name="injson",
        suffix=".json",
        text="""{
  "apiVersion": "resources.azure.com/v1api20200601",
  "kind": "ResourceGroup",
  "metadata": {"name": "injson"},
  "spec": {"location": "westeurope", "tags": {"env": "dev", "team": "shop"}}
}
""",
        changes={"/tags/env": "prod"},
        remove=("/tags/team",),
        edits=(('{"env": "dev", "team": "shop"}', '{"env": "prod"}'),),
    ),
    Drift(
        why="an item of a List",
        name="inlist",
        text="apiVersion: v1\nkind: List\nitems:\n"
        + textwrap.indent(group("beforeit", "tags: {env: dev}\n"), "    ").replace("    api", "  - api", 1)
        + textwrap.indent(group("inlist", "tags: {env: dev} # this\n"), "    ").replace("    api", "  - api", 1),
        changes={"/tags/env": "prod"},
        edits=(("{env: dev} # this", "{env: prod} # this"),),
    ),
    Drift(
        why="the second of the documents of a file",
        name="second",
        text=group("first", "tags: {env: dev}\n")
        + "---\n# the second\n"
        + group("second", "tags: {env: dev} # this\n"),
        changes={"/tags/env": "prod"},
        edits=(("{env: dev} # this", "{env: prod} # this"),),
    ),
    Drift(
        why="an anchor of others, beside the field",
        name="anchorbeside",
        text=storage("anchorbeside", "accessTier: Hot\ntags:\n  a: &x one\n  b: *x\n"),
        changes={"/properties/accessTier": "Cool"},
        edits=(("accessTier: Hot", "accessTier: Cool"),),
    ),
)

DELETES = (
    Drift(
        why="the file of a resource that was deleted in Azure goes",
        name="alone",
        text="# for the shop\n" + storage("alone"),
        deletes=True,
        is_named=True,
        is_gone=True,
    ),
    Drift(
        why="a document goes, and those around it stay",
        name="middle",
        text=group("above") + "---\n" + storage("middle") + "---\n" + group("below"),
        deletes=True,
        is_named=True,
        edits=(("---\n" + storage("middle"), ""),),
    ),
    Drift(
        why="an owner and what it owns go together",
        name="withchild",
        text=vnet("withchild", PREFIXES)
        + "---\napiVersion: network.azure.com/v1api20240301\nkind: VirtualNetworksSubnet\nmetadata:\n  name: childofit\n"
        "spec:\n  owner:\n    name: withchild\n  addressPrefix: 10.0.0.0/24\n",
        deletes=True,
        is_named=True,
        others=("childofit",),
        is_gone=True,
    ),
)

NAMED_FOR_A_PERSON = (
    Drift(
        why="an anchor that others use",
        name="anchor",
        text=group("anchor", "tags:\n  a: &x one\n  b: *x\n"),
        changes={"/tags/a": "two"},
        left={"spec.tags.a": "anchor"},
        silent=False,
    ),
    Drift(
        why="an alias",
        name="alias",
        text=group("alias", "tags:\n  a: &x one\n  b: *x\n"),
        changes={"/tags/b": "two"},
        left={"spec.tags.b": "alias"},
        silent=False,
    ),
    Drift(
        why="a value from a merge key",
        name="merged",
        text=group("merged", "tags:\n  <<: &x {a: one}\n  b: two\n"),
        changes={"/tags/a": "two"},
        left={"spec.tags.a": ""},
        silent=False,
    ),
    Drift(
        why="a reference to another manifest",
        name="reference",
        text=SUBNET.format(name="reference", number=1, table="routes"),
        changes={"/properties/routeTable/id": f"{GROUP}/providers/Microsoft.Network/routeTables/other"},
        left={"spec.routeTable.reference": "reference to RouteTable/routes"},
        silent=False,
    ),
    Drift(
        why="a value from a ConfigMap",
        name="configmap",
        text="""\
apiVersion: keyvault.azure.com/v1api20230701
kind: Vault
metadata:
  name: configmap
spec:
  location: westeurope
  owner:
    name: core
  properties:
    sku: {family: A, name: standard}
    tenantIdFromConfig: {name: tenant, key: id}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: tenant
data:
  id: 00000000-0000-0000-0000-000000000001
""",
        changes={"/properties/tenantId": "00000000-0000-0000-0000-000000000002"},
        left={"spec.properties.tenantIdFromConfig": "ConfigMap"},
        silent=False,
    ),
    Drift(
        why="a value that has a variable and more",
        name="variables/variables",
        text=group("variables", "tags:\n  env: ${ENV}-1\n  team: shop\n"),
        changes={"/tags/env": "prod-2"},
        left={"spec.tags.env": "No text of variables"},
        silent=False,
    ),
    Drift(
        why="a value that a tool would replace",
        name="template",
        text=group("template", "tags:\n  a: t\n  b: t\n"),
        changes={"/tags/a": "${HOME}", "/tags/b": "{{ .Values.x }}"},
        left={"spec.tags.a": "", "spec.tags.b": ""},
        silent=False,
    ),
    Drift(
        why="a resource that others in git need",
        name="needed",
        text=ROUTES.format(name="needed"),
        deletes=True,
        is_named=True,
        left={"": "VirtualNetworksSubnet/needsit"},
        silent=False,
    ),
    Drift(
        why="what git and Azure have both changed",
        name="conflict",
        text=storage("conflict", "accessTier: Hot\ntags: {a: b}\n"),
        git=storage("conflict", "accessTier: Hot\ntags: {a: of git}\n"),
        changes={"/properties/accessTier": "Cool", "/tags/a": "of azure"},
        edits=(("accessTier: Hot", "accessTier: Cool"),),
        left={"spec.tags.a": "It also changed in git"},
        silent=False,
    ),
    Drift(
        why="what somebody holds",
        name="held",
        text=storage("held"),
        git=storage("held").replace(
            "  name: held\n", "  name: held\n  annotations:\n    gitsync/hold: until 2026-03-20, incident 4711\n"
        ),
        changes={"/sku/name": "Premium_LRS"},
        left={"": "until 2026-03-20: incident 4711"},
        silent=False,
    ),
    Drift(
        why="what makes the estate weaker",
        name="weaker",
        text=storage("weaker", "minimumTlsVersion: TLS1_2\naccessTier: Hot\n"),
        changes={"/properties/minimumTlsVersion": "TLS1_0", "/properties/accessTier": "Cool"},
        edits=(("accessTier: Hot", "accessTier: Cool"),),
        left={"spec.minimumTlsVersion": "lower version of TLS"},
        silent=False,
    ),
)

BY_NAME = (
    Drift(
        why="what makes the estate weaker is taken by name",
        name="weakerbyname",
        text=storage("weakerbyname", "minimumTlsVersion: TLS1_2\n"),
        changes={"/properties/minimumTlsVersion": "TLS1_0"},
        edits=(("TLS1_2", "TLS1_0"),),
        is_named=True,
    ),
    Drift(
        why="so are the rules of a firewall, with comments of the others",
        name="firewall",
        text=storage(
            "firewall",
            "networkAcls:\n  defaultAction: Deny\n  ipRules:\n    - value: 1.2.3.4   # office\n    - value: 5.6.7.8\n",
        ),
        changes={
            "/properties/networkAcls/ipRules": [
                {"value": "5.6.7.8"},
                {"value": "9.9.9.9", "action": "Allow"},
            ]
        },
        edits=(
            ("      - value: 1.2.3.4   # office\n", ""),
            ("      - value: 5.6.7.8\n", "      - value: 5.6.7.8\n      - action: Allow\n        value: 9.9.9.9\n"),
        ),
        is_named=True,
    ),
)

ALL = (*SCALARS, *LISTS, *FILES, *DELETES, *NAMED_FOR_A_PERSON, *BY_NAME)

AROUND = {
    "core.yaml": group("core"),
    "hub.yaml": vnet("hub", "addressSpace:\n  addressPrefixes: [10.0.0.0/8]\n"),
    "routes.yaml": ROUTES.format(name="routes"),
    "needsit.yaml": SUBNET.format(name="needsit", number=2, table="needed"),
    "gitsync.yaml": "units:\n  - path: variables\n    substitute: {ENV: dev}\n",
}
"""Files that no row changes."""
