"""`gitsync import --from-terraform`: manifests of the resources that a Terraform state names."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from gitsync.cli.import_target import (
    find_repository,
    list_imported,
    make_style,
    print_report,
    prove_manifests,
    read_existing,
    write_manifests,
)
from gitsync.cli.searching import search_for_import
from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.catalog.children import KindTree
from gitsync.errors import ConfigError, ExitCode
from gitsync.model.arm_id import ArmId
from gitsync.report.masked import mask_problem
from gitsync.settings.config.config import Config
from gitsync.settings.files.target_folder import TargetFolder
from gitsync.workflows.imports.conversion.found_resources import Omission
from gitsync.workflows.imports.conversion.imported_manifests import make_manifests
from gitsync.workflows.imports.conversion.scope import make_filters
from gitsync.workflows.imports.import_report import ImportReport
from gitsync.workflows.imports.terraform.forgetting import choose_forgetting, format_files
from gitsync.workflows.imports.terraform.resource_types import TypeStanding, identify
from gitsync.workflows.imports.terraform.state import MAX_BYTES, SHORTEN, TerraformState, read_state
from gitsync.workflows.imports.terraform.takeovers import (
    StateImport,
    TakeoverRow,
    claim_resources,
    decide_outcomes,
    list_origins,
)

_OF_A_SEARCH = ("ids", "resource_group", "name", "tag")
"""Options for where to look: a state names its resources."""

DATA_SOURCE = "data source, which Terraform only reads"


def import_state(options: argparse.Namespace, config: Config) -> ExitCode:
    """Import the resources of the state, print the report and return the exit code.

    Raises ConfigError if the state cannot be read, or with an option that has no effect.
    """
    _refuse_options(options)
    state = read_state(options.from_terraform, _read_file(options.from_terraform))
    subscription = _choose_subscription(state, config.subscription, options.from_terraform)
    redactions = options.redactions
    config = replace(config, source=str(find_repository(Path(options.out))), subscription=subscription)
    filters = make_filters(options.type, (), (), options.exclude, open_catalog())
    claims = claim_resources(state, KindTree(open_catalog(), options.api_version), filters, subscription)
    existing = read_existing(config, redactions)
    ids = list({claim.arm_id.key: claim.arm_id for claim in claims if claim.is_wanted}.values())
    search = search_for_import(options, config, filters, lambda discovery: discovery.search_ids(ids))
    findings, requests = asyncio.run(search)
    origins = list_origins(claims, findings.resources)
    new = [resource for resource in findings.resources if resource.arm_id.key not in existing.ids]
    made = make_manifests(new, make_style(existing, options, config))
    files = write_manifests([replace(each, origins=origins[each.resource.arm_id.key]) for each in made], options)
    imported = list_imported(files)
    known = {existing.ids[key]: found for found in findings.resources if (key := found.arm_id.key) in existing.ids}
    # Terraform forgets also what an earlier import has taken, so that is proven again.
    proofs = prove_manifests({**known, **imported}, config, redactions)
    state_import = StateImport(
        manifests={**existing.ids, **{found.arm_id.key: key for key, found in imported.items()}},
        proven={proof.key for proof in proofs if proof.holds},
        origins=origins,
        left_out={ArmId(omission.subject).key: omission.reason for omission in findings.left_out},
    )
    outcomes = decide_outcomes(claims, state_import)
    report = ImportReport(
        folder=options.out,
        files=files,
        proofs=tuple(proof for proof in proofs if proof.key in imported),
        skipped=tuple(found.arm_id for found in known.values()),
        left_out=tuple(Omission(DATA_SOURCE, type_name) for type_name in state.data_sources),
        unread=findings.unread,
        requests=requests,
        problems=tuple(mask_problem(problem, redactions.mask) for problem in findings.problems),
        outcomes=outcomes,
        forgetting=_write_forgetting(state, outcomes, options.removed),
    )
    print_report(report, config, redactions)
    return report.exit_code


def _refuse_options(options: argparse.Namespace) -> None:
    given = next((name for name in _OF_A_SEARCH if getattr(options, name)), None)
    if given:
        name = "ID" if given == "ids" else f"--{given.replace('_', '-')}"
        raise ConfigError(
            f"{name} has no effect with --from-terraform: the state names the resources.",
            hint=f"Remove {name}. Use --type and --exclude to select from the state.",
        )
    if not options.removed:
        return
    path = Path(options.removed)
    if path.suffix != ".tf":
        raise ConfigError("--removed must name a file that Terraform reads.", hint="Let its name end with .tf.")
    TargetFolder(path.parent).check(path.name)
    for each in (path, path.with_suffix(".sh")):
        if each.exists():
            raise ConfigError(f"{each} already exists.", hint="Remove it, or give --removed another name.")


def _read_file(name: str) -> bytes:
    try:
        with Path(name).open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"{name} cannot be read: {error.strerror}.", hint="Check --from-terraform.") from error
    if len(content) > MAX_BYTES:
        limit = MAX_BYTES // 1024 // 1024
        raise ConfigError(f"{name} has more than {limit} MB.", hint=SHORTEN)
    return content


def _choose_subscription(state: TerraformState, wanted: str | None, name: str) -> str:
    """Choose the subscription to import: the one that is set, or the only one of the state."""
    identities = (identify(resource.address.type, resource.id) for resource in state.resources)
    own = [identity.arm_id for identity in identities if identity.standing is TypeStanding.OWN]
    if not own:
        raise ConfigError(f"{name} has no resource of Azure Resource Manager.", hint="Check --from-terraform.")
    found = {known.casefold(): known for arm_id in own if (known := arm_id.subscription)}
    if wanted:
        if found and wanted.casefold() not in found and all(arm_id.subscription for arm_id in own):
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


def _write_forgetting(state: TerraformState, outcomes: tuple[TakeoverRow, ...], path: str | None) -> tuple[str, ...]:
    """Write how Terraform forgets what was taken, and return the paths of the files."""
    if not path:
        return ()
    file = Path(path)
    files = format_files(choose_forgetting(state, outcomes), file.name, state.program)
    TargetFolder(file.parent).create_all(files)
    return tuple(str(file.parent / name) for name in files)
