"""The kinds and their fields: look-ups in the packed facts.

Separate from the facts' shapes (model/facts), because reading and unpacking is a decision of cost: the index is read at
once, a group when one of its kinds is needed, and of a group the versions that are needed.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, Final, NamedTuple

from gitsync.desired.catalog import data
from gitsync.desired.catalog.any_type import VERSION, TypeAndVersion, make_kind
from gitsync.desired.catalog.own_kinds import OWN_KINDS
from gitsync.desired.catalog.version_annotation import read_api_version
from gitsync.errors import CatalogError
from gitsync.model.facts import Kind, ListLevel, Scope
from gitsync.model.gvk import AZURE_GROUP, AZURE_RESOURCE, GVK
from gitsync.model.provider import Provider
from gitsync.model.record import Record
from gitsync.model.resource import Resource

LEGACY = "v1api"


class Catalog:
    """All ASO kinds, and `AzureResource` for any ARM type. Its only mutable state is the cache of unpacked facts."""

    def __init__(self, read: Callable[[str], bytes]) -> None:
        self._read = read
        (index,) = self._unpack("index", "index.json.xz")
        self._index: Mapping[str, Mapping[str, Any]] = {**self._parse("index", index), **_OWN}
        self._groups: dict[str, _Group] = {}
        self._kinds: dict[GVK, Kind | None] = {}
        self._any_types: dict[TypeAndVersion, Kind] = {}
        self._at_versions: dict[tuple[GVK, str], Kind] = {}
        self._arm_types: Mapping[str, tuple[str, str]] | None = None

    def kind(self, gvk: GVK) -> Kind | None:
        """The kind that a manifest names; None if the catalog has no such kind or version.

        Both spellings of a version are accepted (`v1api20230101`, `v20230101`), even if ASO serves only one; if both
        exist with different shapes, the given spelling counts. A version that the release of the catalog removed is
        accepted too, and nothing lists it.
        """
        if gvk not in self._kinds:
            self._kinds[gvk] = self._find_kind(gvk)
        return self._kinds[gvk]

    def kind_of(self, resource: Resource) -> Kind | None:
        """The kind of a manifest; None if the catalog has no such kind or version, or its `spec.type` is malformed."""
        # An AzureResource at a version that gitsync does not have is as unknown as any other kind.
        if resource.key[:2] != AZURE_RESOURCE or self.kind(resource.gvk) is None:
            kind = self.kind(resource.gvk)
            version = read_api_version(resource.annotations) if resource.annotations else ""
            return self._at_version(kind, version) if kind and version else kind
        wanted = TypeAndVersion.parse(resource.spec.get("type"))
        return self.any_type(wanted) if wanted else None

    def kind_of_record(self, record: Record) -> Kind | None:
        """The kind of a recorded resource, whose manifest may be gone; None if the catalog no longer has it."""
        gvk = GVK.parse(record.manifest.api_version, record.key.kind)
        if (gvk.group, gvk.kind) != AZURE_RESOURCE or self.kind(gvk) is None:
            kind = self.kind(gvk)
            return self._at_version(kind, record.arm_api_version) if kind and record.arm_api_version else kind
        return self.any_type(TypeAndVersion.of_record(record))

    def _at_version(self, kind: Kind, api_version: str) -> Kind:
        """Return a kind at another api-version of its type. ARM's kinds have versions, and no others."""
        # The same object lets caches by kind, such as those of hints and positions, serve all manifests of the version.
        if not kind.is_arm or kind.api_version == api_version:
            return kind
        if (kind.gvk, api_version) not in self._at_versions:
            self._at_versions[kind.gvk, api_version] = replace(kind, api_version=api_version)
        return self._at_versions[kind.gvk, api_version]

    def any_type(self, wanted: TypeAndVersion) -> Kind:
        """The kind of an `AzureResource` of a type, whether its facts are known or not."""
        if wanted not in self._any_types:
            group_kind = self.group_kind_of(wanted.arm_type)
            newest = self.newest(*group_kind) if group_kind else None
            self._any_types[wanted] = make_kind(wanted, self.by_arm_type(wanted.arm_type, wanted.api_version) or newest)
        return self._any_types[wanted]

    def find_served_version(self, gvk: GVK) -> str | None:
        """The version of a manifest as ASO serves it: as written, else in its other spelling; None for no version of
        the kind.
        """
        served = self._versions(gvk.group, gvk.kind)
        return next((version for version in list_spellings(gvk.version) if version in served), None)

    def by_arm_type(self, arm_type: str, api_version: str) -> Kind | None:
        """The kind for an ARM type (without case) at one of ARM's api-versions, in its newer spelling."""
        group_and_kind = self.group_kind_of(arm_type)
        if group_and_kind is None:
            return None
        versions = self._versions(*group_and_kind)
        spellings = [v for v in self.versions(*group_and_kind) if versions[v] == api_version]
        return self.kind(GVK(group_and_kind[0], spellings[-1], group_and_kind[1])) if spellings else None

    def group_kind_of(self, arm_type: str) -> tuple[str, str] | None:
        """The group and kind for an ARM type (without case); None if the catalog has none, or ARM has no such
        resources.
        """
        return self._load_arm_types().get(arm_type.casefold())

    def groups(self) -> tuple[str, ...]:
        """ASO's API groups, sorted."""
        return tuple(sorted(self._index.keys() - _OWN.keys()))

    def all_groups(self) -> tuple[str, ...]:
        """ASO's API groups, sorted, and then gitsync's own."""
        return (*self.groups(), AZURE_GROUP)

    def kinds(self, group: str) -> tuple[str, ...]:
        """The kinds of a group, sorted; none for an unknown group."""
        return tuple(sorted(self._index.get(group, ())))

    def versions(self, group: str, kind: str) -> tuple[str, ...]:
        """The versions of a kind as ASO spells them, oldest first; of two spellings of one, the newer last."""
        return tuple(sorted(self._versions(group, kind), key=_make_age_key))

    def newest(self, group: str, kind: str) -> Kind | None:
        """The kind at its newest version; None if the catalog does not have it."""
        versions = self.versions(group, kind)
        return self.kind(GVK(group, versions[-1], kind)) if versions else None

    def arm_type(self, group: str, kind: str) -> str | None:
        """The ARM type of a kind, the same at every version; of a kind of another provider, that of its ids."""
        entry = self._index.get(group, {}).get(kind)
        return entry["armType"] if entry else None

    def has_kind(self, group: str, kind: str) -> bool:
        """Return whether the catalog has the kind, at any version."""
        return kind in self._index.get(group, ())

    def is_arm_kind(self, group: str, kind: str) -> bool:
        """Return whether the catalog has the kind, and its resources are ARM's: only these have an id that others refer
        to.
        """
        return self.has_kind(group, kind) and self.provider(group, kind) is Provider.ARM

    def provider(self, group: str, kind: str) -> Provider:
        """Who has the resources of a kind. What the catalog no longer has was ARM's."""
        entry = self._index.get(group, {}).get(kind, {})
        return Provider(entry.get("provider", Provider.ARM))

    def list_api_versions(self) -> dict[str, tuple[str, ...]]:
        """ARM's api-versions of each ARM type that has a kind, the newest first."""
        return {
            entry["armType"]: tuple(sorted(set(entry["versions"].values()), reverse=True))
            for kinds in self._index.values()
            for entry in kinds.values()
            if _is_of_arm(entry)
        }

    def _versions(self, group: str, kind: str) -> Mapping[str, str]:
        entry = self._index.get(group, {}).get(kind)
        return entry["versions"] if entry else {}

    def _load_arm_types(self) -> Mapping[str, tuple[str, str]]:
        if self._arm_types is None:
            self._arm_types = {
                entry["armType"].casefold(): (group, kind)
                for group, kinds in self._index.items()
                for kind, entry in kinds.items()
                if _is_of_arm(entry)
            }
        return self._arm_types

    def _find_kind(self, gvk: GVK) -> Kind | None:
        version = self.find_served_version(gvk) or self._find_removed_version(gvk)
        if version is None:
            return None
        if gvk.group == AZURE_GROUP:
            return OWN_KINDS.get(gvk.kind)
        group = self._load_group(gvk.group)
        # A version with the same facts as another one is packed once, under the other's name.
        alias = group.aliases.get(version)
        of_version = alias["of"] if alias is not None and gvk.kind in alias["kinds"] else version
        levels = self._index[gvk.group][gvk.kind].get("lists", ())
        return _make_kind(gvk, self._load_version(gvk.group, of_version), levels)

    def _find_removed_version(self, gvk: GVK) -> str | None:
        # Without these, an upgrade of gitsync would turn a manifest into an error while Azure has not changed.
        removed = self._index.get(gvk.group, {}).get(gvk.kind, {}).get("removed", ())
        return next((version for version in list_spellings(gvk.version) if version in removed), None)

    def _load_version(self, name: str, version: str) -> Mapping[str, Any]:
        group = self._load_group(name)
        if version not in group.versions:
            group.versions[version] = self._parse(name, group.packed[version])
        return group.versions[version]

    def _load_group(self, name: str) -> _Group:
        if name not in self._groups:
            head, *lines = self._unpack(name, f"{name}.jsonl.xz")
            facts = self._parse(name, head)
            self._groups[name] = _Group(facts["aliases"], dict(zip(facts["versions"], lines, strict=True)), {})
        return self._groups[name]

    def _unpack(self, name: str, file: str) -> list[bytes]:
        """The lines of a file. They are not parsed: most of the versions of a group are never used."""
        try:
            return lzma.decompress(self._read(file)).split(b"\n")
        except (OSError, lzma.LZMAError) as error:
            raise _make_error(name, error) from error

    def _parse(self, name: str, line: bytes) -> Mapping[str, Any]:
        try:
            facts: Mapping[str, Any] = json.loads(line)
        except ValueError as error:
            raise _make_error(name, error) from error
        return facts


class _Group(NamedTuple):
    """The facts of one group: the line of each version, and the versions that were parsed."""

    aliases: Mapping[str, Any]
    packed: Mapping[str, bytes]
    versions: dict[str, Mapping[str, Any]]


_OWN: Final[Mapping[str, Mapping[str, Any]]] = {
    AZURE_GROUP: {
        name: {"armType": kind.arm_type, "versions": {VERSION: kind.api_version}}
        | ({} if kind.is_arm else {"provider": kind.provider.value})
        for name, kind in OWN_KINDS.items()
    }
}
"""The entries of the index for gitsync's own kinds."""


def _is_of_arm(entry: Mapping[str, Any]) -> bool:
    """Return whether an entry of the index is that of one ARM type."""
    return "provider" not in entry and bool(entry["armType"])


def _make_error(name: str, cause: Exception) -> CatalogError:
    return CatalogError(f"The packed facts of {name!r} cannot be read: {cause}.", hint="Install gitsync again.")


def list_spellings(version: str) -> tuple[str, str]:
    """A version as it is spelt, and in ASO's other spelling."""
    is_legacy = version.startswith(LEGACY)
    return version, "v" + version.removeprefix(LEGACY) if is_legacy else LEGACY + version.removeprefix("v")


@cache
def open_catalog(read: Callable[[str], bytes] = data.read) -> Catalog:
    """The catalog of this package, one in a process. `read` returns a packed file by its name; CatalogError if one is
    damaged.
    """
    return Catalog(read)


def _make_kind(gvk: GVK, version: Mapping[str, Any], levels: Iterable[str]) -> Kind:
    facts = version["kinds"][gvk.kind]
    owner = facts.get("owner")
    is_known = isinstance(owner, Mapping)
    return Kind(
        gvk=gvk,
        arm_type=facts["armType"],
        api_version=facts["apiVersion"],
        scope=Scope(facts["scope"]),
        operations=frozenset(facts["operations"]),
        owner=(owner["group"], owner["kind"]) if is_known else None,
        any_owner=owner == "any",
        fixed_azure_name=facts.get("fixedAzureName"),
        azure_name=facts.get("azureName", {}),
        spec=facts["spec"],
        status=facts["status"],
        config_maps={field: ".".join(path) for field, path in facts.get("configMaps", {}).items()},
        types=version["types"],
        legacy=gvk.version.startswith(LEGACY),
        lists=frozenset(map(ListLevel, levels)),
        provider=Provider(facts.get("provider", Provider.ARM)),
    )


def _make_age_key(version: str) -> tuple[str, bool, bool, str]:
    """Sort key: by date, a preview before the release of its day, the older spelling before the newer."""
    is_newer = not version.startswith(LEGACY)
    date = version.removeprefix(LEGACY).removeprefix("v")
    return (date[:8], not date.endswith("preview"), is_newer, version)
