"""Check the set-up before a run: tools, git, the identity and its rights, the sources of secrets. Read-only.

It prints a line for each check: ok, warning or error, with what to do. It pushes nothing (`git push --dry-run`), and
sends only reads to Azure. Exits 1 if there is an error. It does not see deny assignments and Azure policies.

With --role it makes no checks, and prints a custom role with exactly the actions that a sync with the same settings
needs, as JSON for `az role definition create`. With --from too, it prints what the change needs in addition to that
revision. Neither needs Azure.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from gitsync.cli.command import Example
from gitsync.errors import ConfigError, ExitCode
from gitsync.settings.config.config import Config, list_settings
from gitsync.settings.config.flags import find_group
from gitsync.settings.config.setting import HelpGroup

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from gitsync.workflows.doctor.setup_check import Check

SETTINGS = list_settings("doctor")
OUTPUTS = ("text", "json")
EXAMPLES = (
    Example("Before a first run, as the pipeline will run it", "gitsync doctor --path clusters/prod"),
    Example("A role for the identity of a sync that prunes", "gitsync doctor --role --prune >role.json"),
    Example("Which additional rights does this branch need?", "gitsync doctor --role --from origin/main"),
)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add `--role`: all other flags are settings."""
    text = "Print a custom role with the actions that the manifests need. With --from: only what the change adds."
    find_group(parser, HelpGroup.OUTPUT).add_argument("--role", action="store_true", help=text)


def run(options: argparse.Namespace, config: Config) -> ExitCode:
    """Make the checks, or the role, print them, and return the exit code."""
    import asyncio

    from gitsync.workflows.doctor.setup_check import has_errors

    compares = config.from_revision is not None or config.to_revision is not None
    if options.role and not compares:
        return _print_role(options, config)
    checks = asyncio.run(_print_checks(options, config, compares=compares))
    if config.output == "json":
        _print_json(checks)
    return ExitCode.FAILED if has_errors(checks) else ExitCode.FINE


def _print_role(options: argparse.Namespace, config: Config) -> ExitCode:
    """Print the role on stdout, and what a person should know of it on stderr."""
    import sys

    from gitsync.settings.logging import neutralize
    from gitsync.workflows.doctor.role import build_role

    role = build_role(config, options.redactions)
    print(neutralize(role.format_json()), flush=True)
    for note in role.notes:
        print(neutralize(f"gitsync: {options.redactions.mask(note)}"), file=sys.stderr)
    return ExitCode.FINE


async def _print_checks(options: argparse.Namespace, config: Config, *, compares: bool) -> list[Check]:
    """Print each line when it is known: some checks wait for a server."""
    from dataclasses import replace

    from gitsync.cli.output import use_colour
    from gitsync.report.terminal import Paint

    paint, checks = Paint(on=use_colour(config)), []
    async for check in _list_checks(options, config, compares=compares):
        # A command needs the claims of the job's token exactly, and they are not from Azure: only secrets are masked.
        mask = options.redactions.mask if check.commands else options.log_mask
        masked = replace(
            check,
            message=mask(check.message),
            hint=mask(check.hint),
            values={name: mask(value) for name, value in check.values.items()},
            commands=tuple(map(mask, check.commands)),
        )
        checks.append(masked)
        if config.output == "text":
            _print_check(masked, paint)
    return checks


async def _list_checks(options: argparse.Namespace, config: Config, *, compares: bool) -> AsyncIterator[Check]:
    if compares:
        from gitsync.workflows.doctor.role import compare_rights

        _refuse_alone(options, config)
        for check in compare_rights(config, options.redactions):
            yield check
        return
    from gitsync.workflows.doctor.examination import examine

    async for check in examine(config, options.redactions):
        yield check


def _refuse_alone(options: argparse.Namespace, config: Config) -> None:
    """Raise ConfigError for --from without --role, and for --to without --from."""
    if not options.role:
        raise ConfigError("--from and --to require --role here.", hint="Add --role, or remove them.")
    if config.from_revision is None:
        raise ConfigError("--to requires --from.", hint="Set the revision to compare with: --from main.")


_WIDTH = len("warning")


def _print_check(check: Check, paint: Any) -> None:
    from gitsync.cli.output import find_terminal_width
    from gitsync.report.terminal import indent, indent_after
    from gitsync.settings.logging import escape_controls, neutralize

    word = f"{check.level.value:<{_WIDTH}}"
    shade = {"ok": paint.mark_good, "warning": paint.mark_notable, "error": paint.mark_bad}[check.level.value]
    width = find_terminal_width()
    # Wrapped before it is coloured: the escape codes would count as columns.
    first, *more = indent_after(f"{word}  ", escape_controls(f"{check.name}: {check.message}"), width)
    lines = [first.replace(word, shade(word), 1), *more]
    lines += indent(escape_controls(check.hint), width, by=_WIDTH + 2) if check.hint else []
    # A command that is broken into lines cannot be copied.
    lines += [f"{' ' * (_WIDTH + 2)}{escape_controls(command)}" for command in check.commands]
    print(neutralize("\n".join(lines)), flush=True)


def _print_json(checks: list[Check]) -> None:
    import json

    from gitsync.settings.logging import neutralize

    entries = [
        {
            "name": check.name,
            "level": check.level.value,
            "message": check.message,
            "hint": check.hint,
            "values": dict(check.values),
            "commands": list(check.commands),
        }
        for check in checks
    ]
    print(neutralize(json.dumps({"checks": entries}, indent=2)))
