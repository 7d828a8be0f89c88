"""Read the manifests of a source by the settings, and prepare them for ARM: the same for a run, a plan of two revisions
and offline commands.

Units that stand for the same resources, such as dev and prod, are left out of a run, and are read one by one for
offline commands. The files are read again without the others then, so that a ConfigMap of dev is not used for prod.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from typing import Final

from gitsync.agent.run.aso_release import check_release, find_release
from gitsync.agent.run.referenced_values import has_references, list_references, read_declared
from gitsync.desired.catalog.catalog import Catalog, open_catalog
from gitsync.desired.manifests.aso_objects import count_aso_objects
from gitsync.desired.manifests.credential_secret import iterate_secrets
from gitsync.desired.manifests.reader import read_manifests
from gitsync.desired.manifests.selection import select_namespaces
from gitsync.desired.manifests.unbuilt_units import list_unbuilt
from gitsync.desired.manifests.units import find_unit_name, is_built, is_built_unit, remove_repeats
from gitsync.desired.manifests.variable_values import References, make_variables
from gitsync.desired.request.build import prepare
from gitsync.desired.request.credential_choice import CredentialOf, choose_offline
from gitsync.desired.request.dependencies import order_units
from gitsync.desired.request.environments import collect_environments
from gitsync.desired.request.exports import has_expressions
from gitsync.desired.request.rules_of_source import check_rules
from gitsync.model.gvk import Key
from gitsync.model.manifests import Coverage, Manifests
from gitsync.model.problem import Problem
from gitsync.model.reconcile_policy import Policy
from gitsync.model.resource import Prepared
from gitsync.model.template import WAITING_FOR_UNIT
from gitsync.model.unit import Unit
from gitsync.repository.git.source.checkout import Checkout
from gitsync.repository.git.source.revisions import RevisionManifests
from gitsync.settings.config.config import Config
from gitsync.settings.config.config_file import SourceSettings
from gitsync.settings.redaction import Redactions

PLACEHOLDER_SUBSCRIPTION: Final = "00000000-0000-0000-0000-000000000000"
"""Stands for the subscription of a run where none is set: on the emulator, and where it does not matter."""

_MISSING: Final = frozenset({"DependsOnAnnotation", "OwnerNotFound", "ReferenceNotFound", WAITING_FOR_UNIT})


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
    """Read the selected manifests for commands that ask no source of Secrets: variables have values of manifests
    alone.
    """
    references: References = {}
    if has_references(units.values()):
        manifests = read_source(config, settings.namespace, files, units)
        references = read_declared(list_references(units.values(), manifests), manifests)
    return read_selected_manifests(config, settings, files, units, references)


def add_unbuilt(manifests: Manifests, problems: Iterable[Problem]) -> Manifests:
    """Add the units that cannot be built; `problems` are those of the source. Names may stand for what they declare."""
    unbuilt = list_unbuilt((*problems, *manifests.problems))
    return replace(manifests, unusable=replace(manifests.unusable, unbuilt=unbuilt))


def redact_manifests(manifests: Manifests, redactions: Redactions) -> None:
    """Mask the secrets of manifests from now on, except those that became part of names and ids."""
    declared = (value for values in manifests.objects.secrets.values() for value in iterate_secrets(values))
    for secret in (*declared, *manifests.hidden):
        redactions.add(secret)
    redactions.spare(text.reveal() for text in manifests.shown)


def coverage_of(source: Checkout | RevisionManifests, manifests: Manifests, *, looks_around: bool = False) -> Coverage:
    """Return what was read of a source, and what was not. `looks_around` also reads files that kustomizations leave
    out.
    """
    notes = {problem.order: problem for problem in (*source.contents.problems, *manifests.problems) if problem.is_note}
    return Coverage(
        files=len(source.contents.files),
        resources=len(manifests.resources),
        unread=manifests.unread,
        ignored=source.contents.ignored,
        skipped=source.contents.skipped,
        notes=tuple(notes[order] for order in sorted(notes)),
        unnamed=count_aso_objects(manifests.read_left_out()) if looks_around else {},
    )


def prepare_resources(
    config: Config,
    settings: SourceSettings,
    manifests: Manifests,
    catalog: Catalog,
    subscription: str | CredentialOf,
    today: date,
) -> tuple[Prepared, ...]:
    """Prepare every resource for ARM, with all its problems, those of its expressions included."""
    prepare_all = partial(
        prepare,
        catalog=catalog,
        subscription=subscription,
        default_policy=Policy(config.default_policy),
        unknown_fields="warn" if settings.unknown_fields == "warn" else "error",
        today=today,
    )
    # A manifest that several units have is prepared once.
    manifests = replace(_add_rules(manifests, settings), resources=remove_repeats(manifests.resources))
    prepared = prepare_all(manifests)
    # If an owner or a reference is missing, the files that kustomizations leave out are read for it, to name them.
    if any(problem.code in _MISSING for resource in prepared for problem in resource.problems) and (
        files := manifests.read_left_out()
    ):
        others = read_source(config, settings.namespace, files, {}).resources
        left_out = {resource.key._replace(namespace=""): resource.source for resource in reversed(others)}
        prepared = prepare_all(replace(manifests, unusable=replace(manifests.unusable, left_out=left_out)))
    checked = tuple(_check_expressions(resource, catalog) for resource in order_units(prepared))
    release = find_release(settings)
    if release is None:
        return checked
    written = {(resource.key, resource.source): resource.gvk for resource in manifests.resources}
    return tuple(
        check_release(entry, written[entry.resource.key, entry.resource.source], catalog, release) for entry in checked
    )


def check_rules_of_source(
    config: Config, settings: SourceSettings, manifests: Manifests, prepared: Iterable[Prepared], today: date
) -> tuple[Problem, ...]:
    """Check the rules of gitsync.yaml and of Namespaces with all prepared resources of a source."""
    is_known = not any(problem.is_error for problem in manifests.problems)  # what cannot be read may be what is ruled
    # A run of a part does not read everything that a rule may be about, so a rule without a match is not wrong there.
    is_complete = is_known and config.path == "." and not (config.only or config.target_namespaces)
    manifests = replace(_add_rules(manifests, settings), resources=tuple(entry.resource for entry in prepared))
    return tuple(check_rules(manifests, open_catalog(), today, is_complete=is_complete))


def _add_rules(manifests: Manifests, settings: SourceSettings) -> Manifests:
    """Add the rules of gitsync.yaml to those of Namespaces."""
    return replace(manifests, rules=replace(manifests.rules, ignore=settings.ignore, tags=settings.tags))


def _check_expressions(prepared: Prepared, catalog: Catalog) -> Prepared:
    """Check expressions here, since their engine is above `desired/request`."""
    kind = catalog.kind_of(prepared.resource)
    if kind is None or not has_expressions(prepared.resource):
        return prepared
    from gitsync.desired.exports.export_expressions import check_expressions  # noqa: PLC0415 - an engine that most repositories do not need

    problems = check_expressions(prepared.resource, kind)
    return replace(prepared, problems=tuple(sorted((*prepared.problems, *problems), key=lambda problem: problem.order)))


Read = Callable[[Collection[str]], Manifests]
"""Reads the manifests of a source without those of some units, by their names."""

Prepare = Callable[[Manifests], tuple[Prepared, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentSet:
    """Manifests without a conflict between units, and what they are prepared to."""

    manifests: Manifests
    prepared: tuple[Prepared, ...]


def drop_units(files: Mapping[str, bytes], units: Mapping[str, Unit], names: Collection[str]) -> dict[str, bytes]:
    """Return the files without those of some built units."""
    return {
        path: content
        for path, content in files.items()
        if path not in units or units[path].name not in names or not is_built_unit(units[path])
    }


def read_unambiguous(read: Read, catalog: Catalog) -> Manifests:
    """Read everything but the units that stand for the same resources as others, each of which is a problem."""
    manifests = read(())
    if len({find_unit_name(resource) for resource in manifests.resources if is_built(resource)}) < 2:
        return manifests
    subscription = choose_offline(manifests.objects.secrets, PLACEHOLDER_SUBSCRIPTION)
    prepared = prepare(
        replace(manifests, resources=remove_repeats(manifests.resources)), catalog=catalog, subscription=subscription
    )
    found = collect_environments(prepared, manifests.resources)
    if not found.refused:
        return manifests
    rest = read(found.refused)
    return replace(rest, problems=tuple(sorted((*rest.problems, *found.problems), key=lambda problem: problem.order)))


def prepare_separately(read: Read, prepare_all: Prepare) -> tuple[EnvironmentSet, ...]:
    """Everything, in sets of units that do not conflict: each root is valid by itself."""
    manifests = read(())
    prepared = prepare_all(manifests)
    found = collect_environments(prepared, manifests.resources)
    if not found.groups:
        return (EnvironmentSet(manifests=manifests, prepared=prepared),)
    rivals = frozenset[str]().union(*found.groups)
    parts = (read(rivals - group) for group in found.groups)
    return tuple(EnvironmentSet(manifests=part, prepared=prepare_all(part)) for part in parts)


def join_sets(sets: Iterable[EnvironmentSet]) -> EnvironmentSet:
    """Join the sets to one for a report on all of them: every resource, problem and document once. The first set has
    the values.
    """
    sets = tuple(sets)
    if len(sets) == 1:
        return sets[0]
    prepared = tuple(_iterate_once(sets))
    problems = {problem for environment in sets for problem in environment.manifests.problems}
    ruling = {name: found for environment in sets for name, found in environment.manifests.rules.namespaces.items()}
    unread = {document for environment in sets for document in environment.manifests.unread}
    manifests = replace(
        sets[0].manifests,
        rules=replace(sets[0].manifests.rules, namespaces=ruling),
        resources=tuple(entry.resource for entry in prepared),
        problems=tuple(sorted(problems, key=lambda problem: problem.order)),
        unread=tuple(sorted(unread, key=lambda document: document.source)),
    )
    return EnvironmentSet(manifests=manifests, prepared=prepared)


def _iterate_once(sets: Iterable[EnvironmentSet]) -> Iterator[Prepared]:
    """Iterate over every resource as it is in the first set that has it."""
    known: set[tuple[Key, str]] = set()
    for environment in sets:
        new = [each for each in environment.prepared if (each.key, find_unit_name(each.resource)) not in known]
        known |= {(each.key, find_unit_name(each.resource)) for each in new}
        yield from new
