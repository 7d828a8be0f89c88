"""Take drift into git: edit the manifests so that they say what Azure has. Nothing in Azure is changed.

It plans, and edits the manifests of the working folder for what was changed in Azure since the last sync: all of it, or
that of the resources NAME. Only the text of these fields changes. Before anything is written, the edited manifests are
read and compared with Azure again: the drift is gone, and no other request has changed. What cannot be taken so is left
alone with the reason; and so is what makes the estate weaker, unless its resource is named. The exit code is 0 if
everything was taken, 1 if something was left alone.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from typing import TYPE_CHECKING

from gitsync.cli.command import Example, add_quiet
from gitsync.config.config import Config, list_settings
from gitsync.config.flags import find_group
from gitsync.config.setting import HelpGroup
from gitsync.errors import ConfigError, ExitCode
from gitsync.model.attribution import Who

if TYPE_CHECKING:
    from gitsync.accept.drift import Accepted
    from gitsync.accept.proof import Tree

SETTINGS = list_settings("accept")
OUTPUTS = ("text", "json")
EXAMPLES = (
    Example("Keep all that was changed in Azure", "gitsync accept"),
    Example("Keep one field of one resource", "gitsync accept StorageAccount/orders --field /sku/name"),
)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the names, `--field` and `-q`: all other flags are settings."""
    parser.add_argument(
        "names",
        metavar="NAME",
        nargs="*",
        help="A resource: Kind/name, Kind.group/namespace/name, or a pattern with * and ?. Default: all.",
    )
    parser.add_argument(
        "--field",
        metavar="POINTER",
        action="append",
        default=[],
        help="Only this field, and what is below it: a place in the request, as /properties/sku. May be repeated.",
    )
    add_quiet(find_group(parser, HelpGroup.OUTPUT), "Print only what was left alone, and no progress.")


def run(options: argparse.Namespace, config: Config) -> ExitCode:
    """Plan, edit the manifests, print what was taken, and return the exit code."""
    from gitsync.accept.accept import accept_drift
    from gitsync.accept.proof import open_tree
    from gitsync.arm.clock import SystemClock
    from gitsync.cli.interruption import Interruption
    from gitsync.cli.running import execute_quietly
    from gitsync.model.check import NO_CHECKS

    for pointer in options.field:
        if not pointer.startswith("/"):
            raise ConfigError(
                f"--field {pointer} is not a place in a request.",
                hint="Write it as `gitsync plan -v` shows it, such as /properties/sku.",
            )
    # What the working tree says is read before the plan: a tree that cannot be edited needs no requests.
    interruption = Interruption()
    tree = open_tree(config, SystemClock(), options.redactions, interruption.grace)
    config = replace(config, only=tuple(options.names), checks=(NO_CHECKS,), plan_out=None, metrics=None)
    try:
        report = execute_quietly(options, config, interruption, writes=False)
        if report.interrupted:
            return interruption.exit_code(report)
        accepted = accept_drift(report, tree, options.names, options.field)
        write(accepted, tree)
    finally:
        interruption.close()
    print_accepted(accepted, options, config)
    return ExitCode.FAILED if accepted.left else ExitCode.FINE


def write(accepted: Accepted, tree: Tree) -> None:
    """Write the new texts into the working tree: all, or none. ConfigError if a file has changed since it was read."""
    from gitsync.cli.target_folder import TargetFolder

    prefix = f"{tree.prefix}/" if tree.prefix else ""
    texts = {path.removeprefix(prefix): text for path, text in accepted.texts.items()}
    TargetFolder(tree.folder).change_all({path: (tree.content(path), text) for path, text in texts.items()})


def print_accepted(accepted: Accepted, options: argparse.Namespace, config: Config) -> None:
    """Print what was taken, and what was left alone."""
    import json

    from gitsync.accept import report
    from gitsync.cli.output import may_name_people
    from gitsync.logging import neutralize

    mask = options.redactions.mask
    if config.output == "json":
        print(mask(json.dumps(report.build(accepted), indent=2, ensure_ascii=False)))
        return
    names = may_name_people(Who(config.who), os.environ)
    lines = report.format_left(accepted) if options.quiet else report.format_lines(accepted, names=names)
    for line in lines:
        print(neutralize(mask(line)))
