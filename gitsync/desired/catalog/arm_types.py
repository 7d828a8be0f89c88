"""The types of Azure Resource Manager: their versions, scopes and bodies, at every api-version.

From the public types of Bicep (NOTICE names the commit). Unlike the catalog of ASO's kinds, it has all of Azure, but
no rules of behaviour. A namespace is read with its first type, and the list of all names for suggestions alone, so that
a run without such types reads nothing.
"""

from __future__ import annotations

import json
import lzma
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Final, NamedTuple

from gitsync.desired.catalog import data
from gitsync.desired.catalog.body_types import BodyType, TypeLines
from gitsync.desired.problems.suggest import suggest
from gitsync.errors import CatalogError
from gitsync.model.facts import ScopeFlag

FOLDER: Final = "arm_types"

_NAMESPACE: Final = re.compile(r"[a-z][a-z0-9.-]{0,99}")  # it is a part of the name of a file


@dataclass(frozen=True, slots=True)
class TypeVersion:
    """One api-version of a type."""

    api_version: str
    readable: ScopeFlag
    writable: ScopeFlag  # of no scope if resources can only be read
    actions: tuple[str, ...]  # names of POST requests, such as listKeys
    line: int | None  # of its body, None if resources can only be read


@dataclass(frozen=True, slots=True)
class ArmType:
    """A type with its versions."""

    name: str  # as Azure spells it at the newest version: "Microsoft.Logic/workflows"
    versions: Mapping[str, TypeVersion]  # oldest first, a preview before the stable version of its day

    @property
    def namespace(self) -> str:
        return self.name.partition("/")[0]

    @property
    def is_writable(self) -> bool:
        """Return whether any version can be written."""
        return any(version.writable for version in self.versions.values())

    @property
    def newest_stable(self) -> str | None:
        """The newest version that is not a preview and can be written; None if there is none."""
        return self._find_newest(preview=False)

    @property
    def newest_preview(self) -> str | None:
        """The newest preview that can be written; None if there is none."""
        return self._find_newest(preview=True)

    def find_version(self, api_version: str) -> TypeVersion | None:
        """Find a version, in any case."""
        return self.versions.get(api_version.lower())

    def _find_newest(self, *, preview: bool) -> str | None:
        matching = (name for name, version in self.versions.items() if version.writable and is_preview(name) is preview)
        return max(matching, default=None)


def is_preview(api_version: str) -> bool:
    """Return whether an api-version is a preview: `2026-01-01-preview`, or with another word behind its date."""
    return len(api_version) > len("2026-01-01")


class ArmTypes:
    """All types. Its only mutable state is the cache of unpacked facts."""

    def __init__(self, read: Callable[[str], bytes]) -> None:
        self._read = read
        self._names: Sequence[str] | None = None
        self._namespaces: dict[str, _Namespace | None] = {}
        self._types: dict[str, ArmType] = {}

    def find_type(self, name: str) -> ArmType | None:
        """Find a type by its name in any case; None if Azure has no such type, or had none when the facts were made."""
        folded = name.casefold()
        if folded not in self._types:
            namespace = self._load_namespace(folded)
            found = namespace.versions.get(folded) if namespace else None
            if found is None:
                return None
            self._types[folded] = _make_type(found[0], _parse(found[0], found[1]))
        return self._types[folded]

    def find_body(self, name: str, api_version: str) -> BodyType | None:
        """Find the type of the body of a type (in any case) at an api-version; None if the type or the version is not
        known, or can only be read.

        The body lacks `id`, `type` and `apiVersion`, which all bodies have and none needs.
        """
        arm_type = self.find_type(name)
        version = arm_type.find_version(api_version) if arm_type else None
        if version is None or version.line is None:
            return None
        namespace = self._load_namespace(name.casefold())
        return namespace.bodies.get_type(version.line) if namespace else None

    @cached_property
    def revision(self) -> str:
        """The start of the commit of the source, as a name of these facts."""
        return self._read(f"{FOLDER}/revision").decode().strip()

    def list_names(self) -> Sequence[str]:
        """The names of all types as Azure spells them, sorted without case, also of those that can only be read."""
        if self._names is None:
            self._names = tuple(_unpack("index", self._read(f"{FOLDER}/index.xz")).decode().split("\n"))
        return self._names

    def suggest_types(self, name: str) -> Sequence[str]:
        """The types that an unknown name may mean: the nearest one, else those of the same name in other namespaces,
        whether the name has a namespace or not. Empty for a name like no other.
        """
        names = self.list_names()
        if close := suggest(name, names):
            return (close,)
        first, _, rest = name.casefold().partition("/")
        # A namespace has a dot; without one the whole text is the path of the type.
        path = rest if "." in first else name.casefold()
        return tuple(other for other in names if other.casefold().partition("/")[2] == path)

    def _load_namespace(self, name: str) -> _Namespace | None:
        """The namespace of a type in lower case; None if there is none."""
        namespace = name.partition("/")[0]
        if namespace not in self._namespaces:
            self._namespaces[namespace] = self._read_namespace(namespace)
        return self._namespaces[namespace]

    def _read_namespace(self, name: str) -> _Namespace | None:
        # A manifest chooses the name, and it becomes a part of a path.
        if not _NAMESPACE.fullmatch(name):
            return None
        try:
            content = self._read(f"{FOLDER}/{name}.jsonl.xz")
        except FileNotFoundError as error:
            # A file that is missing from the package must not look like a namespace that Azure does not have.
            if any(known.casefold().startswith(f"{name}/") for known in self.list_names()):
                raise _make_error(name, error) from error
            return None
        head, *lines = _unpack(name, content).split(b"\n")
        names = _parse(name, head)
        # The lines behind those of the types are bodies.
        versions = {each.casefold(): (each, line) for each, line in zip(names, lines, strict=False)}
        return _Namespace(versions, TypeLines(lines[len(names) :]))


class _Namespace(NamedTuple):
    """The facts of one namespace: of each type, in lower case, its name and the line of its versions; its bodies."""

    versions: Mapping[str, tuple[str, bytes]]
    bodies: TypeLines


def _unpack(name: str, content: bytes) -> bytes:
    try:
        return lzma.decompress(content)
    except lzma.LZMAError as error:
        raise _make_error(name, error) from error


def _parse(name: str, line: bytes) -> Any:
    try:
        return json.loads(line)
    except ValueError as error:
        raise _make_error(name, error) from error


def _make_type(name: str, versions: Mapping[str, list[Any]]) -> ArmType:
    names = sorted(versions, key=lambda version: (version[:10], not is_preview(version), version))
    return ArmType(name, {version: _make_version(version, versions[version]) for version in names})


def _make_error(name: str, cause: Exception) -> CatalogError:
    return CatalogError(f"The packed types of {name!r} cannot be read: {cause}.", hint="Install gitsync again.")


def _make_version(api_version: str, packed: list[Any]) -> TypeVersion:
    line, readable, writable, *actions = packed
    return TypeVersion(api_version, ScopeFlag(readable), ScopeFlag(writable), tuple(actions), line)


@cache
def open_arm_types(read: Callable[[str], bytes] = data.read) -> ArmTypes:
    """The types of this package, one object in a process. `read` returns a packed file by its name; CatalogError if one
    is damaged.
    """
    return ArmTypes(read)
