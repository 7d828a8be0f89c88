"""Show all that is recorded of one resource, as `kubectl describe` would.

The resource is named as Kind/name, and by more of Kind.group/namespace/name where that is not enough. Reads the status
branch or folder of SOURCE and asks Azure nothing.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from difflib import get_close_matches

from gitsync.cli.recorded import RECORDED, build_objects, load_state, print_object
from gitsync.config.config import Config
from gitsync.errors import ConfigError
from gitsync.model.gvk import Key
from gitsync.model.record import State

SETTINGS = (*RECORDED, "output")
OUTPUTS = ("text", "json", "yaml")

_FORMS = "Kind/name, Kind/namespace/name or Kind.group/namespace/name"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("resource", metavar="KIND/NAME", help=f"The resource: {_FORMS}.")


def run(options: argparse.Namespace, config: Config) -> int:
    """Print the one record that is meant."""
    from gitsync.cli.output import find_terminal_width
    from gitsync.logging import neutralize
    from gitsync.report.records import describe_record

    state = load_state(config)
    record = state.records[find_record_key(options.resource, state)]
    if config.output == "text":
        print(neutralize("\n".join(describe_record(record, revision=state.revision, width=find_terminal_width()))))
    else:
        print_object(build_objects([record])[0], config.output)
    return 0


def find_record_key(name: str, state: State) -> Key:
    """The key that a name means. ConfigError where it means none or several, which are then listed."""
    found = sorted(key for key in state.records if _means(name, key))
    if len(found) == 1:
        return found[0]
    if found:
        raise ConfigError(f"{name} means several resources.", hint=f"Give one of: {', '.join(map(str, found))}.")
    near = get_close_matches(name.casefold(), _spellings(state.records), n=1)
    guess = f" Did you mean {_spellings(state.records)[near[0]]}?" if near else ""
    raise ConfigError(f"Nothing is recorded of {name}.{guess}", hint=f"Write {_FORMS}; `gitsync status` lists all.")


def _means(name: str, key: Key) -> bool:
    """Whether a name, which may leave out group and namespace, is that of a key. Kinds compare without case."""
    kind, *rest = name.split("/")
    if kind.casefold() not in {key.kind.casefold(), f"{key.kind}.{key.group}".casefold()}:
        return False
    return rest in ([key.name], [key.namespace, key.name])


def _spellings(keys: Iterable[Key]) -> dict[str, str]:
    short = {f"{key.kind}/{key.name}".casefold(): f"{key.kind}/{key.name}" for key in keys}
    return dict(sorted(short.items()))
