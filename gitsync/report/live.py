"""Shows progress on a terminal: a bar, and below it the resources in progress; cleared at the end.

Separate from `progress`, since only a terminal needs rich, which takes a tenth of a second to import.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TextIO

from rich.console import Console, Group
from rich.live import Live
from rich.padding import Padding
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from gitsync.report.progress import Tally
from gitsync.report.wording import format_plural

_TIMES_A_SECOND = 4
_BAR_WIDTH = 40  # columns


@contextmanager
def show_live(tally: Tally, stream: TextIO) -> Iterator[Tally]:
    """Show a tally while the context lasts. Other output to stderr appears above it."""

    def render_view() -> Group:
        bar = ProgressBar(total=max(tally.total, tally.done, 1), completed=tally.done, width=_BAR_WIDTH)
        title = f"{tally.done} of {format_plural(tally.total, 'resource')}" if tally.total else "Reading the source"
        limits = "".join(f"; {limit}" for limit in tally.list_near_limits())
        # A bar alone ends no line.
        return Group(Text(f"{title}{limits}", style="bold"), Padding(bar, 0, expand=False), _make_table(tally))

    with Live(
        get_renderable=render_view,
        console=Console(file=stream, no_color=True),
        transient=True,
        refresh_per_second=_TIMES_A_SECOND,
        redirect_stdout=False,
    ) as live:
        tally.pause = partial(_pause, live)
        yield tally


def _make_table(tally: Tally) -> Table:
    """Make the lines of the resources in progress. What a resource does or waits for is said in any width; its name is
    cut first.
    """
    rows, more = tally.list_under_way()
    table = Table.grid(padding=(0, 2), expand=False)
    table.add_column(no_wrap=True, overflow="ellipsis")
    table.add_column(no_wrap=True, justify="right")
    table.add_column(no_wrap=True, overflow="ellipsis")
    for row in rows:
        table.add_row(*(Text(cell) for cell in (f"  {row.name}", row.time, row.doing)))
    if more:
        table.add_row(Text(f"  and {more} more"))
    return table


@contextmanager
def _pause(live: Live) -> Iterator[None]:
    """Clear the display, and show it again."""
    live.stop()
    try:
        yield
    finally:
        live.start()
