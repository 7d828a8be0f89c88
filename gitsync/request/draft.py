"""One manifest on its way to a request: what is made of it, step by step.

Apart from prepare, which takes the whole set along: an id needs the owners' names, a request the ids of what it refers
to, an edge all ids.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from gitsync.catalog.catalog import Catalog
from gitsync.model.facts import Kind
from gitsync.model.gvk import Key
from gitsync.model.resource import OwnerRef, Resource
from gitsync.model.template import ReferenceHole, Template
from gitsync.problems.finding import Finding
from gitsync.request.arm_id import ArmId, ArmIds, Standing
from gitsync.request.azure_names import AzureName, ConfigMaps, derive_azure_name
from gitsync.request.body import Converted, UnusableReferenceError, convert
from gitsync.request.credential_choice import Credential, CredentialOf
from gitsync.request.dependencies import Dependencies, Needs
from gitsync.request.holes import find_holes
from gitsync.request.owners import find_owner
from gitsync.validation.member import Member


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What is known of one manifest so far. `kind` is None where the catalog does not have it; `converted` where the
    body cannot be made; `template` where the request cannot, since the id or something referred to is not there;
    `credential` where there is none, for a reason that `findings` has.
    """

    resource: Resource
    kind: Kind | None = None
    owner: OwnerRef | None = None
    name: AzureName | None = None
    converted: Converted | None = None
    arm_id: ArmId | None = None
    template: Template | None = None
    depends_on: tuple[Key, ...] = ()
    credential: Credential | None = None
    findings: tuple[Finding, ...] = ()

    @property
    def standing(self) -> Standing | None:
        if self.kind is None:
            return None
        return Standing(resource=self.resource, kind=self.kind, name=self.name, owner=self.owner)

    @property
    def known_id(self) -> str | None:
        """The id where it is known offline."""
        return self.arm_id if isinstance(self.arm_id, str) else None

    @property
    def member(self) -> Member:
        return Member(
            resource=self.resource,
            kind=self.kind,
            owner=self.owner,
            arm_id=self.known_id,
            depends_on=self.depends_on,
        )


def begin_draft(resource: Resource, catalog: Catalog, config_maps: ConfigMaps) -> Draft:
    """What a manifest says by itself: kind, owner, name and body."""
    kind = catalog.kind(resource.gvk)
    if kind is None:
        return Draft(resource=resource)
    owner = find_owner(resource, kind)
    name = derive_azure_name(resource, kind, owner, config_maps)
    converted = _converted(resource, kind, name)
    return Draft(resource=resource, kind=kind, owner=owner, name=name, converted=converted)


def find_draft_subscription(credential_of: CredentialOf, resource: Resource) -> str | None:
    """The subscription of a manifest; None where it has no credential."""
    credential = credential_of(resource)
    return credential.subscription if isinstance(credential, Credential) else None


def add_credential(draft: Draft, credential_of: CredentialOf, ids: ArmIds) -> Draft:
    """Add the credential, and what is wrong with it or with that of the resource group."""
    credential = credential_of(draft.resource)
    if isinstance(credential, Finding):
        return replace(draft, findings=(credential,))
    group = ids.group_above(draft.standing) if draft.standing else None
    finding = _below(group, credential_of(group), credential) if group else None
    return replace(draft, credential=credential, findings=(finding,) if finding else ())


def _below(group: Resource, above: Credential | Finding, own: Credential) -> Finding | None:
    """Why a resource cannot be in a group: a write below a group of another subscription is not possible
    (docs/reference/reconciliation.md#arm-ids).
    """
    path = ("spec", "owner")
    if isinstance(above, Finding):
        message = f"The resource group {group.key.name} has no credential, so its subscription is unknown."
        return replace(above, path=path, message=message)
    if _agree(own, above):
        return None
    message = f'resource subscription "{own.subscription}" does not match parent subscription "{above.subscription}"'
    hint = "Use a credential with the subscription of the resource group."
    return Finding(code="ParentSubscription", path=path, message=message, hint=hint)


def _agree(credential: Credential, above: Credential) -> bool:
    """Whether two credentials have one subscription, as far as is known (docs/reference/reconciliation.md#arm-ids)."""
    same = credential.subscription.casefold() == above.subscription.casefold()
    return same or not (credential.is_sure and above.is_sure)


def add_id(draft: Draft, ids: ArmIds) -> Draft:
    standing = draft.standing
    return replace(draft, arm_id=ids.make(standing)) if standing else draft


def add_template(draft: Draft, id_of: Callable[[Key], ArmId | None]) -> Draft:
    """Add the request, where all that it refers to has an id."""
    if draft.kind is None or draft.converted is None or draft.arm_id is None:
        return draft
    body = draft.converted.body
    if any(id_of(hole.key) is None for hole in find_holes(body) if isinstance(hole, ReferenceHole)):
        return draft
    template = Template(arm_id=draft.arm_id, api_version=draft.kind.api_version, body=body)
    return replace(draft, template=template)


def add_dependencies(draft: Draft, edges: Dependencies) -> Draft:
    converted = draft.converted
    needs = Needs(
        key=draft.resource.key,
        owner=draft.owner,
        holes=(*find_holes(draft.arm_id), *(find_holes(converted.body) if converted else ())),
        arm_ids=converted.arm_ids if converted else (),
    )
    return replace(draft, depends_on=edges.of(needs))


def _converted(resource: Resource, kind: Kind, name: AzureName | None) -> Converted | None:
    """The body. Where the name is not known there is no request either, but what the body draws on still counts."""
    try:
        return convert(kind, resource.spec, name or "", resource.key.namespace)
    except UnusableReferenceError:
        return None
