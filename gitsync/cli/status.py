"""Show what the last run recorded, as `kubectl get` would: one line for each resource.

Reads the status branch or folder of SOURCE and asks Azure nothing. Exits 0 whatever the resources' condition is: `plan`
and `sync` are the commands that judge.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from gitsync.cli.recorded import RECORDED, chosen_records, load_state, objects, print_object
from gitsync.config.config import Config
from gitsync.model.record import Record, State

SETTINGS = (*RECORDED, "only", "target_namespaces", "output")
OUTPUTS = ("text", "json", "yaml")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Everything is a setting."""


def run(_options: argparse.Namespace, config: Config) -> int:
    """Print the records that the settings choose."""
    state = load_state(config)
    records = chosen_records(state, config)
    if config.output == "text":
        _print_text(state, records, config)
    else:
        print_object({"apiVersion": "v1", "items": objects(records), "kind": "List"}, config.output)
    return 0


def _print_text(state: State, records: Sequence[Record], config: Config) -> None:
    from gitsync.cli.output import terminal_width, wants_colour
    from gitsync.logging import inert
    from gitsync.report.headline import plural, short_revision
    from gitsync.report.records import get_lines

    if not state.records:
        print("Nothing is recorded yet. `gitsync sync` does that.")
        return
    print(inert("\n".join(get_lines(records, width=terminal_width(), colour=wants_colour(config)))))
    ready = sum(record.condition is not None and record.condition.is_ready for record in records)
    at = f" at {short_revision(state.revision)}" if state.revision else ""
    print(f"\n{ready} of {plural(len(records), 'resource')} Ready{at}.")
