"""Documents in a text: XML, JSON, and text of several lines, compared as what they mean.

What comes from a manifest or from Azure is untrusted: XML that declares a document type, and so could declare entities,
is not parsed and counts as plain text.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final, NamedTuple, NoReturn
from xml.parsers import expat

from gitsync.planning.diff.rules.rule import EquivalenceRule, Leaf, RuleOutcome, make_outcome

_BETWEEN_TAGS: Final = re.compile(r">\s+<")
_EMPTY_TAG: Final = re.compile(r"(?<!\s)\s+/>")  # from the first blank alone, or many blanks take time by the square


class _Refused(Exception):  # noqa: N818 - no error: the text is compared as text then
    """The document is not one that is read here."""


def _compare_xml(leaf: Leaf) -> RuleOutcome | None:
    if not (_is_tagged(leaf.desired) and _is_tagged(leaf.live)):
        return None
    desired, found = parse_xml(leaf.desired), parse_xml(leaf.live)
    if (
        desired is None or found is None
    ):  # policies with expressions in attributes are not XML; blanks between tags still do not count
        return make_outcome(_close_tags(leaf.desired) == _close_tags(leaf.live))
    return make_outcome(desired == found)


def _is_tagged(text: str) -> bool:
    return text.lstrip("\ufeff \t\r\n").startswith("<") and text.rstrip().endswith(">")


def _close_tags(text: str) -> str:
    return _EMPTY_TAG.sub("/>", _BETWEEN_TAGS.sub("><", text.replace("\r\n", "\n").strip("\ufeff \t\n")))


def parse_xml(text: str) -> list[tuple[Any, ...]] | None:
    """Tags, attributes without their order, text, and comments of a document; None for a text that is not XML.

    Text that is blank is left out: it is how the document is laid out.
    """
    events: list[tuple[Any, ...]] = []
    parser = expat.ParserCreate()
    # Without it, equal texts may come in different pieces, cut at line ends or references.
    parser.buffer_text = True
    # Entities of a document type can expand to gigabytes or name files.
    parser.StartDoctypeDeclHandler = _refuse
    parser.StartElementHandler = lambda name, attributes: events.append(("open", name, attributes))
    parser.EndElementHandler = lambda name: events.append(("close", name))
    parser.CommentHandler = lambda comment: events.append(("comment", comment))
    parser.ProcessingInstructionHandler = lambda target, said: events.append(("instruction", target, said))
    parser.CharacterDataHandler = lambda said: events.append(("text", said)) if said.strip() else None
    try:
        # Before an XML declaration not even a blank may stand.
        parser.Parse(text.lstrip("\ufeff \t\r\n"), True)
    except (expat.ExpatError, _Refused, ValueError):  # ValueError: a lone surrogate
        return None
    return events


def _refuse(*_declared: object) -> NoReturn:
    raise _Refused


class _Number(NamedTuple):
    """A number as it is spelled: no precision is lost, and no list or boolean is like it."""

    spelled: str


def _compare_json(leaf: Leaf) -> RuleOutcome | None:
    desired = parse_json(leaf.desired)
    found = parse_json(leaf.live) if desired is not None else None
    try:
        return make_outcome(desired == found) if found is not None else None
    # A text nested deeply enough to end the comparison is compared as text, by the rules below.
    except RecursionError:
        return None


def parse_json(text: str) -> Any:
    """Parse a text that is a JSON object or array; None for any other."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        # As floats, two large numbers that differ in their last digits would be equal.
        return json.loads(text, object_pairs_hook=_reject_duplicates, parse_int=_Number, parse_float=_Number)
    except (ValueError, RecursionError, _Refused):
        return None


def _reject_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A key that stands twice has no one meaning."""
    made = dict(pairs)
    if len(made) != len(pairs):
        raise _Refused
    return made


def _compare_lines(leaf: Leaf) -> RuleOutcome | None:
    if "\n" not in leaf.desired and "\n" not in leaf.live:
        return None
    return make_outcome(_normalize_ends(leaf.desired) == _normalize_ends(leaf.live))


def _normalize_ends(text: str) -> str:
    return text.replace("\r\n", "\n").removesuffix("\n")


TEXT_RULES: Final = (
    EquivalenceRule(
        name="XML",
        evidence="Recorded: API Management returns a policy reformatted, with its own tabs and line ends.",
        decide=_compare_xml,
    ),
    EquivalenceRule(
        name="JSON",
        evidence="RFC 8259 §4: whitespace and the order of members have no meaning. Workbooks are reformatted.",
        decide=_compare_json,
    ),
    EquivalenceRule(
        name="lines",
        evidence="XML 1.0 §2.11 and most editors: neither the form of line ends nor the last one has a meaning.",
        decide=_compare_lines,
    ),
)
