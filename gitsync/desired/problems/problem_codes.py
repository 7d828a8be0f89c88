"""Explains what each code of a problem or a condition means: its cause, an example, and the fix.

The texts are packed tables. Pages of the documentation, `gitsync explain CODE` and the rules of SARIF show them.
"""

from __future__ import annotations

import pkgutil
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

DATA = "gitsync.desired.problems.data"

TOPICS: Mapping[str, str] = {
    "manifests": "Manifests",
    "sources": "Sources, units and variables",
    "runs": "Runs, records and exports",
    "conditions": "Reasons of conditions",
    "checks": "Findings of checks",
}
"""The tables, with their titles, in the order of the page."""

PAGE = "docs/problems.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeMeaning:
    """What a code means, and what to do."""

    code: str
    topic: str
    cause: str  # sentences
    fix: str  # sentences
    example: str = ""  # a file that gives the code, "" if there is a message instead
    shown: str = ""  # a message of the code, "" if there is an example

    @property
    def anchor(self) -> str:
        """The part of PAGE that describes it."""
        return self.code.lower()


def find_code_meaning(code: str) -> CodeMeaning | None:
    """Find the meaning of a code, in any case; None for a code that is not gitsync's."""
    return _index_codes().get(code.casefold())


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictMeaning:
    """What a verdict means for people."""

    verdict: str
    means: str  # what is true of the resource
    does: str  # what a sync does then


def find_verdict_meaning(word: str) -> VerdictMeaning | None:
    """Find the meaning of a verdict, in any case; None for any other word."""
    entry = tomllib.loads(_read("verdicts")).get(word.casefold())
    return VerdictMeaning(verdict=word.casefold(), **entry) if entry else None


@cache
def load_field_words() -> Mapping[str, str]:
    """Load what common fields mean, by the end of their path (`sku.name`)."""
    return tomllib.loads(_read("fields"))


def describe_common_field(path: str) -> str:
    """Describe a field of any kind by the longest end of its path that is known; "" for any other."""
    steps = path.split(".")
    ends = (".".join(steps[start:]) for start in range(len(steps)))
    return next((words for end in ends if (words := load_field_words().get(end))), "")


@cache
def load_codes() -> tuple[CodeMeaning, ...]:
    """Load every code, in the order of the topics."""
    return tuple(
        CodeMeaning(code=code, topic=topic, **{name: text.strip("\n") for name, text in entry.items()})
        for topic in TOPICS
        for code, entry in tomllib.loads(_read(topic)).items()
    )


def _read(topic: str) -> str:
    content = pkgutil.get_data(DATA, f"{topic}.toml")
    if content is None:
        raise FileNotFoundError(topic)
    return content.decode()


@cache
def _index_codes() -> Mapping[str, CodeMeaning]:
    return {meaning.code.casefold(): meaning for meaning in load_codes()}
