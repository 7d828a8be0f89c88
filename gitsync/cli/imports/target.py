"""The repository that `gitsync import` writes into: what it has already, the new files, and the report about them."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gitsync.model.arm_id import IdKey
from gitsync.model.reconcile_policy import Policy
from gitsync.settings.config.config import Config

if TYPE_CHECKING:
    from gitsync.desired.request.placeholders import Shown
    from gitsync.model.gvk import Key
    from gitsync.settings.redaction import Redactions
    from gitsync.workflows.imports.conversion.found_resources import FoundResource, ImportedManifest
    from gitsync.workflows.imports.conversion.import_proof import ImportProof
    from gitsync.workflows.imports.conversion.imported_manifests import ManifestStyle
    from gitsync.workflows.imports.import_report import ImportReport

DEFAULT_NAMESPACE = "default"


class ExistingManifests(NamedTuple):
    """What the repository has: the keys of manifests by the key of the ARM id, the namespace of those without, and the
    paths of the files that are read.
    """

    ids: Mapping[IdKey, Key]
    namespace: str
    paths: frozenset[str] = frozenset()


def find_repository(folder: Path) -> Path:
    """The working tree of git that a folder is in, or will be in; else the folder itself."""
    # The folder may not exist yet, so git cannot be started there.
    candidates = (folder.absolute(), *folder.absolute().parents)
    return next((candidate for candidate in candidates if (candidate / ".git").exists()), folder)


def read_existing(config: Config, redactions: Redactions) -> ExistingManifests:
    """What the repository has. SourceError if a file does not parse: what it stands for would be imported again."""
    from gitsync.cli.offline import read_all

    if not Path(config.source).is_dir():
        return ExistingManifests({}, config.namespace or DEFAULT_NAMESPACE)
    offline = read_all(config, redactions)
    ids = {resource.arm_id.key: resource.key for resource in offline.everything if resource.arm_id}
    return ExistingManifests(ids, offline.namespace, offline.paths)


def make_style(existing: ExistingManifests, options: argparse.Namespace, config: Config) -> ManifestStyle:
    """How new manifests are made beside those that exist."""
    from gitsync.workflows.imports.conversion.imported_manifests import ManifestStyle

    return ManifestStyle(
        existing=existing.ids,
        policy=Policy(options.policy or Policy.DETACH_ON_DELETE),
        namespace=existing.namespace,
        is_explicit=config.namespace is not None,
        is_full=options.full,
    )


def write_manifests(
    manifests: Sequence[ImportedManifest], options: argparse.Namespace
) -> dict[str, list[ImportedManifest]]:
    """Write manifests into new files, all or none, and return those of each file. ConfigError if one cannot be written.
    Values that look like secrets are marked, and no message shows them.
    """
    from gitsync.settings.files.target_folder import TargetFolder
    from gitsync.workflows.imports.conversion.imported_manifests import format_manifests
    from gitsync.workflows.imports.conversion.layout import Layout, place_manifests
    from gitsync.workflows.imports.plain_secrets import mark_plain_secrets

    marked = [mark_plain_secrets(manifest) for manifest in manifests]
    for secret in (secret for manifest in marked for secret in manifest.plain_secrets):
        # Before any message about the file can quote it.
        options.redactions.add(secret.value)
    folder = Path(options.out)
    taken = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()]
    files = place_manifests(marked, Layout(options.layout), taken)
    TargetFolder(folder).create_all({path: format_manifests(group) for path, group in files.items()})
    return files


def show_repository(config: Config, redactions: Redactions) -> list[Shown]:
    """The requests of all manifests in the repository."""
    from gitsync.cli.offline import read_offline
    from gitsync.desired.request.placeholders import show

    environments = read_offline(config, redactions).environments
    return [
        rendered
        for each in environments
        for rendered in show(each.prepared, each.manifests.objects.config_maps, keeps_secrets=True)
    ]


def list_imported(files: Mapping[str, Sequence[ImportedManifest]]) -> dict[Key, FoundResource]:
    """What each written manifest was made of."""
    return {manifest.key: manifest.resource for manifests in files.values() for manifest in manifests}


def prove_manifests(
    imported: Mapping[Key, FoundResource], config: Config, redactions: Redactions
) -> tuple[ImportProof, ...]:
    """Validate manifests of the repository, and compare them with what was read."""
    from gitsync.workflows.imports.conversion.import_proof import prove

    return tuple(prove(imported, show_repository(config, redactions))) if imported else ()


def print_report(report: ImportReport, config: Config, redactions: Redactions) -> None:
    """Print what an import did, as text or JSON."""
    from gitsync.cli.output import may_name_people
    from gitsync.desired.formats.people import hide_people, hide_people_within
    from gitsync.model.attribution import Who
    from gitsync.settings.logging import escape_controls, neutralize
    from gitsync.workflows.imports.import_report import build_document, format_lines

    names = may_name_people(Who(config.who), os.environ)
    if config.output == "json":
        document = build_document(report)
        text = json.dumps(document if names else hide_people_within(document), indent=2)
    else:
        text = "\n".join(map(escape_controls, format_lines(report)))
        text = text if names else hide_people(text)
    print(neutralize(redactions.mask(text)))
