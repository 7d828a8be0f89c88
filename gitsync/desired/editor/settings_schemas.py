"""The JSON Schemas of gitsync.yaml, made of the table of settings: one for what a repository may give, one for a file
of the operator.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from gitsync.desired.editor.kind_schemas import DRAFT, Schema, ignore_case
from gitsync.model.allowed_identities import IdentityMode
from gitsync.model.unit_kind import NAMED_KINDS
from gitsync.settings.config.config import SETTINGS
from gitsync.settings.config.identity_entries import MOST_IDENTITIES
from gitsync.settings.config.rule_entries import MOST_RULES
from gitsync.settings.config.setting import Authority, Setting, SettingForm
from gitsync.settings.config.setting_values import OFF, ON
from gitsync.settings.config.unit_entries import MOST_UNITS

SOURCE_SETTINGS: Final = "gitsync.json"
OPERATOR_SETTINGS: Final = "operator-settings.json"

_WORDS: Final = "|".join(ignore_case(word) for word in sorted(ON | OFF))
_NUMBER: Final = r"[0-9]+(?:\.[0-9]+)?"
_DURATION: Final = f"^(?:{_NUMBER}h)?(?:{_NUMBER}m)?(?:{_NUMBER}s)?$"
_UUID: Final = "^[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$"
_SWITCH: Final[Schema] = {"anyOf": [{"type": "boolean"}, {"type": ["string", "integer"], "pattern": f"^(?:{_WORDS})$"}]}
_TEXT: Final[Schema] = {"type": ["string", "number", "boolean"]}
_TEXTS: Final[Schema] = {"anyOf": [_TEXT, {"type": "array", "items": _TEXT}]}


def build_settings_schemas() -> Mapping[str, Schema]:
    """Build the schemas by the names of their files."""
    return {
        SOURCE_SETTINGS: _build_schema({Authority.SOURCE}),
        OPERATOR_SETTINGS: _build_schema(set(Authority)),
    }


def _build_schema(authorities: Collection[Authority]) -> Schema:
    settings = sorted((s for s in SETTINGS.values() if s.key and s.authority in authorities), key=lambda s: s.key)
    return {
        "$schema": DRAFT,
        "type": ["object", "null"],
        "properties": {setting.key: _build_setting(setting) for setting in settings},
        "additionalProperties": False,
    }


def _build_setting(setting: Setting) -> Schema:
    schema: Schema = {"description": setting.help, **_build_value(setting)}
    if isinstance(setting.default, str | bool | int) and setting.default != "":
        schema["default"] = setting.default
    return schema


def _build_value(setting: Setting) -> Schema:
    if setting.form in _NESTED:
        return dict(_NESTED[setting.form])
    if setting.form is SettingForm.CHOICE:
        return {"enum": list(setting.choices), "errorMessage": f"{setting.key} must be {' or '.join(setting.choices)}."}
    if setting.form is SettingForm.LIST and setting.choices:
        member = {"type": "string", "enum": list(setting.choices)}
        return {"anyOf": [{"type": "array", "items": member}, {"type": "string"}]}
    form = _FORMS.get(setting.form, _TEXT)
    if "pattern" in form:
        return {**form, "errorMessage": f"{setting.key} must be {_WANTED[setting.form]}."}
    return dict(form)


_FORMS: Final[Mapping[SettingForm, Schema]] = {
    SettingForm.SWITCH: _SWITCH,
    SettingForm.COUNT: {"type": ["integer", "string"], "minimum": 0, "pattern": "^[0-9]{1,9}$"},
    SettingForm.POSITIVE: {"type": ["integer", "string"], "minimum": 1, "pattern": "^[0-9]{1,9}$"},
    SettingForm.SHARE: {
        "type": ["number", "string"],
        "exclusiveMinimum": 0,
        "maximum": 1,
        "pattern": r"^(?:[01]|[01]?\.[0-9]{1,6})$",
    },
    SettingForm.DURATION: {"type": "string", "minLength": 2, "pattern": _DURATION},
    SettingForm.UUID: {"type": "string", "pattern": _UUID},
    SettingForm.FILE_OR_ON: {"type": ["boolean", "string"]},
    SettingForm.RELEASE: {"type": ["boolean", "number", "string"]},
    SettingForm.LIST: _TEXTS,
    SettingForm.VARIABLES: {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
}
"""By form, where a text in general is too much. An address is a text: its rules are more than a pattern can have."""

_WANTED: Final[Mapping[SettingForm, str]] = {
    SettingForm.COUNT: "a whole number from 0",
    SettingForm.POSITIVE: "a whole number from 1",
    SettingForm.SHARE: "a number over 0 and up to 1, such as 0.5",
    SettingForm.DURATION: "a duration such as 90s, 30m or 1h30m",
    SettingForm.UUID: "a UUID such as 01234567-89ab-cdef-0123-456789abcdef",
}

_VARIABLES: Final[Schema] = {
    "type": "object",
    "propertyNames": {"pattern": "^[A-Za-z_][A-Za-z0-9_]*$"},
    "additionalProperties": {"type": ["string", "number", "boolean", "null"]},
}

_UNIT: Final[Mapping[str, Schema]] = {
    "path": {"type": "string", "minLength": 1, "description": "Folder of the unit, inside the source."},
    "kind": {
        "enum": list(NAMED_KINDS),
        "description": "How the unit is built. Default: by its files.",
    },
    "substitute": {
        "anyOf": [_SWITCH, _VARIABLES],
        "description": "Replace variables: true for those of the operator, or values by name.",
    },
    "variables": {"enum": ["envsubst"], "description": "Replace $NAME too, as envsubst does."},
    "loadRestrictor": {"enum": ["none", "rootOnly"], "description": "Which files a kustomization may load."},
    "missingOwner": {
        "enum": ["wait", "error"],
        "description": "How to handle resources whose owner no manifest declares.",
    },
    "migrateVersions": {**_SWITCH, "description": "Read versions that ASO has removed as later versions."},
    "capz": {"enum": ["manage", "skip"], "description": "How to handle resources inside CAPZ objects."},
    "values": {**_TEXTS, "description": "Values files of a chart, relative to its folder."},
    "release": {"type": "string", "description": "Release name of a chart."},
    "namespace": {"type": "string", "description": "Namespace of a chart."},
    "kubernetes": {**_TEXTS, "description": "Kubernetes version and API versions that a chart is rendered for."},
    "published": {**_SWITCH, "description": "Flux and Argo CD take these charts from a registry."},
}


_NAMES: Final[Schema] = {
    "anyOf": [
        {"type": "string", "minLength": 1},
        {"type": "array", "minItems": 1, "items": {"type": "string", "minLength": 1}},
    ]
}

_RULE: Final[Mapping[str, Schema]] = {
    "path": {**_NAMES, "description": "Ignored fields, such as spec.sku.capacity."},
    "tags": {**_NAMES, "description": "Ignored tags: names, or patterns such as hidden-*."},
    "kind": {**_NAMES, "description": "Kinds or ARM types of the resources. Default: all that have the field."},
    "namespace": {**_NAMES, "description": "Namespaces of the resources; * stands for any text. Default: all."},
    "until": {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}$", "description": "Last day of the rule."},
    "reason": {"type": "string", "description": "Why the rule exists."},
}


def _build_list(pattern: str, description: str, least: int = 1) -> Schema:
    """Build the schema of one text, or of a list of them."""
    text = {"type": "string", "pattern": pattern}
    return {"anyOf": [text, {"type": "array", "minItems": least, "items": text}], "description": description}


_NAMESPACE: Final = r"^[a-z0-9*](?:[-a-z0-9*]*[a-z0-9*])?$"
_IDENTITY: Final[Mapping[str, Schema]] = {
    "namespaces": _build_list(_NAMESPACE, "Namespaces of the resources; * stands for any text. Default: all."),
    "clients": _build_list(_UUID, "Client ids that Secrets may name. Default: any."),
    "tenants": _build_list(_UUID, "Tenants, additional ones included. Default: any."),
    "subscriptions": _build_list(_UUID, "Subscriptions. Default: any."),
    "clouds": _build_list(
        r"^https://[^\s/?#@\\]+/*$", "Addresses of other clouds, endpoint and authority. Default: none."
    ),
}
_OF_GLOBAL: Final = _build_list(_NAMESPACE, "Namespaces that may use the global credential. Default: all.", least=0)

_NESTED: Final[Mapping[SettingForm, Schema]] = {
    SettingForm.IDENTITIES: {
        "anyOf": [
            {"type": "string", "minLength": 1},
            {
                "type": "object",
                "required": ["allow"],
                "properties": {
                    "mode": {"enum": list(IdentityMode), "description": "Refuse other identities, or only warn."},
                    "global": _OF_GLOBAL,
                    "allow": {
                        "type": "array",
                        "maxItems": MOST_IDENTITIES,
                        "items": {
                            "type": "object",
                            "anyOf": [{"required": [key]} for key in _IDENTITY if key != "clouds"],
                            "properties": dict(_IDENTITY),
                            "additionalProperties": False,
                        },
                    },
                },
                "additionalProperties": False,
            },
        ]
    },
    SettingForm.UNITS: {
        "type": "array",
        "maxItems": MOST_UNITS,
        "items": {
            "type": "object",
            "required": ["path"],
            "properties": dict(_UNIT),
            "additionalProperties": False,
        },
    },
    SettingForm.IGNORE: {
        "type": "array",
        "maxItems": MOST_RULES,
        "items": {
            "anyOf": [
                {"type": "string", "minLength": 1},
                {
                    "type": "object",
                    "anyOf": [{"required": ["path"]}, {"required": ["tags"]}],
                    "properties": dict(_RULE),
                    "additionalProperties": False,
                },
            ]
        },
    },
    SettingForm.TAGS: {
        "type": "object",
        "propertyNames": {"pattern": r"^[^<>%&\\?/]{1,512}$"},
        "additionalProperties": _TEXT,
    },
}
"""By form, those that are more than texts."""
