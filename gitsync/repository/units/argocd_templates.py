"""Renders the templates of an ApplicationSet: `{{name}}`, or a small part of Go's templates.

With `goTemplate: true` there are fields, texts, pipes, Go's own functions and some of Sprig; conditions, loops and
variables are refused
(https://argo-cd.readthedocs.io/en/stable/operator-manual/applicationset/GoTemplate/).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from gitsync.desired.manifests.expansions import ExpansionBudget
from gitsync.errors import TemplateError
from gitsync.repository.units.go_functions import BUILTINS, count_widths, index, is_true

_MOST_PARENTHESES: Final = 10
_LONGEST_NAME: Final = 253
_GROWTH: Final = 6
"""How many characters a function makes of one at most, such as `quote` of a control character."""
_LONGEST_SHOWN: Final = 200
_TOKEN: Final = re.compile(
    r"\s*(?:(?P<text>\"(?:[^\"\\]|\\.)*\"|`[^`]*`)|(?P<number>-?\d{1,9}\b)|(?P<field>(?:\.[A-Za-z_]\w*)+|\.)"
    r"|(?P<name>[A-Za-z]\w*)|(?P<sign>[|()]))"
)


def normalize(text: str) -> str:
    """Normalize a text to the name of an object, as Argo CD does."""
    return re.sub(r"[^-a-z0-9.]", "-", text.lower())[:_LONGEST_NAME].strip("-.")


@dataclass(slots=True)
class Renderer:
    """Renders the templates of one ApplicationSet. The budget is that of all in the source."""

    is_go: bool = False
    budget: ExpansionBudget = field(default_factory=ExpansionBudget)

    def render(self, template: Any, parameters: Mapping[str, Any]) -> Any:
        """Render the templates in all texts of a document. Raises TemplateError if one cannot be rendered, and
        TooLargeExpansionError.
        """
        if isinstance(template, str):
            return self._render_text(template, parameters)
        if isinstance(template, Mapping):
            return {self.render(key, parameters): self.render(value, parameters) for key, value in template.items()}
        if isinstance(template, list):
            return [self.render(part, parameters) for part in template]
        return template

    def _render_text(self, text: str, parameters: Mapping[str, Any]) -> str:
        parts: list[str] = []
        for part in _write_go(text, parameters, self.budget) if self.is_go else _write(text, parameters):
            self.budget.spend(len(part))
            parts.append(part)
        return "".join(parts)


def _split(text: str) -> Iterator[tuple[str, str | None]]:
    """Split a template into parts: a text, and what is in braces behind it, None at the end."""
    position = 0
    while (start := text.find("{{", position)) >= 0 and (end := text.find("}}", start)) >= 0:
        yield text[position:start], text[start + 2 : end]
        position = end + 2
    yield text[position:], None


def _write(text: str, parameters: Mapping[str, Any]) -> Iterator[str]:
    for before, tag in _split(text):
        yield before
        if tag is not None:
            value = parameters.get(tag.strip())
            yield value if isinstance(value, str) else f"{{{{{tag}}}}}"  # an unknown one stays, as in Argo CD


def _write_go(text: str, parameters: Mapping[str, Any], budget: ExpansionBudget) -> Iterator[str]:
    trims = False
    for before, tag in _split(text):
        # As in Go: `{{- ` trims the text before, and ` -}}` that behind.
        kept = before.lstrip() if trims else before
        yield kept.rstrip() if tag is not None and tag.startswith("- ") else kept
        if tag is None:
            if "{{" in before:
                raise TemplateError(f"{_show(before)} has no end.")
            return
        trims = tag.endswith(" -")
        yield _Expression(tag.removeprefix("- ").removesuffix(" -"), parameters, budget).evaluate()


def _format(value: Any) -> str:
    """Format a value as text, as Go writes it."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        return str(int(value))
    raise TemplateError("A template uses a value that is missing, or is not text.")


_LITERALS: Final[Mapping[str, bool]] = {"true": True, "false": False}

_FUNCTIONS: Final[Mapping[str, Callable[..., Any]]] = {
    **BUILTINS,
    "default": lambda fallback, value: value if is_true(value) else fallback,
    "join": lambda separator, values: str(separator).join(map(_format, values)),
    "lower": lambda text: _format(text).lower(),
    "normalize": lambda text: normalize(_format(text)),
    "quote": lambda text: json.dumps(_format(text), ensure_ascii=False),
    "replace": lambda old, new, text: _format(text).replace(old, new),
    "toString": _format,
    "trim": lambda text: _format(text).strip(),
    "trimPrefix": lambda prefix, text: _format(text).removeprefix(prefix),
    "trimSuffix": lambda suffix, text: _format(text).removesuffix(suffix),
    "trunc": lambda count, text: _format(text)[:count] if count >= 0 else _format(text)[count:],
    "upper": lambda text: _format(text).upper(),
}


def _count_made(name: str, arguments: Sequence[Any]) -> int:
    """Count how many characters a function makes at most."""
    made = _GROWTH * sum(len(argument) for argument in arguments if isinstance(argument, str))
    if name == "printf":
        return made + count_widths(arguments[0] if arguments else "")
    if name == "replace":
        old, new, text = arguments
        return made + _format(text).count(old) * len(new)
    if name == "join":
        separator, values = arguments
        return made + sum(len(_format(value)) for value in values) + len(str(separator)) * len(values)
    return made


class _Expression:
    """What is in the braces of a Go template. It is read and evaluated in one pass."""

    def __init__(self, text: str, parameters: Mapping[str, Any], budget: ExpansionBudget) -> None:
        self._text = text
        self._parameters = parameters
        self._budget = budget
        self._tokens = list(self._list_tokens())
        self._depth = 0

    def evaluate(self) -> str:
        value = self._read_pipe()
        if self._tokens:
            raise self._refuse()
        try:
            return _format(value)
        except TemplateError as error:
            raise TemplateError(f"{_show(self._text)} is missing, or is not text.") from error

    def _list_tokens(self) -> Iterator[re.Match[str]]:
        """List the tokens, the last one first."""
        tokens, position = [], 0
        while self._text[position:].strip():
            token = _TOKEN.match(self._text, position)
            if token is None:
                raise self._refuse()
            tokens.append(token)
            position = token.end()
        return reversed(tokens)

    def _read_pipe(self) -> Any:
        value = self._read_command(())
        while self._take_sign("|"):
            value = self._read_command((value,))
        return value

    def _read_command(self, piped: tuple[Any, ...]) -> Any:
        """Read a value, or a function with its arguments, of which the piped value is the last."""
        if not self._tokens or self._tokens[-1]["name"] in {None, *_LITERALS}:
            if piped:
                raise self._refuse()
            return self._read_operand()
        name = self._tokens.pop()["name"]
        function = _FUNCTIONS.get(name)
        arguments = []
        while self._tokens and self._tokens[-1]["sign"] not in {"|", ")"}:
            arguments.append(self._read_operand())
        arguments += piped
        if function is None:
            raise self._refuse()
        try:
            # Charged before the text is made.
            self._budget.spend(_count_made(name, arguments))
            return function(*arguments)
        except (TypeError, ValueError, AttributeError) as error:  # of a wrong number, or of another type
            raise self._refuse() from error

    def _read_operand(self) -> Any:
        token = self._tokens.pop() if self._tokens else None
        if token is None or token["name"] not in {None, *_LITERALS}:
            raise self._refuse()
        if token["name"] is not None:
            return _LITERALS[token["name"]]
        if token["field"] is not None:
            return index(self._parameters, *filter(None, token["field"].split(".")))
        if token["number"] is not None:
            return int(token["number"])
        if token["text"] is not None:
            return self._read_text(token["text"])
        self._depth += 1
        if token["sign"] != "(" or self._depth > _MOST_PARENTHESES:
            raise self._refuse()
        value = self._read_pipe()
        if not self._take_sign(")"):
            raise self._refuse()
        return value

    def _read_text(self, token: str) -> str:
        if token.startswith("`"):
            return token[1:-1]
        try:
            return str(json.loads(token, strict=False))
        except ValueError as error:
            raise self._refuse() from error

    def _take_sign(self, sign: str) -> bool:
        is_next = bool(self._tokens) and self._tokens[-1]["sign"] == sign
        if is_next:
            self._tokens.pop()
        return is_next

    def _refuse(self) -> TemplateError:
        return TemplateError(f"{_show(self._text)} is not one of the templates that gitsync renders.")


def _show(text: str) -> str:
    return f"{{{{{text[:_LONGEST_SHOWN]}}}}}"
