"""Policies and exemptions: their values, their form in a settings file, and their effects on a resource.

This module has no requests. Writes and the checks before them use the same functions, so that they cannot differ.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from gitsync.emulator.governance.external_evaluation import ExternalEvaluation, read_external_evaluation
from gitsync.emulator.http.target import GROUP_TYPE, PathShape, parse
from gitsync.emulator.patch import set_value
from gitsync.settings.config.yaml_file import FieldReader, YamlNode, read_each, read_fields

UNKNOWN: Final = object()
"""A value in a body that is only known when the template is deployed: it meets no condition."""

_MANAGEMENT_GROUPS: Final = "/providers/microsoft.management/managementgroups/"
_POLICY_GROUP_TYPE: Final = "microsoft.resources/subscriptions/resourcegroups"
"""The type of a group, spelled as in policies."""


class Effect(StrEnum):
    DENY = "deny"
    AUDIT = "audit"
    APPEND = "append"
    MODIFY = "modify"
    DENY_ACTION = "denyAction"  # denies a DELETE

    @property
    def changes(self) -> bool:
        return self in {Effect.APPEND, Effect.MODIFY}

    @property
    def denies(self) -> bool:
        return self in {Effect.DENY, Effect.DENY_ACTION}


class Operator(StrEnum):
    EQUALS = "equals"
    NOT_EQUALS = "notEquals"
    IN = "in"
    NOT_IN = "notIn"
    EXISTS = "exists"


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyContent:
    """A resource as policies see it."""

    key: str  # its id in lower case, or its scope's id if it has no name yet
    type: str
    name: str
    body: Mapping[str, Any]  # with the children that it embeds

    def find_value(self, field: str) -> Any:
        """Find the value of a field; None if it is missing or null."""
        if field in {"type", "name"}:
            return (self.type if field == "type" else self.name) or None
        value: Any = self.body
        for name in _spell_path(self.body, field):
            # Below an unknown value everything is unknown, and not missing.
            if value is UNKNOWN:
                return UNKNOWN
            value = value.get(name) if isinstance(value, Mapping) else None
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyCondition:
    """A condition on a resource."""

    types: tuple[str, ...] = ()  # its type is one of these, if there are any
    field: str = ""  # the alias or the path of what the operator decides about
    operator: Operator = Operator.EXISTS
    values: tuple[Any, ...] = ()  # what the operator compares with

    def holds(self, content: PolicyContent) -> bool:
        return self.has_type(content) and (not self.field or self.is_met_by(content.find_value(self.field)))

    def has_type(self, content: PolicyContent) -> bool:
        return not self.types or _normalize_type(content.type) in {_normalize_type(kind) for kind in self.types}

    def is_met_by(self, value: Any) -> bool:
        """Return whether a value meets the operator. As in Azure, a missing value equals nothing."""
        if value is UNKNOWN:
            return False
        if self.operator is Operator.EXISTS:
            return (value is not None) == bool(self.values[0])
        is_equal = value is not None and _normalize(self.field, value) in {
            _normalize(self.field, other) for other in self.values
        }
        return is_equal == (self.operator in {Operator.EQUALS, Operator.IN})


@dataclass(frozen=True, slots=True, kw_only=True)
class EmulatedPolicy:
    """An assignment with its definition."""

    name: str
    scope: str
    effect: Effect
    conditions: tuple[PolicyCondition, ...]  # all of them must hold
    display_name: str = ""
    message: str = ""  # for people
    enforced: bool = True  # without it, the policy has no effect on writes
    not_scopes: tuple[str, ...] = ()  # ids that it does not apply to, nor to anything below
    field: str = ""  # what an append or a modify sets
    value: Any = None  # what it sets it to
    external: ExternalEvaluation | None = None  # it only denies what has no policy token

    @property
    def id(self) -> str:
        return f"{self.scope.rstrip('/')}/providers/Microsoft.Authorization/policyAssignments/{self.name}"

    @property
    def title(self) -> str:
        return self.display_name or self.name

    def covers(self, key: str) -> bool:
        return covers(self.scope, key) and not any(covers(scope, key) for scope in self.not_scopes)

    def concerns(self, content: PolicyContent) -> bool:
        """Return whether a resource is in the scope of the policy and has one of its types.

        As in Azure's Indexed mode, a policy without types applies to resources with a location, and not to groups.
        """
        if not self.covers(content.key) or not all(condition.has_type(content) for condition in self.conditions):
            return False
        names_type = any(condition.types or condition.field == "type" for condition in self.conditions)
        is_indexed = bool(content.body.get("location")) and _normalize_type(content.type) != _POLICY_GROUP_TYPE
        return names_type or is_indexed

    def matches(self, content: PolicyContent) -> bool:
        """Return whether the effect of the policy applies to a resource."""
        return self.concerns(content) and all(condition.holds(content) for condition in self.conditions)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmulatedExemption:
    """An exemption from a policy."""

    policy: str  # its name
    scope: str
    name: str = ""
    expires: datetime | None = None  # None: never

    def exempts(self, policy: EmulatedPolicy, key: str, now: datetime) -> bool:
        is_valid = self.expires is None or now < self.expires
        return is_valid and self.policy.casefold() == policy.name.casefold() and covers(self.scope, key)


def covers(scope: str, key: str) -> bool:
    """Return whether a scope is the resource of a key, or contains it. Every management group contains everything."""
    scope = scope.casefold().rstrip("/")
    return key == scope or key.startswith(f"{scope}/") or scope.startswith(_MANAGEMENT_GROUPS)


def list_in_force(
    policies: Iterable[EmulatedPolicy], exemptions: Sequence[EmulatedExemption], key: str, now: datetime
) -> list[EmulatedPolicy]:
    """List the policies that apply to writes of a resource."""
    return [
        policy
        for policy in policies
        if policy.enforced
        and policy.covers(key)
        and not any(exemption.exempts(policy, key, now) for exemption in exemptions)
    ]


def evaluate(policies: Sequence[EmulatedPolicy], content: PolicyContent) -> tuple[PolicyContent, list[EmulatedPolicy]]:
    """Return a resource with the changes of the policies, and the policies that deny it.

    As in Azure, changes come first, and an append that would change a value is a deny.
    """
    denying = []
    for policy in policies:
        if not policy.effect.changes or not policy.matches(content):
            continue
        present = content.find_value(policy.field)
        if policy.effect is Effect.MODIFY or present is None:
            content = replace(content, body=_set_field(content.body, policy.field, policy.value))
        # A value that is not known yet may turn out to be the right one.
        elif present is not UNKNOWN and _normalize(policy.field, present) != _normalize(policy.field, policy.value):
            denying.append(policy)
    denying += [policy for policy in policies if policy.effect is Effect.DENY and policy.matches(content)]
    return content, denying


def list_denying_delete(policies: Iterable[EmulatedPolicy], content: PolicyContent) -> list[EmulatedPolicy]:
    """List the policies that deny the DELETE of a resource."""
    return [policy for policy in policies if policy.effect is Effect.DENY_ACTION and policy.matches(content)]


def explain(policy: EmulatedPolicy, content: PolicyContent) -> list[dict[str, Any]]:
    """List the conditions of a policy as in Azure's list of evaluated expressions."""
    rows: list[tuple[str, Any, Operator, tuple[Any, ...]]] = []
    for condition in policy.conditions:
        if condition.types:
            rows.append(("type", content.type, Operator.IN, condition.types))
        if condition.field:
            rows.append((condition.field, content.find_value(condition.field), condition.operator, condition.values))
    return [
        {
            "result": "True",
            "expressionKind": "Field",
            "expression": make_alias(content.type, field),
            "path": field,
            **({} if value is None else {"expressionValue": value}),
            "targetValue": values[0] if len(values) == 1 else list(values),
            "operator": "Equals"
            if operator is Operator.IN and len(values) == 1
            else operator[0].upper() + operator[1:],
        }
        for field, value, operator, values in rows
    ]


def make_alias(kind: str, field: str) -> str:
    """Make the name of a field in policies: an alias of its type, unless all types have the field."""
    head = field.partition(".")[0]
    if head in {"type", "name", "location", "kind", "tags"}:
        return field
    return f"{kind}/{field.removeprefix('properties.')}"


def _spell_path(body: Any, field: str) -> tuple[str, ...]:
    """Spell the member names of a field as in the body, since their case does not count."""
    path: list[str] = []
    # Everything after `tags.` is one name.
    names = ("tags", field.removeprefix("tags.")) if field.startswith("tags.") else tuple(field.split("."))
    for name in names:
        members = body if isinstance(body, Mapping) else {}
        path.append(next((key for key in members if key.casefold() == name.casefold()), name))
        body = members.get(path[-1])
    return tuple(path)


def _set_field(body: Mapping[str, Any], field: str, value: Any) -> dict[str, Any]:
    # The name of a tag may have slashes.
    words = (name.replace("~", "~0").replace("/", "~1") for name in _spell_path(body, field))
    return dict(set_value(body, "/" + "/".join(words), value))


def _normalize(field: str, value: Any) -> str:
    """Normalize values that Azure treats as equal: case, and the two spellings of a region."""
    # A list may contain UNKNOWN, which JSON does not have, so `default` is needed.
    text = value.casefold() if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str).casefold()
    return text.replace(" ", "") if field == "location" else text


def _normalize_type(kind: str) -> str:
    return _POLICY_GROUP_TYPE if kind.casefold() == GROUP_TYPE.casefold() else kind.casefold()


# Reading them from a settings file.

_OWN_FIELDS: Final = frozenset({"name", "type"})
_SINGLE: Final = frozenset({Operator.EQUALS, Operator.NOT_EQUALS})


def read_scope(node: YamlNode) -> str:
    """Read the id of a scope: a management group, a subscription, a group or a resource."""
    text = node.text()
    if parse(text).shape not in {PathShape.SUBSCRIPTION, PathShape.GROUP, PathShape.RESOURCE}:
        raise node.wrong(
            f"{text!r} is not a scope.", "Set the id of a subscription, a group, a resource or a management group."
        )
    return text.rstrip("/")


def read_condition(node: YamlNode) -> PolicyCondition:
    """Read `{type, field, <operator>: <value>}`."""
    members = node.members("type", "field", *Operator)
    operators = [operator for operator in Operator if operator in members]
    types = members["type"].texts() if "type" in members else ()
    if "field" not in members and not operators and types:
        return PolicyCondition(types=types)
    if "field" not in members or len(operators) != 1:
        raise node.wrong("a condition needs a field and one operator.", f"Set one of {', '.join(Operator)}.")
    operator = operators[0]
    value = members[operator]
    if operator is Operator.EXISTS:
        values: tuple[Any, ...] = (value.flag(),)
    else:
        values = (value.any(),) if operator in _SINGLE else tuple(item.any() for item in value.items())
    return PolicyCondition(types=types, field=_read_field(members["field"]), operator=operator, values=values)


def _read_field(node: YamlNode) -> str:
    field = node.text()
    head, _, rest = field.partition(".")
    if not all(field.split(".")) or "[" in field or (head == "tags" and not rest):
        raise node.wrong(
            f"{field!r} is not a field.", "Use location, name, type, kind, tags.X, or a path such as properties.a.b."
        )
    return field


def read_policy(node: YamlNode) -> EmulatedPolicy:
    """Read one policy with its assignment."""
    values = read_fields(node, _POLICY, "name", "scope", "effect", "if")
    change = values.pop("set", None)
    effect = values["effect"]
    if effect.changes != (change is not None):
        need, hint = (
            ("needs", "Write set: {field: tags.env, value: dev}.") if effect.changes else ("has no", "Remove set.")
        )
        raise node.wrong(f"a policy with the effect {effect} {need} 'set'.", hint)
    if values.get("external") and not effect.denies:
        raise node.wrong(f"a policy with the effect {effect} has no 'externalEvaluation'.", "Set the effect to deny.")
    if change is not None:
        values |= change
    return EmulatedPolicy(**values)


def _read_change(node: YamlNode) -> dict[str, Any]:
    members = node.members("field", "value")
    if len(members) < 2:
        raise node.wrong("`set` of a policy needs both field and value.", "Write set: {field: tags.env, value: dev}.")
    field = _read_field(members["field"])
    if field in _OWN_FIELDS or field == "location":
        raise members["field"].wrong(f"a policy cannot set {field}.", "Set tags.X, or a path such as properties.a.b.")
    return {"field": field, "value": members["value"].any()}


class _Mode(StrEnum):
    DEFAULT = "Default"
    DO_NOT_ENFORCE = "DoNotEnforce"


def read_exemption(node: YamlNode) -> EmulatedExemption:
    """Read one exemption."""
    values = read_fields(node, _EXEMPTION, "policy", "scope")
    return EmulatedExemption(**{"name": values["policy"], **values})


_POLICY: Mapping[str, FieldReader] = {
    "name": ("name", YamlNode.text),
    "displayName": ("display_name", YamlNode.text),
    "scope": ("scope", read_scope),
    "notScopes": ("not_scopes", read_each(read_scope)),
    "effect": ("effect", lambda node: node.choice(Effect)),
    "mode": ("enforced", lambda node: node.choice(_Mode) is _Mode.DEFAULT),
    "message": ("message", YamlNode.text),
    "if": ("conditions", read_each(read_condition)),
    "set": ("set", _read_change),
    "externalEvaluation": ("external", read_external_evaluation),
}
_EXEMPTION: Mapping[str, FieldReader] = {
    "policy": ("policy", YamlNode.text),
    "scope": ("scope", read_scope),
    "name": ("name", YamlNode.text),
    "expires": ("expires", YamlNode.time),
}
