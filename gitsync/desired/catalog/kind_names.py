"""Finds the kind for a name that a person typed: `Kind`, `Kind.group`, `group/version/Kind`, each with `.fields`; an
everyday name (`aks`, `key vault`), or an ARM type (`Microsoft.Network/virtualNetworks`).

Separate from `explain`: every command that takes a kind uses this.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gitsync.desired.catalog.arm_types import open_arm_types
from gitsync.desired.catalog.catalog import Catalog
from gitsync.desired.catalog.everyday_names import TERRAFORM, everyday_names, find_by_everyday_name, squash_name
from gitsync.desired.catalog.type_words import join_with_or
from gitsync.desired.problems.suggest import suggest
from gitsync.errors import ConfigError
from gitsync.model.facts import Kind
from gitsync.model.gvk import GVK


@dataclass(frozen=True, slots=True)
class KindMatch:
    """A kind, and the path of fields after its name."""

    kind: Kind
    fields: tuple[str, ...]


def find_kind(text: str, catalog: Catalog, version: str | None = None) -> KindMatch:
    """Find a kind by its name. Without a version, the newest one that is not a preview is used.

    ConfigError for an unknown name, with the nearest one, and for a name in several groups, with the choices.
    """
    group, version_in_text, word, fields = _parse(text, catalog)
    group, kind = _find_group_and_kind(group, word, catalog)
    requested = version or version_in_text
    chosen_version = (
        requested.removeprefix(f"{group}/") if requested is not None else choose_newest_version(group, kind, catalog)
    )
    match = catalog.kind(GVK(group, chosen_version, kind))
    if match is None:
        raise ConfigError(
            f"{kind} of {group} has no version {chosen_version}.",
            hint=f"Known versions: {join_with_or(reversed(catalog.versions(group, kind)), 100)}.",
        )
    return KindMatch(match, fields)


def _parse(text: str, catalog: Catalog) -> tuple[str, str | None, str, tuple[str, ...]]:
    """Group ("" for any), version, kind and fields of a name."""
    if (group_kind := catalog.group_kind_of(text)) is not None:
        return group_kind[0], None, group_kind[1], ()
    if "/" in text:
        group, _, rest = text.partition("/")
        version, _, kind_and_fields = rest.rpartition("/")
        word, *fields = kind_and_fields.split(".")
        return group, version or None, word, tuple(filter(None, fields))
    word, *rest_words = text.split(".")
    tail = ".".join(rest_words).casefold()
    for group in catalog.all_groups():
        if tail == group or tail.startswith(group + "."):
            return group, None, word, tuple(rest_words[group.count(".") + 1 :])
    return "", None, word, tuple(filter(None, rest_words))


def _find_group_and_kind(group: str, word: str, catalog: Catalog) -> tuple[str, str]:
    """The group and the proper spelling of a kind."""
    groups = [g for g in catalog.all_groups() if group in {"", g}]
    if not groups:
        close = suggest(group, catalog.groups())
        hint = f"Did you mean {close}?" if close else f"Known groups: {join_with_or(catalog.groups(), 100)}."
        raise ConfigError(f"There is no group {group}.", hint=hint)
    group_kinds = _list_group_kinds(word, groups, catalog)
    if len(group_kinds) > 1:
        choices = join_with_or(f"{kind}.{group}" for group, kind in group_kinds)
        raise ConfigError(f"{group_kinds[0][1]} is a kind of several groups.", hint=f"Use {choices}.")
    if group_kinds:
        return group_kinds[0]
    raise _make_unknown_error(group, word, groups, catalog)


def _list_group_kinds(word: str, groups: list[str], catalog: Catalog) -> list[tuple[str, str]]:
    """The kinds of a name: as it is in any case, as an everyday name, or with blanks, dashes or a plural s."""
    kinds = [(group, kind) for group in groups for kind in catalog.kinds(group)]
    # The exact name comes first: an everyday name may be that of a kind in another group.
    if exact := [group_kind for group_kind in kinds if group_kind[1].casefold() == word.casefold()]:
        return exact
    word = TERRAFORM.get(word.casefold(), word.removeprefix("azurerm_"))
    if exact := [group_kind for group_kind in kinds if ".".join(reversed(group_kind)) == word]:
        return exact
    everyday = find_by_everyday_name(word)
    if everyday is not None and everyday[0] in groups:
        return [everyday]
    squashed = squash_name(word)
    spellings = {squashed, squashed.removesuffix("s"), squashed.removesuffix("es")}
    return [group_kind for group_kind in kinds if group_kind[1].casefold() in spellings]


def _make_unknown_error(group: str, word: str, groups: list[str], catalog: Catalog) -> ConfigError:
    known = [kind for g in groups for kind in catalog.kinds(g)]
    known += [] if group else everyday_names()
    close = suggest(word, known)
    group_note = f" in {group}" if group else ""
    # The index of all ARM types is unpacked only for a name that is like no kind.
    types = () if close or group else open_arm_types().suggest_types(word)
    hint = f"Known kinds{group_note}: {join_with_or(known)}."
    if close or types:
        hint = f"Did you mean {close or join_with_or(types)}?"
    return ConfigError(f"There is no kind {word or '(none)'}{group_note}.", hint=hint)


def choose_newest_version(group: str, kind: str, catalog: Catalog) -> str:
    """The newest version of a kind that is not a preview; of one that has only previews, the newest."""
    return choose_newest(catalog.versions(group, kind))


def choose_newest(versions: Sequence[str]) -> str:
    """The last of versions, sorted by age, that is not a preview; of previews alone, the last."""
    stable = [version for version in versions if not version.endswith("preview")]
    return (stable or versions)[-1]
