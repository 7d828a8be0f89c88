"""From files to resources made ready for ARM, by the settings: the same for a run, a rehearsal and offline commands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from functools import partial
from typing import Final

from gitsync.catalog.catalog import Catalog
from gitsync.config.config import Config
from gitsync.config.source_settings import SourceSettings
from gitsync.git.source.checkout import Checkout
from gitsync.git.source.revisions import RevisionManifests
from gitsync.manifests.credential_secret import iterate_secrets
from gitsync.manifests.reader import read_manifests
from gitsync.manifests.selection import select_namespaces
from gitsync.manifests.units import remove_repeats
from gitsync.manifests.variable_values import References, make_variables
from gitsync.model.manifests import Coverage, Manifests
from gitsync.model.policy import Policy
from gitsync.model.resource import Prepared
from gitsync.model.unit import Unit
from gitsync.redaction import Redactions
from gitsync.request.build import prepare
from gitsync.request.credential_choice import CredentialOf
from gitsync.request.dependencies import order_units
from gitsync.request.exports import has_expressions
from gitsync.run.variables import find_declared, has_references, list_references

_MISSING: Final = frozenset({"OwnerNotFound", "ReferenceNotFound"})


def read_source(
    config: Config,
    namespace: str,
    files: Mapping[str, bytes],
    units: Mapping[str, Unit],
    references: References | None = None,
) -> Manifests:
    """Read all manifests. `namespace` is that of manifests that name none; `units` are those of the files, by path;
    `references` has the values of the Secrets and ConfigMaps that variables come from, as far as they were looked up.
    """
    variables = make_variables(units.values(), config.variables, references)
    return read_manifests(files, namespace=namespace, units=units, variables=variables)


def read_selected_manifests(
    config: Config,
    settings: SourceSettings,
    files: Mapping[str, bytes],
    units: Mapping[str, Unit],
    references: References | None = None,
) -> Manifests:
    """Read the manifests of the namespaces that the settings select."""
    manifests = read_source(config, settings.namespace, files, units, references)
    return select_namespaces(manifests, config.target_namespaces)


def read_declared_manifests(
    config: Config, settings: SourceSettings, files: Mapping[str, bytes], units: Mapping[str, Unit]
) -> Manifests:
    """The same for commands that ask no source of Secrets: variables have the values of manifests alone."""
    references: References = {}
    if has_references(units.values()):
        manifests = read_source(config, settings.namespace, files, units)
        references = find_declared(list_references(units.values(), manifests), manifests)
    return read_selected_manifests(config, settings, files, units, references)


def redact_manifests(manifests: Manifests, redactions: Redactions) -> None:
    """Mask the secrets of manifests from now on, except those that became part of names and ids."""
    declared = (value for values in manifests.secrets.values() for value in iterate_secrets(values))
    for secret in (*declared, *manifests.hidden):
        redactions.add(secret)
    redactions.spare(text.reveal() for text in manifests.shown)


def coverage_of(source: Checkout | RevisionManifests, manifests: Manifests) -> Coverage:
    """What was read of a source, and what was not."""
    notes = {problem.order: problem for problem in (*source.problems, *manifests.problems) if problem.is_note}
    return Coverage(
        files=len(source.files),
        resources=len(manifests.resources),
        unread=manifests.unread,
        ignored=source.ignored,
        notes=tuple(notes[order] for order in sorted(notes)),
    )


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

    If an owner or a reference is missing, the files that kustomizations leave out are read for it, to name them.
    """
    prepare_all = partial(
        prepare,
        catalog=catalog,
        subscription=subscription,
        default_policy=Policy(config.default_policy),
        unknown_fields="warn" if settings.unknown_fields == "warn" else "error",
        today=today,
    )
    manifests = replace(manifests, resources=remove_repeats(manifests.resources))
    prepared = prepare_all(manifests)
    if any(problem.code in _MISSING for one in prepared for problem in one.problems) and (
        files := manifests.read_left_out()
    ):
        others = read_source(config, settings.namespace, files, {}).resources
        left_out = {one.key._replace(namespace=""): one.source for one in reversed(others)}
        prepared = prepare_all(replace(manifests, left_out=left_out))
    return tuple(_check_expressions(one, catalog) for one in order_units(prepared))


def _check_expressions(prepared: Prepared, catalog: Catalog) -> Prepared:
    """Compile expressions separately: the engine is above the pure folders."""
    kind = catalog.kind(prepared.resource.gvk)
    if kind is None or not has_expressions(prepared.resource):
        return prepared
    from gitsync.cel.export_expressions import check_expressions  # noqa: PLC0415 - an engine that most repositories do not need

    problems = check_expressions(prepared.resource, kind)
    return replace(prepared, problems=tuple(sorted((*prepared.problems, *problems), key=lambda problem: problem.order)))
