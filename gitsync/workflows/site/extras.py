"""What other commands found, from the folder of `--with`: the JSON of `gitsync unmanaged` and `gitsync audit`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from gitsync.desired.formats.people import hide_people_within
from gitsync.desired.formats.strict_json import read_json
from gitsync.errors import SourceError
from gitsync.model.attribution import AuthorKind
from gitsync.report.site.site_data import Extras

_MEMBERS: Final = {"coverage": {"scopes", "unmanaged", "resources"}, "audit": {"operations", "counts", "until"}}
"""By which the reports of the two commands are recognized."""

_HINT: Final = "Leave the output of `gitsync unmanaged --output json` and `gitsync audit --output json` there."
_PEOPLE: Final = frozenset({AuthorKind.PERSON.value, AuthorKind.UNKNOWN.value})
_MOST_BYTES: Final = 50_000_000


def read_extras(folder: Path) -> Extras:
    """Read the JSON files of a folder, without names of people. SourceError if it has none, or one that is neither of
    the two reports.
    """
    try:
        files = sorted(path for path in folder.iterdir() if path.suffix == ".json")
        # A pipe would be waited for without end.
        special = [path for path in files if not path.is_file()]
        contents = {path: path.read_bytes() for path in files if not special and path.stat().st_size <= _MOST_BYTES}
    except OSError as error:
        raise SourceError(f"--with {folder} cannot be read: {error.strerror}.", hint="Give a folder.") from error
    if not files:
        raise SourceError(f"--with {folder} has no JSON file.", hint=_HINT)
    if special:
        raise SourceError(f"{special[0]} is not a file.", hint="Remove it, or name another folder in --with.")
    found: dict[str, list[tuple[str, str]]] = {kind: [] for kind in _MEMBERS}
    for path in files:
        kind, text = _read(path, contents.get(path))
        found[kind].append((path.name, text))
    return Extras(coverage=found["coverage"], audit=found["audit"])


def _read(path: Path, content: bytes | None) -> tuple[str, str]:
    if content is None:
        raise SourceError(f"{path} is larger than {_MOST_BYTES:,} bytes.", hint=_HINT)
    try:
        document = read_json(content)
    except ValueError as error:
        raise SourceError(f"{path} is not JSON: {error}.", hint=_HINT) from error
    kinds = [kind for kind, members in _MEMBERS.items() if isinstance(document, dict) and members <= document.keys()]
    if not kinds:
        raise SourceError(f"{path} is neither a report of unmanaged resources nor an audit.", hint=_HINT)
    return kinds[0], json.dumps(_hide_authors(hide_people_within(document)), separators=(",", ":"))


def _hide_authors(value: Any) -> Any:
    """Leave out the names of authors who are people, or may be."""
    if isinstance(value, Mapping):
        # Other objects have an `author` too; only an attribution has the id of a request beside it.
        may_be_person = str(value.get("author")) in _PEOPLE and "correlationId" in value
        hidden = {"name": "", "label": ""} if may_be_person else {}
        return {name: hidden.get(name, _hide_authors(member)) for name, member in value.items()}
    return [_hide_authors(member) for member in value] if isinstance(value, list) else value
