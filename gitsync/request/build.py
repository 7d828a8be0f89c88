"""From manifests to requests with placeholders: names, owners, ids, bodies, edges, policies and problems. All offline.

The first of the two steps of conversion. It takes a whole set through `draft` and lets validation judge it; it decides
nothing itself but the policy.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from functools import partial
from typing import Final, Literal

from gitsync.catalog.catalog import Catalog
from gitsync.diff.ignore import Paths
from gitsync.manifests.policy import find_policy
from gitsync.model.manifests import Manifests
from gitsync.model.policy import Policy
from gitsync.model.problem import Problem
from gitsync.model.resource import Prepared
from gitsync.problems.finding import Finding, locate_finding
from gitsync.request.arm_id import ArmIds
from gitsync.request.azure_names import is_named_at_random
from gitsync.request.credential_choice import Credential, CredentialOf
from gitsync.request.dependencies import Dependencies
from gitsync.request.draft import (
    Draft,
    add_credential,
    add_dependencies,
    add_id,
    add_template,
    begin_draft,
    find_draft_subscription,
)
from gitsync.validation.ignore_annotation import check_ignore, read_ignored_paths
from gitsync.validation.validate import validate_resource, validate_set


def prepare(
    manifests: Manifests,
    *,
    catalog: Catalog,
    subscription: str | CredentialOf,
    default_policy: Policy = Policy.MANAGE,
    unknown_fields: Literal["error", "warn"] = "error",
    today: date | None = None,
) -> tuple[Prepared, ...]:
    """Every resource of the manifests made ready for ARM, sorted by key and then by version.

    A duplicate key comes twice. `subscription` is that of resources without an ARM id of their own, or gives the
    credential of each, which has the subscription; one without a credential has no ARM id. `today` decides which
    entries of `gitsync/ignore` have expired; without it, none has.
    """
    credential_of = _one_for_all(subscription) if isinstance(subscription, str) else subscription
    drafts = _drafts(manifests, catalog, credential_of)
    among_others = validate_set([draft.member for draft in drafts], catalog=catalog, namespaces=manifests.namespaces)
    prepared = []
    for draft, of_the_set in zip(drafts, among_others, strict=True):
        alone = validate_resource(draft.resource, draft.kind, catalog=catalog, unknown_fields=unknown_fields)
        # Validation reports an unknown policy; an invalid resource is not reconciled.
        policy = find_policy(draft.resource, manifests.namespaces, default_policy) or default_policy
        ignored = _of_ignored(draft, today)
        problems = (*draft.resource.problems, *alone, *of_the_set, *ignored)
        prepared.append(_prepared(draft, policy, problems, read_ignored_paths(draft.resource, today)))
    return tuple(prepared)


def _of_ignored(draft: Draft, today: date | None) -> Iterable[Problem]:
    found = check_ignore(draft.resource, draft.kind, today) if draft.kind else ()
    return (locate_finding(finding, draft.resource) for finding in found)


def _one_for_all(subscription: str) -> CredentialOf:
    only = Credential(subscription=subscription)
    return lambda _: only


def _drafts(manifests: Manifests, catalog: Catalog, credential_of: CredentialOf) -> list[Draft]:
    drafts = [begin_draft(resource, catalog, manifests.config_maps) for resource in manifests.resources]
    ids = ArmIds(
        {draft.resource.key: draft.standing for draft in drafts if draft.standing},
        partial(find_draft_subscription, credential_of),
    )
    drafts = [add_credential(draft, credential_of, ids) for draft in drafts]
    drafts = [add_template(add_id(draft, ids), ids.of) for draft in drafts]
    known = {draft.resource.key: draft.known_id for draft in drafts if draft.known_id}
    edges = Dependencies(manifests.resources, known)
    return [add_dependencies(draft, edges) for draft in drafts]


def _prepared(draft: Draft, policy: Policy, problems: Iterable[Problem], ignored: Paths) -> Prepared:
    found = {*problems, *_no_request(draft), *(locate_finding(finding, draft.resource) for finding in draft.findings)}
    if draft.template is None and not any(problem.is_error for problem in found):
        found.add(locate_finding(_UNSAYABLE, draft.resource))
    return Prepared(
        resource=draft.resource,
        policy=policy,
        arm_id=draft.known_id,
        api_version=draft.kind.api_version if draft.kind else None,
        owner=draft.owner,
        template=draft.template,
        depends_on=draft.depends_on,
        problems=tuple(sorted(found, key=lambda problem: problem.order)),
        ignored=ignored,
        credential=draft.credential.name if draft.credential else "",
    )


_UNSAYABLE: Final = Finding(
    code="NoRequest",
    path=("spec",),
    message="No request can be built from this manifest.",
    hint="Check its owners and references: one of them has no ARM id.",
)
"""The last resort: validation found no problem, and there is still no request."""


def _no_request(draft: Draft) -> Iterable[Problem]:
    if draft.kind is not None and is_named_at_random(draft.resource, draft.kind):
        message = "A random name would change in every run, and leave a resource behind each time."
        hint = "Set spec.azureName to a UUID of your own, or namingConvention to stable."
        path = ("spec", "operatorSpec", "namingConvention")
        yield locate_finding(Finding(code="RandomName", path=path, message=message, hint=hint), draft.resource)
