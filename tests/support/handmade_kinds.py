"""Kinds and manifests in a line, for tests of the core that need no catalog."""

import json
import lzma

from gitsync.desired.catalog.catalog import Catalog
from gitsync.desired.catalog.spec_visitor import visit_spec
from gitsync.model.facts import Kind, Scope
from gitsync.model.gvk import GVK, Key
from gitsync.model.problem import SourceLocation
from gitsync.model.resource import Resource

GROUP = "things.azure.com"
VERSION = "v20240101"


def a_kind(fields=None, *, kind="Thing", types=None, arm_type="Microsoft.Things/things", owner=None, **more) -> Kind:
    """A kind whose spec has these fields, and whose other types are given by name."""
    return Kind(
        gvk=GVK(more.get("group", GROUP), VERSION, kind),
        arm_type=arm_type,
        api_version="2024-01-01",
        scope=more.get("scope", Scope.RESOURCE_GROUP),
        operations=frozenset({"Get", "Put", "Delete"}),
        owner=owner,
        any_owner=more.get("any_owner", False),
        fixed_azure_name=more.get("fixed_azure_name"),
        azure_name=more.get("azure_name", {}),
        spec="Spec",
        status="Status",
        config_maps={},
        types={
            "Spec": {"fields": fields or {}, **more.get("spec", {})},
            "Status": {"fields": {}},
            **(types or {}),
        },
        legacy=False,
    )


def a_resource(spec=None, *, name="one", kind="Thing", namespace="default", **more) -> Resource:
    """A manifest of this spec, in the file `one.yaml`, with no lines but those that are given."""
    group = more.pop("group", GROUP)
    return Resource(
        key=Key(group, kind, namespace, name),
        gvk=GVK(group, more.pop("version", VERSION), kind),
        spec={} if spec is None else spec,
        source=SourceLocation(f"{name}.yaml", 1),
        **more,
    )


def a_catalog(kinds: dict[str, list[str]]) -> Catalog:
    """A catalog with these groups and kinds, at one version each, without fields."""
    index = {
        group: {name: {"armType": f"Microsoft.X/{name}", "versions": {VERSION: "2024-01-01"}} for name in names}
        for group, names in kinds.items()
    }
    location = {"apiVersion": "2024-01-01", "scope": "ResourceGroup", "operations": [], "spec": "S", "status": "S"}
    facts = {name: {**location, "armType": f"Microsoft.X/{name}"} for names in kinds.values() for name in names}
    group_file = [{"aliases": {}, "versions": [VERSION]}, {"kinds": facts, "types": {"S": {"fields": {}}}}]
    files = {"index.json.xz": [index], **{f"{group}.jsonl.xz": group_file for group in kinds}}
    return Catalog(lambda file: lzma.compress("\n".join(map(json.dumps, files[file])).encode()))


def seen(kind, spec, path=None):
    """The visits of a spec, or the one at a path."""
    found = list(visit_spec(kind, spec))
    return found if path is None else next(v for v in found if v.path == path)
