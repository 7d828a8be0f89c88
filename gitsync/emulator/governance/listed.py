"""Locks, deny assignments, policies and exemptions in the settings, as resources in Azure's lists.

They are not in the store: the settings file defines them, so no request changes or deletes one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from gitsync.emulator.clock import format_time
from gitsync.emulator.governance.enforcement import make_definition_id
from gitsync.emulator.http.target import PathShape, Target, parse
from gitsync.emulator.settings import EmulatedDenyAssignment, EmulatorSettings
from gitsync.emulator.state.store import StoredResource
from gitsync.emulator.types.provider_fields import make_uuid

_EVERYONE = "00000000-0000-0000-0000-000000000000"
_PREFIX = "microsoft.authorization/"
_MADE = "2026-01-01T00:00:00Z"

_Row = tuple[str, str, Mapping[str, Any]]
"""The scope, the name and the properties of a resource."""


def list_governing(settings: EmulatorSettings, target: Target) -> list[StoredResource]:
    """List the settings' resources of a type: the one at a path, or for a list all of them, at any scope."""
    kind = target.type.casefold().removeprefix(_PREFIX)
    if kind not in _ROWS or not target.type.casefold().startswith(_PREFIX):
        return []
    type_name = _ROWS[kind][0]
    resources = [
        StoredResource(
            id=f"{scope}/providers/Microsoft.Authorization/{type_name}/{name}",
            body={"properties": properties},
            api_version="2022-04-01",
            number=0,
            created=_MADE,
            changed=_MADE,
        )
        for scope, name, properties in _ROWS[kind][1](settings)
    ]
    if target.shape is PathShape.COLLECTION:
        return resources
    return [resource for resource in resources if parse(resource.id).key == target.key]


def _list_locks(settings: EmulatorSettings) -> Iterator[_Row]:
    for lock in settings.locks:
        notes = {"notes": lock.notes} if lock.notes else {}
        yield lock.scope.rstrip("/"), lock.name or lock.level, {"level": lock.level, **notes}


def _list_deny_assignments(settings: EmulatorSettings) -> Iterator[_Row]:
    for denial in settings.deny_assignments:
        principals = [{"id": name, "type": "ServicePrincipal"} for name in denial.principals]
        everyone = [{"id": _EVERYONE, "type": "SystemDefined"}] if denial.everyone else []
        yield (
            denial.scope,
            make_deny_guid(denial),
            {
                "denyAssignmentName": denial.name,
                "description": denial.description,
                "permissions": [
                    {
                        "actions": list(denial.actions),
                        "notActions": list(denial.not_actions),
                        "dataActions": [],
                        "notDataActions": [],
                    }
                ],
                "scope": denial.scope,
                "doNotApplyToChildScopes": denial.only_at_scope,
                "principals": [*everyone, *principals],
                "excludePrincipals": [{"id": name, "type": "ServicePrincipal"} for name in denial.exclude_principals],
                "isSystemProtected": True,
            },
        )


def make_deny_guid(denial: EmulatedDenyAssignment) -> str:
    """Make the last word of the id of a deny assignment."""
    return make_uuid(f"{denial.scope}/{denial.name}".casefold(), "deny assignment")


def _list_assignments(settings: EmulatorSettings) -> Iterator[_Row]:
    for policy in settings.policies:
        messages = [{"message": policy.message}] if policy.message else []
        properties = {
            "displayName": policy.title,
            "policyDefinitionId": make_definition_id(policy),
            "scope": policy.scope,
            "notScopes": list(policy.not_scopes),
            "parameters": {},
            "enforcementMode": "Default" if policy.enforced else "DoNotEnforce",
            "metadata": {"assignedBy": "somebody"},
            "nonComplianceMessages": messages,
        }
        yield policy.scope, policy.name, properties


def _list_exemptions(settings: EmulatorSettings) -> Iterator[_Row]:
    ids = {policy.name.casefold(): policy.id for policy in settings.policies}
    for exemption in settings.exemptions:
        expires = {"expiresOn": format_time(exemption.expires)} if exemption.expires else {}
        properties = {
            "policyAssignmentId": ids.get(exemption.policy.casefold(), exemption.policy),
            "policyDefinitionReferenceIds": [],
            "exemptionCategory": "Waiver",
            "displayName": exemption.name,
            **expires,
        }
        yield exemption.scope, exemption.name or exemption.policy, properties


_ROWS: Mapping[str, tuple[str, Callable[[EmulatorSettings], Iterator[_Row]]]] = {
    "denyassignments": ("denyAssignments", _list_deny_assignments),
    "locks": ("locks", _list_locks),
    "policyassignments": ("policyAssignments", _list_assignments),
    "policyexemptions": ("policyExemptions", _list_exemptions),
}
"""By type in lower case: its word in ids, and its rows in the settings."""

GOVERNING_TYPES = frozenset(f"{_PREFIX}{name}" for name in _ROWS)
"""The types, in lower case. Every emulated Azure has them, with any settings."""
