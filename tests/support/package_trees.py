"""The texts and syntax trees of modules: the package is parsed once for all rules about it, which takes a second.

Files with such rules have the mark `together("package")`, so that one process has the trees.
"""

from __future__ import annotations

import ast
import gc
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import gitsync

PACKAGE = Path(gitsync.__file__).parent


@cache
def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def parse(path: Path) -> ast.Module:
    return trees().get(path) or ast.parse(read(path))


@cache
def trees() -> Mapping[Path, ast.Module]:
    """Each module of the package. No garbage is looked for among them, which would take as long as to parse."""
    gc.disable()
    try:
        return {path: ast.parse(read(path)) for path in sorted(PACKAGE.rglob("*.py"))}
    finally:
        gc.freeze()
        gc.enable()
