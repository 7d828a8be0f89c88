"""Write manifests for resources that exist in Azure. Nothing in Azure is changed.

Give the ARM ids of resources or resource groups, or --resource-group; without either, everything in the subscription is
imported. Child resources are included. No existing file in --out is changed, and a resource that a manifest of the
repository already declares is skipped. At the end, the new manifests are validated and compared with Azure: the exit
code is 0 if nothing differs, else 1.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from gitsync.cli.command import Example
from gitsync.cli.imports.target import (
    find_repository,
    list_imported,
    make_style,
    print_report,
    prove_manifests,
    read_existing,
    write_manifests,
)
from gitsync.cli.searching import search_for_import
from gitsync.errors import ConfigError, ExitCode
from gitsync.model.reconcile_policy import Policy
from gitsync.settings.config.config import Config, list_settings

if TYPE_CHECKING:
    from gitsync.settings.redaction import Redactions

SETTINGS = list_settings("import")
OUTPUTS = ("text", "json")
EXAMPLES = (
    Example("A resource group, as manifests", "gitsync import --resource-group shop --out azure"),
    Example("What a Terraform state names", "gitsync import --from-terraform terraform.tfstate --out azure"),
    Example("From a cluster that runs ASO", "gitsync import --from-cluster-export export.yaml --out azure"),
)

LAYOUTS = ("topic", "resource", "group")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ids", metavar="ID", nargs="*", help="An ARM id: of a resource, a group or a subscription.")
    parser.add_argument("--out", metavar="DIR", required=True, help="The folder for the manifests.")
    parser.add_argument(
        "--from-cluster-export",
        metavar="FILE",
        nargs="+",
        default=[],
        help="Import the objects of a cluster that runs ASO from these files instead of Azure.",
    )
    parser.add_argument(
        "--from-terraform",
        metavar="FILE",
        help="Import the resources of this Terraform state, or of what `terraform show -json` prints.",
    )
    parser.add_argument(
        "--removed", metavar="FILE", help="Write here how Terraform forgets what was taken: removed blocks (.tf)."
    )
    parser.add_argument("--from-stack", metavar="ID", help="Import what the deployment stack with this ARM id manages.")
    parser.add_argument("--from-deployment", metavar="ID", help="Import what the deployment with this ARM id has made.")
    parser.add_argument("--resource-group", metavar="NAME", action="append", default=[], help="Import a group.")
    parser.add_argument("--type", metavar="TYPE", action="append", default=[], help="Only this kind or ARM type.")
    parser.add_argument("--name", metavar="PATTERN", action="append", default=[], help="Only resources with this name.")
    parser.add_argument("--tag", metavar="NAME[=VALUE]", action="append", default=[], help="Only with this tag.")
    parser.add_argument(
        "--exclude", metavar="WHAT", action="append", default=[], help="Leave out an id, a type or a name pattern."
    )
    parser.add_argument(
        "--api-version", metavar="VERSION", action="append", default=[], help="Use this version for kinds that have it."
    )
    parser.add_argument(
        "--full", action="store_true", help="Keep values that Azure sets by itself, and read every type."
    )
    parser.add_argument("--layout", choices=LAYOUTS, default=LAYOUTS[0], help="One file per what. [default topic]")
    parser.add_argument(
        "--policy",
        choices=[policy.value for policy in Policy],
        help="The reconcile policy of the manifests. [default detach-on-delete]",
    )


def run(options: argparse.Namespace, config: Config) -> ExitCode:
    """Import, print the report and return the exit code."""
    import asyncio

    from gitsync.desired.catalog.catalog import open_catalog
    from gitsync.report.masked import mask_problem
    from gitsync.settings.files.target_folder import TargetFolder
    from gitsync.workflows.imports.conversion.imported_manifests import make_manifests
    from gitsync.workflows.imports.conversion.scope import make_filters, read_scope
    from gitsync.workflows.imports.import_report import ImportReport

    folder = Path(options.out)
    # Before Azure is read: a search of minutes must not end with a folder that cannot be written.
    TargetFolder(folder).check()
    source = next((name for name in _SOURCES if getattr(options, name)), None)
    if source:
        return _SOURCES[source](options, config)
    if options.removed:
        raise ConfigError("--removed has no effect without --from-terraform.", hint="Remove --removed.")
    scope = read_scope(options.ids, options.resource_group, config.subscription, config.endpoint)
    filters = make_filters(options.type, options.name, options.tag, options.exclude, open_catalog())
    redactions: Redactions = options.redactions
    # All manifests of the repository count as existing, and not just those in the folder.
    config = replace(config, source=str(find_repository(folder)), subscription=scope.subscription)
    existing = read_existing(config, redactions)
    search = search_for_import(options, config, filters, lambda discovery: discovery.search(scope))
    findings, requests = asyncio.run(search)
    new = [resource for resource in findings.resources if resource.arm_id.key not in existing.ids]
    files = write_manifests(make_manifests(new, make_style(existing, options, config)), options)
    report = ImportReport(
        folder=options.out,
        files=files,
        proofs=prove_manifests(list_imported(files), config, redactions),
        skipped=tuple(resource.arm_id for resource in findings.resources if resource.arm_id.key in existing.ids),
        left_out=findings.left_out,
        unread=findings.unread,
        requests=requests,
        problems=tuple(mask_problem(problem, redactions.mask) for problem in findings.problems),
    )
    print_report(report, config, redactions)
    return report.exit_code


def _import_cluster(options: argparse.Namespace, config: Config) -> ExitCode:
    from gitsync.cli.imports.from_cluster import import_objects

    return import_objects(options, config)


def _import_state(options: argparse.Namespace, config: Config) -> ExitCode:
    from gitsync.cli.imports.from_terraform import import_state

    return import_state(options, config)


def _import_stack(options: argparse.Namespace, config: Config) -> ExitCode:
    from gitsync.cli.imports.from_deployed import import_stack

    return import_stack(options, config)


def _import_deployment(options: argparse.Namespace, config: Config) -> ExitCode:
    from gitsync.cli.imports.from_deployed import import_deployment

    return import_deployment(options, config)


_SOURCES: Mapping[str, Callable[[argparse.Namespace, Config], ExitCode]] = {
    "from_cluster_export": _import_cluster,
    "from_terraform": _import_state,
    "from_stack": _import_stack,
    "from_deployment": _import_deployment,
}
"""The options that name what to import, and refuse each other."""
