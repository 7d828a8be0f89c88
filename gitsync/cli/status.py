"""Show what the last run recorded, like `kubectl get`: one line per resource.

Reads only the status branch or folder of SOURCE, and sends no request to Azure. Exits 0 whatever the condition of the
resources: only `plan` and `sync` fail because of it. With --sign it signs the records that it shows.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gitsync.cli.recorded import RECORDED, build_objects, open_recorded, print_object, select_records
from gitsync.config.config import Config
from gitsync.errors import ConfigError
from gitsync.model.heartbeat import Heartbeat
from gitsync.model.record import Record, State, Trust

SETTINGS = (*RECORDED, "only", "target_namespaces", "output")
OUTPUTS = ("text", "json", "yaml")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add `--sign`: all other flags are settings."""
    parser.add_argument(
        "--sign",
        action="store_true",
        help="Sign the records shown with GITSYNC_DIGEST_KEY. Check them first: --prune may delete what they name. "
        "A record that was changed after it was signed is signed only if --only names it.",
    )


def run(options: argparse.Namespace, config: Config) -> int:
    """Print the records that the settings select, and sign them if that was asked for."""
    if options.sign:
        return _sign(config)
    with open_recorded(config) as store:
        state, heartbeats = store.load(), store.read_heartbeats()
    records = select_records(state, config)
    if config.output == "text":
        _print_text(state, records, config)
        _print_leftovers(state)
        _print_heartbeats(heartbeats)
    else:
        print_object(_build_list(state, records, heartbeats), config.output)
    return 0


def _build_list(state: State, records: Sequence[Record], heartbeats: Sequence[Heartbeat]) -> Mapping[str, Any]:
    """The records as Kubernetes lists objects; under `gitsync` what Kubernetes has no place for."""
    from gitsync.arm.clock import SystemClock
    from gitsync.git.state.leftovers import build_leftovers
    from gitsync.report.heartbeats import build_heartbeats

    objects = {"apiVersion": "v1", "items": build_objects(records), "kind": "List"}
    if not state.leftovers and not heartbeats:
        return objects
    shown = {"heartbeats": build_heartbeats(heartbeats, SystemClock().now())} if heartbeats else {}
    return objects | {"gitsync": shown | {"leftovers": build_leftovers(state.leftovers)}}


def _print_text(state: State, records: Sequence[Record], config: Config) -> None:
    from gitsync.cli.output import find_terminal_width, use_colour
    from gitsync.logging import neutralize
    from gitsync.report.headline import format_plural, shorten_revision
    from gitsync.report.records import list_records

    if not state.records:
        print("No records yet. Run `gitsync sync` first.")
        return
    print(neutralize("\n".join(list_records(records, width=find_terminal_width(), colour=use_colour(config)))))
    ready = sum(record.condition is not None and record.condition.is_ready for record in records)
    at = f" at {shorten_revision(state.revision)}" if state.revision else ""
    print(f"\n{ready} of {format_plural(len(records), 'resource')} Ready{at}.")
    if refused := [record for record in records if record.trust.is_refused]:
        print(f"\n{format_plural(len(refused), 'record')} not trusted:")
        _print_claims(refused)


def _print_leftovers(state: State) -> None:
    """Exports of deleted resources that no run could remove."""
    from gitsync.logging import neutralize
    from gitsync.report.headline import format_plural

    if not state.leftovers:
        return
    print(f"\n{format_plural(len(state.leftovers), 'export')} left over:")
    lines = (f"{one.address} of {one.owner}, in the sink {one.sink}" for one in sorted(state.leftovers))
    print(neutralize("\n".join(f"  {line}" for line in lines)))


def _print_heartbeats(heartbeats: Sequence[Heartbeat]) -> None:
    """The last success of each agent that has a heartbeat."""
    from gitsync.arm.clock import SystemClock
    from gitsync.logging import neutralize
    from gitsync.report.heartbeats import list_heartbeats

    if heartbeats:
        print(neutralize("\n".join(list_heartbeats(heartbeats, SystemClock().now()))))


def _print_claims(records: Sequence[Record]) -> None:
    """What each record lets --prune delete, and whether it is signed."""
    from gitsync.cli.output import find_terminal_width
    from gitsync.logging import neutralize
    from gitsync.report.records import list_claims

    print(neutralize("\n".join(list_claims(records, width=find_terminal_width()))))


def _sign(config: Config) -> int:
    """Show what the selected records claim, and sign those that no run with the key has signed."""
    from gitsync.git.state.store import Update
    from gitsync.report.headline import format_plural

    if config.digest_key is None:
        raise ConfigError("--sign needs a key.", hint="Set GITSYNC_DIGEST_KEY.")
    with open_recorded(config) as store:
        state = store.load()
        chosen = select_records(state, config)
        unsigned = [record for record in chosen if _needs_seal(record, config)]
        if not unsigned:
            altered = ", or were changed: see `gitsync status`" if any(r.trust.is_refused for r in chosen) else ""
            print(f"All of these records are signed{altered}.")
            return 0
        _print_claims(unsigned)
        headline = f"Sign {format_plural(len(unsigned), 'record')}"
        signed = {record.key: replace(record, trust=Trust.SIGNED) for record in unsigned}
        store.check_writable()
        store.save(Update(records=signed, revision=state.revision, summary=None, report=None, headline=headline))
    print(f"\nSigned {format_plural(len(unsigned), 'record')}.")
    return 0


def _needs_seal(record: Record, config: Config) -> bool:
    """Tell whether to sign a record. One that was changed after it was signed must be named by --only."""
    return record.trust.is_refused and (record.trust is not Trust.ALTERED or bool(config.only))
