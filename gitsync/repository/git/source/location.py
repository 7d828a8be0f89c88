"""Checks SOURCE, --ref and --path before git gets them.

Separate from the checkout, because all of them are untrusted and end on git's command line: this module rejects
anything that git could take for an option, another transport or a path out of the source. A password is removed from
its URL, since every user of the machine can read command lines.
"""

from __future__ import annotations

import ipaddress
import os
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import SplitResult, unquote, urlsplit

from gitsync.errors import SourceError
from gitsync.model.secret import Secret

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_HOST = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9._-]*[A-Za-z0-9])?\.?")
_SCP_LIKE = re.compile(r"(?:(?P<user>[A-Za-z0-9_][A-Za-z0-9._+-]*)@)?(?P<host>[^/:@]+):(?P<path>[^:-].*)")
_COMMIT_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
# Names that git's own rules (git-check-ref-format) reject, and names with a leading dash.
_BAD_REF = re.compile(r"^[-/.]|[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(/|$)|[./]$|^@$")


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder on this machine, read with uncommitted changes."""

    path: Path


@dataclass(frozen=True, slots=True)
class Url:
    """A repository that git must fetch from."""

    text: str  # without a password; the user name of an ssh URL is part of the address, and stays
    scheme: str  # "https", "ssh", "file", or "http" to this machine
    user: str = ""  # the one in the URL
    password: Secret | None = None  # the one in the URL


def parse_location(text: str) -> Folder | Url:
    """Tell a folder from a URL. SourceError for what is neither, and for transports other than https, ssh and file."""
    if not text or text.startswith("-") or _CONTROL.search(text):
        raise SourceError(f"{text!r} is neither a folder nor the URL of a git repository.")
    if "://" in text:
        return _parse_url(text)
    # A folder goes before an address: `host:path` may be the name of one.
    folder = Path(text).expanduser()
    if folder.is_dir():
        return Folder(Path(os.path.realpath(folder)))
    if url := _parse_without_scheme(text):
        return url
    problem = "is not a folder" if os.path.lexists(folder) else "does not exist"
    raise SourceError(f"SOURCE {text!r} {problem}.", hint="Use a folder, or the URL of a git repository.")


def parse_remote(text: str, top: Path) -> Url:
    """Parse the URL of a remote from the git settings; a path is relative to `top`, the working tree.

    Raises SourceError for another transport, and for a path inside the working tree: it may come from a commit.
    """
    if _CONTROL.search(text):
        raise SourceError(f"{text!r} is not the URL of a git repository.")
    url = _parse_url(text) if "://" in text else _parse_without_scheme(text)
    if url is None:
        url = Url(os.path.normpath(top / text), "file")
    # A commit could bring a repository along, whose content its author chooses.
    if url.scheme == "file" and Path(os.path.realpath(folder_of(url))).is_relative_to(os.path.realpath(top)):
        raise SourceError(
            f"The remote {url.text} is inside the working tree {top}.",
            hint="Move the remote to a folder outside of it.",
        )
    return url


def folder_of(url: Url) -> Path:
    """The folder that a URL of the scheme file names."""
    parts = urlsplit(url.text)
    return Path(unquote(parts.path) if parts.scheme == "file" else url.text)


def _parse_without_scheme(text: str) -> Url | None:
    """Parse an address as scp writes it; None for a path."""
    if match := _SCP_LIKE.fullmatch(text):
        _check_host(match["host"], text)
        return Url(text, "ssh")
    if "::" in text:  # `ext::sh -c …`: git would start a helper that the URL names
        raise SourceError(f"{text!r} uses a transport that is not allowed.", hint=_TRANSPORTS)
    return None


_TRANSPORTS = "Use https://, ssh:// or file://."


def _parse_url(text: str) -> Url:
    try:
        parts = urlsplit(text)
        _ = parts.port  # computed on access, which may raise
    except ValueError as error:
        raise SourceError(f"The URL {_hide_credentials(text)!r} cannot be read: {error}.") from None
    match parts.scheme:
        case "file":
            return Url(text, "file")
        case "ssh":
            return _parse_ssh(text, parts)
        case "https":
            return _parse_web(text, parts)
        case "http" if is_loopback(parts.hostname or ""):
            return _parse_web(text, parts)
        case "http":
            raise SourceError(
                f"{_hide_credentials(text)!r} is not encrypted.",
                hint="Use https://; http:// is allowed only for this machine.",
            )
        case _:
            raise SourceError(f"{_hide_credentials(text)!r} uses a transport that is not allowed.", hint=_TRANSPORTS)


def _parse_ssh(text: str, parts: SplitResult) -> Url:
    if parts.password is not None:
        raise SourceError(
            f"{_hide_credentials(text)!r} contains a password, which ssh does not accept.", hint="Use a key."
        )
    if (parts.username or "").startswith("-"):  # ssh would read it as an option
        raise SourceError(f"The user in {_hide_credentials(text)!r} is not valid.")
    _check_host(parts.hostname or "", text)
    return Url(text, "ssh")


def _parse_web(text: str, parts: SplitResult) -> Url:
    _check_host(parts.hostname or "", text)
    # The user is removed too: `open_remote` passes it with the password or the token.
    clean = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
    password = Secret(unquote(parts.password)) if parts.password else None
    return Url(clean, parts.scheme, unquote(parts.username or ""), password)


def _check_host(host: str, text: str) -> None:
    if not (_HOST.fullmatch(host) or _is_address(host)):
        raise SourceError(f"The host in {_hide_credentials(text)!r} is not valid.")


def _hide_credentials(text: str) -> str:
    """The URL without user and password, for messages."""
    return re.sub(r"//[^/?#]*@", "//", text)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def is_loopback(host: str) -> bool:
    """Return whether `host` can only be this machine."""
    return host == "localhost" or (_is_address(host) and ipaddress.ip_address(host).is_loopback)


def is_commit_id(ref: str) -> bool:
    """Return whether `ref` is a full commit id (SHA-1 or SHA-256)."""
    return _COMMIT_ID.fullmatch(ref) is not None


def check_ref(ref: str) -> str:
    """Return `ref` if it can be the name of a branch or tag, or a commit id; SourceError otherwise."""
    if not ref or _BAD_REF.search(ref):
        raise SourceError(f"--ref {ref!r} is not the name of a branch, tag or commit.")
    return ref


def check_path(path: str) -> str:
    """Return `path` as git writes it, "" for the root of the source; SourceError if it leads out of it."""
    parts = PurePosixPath(path).parts
    if path.startswith(("-", "/")) or ".." in parts or _CONTROL.search(path) or "\\" in path:
        raise SourceError(
            f"--path {path!r} must be a folder or a file inside SOURCE.", hint="Write it like apps/production."
        )
    return "/".join(parts)
