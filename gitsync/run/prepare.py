"""From files to resources made ready for ARM, by the settings: the same for a run, a rehearsal and offline commands."""

from __future__ import annotations

from collections.abc import Mapping, Sized
from dataclasses import replace
from datetime import date

from gitsync.catalog.catalog import Catalog
from gitsync.config.config import Config
from gitsync.config.source_settings import SourceSettings
from gitsync.manifests.reader import read_manifests
from gitsync.manifests.repeats import remove_repeats
from gitsync.manifests.selection import select_namespaces
from gitsync.model.coverage import Coverage
from gitsync.model.manifests import Manifests
from gitsync.model.policy import Policy
from gitsync.model.resource import Prepared
from gitsync.model.unit import Unit
from gitsync.request.build import prepare
from gitsync.request.credential_choice import CredentialOf
from gitsync.request.exports import has_expressions


def read_selected_manifests(
    config: Config, settings: SourceSettings, files: Mapping[str, bytes], units: Mapping[str, Unit]
) -> Manifests:
    """Read the manifests of the namespaces that the settings select. `units` are those of the files, by path."""
    manifests = read_manifests(files, namespace=settings.namespace, units=units)
    return select_namespaces(manifests, config.target_namespaces)


def coverage_of(files: Sized, ignored: tuple[str, ...], manifests: Manifests) -> Coverage:
    """What was read of a source, and what was not."""
    return Coverage(files=len(files), resources=len(manifests.resources), unread=manifests.unread, ignored=ignored)


def prepare_resources(
    config: Config,
    settings: SourceSettings,
    manifests: Manifests,
    catalog: Catalog,
    subscription: str | CredentialOf,
    today: date,
) -> tuple[Prepared, ...]:
    """Prepare every resource for ARM, with all its problems, those of its expressions included. A manifest that several
    units have is prepared once.
    """
    prepared = prepare(
        replace(manifests, resources=remove_repeats(manifests.resources)),
        catalog=catalog,
        subscription=subscription,
        default_policy=Policy(config.default_policy),
        unknown_fields="warn" if settings.unknown_fields == "warn" else "error",
        today=today,
    )
    return tuple(_check_expressions(one, catalog) for one in prepared)


def _check_expressions(prepared: Prepared, catalog: Catalog) -> Prepared:
    """Compile expressions separately: the engine is above the pure folders."""
    kind = catalog.kind(prepared.resource.gvk)
    if kind is None or not has_expressions(prepared.resource):
        return prepared
    from gitsync.cel.findings import check_expressions  # noqa: PLC0415 - an engine that most repositories do not need

    problems = check_expressions(prepared.resource, kind)
    return replace(prepared, problems=tuple(sorted((*prepared.problems, *problems), key=lambda problem: problem.order)))
