"""The values of a chart from Secrets and ConfigMaps of the source.

A text of a Secret never reaches helm: a variable stands for it, and gets its value when the result is read. One that is
encrypted, or in another source of secrets, is looked up by the run, as the variables of other units are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from gitsync.manifests.variable_values import describe
from gitsync.model.export import Holder
from gitsync.model.secret import Secret
from gitsync.model.unit import ChartValues, SetValue, Substitution, Unit, ValuesKey, ValuesReference
from gitsync.units.chart_values import read_mapping
from gitsync.units.flux_variables import FluxVariables
from gitsync.units.helm import name_variable
from gitsync.units.unbuildable import ChartError


def fill_values(unit: Unit, variables: FluxVariables) -> Unit:
    """Return a unit with the values that its chart has from Secrets and ConfigMaps, as far as they are known."""
    if unit.release is None:
        return unit
    filling = _Filling(variables, unit.home)
    values = tuple(one for each in unit.release.values for one in filling.fill(each))
    options = replace(unit.options, substitution=filling.make_substitution()) if filling.labels else unit.options
    return replace(unit, release=replace(unit.release, values=values), options=options)


@dataclass(slots=True)
class _Filling:
    """Fills the values of one unit, which is in the cluster of a folder. Mutable: it collects the variables that stand
    for secrets.
    """

    variables: FluxVariables
    cluster: str
    labels: dict[str, str] = field(default_factory=dict)
    known: dict[str, str | Secret] = field(default_factory=dict)
    unread: dict[ValuesReference, dict[str, str]] = field(default_factory=dict)

    def make_substitution(self) -> Substitution:
        references = (replace(one, keys=tuple(sorted(keys.items()))) for one, keys in self.unread.items())
        return Substitution(values=self.known, references=tuple(references), labels=self.labels)

    def fill(self, values: ChartValues) -> Iterator[ChartValues]:
        if not isinstance(values, ValuesKey):
            yield values
            return
        found = self.variables.look_up(replace(values.reference, home=self.cluster))
        text = found.values.get(values.key)
        if text is not None:
            yield self.read(values, text)
        elif found.fault and values.reference.kind == Holder.SECRET and values.path:
            self.unread.setdefault(values.reference, {})[name_variable(*_identify(values))] = values.key
            yield SetValue(path=values.path, text=self.mark(values), is_text=True)
        else:
            yield replace(values, fault=_explain(values, found.fault))

    def read(self, values: ValuesKey, text: str | Secret) -> ChartValues:
        """The values in a text, which is the value of a path, or YAML."""
        if values.path:
            if isinstance(text, Secret):
                return SetValue(path=values.path, text=self.mark(values, value=text), is_text=True)
            return _make_set_value(values.path, text)
        try:
            mapping = read_mapping(f"{values.key} of {describe(values.reference)}", _reveal(text).encode())
        except ChartError as error:
            message = error.problem.message if isinstance(text, str) else "it is not a mapping in YAML"
            return replace(values, fault=f"{describe(values.reference)}: {message}")
        return self.hide(values, mapping) if isinstance(text, Secret) else mapping

    def hide(self, values: ValuesKey, value: Any, path: tuple[str | int, ...] = ()) -> Any:
        """A value with variables for its texts. Numbers and booleans have no hidden form."""
        if isinstance(value, Mapping):
            return {key: self.hide(values, member, (*path, key)) for key, member in value.items()}
        if isinstance(value, list):
            return [self.hide(values, entry, (*path, index)) for index, entry in enumerate(value)]
        return self.mark(values, *map(str, path), value=Secret(value)) if isinstance(value, str) and value else value

    def mark(self, values: ValuesKey, *path: str, value: Secret | None = None) -> str:
        """The variable that stands for a value, which is looked up later if it is not known yet."""
        name = name_variable(*_identify(values), *path)
        self.labels[name] = f"{'.'.join(path) or values.key} of {describe(values.reference)}"
        if value is not None:
            self.known[name] = value
        return f"${{{name}}}"


def _explain(values: ValuesKey, fault: str) -> str:
    if fault and values.reference.kind == Holder.SECRET:
        return f"{describe(values.reference)} is not in the source in plain text"
    return fault or f"{describe(values.reference)} has no key {values.key}"


def _identify(values: ValuesKey) -> tuple[str, ...]:
    return values.reference.namespace, values.reference.name, values.key


def _make_set_value(path: str, text: str) -> SetValue:
    """One value; a text in quotes is not read as a number, as with Flux."""
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return SetValue(path=path, text=text[1:-1] if quoted else text, is_text=quoted)


def _reveal(text: str | Secret) -> str:
    return text.reveal() if isinstance(text, Secret) else text
