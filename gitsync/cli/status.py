"""Show what the last run recorded, like `kubectl get`: one line per resource.

Name what to show as KIND, or as KIND/NAME. A name may be abbreviated if it is unambiguous. An argument that is a folder
or a URL is SOURCE. Reads only the status branch or folder of SOURCE, and sends no request to Azure. Exits 0 whatever
the condition of the resources: only `plan` and `sync` fail because of it. With --sign it signs the records that it
shows.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gitsync.cli.command import Example, SplitSource, add_quiet
from gitsync.cli.recorded import build_objects, open_recorded, print_object, select_records
from gitsync.errors import ConfigError, ExitCode
from gitsync.settings.config.config import Config, list_settings
from gitsync.settings.config.flags import find_group
from gitsync.settings.config.setting import HelpGroup

if TYPE_CHECKING:
    from gitsync.model.gvk import Key
    from gitsync.model.record import Heartbeat, LastRun, Record, State, Trust

SETTINGS = list_settings("status")
OUTPUTS = ("text", "wide", "json", "yaml")
EXAMPLES = (
    Example("Everything that the last run recorded, then one kind", "gitsync status && gitsync status VirtualNetwork"),
    Example("With the ARM ids and the times", "gitsync status --output wide"),
)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "names", metavar="KIND[/NAME]", nargs="*", action=SplitSource, help="Show only these resources. Default: all."
    )
    parser.add_argument(
        "--sign",
        action="store_true",
        help="Sign the shown records with GITSYNC_DIGEST_KEY. Check them first: --prune may delete what they name. "
        "A record that was changed after it was signed, or signed for another repository or status, is signed only if "
        "its name or --only selects it.",
    )
    add_quiet(find_group(parser, HelpGroup.OUTPUT), "List only what is not Ready; print nothing if all is.")


def run(options: argparse.Namespace, config: Config) -> ExitCode:
    """Print the records that the names and the settings select, and sign them with --sign."""
    if options.sign:
        return _sign(config, options.names)
    with open_recorded(config) as store:
        state, heartbeats, last_run = store.load(), store.read_heartbeats(), store.read_last_run()
    records = _select(state, config, options.names)
    if config.output in {"json", "yaml"}:
        print_object(_build_list(state, records, heartbeats, last_run), config.output)
    elif options.quiet:
        _print_table([record for record in records if not _is_ready(record)], config)
    else:
        _print_text(state, records, config)
        _print_last_run(state, last_run)
        _print_leftovers(state)
        _print_strays(state)
        _print_heartbeats(heartbeats)
    return ExitCode.FINE


def _select(state: State, config: Config, names: Sequence[str]) -> tuple[Record, ...]:
    """The records that the settings select, and of them those that the names select, if there are any."""
    from gitsync.desired.manifests.selection import find_key, list_keys_of_kind

    records = select_records(state, config)
    if not names:
        return records
    keys = [record.key for record in records]
    named: set[Key] = set()
    for name in names:
        of_kind = () if "/" in name else list_keys_of_kind(name, keys)
        # A kind before a name: a resource that is called like a kind can be named with its kind.
        named.update(of_kind or [find_key(name, keys)])
    return tuple(record for record in records if record.key in named)


def _is_ready(record: Record) -> bool:
    return record.condition is not None and record.condition.is_ready


def _build_list(
    state: State, records: Sequence[Record], heartbeats: Sequence[Heartbeat], last_run: LastRun | None
) -> Mapping[str, Any]:
    """The records as Kubernetes lists objects; under `gitsync` what Kubernetes has no place for."""
    from gitsync.providers.arm.real_clock import SystemClock
    from gitsync.report.records import build_heartbeats, build_last_run
    from gitsync.repository.git.state.status_tree import build_leftovers

    objects = {"apiVersion": "v1", "items": build_objects(records), "kind": "List"}
    if not state.leftovers and not heartbeats and not state.strays and last_run is None:
        return objects
    shown: dict[str, Any] = {"lastRun": build_last_run(last_run)} if last_run else {}
    shown |= {"heartbeats": build_heartbeats(heartbeats, SystemClock().now())} if heartbeats else {}
    shown |= {"strayBranches": dict(sorted(state.strays.items()))} if state.strays else {}
    return objects | {"gitsync": shown | {"leftovers": build_leftovers(state.leftovers)}}


def _print_text(state: State, records: Sequence[Record], config: Config) -> None:
    from gitsync.providers.arm.real_clock import SystemClock
    from gitsync.report.outside_texts import count_recorded
    from gitsync.report.records import count_failed, count_waiting, list_operations, list_outside_fields
    from gitsync.report.wording import (
        format_holds,
        format_outside_count,
        format_plural,
        format_replacing,
        shorten_revision,
    )
    from gitsync.settings.logging import neutralize

    if not state.records:
        print("No records yet. Run `gitsync sync` first.")
        return
    _print_table(records, config)
    ready = sum(map(_is_ready, records))
    at = f" at {shorten_revision(state.revision)}" if state.revision else ""
    failed, waiting = count_failed(records), count_waiting(records)
    parts = (
        f"{failed} failed" if failed else "",
        f"{waiting} waiting" if waiting else "",
        f"{ready} of {format_plural(len(records), 'resource')} Ready{at}",
        format_replacing(records),
        format_outside_count(count_recorded(records)),
        format_holds(record.manifest.hold for record in records),
    )
    print(f"\n{'; '.join(filter(None, parts))}.")
    for lines in (list_outside_fields(records), list_operations(records, SystemClock().now())):
        if lines:
            print(neutralize("\n" + "\n".join(lines)))
    if refused := [record for record in records if record.trust.is_refused]:
        print(f"\n{format_plural(len(refused), 'record')} not trusted:")
        _print_claims(refused)


def _print_table(records: Sequence[Record], config: Config) -> None:
    from gitsync.cli.output import find_terminal_width, use_colour
    from gitsync.providers.arm.real_clock import SystemClock
    from gitsync.report.records import list_records, list_wide
    from gitsync.settings.logging import neutralize

    width, colour = find_terminal_width(), use_colour(config)
    if not records:
        return
    if config.output == "wide":
        lines = list_wide(records, SystemClock().now(), width=width, colour=colour)
    else:
        lines = list_records(records, width=width, colour=colour)
    print(neutralize("\n".join(lines)))


def _print_last_run(state: State, last_run: LastRun | None) -> None:
    """When the last run was that changed something, and what came of it."""
    from gitsync.providers.arm.real_clock import SystemClock
    from gitsync.report.records import describe_last_run
    from gitsync.settings.logging import neutralize

    if last_run is not None:
        print(neutralize("\n".join(describe_last_run(last_run, state.agents, SystemClock().now()))))


def _print_leftovers(state: State) -> None:
    """Exports of deleted resources that no run could remove."""
    from gitsync.report.wording import format_plural
    from gitsync.settings.logging import neutralize

    if not state.leftovers:
        return
    print(f"\n{format_plural(len(state.leftovers), 'export')} not removed:")
    lines = (
        f"{leftover.address} of {leftover.owner}, in the sink {leftover.sink}" for leftover in sorted(state.leftovers)
    )
    print(neutralize("\n".join(f"  {line}" for line in lines)))


def _print_strays(state: State) -> None:
    """Branches among those of workers that were not read."""
    from gitsync.settings.logging import neutralize

    if state.strays:
        print("\nIgnored branches among the workers' branches:")
        lines = (f"{branch}: {reason}" for branch, reason in sorted(state.strays.items()))
        print(neutralize("\n".join(f"  {line}" for line in lines)))


def _print_heartbeats(heartbeats: Sequence[Heartbeat]) -> None:
    """The last success of each agent that has a heartbeat."""
    from gitsync.providers.arm.real_clock import SystemClock
    from gitsync.report.records import list_heartbeats
    from gitsync.settings.logging import neutralize

    if heartbeats:
        print(neutralize("\n".join(list_heartbeats(heartbeats, SystemClock().now()))))


def _print_claims(records: Sequence[Record]) -> None:
    """What each record lets --prune delete, and whether it is signed."""
    from gitsync.cli.output import find_terminal_width
    from gitsync.report.records import list_claims
    from gitsync.settings.logging import neutralize

    print(neutralize("\n".join(list_claims(records, width=find_terminal_width()))))


def _list_doubtful(state: State) -> frozenset[Trust]:
    """The trust of records that are signed by name only: changed ones, and those of another repository beside records
    of this one. If all are of another repository, it was renamed.
    """
    from gitsync.model.record import Trust

    own = {Trust.SIGNED, Trust.SIGNED_BEFORE, Trust.UNPLACED, Trust.UNIDENTIFIED}
    is_renamed = own.isdisjoint(record.trust for record in state.records.values())
    return frozenset({Trust.ALTERED} if is_renamed else {Trust.ALTERED, Trust.OTHER_BRANCH, Trust.OTHER_STATUS})


def _sign(config: Config, names: Sequence[str]) -> ExitCode:
    """Show what the selected records claim, and sign those that no run with the key has signed for this status."""
    from gitsync.model.record import Trust
    from gitsync.report.wording import format_plural
    from gitsync.repository.git.state.store import Update

    if config.digest_key is None:
        raise ConfigError("--sign needs a key.", hint="Set GITSYNC_DIGEST_KEY.")
    with open_recorded(config) as store:
        state = store.load()
        chosen = _select(state, config, names)
        # Signing all at once must not bless what somebody has forged: a person has to look at each of these.
        must_be_named = frozenset() if config.only or names else _list_doubtful(state)
        unsigned = [record for record in chosen if record.trust.is_refused and record.trust not in must_be_named]
        if not unsigned:
            altered = ", or must be named: see `gitsync status`" if any(r.trust.is_refused for r in chosen) else ""
            print(f"All of these records are signed{altered}.")
            return ExitCode.FINE
        _print_claims(unsigned)
        headline = f"Sign {format_plural(len(unsigned), 'record')}"
        signed = {record.key: replace(record, trust=Trust.SIGNED) for record in unsigned}
        # Before the save: a status that cannot be written must be known before anything is called signed.
        store.check_writable()
        # The summary and the report stay: a signature changes nothing that they show.
        store.save(Update(records=signed, revision=state.revision, summary=None, report=None, headline=headline))
    print(f"\nSigned {format_plural(len(unsigned), 'record')}.")
    return ExitCode.FINE
