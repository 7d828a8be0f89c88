"""A text with its variables replaced, and its properties."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from gitsync.manifests.expansion_functions import ExpansionBudget, apply_operator
from gitsync.manifests.expansions import Expansion, Parts, parse_expansions
from gitsync.model.secret import Secret
from gitsync.model.variables import VariableValues, make_marker

_DEFAULTS = frozenset({"=", ":=", ":-"})
_REQUIRED = ":?"


@dataclass(frozen=True, slots=True)
class UnsetVariable:
    """A variable without a value, for which Flux puts in an empty text. `message` is that of `${NAME:?message}`, whose
    author wants an error. `is_unread` tells that it may have a value, in a Secret or ConfigMap that was not read.
    """

    name: str
    message: str = ""
    is_unread: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpandedText:
    """`text` has empty texts for what is `unset`. `secrets` are the values of Secrets in it; `names` are all variables
    that the text mentions, used or not.
    """

    text: str
    secrets: tuple[Secret, ...] = ()
    unset: tuple[UnsetVariable, ...] = ()
    names: frozenset[str] = frozenset()


def expand_text(text: str, values: VariableValues, budget: ExpansionBudget) -> ExpandedText:
    """Replace the variables of a text. Values are not looked into for further variables.

    Raises InvalidExpansionError, TooLargeExpansionError.
    """
    parts = parse_expansions(text)
    evaluation = _Evaluation(values, budget)
    return ExpandedText(
        text=evaluation.join(parts),
        secrets=tuple(evaluation.secrets.values()),
        unset=tuple(evaluation.unset.values()),
        names=frozenset(_find_names(parts)),
    )


def _find_names(parts: Parts) -> Iterator[str]:
    for part in parts:
        if isinstance(part, Expansion):
            yield part.name
            for argument in part.arguments:
                yield from _find_names(argument)


@dataclass(slots=True)
class _Evaluation:
    """Mutable: it collects what it meets."""

    values: VariableValues
    budget: ExpansionBudget
    secrets: dict[str, Secret] = field(default_factory=dict)
    unset: dict[str, UnsetVariable] = field(default_factory=dict)

    def join(self, parts: Parts) -> str:
        """The text of some parts. Each is counted before they are one text: together they may be far too much."""
        texts: list[str] = []
        for part in parts:
            texts.append(part if isinstance(part, str) else self.evaluate(part))
            self.budget.spend(len(texts[-1]))
        return "".join(texts)

    def evaluate(self, expansion: Expansion) -> str:
        name = expansion.name
        if name not in self.values.known and self.values.unread:
            return self.miss(UnsetVariable(name, is_unread=True))
        value = self.find_value(name)
        if expansion.operator in _DEFAULTS:
            if value is None and not self.values.has_defaults:
                return self.miss(UnsetVariable(name))
            return self.mark(name, value) if value else self.join(expansion.arguments[0])
        if expansion.operator == _REQUIRED:
            if not value:
                return self.miss(UnsetVariable(name, self.join(expansion.arguments[0])))
            return self.mark(name, value)
        text = value or ""
        if expansion.operator:
            arguments = [self.join(argument) for argument in expansion.arguments]
            text = apply_operator(expansion.operator, text, arguments, self.budget)
        return self.mark(name, text) if value is not None else text + self.miss(UnsetVariable(name))

    def find_value(self, name: str) -> str | None:
        value = self.values.known.get(name)
        if isinstance(value, Secret):
            self.secrets[name] = value
            return value.reveal()
        return value

    def mark(self, name: str, text: str) -> str:
        """What a variable expands to, marked if another one was missing in its value."""
        return text + self.miss(UnsetVariable(name)) if name in self.values.missing else text

    def miss(self, variable: UnsetVariable) -> str:
        """Note a variable without a value. Returns what its text has of it: nothing, or its marker."""
        self.unset.setdefault(variable.name, variable)
        return make_marker(variable.name) if self.values.marks_missing else ""
