"""Errors of sources and sinks: message and hint are sentences of their own, as both are printed in a row."""

import ast
from collections.abc import Iterator
from pathlib import Path

import gitsync.repository.secrets

FILES = sorted(Path(gitsync.repository.secrets.__file__).parent.rglob("*.py"))
ERRORS = {"ConfigError", "NotOwnedError", "SecretStoreError", "TransientStoreError"}


def texts_of(file: Path) -> Iterator[tuple[int, str]]:
    """The messages that are written where an error is made, and the hints, with their lines."""
    for call in ast.walk(ast.parse(file.read_text())):
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in ERRORS):
            continue
        hints = [keyword.value for keyword in call.keywords if keyword.arg == "hint"]
        for text in (*call.args[:1], *hints):
            match text:
                case ast.Constant(value=str(words)) | ast.JoinedStr(values=[*_, ast.Constant(value=str(words))]):
                    yield text.lineno, words
                case ast.JoinedStr(values=[*_, ast.FormattedValue()]):
                    yield text.lineno, ast.unparse(text)
                case _:  # a variable: its text is somewhere else
                    pass


SENTENCES = ("error.message", "problem.message", "describe_owner(owner)")
"""What ends a message with a sentence of its own."""


def test_a_message_and_its_hint_end_with_a_full_stop():
    texts = [(f"{file.name}:{line}", words) for file in FILES for line, words in texts_of(file)]
    ends = (".", *(f"{{{end}}}{quote}" for end in SENTENCES for quote in "'\""))
    assert [(where, words) for where, words in texts if not words.endswith(ends)] == []
    assert len(texts) > 60, "there are messages to look at"
