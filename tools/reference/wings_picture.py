"""docs/images/wings.svg: the wings of the package, from the contracts in pyproject.toml that order them.

The line of a wing is the first of its docstring. The picture is light or dark like the page that shows it. It has a
background of its own, since some browsers follow the colours of the system instead.
"""

from __future__ import annotations

import ast
import textwrap
import tomllib
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PICTURE = "docs/images/wings.svg"

LAYERS = "wings import downwards"
PURE = "desired, planning and model decide and do no I/O"
APART = "the emulator shares no conversion with the client"
"""The contracts that the picture shows, by name."""

# In pixels.
WIDTH = 560
LEFT = 46  # where the boxes begin: the arrow is before them
RIGHT = 546
GAP = 7  # between boxes
LOW = 35  # the height of a wing on a floor of its own
TOP = 14  # above the first floor, and below the legend
LEGEND = 20
LINE = 17
LINES_AT = 128  # where the line of a wing begins, in its box
COLUMNS = 15  # letters of a line in a box of four side by side

STYLE = """\
svg { color-scheme: light dark; }
text { font: 13.5px system-ui, -apple-system, "Segoe UI", "Noto Sans", Helvetica, Arial, sans-serif; fill: #424a53; }
.name { font: 600 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #1f2328; }
.page { fill: #ffffff; stroke: #d1d9e0; }
.box { fill: #f3f5f7; stroke: #c4ccd4; }
.pure { fill: #ddf4e4; stroke: #5fb77c; }
.apart { stroke: #818b98; stroke-dasharray: 5 4; }
.arrow { fill: none; stroke: #818b98; stroke-width: 1.5; }
@media (prefers-color-scheme: dark) {
  text { fill: #b7bfc8; }
  .name { fill: #f0f6fc; }
  .page { fill: #0d1117; stroke: #3d444d; }
  .box { fill: #1b222b; stroke: #414953; }
  .pure { fill: #12301f; stroke: #2f7d4a; }
  .apart { stroke: #9198a1; }
  .arrow { stroke: #9198a1; }
}
"""


class Wing(NamedTuple):
    """A folder or module at the top of the package."""

    name: str  # with `/` or `.py`
    line: str
    looks: str  # classes of its box


def build_wings_picture() -> Mapping[str, str]:
    """The picture, by its path."""
    return {PICTURE: draw(list_floors(ROOT))}


def list_floors(root: Path) -> list[list[Wing]]:
    """The wings of a checkout, from the top floor down. Those of one floor do not import each other."""
    linter = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    contracts = {contract["name"]: contract for contract in linter["contracts"]}
    floors = [[name.strip() for name in layer.split("|")] for layer in contracts[LAYERS]["layers"]]
    return [[_describe(root / linter["root_package"], name, contracts) for name in floor] for floor in floors]


def _describe(package: Path, name: str, contracts: Mapping[str, Any]) -> Wing:
    is_folder = (package / name).is_dir()
    module = package / name / "__init__.py" if is_folder else package / f"{name}.py"
    docstring = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or ""
    kinds = {"pure": PURE, "apart": APART}
    looks = [kind for kind, title in kinds.items() if f"{package.name}.{name}" in contracts[title]["source_modules"]]
    title = f"{name}/" if is_folder else module.name
    return Wing(title, docstring.partition("\n")[0].removesuffix("."), " ".join(["box", *looks]))


def draw(floors: Iterable[Iterable[Wing]]) -> str:
    """The picture as SVG."""
    drawn: list[str] = []
    y = TOP
    for floor in map(list, floors):
        height = LOW if len(floor) == 1 else _height_of_columns(floor)
        drawn += _draw_floor(floor, y, height)
        y += height + GAP
    bottom = y - GAP
    drawn += [*_draw_arrow(bottom), *_draw_legend(bottom + GAP + LEGEND)]
    height = bottom + GAP + LEGEND + TOP
    size = f'width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}"'
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="title">',
            '<title id="title">The wings of gitsync: each imports only what is below it</title>',
            f"<style>\n{STYLE}</style>",
            f'<rect class="page" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="8"/>',
            *drawn,
            "</svg>\n",
        )
    )


def _draw_floor(floor: list[Wing], y: int, height: int) -> list[str]:
    width = (RIGHT - LEFT - GAP * (len(floor) - 1)) / len(floor)
    drawn: list[str] = []
    for number, wing in enumerate(floor):
        x = LEFT + number * (width + GAP)
        drawn.append(f'<rect class="{wing.looks}" x="{x:g}" y="{y}" width="{width:g}" height="{height}" rx="5"/>')
        drawn.append(_write("name", x + 11, y + 22, wing.name))
        if len(floor) == 1:
            drawn.append(_write("line", x + LINES_AT, y + 22, wing.line))
        else:
            drawn += (_write("line", x + 11, y + 43 + LINE * n, part) for n, part in enumerate(_wrap(wing)))
    return drawn


def _height_of_columns(floor: list[Wing]) -> int:
    return LOW + 1 + LINE * max(len(_wrap(wing)) for wing in floor)


def _wrap(wing: Wing) -> list[str]:
    return textwrap.wrap(wing.line, COLUMNS, break_long_words=False)


def _draw_arrow(bottom: int) -> list[str]:
    x, middle = 23, (TOP + bottom) // 2
    return [
        f'<path class="arrow" d="M{x} {TOP}V{middle - 34}M{x} {middle + 34}V{bottom}l-5 -8M{x} {bottom}l5 -8"/>',
        f'<text text-anchor="middle" transform="translate({x + 4} {middle}) rotate(-90)">imports</text>',
    ]


def _draw_legend(y: int) -> list[str]:
    rows = ((LEFT, "pure", "pure: no I/O, no clock"), (LEFT + 208, "apart", "shares no conversion with the client"))
    drawn: list[str] = []
    for x, look, text in rows:
        drawn.append(f'<rect class="box {look}" x="{x}" y="{y - 11}" width="22" height="13" rx="3"/>')
        drawn.append(_write("line", x + 31, y, text))
    return drawn


def _write(look: str, x: float, y: int, text: str) -> str:
    return f'<text class="{look}" x="{x:g}" y="{y}">{escape(text)}</text>'
