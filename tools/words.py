"""List words that gitsync does not use, in its messages, help, docstrings and documentation.

usage: python tools/words.py [FILE...]

Without FILE, it reads the string constants and docstrings of every module in gitsync/ (never names), its templates, and
the Markdown of docs/, examples/, .github/ and the top folder. It prints one line for each finding, `file:line: "word":
what to write instead`, and exits with 1 if there is any.

These are left out:

- in Markdown: fenced code blocks, code between backticks, block quotes, comments, and the targets of links;
- in Python: code between backticks, and every string constant that has the comment `# quoted from ASO` or
  `# quoted from Azure` at the end of one of its lines. A string of several lines needs one comment, on any of them.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent


class Banned(NamedTuple):
    """Words that are not used: a regular expression, in which a blank is any white space, and what to write instead."""

    words: str
    instead: str


BANNED = tuple(
    Banned(*row)
    for row in (
        ("mend(?:s|ed|ing)?", "fix, correct"),
        ("unmendable", "permanent"),
        ("told", "reported, shown, known, or an active verb"),
        ("untold", "unknown, not reported"),
        ("tells (?:of|what|how|where|who|which)", "shows, reports, names"),
        ("whom", "turn the sentence around: which identity, which credential"),
        ("whoever", "a person who, a process that"),
        ("nobody", "no one, nothing; or name what is missing"),
        ("nowhere", "not used anywhere; name the place that is missing"),
        ("lies", "is, is in, contains"),
        ("as it lay", "as it was"),
        ("stands? (?:there|on|at|below|under|beside|above|where|between)", "is, is in"),
        ("stands? in (?!for)", "is in"),
        ("(?:git|Azure|manifests?) asks", "git sets, the desired state; requests"),
        ("asks? (?:git|it nothing)", "requests, reads from"),
        ("git says", "the desired state, the value in git"),
        ("Azure says", "the live state, the value in Azure, the response of Azure"),
        ("(?:git|Azure) (?:has|have) (?:moved|lost)", "changed in git, changed in Azure, deleted outside git"),
        ("left git", "was removed from git"),
        ("leaves? git", "is removed from git"),
        ("needs? a look", "needs attention; or say what is wrong"),
        ("of ours", "that gitsync manages, of gitsync"),
        ("(?:is|are) to be", "must be, will be"),
        ("fit to be", "ready to be, valid as"),
        ("at hand", "available"),
        ("anew", "again"),
        ("besides", "also, in addition to, next to"),
        ("meanwhile", "at the same time, in between"),
        ("thereby", "by that; or a new sentence"),
        ("thereupon", "then"),
        ("whims?", "special behaviour"),
        ("graves?", "deleted resources"),
        ("veil(?:s|ed)?", "mask, redact"),
        ("holes?", "placeholder; gap"),
        ("break(?:s|ing)? the ring", "remove one of the references of the cycle"),
        ("(?:break|breaks|broken|breaking) off", "abort, cancel, truncate"),
        ("for ever", "without limit"),
        ("and its kin", "and similar actions"),
        ("by which right", "with which claim"),
    )
)

PATTERNS = tuple(
    (re.compile(r"\b" + row.words.replace(" ", r"\s+") + r"\b", re.IGNORECASE), row.instead) for row in BANNED
)

_CODE = re.compile(r"`[^`\n]*`")
_QUOTED = re.compile(r"# quoted from (?:ASO|Azure)$")
_NOT_PROSE = re.compile(
    r"^ *(?P<fence>```|~~~).*?^ *(?P=fence)"  # a code block
    r"|`[^`\n]*`"  # code in a line
    r"|^ *>.*?$"  # a quote
    r"|<!--.*?-->"
    r"|(?<=\])\([^)\s]*\)",  # where a link leads
    flags=re.MULTILINE | re.DOTALL,
)


class Finding(NamedTuple):
    line: int
    word: str
    instead: str


def search(text: str) -> Iterator[tuple[int, str, str]]:
    """Offset, word and advice for each banned word of a text."""
    for pattern, instead in PATTERNS:
        for match in pattern.finditer(text):
            yield match.start(), " ".join(match.group().split()), instead


def in_markdown(text: str) -> list[Finding]:
    """The banned words in the prose of a page."""
    prose = _NOT_PROSE.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)
    return sorted(Finding(prose.count("\n", 0, at) + 1, word, instead) for at, word, instead in search(prose))


def in_python(text: str) -> list[Finding]:
    """The banned words in string constants and docstrings of a module."""
    lines = text.splitlines()
    return sorted(
        Finding(_line_of(word, node, lines), word, instead)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and not _is_quote(node, lines)
        for _, word, instead in search(_CODE.sub("", node.value))
    )


def in_template(text: str) -> list[Finding]:
    """The banned words in the text of an HTML template: outside of tags and of what the template fills in."""
    return in_markdown(
        re.sub(r"<[^>]*>|\{[{%#].*?[}%#]\}", lambda tag: re.sub(r"[^\n]", " ", tag[0]), text, flags=re.DOTALL)
    )


READERS = {".py": in_python, ".html": in_template}


def _is_quote(node: ast.Constant, lines: list[str]) -> bool:
    return any(_QUOTED.search(line) for line in _source(node, lines))


def _line_of(word: str, node: ast.Constant, lines: list[str]) -> int:
    """The line of the constant that has the word, as far as the source shows it."""
    first = word.split(maxsplit=1)[0].casefold()
    places = (place for place, line in enumerate(_source(node, lines), node.lineno) if first in line.casefold())
    return next(places, node.lineno)


def _source(node: ast.Constant, lines: list[str]) -> list[str]:
    return lines[node.lineno - 1 : node.end_lineno]


def files() -> list[Path]:
    """Everything that is read without arguments."""
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md"), *ROOT.glob(".github/*.md")]
    return sorted([*pages, *ROOT.glob("gitsync/**/*.py"), *ROOT.glob("gitsync/**/*.html")])


def main(arguments: list[str]) -> int:
    found = 0
    for path in map(Path, arguments) if arguments else files():
        text = path.read_text(encoding="utf-8")
        for finding in READERS.get(path.suffix, in_markdown)(text):
            shown = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
            print(f'{shown}:{finding.line}: "{finding.word}": {finding.instead}')
            found += 1
    if found:
        print(f"{found} words to replace.", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
