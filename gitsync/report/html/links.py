"""Makes the links of the page: to the Azure portal, and to commits and files on the host of the repository (GitHub,
GitLab, Azure DevOps).

Each is an https address that is made here, of a host from a table or of the checked remote; "" where there is none. The
remote, the paths and the commits come from outside: a link leads to the host of the remote, and has every part
percent-encoded. Where any part is not what that host has, there is no link.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import quote, unquote, urlsplit

from gitsync.model.problem import SourceLocation
from gitsync.model.report import Report
from gitsync.model.result import Result

_PORTALS = {
    "management.azure.com": "https://portal.azure.com",
    "management.usgovcloudapi.net": "https://portal.azure.us",
    "management.chinacloudapi.cn": "https://portal.azure.cn",
}
"""Host of the endpoint → portal: public, US Government, China (21Vianet)."""

_SCOPES = ("/subscriptions/", "/providers/")
_SCP_LIKE = re.compile(r"(?:[\w.+-]+@)?([A-Za-z0-9.-]+):(?!/)(.+)", re.ASCII)
_HOST = re.compile(r"[a-z0-9-]+(\.[a-z0-9-]+)+")
_NAME = re.compile(r"[\w~. +()&'!$-]{1,200}", re.ASCII)
_COMMIT = re.compile(r"[0-9a-f]{7,64}")

_MakeBase = Callable[[str, Sequence[str]], str]
"""The address of a repository's pages, of its host and the parts of its path; "" if such a host has none there."""

_BLOB = "blob/{commit}/{path}#L{line}"
_ITEM = (
    "?path=/{path}&version=GC{commit}&line={line}&lineEnd={line}&lineStartColumn=1&lineEndColumn=200&lineStyle=plain"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """What links of one report are made of."""

    portal: str  # the address of the Azure portal
    forge: Forge | None  # None if the repository has no pages
    revision: str | None  # the commit that files are linked at, None for a folder
    root: str  # paths of files are relative to this folder of the repository

    def make_portal_link(self, result: Result) -> str:
        """Make the link to a resource in the portal, if Azure has it."""
        return link_to_portal(self.portal, result.arm_id or "") if result.ending.exists else ""

    def make_commit_link(self, commit: str | None) -> str:
        return self.forge.make_commit_link(commit) if self.forge else ""

    def make_source_link(self, source: SourceLocation | None) -> str:
        """Make the link to the line of a manifest, in the revision of the run."""
        if source is None or self.forge is None:
            return ""
        path = f"{self.root}/{source.path}" if self.root else source.path
        # An uncommitted working tree has no revision, and so no link.
        return self.forge.make_line_link(self.revision, path, source.line)


def find_portal(endpoint: str) -> str:
    """Find the address of the portal of a cloud by the endpoint of its ARM; "" for an emulator."""
    return _PORTALS.get(_read_host(endpoint), "")


def link_to_portal(portal: str, arm_id: str) -> str:
    """Make the link to a resource in a portal; "" for an id that no portal shows, and without a portal."""
    is_shown = portal and arm_id.startswith(_SCOPES)
    return f"{portal}/#resource{quote(arm_id, errors='replace')}" if is_shown else ""


def make_links(report: Report) -> Links:
    return Links(
        portal=find_portal(report.target.endpoint),
        forge=find_forge(report.target.repository),
        revision=report.revision,
        root=report.source.root.strip("/"),
    )


def _read_host(endpoint: str) -> str:
    try:
        return urlsplit(endpoint).hostname or ""
    except ValueError:
        return ""


class Forge(NamedTuple):
    """The pages of one repository: where they begin, and how the address of a commit and of a line goes on."""

    base: str
    commit: str
    line: str

    def make_commit_link(self, commit: str | None) -> str:
        """Make the link to the page of a commit; "" if the text is not a commit id."""
        return self.base + self.commit.format(commit=commit) if commit and _COMMIT.fullmatch(commit) else ""

    def make_line_link(self, commit: str | None, path: str, line: int) -> str:
        """Make the link to a line of a file (its path from the top of the repository) in a commit; "" for a path that
        leads out of it.
        """
        parts = path.split("/")
        if not (commit and _COMMIT.fullmatch(commit)) or {"", ".", ".."} & set(parts):
            return ""
        return self.base + self.line.format(commit=commit, path=quote(path, errors="replace"), line=max(line, 1))


def find_forge(remote: str) -> Forge | None:
    """Find the pages of a remote, as git writes its URL; None if it is a folder, or its host is not known."""
    host, names = _split_remote(remote)
    for pattern, make_base, commit, line in _FORGES:
        if re.fullmatch(pattern, host) and (base := make_base(host, names)):
            return Forge(base, commit, line)
    return None


def _split_remote(remote: str) -> tuple[str, Sequence[str]]:
    """Split a remote into its host and the parts of its path, encoded; ("", ()) unless all of it is as expected."""
    try:
        host, path = _read_url(remote)
    except ValueError:
        return "", ()
    # Decoded before the check, since a browser takes `%2e%2e` for `..` as well.
    names = [unquote(name) for name in path.strip("/").removesuffix(".git").split("/")]
    # `.` and `..` would lead out of the repository.
    if not _HOST.fullmatch(host) or not all(_NAME.fullmatch(name) and name.strip(".") for name in names):
        return "", ()
    return host, [quote(name, safe="") for name in names]


def _read_url(remote: str) -> tuple[str, str]:
    if "://" not in remote:
        match = _SCP_LIKE.fullmatch(remote)
        return (match[1].lower(), match[2]) if match else ("", "")
    url = urlsplit(remote)
    # The ssh port is not that of the web pages; another port of https may have other pages.
    own_port = url.scheme == "https" and url.port not in {None, 443}
    if url.scheme not in {"https", "ssh"} or url.query or url.fragment or own_port:
        return "", ""
    return (url.hostname or ""), url.path


def _find_azure(host: str, names: Sequence[str]) -> str:
    """Find the pages of `org/project/_git/name`, over ssh `v3/org/project/name`; older hosts have the organisation in
    their name, and a project may be left out that is called as its repository.
    """
    match list(names):
        case ["v3", organisation, project, name]:
            pass
        case [organisation, project, "_git", name]:
            pass
        case [organisation, "_git", name]:
            project = name
        case _:
            return ""
    return f"https://{host.removeprefix('ssh.')}/{organisation}/{project}/_git/{name}"


def _find_visual_studio(host: str, names: Sequence[str]) -> str:
    organisation = host.partition(".")[0]
    # Older addresses name the collection, and the pages are the same without it.
    own = [name for name in names if name != "DefaultCollection"]
    # Over ssh, the host is vs-ssh for everybody, and the path names the organisation.
    return _find_azure("dev.azure.com", own if own[:1] == ["v3"] else [organisation, *own])


_FORGES: tuple[tuple[str, _MakeBase, str, str], ...] = (
    (
        # A host such as github.com.example.org only begins as a known one.
        r"(ssh\.)?github\.com|github\.(?!com\.).+|.+\.ghe\.com",
        lambda host, names: f"https://{host.removeprefix('ssh.')}/{'/'.join(names)}" if len(names) == 2 else "",
        "/commit/{commit}",
        f"/{_BLOB}",
    ),
    (
        r"(altssh\.)?gitlab\.com|gitlab\.(?!com\.).+",
        # GitLab has groups in groups, so there may be more than two names.
        lambda host, names: f"https://{host.removeprefix('altssh.')}/{'/'.join(names)}" if len(names) >= 2 else "",
        "/-/commit/{commit}",
        f"/-/{_BLOB}",
    ),
    (r"(ssh\.)?dev\.azure\.com", _find_azure, "/commit/{commit}", _ITEM),
    (r".+\.visualstudio\.com", _find_visual_studio, "/commit/{commit}", _ITEM),
)
"""The host, where the pages of its repositories are, and what follows for a commit and for a line. A server of its own
is known by its first name: github.contoso.com, gitlab.contoso.com.
"""
