"""The schemas that all kinds share: metadata with annotations, and ASO's own types.

Each stands for a check of `validation`, with the same constants.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from gitsync.desired.catalog.aso_types import ASO_TYPES, HEADER_TYPES
from gitsync.desired.catalog.body_words import BODY_WORDS, EXPRESSION, SET
from gitsync.desired.catalog.catalog import Catalog
from gitsync.desired.catalog.directory_relations import MEMBERS, OWNERS
from gitsync.desired.catalog.packed_tables import list_built_in_roles
from gitsync.desired.catalog.tag_fields import DEFAULT_TAGS
from gitsync.desired.catalog.version_annotation import API_VERSION, BODY
from gitsync.desired.editor.kind_schemas import (
    OR_NULL,
    TEXT_OR_NULL,
    Schema,
    allow_null,
    allow_variables,
    build_limits,
    ignore_case,
    refuse,
    require,
    spell_out,
)
from gitsync.desired.manifests.kubernetes_names import KEY, NAME, NAMESPACE, NameRule
from gitsync.desired.validation.annotations import (
    ALLOW,
    ASO_PREFIX,
    CREDENTIAL_FROM,
    IGNORE,
    LABEL_VALUE,
    LONGEST_PREFIX,
    OPERATOR_ANNOTATIONS,
    OUR_PREFIX,
    QUALIFIED_NAME,
    RUN_SCRIPT,
    UPDATE_METHOD,
    UPDATE_METHODS,
)
from gitsync.desired.validation.depends_on_annotation import DEPENDS_ON
from gitsync.desired.validation.explain import resolve_rules
from gitsync.desired.validation.hold_annotation import HOLD
from gitsync.desired.validation.references import ARM_ID, NEVER_IN_IDS
from gitsync.desired.validation.replace_annotation import REPLACE
from gitsync.model.facts import Field
from gitsync.model.gvk import AZURE_GROUP, AZURE_RESOURCE
from gitsync.model.reconcile_policy import RECONCILE_POLICY, Policy

_POLICIES: Final[Mapping[Policy, str]] = {
    Policy.MANAGE: "gitsync writes the resource, and a prune deletes it. This is the default.",
    Policy.SKIP: "gitsync reads the resource and never writes it.",
    Policy.DETACH_ON_DELETE: "gitsync writes the resource. If it is removed from git, it stays in Azure.",
}


def _describe(description: str, example: str) -> Schema:
    return {"description": description, "type": "string", "examples": [example]}


_ANNOTATIONS: Final[Mapping[str, Schema]] = {
    RECONCILE_POLICY: {
        "description": "What gitsync may do with the resource.",
        "enum": [policy.value for policy in _POLICIES],
        "enumDescriptions": list(_POLICIES.values()),
        "errorMessage": f"{RECONCILE_POLICY} must be {' or '.join(_POLICIES)}.",
    },
    CREDENTIAL_FROM: {
        "description": "The Secret in the same namespace with the credential for this resource.",
        "type": "string",
        "pattern": "^[^/]*$",
        "errorMessage": f"{CREDENTIAL_FROM} must be the name of a Secret in the same namespace.",
    },
    UPDATE_METHOD: {
        "description": "How gitsync changes the resource.",
        "enum": list(reversed(UPDATE_METHODS)),
        "enumDescriptions": ["A PUT of the complete resource. This is the default.", "A PATCH with the differences."],
        "errorMessage": f"{UPDATE_METHOD} must be {' or '.join(UPDATE_METHODS)}.",
    },
    IGNORE: {
        "description": "Fields that gitsync ignores: a YAML list of fields, or of JSON pointers into the ARM body.",
        "type": "string",
        "examples": ["[/tags/costCentre]"],
        "errorMessage": f"{IGNORE} must be a string: a YAML list, in quotes or as a block.",
    },
    DEPENDS_ON: {
        "description": "Resources that come first although nothing refers to them: Kind/name, or "
        "namespace/Kind/name, separated by commas. This one is created after them, and deleted before them.",
        "type": "string",
        "examples": ["RoleAssignment/reader, platform/VirtualNetwork/hub"],
        "errorMessage": f"{DEPENDS_ON} must be a string: names of resources, separated by commas.",
    },
    MEMBERS: _describe(
        "Sets the members of a group, all of them (complete) or some (added), by the names of manifests or object ids.",
        "complete: [UserAssignedIdentity/app, SecurityGroup/admins]",
    ),
    OWNERS: _describe(
        "Sets the owners of an application, a service principal or a group, all of them (complete) or some (added).",
        "added: [ServicePrincipal/deployer]",
    ),
    HOLD: _describe("Leaves the resource as it is in Azure until a date.", "until 2026-12-01, incident 4711"),
    REPLACE: _describe("Consents to a delete and a create, field by field.", "location=northeurope"),
    RUN_SCRIPT: _describe("Consents to the script that Azure runs for the resource.", ALLOW),
    API_VERSION: _describe("The api-version of ARM at which the resource is written.", "2025-01-01"),
    BODY: _describe("A merge patch in YAML for the ARM body that is sent.", "{properties: {newField: true}}"),
    SET: {
        "description": "Fields that CEL expressions compute from other resources: a YAML mapping. "
        'resource("Kind/name") has id, name, spec and status; null leaves the field out. This resource is created '
        "after the others, and deleted before them.",
        "type": "string",
        "examples": ['{spec.tags.hub: resource("VirtualNetwork/hub").id}'],
        "errorMessage": f"{SET} must be a string: a YAML mapping, in quotes or as a block.",
    },
}

_OF_NAMESPACES: Final[Mapping[str, Schema]] = {
    RECONCILE_POLICY: _ANNOTATIONS[RECONCILE_POLICY],
    IGNORE: {
        **_ANNOTATIONS[IGNORE],
        "description": "Fields and tags that gitsync ignores in the namespace: a YAML list of paths, or of mappings.",
        "examples": ["[{tags: [hidden-*]}]"],
    },
    DEFAULT_TAGS: {
        "description": "Default tags of the resources in the namespace: a YAML mapping.",
        "type": "string",
        "examples": ["{team: platform}"],
        "errorMessage": f"{DEFAULT_TAGS} must be a string: a YAML mapping, in quotes or as a block.",
    },
}


def list_annotations() -> Iterator[tuple[str, str]]:
    """List the annotations of a manifest, each with what it does."""
    return ((name, schema["description"]) for name, schema in sorted(_ANNOTATIONS.items()))


def explain_annotation(name: str) -> Mapping[str, str]:
    """Explain an annotation of a manifest, or else of a Namespace: what it does, and an example or its values, by
    title. Empty for any other name.
    """
    schema = {**_OF_NAMESPACES, **_ANNOTATIONS}.get(name)
    if schema is None:
        return {}
    values = dict(zip(schema.get("enum", ()), schema.get("enumDescriptions", ()), strict=True))
    example = {"Example": f"{name}: {schema['examples'][0]}"} if "examples" in schema else {}
    return {"Annotation": schema["description"], **values, **example}


def build_definitions(catalog: Catalog) -> Schema:
    """Build the definitions that the schemas of kinds refer to, by their names."""
    forms = {
        "metadata": build_metadata(),
        "namespaceMetadata": build_metadata(of_namespace=True),
        "armId": _build_arm_id(),
        "arbitraryOwner": _build_reference("arbitraryOwner", catalog),
        "azureOwner": _build_azure_reference("azureOwner", catalog),
        "azureReference": _build_azure_reference("azureReference", catalog),
        "bodyWord": _build_body_word(),
        "bodyExpression": _build_body_expression(),
        "reference": _build_reference("reference", catalog),
        "wellKnownReference": _build_role_reference(catalog),
    }
    # These owners differ by kind, so they are in the schema of each kind.
    others = ASO_TYPES.keys() - forms.keys() - {"knownOwner", "namedOwner"}
    named = {name: _build_object(name) for name in sorted(others)}
    referred = {f"{name}{OR_NULL}": allow_null(form) for name, form in {**forms, **named}.items()}
    return {**forms, **named, **referred, **dict(_build_groups(catalog))}


def build_metadata(*, of_namespace: bool = False) -> Schema:
    """Build the metadata of a manifest, or of a Namespace, of which gitsync reads the policy and the rules."""
    annotations = _OF_NAMESPACES if of_namespace else _ANNOTATIONS
    metadata = HEADER_TYPES["metadata"]["fields"]
    properties = {
        **{name: {**allow_null(_build_plain(field)), **_OF_CLUSTERS} for name, field in sorted(metadata.items())},
        "name": _build_name(NAME, "metadata.name", "Name of the manifest, which references use."),
        "namespace": allow_null(_build_name(NAMESPACE, "metadata.namespace", "Namespace of the manifest.")),
        "finalizers": {
            "type": ["array", "null"],
            "items": {"type": "string", **_allow_names("metadata.finalizers")},
            **_OF_CLUSTERS,
        },
        "labels": _build_labels(),
        "annotations": _build_annotations(annotations),
    }
    return {
        "type": "object",
        "description": "Name, namespace, labels and annotations of the manifest.",
        "required": ["name"],
        "properties": properties,
        # A Namespace is made for a cluster: whatever else it has is right.
        **({} if of_namespace else {"additionalProperties": False}),
    }


def _build_labels() -> Schema:
    return {
        "type": ["object", "null"],
        "description": "Labels of the manifest.",
        "additionalProperties": {
            "type": ["string", "null"],
            "pattern": allow_variables(LABEL_VALUE),
            "errorMessage": "A label must be a string of at most 63 letters, digits, -, _ and ., with a letter or "
            "digit at both ends. Quote numbers and booleans.",
        },
        "properties": dict.fromkeys(_ANNOTATIONS, False),  # annotations have no effect as labels
        "propertyNames": _allow_names("metadata.labels"),
    }


def _build_annotations(known: Mapping[str, Schema]) -> Schema:
    """Build annotations: those that are known with their values, where an empty one counts as absent."""
    in_any_case = QUALIFIED_NAME.replace("a-z", "A-Za-z")  # an API server checks these keys in lower case
    own = _know_own({*_ANNOTATIONS, *known, *OPERATOR_ANNOTATIONS})
    return {
        "type": ["object", "null"],
        "description": "Annotations: what gitsync may do with the resource, and how.",
        "properties": {key: {"anyOf": [schema, {**TEXT_OR_NULL, "maxLength": 0}]} for key, schema in known.items()},
        "additionalProperties": {
            "anyOf": [{"type": "string", "errorMessage": "An annotation must be a string. Quote it."}, TEXT_OR_NULL]
        },
        "propertyNames": {"allOf": [_allow_names("metadata.annotations", in_any_case), own]},
    }


_OF_CLUSTERS: Final[Schema] = {"description": "Written by a cluster; gitsync does not read it.", "doNotSuggest": True}


def _build_plain(field: Field) -> Schema:
    """Build a field that a cluster writes."""
    type_, rules = resolve_rules(field)
    if type_ == "any":
        return {}
    if isinstance(type_, str):
        return {"type": type_, **build_limits(rules, type_)}
    if "list" in type_:
        return {"type": "array", "items": _build_plain({"type": type_["list"]})}
    fields = HEADER_TYPES[type_["ref"]]["fields"]
    return {
        "type": "object",
        "properties": {
            name: schema if fields[name].get("required") else allow_null(schema)
            for name, schema in ((name, _build_plain(field)) for name, field in sorted(fields.items()))
        },
        "additionalProperties": False,
        "required": sorted(name for name, field in fields.items() if field.get("required")),
    }


def _allow_names(path: str, pattern: str = QUALIFIED_NAME) -> Schema:
    """Allow the keys or names that an API server takes in the metadata of any object."""
    message = (
        f"{path} takes names of at most 63 letters, digits, -, _ and ., with a letter or digit at both ends. A DNS "
        "name and a slash may precede them."
    )
    return {
        "pattern": allow_variables(pattern),
        "errorMessage": message,
        **refuse(rf"^[^/]{{{LONGEST_PREFIX + 1},}}/", message),
    }


def _know_own(known: Iterable[str]) -> Schema:
    """Allow only those ASO and gitsync annotations that exist. Annotations of other tools may have any name."""
    prefixes = "|".join(re.escape(prefix) for prefix in sorted({ASO_PREFIX, OUR_PREFIX}))
    message = f"There is no such annotation. Known annotations: {', '.join(sorted(_ANNOTATIONS))}."
    return {"if": {"pattern": f"^(?:{prefixes})"}, "then": {"enum": sorted(known), "errorMessage": message}}


def _build_name(rule: NameRule, path: str, description: str) -> Schema:
    message = f"{path} must be made of {rule.words}."
    schema: Schema = {
        "description": description,
        "type": "string",
        "minLength": 1,
        "maxLength": rule.most,
        "pattern": allow_variables(f"^(?:{spell_out(rule.pattern.pattern.removeprefix(_NO_DOTS))})$"),
        "errorMessage": message,
    }
    return {**schema, **refuse(r"^\.\.|^\.$", message)} if rule.pattern.pattern.startswith(_NO_DOTS) else schema


_EXPRESSION_TEXT: Final[Schema] = {
    "type": "string",
    "minLength": 1,
    "examples": ['resource("VirtualNetwork/hub").id'],
}

_NO_DOTS: Final = r"(?!\.\.|\.\Z)"
"""How the pattern of keys begins. Go has no look-ahead, and so not every tool that reads schemas."""


def _build_body_word() -> Schema:
    """Build the object that stands for a value in the body of an AzureResource."""
    return {
        "type": "object",
        "description": "The ARM id of a resource, or a value of a Secret, a ConfigMap or other resources.",
        "properties": {
            **{word: {"$ref": f"#/definitions/{name}"} for word, name in BODY_WORDS.items()},
            EXPRESSION: _EXPRESSION_TEXT,
        },
        "additionalProperties": False,
        "minProperties": 1,
        "maxProperties": 1,
    }


def _build_body_expression() -> Schema:
    """Build the object that stands for a value of any type."""
    return {
        "type": "object",
        "description": "A value that a CEL expression computes from other resources.",
        "required": [EXPRESSION],
        "properties": {EXPRESSION: _EXPRESSION_TEXT},
        "additionalProperties": False,
    }


def _build_arm_id() -> Schema:
    """Build an ARM id as `validation.references` accepts it, in any case."""
    form = ARM_ID
    for word in ("subscriptions", "resourcegroups", "providers"):
        form = form.replace(word, ignore_case(word))
    message = "armId must be an ARM id, such as /subscriptions/…/resourceGroups/…."
    return {
        "type": "string",
        "description": "ARM id of a resource that no manifest declares.",
        "pattern": f"^{form}$",
        "errorMessage": message,
        **refuse(NEVER_IN_IDS.replace(r"\Z", "$"), message),
    }


def _build_azure_reference(name: str, catalog: Catalog) -> Schema:
    """Build an owner or a reference of an AzureResource: for another one, its kind is enough without a group."""
    schema = _build_reference(name, catalog, (AZURE_GROUP,))
    by_key, kinds = schema["allOf"]
    is_own = {"required": ["kind"], "properties": {"kind": {"const": AZURE_RESOURCE[1]}}}
    short = {"if": is_own, "then": _require_texts(("name",)), "else": by_key["else"]}
    schema["allOf"] = [{**by_key, "else": short}, kinds]
    if name.endswith("Owner"):  # a scope above a group: the tenant is a slash
        expression = {"$ref": "#/definitions/bodyExpression"}
        schema["properties"]["armId"] = {"anyOf": [schema["properties"]["armId"], {"const": "/"}, expression]}
    return schema


def _build_reference(name: str, catalog: Catalog, own: tuple[str, ...] = ()) -> Schema:
    """Build a reference to a manifest by group, kind and name, or to a resource by its ARM id. `own` are groups that
    are not ASO's.
    """
    groups = sorted((*catalog.groups(), *own))
    return {
        "type": "object",
        "description": "A reference by group, kind and name of a manifest, or by armId.",
        "properties": {
            "group": {
                "description": "Group of the kind.",
                "anyOf": [
                    {
                        "enum": groups,
                        "errorMessage": f"group of a{'n owner' if name.endswith('Owner') else ' reference'} must be "
                        "one of ASO's groups, such as network.azure.com.",
                    },
                    {**TEXT_OR_NULL, "maxLength": 0},
                ],
            },
            "kind": {**TEXT_OR_NULL, "description": "Kind of the manifest."},
            "name": {**TEXT_OR_NULL, "description": "Name of the manifest, in the same namespace."},
            "armId": {"$ref": f"#/definitions/armId{OR_NULL}"},
        },
        "additionalProperties": False,
        "allOf": [
            {
                "if": require("armId"),
                "then": _forbid_others("armId", _BY_KEY),
                "else": _require_texts(_BY_KEY),
            },
            {"$ref": "#/definitions/kindsOfGroups"},
        ],
    }


_BY_KEY: Final = ("group", "kind", "name")


def _require_texts(names: Iterable[str]) -> Schema:
    return {"required": list(names), "properties": {name: {"type": "string", "minLength": 1} for name in names}}


def _forbid_others(name: str, others: Iterable[str]) -> Schema:
    """Forbid other fields beside one field of a reference: they are absent, null or empty."""
    message = f"Remove it: {name} is set."
    return {"properties": {other: {"enum": [None, ""], "errorMessage": message} for other in others}}


def _build_role_reference(catalog: Catalog) -> Schema:
    """Build a reference that may name a built-in role instead."""
    schema = _build_reference("wellKnownReference", catalog)
    schema["properties"]["wellKnownName"] = {
        **TEXT_OR_NULL,
        "description": "Name of a built-in role, such as Reader.",
        "examples": list(list_built_in_roles()),
    }
    # With a role's name the other members have no effect, so their rules count only without one.
    by_key, kinds = schema.pop("allOf")
    by_role = {
        "if": _require_texts(("wellKnownName",)),
        "then": _forbid_others("wellKnownName", (*_BY_KEY, "armId")),
        "else": by_key,
    }
    schema["allOf"] = [by_role, kinds]
    return schema


def _build_groups(catalog: Catalog) -> Iterable[tuple[str, Schema]]:
    """Return which kinds a group has, for the fields `group` and `kind` side by side."""
    conditions = [
        {
            "if": {"required": ["group"], "properties": {"group": {"const": group}}},
            "then": {
                "properties": {
                    "kind": {
                        "enum": list(catalog.kinds(group)),
                        "errorMessage": f"{group} has no such kind.",
                    }
                }
            },
        }
        for group in catalog.all_groups()
    ]
    yield "kindsOfGroups", {"allOf": conditions}


_OBJECTS: Final[Mapping[str, str]] = {
    "secretReference": "A value of a Secret.",
    "secretMapReference": "All values of a Secret.",
    "configMapReference": "A value of a ConfigMap.",
    "secretDestination": "The Secret and the key to export a value to.",
    "configMapDestination": "The ConfigMap and the key to export a value to.",
    "destinationExpression": "An expression (CEL), and where its value is exported to.",
}

_NAMED: Final[Mapping[str, NameRule]] = {"name": NAME, "key": KEY}
_TEXTS: Final[Mapping[str, str]] = {
    "value": "The expression, such as self.status.id.",
    "annotations": "Annotations of the exported object.",
    "labels": "Labels of the exported object.",
}


def _build_object(name: str) -> Schema:
    """Build a Secret or a ConfigMap that a manifest reads or writes."""
    fields = ASO_TYPES[name]["fields"]
    properties: dict[str, Any] = {}
    for field, facts in fields.items():
        if field in _NAMED:
            description = "Name of the object." if field == "name" else "Key of the value in it."
            properties[field] = _build_name(_NAMED[field], field, description)
        elif facts["type"] == "string":
            properties[field] = {"type": "string", "description": _TEXTS[field]}
        else:
            properties[field] = {
                "type": "object",
                "description": _TEXTS[field],
                "additionalProperties": {"type": ["string", "null"]},
            }
        if not facts.get("required"):
            properties[field] = allow_null(properties[field])
    return {
        "type": "object",
        "description": _OBJECTS[name],
        "properties": properties,
        "additionalProperties": False,
        "required": sorted(field for field, facts in fields.items() if facts.get("required")),
    }
