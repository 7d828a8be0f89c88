"""docs/problems.md: every code of a problem and reason of a condition, with its cause, an example and the fix."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby

from gitsync.desired.problems.problem_codes import PAGE, TOPICS, CodeMeaning, load_codes

HEAD = """# Problem codes

Every problem has a code, and every condition a reason. `gitsync explain CODE` shows the same texts. A reason that is
not here is an Azure error code; reports show what to do about the usual ones.
"""


def build_problems_page() -> Mapping[str, str]:
    """The page, by its path."""
    parts = [HEAD]
    for topic, meanings in groupby(load_codes(), key=lambda meaning: meaning.topic):
        parts.append(f"\n## {TOPICS[topic]}\n")
        parts += [f"{line}\n" for meaning in meanings for line in _format_code(meaning)]
    return {PAGE: "".join(parts)}


def _format_code(meaning: CodeMeaning) -> Iterator[str]:
    yield from ("", f"### {meaning.code}", "", _escape(meaning.cause), "", f"Fix: {_escape(meaning.fix)}", "")
    language = "yaml" if meaning.example else ""
    yield from (f"```{language}", *(meaning.example or meaning.shown).splitlines(), "```")


def _escape(text: str) -> str:
    """Text that Markdown shows as it is; code stays code."""
    return text.replace("<", "\\<")
