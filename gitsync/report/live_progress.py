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
from rich.text import Text

from gitsync.desired.formats.long_text import cut_middle
from gitsync.report.progress import Tally
from gitsync.report.wording import format_plural

_TIMES_A_SECOND = 4
_BAR_WIDTH = 40  # columns
_SHORTEST_NAME = 24  # columns


@contextmanager
def show_live(tally: Tally, stream: TextIO) -> Iterator[Tally]:
    """Show a tally while the context lasts. Other output to stderr appears above it."""

    def render_view() -> Group:
        bar = ProgressBar(total=max(tally.total, tally.done, 1), completed=tally.done, width=_BAR_WIDTH)
        title = f"{tally.done} of {format_plural(tally.total, 'resource')}" if tally.total else "Reading the source"
        limits = "".join(f"; {limit}" for limit in tally.list_near_limits())
        rows = (Text(row, no_wrap=True, overflow="ellipsis") for row in format_rows(tally, console.width))
        # A bar alone ends no line.
        return Group(Text(f"{title}{limits}", style="bold"), Padding(bar, 0, expand=False), *rows)

    console = Console(file=stream, no_color=True)
    # With redirection, what a command prints to stdout would appear on the stream of the display.
    with Live(
        get_renderable=render_view,
        console=console,
        transient=True,
        refresh_per_second=_TIMES_A_SECOND,
        redirect_stdout=False,
    ) as live:
        tally.pause = partial(_pause, live)
        yield tally


def format_rows(tally: Tally, width: int) -> list[str]:
    """Format the resources in progress as lines of columns."""
    rows, more = tally.list_under_way()
    if not rows:
        return []
    names, times, doings = ([row[column] for row in rows] for column in range(3))
    time_width = max(map(len, times))
    left = width - 6 - time_width - max(map(len, doings))  # two blanks before each column
    # Where the terminal is narrow, the middle of the names is cut: what a resource does or waits for matters more.
    name_width = min(max(map(len, names)), max(left, _SHORTEST_NAME))
    lines = [
        f"  {cut_middle(name, name_width):{name_width}}  {time:>{time_width}}  {doing}"
        for name, time, doing in zip(names, times, doings, strict=True)
    ]
    return [*lines, *([f"  and {more} more"] if more else [])]


@contextmanager
def _pause(live: Live) -> Iterator[None]:
    """Clear the display, and show it again."""
    live.stop()
    try:
        yield
    finally:
        live.start()
