"""Checks the source, the status, the records and the manifests: whether a run can read and write them, and whether the
programs that it needs are installed.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import NamedTuple

from gitsync.agent.run.connections import find_global_subscription, open_source, open_state
from gitsync.agent.run.credential_secrets import check_credential_secrets
from gitsync.agent.run.prepared_manifests import (
    add_unbuilt,
    check_rules_of_source,
    prepare_resources,
    read_declared_manifests,
    redact_manifests,
)
from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.catalog.releases import read_catalog_release
from gitsync.desired.manifests.selection import check_namespaces, make_selection, select_prepared
from gitsync.desired.request.credential_choice import choose_offline
from gitsync.errors import GitsyncError
from gitsync.model.clock import Clock
from gitsync.model.gvk import Key
from gitsync.model.problem import Problem
from gitsync.model.record import Claim, State
from gitsync.model.resource import Prepared
from gitsync.model.unit_kind import UnitKind
from gitsync.planning.claims import assign_writers
from gitsync.planning.run_problems import CHECK_SOURCE
from gitsync.report.wording import format_plural
from gitsync.repository.git.source.checkout import Checkout
from gitsync.repository.git.state.store import StateStore
from gitsync.repository.secrets.stores import MANIFESTS
from gitsync.settings.config.config import Config
from gitsync.settings.config.config_file import join_source_settings
from gitsync.settings.processes.programs import Grace, Program, ProgramCall, run, select_environment
from gitsync.settings.redaction import Redactions
from gitsync.workflows.doctor.setup_check import Check, CheckLevel, make_doubt, make_failure, make_ok

ANY_SUBSCRIPTION = "<subscription>"

_PATIENCE = 10.0  # seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFindings:
    """What the checks of the source leave for others."""

    checks: tuple[Check, ...]
    source: Checkout | None = None  # closed by now
    prepared: tuple[Prepared, ...] = ()
    has_encrypted: bool = False  # it has SOPS files
    adopted: frozenset[Key] = frozenset()  # resources that gitsync did not create, by the records


def examine_source(config: Config, clock: Clock, redactions: Redactions) -> SourceFindings:
    """Read the source, and try to write its status without changing it."""
    try:
        checkout = open_source(config, Grace())
    except GitsyncError as error:
        return SourceFindings(checks=(make_failure("source", error),))
    with checkout as source:
        # Before anything is read: messages of git may quote the URL with its password.
        for secret in source.remote.secrets if source.remote else ():
            redactions.add(secret)
        read = _read_manifests(config, source, clock.now().date(), redactions)
        facts = make_ok("catalog", str(read_catalog_release()))
        of_state, adopted = _examine_state(config, source, clock)
        checks = (_describe_source(source), facts, *read.checks, *of_state)
        return replace(read, checks=checks, source=source, adopted=adopted)


def _describe_source(source: Checkout) -> Check:
    name = source.remote.name if source.remote else source.name
    at = f" at {source.revision[:12]}" if source.revision else ""
    if source.dirty:
        message = f"{name}{at} has uncommitted changes, which a sync refuses."
        return make_doubt("source", message, "Commit them, or run with --allow-dirty.")
    return make_ok("source", f"{name}{at}, {format_plural(len(source.contents.files), 'file')}")


def _read_manifests(config: Config, source: Checkout, today: date, redactions: Redactions) -> SourceFindings:
    """The resources as offline commands see them, and the number of their problems."""
    try:
        settings = join_source_settings(config, source.contents.settings)
        manifests = read_declared_manifests(config, settings, source.contents.files, source.contents.units)
        manifests = add_unbuilt(manifests, source.contents.problems)
        redact_manifests(manifests, redactions)
        check_namespaces(config.target_namespaces, [manifests], source.contents.problems)
        subscription = choose_offline(manifests.objects.secrets, find_global_subscription(config) or ANY_SUBSCRIPTION)
        prepared = prepare_resources(config, settings, manifests, open_catalog(), subscription, today)
    except GitsyncError as error:
        return SourceFindings(checks=(make_failure("manifests", error),))
    problems = (
        *source.contents.problems,
        *manifests.problems,
        *check_rules_of_source(config, settings, manifests, prepared, today),
        *(p for resource in prepared for p in resource.problems),
    )
    selected = select_prepared(assign_writers(prepared, {}), make_selection(config))
    wrong_secrets = check_credential_secrets(selected, manifests, config, os.environ)
    checks = (
        _count_problems(len(prepared), problems),
        *map(_make_secret_check, wrong_secrets),
        describe_allow_list(config),
    )
    return SourceFindings(checks=checks, prepared=selected, has_encrypted=bool(manifests.objects.encrypted))


def _count_problems(resources: int, problems: Sequence[Problem]) -> Check:
    count = format_plural(resources, "resource")
    errors = sum(problem.is_error for problem in problems)
    if errors:
        message = f"{count}, {format_plural(errors, 'error')}. A run skips invalid manifests."
        return make_doubt("manifests", message, "Run `gitsync validate`.")
    if not resources:
        hint = "Run `gitsync validate` to see what is skipped." if problems else CHECK_SOURCE
        return make_doubt("manifests", "No resource was found.", hint)
    return make_ok("manifests", f"{count}, no errors")


def _make_secret_check(problem: Problem) -> Check:
    """Make the check of a Secret that a sync would refuse, with all resources whose credential it is."""
    message = f"{problem.location}: {problem.message}"
    level = CheckLevel.ERROR if problem.is_error else CheckLevel.WARNING
    return Check(name="credential-secret", level=level, message=message, hint=problem.hint)


def describe_allow_list(config: Config) -> Check:
    """Return who may decide which identities resources use."""
    name, allowed = "allow-identities", config.allow_identities
    if allowed is not None and allowed.refuses:
        return make_ok(name, f"A run refuses the identities that {allowed.name} does not have.")
    if allowed is not None:
        message = f"A run only warns of identities that {allowed.name} does not have, and uses them."
        return make_doubt(name, message, "Set its mode to refuse once a plan has no warning IdentityNotAllowed.")
    if config.emulator is not None:
        return make_ok(name, "Not set. The emulator needs no identity.")
    if MANIFESTS not in config.secret_sources:
        return make_ok(name, "Not set. Manifests contain no credential Secrets that count, but may name others.")
    message = "Not set, so write access to manifests is access to every identity that trusts this job."
    return make_doubt(name, message, "List the identities of each namespace in GITSYNC_ALLOW_IDENTITIES.")


def _examine_state(config: Config, source: Checkout, clock: Clock) -> tuple[list[Check], frozenset[Key]]:
    """The records, the right to write them, and the key that signs them; and what the records have as adopted."""
    try:
        with open_state(config, source, clock) as store:
            state = _load(store)
            adopted = state.records.values() if isinstance(state, State) else ()
            keys = frozenset(record.key for record in adopted if record.claim is Claim.ADOPTED)
            return list(_examine_store(config, store, state)), keys
    except GitsyncError as error:
        return [make_failure("status", error)], frozenset()


def _load(store: StateStore) -> State | GitsyncError:
    try:
        return store.load()
    except GitsyncError as error:
        return error


def _examine_store(config: Config, store: StateStore, state: State | GitsyncError) -> Iterator[Check]:
    # Records that cannot be read leave open whether they can be written, so that is checked too.
    if isinstance(state, GitsyncError):
        yield make_failure("records", state)
    try:
        store.check_writable()
        yield make_ok("status", f"writable: {store.name}")
    except GitsyncError as error:
        yield make_failure("status", error)
    if isinstance(state, State):
        yield examine_seals(config, state)


def examine_seals(config: Config, state: State) -> Check:
    """Return whether the records are signed, and may be trusted."""
    name, count = "digest-key", format_plural(len(state.records), "record")
    refused = [record for record in state.records.values() if record.trust.is_refused]
    if refused and all(record.trust.is_former for record in refused):
        message = f"An older gitsync signed {len(refused)} of {count} without the name of the repository or the status."
        return make_doubt(
            name, message, "Run `gitsync sync`, then check the records that are left with `gitsync status`."
        )
    if refused:
        return Check(
            name=name,
            level=CheckLevel.ERROR,
            message=f"{len(refused)} of {count} cannot be trusted, so a run skips their resources.",
            hint="Check them with `gitsync status`, then sign them with `gitsync status --sign`.",
        )
    if config.digest_key is not None:
        return make_ok(name, f"GITSYNC_DIGEST_KEY is set and matches {count}.")
    if config.prune and config.emulator is None:
        message = "GITSYNC_DIGEST_KEY is not set, so anyone who can write the status decides what --prune deletes."
        return make_doubt(name, message, "Set GITSYNC_DIGEST_KEY and run `gitsync status --sign`.")
    return make_ok(name, f"GITSYNC_DIGEST_KEY is not set; it signs records for --prune ({count}).")


class _Tool(NamedTuple):
    """The arguments that print the version, and what to install."""

    arguments: tuple[str, ...]
    hint: str


_TOOLS = {
    Program.GIT: _Tool(("--version",), "Install git 2.31 or newer, and add it to the PATH."),
    Program.KUSTOMIZE: _Tool(("version",), "Install kustomize, or kubectl, which includes it."),
    Program.HELM: _Tool(("version", "--short"), "Install helm, version 3 or 4."),
    Program.SOPS: _Tool(
        ("--version", "--disable-version-check"), "Install it from https://github.com/getsops/sops/releases."
    ),
}


def list_needed_tools(units: Collection[UnitKind], *, encrypted: bool, exports_by_sops: bool) -> frozenset[Program]:
    """The programs that a source with such units needs. `encrypted`: it has SOPS files."""
    builders = {Program(kind.value.program) for kind in units if kind.value.program}
    return frozenset({Program.GIT, *builders, *({Program.SOPS} if encrypted or exports_by_sops else ())})


def check_tool(program: Program) -> Check:
    """Start a program to see its version, and so whether it is installed."""
    tool = _TOOLS[program]
    version = _read_version(program.value, program, tool.arguments)
    if version is None and program is Program.KUSTOMIZE:
        version = _read_version("kubectl", program, ("version", "--client"))
    if version is None:
        return Check(name=program.value, level=CheckLevel.ERROR, message="It is not installed.", hint=tool.hint)
    return make_ok(program.value, version) if version else make_doubt(program.value, "It does not report its version.")


def _read_version(command: str, program: Program, arguments: tuple[str, ...]) -> str | None:
    """The first line that it prints; "" if it fails, None if it is not there."""
    call = ProgramCall(
        program=program,
        command=(command, *arguments),
        environment=select_environment(program, os.environ),
        timeout=_PATIENCE,
        # A tool may read settings of the folder that it starts in, and a repository is not trusted.
        folder=Path("/"),
    )
    try:
        ended = run(call)
    except TimeoutError:
        return ""
    except OSError:
        return None
    lines = ended.output.decode("utf-8", "replace").splitlines() if ended.code == 0 else []
    return lines[0].strip()[:100] if lines else ""
