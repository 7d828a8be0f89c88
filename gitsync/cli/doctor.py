"""Check the set-up before a run: tools, git, the identity and its rights, the places of secrets. Read-only.

A line for each check: ok, warning or error, with what to do. It pushes nothing (`git push --dry-run`), and sends only
reads to Azure. Exits 1 if there is an error. It does not see deny assignments and policies of Azure.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from gitsync.cli.command import Example
from gitsync.config.config import Config, list_settings
from gitsync.errors import ExitCode

if TYPE_CHECKING:
    from gitsync.doctor.check import Check

SETTINGS = list_settings("doctor")
OUTPUTS = ("text", "json")
EXAMPLES = (Example("Before a first run, as the pipeline will run it", "gitsync doctor --path clusters/prod"),)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add none: all its flags are settings."""


def run(options: argparse.Namespace, config: Config) -> ExitCode:
    """Make the checks, print them, and return the exit code."""
    import asyncio

    from gitsync.doctor.check import has_errors

    checks = asyncio.run(_examine(options, config))
    if config.output == "json":
        _print_json(checks)
    return ExitCode.FAILED if has_errors(checks) else ExitCode.FINE


async def _examine(options: argparse.Namespace, config: Config) -> list[Check]:
    """Print each line when it is known: some checks wait for a server."""
    from dataclasses import replace

    from gitsync.cli.output import use_colour
    from gitsync.doctor.examination import examine
    from gitsync.report.terminal import Paint

    paint, checks = Paint(on=use_colour(config)), []
    async for check in examine(config, options.redactions):
        mask = options.redactions.mask
        masked = replace(check, message=mask(check.message), hint=mask(check.hint))
        checks.append(masked)
        if config.output == "text":
            _print_check(masked, paint)
    return checks


_WIDTH = len("warning")


def _print_check(check: Check, paint: Any) -> None:
    from gitsync.cli.output import find_terminal_width
    from gitsync.logging import escape_controls, neutralize
    from gitsync.report.terminal import indent, indent_after

    word = f"{check.level.value:<{_WIDTH}}"
    shade = {"ok": paint.mark_good, "warning": paint.mark_notable, "error": paint.mark_bad}[check.level.value]
    width = find_terminal_width()
    first, *more = indent_after(f"{word}  ", escape_controls(f"{check.name}: {check.message}"), width)
    lines = [first.replace(word, shade(word), 1), *more]
    lines += indent(escape_controls(check.hint), width, by=_WIDTH + 2) if check.hint else []
    print(neutralize("\n".join(lines)), flush=True)


def _print_json(checks: list[Check]) -> None:
    import json

    from gitsync.logging import neutralize

    entries = [{"name": one.name, "level": one.level.value, "message": one.message, "hint": one.hint} for one in checks]
    print(neutralize(json.dumps({"checks": entries}, indent=2)))
