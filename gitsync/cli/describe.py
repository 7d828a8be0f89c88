"""Show everything recorded about one resource, like `kubectl describe`.

Name the resource as Kind/name, or as Kind.group/namespace/name if that is ambiguous. A name may be abbreviated as long
as it fits one resource only: virtualn/hub, or just hub. Reads only the status branch or folder of SOURCE, and sends no
request to Azure.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from gitsync.cli.command import Example
from gitsync.cli.recorded import build_objects, load_state, print_object, select_records
from gitsync.errors import ExitCode
from gitsync.settings.config.config import Config, list_settings

if TYPE_CHECKING:
    from gitsync.model.record import Record

SETTINGS = list_settings("describe")
OUTPUTS = ("text", "json", "yaml")
EXAMPLES = (Example("One resource, by an unambiguous name", "gitsync describe hub"),)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("resource", metavar="KIND/NAME", help="The resource, such as VirtualNetwork/hub.")


def run(options: argparse.Namespace, config: Config) -> ExitCode:
    """Print the record of the resource."""
    from gitsync.cli.output import find_terminal_width
    from gitsync.desired.manifests.selection import find_key
    from gitsync.report.records import describe_record
    from gitsync.settings.logging import neutralize

    state = load_state(config)
    record = state.records[find_key(options.resource, [record.key for record in select_records(state, config)])]
    if config.output == "text":
        print(neutralize("\n".join(describe_record(record, revision=state.revision, width=find_terminal_width()))))
    else:
        print_object(add_advice(build_objects([record])[0], record), config.output)
    return ExitCode.FINE


def add_advice(document: dict[str, Any], record: Record) -> dict[str, Any]:
    """The object with all advice for its condition in gitsync.advice; the file has only what its error said."""
    from gitsync.planning.status.advice import find_condition_advice
    from gitsync.repository.git.state.documents import sort_keys

    advice = find_condition_advice(record.condition, record.arm_id)
    return document | {"gitsync": sort_keys(document["gitsync"] | {"advice": advice})} if advice else document
