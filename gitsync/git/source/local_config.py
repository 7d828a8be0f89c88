"""A repository's own settings: read as plain text, and used by a list.

Many of git's settings run a program (`core.sshCommand`, `filter.*`, `credential.helper`) or lead elsewhere (`url.*`,
`http.proxy`). Those in a repository may come with it, from anybody. So git never works under them: it only prints the
file, and gitsync uses the addresses of remotes, the format of the repository, and headers for a remote's own
host, which the checkouts of pipelines sign in with.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from gitsync.errors import SourceError
from gitsync.git.access import GitAccess, GitSettings, no_repository
from gitsync.git.command import GitFailedError
from gitsync.git.source.git_directory import GitDirectory
from gitsync.git.source.location import Url

_LARGEST = 1_000_000
_FORMAT = re.compile(r"core\.repositoryformatversion|extensions\.(?!worktreeconfig$|partialclone$).+")
_REMOTE = re.compile(r"remote\.(?P<name>.+)\.(?:url|pushurl)", re.DOTALL)
_HEADER = re.compile(r"http\.(?P<url>.+)\.extraheader", re.DOTALL)
_INCLUDE = re.compile(r"include(?:if\.gitdir(?P<any_case>/i)?:(?P<pattern>.+))?\.path", re.DOTALL | re.IGNORECASE)
_PORTS = {"http": 80, "https": 443}


def read_local_config(git_directory: GitDirectory, access: GitAccess) -> GitSettings:
    """The used settings of the repository's own file, in order; headers for hosts also come from included files, if
    these are outside of the working tree. SourceError if git cannot read them.
    """
    settings = list(_list_settings(git_directory.common / "config", access))
    used_settings = [setting for setting in settings if _FORMAT.fullmatch(setting[0]) or _REMOTE.fullmatch(setting[0])]
    return (*used_settings, *_list_headers(settings, git_directory, access))


def list_remotes(settings: GitSettings) -> tuple[str, ...]:
    """The names of the remotes that the settings have an address of, sorted."""
    return tuple(sorted({match["name"] for key, _ in settings if (match := _REMOTE.fullmatch(key))}))


def find_headers(url: Url, settings: GitSettings) -> GitSettings:
    """The headers among the settings that are for the host of a URL."""
    if url.scheme not in _PORTS:
        return ()
    origin = _find_origin(url.text)
    matches = ((key, value, _HEADER.fullmatch(key)) for key, value in settings)
    return tuple((key, value) for key, value, header in matches if header and _find_origin(header["url"]) == origin)


def _list_headers(
    settings: list[tuple[str, str]], git_directory: GitDirectory, access: GitAccess
) -> Iterator[tuple[str, str]]:
    """Headers in the order in which git would read them: an included file replaces its include."""
    for key, value in settings:
        if _HEADER.fullmatch(key) and value.isprintable():
            yield key, value
        elif (
            (include := _INCLUDE.fullmatch(key))
            and _does_apply(include, git_directory)
            and (file := _find_outside_file(value, git_directory))
        ):
            yield from ((k, v) for k, v in _list_settings(file, access) if _HEADER.fullmatch(k) and v.isprintable())


def _does_apply(include: re.Match[str], git_directory: GitDirectory) -> bool:
    """Tell whether an include applies: without a condition, or with one on the git directory (git-config(1),
    includeIf).
    """
    pattern = include["pattern"]
    if pattern is None:
        return True
    pattern = os.path.expanduser(pattern) + ("**" if pattern.endswith("/") else "")  # noqa: PTH111 - a pattern
    pattern = pattern if pattern.startswith("/") else f"**/{pattern}"
    change = str.casefold if include["any_case"] else str
    return fnmatchcase(change(str(git_directory.path)), change(pattern))


def _find_outside_file(value: str, git_directory: GitDirectory) -> Path | None:
    """The file that an include names, if it is a file outside the working tree and the git directory."""
    file = Path(os.path.realpath(git_directory.common / os.path.expanduser(value)))  # noqa: PTH111 - joined before it is a path
    if any(file.is_relative_to(folder) for folder in (git_directory.top, git_directory.path, git_directory.common)):
        return None
    try:
        facts = file.stat()
    except OSError:  # git skips missing files, too
        return None
    return file if stat.S_ISREG(facts.st_mode) else None


def _list_settings(file: Path, access: GitAccess) -> Iterator[tuple[str, str]]:
    """The settings of a file; git parses and prints it, without includes."""
    try:
        if file.stat().st_size > _LARGEST:
            raise SourceError(f"{file} is too large for settings of git.")
        output = no_repository(access).run("config", "--file", str(file), "--no-includes", "--null", "--list")
    except FileNotFoundError:
        return
    except OSError as error:
        raise SourceError(f"Cannot read {file}: {error.strerror}.") from error
    except GitFailedError as error:
        raise SourceError(f"git cannot read {file}: {error.message}", hint="Fix the file.") from error
    for line in os.fsdecode(output).split("\0")[:-1]:
        key, equals, value = line.partition("\n")
        # A key without a value means true, while an empty value means false.
        yield key, value if equals else "true"


def _find_origin(url: str) -> tuple[str, str, int | None] | None:
    """Scheme, host and port of a URL; None for one that has none, or that is a pattern."""
    try:
        parts: SplitResult = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return None
    return (parts.scheme, parts.hostname, port) if parts.hostname else None
