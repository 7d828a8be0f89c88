"""One manifest on its way to a request, step by step.

Separate from `build`, which prepares the whole set: an id needs the names of the owners, a request the ids of its
references, a dependency all ids.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from gitsync.catalog.catalog import Catalog
from gitsync.catalog.spec_visitor import Visit
from gitsync.model.facts import Kind
from gitsync.model.gvk import Key
from gitsync.model.policy import Policy
from gitsync.model.resource import OwnerRef, Resource
from gitsync.model.template import Gap, Hole, ReferenceHole, Template, find_gaps
from gitsync.problems.finding import Finding
from gitsync.request.arm_id import ArmId, ArmIds, Standing
from gitsync.request.azure_names import AzureName, ConfigMaps, derive_azure_name
from gitsync.request.body import Converted, UnusableReferenceError, convert
from gitsync.request.credential_choice import Credential, CredentialOf
from gitsync.request.dependencies import Dependencies, Needs
from gitsync.request.holes import fill_references, find_holes, list_holes
from gitsync.request.owners import find_owner, place_owner
from gitsync.validation.member import Member
from gitsync.validation.references import select_named_references


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """One manifest and all that was derived from it so far.

    `kind` is None if the catalog does not have it, `converted` if the body cannot be made, `template` if
    the request cannot be made (without an id, or with an unknown reference), and `credential` if there is none, for a
    reason in `findings`. `id_doubt` says why a plan does not know the subscription in the id.
    """

    resource: Resource
    kind: Kind | None = None
    owner: OwnerRef | None = None
    name: AzureName | None = None
    converted: Converted | None = None
    standing: Standing | None = None
    arm_id: ArmId | None = None
    template: Template | None = None
    depends_on: tuple[Key, ...] = ()
    credential: Credential | None = None
    id_doubt: str = ""
    findings: tuple[Finding, ...] = ()

    @property
    def known_id(self) -> str | None:
        """The id, if it is known offline."""
        return self.arm_id if isinstance(self.arm_id, str) and not self.id_doubt else None

    def as_member(self, policy: Policy, visits: Iterable[Visit]) -> Member:
        """What checks across manifests see of this one. `visits` are those of its spec."""
        return Member(
            resource=self.resource,
            kind=self.kind,
            owner=self.owner,
            arm_id=self.known_id,
            depends_on=self.depends_on,
            references=tuple(select_named_references(visits, self.resource.key.namespace)),
            subscription=self.credential.subscription if self.credential else "",
            is_written=policy.allows_modify,
            body=self.template.body if self.template else None,
        )


def begin_draft(resource: Resource, catalog: Catalog, config_maps: ConfigMaps, known_ids: Mapping[Key, str]) -> Draft:
    """Make a draft of what the manifest says by itself: kind, owner, name and body. `known_ids` are those of resources
    that other sources declare.
    """
    kind = catalog.kind(resource.gvk)
    if kind is None:
        return Draft(resource=resource)
    owner = place_owner(find_owner(resource, kind), known_ids)
    name = derive_azure_name(resource, kind, owner, config_maps)
    converted = _convert_body(resource, kind, name, known_ids)
    standing = Standing(resource=resource, kind=kind, name=name, owner=owner)
    return Draft(resource=resource, kind=kind, owner=owner, name=name, converted=converted, standing=standing)


def find_draft_subscription(credential_of: CredentialOf, resource: Resource) -> str | None:
    """The subscription of a manifest; None if it has no credential."""
    credential = credential_of(resource)
    return credential.subscription if isinstance(credential, Credential) else None


def add_credential(draft: Draft, credential_of: CredentialOf, ids: ArmIds) -> Draft:
    """Add the credential, or a finding if it or that of the resource group cannot be used."""
    credential = credential_of(draft.resource)
    if isinstance(credential, Finding):
        return replace(draft, findings=(credential,))
    group = ids.group_above(draft.standing) if draft.standing else None
    finding = _check_group(group, credential_of(group), credential) if group else None
    base = ids.find_base(draft.standing) if draft.standing else None
    doubt = _find_doubt(credential_of(base)) if base else ""
    return replace(draft, credential=credential, id_doubt=doubt, findings=(finding,) if finding else ())


def _find_doubt(credential: Credential | Finding) -> str:
    return credential.doubt if isinstance(credential, Credential) else ""


def _check_group(group: Resource, parent: Credential | Finding, credential: Credential) -> Finding | None:
    """Return why a resource cannot be in a group: a write below a group of another subscription is not possible
    (docs/reference/reconciliation.md#arm-ids).
    """
    path = ("spec", "owner")
    if isinstance(parent, Finding):
        message = f"The resource group {group.key.name} has no credential, so its subscription is unknown."
        return replace(parent, path=path, message=message)
    if _have_same_subscription(credential, parent):
        return None
    message = (
        f'resource subscription "{credential.subscription}" does not match parent subscription "{parent.subscription}"'
    )
    hint = "Use a credential with the subscription of the resource group."
    return Finding(code="ParentSubscription", path=path, message=message, hint=hint)


def _have_same_subscription(credential: Credential, parent: Credential) -> bool:
    """Tell whether two credentials have the same subscription, as far as is known
    (docs/reference/reconciliation.md#arm-ids).
    """
    is_same = credential.subscription.casefold() == parent.subscription.casefold()
    return is_same or not (credential.is_sure and parent.is_sure)


def add_template(draft: Draft, ids: ArmIds) -> Draft:
    """Add the id, and the request if all of its references have ids."""
    if draft.kind is None or draft.standing is None:
        return draft
    arm_id = ids.make(draft.standing)
    if draft.converted is None or arm_id is None:
        return replace(draft, arm_id=arm_id)
    template = Template(arm_id=arm_id, api_version=draft.kind.api_version, body=draft.converted.body)
    has_ids = all(ids.of(hole.key) is not None for hole in _find_references(template.gaps))
    return replace(draft, arm_id=arm_id, template=template if has_ids else None)


def add_dependencies(draft: Draft, dependencies: Dependencies) -> Draft:
    converted = draft.converted
    needs = Needs(
        key=draft.resource.key,
        owner=draft.owner,
        holes=(*find_holes(draft.arm_id), *_list_body_holes(draft)),
        arm_ids=converted.arm_ids if converted else (),
    )
    return replace(draft, depends_on=dependencies.of(needs))


def _convert_body(
    resource: Resource, kind: Kind, name: AzureName | None, known_ids: Mapping[Key, str]
) -> Converted | None:
    """Make the body. Without a name there is no request, but the dependencies of the body still count."""
    try:
        converted = convert(kind, resource.spec, name or "", resource.key.namespace)
    except UnusableReferenceError:
        return None
    references = _find_references(find_gaps(converted.body)) if known_ids else ()
    used_ids = {hole.key: known_ids[hole.key] for hole in references if hole.key in known_ids}
    if not used_ids:
        return converted
    arm_ids = (*converted.arm_ids, *used_ids.values())
    return replace(converted, body=fill_references(converted.body, used_ids), arm_ids=arm_ids)


def _list_body_holes(draft: Draft) -> Iterator[Hole]:
    if draft.template:
        return list_holes(draft.template.gaps)
    return find_holes(draft.converted.body if draft.converted else None)


def _find_references(gaps: Iterable[Gap]) -> Iterator[ReferenceHole]:
    return (hole for hole in list_holes(gaps) if isinstance(hole, ReferenceHole))
