"""The types of Azure Resource Manager: their versions, scopes and bodies, at every api-version.

From the public types of Bicep (NOTICE names the commit). Unlike the catalog of ASO's kinds, it has all of Azure, but
no rules of behaviour. The index is read at the first look-up, and the bodies of a namespace with the first body of it,
so that a run without such types reads neither.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from gitsync.desired.catalog import data
from gitsync.desired.catalog.body_types import BodyType, TypeLines
from gitsync.desired.problems.suggest import suggest
from gitsync.errors import CatalogError
from gitsync.model.facts import ScopeFlag

FOLDER = "arm_types"


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
        self._index: Mapping[str, bytes] | None = None
        self._types: dict[str, ArmType] = {}
        self._namespaces: dict[str, TypeLines] = {}

    def find_type(self, name: str) -> ArmType | None:
        """Find a type by its name in any case; None if Azure has no such type, or had none when the facts were made."""
        folded = name.casefold()
        if folded not in self._types:
            line = self._load_index().get(folded)
            if line is None:
                return None
            self._types[folded] = self._make_type(line)
        return self._types[folded]

    def find_body(self, name: str, api_version: str) -> BodyType | None:
        """Find the type of the body of a type (in any case) at an api-version; None if the type or the version is not
        known, or can only be read.

        The body lacks `id`, `type` and `apiVersion`, which all bodies have and none needs.
        """
        arm_type = self.find_type(name)
        version = arm_type.find_version(api_version) if arm_type else None
        if arm_type is None or version is None or version.line is None:
            return None
        return self._load_namespace(arm_type.namespace.casefold()).get_type(version.line)

    def list_names(self) -> Sequence[str]:
        """The names of all types as Azure spells them, sorted without case, also of those that can only be read."""
        return tuple(map(_read_name, self._load_index().values()))

    def suggest_types(self, name: str) -> Sequence[str]:
        """The types that an unknown name may mean: the nearest one, else those of the same name in other namespaces,
        whether the name has a namespace or not. Empty for a name like no other.
        """
        names = self.list_names()
        if close := suggest(name, names):
            return (close,)
        first, _, rest = name.casefold().partition("/")
        path = rest if "." in first else name.casefold()
        return tuple(other for other in names if other.casefold().partition("/")[2] == path)

    def _make_type(self, line: bytes) -> ArmType:
        name, versions = self._parse("index", line)
        names = sorted(versions, key=lambda version: (version[:10], not is_preview(version), version))
        return ArmType(name, {version: _make_version(version, versions[version]) for version in names})

    def _load_index(self) -> Mapping[str, bytes]:
        if self._index is None:
            lines = self._unpack("index")
            self._index = {_read_name(line).casefold(): line for line in lines}
        return self._index

    def _load_namespace(self, namespace: str) -> TypeLines:
        if namespace not in self._namespaces:
            self._namespaces[namespace] = TypeLines(self._unpack(namespace))
        return self._namespaces[namespace]

    def _unpack(self, name: str) -> list[bytes]:
        try:
            return lzma.decompress(self._read(f"{FOLDER}/{name}.jsonl.xz")).split(b"\n")
        except (OSError, lzma.LZMAError) as error:
            raise _make_error(name, error) from error

    def _parse(self, name: str, line: bytes) -> Any:
        try:
            return json.loads(line)
        except ValueError as error:
            raise _make_error(name, error) from error


def _make_error(name: str, cause: Exception) -> CatalogError:
    return CatalogError(f"The packed types of {name!r} cannot be read: {cause}.", hint="Install gitsync again.")


def _read_name(line: bytes) -> str:
    """The name of a type, which is the first text of its line."""
    return line.split(b'"', 2)[1].decode()


def _make_version(api_version: str, packed: list[Any]) -> TypeVersion:
    line, readable, writable, *actions = packed
    return TypeVersion(api_version, ScopeFlag(readable), ScopeFlag(writable), tuple(actions), line)


@cache
def open_arm_types(read: Callable[[str], bytes] = data.read) -> ArmTypes:
    """The types of this package, one object in a process. `read` returns a packed file by its name; CatalogError if one
    is damaged.
    """
    return ArmTypes(read)
