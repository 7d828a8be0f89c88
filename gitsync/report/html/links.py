"""Where the page leads to: the portal of Azure, and commits and files on the host of the repository.

Each is an https address that is made here, of a host from a table or of the checked remote; "" where there is none.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from gitsync.model.problem import SourceLocation
from gitsync.model.report import Report
from gitsync.model.result import Result
from gitsync.report.html.forges import Forge, find_forge

_PORTALS = {
    "management.azure.com": "https://portal.azure.com",
    "management.usgovcloudapi.net": "https://portal.azure.us",
    "management.chinacloudapi.cn": "https://portal.azure.cn",
}
"""Host of the endpoint → portal: public, US Government, China (21Vianet)."""

_SCOPES = ("/subscriptions/", "/providers/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """What links of one report are made of."""

    portal: str
    forge: Forge | None
    revision: str | None
    root: str

    def make_portal_link(self, result: Result) -> str:
        """A resource in the portal, if Azure has it."""
        arm_id = result.arm_id or ""
        is_there = self.portal and result.exists and arm_id.startswith(_SCOPES)
        return f"{self.portal}/#resource{quote(arm_id, errors='replace')}" if is_there else ""

    def make_commit_link(self, commit: str | None) -> str:
        return self.forge.make_commit_link(commit) if self.forge else ""

    def make_source_link(self, source: SourceLocation | None) -> str:
        """The line of a manifest, in the revision of the run. An uncommitted working tree has none."""
        if source is None or self.forge is None:
            return ""
        path = f"{self.root}/{source.path}" if self.root else source.path
        return self.forge.make_line_link(self.revision, path, source.line)


def make_links(report: Report) -> Links:
    return Links(
        portal=_PORTALS.get(_find_host(report.target.endpoint), ""),
        forge=find_forge(report.target.repository),
        revision=report.revision,
        root=report.root.strip("/"),
    )


def _find_host(endpoint: str) -> str:
    try:
        return urlsplit(endpoint).hostname or ""
    except ValueError:
        return ""
