"""Which groups are those of ASO: in an apiVersion, and as a mention in a text that is not parsed.

Other operators have groups that end with `.azure.com` too, and drivers of AKS have such names. So a group counts if the
catalog has it or one nearly like it; an unknown one counts only with what ASO alone has: a date as its version.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Final

from gitsync.catalog.catalog import Catalog, open_catalog
from gitsync.problems.suggest import measure_distance

GROUPS: Final = ".azure.com"  # the end of every group of ASO

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
"""Groups of other operators with the same end. Those below them are theirs too, such as
approuting.kubernetes.azure.com.
"""

_FOREIGN_ENDS: Final = tuple(f".{group}" for group in FOREIGN)

ASO_VERSION: Final = re.compile(r"v(1api|1beta)?\d{8}(preview|storage)?")
"""Versions that only ASO has: dates, where Kubernetes has numbers."""

_LETTERS: Final = 2  # as many may be wrong
_SHORT: Final = 6  # a name with fewer letters is near to too many: one letter of it may be wrong

_END: Final = re.compile(rb"\.azure\.com(?:/(?P<version>v[0-9a-z]*|\$|\{\{)|[\"'\s,}\]]|\Z)")
"""How a group ends in a text of small letters, with the version behind it. URLs of Azure and annotations have other
texts after the slash.
"""

_NAME: Final = b"abcdefghijklmnopqrstuvwxyz0123456789-."
_LONGEST: Final = 100  # letters before the end
_PARTS: Final = (b"}", b")", b">", b"$")  # a variable or a template stands before, so the group may be any

_RULES: Final = re.compile(rb"\bapigroups[\"']?:(?:[ \t]*\[[^\]\[]*\]|[ \t]*(?:\r?\n[ \t]*-[^\n]*)+)")
"""The groups in a rule of a role or a webhook, which is about objects and has none inside."""


@cache
def load_catalog() -> Catalog:
    return open_catalog()


@lru_cache(maxsize=1024)
def is_ours(api_version: str) -> bool:
    """Return whether an apiVersion is one of ASO, or was meant as one."""
    group, _, version = api_version.casefold().rpartition("/")
    if not group.endswith(GROUPS) or is_foreign(group):
        return False
    return find_near_group(group) is not None or ASO_VERSION.fullmatch(version) is not None


def is_foreign(group: str) -> bool:
    """Return whether a group in small letters is known to be of another operator."""
    return f".{group}".endswith(_FOREIGN_ENDS)


@lru_cache(maxsize=1024)
def find_near_group(text: str) -> str | None:
    """Find the group of ASO that a text in small letters is, or nearly is; None if it is like none of them."""
    groups = load_catalog().groups()
    if text in groups:
        return text
    name = text.removesuffix(GROUPS)
    limit = _LETTERS if len(name) >= _SHORT or name == text else 1
    ranked = ((measure_distance(text, group, limit), group) for group in groups)
    return min(((edits, group) for edits, group in ranked if edits is not None), default=(0, None))[1]


def mentions_aso(contents: Iterable[bytes]) -> bool:
    """Return whether one of these files names an ASO group for an object. They may be files that are not built or
    rendered yet.
    """
    return any(map(_has_mention, contents))


def _has_mention(content: bytes) -> bool:
    text = content.lower()
    if b"apigroups" in text:
        text = _RULES.sub(b"", text)
    return any(_is_mention(text, end) for end in _END.finditer(text))


def _is_mention(text: bytes, end: re.Match[bytes]) -> bool:
    before = text[max(0, end.start() - _LONGEST) : end.start()]
    rest = before.rstrip(_NAME)
    group = before[len(rest) :].decode()
    version = (end["version"] or b"").decode()
    return rest.endswith(_PARTS) or is_ours(f"{group}{GROUPS}/{version}")
