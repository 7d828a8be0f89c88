"""List resources that exist in Azure but not in git: neither in a manifest nor in a record.

It searches the resource groups in git, and for other groups, role assignments, locks and policy assignments their
subscriptions; or the groups of --resource-group. Resources that Azure created itself, or with another resource, are
left out. It only reads. The exit code is 1 if something could not be read, and 4 with --fail-above if it finds more
than that.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from gitsync.cli.command import Example
from gitsync.errors import ConfigError, ExitCode, SourceError
from gitsync.model.arm_id import ArmId
from gitsync.settings.config.config import Config, list_settings

if TYPE_CHECKING:
    from gitsync.agent.checks.check_requests import CheckRequests
    from gitsync.cli.searching import Search
    from gitsync.workflows.unmanaged.inventory import Inventory
    from gitsync.workflows.unmanaged.unmanaged_report import UnmanagedReport
    from gitsync.workflows.unmanaged.unmanaged_search import Estate

SETTINGS = list_settings("unmanaged")
OUTPUTS = ("text", "json", "markdown")
_EVERY = "*"
EXAMPLES = (
    Example("What is not in git, in the resource groups of the working folder?", "gitsync unmanaged"),
    Example("What is not in git, in all groups of the subscription?", "gitsync unmanaged --resource-group '*'"),
    Example(
        "A job that fails if a group has anything that is not in git",
        "gitsync unmanaged --resource-group shop --fail-above 0",
    ),
)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--resource-group",
        metavar="NAME",
        action="append",
        default=[],
        help="Search this group, or all that match a pattern: '*' for every group. May be repeated.",
    )
    parser.add_argument(
        "--fail-above",
        metavar="NUMBER",
        type=read_count,
        help="Exit with 4 if more resources than this are not in git.",
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--full", action="store_true", help="Read every collection, not only a sample of many.")
    how.add_argument(
        "--fast",
        action="store_true",
        help="Query Resource Graph, and confirm what it finds. It has no child resources, and may be hours late.",
    )


def read_count(text: str) -> int:
    """Read a whole number, 0 or more. argparse makes an error of a ValueError."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")
    return int(text)


def run(options: argparse.Namespace, config: Config) -> ExitCode:
    """Search, print the report and return the exit code."""
    from gitsync.agent.run.connections import find_global_subscription
    from gitsync.cli.offline import read_all
    from gitsync.cli.recorded import load_state
    from gitsync.cli.searching import watch_search
    from gitsync.workflows.unmanaged.inventory import make_inventory
    from gitsync.workflows.unmanaged.unmanaged_report import list_figures

    with watch_search(options, config, "unmanaged") as watch:
        config = replace(config, subscription=find_global_subscription(config) or None)
        offline = read_all(config, options.redactions)
        inventory = make_inventory(offline.everything, load_state(config).records.values())
        scopes = _choose_scopes(options.resource_group, inventory, config)
        report = asyncio.run(_search(options, config, inventory, scopes))
        _print(report, options, config)
    watch.searched(report.exit_code, list_figures(report))
    return report.exit_code


def _choose_scopes(names: Sequence[str], inventory: Inventory, config: Config) -> Mapping[str, tuple[str, ...]]:
    """Choose the groups to look into, by subscription. A pattern looks into all subscriptions of the run: that of the
    settings, and those that git has groups in. ConfigError if there are none.
    """
    from gitsync.cli.offline import check_subscription
    from gitsync.workflows.imports.conversion.scope import is_pattern

    if names:
        own, others = config.subscription or "", inventory.groups if any(map(is_pattern, names)) else {}
        subscriptions = [
            subscription
            for subscription in (own, *others)
            # The settings spell a subscription in any case, and git's are in lower case: each is searched once.
            if subscription and (subscription is own or subscription != own.casefold())
        ]
        if not subscriptions:
            raise ConfigError("No subscription is set.", hint="Set --subscription or AZURE_SUBSCRIPTION_ID.")
        return dict.fromkeys(subscriptions, tuple(dict.fromkeys(names)))
    check_subscription(config, map(ArmId, inventory.bodies))
    if not inventory.groups:
        raise ConfigError(f"{config.source} has no resource in a resource group.", hint="Set --resource-group.")
    return inventory.groups


async def _search(
    options: argparse.Namespace, config: Config, inventory: Inventory, scopes: Mapping[str, tuple[str, ...]]
) -> UnmanagedReport:
    from gitsync.agent.checks.check_requests import CheckRequests
    from gitsync.cli.searching import open_search
    from gitsync.model.attribution import Who
    from gitsync.workflows.unmanaged.creators import list_creators
    from gitsync.workflows.unmanaged.unmanaged_report import BY_GRAPH, BY_LISTS, UnmanagedReport, join_estates

    async with open_search(options, config) as search:
        requests = CheckRequests(search.arm, search.begin_session)
        found = await _search_scopes(options, search, requests, inventory, scopes)
        estate = join_estates([*found.values()])
        creations, doubts = await list_creators(
            estate.strays, requests, search.now, reads_authors=config.who != Who.OFF
        )
        searched = {scope: estate.groups for scope, estate in found.items()} if options.resource_group else scopes
        return UnmanagedReport(
            source=BY_GRAPH if options.fast else BY_LISTS,
            scopes={subscription: groups for subscription, groups in searched.items() if groups},
            estate=estate,
            creations=creations,
            doubts=doubts,
            without_id=inventory.without_id,
            requests=search.requests,
            limit=options.fail_above,
        )


async def _search_scopes(
    options: argparse.Namespace,
    search: Search,
    requests: CheckRequests,
    inventory: Inventory,
    scopes: Mapping[str, tuple[str, ...]],
) -> dict[str, Estate]:
    """Search each subscription. SourceError for a name or a pattern that no group of any has."""
    from gitsync.desired.catalog.catalog import open_catalog
    from gitsync.desired.catalog.children import KindTree
    from gitsync.extensions.registry import Registry
    from gitsync.workflows.imports.conversion.scope import ImportScope
    from gitsync.workflows.imports.resource_reader import ResourceReader
    from gitsync.workflows.unmanaged.unmanaged_search import EstateSearch

    registry, tree, missing = Registry.load(), KindTree(open_catalog()), {*options.resource_group}
    estates = {}
    for subscription, groups in scopes.items():
        is_complete = _EVERY in groups
        scope = ImportScope(subscription=subscription, groups=() if is_complete else groups, may_lack_groups=True)
        refused: list[str] = []
        reader = ResourceReader(
            search.arm.reader(search.begin_session()), search.count, refused.append, trusts_lists=True
        )
        beyond = is_complete or not options.resource_group
        looks = EstateSearch(reader, registry, tree, inventory, is_full=options.full, looks_beyond=beyond)
        found = await (looks.search_graph(scope, requests) if options.fast else looks.search_lists(scope))
        estates[subscription] = found.add_refusals(refused)
        # A group is missing only if no subscription has it.
        missing &= {*looks.missing}
    if missing:
        raise SourceError(
            f"Resource group {', '.join(sorted(missing))} does not exist in subscription {', '.join(scopes)}.",
            hint="Check --resource-group and --subscription.",
        )
    return estates


def _print(report: UnmanagedReport, options: argparse.Namespace, config: Config) -> None:
    """Print the report in the form of --output, with names of people where the report of a run has them."""
    import json
    import os

    from gitsync.cli.output import may_name_people
    from gitsync.desired.formats.people import hide_people, hide_people_within
    from gitsync.model.attribution import Who
    from gitsync.settings.logging import escape_controls, neutralize
    from gitsync.workflows.unmanaged.unmanaged_report import build_document, format_lines, format_markdown

    who = Who(config.who)
    names = may_name_people(who, os.environ)
    if config.output == "json":
        document = build_document(report, names=names)
        text = json.dumps(document if names else hide_people_within(document), indent=2)
    elif config.output == "markdown":
        # The summary of a job is kept, and many may read it.
        names = who is Who.NAMES
        text = format_markdown(report, names=names).rstrip("\n")
        text = text if names else hide_people(text)
    else:
        text = "\n".join(map(escape_controls, format_lines(report, names=names)))
        text = text if names else hide_people(text)
    print(neutralize(options.redactions.mask(text)))
