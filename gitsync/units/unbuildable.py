"""Why a unit cannot be built: a problem with its place, which the caller reports for the unit."""

from __future__ import annotations

from gitsync.model.problem import Problem


class UnbuildableError(Exception):
    """Ends the build of one unit."""

    def __init__(self, message: str, *, hint: str = "", path: str, line: int = 1) -> None:
        super().__init__(message)
        self.problem = Problem(code="KustomizationFailed", message=message, hint=hint, path=path, line=line)
