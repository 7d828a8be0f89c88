"""`gitsync import --from-terraform`: manifests of the resources that a Terraform state names."""

from __future__ import annotations

import argparse
import asyncio
from dataclasses import replace
from pathlib import Path

from gitsync.cli.imports.takeover import ClaimedSearch, choose_subscription, refuse_options, take_over
from gitsync.cli.imports.target import find_repository, print_report, read_existing
from gitsync.cli.searching import search_for_import
from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.catalog.children import KindTree
from gitsync.errors import ConfigError, ExitCode
from gitsync.model.arm_id import ArmId
from gitsync.settings.config.config import Config
from gitsync.settings.files.target_folder import TargetFolder
from gitsync.workflows.imports.conversion.scope import make_filters
from gitsync.workflows.imports.takeovers import TakeoverRow, list_wanted
from gitsync.workflows.imports.terraform.forgetting import choose_forgetting, format_files
from gitsync.workflows.imports.terraform.resource_types import TypeStanding, identify
from gitsync.workflows.imports.terraform.state import MAX_BYTES, SHORTEN, TerraformState, read_state
from gitsync.workflows.imports.terraform.state_claims import claim_resources


def import_state(options: argparse.Namespace, config: Config) -> ExitCode:
    """Import the resources of the state, print the report and return the exit code.

    Raises ConfigError if the state cannot be read, or with an option that has no effect.
    """
    name = options.from_terraform
    repository = find_repository(Path(options.out))
    _refuse_options(options)
    _refuse_inside(name, repository)
    state = read_state(name, _read_file(name))
    subscription = choose_subscription(_list_own_ids(state), config.subscription, name, "--from-terraform")
    config = replace(config, source=str(repository), subscription=subscription)
    filters = make_filters(options.type, (), (), options.exclude, open_catalog())
    claims = claim_resources(state, KindTree(open_catalog(), options.api_version), filters, subscription)
    existing = read_existing(config, options.redactions)
    ids = list_wanted(claims)
    search = search_for_import(options, config, filters, lambda discovery: discovery.search_ids(ids))
    report = take_over(ClaimedSearch(claims, *asyncio.run(search)), existing, options, config)
    forgetting = _write_forgetting(state, report.outcomes, options.removed)
    report = replace(report, source="Terraform state", forgetting=forgetting)
    print_report(report, config, options.redactions)
    return report.exit_code


def _refuse_options(options: argparse.Namespace) -> None:
    refuse_options(options, "--from-terraform", ("from_stack", "from_deployment"))
    if not options.removed:
        return
    path = Path(options.removed)
    if path.suffix != ".tf":
        raise ConfigError("--removed must name a file that Terraform reads.", hint="Let its name end with .tf.")
    TargetFolder(path.parent).check(path.name)
    # Both are checked before the import, since they are written only after it.
    for each in (path, path.with_suffix(".sh")):
        if each.exists():
            raise ConfigError(f"{each} already exists.", hint="Remove it, or give --removed another name.")


def _refuse_inside(name: str, repository: Path) -> None:
    """Raise ConfigError for a state in the repository that the manifests are written into: the next commit is near."""
    if Path(name).resolve().is_relative_to(repository.resolve()):
        raise ConfigError(
            f"{name} is in {repository}, the repository of --out. A state holds passwords and keys in plain text.",
            hint="Move it out of the repository. If it was committed, change the passwords in it.",
        )


def _read_file(name: str) -> bytes:
    try:
        with Path(name).open("rb") as file:
            # One more byte shows that there is more, without reading a file of any size.
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"{name} cannot be read: {error.strerror}.", hint="Check --from-terraform.") from error
    if len(content) > MAX_BYTES:
        limit = MAX_BYTES // 1024 // 1024
        raise ConfigError(f"{name} has more than {limit} MB.", hint=SHORTEN)
    return content


def _list_own_ids(state: TerraformState) -> list[ArmId]:
    identities = (identify(resource.address.type, resource.id) for resource in state.resources)
    return [identity.arm_id for identity in identities if identity.standing is TypeStanding.OWN]


def _write_forgetting(state: TerraformState, outcomes: tuple[TakeoverRow, ...], path: str | None) -> tuple[str, ...]:
    """Write how Terraform forgets what was taken, and return the paths of the files."""
    if not path:
        return ()
    file = Path(path)
    files = format_files(choose_forgetting(state, outcomes), file.name, state.program)
    TargetFolder(file.parent).create_all(files)
    return tuple(str(file.parent / name) for name in files)
