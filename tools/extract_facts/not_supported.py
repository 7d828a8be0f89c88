"""A part of the Go source whose form the extractor does not support."""

from __future__ import annotations

from tree_sitter import Node


class NotSupportedError(Exception):
    """`str()` has what is not supported and, once `at` has added it, the file and line."""

    def __init__(self, message: str, node: Node | None = None) -> None:
        super().__init__(message)
        self.line = node.start_point.row + 1 if node else 0

    def at(self, path: str) -> NotSupportedError:
        """The same error with its file in front."""
        where = f"{path}:{self.line}" if self.line else path
        return NotSupportedError(f"{where}: {self}")
