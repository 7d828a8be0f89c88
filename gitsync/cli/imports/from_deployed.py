"""`gitsync import --from-stack` and `--from-deployment`: manifests of what templates have made."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path

from gitsync.cli.imports.takeover import ClaimedSearch, choose_subscription, refuse_options, take_over
from gitsync.cli.imports.target import find_repository, print_report, read_existing
from gitsync.cli.searching import search_for_import
from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.catalog.children import KindTree
from gitsync.errors import ExitCode
from gitsync.model.arm_id import ArmId
from gitsync.report.masked import mask_problem
from gitsync.report.wording import format_plural
from gitsync.settings.config.config import Config
from gitsync.workflows.imports.conversion.found_resources import SearchResult
from gitsync.workflows.imports.conversion.scope import make_filters
from gitsync.workflows.imports.deployed.deployed_resources import (
    DEPLOYMENT_TYPE,
    OPTIONS,
    STACK_TYPE,
    DeployedResources,
    admit_claims,
    read_source_id,
)
from gitsync.workflows.imports.deployed.deployment import read_deployment
from gitsync.workflows.imports.deployed.stack import format_detaching, read_stack
from gitsync.workflows.imports.import_report import ImportReport
from gitsync.workflows.imports.resource_discovery import GONE, Discovery
from gitsync.workflows.imports.resource_reader import ResourceReader
from gitsync.workflows.imports.takeovers import ResourceClaim, Takeover, count_outcomes, list_wanted

_Read = Callable[[ResourceReader, ArmId], Awaitable[DeployedResources]]


def import_stack(options: argparse.Namespace, config: Config) -> ExitCode:
    """Import what a deployment stack manages, print the report and return the exit code.

    Raises ConfigError for an id that is not one of a stack, or with an option that has no effect, and SourceError if
    the stack cannot be read.
    """
    refuse_options(options, OPTIONS[STACK_TYPE], ("from_deployment", "removed"))
    arm_id = read_source_id(options.from_stack, config.endpoint, STACK_TYPE)
    report = _import(arm_id, read_stack, options, config)
    return _print(replace(report, steps=(*report.steps, *_detach(arm_id, report))), options, config)


def import_deployment(options: argparse.Namespace, config: Config) -> ExitCode:
    """Import what a deployment and its nested ones have made, print the report and return the exit code.

    Raises the errors of `import_stack`.
    """
    refuse_options(options, OPTIONS[DEPLOYMENT_TYPE], ("removed",))
    arm_id = read_source_id(options.from_deployment, config.endpoint, DEPLOYMENT_TYPE)
    return _print(_import(arm_id, read_deployment, options, config), options, config)


def _import(arm_id: ArmId, read: _Read, options: argparse.Namespace, config: Config) -> ImportReport:
    option = OPTIONS[arm_id.arm_type]
    filters = make_filters(options.type, (), (), options.exclude, open_catalog())
    tree = KindTree(open_catalog(), options.api_version)

    async def find(discovery: Discovery) -> tuple[DeployedResources, str, tuple[ResourceClaim, ...], SearchResult]:
        deployed = await read(discovery.reader, arm_id)
        # A stack of a management group is in no subscription, so its resources decide.
        own_ids = [claim.arm_id for claim in deployed.claims if claim.arm_id]
        subscription = choose_subscription(own_ids, config.subscription, f"The {deployed.title}", option)
        claims = admit_claims(deployed.claims, tree, filters, subscription)
        findings = await discovery.search_ids(list_wanted(claims), may_be_gone=True)
        return deployed, subscription, claims, findings

    found, requests = asyncio.run(search_for_import(options, config, filters, find))
    deployed, subscription, claims, findings = found
    config = replace(config, source=str(find_repository(Path(options.out))), subscription=subscription)
    existing = read_existing(config, options.redactions)
    report = take_over(ClaimedSearch(claims, findings, requests), existing, options, config)
    own = tuple(mask_problem(problem, options.redactions.mask) for problem in deployed.problems)
    return replace(
        report,
        source=deployed.title,
        left_out=deployed.left_out,
        problems=(*own, *report.problems),
        steps=deployed.notes,
    )


def _detach(arm_id: ArmId, report: ImportReport) -> Iterator[str]:
    there = [row for row in report.outcomes if row.reason != GONE]
    if kept := count_outcomes(there)[Takeover.KEPT]:
        names = format_plural(kept, "resource")
        yield f"Decide about {names} that the table shows as kept: a detached stack manages nothing."
    # The last step: until then the stack can still protect or delete what was not taken.
    yield f"Detach the stack (its resources stay in Azure): {format_detaching(arm_id)}"


def _print(report: ImportReport, options: argparse.Namespace, config: Config) -> ExitCode:
    print_report(report, config, options.redactions)
    return report.exit_code
