"""Writes values as YAML and JSON texts, in the style of the file around them.

Each text is read back before it is used, so a value is unquoted only if all readers agree on it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

import yaml
from yaml.resolver import Resolver

from gitsync.desired.manifests.yaml_documents import Unreadable, parse_documents
from gitsync.desired.manifests.yaml_marks import PLAIN

_LINES = re.compile(r"\n+")


@dataclass(frozen=True, slots=True, kw_only=True)
class TextLayout:
    """The style of a file."""

    line_end: str
    step: int = 2  # the indentation of one more level
    list_step: int = 2  # the indentation of the items of a list
    quote: str = '"'  # those of texts that need some
    is_json: bool = False  # the file is JSON, so all its texts have quotes
    is_ended: bool = True  # its last line has an end

    def write_key(self, key: str, *, in_flow: bool) -> str:
        """Write a key of a mapping."""
        return self.write_scalar(key, in_flow=in_flow, is_key=True)

    def write_scalar(
        self, value: Any, *, in_flow: bool, style: str = PLAIN, former: str = "", is_key: bool = False
    ) -> str:
        """Write a value without members, in one line. `style` is that of the previous value, `former` its text. Raises
        ValueError if no text is read as this value.
        """
        if not isinstance(value, str):
            # JSON has no NaN, and a text that no reader takes must not be written.
            return json.dumps(value, allow_nan=False)
        double = write_quoted(value, is_json=self.is_json)
        if self.is_json:
            return double
        single = "'" + value.replace("'", "''") + "'"
        candidates = {"'": [single], '"': []}.get(style, [value, single] if self.quote == "'" else [value])
        for text in candidates:
            is_plain = text is value
            if (
                value.isprintable()
                and (not is_plain or is_text_for_all(value, former))
                and reads_back(text, value, in_flow=in_flow, is_key=is_key)
            ):
                return text
        return double

    def write_flow(self, value: Any, indent: int | None = None) -> str:
        """Write a value with its members in braces and brackets. `indent` is that of its first line if the members have
        lines of their own; None for a single line.
        """
        if not isinstance(value, dict | list) or not value:
            return self.write_scalar(value, in_flow=True)
        below = None if indent is None else indent + self.step
        if isinstance(value, dict):
            parts = [
                f"{self.write_key(key, in_flow=True)}: {self.write_flow(part, below)}" for key, part in value.items()
            ]
        else:
            parts = [self.write_flow(part, below) for part in value]
        opening, closing = "{}" if isinstance(value, dict) else "[]"
        if below is None:
            return f"{opening}{', '.join(parts)}{closing}"
        glue = f",{self.line_end}{' ' * below}"
        return f"{opening}{glue[1:]}{glue.join(parts)}{self.line_end}{' ' * (below - self.step)}{closing}"

    def write_block(self, value: Any, indent: int) -> str:
        """Write a mapping or a list with members, each in lines of its own. The first line has no indentation, since
        `indent` spaces already precede it.
        """
        glue = self.line_end + " " * indent
        if isinstance(value, dict):
            return glue.join(
                f"{self.write_key(key, in_flow=False)}:{self.write_behind_key(part, indent)}"
                for key, part in value.items()
            )
        return glue.join(f"-{self.write_behind_dash(part, indent)}" for part in value)

    def write_behind_key(self, value: Any, indent: int) -> str:
        """Write the text after the colon of a key with this indentation."""
        if isinstance(value, dict | list) and value:
            below = indent + (self.step if isinstance(value, dict) else self.list_step)
            return f"{self.line_end}{' ' * below}{self.write_block(value, below)}"
        return self._write_behind(value, indent + self.step)

    def write_behind_dash(self, value: Any, indent: int) -> str:
        """Write the text after the dash of an item with this indentation."""
        if isinstance(value, dict | list) and value:
            return f" {self.write_block(value, indent + 2)}"
        return self._write_behind(value, indent + 2)

    def _write_behind(self, value: Any, indent: int) -> str:
        block = self.write_text("|", value, indent) if isinstance(value, str) and "\n" in value else None
        return f" {block[0]}{block[1]}" if block else f" {self.write_scalar(value, in_flow=False)}"

    def write_text(self, header: str, value: str, indent: int, digit: int = 0) -> tuple[str, str] | None:
        """Write a text as a block: its header, and its lines, each after a break. `header` is the previous one, and
        `digit` the number in it. None if a block cannot represent this text.
        """
        content = value.rstrip("\n")
        breaks = len(value) - len(content)
        is_shown = all(line.isprintable() for line in content.split("\n"))
        # Without a line end after the block, its last line break would be lost.
        if not content or not is_shown or (breaks and not self.is_ended):
            return None
        chomping = "-" if not breaks else "+" if breaks > 1 or "+" in header else ""
        token = f"{header[0]}{digit or ''}{chomping}"
        folded = _LINES.sub(lambda found: found[0] + "\n", content) if header[0] == ">" else content
        lines = (folded + "\n" * (breaks - 1)).split("\n")
        probe = "\n".join([token, *(" " * (digit or 2) + line if line else "" for line in lines)])
        if not reads_back(probe, value, in_flow=False):
            return None
        return token, "".join(self.line_end + " " * indent * bool(line) + line for line in lines)


def write_quoted(value: str, *, is_json: bool) -> str:
    """Write a text in double quotes, so that YAML and JSON read it alike. Unprintable characters are escaped."""

    def escape(found: re.Match[str]) -> str:
        character = found[0]
        if character.isprintable() or character == " ":
            return character
        code = ord(character)
        if code <= 0xFFFF:
            return f"\\u{code:04x}"
        return character if is_json else f"\\U{code:08x}"

    return re.sub(r"[^\x20-\x7e]", escape, json.dumps(value, ensure_ascii=False))


def is_text_for_all(value: str, former: str) -> bool:
    """Return whether an unquoted text is text for YAML 1.1 readers too. Dates and others are not, unless the previous
    text was of the same type.
    """
    tag = _resolve(value)
    return tag == "tag:yaml.org,2002:str" or (bool(former) and tag == _resolve(former))


_RESOLVER: Any = Resolver()


def _resolve(value: str) -> Any:
    return _RESOLVER.resolve(yaml.ScalarNode, value, (True, False))


def reads_back(text: str, value: str, *, in_flow: bool, is_key: bool = False) -> bool:
    """Return whether a text, as a key or a value, is read as exactly this value."""
    path: str
    expected: Any
    if is_key:
        path, expected = "{{{}: 0}}" if in_flow else "{}: 0", {value: 0}
    elif in_flow:
        path, expected = "[{}, 0]", [value, 0]
    else:
        # A neighbour follows in each probe, since a text may swallow what comes after it.
        path, expected = "a: {}\nb: 0", {"a": value, "b": 0}
    try:
        documents = list(parse_documents("", (path.format(text) + "\n").encode(), 0))
    except (Unreadable, UnicodeEncodeError):
        return False
    return len(documents) == 1 and not documents[0].problems and documents[0].value == expected
