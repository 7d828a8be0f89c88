"""`gitsync graph`: owners and references of a source."""

import json

import pytest

from gitsync.cli.main import run

MANIFESTS = """\
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {name: core}
spec: {location: westeurope}
---
apiVersion: network.azure.com/v20240301
kind: RouteTable
metadata: {name: routes}
spec: {location: westeurope, owner: {name: core}}
"""


@pytest.fixture
def source(tmp_path, monkeypatch):
    folder = tmp_path / "source"
    folder.mkdir()
    monkeypatch.chdir(tmp_path)
    (folder / "all.yaml").write_text(MANIFESTS)
    return folder


def test_mermaid_is_what_is_drawn_by_default(source, capsys):
    assert run(["graph", str(source)]) == 0
    assert capsys.readouterr().out == (
        'flowchart LR\n  n0["ResourceGroup/core"]\n  n1["RouteTable/routes"]\n  n1 --> n0\n'
    )


def test_dot(source, capsys):
    assert run(["graph", str(source), "--output", "dot"]) == 0
    assert "  n1 -> n0;\n" in capsys.readouterr().out


def test_json(source, capsys):
    assert run(["graph", str(source), "--output", "json"]) == 0
    (edge,) = json.loads(capsys.readouterr().out)["edges"]
    assert edge == {
        "source": "RouteTable.network.azure.com/default/routes",
        "target": "ResourceGroup.resources.azure.com/default/core",
        "relation": "owner",
    }


def test_what_is_left_out_is_not_missing(source, capsys):
    assert run(["graph", str(source), "--only", "RouteTable/*", "--output", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [vertex["presence"] for vertex in told["vertices"]] == ["manifest", "manifest"]


def test_a_graph_with_errors_is_drawn_anyway(source, capsys):
    (source / "all.yaml").write_text(MANIFESTS.replace("name: core}}", "name: cor}}"))
    assert run(["graph", str(source)]) == 1
    told = capsys.readouterr()
    assert '["ResourceGroup/cor"]' in told.out
    assert "class n0 missing" in told.out or "class n1 missing" in told.out
    assert "gitsync validate" in told.err


def test_a_resource_of_a_namespace_outside_the_run_is_a_source(tmp_path, monkeypatch, capsys):
    """Only what the run covers is drawn with all that it needs."""
    (tmp_path / "a.yaml").write_text(
        """
{apiVersion: resources.azure.com/v1api20200601, kind: ResourceGroup, metadata: {name: net, namespace: platform}, spec: {location: we}}
---
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata:
  name: shop
  namespace: shop
  annotations: {gitsync/set: 'spec.tags.net: resource("platform/ResourceGroup/net").id'}
spec: {location: we}
"""
    )
    monkeypatch.chdir(tmp_path)
    assert run(["graph", "--target-namespaces", "shop", "--output", "json"]) == 0
    drawn = json.loads(capsys.readouterr().out)
    assert [vertex["presence"] for vertex in drawn["vertices"]] == ["manifest", "manifest"]
    assert [edge["fields"] for edge in drawn["edges"]] == [["spec.tags.net"]]
    assert run(["validate", "--target-namespaces", "shop"]) == 0
    assert "1 resource in 1 file" in capsys.readouterr().out
