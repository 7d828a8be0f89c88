"""Secrets that Azure answers, but not by their value: an empty text, stars, a reference to where it keeps them."""

from __future__ import annotations

import re
from typing import Final

from gitsync.desired.formats.json_pointer import JsonPath
from gitsync.desired.formats.secret_names import is_secret_name
from gitsync.planning.diff.hints import Hints
from gitsync.planning.diff.rules.rule import EquivalenceRule, Leaf, RuleOutcome

_MASK: Final = re.compile(
    r"|\*+|•+|\{\{[^{}]+\}\}|hidden|masked|redacted|<[a-z -]*(?:hidden|secret|masked|redacted)[a-z -]*>", re.IGNORECASE
)


def is_secret(path: JsonPath, hints: Hints) -> bool:
    """Return whether a leaf holds a secret: by the facts, or by its name or that of something that it is in."""
    if hints.told(path) == "secret":
        return True
    return any(is_secret_name(step) for step in path if isinstance(step, str))


def _compare_masks(leaf: Leaf) -> RuleOutcome | None:
    # Stars or an empty text in any other field are a value that differs.
    if not _MASK.fullmatch(leaf.live) or not is_secret(leaf.path, leaf.hints):
        return None
    return RuleOutcome.UNTOLD


def _compare_encrypted(leaf: Leaf) -> RuleOutcome | None:
    is_encrypted = leaf.find_in_answer("properties", "input", "encryptedKeyForSecureFields")
    return RuleOutcome.UNTOLD if is_encrypted and is_secret(leaf.path, leaf.hints) else None


MASK_RULES: Final = (
    EquivalenceRule(
        name="a secret",
        evidence="Recorded: Cosmos DB and Kubernetes extensions answer secrets with an empty text, API Management "
        "with the name of a value that it keeps: '{{Logger-Credentials--…}}'.",
        decide=_compare_masks,
    ),
    EquivalenceRule(
        name="an encrypted secret",
        evidence="Recorded six times: a task of Database Migration answers passwords encrypted, beside their key, "
        "encryptedKeyForSecureFields.",
        decide=_compare_encrypted,
    ),
)
