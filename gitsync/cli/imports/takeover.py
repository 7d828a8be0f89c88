"""Shared by the imports of what another tool names: the subscription, the manifests, their proof, and the outcomes."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from gitsync.cli.imports.target import (
    ExistingManifests,
    list_imported,
    make_style,
    prove_manifests,
    write_manifests,
)
from gitsync.errors import ConfigError
from gitsync.model.arm_id import ArmId
from gitsync.report.masked import mask_problem
from gitsync.settings.config.config import Config
from gitsync.workflows.imports.conversion.found_resources import SearchResult
from gitsync.workflows.imports.conversion.imported_manifests import make_manifests
from gitsync.workflows.imports.import_report import ImportReport
from gitsync.workflows.imports.takeovers import (
    ImportedResources,
    ResourceClaim,
    decide_outcomes,
    list_claims,
    list_origins,
)

_OF_A_SEARCH = ("ids", "resource_group", "name", "tag")
"""Options for where to look: the other tool names its resources."""


class ClaimedSearch(NamedTuple):
    """What was searched for, and what of it was found."""

    claims: Sequence[ResourceClaim]
    findings: SearchResult
    requests: int


def refuse_options(options: argparse.Namespace, source: str, others: Iterable[str]) -> None:
    """Raise ConfigError with an option that has no effect: one of a search, or one of `others`."""
    given = next((name for name in (*_OF_A_SEARCH, *others) if getattr(options, name)), None)
    if given:
        name = "ID" if given == "ids" else f"--{given.replace('_', '-')}"
        hint = f"Remove {name}."
        if given in _OF_A_SEARCH:
            hint += f" Use --type and --exclude to select from what {source} names."
        raise ConfigError(f"{name} has no effect with {source}, which names the resources.", hint=hint)


def choose_subscription(ids: Sequence[ArmId], wanted: str | None, name: str, option: str) -> str:
    """Choose the subscription to import: the one that is set, or the only one of the ids. ConfigError without one."""
    if not ids:
        raise ConfigError(f"{name} has no resource of Azure Resource Manager.", hint=f"Check {option}.")
    found = {known.casefold(): known for arm_id in ids if (known := arm_id.subscription)}
    if wanted:
        # A resource of the tenant is in every subscription, so it may still be imported.
        if found and wanted.casefold() not in found and all(arm_id.subscription for arm_id in ids):
            raise ConfigError(
                f"{name} has no resource in subscription {wanted}.",
                hint=f"Set --subscription to {_join(found.values())}.",
            )
        return wanted
    if len(found) > 1:
        raise ConfigError(
            f"{name} has resources of several subscriptions: {_join(found.values())}.",
            hint="Run an import for each, with its --subscription.",
        )
    if not found:
        raise ConfigError("No subscription is set.", hint="Set --subscription or AZURE_SUBSCRIPTION_ID.")
    return found.popitem()[1]


def _join(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))


def take_over(
    search: ClaimedSearch, existing: ExistingManifests, options: argparse.Namespace, config: Config
) -> ImportReport:
    """Write manifests of what was found, prove them, and decide what became of each claim."""
    claims, findings, requests = search
    redactions = options.redactions
    own = list_claims(claims, findings.resources)
    new = [resource for resource in findings.resources if resource.arm_id.key not in existing.ids]
    made = make_manifests(new, make_style(existing, options, config))
    files = write_manifests(
        [replace(each, origins=list_origins(own[each.resource.arm_id.key])) for each in made], options
    )
    imported = list_imported(files)
    known = {existing.ids[key]: found for found in findings.resources if (key := found.arm_id.key) in existing.ids}
    # The other tool forgets also what an earlier import has taken, so that is proven again.
    proofs = prove_manifests({**known, **imported}, config, redactions)
    resources = ImportedResources(
        manifests={**existing.ids, **{found.arm_id.key: key for key, found in imported.items()}},
        proven={proof.key for proof in proofs if proof.holds},
        unwritten={proof.key for proof in proofs if not proof.is_written},
        claims=own,
        left_out={ArmId(omission.subject).key: omission.reason for omission in findings.left_out},
    )
    return ImportReport(
        folder=options.out,
        files=files,
        proofs=tuple(proof for proof in proofs if proof.key in imported),
        skipped=tuple(found.arm_id for found in known.values()),
        left_out=(),  # the reasons are in the outcomes
        unread=findings.unread,
        requests=requests,
        problems=tuple(mask_problem(problem, redactions.mask) for problem in findings.problems),
        outcomes=decide_outcomes(claims, resources),
    )
