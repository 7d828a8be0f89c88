"""Why a unit cannot be built: a problem with its place, which the caller reports for the unit."""

from __future__ import annotations

from typing import ClassVar

from gitsync.model.problem import Problem


class UnbuildableError(Exception):
    """Ends the build of one unit. `thing` is what it builds."""

    thing: ClassVar = "kustomization"
    _code: ClassVar = "KustomizationFailed"

    def __init__(self, message: str, *, hint: str = "", path: str, line: int = 1) -> None:
        super().__init__(message)
        self.problem = Problem(code=self._code, message=message, hint=hint, path=path, line=line)


class ApplicationError(UnbuildableError):
    """Ends the reading of one Application of Argo CD."""

    thing: ClassVar = "Application"
    _code: ClassVar = "ApplicationFailed"


class ChartError(UnbuildableError):
    """Ends the rendering of one Helm chart."""

    thing: ClassVar = "chart"
    _code: ClassVar = "ChartFailed"


class UnreleasedChartError(ChartError):
    """A chart that nothing releases."""

    _code: ClassVar = "HelmChart"
