"""The JSON Schema of one kind at one version: a whole manifest, as an editor reads it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gitsync.catalog.catalog import Catalog
from gitsync.catalog.type_words import join_with_or
from gitsync.editor.field_schemas import DEFINITIONS, Schema, build_limits, build_spec, given
from gitsync.manifests.yaml_documents import ENCRYPTED
from gitsync.model.facts import Kind
from gitsync.validation.explain import describe_kind, describe_rules, find_spec
from gitsync.validation.name_rules import is_uuid_named

DRAFT = "http://json-schema.org/draft-07/schema#"
"""The newest draft that all editors read."""


def build_kind_schema(kind: Kind, api_versions: Iterable[str], catalog: Catalog, unserved: str = "") -> Schema:
    """The schema of a manifest of a kind. `api_versions` are those that it may give: the spellings of one version, of
    which ASO may not serve one.
    """
    spec = build_spec(find_spec(kind), kind, catalog)
    name = kind.gvk.kind
    served = [version for version in api_versions if version != unserved]
    message = f"apiVersion of this {name} must be {join_with_or(served)}."
    versions = offer_versions(served, [unserved] if unserved else [], message)
    schema: Schema = {
        "$schema": DRAFT,
        "description": _describe(kind, catalog),
        "type": "object",
        "required": ["apiVersion", "kind", "metadata", *(["spec"] if spec.get("required") else [])],
        "properties": {
            "apiVersion": {"description": "Group and version of the kind.", **versions},
            "kind": {"description": _describe(kind, catalog), "const": name},
            "metadata": {"$ref": f"{DEFINITIONS}metadata"},
            "spec": {**spec, "description": f"Desired state of the {name}: {kind.arm_type} in Azure."},
            "status": {"description": "Written by a cluster; gitsync does not read it."},
            ENCRYPTED: {"description": "Written by SOPS.", "doNotSuggest": True},
        },
        "additionalProperties": False,
    }
    if conditions := list(_check_default_name(kind)):
        schema["allOf"] = conditions
    return schema


def offer_versions(served: Iterable[str], unserved: Iterable[str], message: str) -> Schema:
    """The choice of an apiVersion. Editors offer those that ASO serves, and take the others too. `message` is what they
    say of any other text.
    """
    others = "|".join(re.escape(version) for version in sorted(unserved))
    choice: Schema = {"enum": sorted(served), "errorMessage": message}
    return {"anyOf": [choice, {"type": "string", "pattern": f"^(?:{others})$"}]} if others else choice


def _describe(kind: Kind, catalog: Catalog) -> str:
    facts: Mapping[str, Any] = dict(describe_kind(kind, catalog))
    parts = (f"ARM: {facts['ARM']}", f"Owner: {facts['owner']}", f"Name in Azure: {facts['name']}")
    return ".\n\n".join(parts) + "."


def _check_default_name(kind: Kind) -> Iterator[Schema]:
    """The rules of the name in Azure for a manifest that does not give one: then it is metadata.name."""
    if kind.fixed_azure_name is not None or is_uuid_named(kind) or not kind.azure_name:
        return
    rules = "; ".join(describe_rules(kind.azure_name))
    named = {"anyOf": [given("azureName"), given("azureNameFromConfig")]}
    yield {
        "if": {"required": ["spec"], "properties": {"spec": {"not": named}}},
        "then": {
            "properties": {
                "metadata": {
                    "properties": {
                        "name": {
                            "type": "string",
                            **build_limits(kind.azure_name),
                            "errorMessage": f"metadata.name is the name in Azure, which must be: {rules}. "
                            "Set spec.azureName, or rename the manifest.",
                        }
                    }
                }
            }
        },
    }
