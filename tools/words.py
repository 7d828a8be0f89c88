"""List words that gitsync does not use, in what people read and in what engineers read of the code.

usage: python tools/words.py [PATH...]

PATH is a file or a folder; without one, the project is read. It prints one line for each finding, `file:line: "word"
(docstring): what to write instead`, and exits with 1 if there is any. words.toml has the words, and docs/style.md the
rules.

What is read:

- Markdown, templates, tables of problems, workflows, scripts: their text;
- modules: strings (an f-string is one text), docstrings, comments, and the names that they define, of functions,
  classes, parameters, variables and attributes;
- modules of tests: the same without strings, which are input and expected output; and the names of tests as texts.

What is left out:

- code: between backticks, in fenced blocks, file names, and a string of one word that may be a key (`passedOver`);
- in Markdown: block quotes, comments, and the targets of links;
- a string that has the comment `# quoted from ASO` or `# quoted from Azure` at the end of one of its lines, and a line
  of any other file that ends with such a comment.
"""

from __future__ import annotations

import ast
import bisect
import io
import re
import sys
import tokenize
import tomllib
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent


class Row(NamedTuple):
    """A row of words.toml, which describes the members."""

    ours: str  # the word to avoid
    field: str  # the word to write instead
    pattern: re.Pattern[str]  # finds the word in its bad sense
    caught: list[str]  # texts that the pattern must find
    allowed: list[str]  # texts that the pattern must not find


class Piece(NamedTuple):
    """A text of a file."""

    line: int  # the one that it begins at
    sort: str  # what it is, such as a docstring
    text: str
    source: tuple[str, ...] = ()
    """The lines of a string whose text has other lines: one of several literals, or with escapes."""


class Finding(NamedTuple):
    """A word to replace."""

    line: int
    word: str  # as it is in the text
    sort: str  # what the text is, such as a docstring
    instead: str  # what to write


def read_table(name: str) -> list[dict[str, Any]]:
    """The rows of a table of words.toml."""
    rows: list[dict[str, Any]] = tomllib.loads((ROOT / "tools" / "words.toml").read_text(encoding="utf-8"))[name]
    return rows


def read_rows() -> list[Row]:
    return [Row(**row | {"pattern": _compile(row["pattern"])}) for row in read_table("words")]


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{pattern})(?!\w)", re.IGNORECASE)


ROWS = read_rows()
NAMES = {_compile(row["pattern"]): row["field"] for row in read_table("names")}
ALLOWED_NAMES = {row["name"]: row["why"] for row in read_table("allowed_names")}

_CODE = re.compile(r"`[^`\n]*`|(?:[\w.-]+/)*[\w-]+\.(?:bash|html|json|md|py|sh|toml|ya?ml)\b")
_COMMENTED = r"quoted from (?:ASO|Azure)(?: -->)?$"
_QUOTED = re.compile(_COMMENTED)
_KEY = re.compile(r"[^\sA-Z]\S*|\S*[^A-Za-z\s]\S*|[A-Z][a-z]*[A-Z]\S*")
_NOT_PROSE = re.compile(
    r"^ *(?P<fence>```|~~~).*?^ *(?P=fence)"  # a code block
    r"|^ *>[^\n]*$"  # a quote
    rf"|^[^\n]*{_COMMENTED}"
    r"|<!--.*?-->"
    r"|(?<=\])\([^)\s]*\)",  # where a link leads
    flags=re.MULTILINE | re.DOTALL,
)
_TAG = re.compile(r"<[^>]*>")
_FILLED = re.compile(r"\{[{%#].*?[}%#]\}", flags=re.DOTALL)


def search(text: str) -> Iterator[tuple[int, str, str]]:
    """Offset, word and advice for each finding in a text."""
    offsets, flat = _flatten(_CODE.sub(lambda code: "·" * len(code.group()), text))
    for row in ROWS:
        for match in row.pattern.finditer(flat):
            before, origin = offsets[bisect.bisect_right(offsets, (match.start(), len(text))) - 1]
            yield origin + match.start() - before, match.group(), row.field


def _flatten(text: str) -> tuple[list[tuple[int, int]], str]:
    """Make white space one blank, or a line feed between paragraphs.

    Also the offset of each word: in the result, and in the text.
    """
    offsets: list[tuple[int, int]] = []
    words: list[str] = []
    length = 0
    for match in re.finditer(r"\S+|\s+", text):
        word = match.group()
        if word.isspace():
            word = "\n" if word.count("\n") > 1 else " "
        offsets.append((length, match.start()))
        words.append(word)
        length += len(word)
    return offsets, "".join(words)


def read_file(path: Path) -> Iterator[Piece]:
    """All that is read of a file."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".html":
        yield from read_template(text)
    elif path.suffix != ".py":
        yield from read_markdown(text)
    elif _is_test(path):
        yield Piece(1, "name", path.stem.replace("_", " ") if path.stem.startswith("test_") else "")
        yield from read_tests(text)
    else:
        yield from read_module(text)


def read_markdown(text: str) -> Iterator[Piece]:
    """The prose of a page."""
    yield Piece(1, "text", _NOT_PROSE.sub(_blank, text))


def read_template(text: str) -> Iterator[Piece]:
    """The text of an HTML template: outside of tags and of what the template fills in."""
    return read_markdown(_TAG.sub(_blank, _FILLED.sub(_blank, text)))


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match.group())


def read_module(text: str) -> Iterator[Piece]:
    """Strings, docstrings and comments."""
    yield from _read_comments(text)
    yield from _read_strings(text, list(ast.walk(ast.parse(text))))


def read_tests(text: str) -> Iterator[Piece]:
    """Docstrings, comments and the names of tests."""
    nodes = list(ast.walk(ast.parse(text)))
    yield from _read_comments(text)
    yield from (piece for piece in _read_strings(text, nodes) if piece.sort == "docstring")
    for node in nodes:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield Piece(node.lineno, "name", node.name.replace("_", " "))


def find_in_names(text: str) -> Iterator[Finding]:
    """The words in names that a module defines; one finding for each line and name. Names of tests are sentences."""
    defined = {(line, name) for node in ast.walk(ast.parse(text)) for line, name in _list_defined(node)}
    for line, name in sorted(defined):
        split = " ".join(re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+", name)).lower()
        for pattern, instead in NAMES.items():
            if not name.startswith("test_") and name not in ALLOWED_NAMES and pattern.search(split):
                yield Finding(line, name, "name", instead)


def _list_defined(node: ast.AST) -> Iterator[tuple[int, str]]:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield node.lineno, node.name
        case ast.arg():
            yield node.lineno, node.arg
        case ast.Name(ctx=ast.Store()):
            yield node.lineno, node.id
        case ast.Attribute(ctx=ast.Store()):
            yield node.lineno, node.attr
        case ast.alias(asname=str(name)):
            yield node.lineno, name


def _read_comments(text: str) -> Iterator[Piece]:
    """Comments; those of consecutive lines are one text."""
    lines: list[str] = []
    first = last = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type != tokenize.COMMENT:
            continue
        row, column = token.start
        alone = not token.line[:column].strip()
        if not (lines and alone and row == last + 1):
            yield Piece(first, "comment", "\n".join(lines))
            first, lines = row, []
        last = row if alone else 0
        lines.append(token.string.lstrip("# "))
    yield Piece(first, "comment", "\n".join(lines))


def _read_strings(text: str, nodes: list[ast.AST]) -> Iterator[Piece]:
    lines = text.splitlines()
    documents = {node.value for node in nodes if isinstance(node, ast.Expr)}
    parts = {part for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    names = parts | {key for node in nodes if isinstance(node, ast.Subscript) for key in ast.walk(node.slice)}
    for node in nodes:
        if not isinstance(node, ast.Constant | ast.JoinedStr) or node in names:
            continue
        value = _join(node)
        source = tuple(lines[node.lineno - 1 : node.end_lineno])
        if not _KEY.fullmatch(value) and not any(_QUOTED.search(line) for line in source):
            has_same_lines = value.count("\n") == len(source) - 1
            sort = "docstring" if node in documents else "string"
            yield Piece(node.lineno, sort, value, () if has_same_lines else source)


def _join(node: ast.expr) -> str:
    """The text of a literal, with "·" for each expression of an f-string."""
    match node:
        case ast.Constant(value=str(value)):
            return value
        case ast.JoinedStr(values=values):
            return "".join(_join(value) or "·" for value in values)
        case _:
            return ""


def find_in_file(path: Path) -> list[Finding]:
    names = find_in_names(path.read_text(encoding="utf-8")) if path.suffix == ".py" else ()
    return sorted([*find(read_file(path)), *names])


def find(pieces: Iterable[Piece]) -> list[Finding]:
    """The findings of a file, by line."""
    return sorted(
        Finding(_find_line(piece, at, word), word, piece.sort, instead)
        for piece in pieces
        for at, word, instead in search(piece.text)
    )


def _find_line(piece: Piece, at: int, word: str) -> int:
    if not piece.source:
        return piece.line + piece.text.count("\n", 0, at)
    first = word.split(maxsplit=1)[0].casefold()
    return next((line for line, text in enumerate(piece.source, piece.line) if first in text.casefold()), piece.line)


FOLDERS = ("bench", "deploy", "docs", "examples", "gitsync", "tests", "tools", ".ci", ".github")
FILES = ("*.md", "Makefile", "action.yml")
PROSE = {".bash", ".css", ".html", ".js", ".md", ".py", ".sh", ".toml", ".yaml", ".yml", ""}
NOT_PROSE = ("tools/words.toml",)


def list_project() -> list[Path]:
    return list_files([*(path for name in FILES for path in ROOT.glob(name)), *(ROOT / name for name in FOLDERS)])


def list_files(paths: Iterable[Path]) -> list[Path]:
    """The files given, and those of prose in the folders given."""
    inside = {file for path in paths for file in ([path] if path.is_file() else filter(_is_prose, path.rglob("*")))}
    return sorted(inside)


def _is_prose(path: Path) -> bool:
    """Whether a file is prose. Of the tests, only modules are: the other files are data."""
    if not path.is_file() or path.suffix not in PROSE or _show(path) in NOT_PROSE:
        return False
    return path.suffix == ".py" or not _is_test(path)


def _is_test(path: Path) -> bool:
    return _show(path).startswith("tests/")


def _show(path: Path) -> str:
    return str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)


def main(arguments: list[str]) -> int:
    paths = list_files(Path(name).resolve() for name in arguments) if arguments else list_project()
    count = 0
    with ProcessPoolExecutor() as pool:
        for path, findings in zip(paths, pool.map(find_in_file, paths, chunksize=20), strict=True):
            for finding in findings:
                print(f'{_show(path)}:{finding.line}: "{finding.word}" ({finding.sort}): {finding.instead}')
                count += 1
    if count:
        print(f"{count:,} words to replace.", file=sys.stderr)
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
