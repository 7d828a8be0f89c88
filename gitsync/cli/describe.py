"""Show everything recorded about one resource, like `kubectl describe`.

Name the resource as Kind/name, or as Kind.group/namespace/name if that is ambiguous. Reads only the status branch or
folder of SOURCE, and sends no request to Azure.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

from gitsync.cli.recorded import build_objects, load_state, print_object
from gitsync.cli.setting_sets import RECORDED
from gitsync.config.config import Config
from gitsync.errors import ConfigError
from gitsync.model.gvk import Key
from gitsync.model.record import Record, State

SETTINGS = (*RECORDED, "output")
OUTPUTS = ("text", "json", "yaml")

FORMS = "Kind/name, Kind/namespace/name or Kind.group/namespace/name"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("resource", metavar="KIND/NAME", help=f"The resource: {FORMS}.")


def run(options: argparse.Namespace, config: Config) -> int:
    """Print the record of the resource."""
    from gitsync.cli.output import find_terminal_width
    from gitsync.logging import neutralize
    from gitsync.report.records import describe_record

    state = load_state(config)
    record = state.records[find_record_key(options.resource, state)]
    if config.output == "text":
        print(neutralize("\n".join(describe_record(record, revision=state.revision, width=find_terminal_width()))))
    else:
        print_object(add_advice(build_objects([record])[0], record), config.output)
    return 0


def add_advice(document: dict[str, Any], record: Record) -> dict[str, Any]:
    """The object with all advice for its condition in gitsync.advice; the file has only what its error said."""
    from gitsync.git.state.yaml_text import sort_keys
    from gitsync.status.advice import find_condition_advice

    advice = find_condition_advice(record.condition, record.key)
    return document | {"gitsync": sort_keys(document["gitsync"] | {"advice": advice})} if advice else document


def find_record_key(name: str, state: State) -> Key:
    """Find the key for a name. ConfigError if no key matches, or several; the hint lists them."""
    keys = sorted(key for key in state.records if matches_key(name, key))
    if len(keys) == 1:
        return keys[0]
    if keys:
        raise ConfigError(f"{name} matches several resources.", hint=f"Use one of: {', '.join(map(str, keys))}.")
    near = get_close_matches(name.casefold(), _index_spellings(state.records), n=1)
    guess = f" Did you mean {_index_spellings(state.records)[near[0]]}?" if near else ""
    raise ConfigError(f"No record of {name}.{guess}", hint=f"Use {FORMS}; `gitsync status` lists all records.")


def matches_key(name: str, key: Key) -> bool:
    """Whether a name matches a key. The name may omit group and namespace; the kind is compared without case."""
    kind, *names = name.split("/")
    if kind.casefold() not in {key.kind.casefold(), f"{key.kind}.{key.group}".casefold()}:
        return False
    return names in ([key.name], [key.namespace, key.name])


def _index_spellings(keys: Iterable[Key]) -> dict[str, str]:
    short = {f"{key.kind}/{key.name}".casefold(): f"{key.kind}/{key.name}" for key in keys}
    return dict(sorted(short.items()))
