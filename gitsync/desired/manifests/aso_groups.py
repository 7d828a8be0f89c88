"""Recognizes ASO groups: in an apiVersion, and in text that is not parsed.

Groups of other operators and names of AKS drivers end with `.azure.com` too. So a group counts if the catalog has it or
a similar one. An unknown group counts only with a version that is a date, which only ASO has.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Final

from gitsync.desired.catalog.catalog import Catalog, open_catalog
from gitsync.desired.problems.suggest import measure_distance
from gitsync.model.gvk import AZURE_GROUP, AZURE_RESOURCE

GROUPS: Final = ".azure.com"  # the end of every ASO group

FOREIGN: Final = frozenset(
    {
        "acn.azure.com",
        "clusterconfig.azure.com",
        "containerstorage.azure.com",
        "fleet.azure.com",
        "karpenter.azure.com",
        "kubernetes.azure.com",
    }
)
"""Groups of other operators with the same end. Groups below them are theirs too: approuting.kubernetes.azure.com."""

_FOREIGN_ENDS: Final = tuple(f".{group}" for group in FOREIGN)

ASO_VERSION: Final = re.compile(r"v(1api|1beta)?\d{8}(preview|storage)?")
"""Versions that only ASO has: dates, where Kubernetes has numbers."""

_LETTERS: Final = 2  # that may be wrong
_SHORT: Final = 6  # a shorter name is similar to too many: only one letter may be wrong

_END: Final = re.compile(rb"\.azure\.com(?:/(?P<version>v[0-9a-z]*|\$|\{\{)|[\"'\s,}\]]|\Z)")
"""The end of a group in lower-case text, with its version. Azure URLs and annotations continue differently."""

_OWN: Final = re.compile(
    rb"\b%b/v|\bkind[\"']?:[ \t]*[\"']?%b\b" % (re.escape(AZURE_GROUP.encode()), AZURE_RESOURCE[1].lower().encode())
)
"""gitsync's own group with a version, or its kind, whose group may be misspelt, in lower-case text."""

_NAME: Final = b"abcdefghijklmnopqrstuvwxyz0123456789-."
_LONGEST: Final = 100  # letters before the end
_PARTS: Final = (b"}", b")", b">", b"$")  # the end of a variable or template, so the group may be any

_RULES: Final = re.compile(rb"\bapigroups[\"']?:(?:[ \t]*\[[^\]\[]*\]|[ \t]*(?:\r?\n[ \t]*-[^\n]*)+)")
"""The groups in a rule of a role or a webhook, which refers to objects but contains none."""


@cache
def load_catalog() -> Catalog:
    return open_catalog()


@lru_cache(maxsize=1024)
def is_ours(api_version: str) -> bool:
    """Return whether an apiVersion belongs to ASO or gitsync, or was meant to."""
    group, _, version = api_version.casefold().rpartition("/")
    if find_own_group(group):
        return True
    if not group.endswith(GROUPS) or is_foreign(group):
        return False
    return find_near_group(group) is not None or ASO_VERSION.fullmatch(version) is not None


@lru_cache(maxsize=1024)
def find_own_group(text: str) -> str | None:
    """Return gitsync's own group if a lower-case text is or resembles it; None for any other."""
    return AZURE_GROUP if measure_distance(text, AZURE_GROUP, _LETTERS) is not None else None


def is_foreign(group: str) -> bool:
    """Return whether a lower-case group is known to belong to another operator."""
    return f".{group}".endswith(_FOREIGN_ENDS)


@lru_cache(maxsize=1024)
def find_near_group(text: str) -> str | None:
    """Find the group that a lower-case text is or resembles, one of ASO or gitsync's own; None if it resembles none."""
    if (own := find_own_group(text)) is not None:
        return own
    groups = load_catalog().groups()
    if text in groups:
        return text
    name = text.removesuffix(GROUPS)
    limit = _LETTERS if len(name) >= _SHORT or name == text else 1
    ranked = ((measure_distance(text, group, limit), group) for group in groups)
    return min(((edits, group) for edits, group in ranked if edits is not None), default=(0, None))[1]


def mentions_aso(contents: Iterable[bytes]) -> bool:
    """Return whether one of these files names an ASO group for an object. Files need not be built or rendered yet."""
    return any(map(_has_mention, contents))


def _has_mention(content: bytes) -> bool:
    text = content.lower()
    # The rules of a role name groups and declare no object of them.
    if b"apigroups" in text:
        text = _RULES.sub(b"", text)
    return any(_is_mention(text, end) for end in _END.finditer(text)) or _OWN.search(text) is not None


def _is_mention(text: bytes, end: re.Match[bytes]) -> bool:
    before = text[max(0, end.start() - _LONGEST) : end.start()]
    rest = before.rstrip(_NAME)
    group = before[len(rest) :].decode()
    version = (end["version"] or b"").decode()
    return rest.endswith(_PARTS) or is_ours(f"{group}{GROUPS}/{version}")
