"""Which kind is meant by a name that a person typed: `Kind`, `Kind.group`, `group/version/Kind`, each with `.fields`.

Separate from `explain`: every command that takes a kind uses this.
"""

from __future__ import annotations

from dataclasses import dataclass

from gitsync.catalog.catalog import NOT_ARM, Catalog
from gitsync.catalog.type_words import join_with_or
from gitsync.errors import ConfigError
from gitsync.model.facts import Kind
from gitsync.model.gvk import GVK
from gitsync.problems.suggest import suggest


@dataclass(frozen=True, slots=True)
class KindMatch:
    """A kind, and the path of fields that was named after it."""

    kind: Kind
    fields: tuple[str, ...]


def find_kind(text: str, catalog: Catalog, version: str | None = None) -> KindMatch:
    """Find what is meant. The newest version that is no preview is taken where none is named.

    ConfigError for a name that is not known, with the nearest, and for one that several groups have, with the choices.
    """
    group, named, word, fields = _split(text, catalog)
    group, kind = _home(group, word, catalog)
    chosen = _version(group, kind, version or named, catalog)
    found = catalog.kind(GVK(group, chosen, kind))
    if found is None:
        raise ConfigError(f"{kind} of {group} has no version {chosen}.", hint=_known_versions(group, kind, catalog))
    return KindMatch(found, fields)


def _split(text: str, catalog: Catalog) -> tuple[str, str | None, str, tuple[str, ...]]:
    """Group ("" for any), version, kind and fields of a name."""
    if "/" in text:
        group, _, rest = text.partition("/")
        version, _, named = rest.rpartition("/")
        word, *fields = named.split(".")
        return group, version or None, word, tuple(filter(None, fields))
    word, *rest_words = text.split(".")
    tail = ".".join(rest_words).casefold()
    for group in catalog.groups():
        if tail == group or tail.startswith(group + "."):
            return group, None, word, tuple(rest_words[group.count(".") + 1 :])
    return "", None, word, tuple(filter(None, rest_words))


def _home(group: str, word: str, catalog: Catalog) -> tuple[str, str]:
    """The group and the proper spelling of a kind."""
    groups = [g for g in catalog.groups() if group in {"", g}]
    if not groups:
        close = suggest(group, catalog.groups())
        hint = f"Did you mean {close}?" if close else f"Known groups: {join_with_or(catalog.groups(), 100)}."
        raise ConfigError(f"There is no group {group}.", hint=hint)
    homes = [(g, k) for g in groups for k in catalog.kinds(g) if k.casefold() == word.casefold()]
    if len(homes) > 1:
        choices = join_with_or(f"{kind}.{home}" for home, kind in homes)
        raise ConfigError(f"{homes[0][1]} is a kind of several groups.", hint=f"Use {choices}.")
    if homes:
        return homes[0]
    if any(kind == word and group in {"", home} for home, kind in NOT_ARM):
        raise ConfigError(f"{word} is not a kind of Azure Resource Manager.", hint="gitsync does not sync it.")
    raise _unknown(group, word, groups, catalog)


def _unknown(group: str, word: str, groups: list[str], catalog: Catalog) -> ConfigError:
    known = [kind for g in groups for kind in catalog.kinds(g)]
    close = suggest(word, known)
    where = f" in {group}" if group else ""
    hint = f"Did you mean {close}?" if close else f"Known kinds{where}: {join_with_or(known)}."
    return ConfigError(f"There is no kind {word or '(none)'}{where}.", hint=hint)


def _version(group: str, kind: str, asked: str | None, catalog: Catalog) -> str:
    if asked is not None:
        return asked.removeprefix(f"{group}/")
    versions = catalog.versions(group, kind)
    stable = [version for version in versions if not version.endswith("preview")]
    return (stable or versions)[-1]


def _known_versions(group: str, kind: str, catalog: Catalog) -> str:
    return f"Known versions: {join_with_or(reversed(catalog.versions(group, kind)), 100)}."
