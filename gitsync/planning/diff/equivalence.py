"""When two leaves with different spellings mean the same to ARM: the rules, in their order.

The first rule that returns "the same" or "unknown" decides. Otherwise the first rule that applies to the leaf names the
difference.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from gitsync.desired.formats.json_members import is_number
from gitsync.desired.formats.json_pointer import JsonPath
from gitsync.desired.formats.list_pairing import TAGS
from gitsync.planning.diff.hints import Hints
from gitsync.planning.diff.rules.addresses import ADDRESS_RULES, ID_RULES
from gitsync.planning.diff.rules.masks import MASK_RULES
from gitsync.planning.diff.rules.quantities import MIXED_RULES, QUANTITY_RULES, TIME_RULES
from gitsync.planning.diff.rules.rule import EquivalenceRule, Leaf, RuleOutcome
from gitsync.planning.diff.rules.single_types import TYPE_RULES, fits, list_type_rules
from gitsync.planning.diff.rules.texts import TEXT_RULES
from gitsync.planning.diff.rules.words import WORD_RULES

SPELLING_RULES: Final = (
    *MASK_RULES,
    *WORD_RULES,
    *ID_RULES,
    *TIME_RULES,
    *ADDRESS_RULES,
    *QUANTITY_RULES,
    *TEXT_RULES,
)
"""Rules for two texts."""

READ_FROM_ANSWER: Final = frozenset(
    rule.name for rule in (*SPELLING_RULES, *(row.rule for row in TYPE_RULES)) if rule.reads_answer
)
"""The names of the rules that read two leaves of the answer."""


def compare_values(path: JsonPath, desired: Any, live: Any, hints: Hints) -> tuple[RuleOutcome, str]:
    """Compare two leaves: the outcome, and the name of the rule that decided ("" for exactly the same, or none)."""
    # In Python, True equals 1; in JSON a boolean is never a number.
    is_comparable = type(desired) is type(live) or (is_number(desired) and is_number(live))
    if is_comparable and desired == live:
        return RuleOutcome.SAME, ""
    if path and path[0] == TAGS:  # free text, which Azure keeps unchanged
        return RuleOutcome.OTHER, ""
    leaf = Leaf(path, desired, live, hints)
    rule_name = ""
    for rule in _iterate_rules(leaf):
        outcome = rule.decide(leaf)
        if outcome is RuleOutcome.SAME or outcome is RuleOutcome.UNTOLD:
            return outcome, rule.name
        if outcome is RuleOutcome.OTHER:
            # The first rule that applies explains the difference best: the later ones are more general.
            rule_name = rule_name or rule.name
    return RuleOutcome.OTHER, rule_name


def _iterate_rules(leaf: Leaf) -> Iterator[EquivalenceRule]:
    yield from (row.rule for row in list_type_rules(leaf.path, leaf.hints) if fits(row, leaf.desired, leaf.live))
    texts = [isinstance(side, str) for side in (leaf.desired, leaf.live)]
    if all(texts):
        yield from SPELLING_RULES
    elif any(texts):
        yield from MIXED_RULES
