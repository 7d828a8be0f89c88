"""The Azure actions that a run needs for its manifests: the one table of them, which the doctor compares with the
rights of an identity, and writes as a custom role.

What is needed follows from the code that sends it: the policy and the kind of a resource, the tables of the exporters,
the requests of the extensions, and the actions that these declare.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from enum import StrEnum
from typing import Final, NamedTuple

from gitsync.agent.attribution.drift_authors import RIGHTS
from gitsync.agent.checks.check_rights import list_request_paths
from gitsync.agent.checks.planned_bodies import hide_values
from gitsync.agent.run.run_exports import list_needed_secrets
from gitsync.desired.catalog.any_type import list_sent_members
from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.catalog.children import KindTree
from gitsync.desired.catalog.collections import list_collections
from gitsync.desired.exports.export_expressions import compile_exports, list_needed_fields
from gitsync.desired.formats.arm_path import read_provider
from gitsync.desired.request.exports import collect_destinations, find_secret_action, has_expressions
from gitsync.desired.validation.annotations import CREDENTIAL_FROM
from gitsync.desired.validation.replace_annotation import read_consent
from gitsync.errors import GitsyncError
from gitsync.extensions.api import Subject
from gitsync.extensions.registry import Registry
from gitsync.model.arm_id import NO_ID, ArmId
from gitsync.model.attribution import Who
from gitsync.model.check import NO_CHECKS, CheckName, PlannedChange
from gitsync.model.export import Address, ObjectKind
from gitsync.model.facts import Kind
from gitsync.model.gvk import Key
from gitsync.model.provider import Provider
from gitsync.model.record import Record
from gitsync.model.resource import Prepared
from gitsync.model.verdict import Action
from gitsync.repository.secrets.sinks.status import KeptConfigMaps
from gitsync.settings.config.config import Config

READ_ALL: Final = "*/read"
"""Azure lists of a group only what the identity may read: with less than this right, a group that holds resources of
others looks empty, and would be deleted with them.
"""

PROVIDERS: Final = "Microsoft.Resources/subscriptions/providers"

_ALWAYS_REGISTERED: Final = frozenset({"microsoft.authorization", "microsoft.resources"})
"""Namespaces that every subscription has."""


class Use(StrEnum):
    """What a right is for. A run fails only without those of `RUN`."""

    RUN = "run"
    LISTS = "lists"  # else each resource is read by itself
    OWNERS = "owners"  # else a run waits for an owner that it cannot see is missing
    REGISTRATION = "registration"  # of a provider that the subscription lacks
    CHECKS = "checks"  # else a change is not checked
    WHO = "who"  # else a report does not show who changed a resource


class NeededRight(NamedTuple):
    """An action that is needed at a scope. All texts are as Azure spells them."""

    scope: str  # a resource group or a subscription, "" for what is in none
    action: str
    arm_id: ArmId  # the resource that needs it
    use: Use = Use.RUN


class NeededRights(NamedTuple):
    """The rights that a run needs."""

    rights: list[NeededRight]  # each once for a scope, sorted
    left_out: list[Key]
    """The resources that nothing is listed for, since their group or subscription is known only during a run, or since
    an id has a `*` where a role would take it for any text.
    """


def list_needed_rights(
    config: Config, prepared: Collection[Prepared], registry: Registry, removed: Iterable[Record] = ()
) -> NeededRights:
    """List the rights to reconcile resources, and with --prune to delete `removed` ones."""
    needed_secrets, every, left_out = list_needed_secrets(prepared), list[NeededRight](), list[Key]()
    for resource in prepared:
        if resource.template is None and resource.arm_id is None:
            continue  # an invalid manifest
        rights = _ResourceRights(resource, config, registry).list_all(needed_secrets)
        # All or none: with half of its rights, the resource would fail in the middle of a run.
        if find_id(resource) and all(map(_is_exact, rights)):
            every += rights
        else:
            left_out.append(resource.key)
    for record in filter(_is_arm, removed) if config.prune else ():
        every += filter(_is_exact, _list_removal(record, registry))
    # Of equal rights the last stays, so one that a run needs is not shown as optional.
    needed_most_last = sorted(every, key=lambda right: (right.use is Use.RUN, right))
    once = {(right.scope.casefold(), right.action.casefold()): right for right in needed_most_last}
    return NeededRights(sorted(once.values()), sorted(left_out))


def _is_arm(prepared: Prepared | Record) -> bool:
    """Return whether ARM has a resource. Rights in Microsoft Graph and in a database are granted there, by no role."""
    return open_catalog().provider(prepared.key.group, prepared.key.kind) is Provider.ARM


def _is_exact(right: NeededRight) -> bool:
    """Return whether a right is for one scope and one action. Manifests are not trusted: a `*` in an id must not widen
    a role.
    """
    return not {"<", "*"} & {*right.scope} and (right.action == READ_ALL or "*" not in right.action)


def has_own_credential(prepared: Prepared) -> bool:
    """Return whether another identity than the run's reconciles a resource."""
    return bool(prepared.credential or prepared.resource.annotations.get(CREDENTIAL_FROM))


def find_id(prepared: Prepared) -> ArmId:
    """Return the id as far as it is known, with `<...>` in place of what is missing; "" if it begins with that."""
    found = prepared.arm_id or (prepared.template.arm_id if prepared.template else NO_ID)
    if isinstance(found, ArmId):
        return found
    text = "".join(part if isinstance(part, str) else "<...>" for part in found.parts)
    return ArmId(text) if text.startswith("/") else NO_ID


class _ResourceRights:
    """The rights of one resource that a manifest declares."""

    def __init__(self, prepared: Prepared, config: Config, registry: Registry) -> None:
        self._prepared = prepared
        self._config = config
        self._registry = registry
        self._is_written = prepared.is_written and not prepared.is_watched
        self._arm_id = find_id(prepared)
        self._scope = _choose_scope(self._arm_id, is_created=self._is_written)
        self._kind = open_catalog().kind_of(prepared.resource)
        self._rule_key = self._kind.rule_key if self._kind else (prepared.key.group, prepared.key.kind)

    def _need(self, action: str, scope: str = "", use: Use = Use.RUN) -> NeededRight:
        return NeededRight(scope or self._scope, action, self._arm_id, use)

    def list_all(self, needed_secrets: Collection[Address]) -> list[NeededRight]:
        """List what the resource needs in all; what is not ARM's needs its server alone."""
        if not _is_arm(self._prepared):
            return list(self._list_owner())
        return [*self.list_own(), *self.list_called(needed_secrets), *self.list_optional()]

    def list_own(self) -> Iterator[NeededRight]:
        """List what the resource itself needs, with its owner."""
        prepared, registry = self._prepared, self._registry
        yield self._need(name_action(self._arm_id, "read"))
        if self._is_written:
            yield self._need(name_action(self._arm_id, "write"))
        if self._config.prune and self._is_written and prepared.policy.allows_delete:
            yield from _list_deletes(self._arm_id, prepared.key, self._kind, registry, self._scope)
            if read_consent(prepared.resource).values:  # a replacement looks for what it would also delete
                looks = ["Microsoft.Authorization/roleAssignments/read", *_list_reads_below(self._kind, self._arm_id)]
                yield from map(self._need, looks)
        yield from self._list_owner()

    def _list_owner(self) -> Iterator[NeededRight]:
        prepared, registry = self._prepared, self._registry
        if prepared.relations.owner and prepared.relations.owner.arm_id:
            owner = prepared.relations.owner.arm_id
            is_checked = registry.checks_owner(*self._rule_key) or not _is_arm(prepared)
            use = Use.RUN if is_checked else Use.OWNERS
            yield self._need(name_action(owner, "read"), _choose_scope(owner), use)

    def list_called(self, needed_secrets: Collection[Address]) -> Iterator[NeededRight]:
        """List what the extensions of its kind need, exports among it."""
        prepared, registry = self._prepared, self._registry
        secrets = _list_secret_fields(prepared, self._kind, self._config, needed_secrets)
        for suffix in registry.list_export_actions(*self._rule_key, secrets):
            yield self._need(name_action(f"{self._arm_id}{suffix}", "action"))
        if secrets and (action := find_secret_action(prepared.resource)):
            yield self._need(name_action(f"{self._arm_id}/{action}", "action"))
        points = {
            "post_check": self._is_written,
            "export_secrets": bool(secrets),
            "export_config_maps": bool(collect_destinations(prepared.resource, ObjectKind.CONFIG_MAP)),
            "succeeded": True,
        }
        called = {point for point, is_called in points.items() if is_called}
        yield from map(self._need, registry.list_called(*self._rule_key, called))
        if self._is_written:
            yield from self._list_body_calls()

    def _list_body_calls(self) -> Iterator[NeededRight]:
        resource = self._prepared.resource
        version = self._prepared.api_version or ""
        subject = Subject(
            key=resource.key,
            gvk=resource.gvk,
            spec=list_sent_members(self._kind, resource.spec) if self._kind else resource.spec,
            rules_of=self._rule_key,
            arm_id=self._arm_id,
            api_version=version,
            live=None,
        )
        with suppress(GitsyncError):  # the run fails with it too, and reports it
            for path, verb in self._registry.list_calls(subject):
                # The lists of the tenant are read with a role anywhere, so the scope is that of the resource.
                yield self._need(name_action(path, verb), _choose_scope(ArmId(path)))

    def list_optional(self) -> Iterator[NeededRight]:
        """List what a run can do without."""
        for path, _ in list_collections(self._kind, self._arm_id) if self._kind else ():
            if _choose_scope(ArmId(path)) == self._scope:  # a list of the whole subscription does not justify more
                yield self._need(name_action(path, "read"), use=Use.LISTS)
        yield from self._list_request_paths()
        if self._is_written and self._config.who != Who.OFF and self._arm_id.subscription:
            # The activity log is the subscription's, but a name does not justify more than the group.
            yield from (self._need(action, use=Use.WHO) for action in RIGHTS)
        subscription, namespace = self._arm_id.subscription, read_provider(self._arm_id)
        is_registered = namespace.casefold() in _ALWAYS_REGISTERED
        if self._config.register_providers and self._is_written and subscription and not is_registered:
            for action in (f"{namespace}/register/action", f"{PROVIDERS}/read"):
                yield self._need(action, f"/subscriptions/{subscription}", Use.REGISTRATION)

    def _list_request_paths(self) -> Iterator[NeededRight]:
        """List what the checks of a change to the resource ask."""
        if not (self._is_written and self._prepared.template and self._arm_id.subscription):
            return
        change = PlannedChange(
            key=self._prepared.key,
            action=Action.CREATE,
            arm_id=self._arm_id,
            arm_type=self._arm_id.arm_type,
            api_version=self._prepared.template.api_version,
            body=hide_values(self._prepared.template.body),
        )
        for name in self._config.checks:
            for path in list_request_paths(CheckName(name), change) if name != NO_CHECKS else ():
                yield self._need(name_action(path, "read"), _choose_scope(ArmId(path)), Use.CHECKS)


def _list_removal(record: Record, registry: Registry) -> Iterator[NeededRight]:
    """List the rights to delete what was removed from git."""
    kind = open_catalog().kind_of_record(record)
    scope = _choose_scope(record.arm_id, is_created=True)
    yield NeededRight(scope, name_action(record.arm_id, "read"), record.arm_id)
    yield from _list_deletes(record.arm_id, record.key, kind, registry, scope)


def _list_deletes(arm_id: ArmId, key: Key, kind: Kind | None, registry: Registry, scope: str) -> Iterator[NeededRight]:
    if kind is not None and not kind.can_delete:
        return
    rule_key = kind.rule_key if kind else (key.group, key.kind)
    actions = [name_action(arm_id, "delete"), *registry.list_called(*rule_key, {"delete"})]
    # The list of a group decides whether it is empty enough to delete.
    for action in [*actions, READ_ALL] if arm_id.is_group else actions:
        yield NeededRight(scope, action, arm_id)


def _list_reads_below(kind: Kind | None, arm_id: ArmId) -> Iterator[str]:
    """List the reads of all that may be below a resource, with those of their lists."""
    for child in KindTree(open_catalog()).list_below(kind.arm_type) if kind else ():
        child_id = ArmId(f"{arm_id}/{child.arm_type.rpartition('/')[2]}/<...>")
        lists = [] if child.fixed_azure_name else list_collections(child, child_id)
        yield from (name_action(path, "read") for path in (child_id, *(path for path, _ in lists[:1])))
        yield from _list_reads_below(child, child_id)


def _list_secret_fields(
    prepared: Prepared, kind: Kind | None, config: Config, needed_secrets: Collection[Address]
) -> frozenset[str]:
    """The fields of `operatorSpec.secrets` that a run requests: those with a reader, and those of expressions."""
    is_taken = not prepared.is_watched and any(sink != KeptConfigMaps.name for sink in config.export_to)
    destinations = collect_destinations(prepared.resource, ObjectKind.SECRET)
    fields = {field for field, to in destinations.items() if is_taken or to.address in needed_secrets}
    if kind is not None and prepared.is_valid and has_expressions(prepared.resource):
        expressions = compile_exports(prepared.resource, kind)
        fields |= list_needed_fields(each for each in expressions if is_taken or each.address in needed_secrets)
    return frozenset(fields)


def _choose_scope(arm_id: ArmId, *, is_created: bool = False) -> str:
    """The resource group of an id, else its subscription. That of a group which is created, or deleted, is above it."""
    subscription, group = arm_id.subscription, arm_id.resource_group
    if subscription is None:
        return ""
    is_above = group is None or (is_created and arm_id.count("/") == _STEPS_OF_GROUP)
    return f"/subscriptions/{subscription}" if is_above else f"/subscriptions/{subscription}/resourceGroups/{group}"


_STEPS_OF_GROUP = 4


def name_action(path: str, verb: str) -> str:
    """Name the action of a request as roles spell it: Microsoft.Network/virtualNetworks/subnets/write. For an action,
    `path` ends with its name.
    """
    _, provider, below = path.rpartition("/providers/")
    if not provider:
        return f"Microsoft.Resources/subscriptions/resourceGroups/{verb}"
    namespace, *steps = below.split("/")
    return "/".join((namespace, *steps[::2], verb) if steps else (PROVIDERS, verb))


def name_scope(scope: str) -> str:
    """The resource group, or what is above."""
    above, _, group = scope.partition("/resourceGroups/")
    _, _, subscription = above.partition("/subscriptions/")
    return f"resource group {group}" if group else f"subscription {subscription}" if subscription else "the tenant"
