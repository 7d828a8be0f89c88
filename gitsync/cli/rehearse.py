"""Play the sync of a revision before it runs: in the built-in Azure, on the estate that the records describe.

It needs no login and no key, and nothing leaves the process. It shows what would be written, in which order, what the
guards refuse, and whether the sync after it would be silent. With --from-nothing the subscription is empty, as after a
disaster; with --interrupt the sync is killed after each write, and resumed. The exit code is 1 if the rehearsal finds
something that would go wrong.
"""

from __future__ import annotations

import argparse
import asyncio
from typing import TYPE_CHECKING

from gitsync.cli.command import Example, add_verbosity
from gitsync.config.config import Config, list_settings
from gitsync.errors import ExitCode

if TYPE_CHECKING:
    from gitsync.model.rehearsal import Rehearsal

SETTINGS = list_settings("rehearse")
OUTPUTS = ("text",)
EXAMPLES = (
    Example("How would the sync of the working folder go?", "gitsync rehearse --prune"),
    Example("Does it survive a kill at any moment?", "gitsync rehearse --prune --interrupt"),
    Example("Can git bring everything back into an empty subscription?", "gitsync rehearse --from-nothing"),
)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--from-nothing", action="store_true", help="Begin with an empty subscription: a drill of disaster recovery."
    )
    parser.add_argument(
        "--interrupt",
        action="store_true",
        help="Also kill the sync after each write (50 at most), and resume it.",
    )
    add_verbosity(parser)


def run(options: argparse.Namespace, config: Config) -> ExitCode:
    """Rehearse, print the report and return the exit code."""
    rehearsal = _rehearse(options, config)
    _print(rehearsal, options)
    return rehearsal.exit_code


def _rehearse(options: argparse.Namespace, config: Config) -> Rehearsal:
    from gitsync.cli.interruption import Interruption
    from gitsync.cli.output import show_progress
    from gitsync.rehearsal.rehearse import rehearse

    interruption = Interruption()
    # Nothing outside of the process changes, so a signal ends it at once.
    display = show_progress(options.redactions.mask, prints=options.prints_progress, quiet=options.quiet)
    try:
        with asyncio.Runner() as runner, interruption.heard(runner.get_loop()), display as progress:
            return runner.run(
                rehearse(
                    config,
                    from_nothing=options.from_nothing,
                    interrupts=options.interrupt,
                    redactions=options.redactions,
                    progress=progress,
                    grace=interruption.grace,
                )
            )
    finally:
        interruption.close()


def _print(rehearsal: Rehearsal, options: argparse.Namespace) -> None:
    from gitsync.logging import escape_controls, neutralize

    text = "\n".join(map(escape_controls, _format_lines(rehearsal)))
    print(neutralize(options.redactions.mask(text)))


def _format_lines(rehearsal: Rehearsal) -> list[str]:
    """Format the text until there is a report of its own."""
    lines = [f"refused: {rehearsal.refusal}"] if rehearsal.refusal else []
    for one in rehearsal.writes:
        name = f"{one.key.kind}/{one.key.name}" if one.key else one.arm_id
        lines.append(f"{one.number:>4}. {one.method} {name} ({one.action}, {one.status})")
    lines += [f"stub: {stub.arm_id} for {', '.join(map(str, stub.wanted_by))}" for stub in rehearsal.stubs]
    lines += [f"not rehearsed: {one.sentence} {', '.join(one.names)}".rstrip() for one in rehearsal.not_rehearsed]
    for kill in rehearsal.interrupts:
        found = [*kill.differences, *(f"{arm_id} was created twice." for arm_id in kill.sent_twice)]
        lines += [f"killed after write {kill.number}, {kill.arm_id}: {sentence}" for sentence in found or ["fine"]]
    lines.append("The sync after it is silent." if rehearsal.is_silent else "The sync after it is not silent.")
    return lines
