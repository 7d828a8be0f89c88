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
        rows = (Text(f"  {name}", no_wrap=True, overflow="ellipsis") for name in tally.list_under_way())
        return Group(Text(title, style="bold"), Padding(bar, 0, expand=False), *rows)  # a bar alone ends no line

    with Live(
        get_renderable=render_view,
        console=Console(file=stream, no_color=True),
        transient=True,
        refresh_per_second=_TIMES_A_SECOND,
        redirect_stdout=False,
    ) as live:
        tally.pause = partial(_pause, live)
        yield tally


@contextmanager
def _pause(live: Live) -> Iterator[None]:
    """Clear the display, and show it again."""
    live.stop()
    try:
        yield
    finally:
        live.start()
