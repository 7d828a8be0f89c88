"""The custom role of a run: the actions that its manifests need, as `az role definition create` takes them, and those
that one revision needs and another does not. Azure is not asked.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from gitsync.agent.run.connections import find_global_subscription, open_source, open_state
from gitsync.agent.run.revision_plan import read_resources
from gitsync.desired.formats.name_list import name_first
from gitsync.desired.manifests.selection import make_selection
from gitsync.errors import ConfigError
from gitsync.extensions.registry import Registry
from gitsync.model.arm_id import ArmId
from gitsync.model.gvk import Key
from gitsync.model.record import Record
from gitsync.model.resource import Prepared
from gitsync.planning.run_problems import DEFAULT_AGENT
from gitsync.providers.arm.policy_tokens import ACTION
from gitsync.providers.arm.real_clock import SystemClock
from gitsync.report.wording import format_plural
from gitsync.settings.config.config import Config
from gitsync.settings.processes.programs import Grace
from gitsync.settings.redaction import Redactions
from gitsync.workflows.doctor.rights import (
    READ_ALL,
    NeededRight,
    find_id,
    has_own_credential,
    list_needed_rights,
    name_scope,
)
from gitsync.workflows.doctor.setup_check import Check, make_doubt, make_ok

_POWERFUL: Final = {
    "microsoft.authorization/roleassignments/write": "It allows granting any role, including Owner, to any identity at "
    "the scopes of the role, also to itself. When you assign the role, add a condition that names the roles that it "
    "may grant.",
    "microsoft.authorization/roledefinitions/write": "It allows adding any action to the roles that are assigned at "
    "the scopes of the role. Require a review of changes to these manifests.",
    "microsoft.keyvault/locations/deletedvaults/purge/action": "It deletes vaults permanently. Remove "
    "`createMode: purgeThenCreate` from the manifests if that is not intended.",
    READ_ALL: "It allows all reads. Before --prune deletes a resource group, gitsync lists its content, and Azure "
    "lists only what the identity may read.",
}
"""What people should know of some actions before they grant them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """A custom role."""

    name: str
    actions: tuple[str, ...]  # sorted
    scopes: tuple[str, ...]  # sorted
    notes: tuple[str, ...]  # sentences for the person who creates it

    def format_json(self) -> str:
        """Write the file that `az role definition create --role-definition` reads."""
        definition = {
            "Name": self.name,
            "IsCustom": True,
            "Description": "What gitsync needs for its manifests. Written by `gitsync doctor --role`.",
            "Actions": self.actions,
            "NotActions": [],
            "DataActions": [],
            "AssignableScopes": self.scopes,
        }
        return json.dumps(definition, indent=2)


def build_role(config: Config, redactions: Redactions) -> Role:
    """Build the role for the manifests that a sync with these settings would read.

    Raises SourceError or StateError if they or the records cannot be read, ConfigError without a subscription, or if
    nothing needs a right.
    """
    if not find_global_subscription(config):
        raise ConfigError(
            "No subscription is set, so the scopes of the role are not known.",
            hint="Set AZURE_SUBSCRIPTION_ID or --subscription; `az account list` shows yours.",
        )
    repository, prepared = read_resources(config, None, SystemClock(), redactions)
    own = [resource for resource in prepared if not has_own_credential(resource)]
    removed = _list_removed(config, prepared) if config.prune else ()
    rights, left_out = list_needed_rights(config, own, Registry.load(), removed)
    scopes = join_scopes(rights)
    actions = join_actions([*rights, *_list_token_rights(rights, scopes)])
    if not scopes:
        hint = "Run `gitsync validate`, which shows what the manifests declare."
        raise ConfigError("No manifest needs a right in a subscription, so there is no role to write.", hint=hint)
    name = repository.rstrip("/").rpartition("/")[2].removesuffix(".git")
    words = ("gitsync", name, "" if config.path in {"", "."} else config.path)
    powerful = (f"{action}: {_POWERFUL[action.casefold()]}" for action in actions if action.casefold() in _POWERFUL)
    notes = (*powerful, *_list_omissions(prepared, rights, left_out))
    return Role(name=" ".join(filter(None, words)), actions=actions, scopes=scopes, notes=notes)


def _list_token_rights(rights: Iterable[NeededRight], scopes: Iterable[str]) -> Iterator[NeededRight]:
    """List the right to request policy tokens, in each subscription that the role is assigned in and writes to.

    Only Azure has the policies that demand a token, and the right alone allows nothing. It is one of the subscription,
    so a role at groups goes without: its scopes must not widen for a policy that most subscriptions lack.
    """
    written = [right for right in rights if right.action.endswith(("/write", "/delete"))]
    for scope in scopes:
        own = [right for right in written if right.scope.casefold().startswith(scope.casefold())]
        if own and "/resourcegroups/" not in scope.casefold():
            yield NeededRight(scope, f"{ACTION}/action", own[0].arm_id)


def join_actions(rights: Iterable[NeededRight]) -> tuple[str, ...]:
    """Join the actions of all rights that are in a subscription. One that `*/read` stands for is left out."""
    # Reversed, so that of several spellings one stays, whatever the order of the manifests.
    spelled = {right.action.casefold(): right.action for right in sorted(rights, reverse=True) if right.scope}
    if READ_ALL in spelled:
        spelled = {key: action for key, action in spelled.items() if key == READ_ALL or not key.endswith("/read")}
    return tuple(action for _, action in sorted(spelled.items()))


def join_scopes(rights: Iterable[NeededRight]) -> tuple[str, ...]:
    """Join the scopes of all rights. A group is left out if its subscription is one of them."""
    spelled = {right.scope.casefold(): right.scope for right in sorted(rights, reverse=True) if right.scope}
    found = {
        key: scope for key, scope in spelled.items() if key.partition("/resourcegroups/")[0] not in {*spelled} - {key}
    }
    return tuple(scope for _, scope in sorted(found.items()))


def compare_rights(config: Config, redactions: Redactions) -> list[Check]:
    """List which actions and scopes `to_revision` needs that `from_revision` does not, and the other way round.

    Raises SourceError if one of them cannot be read.
    """
    clock, registry, name = SystemClock(), Registry.load(), config.from_revision or ""
    _, old = read_resources(config, config.from_revision, clock, redactions)
    _, new = read_resources(config, config.to_revision, clock, redactions)
    global_old, global_new = ([each for each in side if not has_own_credential(each)] for side in (old, new))
    elsewhere = [each for each in new if has_own_credential(each)]
    before, after, of_others = (
        list_needed_rights(config, prepared, registry).rights for prepared in (global_old, global_new, elsewhere)
    )
    manifests = {find_id(resource): f"{resource.key.kind}/{resource.key.name}" for resource in new}
    advice = f"is needed by {name} only. Remove it from the role once nothing uses it."
    unneeded = _subtract(join_actions(before), join_actions(after))
    # A right that only moved to another identity is still needed there.
    dropped = _subtract(unneeded, join_actions(of_others))
    return [
        *_list_new(before, after, name, manifests),
        *(_make_moved(action) for action in unneeded if action not in dropped),
        *(make_ok("old-right", f"{action} {advice}") for action in dropped),
    ]


def _make_moved(action: str) -> Check:
    """Make the check of a right that only resources with a credential Secret need now."""
    message = f"{action} is needed by resources that have a credential Secret now."
    hint = "Grant it to the identity of the Secret, and remove it from the role after the next sync."
    return make_doubt("moved-right", message, hint)


def _list_new(
    before: Sequence[NeededRight], after: Sequence[NeededRight], name: str, manifests: Mapping[ArmId, str]
) -> Iterator[Check]:
    known_actions, known_scopes = join_actions(before), join_scopes(before)
    new_actions = _subtract(join_actions(after), known_actions)
    for action in new_actions:
        users = [right for right in after if fnmatchcase(right.action.casefold(), action.casefold())]
        names = name_first(sorted({f"{manifests[right.arm_id]} in {name_scope(right.scope)}" for right in users}), 2)
        hint = f"Add it to the role. {_POWERFUL.get(action.casefold(), '')}".rstrip()
        yield make_doubt("new-right", f"{action}, for {names}. {name} does not need it.", hint)
    for scope in join_scopes(after):
        if not any(ArmId(scope).is_within(ArmId(known_scope)) for known_scope in known_scopes):
            hint = "Add it to the scopes of the role, and assign the role there."
            yield make_doubt("new-scope", f"{scope}. {name} does not need it.", hint)
    if not new_actions:
        yield make_ok("new-right", f"None in addition to the {format_plural(len(known_actions), 'action')} of {name}.")


def _subtract(actions: Iterable[str], known: Iterable[str]) -> list[str]:
    """The actions that none of the known ones grants."""
    patterns = [pattern.casefold() for pattern in known]
    return [action for action in actions if not any(fnmatchcase(action.casefold(), pattern) for pattern in patterns)]


def _list_omissions(
    prepared: Sequence[Prepared], rights: Sequence[NeededRight], left_out: Sequence[Key]
) -> Iterator[str]:
    """Describe what the role has no actions for."""
    if invalid := sum(not resource.is_valid for resource in prepared):
        yield f"{format_plural(invalid, 'manifest')} cannot be used. Run `gitsync validate`, then write the role again."
    if others := sum(map(has_own_credential, prepared)):
        yield f"{format_plural(others, 'resource')} with a credential Secret: the role has no actions for its identity."
    if left_out:
        names = name_first([f"{key.kind}/{key.name}" for key in left_out], 5)
        why = "the group or subscription is known during a run only, or an id has a * in its group or type"
        yield f"The role has no actions for {names}: {why}."
    if tenant := sorted({right.action for right in rights if not right.scope}):
        where = "the tenant or the management group, which the scopes of this role do not contain"
        yield f"Grant these actions at {where}: {name_first(tenant, 20)}."


def _list_removed(config: Config, prepared: Iterable[Prepared]) -> list[Record]:
    """The records of what git had before, and --prune deletes."""
    keys, selection = {resource.key for resource in prepared}, make_selection(config)
    with open_source(config, Grace()) as source, open_state(config, source, SystemClock(), writes=False) as store:
        records = store.load().list_own(config.agent or DEFAULT_AGENT)
    return [
        record
        for key, record in sorted(records.items())
        if key not in keys and selection.has(key) and record.claim.is_ours and record.manifest.policy.allows_delete
        # What has a credential Secret is deleted with that identity.
        if not record.access.credential
    ]
