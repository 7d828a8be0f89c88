"""One manifest on its way to a request, step by step.

Separate from `build`, which prepares the whole set: an id needs the names of the owners, a request the ids of its
references, a dependency all ids.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from gitsync.desired.catalog.catalog import Catalog
from gitsync.desired.catalog.spec_visitor import Visit
from gitsync.desired.catalog.version_annotation import BODY
from gitsync.desired.problems.finding import Finding
from gitsync.desired.request.arm_id_builder import (
    ArmIds,
    ConfigMaps,
    IdTemplate,
    Standing,
    derive_azure_name,
    find_owner,
    place_owner,
)
from gitsync.desired.request.body import Converted, convert
from gitsync.desired.request.credential_choice import Credential, CredentialOf
from gitsync.desired.request.dependencies import Needs
from gitsync.desired.request.fill import collect_value_refs, fill_references, list_value_refs
from gitsync.desired.request.patched_body import patch_body
from gitsync.desired.validation.body_annotation import read_body
from gitsync.desired.validation.directory_links import has_links, read_links
from gitsync.desired.validation.references import select_named_references
from gitsync.desired.validation.relations import Member
from gitsync.errors import UnusableReferenceError
from gitsync.model.arm_id import ArmId
from gitsync.model.facts import Kind
from gitsync.model.gvk import Key
from gitsync.model.reconcile_policy import Policy
from gitsync.model.resource import OwnerRef, Resource
from gitsync.model.template import Gap, ResourceRef, Template, collect_gaps


@dataclass(slots=True, unsafe_hash=True)  # not frozen: filled ten times as fast
class Start:
    """The parts of a request that one manifest gives by itself."""

    resource: Resource
    standing: Standing | None = None  # None if the catalog does not have its kind
    converted: Converted | None = None  # None if the body cannot be made


@dataclass(slots=True, unsafe_hash=True)  # not frozen: filled ten times as fast
class Draft:
    """One manifest and all that was derived from it."""

    resource: Resource
    kind: Kind | None  # None if the catalog does not have it
    owner: OwnerRef | None  # None for kinds without one
    converted: Converted | None  # None if the body cannot be made
    arm_id: IdTemplate | None  # None if it is not known
    template: Template | None  # None if the request cannot be made: without an id, or with an unknown reference
    credential: Credential | None  # None if there is none, for a reason in the findings
    id_doubt: str  # why a plan cannot fill in the subscription of the id
    findings: tuple[Finding, ...]  # everything that is wrong with it
    id_sources: tuple[Key, ...] = ()  # the resources from which expressions compute its id

    @property
    def known_id(self) -> ArmId | None:
        """The id, if it is known offline."""
        return self.arm_id if isinstance(self.arm_id, ArmId) and not self.id_doubt else None

    @property
    def needs(self) -> Needs:
        """What it depends on."""
        converted, template = self.converted, self.template
        is_plain = template is not None and template.is_plain
        in_body = (
            list_value_refs(template.gaps) if template else collect_value_refs(converted.body if converted else None)
        )
        return Needs(
            key=self.resource.key,
            owner=self.owner,
            refs=() if is_plain else (*collect_value_refs(self.arm_id), *in_body),
            arm_ids=converted.arm_ids if converted else (),
            sources=self.id_sources,
        )

    def as_member(
        self, policy: Policy, visits: Iterable[Visit], depends_on: tuple[Key, ...], named: tuple[Key, ...] = ()
    ) -> Member:
        """What checks across manifests see of this one. `visits` are those of its spec that are not plain, and `named`
        what its annotation names.
        """
        return Member(
            resource=self.resource,
            kind=self.kind,
            owner=self.owner,
            arm_id=self.known_id,
            depends_on=depends_on,
            named_first=tuple(key for key in named if key in depends_on) if named else (),
            references=tuple(select_named_references(visits, self.resource.key.namespace)),
            subscription=self.credential.subscription if self.credential else "",
            is_written=policy.allows_modify,
            body=self.template.body if self.template else None,
        )


def begin_draft(
    resource: Resource,
    catalog: Catalog,
    config_maps: ConfigMaps,
    known_ids: Mapping[Key, ArmId],
    bodies: Mapping[Key, Mapping[str, Any]],
) -> Start:
    """Find kind, owner, name and body. `known_ids` are those of resources that other sources declare, `bodies` the
    members in `gitsync/body` where some are computed.
    """
    kind = catalog.kind_of(resource)
    if kind is None:
        return Start(resource)
    owner = place_owner(find_owner(resource, kind), known_ids)
    name = derive_azure_name(resource, kind, owner, config_maps)
    standing = Standing(resource=resource, kind=kind, name=name, owner=owner)
    return Start(resource, standing, _convert_body(standing, known_ids, bodies))


def finish_draft(start: Start, credential_of: CredentialOf, ids: ArmIds, id_sources: tuple[Key, ...] = ()) -> Draft:
    """Add what depends on other manifests: the credential, the id, and the request."""
    standing = start.standing
    choice = _choose_credential(start, credential_of, ids)
    arm_id = ids.make(standing) if standing else None
    return Draft(
        resource=start.resource,
        kind=standing.kind if standing else None,
        owner=standing.owner if standing else None,
        converted=start.converted,
        arm_id=arm_id,
        template=_make_template(start, arm_id, ids),
        credential=choice.credential,
        id_doubt=choice.doubt,
        findings=choice.findings,
        id_sources=id_sources,
    )


def find_draft_subscription(credential_of: CredentialOf, resource: Resource) -> str | None:
    """The subscription of a manifest; None if it has no credential."""
    credential = credential_of(resource)
    return credential.subscription if isinstance(credential, Credential) else None


class _Choice(NamedTuple):
    """A credential, why a plan cannot fill in the subscription of the id, and what is wrong with either."""

    credential: Credential | None
    doubt: str = ""
    findings: tuple[Finding, ...] = ()


def _choose_credential(start: Start, credential_of: CredentialOf, ids: ArmIds) -> _Choice:
    """Choose the credential, with a finding if it or that of the resource group cannot be used."""
    credential = credential_of(start.resource)
    if isinstance(credential, Finding):
        return _Choice(None, findings=(credential,))
    group = ids.group_above(start.standing) if start.standing else None
    # Without a group, the owner of an extension may decide the subscription of the id.
    base = group or (ids.find_base(start.standing) if start.standing else None)
    above = credential_of(base) if base else None
    finding = _check_group(group, above, credential) if group and above else None
    doubt = above.doubt if isinstance(above, Credential) else ""
    return _Choice(credential, doubt, (finding,) if finding else ())


def _check_group(group: Resource, parent: Credential | Finding, credential: Credential) -> Finding | None:
    """Return why a resource cannot be in a group: a write below a group of another subscription is not possible
    (docs/reference/reconciliation.md#arm-ids).
    """
    if parent is credential:
        return None  # as most
    path = ("spec", "owner")
    if isinstance(parent, Finding):
        message = f"The resource group {group.key.name} has no credential, so its subscription is unknown."
        return replace(parent, path=path, message=message, source=None)
    # A subscription that a plan assumes may be another one, so only two known ones can differ.
    if _have_same_subscription(credential, parent):
        return None
    message = (
        f'resource subscription "{credential.subscription}" does not match parent subscription "{parent.subscription}"'
    )
    hint = "Use a credential with the subscription of the resource group."
    return Finding(code="ParentSubscription", path=path, message=message, hint=hint)


def _have_same_subscription(credential: Credential, parent: Credential) -> bool:
    """Return whether two credentials have the same subscription, as far as is known
    (docs/reference/reconciliation.md#arm-ids).
    """
    is_same = credential.subscription.casefold() == parent.subscription.casefold()
    return is_same or not (credential.is_sure and parent.is_sure)


def _make_template(start: Start, arm_id: IdTemplate | None, ids: ArmIds) -> Template | None:
    """Make the request, if all of its references have ids."""
    if start.standing is None or start.converted is None or arm_id is None:
        return None
    template = Template(arm_id=arm_id, api_version=start.standing.kind.api_version, body=start.converted.body)
    has_ids = not template.gaps or all(ids.of(ref.key) is not None for ref in _look_up_references(template.gaps))
    return template if has_ids else None


def _convert_body(
    standing: Standing, known_ids: Mapping[Key, ArmId], bodies: Mapping[Key, Mapping[str, Any]]
) -> Converted | None:
    """Make the body. Without a name there is no request, but the dependencies of the body still count."""
    resource = standing.resource
    try:
        converted = convert(standing.kind, resource.spec, standing.name or "", resource.key.namespace)
        if resource.annotations.get(BODY):
            members = bodies.get(resource.key) or read_body(resource)
            converted = patch_body(converted, members, resource.key.namespace)
        elif has_links(resource) or resource.key in bodies:
            links = bodies.get(resource.key) or read_links(resource, {})
            converted = converted._replace(body={**converted.body, **links})
    except UnusableReferenceError:
        # Validation reports the reference.
        return None
    if not known_ids:
        return converted
    references = _look_up_references(collect_gaps(converted.body))
    used_ids = {ref.key: known_ids[ref.key] for ref in references if ref.key in known_ids}
    if not used_ids:
        return converted
    arm_ids = (*converted.arm_ids, *used_ids.values())
    return converted._replace(body=fill_references(converted.body, used_ids), arm_ids=arm_ids)


def _look_up_references(gaps: Iterable[Gap]) -> Iterator[ResourceRef]:
    return (ref for ref in list_value_refs(gaps) if isinstance(ref, ResourceRef))
