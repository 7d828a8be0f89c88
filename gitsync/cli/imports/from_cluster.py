"""`gitsync import --from-cluster-export`: manifests from the objects of a cluster that runs ASO. Azure is not read."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from gitsync.cli.imports.target import (
    ExistingManifests,
    find_repository,
    print_report,
    read_existing,
    show_repository,
    write_manifests,
)
from gitsync.desired.catalog.catalog import open_catalog
from gitsync.errors import ConfigError, ExitCode
from gitsync.report.masked import mask_problem
from gitsync.settings.config.config import Config
from gitsync.workflows.imports.conversion.cluster_export import (
    find_only_subscription,
    list_left_out,
    read_cluster_export,
    take_manifests,
)
from gitsync.workflows.imports.conversion.import_proof import prove_handover
from gitsync.workflows.imports.import_report import ImportReport

_OF_AZURE = (
    "ids",
    "from_terraform",
    "from_stack",
    "from_deployment",
    "removed",
    "resource_group",
    "type",
    "name",
    "tag",
    "exclude",
    "api_version",
    "full",
    "policy",
)
"""Options for what is read from Azure, and how it is written."""


def import_objects(options: argparse.Namespace, config: Config) -> ExitCode:
    """Import the objects in the files, print the report and return the exit code.

    Raises ConfigError if a file cannot be read, or with an option that has no effect.
    """
    _refuse_options(options)
    export = read_cluster_export(_read_files(options.from_cluster_export), open_catalog())
    # ASO's credential has the subscription, and an export does not show it; the recorded ids do.
    subscription = config.subscription or find_only_subscription(export)
    config = replace(config, source=str(find_repository(Path(options.out))), subscription=subscription)
    existing = read_existing(config, options.redactions)
    _refuse_inside(options.from_cluster_export, Path(config.source), existing)
    names, ids = set(existing.ids.values()), existing.ids
    manifests = take_manifests(export)
    # By both: a manifest of the repository may have the name of an object, or only its ARM id.
    new = [manifest for manifest in manifests if manifest.key not in names and manifest.resource.arm_id.key not in ids]
    files = write_manifests(new, options)
    written = {manifest.key: manifest.resource for manifest in new}
    report = ImportReport(
        folder=options.out,
        files=files,
        proofs=tuple(prove_handover(written, show_repository(config, options.redactions) if written else ())),
        skipped=tuple(manifest.resource.arm_id for manifest in manifests if manifest.key not in written),
        left_out=list_left_out(export),
        unread=(),
        requests=None,
        problems=tuple(mask_problem(problem, options.redactions.mask) for problem in export.problems),
    )
    print_report(report, config, options.redactions)
    return report.exit_code


def _refuse_options(options: argparse.Namespace) -> None:
    given = next((name for name in _OF_AZURE if getattr(options, name)), None)
    if given:
        name = "ID" if given == "ids" else f"--{given.replace('_', '-')}"
        raise ConfigError(
            f"{name} has no effect with --from-cluster-export, which does not read Azure.",
            hint=f"Remove {name}. Names and policies are those of the cluster.",
        )


def _refuse_inside(names: Iterable[str], repository: Path, existing: ExistingManifests) -> None:
    """Raise ConfigError for a file that gitsync reads as manifests: then every object is declared twice."""
    top = repository.resolve()
    for name in names:
        path = Path(name).resolve()
        if path.is_relative_to(top) and path.relative_to(top).as_posix() in existing.paths:
            raise ConfigError(
                f"{name} is in {repository}, where gitsync reads its objects as manifests.",
                hint="Move the file elsewhere, then import it.",
            )


def _read_files(names: Iterable[str]) -> dict[str, bytes]:
    try:
        return {name: Path(name).read_bytes() for name in names}
    except OSError as error:
        raise ConfigError(
            f"{error.filename} cannot be read: {error.strerror}.", hint="Check --from-cluster-export."
        ) from error
