"""Shared by the offline commands: read and prepare a source, and collect its problems."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from gitsync.agent.run.credential_secrets import check_credential_secrets
from gitsync.agent.run.git_settings import make_git_access
from gitsync.agent.run.known_ids import add_foreign_ids, read_known_from
from gitsync.agent.run.missing_values import warn_missing_values
from gitsync.agent.run.prepared_manifests import (
    EnvironmentSet,
    add_unbuilt,
    check_rules_of_source,
    coverage_of,
    drop_units,
    join_sets,
    prepare_resources,
    prepare_separately,
    read_declared_manifests,
    redact_manifests,
)
from gitsync.desired.catalog.catalog import Catalog, open_catalog
from gitsync.desired.manifests.selection import check_namespaces, make_selection, spell_out
from gitsync.desired.problems.finding import locate_finding
from gitsync.desired.request.credential_choice import choose_offline
from gitsync.desired.request.owner_subscriptions import warn_owners_elsewhere
from gitsync.errors import ConfigError, SourceError
from gitsync.model.arm_id import ArmId
from gitsync.model.manifests import Coverage, Manifests
from gitsync.model.problem import RULE_INVALID, Problem
from gitsync.model.resource import Prepared
from gitsync.planning.claims import assign_writers
from gitsync.providers.arm.real_clock import SystemClock
from gitsync.report.masked import mask_coverage, mask_problem
from gitsync.report.wording import join_renderers
from gitsync.repository.git.source.checkout import Checkout, open_checkout
from gitsync.settings.config.config import Config
from gitsync.settings.config.config_file import join_source_settings
from gitsync.settings.redaction import Redactions

ANY_SUBSCRIPTION = "00000000-0000-0000-0000-000000000000"
"""Used in ids if no subscription is set: nothing offline depends on it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offline:
    """The desired state of a source."""

    catalog: Catalog
    everything: tuple[Prepared, ...]  # all resources
    environments: tuple[EnvironmentSet, ...]
    """The same in sets, each without units that stand for the same resources as others in it."""

    prepared: tuple[Prepared, ...]  # the resources that the settings select
    problems: tuple[Problem, ...]  # those of the selected resources and of the files, in the order of the files
    coverage: Coverage  # what was read
    paths: frozenset[str]  # those of the files that were read
    namespace: str  # of manifests without one
    revision: str | None  # of a named ref, None for a folder
    root: str  # paths of files are relative to this folder of the repository

    @property
    def has_errors(self) -> bool:
        return any(problem.is_error for problem in self.problems)


def read_offline(config: Config, redactions: Redactions, *, looks_for_values: bool = False) -> Offline:
    """Read and prepare SOURCE; secrets are masked in problems. `looks_for_values` warns of Secrets and config maps that
    no source has, and of owners that the credentials of the settings do not reach, and counts what kustomizations leave
    out. SourceError if SOURCE cannot be read, ConfigError if --only or --target-namespaces matches nothing.
    """
    with _open_source(config) as source:
        settings = join_source_settings(config, source.contents.settings)
        foreign = read_known_from(config, source, None, redactions.add)
        catalog, today = open_catalog(), SystemClock().now().date()

        def read(without: Collection[str]) -> Manifests:
            # Units of several environments declare the same resources, and each environment is checked without the
            # others.
            files = drop_units(source.contents.files, source.contents.units, without)
            manifests = read_declared_manifests(config, settings, files, source.contents.units)
            manifests = add_unbuilt(manifests, source.contents.problems)
            redact_manifests(manifests, redactions)
            return add_foreign_ids(replace(manifests, read_left_out=source.contents.read_left_out), foreign, catalog)

        def prepare(manifests: Manifests) -> tuple[Prepared, ...]:
            # A zero id keeps every ARM id well-formed, so that all checks can run without a subscription.
            subscription = choose_offline(manifests.objects.secrets, config.subscription or ANY_SUBSCRIPTION)
            prepared = assign_writers(prepare_resources(config, settings, manifests, catalog, subscription, today), {})
            return tuple(replace(entry, problems=_mask_problems(entry.problems, redactions)) for entry in prepared)

        environments = prepare_separately(read, prepare)
        joined = join_sets(environments)
        everything, manifests = joined.prepared, joined.manifests
        check_namespaces(config.target_namespaces, (part.manifests for part in environments), source.contents.problems)
        selection = spell_out(make_selection(config), (resource.key for resource in everything))
        selected = tuple(resource for resource in everything if selection.has(resource.key))
        of_rules = check_rules_of_source(config, settings, manifests, everything, today)
        of_files = (*source.contents.problems, *manifests.problems, *foreign.problems, *of_rules)
        missing = _warn(selected, joined, environments, replace(config, aso=settings.aso)) if looks_for_values else ()
        problems = (*_mask_problems(of_files, redactions), *chain.from_iterable(r.problems for r in selected), *missing)
        return Offline(
            catalog=catalog,
            everything=everything,
            environments=environments,
            prepared=selected,
            # Notes are about what is not used, and the coverage has them.
            problems=join_renderers(problem for problem in problems if not problem.is_note),
            coverage=mask_coverage(coverage_of(source, manifests, looks_around=looks_for_values), redactions.mask),
            paths=frozenset(source.contents.files),
            namespace=settings.namespace,
            revision=source.revision,
            root=source.root,
        )


def _warn(
    selected: Sequence[Prepared], joined: EnvironmentSet, environments: Iterable[EnvironmentSet], config: Config
) -> tuple[Problem, ...]:
    """Warn of values that no source has, of owners that credentials do not reach, and with --aso of what ASO does not
    read. A Secret that cannot be the credential that it is meant to be is an error.
    """
    keys = {entry.key for entry in selected}
    of_credentials = (
        problem
        for each in environments
        for problem in _check_credentials(
            [entry for entry in each.prepared if entry.key in keys], each.manifests, config
        )
    )
    return (
        *(_list_not_portable(selected) if config.aso else ()),
        # Environments with the same Secret have the same problem.
        *dict.fromkeys(of_credentials),
        *warn_missing_values(selected, joined.prepared, joined.manifests, config, os.environ),
    )


def _check_credentials(selected: Sequence[Prepared], manifests: Manifests, config: Config) -> Iterator[Problem]:
    """Check the credentials of one environment: another may have the same Secret with other values."""
    credential_of = choose_offline(manifests.objects.secrets, config.subscription or "")
    yield from check_credential_secrets(selected, manifests, config, os.environ)
    yield from warn_owners_elsewhere(selected, credential_of)


def _list_not_portable(selected: Iterable[Prepared]) -> Iterator[Problem]:
    from gitsync.desired.validation.portability import check_portability  # only --aso needs it

    for prepared in selected:
        for finding in check_portability(prepared.resource, open_catalog()):
            yield locate_finding(finding, prepared.resource)


def read_all(config: Config, redactions: Redactions) -> Offline:
    """Read and prepare SOURCE. SourceError if something in it cannot be read: what it stands for would look as if git
    did not have it.
    """
    offline = read_offline(config, redactions)
    own = {problem for resource in offline.everything for problem in resource.problems}
    # A wrong rule hides no resource.
    own |= {problem for problem in offline.problems if problem.code == RULE_INVALID}
    unread = [problem for problem in offline.problems if problem.is_error and problem not in own]
    if unread:
        raise SourceError(
            f"{config.source} has manifests that cannot be read: {unread[0].path}: {unread[0].message}",
            hint="Run gitsync validate, fix what it shows, then run this command again.",
        )
    return offline


def check_subscription(config: Config, arm_ids: Iterable[ArmId]) -> None:
    """Check that no id has the subscription that stands for one where none is set. ConfigError if one has."""
    if not config.subscription and any(arm_id.subscription == ANY_SUBSCRIPTION for arm_id in arm_ids):
        raise ConfigError("No subscription is set.", hint="Set --subscription or AZURE_SUBSCRIPTION_ID.")


def _open_source(config: Config) -> Checkout:
    return open_checkout(
        config.source,
        ref=config.ref,
        path=config.path,
        access=make_git_access(config),
        status_dir=Path(config.status_dir) if config.status_dir else None,
        config_file=config.config_file,
        units=config.units,
        variables=config.variables,
        offline=True,
    )


def _mask_problems(problems: Iterable[Problem], redactions: Redactions) -> tuple[Problem, ...]:
    return tuple(mask_problem(problem, redactions.mask) for problem in problems)
