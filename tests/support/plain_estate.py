"""An ordinary estate: 21 resources a group, most of them of types that have lists."""

from __future__ import annotations

from pathlib import Path
from string import Template

GROUP = Template(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
IN_A_GROUP = 21


def plain_estate(groups: int) -> dict[str, str]:
    """So many groups as files by name, a file a group."""
    return {f"g{number:03}": GROUP.substitute(n=f"{number:03}") for number in range(1, groups + 1)}
