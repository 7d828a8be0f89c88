"""Show what the last run recorded, like `kubectl get`: one line per resource.

Reads only the status branch or folder of SOURCE, and sends no request to Azure. Exits 0 whatever the condition of the
resources: only `plan` and `sync` fail because of it.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from gitsync.cli.recorded import RECORDED, build_objects, load_state, print_object, select_records
from gitsync.config.config import Config
from gitsync.model.record import Record, State

SETTINGS = (*RECORDED, "only", "target_namespaces", "output")
OUTPUTS = ("text", "json", "yaml")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add none: all its flags are settings."""


def run(_options: argparse.Namespace, config: Config) -> int:
    """Print the records that the settings select."""
    state = load_state(config)
    records = select_records(state, config)
    if config.output == "text":
        _print_text(state, records, config)
    else:
        print_object({"apiVersion": "v1", "items": build_objects(records), "kind": "List"}, config.output)
    return 0


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
