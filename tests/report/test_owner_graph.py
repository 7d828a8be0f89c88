"""Owners and references as a graph, and as text that is drawn."""

import json
import shutil
import subprocess
from dataclasses import replace

import pytest

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.model.arm_id import ArmId
from gitsync.model.gvk import Key
from gitsync.model.reconcile_policy import Policy
from gitsync.model.resource import OwnerRef, Prepared, Relations
from gitsync.model.template import ComputedValue, Template
from gitsync.report.owner_graph import (
    Graph,
    Presence,
    Relation,
    Vertex,
    build_graph_document,
    build_owner_graph,
    draw_dot,
    draw_mermaid,
)
from tests.support.handmade_kinds import GROUP, VERSION, a_resource

NET = "network.azure.com"


def prepared(kind, name, *, owner=None, spec=None, group=NET, depends_on=(), valid=True, namespace="default"):
    return Prepared(
        resource=a_resource(spec, name=name, kind=kind, group=group, version="v20240301", namespace=namespace),
        policy=Policy.MANAGE,
        arm_id=None,
        api_version=None,
        template=Template(arm_id=ArmId("/x"), api_version="1", body={}) if valid else None,
        relations=Relations(owner=owner, depends_on=depends_on),
    )


def key(kind, name, group=NET, namespace="default"):
    return Key(group, kind, namespace, name)


GROUP_KEY = key("ResourceGroup", "core", "resources.azure.com")
TABLE = {"group": NET, "kind": "RouteTable", "name": "routes"}
SET = [
    prepared("ResourceGroup", "core", group="resources.azure.com"),
    prepared("VirtualNetwork", "hub", owner=OwnerRef(key=GROUP_KEY), depends_on=(GROUP_KEY,)),
    prepared(
        "VirtualNetworksSubnet",
        "front",
        owner=OwnerRef(key=key("VirtualNetwork", "hub")),
        spec={"routeTable": {"reference": TABLE}},
        depends_on=(GROUP_KEY, key("VirtualNetwork", "hub")),
        valid=False,
    ),
    prepared("PublicIPAddress", "ip", owner=OwnerRef(arm_id=ArmId("/subscriptions/0/resourceGroups/RG"))),
]

MERMAID = """\
flowchart LR
  n0["/subscriptions/0/resourceGroups/RG"]
  n1["PublicIPAddress/ip"]
  n2["ResourceGroup/core"]
  n3["RouteTable/routes"]
  n4["VirtualNetwork/hub"]
  n5["VirtualNetworksSubnet/front"]
  n1 --> n0
  n4 --> n2
  n5 -.-o n2
  n5 -.-> n3
  n5 --> n4
  classDef invalid stroke:#c00,stroke-width:2px
  class n5 invalid
  classDef missing stroke:#c00,stroke-dasharray:4
  class n3 missing
  classDef azure stroke-dasharray:4
  class n0 azure
"""

DOT = """\
digraph gitsync {
  rankdir=LR;
  node [shape=box];
  n0 [label="/subscriptions/0/resourceGroups/RG", style=dashed];
  n1 [label="PublicIPAddress/ip"];
  n2 [label="ResourceGroup/core"];
  n3 [label="RouteTable/routes", color="#cc0000", style=dashed];
  n4 [label="VirtualNetwork/hub"];
  n5 [label="VirtualNetworksSubnet/front", color="#cc0000"];
  n1 -> n0;
  n4 -> n2;
  n5 -> n2 [style=dotted];
  n5 -> n3 [style=dashed];
  n5 -> n4;
}
"""


def drawn():
    return build_owner_graph(SET, open_catalog())


def test_mermaid():
    assert draw_mermaid(drawn()) == MERMAID


def test_dot():
    assert draw_dot(drawn()) == DOT


def test_json_has_all_of_it():
    told = json.loads(json.dumps(build_graph_document(drawn())))
    assert [v["presence"] for v in told["vertices"]].count("manifest") == 3
    assert {"source": "PublicIPAddress.network.azure.com/default/ip", "relation": "owner"}.items() <= told["edges"][
        0
    ].items()
    assert {e["source"] for e in told["edges"]} | {e["target"] for e in told["edges"]} <= {
        v["id"] for v in told["vertices"]
    }


def test_the_order_of_manifests_does_not_matter():
    assert build_owner_graph(SET[::-1], open_catalog()) == drawn()


def test_the_closest_relation_counts():
    relations = {(e.source.partition(".")[0], e.target.partition(".")[0]): e.relation for e in drawn().edges}
    assert relations["VirtualNetwork", "ResourceGroup"] is Relation.OWNER, "and not that it waits for it as well"


def a_value(field, source):
    return ComputedValue("resource(…).id", field=field, sources={"VirtualNetwork/hub": source})


def with_values():
    """A subnet whose owner has a value for it, an address that only a value leads to a network, and that network."""
    hub = key("VirtualNetwork", "hub", namespace="shared")
    address = prepared("PublicIPAddress", "ip", depends_on=(hub,))
    values = (a_value("spec.tags.hub", hub), a_value("spec.zones[0]", hub))
    subnet = prepared("VirtualNetworksSubnet", "front", owner=OwnerRef(key=hub), depends_on=(hub,))
    return build_owner_graph(
        [
            prepared("VirtualNetwork", "hub", namespace="shared"),
            replace(address, relations=replace(address.relations, computed=values)),
            replace(subnet, relations=replace(subnet.relations, computed=(a_value("spec.owner.armId", hub),))),
        ],
        open_catalog(),
    )


def test_an_edge_has_the_fields_whose_values_flow():
    edges = build_graph_document(with_values())["edges"]
    assert [(edge["source"], edge["relation"], edge["fields"]) for edge in edges] == [
        ("PublicIPAddress.network.azure.com/default/ip", "value", ["spec.tags.hub", "spec.zones[0]"]),
        ("VirtualNetworksSubnet.network.azure.com/default/front", "owner", ["spec.owner.armId"]),
    ]
    assert '==>|"spec.tags.hub#44; spec.zones#91;0#93;"| ' in draw_mermaid(with_values())
    assert '[style=bold, label="spec.tags.hub, spec.zones[0]"];' in draw_dot(with_values())
    assert '[label="spec.owner.armId"];' in draw_dot(with_values())


def test_several_namespaces_are_boxes():
    table = prepared("RouteTable", "a")
    two = prepared("RouteTable", "b", namespace="other")
    graph = build_owner_graph([table, two], open_catalog())
    assert '  subgraph g0["default"]\n    n0["RouteTable/a"]\n  end\n' in draw_mermaid(graph)
    assert '  subgraph "cluster_g1" { label="other";\n    n1 [label="RouteTable/b"];\n  }\n' in draw_dot(graph)


def test_a_kind_that_is_not_known_is_drawn_anyway():
    resource = a_resource({"ref": TABLE}, group=GROUP, version=VERSION)
    unknown = Prepared(resource=resource, policy=Policy.MANAGE, arm_id=None, api_version=None, template=None)
    (vertex,) = build_owner_graph([unknown], open_catalog()).vertices
    assert vertex.presence is Presence.INVALID


NASTY = 'x"]; evil["<b>\n\\'


def test_labels_cannot_end_early():
    graph = Graph((Vertex("a", NASTY, "", Presence.MANIFEST),), ())
    assert draw_mermaid(graph).splitlines()[1] == '  n0["x#34;#93;#59; evil#91;#34;#60;b#62;#10;#92;"]'
    assert draw_dot(graph).splitlines()[3] == '  n0 [label="x\\"]; evil[\\"<b> \\\\"];'


@pytest.mark.skipif(not shutil.which("dot"), reason="Graphviz is not installed")
@pytest.mark.parametrize("graph", [drawn(), Graph((Vertex("a", NASTY, "", Presence.MANIFEST),), ())])
def test_graphviz_reads_it(graph):
    subprocess.run(["dot", "-Tsvg"], input=draw_dot(graph), text=True, check=True, capture_output=True, timeout=30)
