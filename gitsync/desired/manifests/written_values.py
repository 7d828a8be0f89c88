"""Hints for text that YAML reads as a number or a boolean: quote the text of the file, not the value.

Quoting "1.3" for `1.30`, or "false" for `NO`, would result in another value.
"""

from __future__ import annotations

import json
from typing import Any, Final

from gitsync.desired.manifests.yaml_scalars import resolve
from gitsync.desired.problems.field_path import FieldPath
from gitsync.model.lines import Lines, WrittenValue

_LONGEST: Final = 60
_QUOTE: Final = "Put it in quotes."
_BY_FLUX: Final = """Flux removed the quotes: write ${quote}%s${quote}, with a variable quote that has the value '"'."""


def suggest_quotes(value: Any, lines: Lines | None, path: FieldPath) -> str:
    """Return a hint to write a value as text. `lines` are those of the document, None if they are not known: then the
    hint quotes no text, since the file may have another.
    """
    if lines is None or path not in lines or not isinstance(value, bool | int | float):
        return _QUOTE
    written = lines.find_written(path) or WrittenValue(json.dumps(value))
    if written.expression:
        return f'Put it in quotes: "{written.expression}".' if written.keeps_quotes else _BY_FLUX % written.expression
    # A template may have rendered another value in this line.
    is_same = len(written.text) <= _LONGEST and resolve(written.text) == value
    return f'Put it in quotes: "{written.text}".' if is_same else _QUOTE
