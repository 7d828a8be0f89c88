"""Merges the values of a Helm chart as Helm does: files, mappings, single values at a path, and those from Secrets and
ConfigMaps of the source.

The last one counts; mappings are merged, and lists are not (https://helm.sh/docs/chart_template_guide/values_files/).
What the chart itself has in values.yaml is left to Helm.

A text of a Secret never reaches helm: a variable stands for it, and gets its value when the result is read. One that is
encrypted, or in another source of secrets, is looked up by the run, as the variables of other units are.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from gitsync.desired.manifests.document_forms import is_one_cipher
from gitsync.desired.manifests.variable_values import describe
from gitsync.desired.manifests.yaml_documents import read_documents
from gitsync.model.export import ObjectKind
from gitsync.model.secret import Secret
from gitsync.model.unit import ChartValues, SetValue, Substitution, Unit, ValuesKey, ValuesReference
from gitsync.repository.units.build_sandbox import ChartError
from gitsync.repository.units.flux_variables import FluxVariables
from gitsync.repository.units.tree import SourceTree

_MOST_STEPS: Final = 30  # as in Helm
_STEP: Final = re.compile(r"(?P<name>(?:[^.\[\]\\]|\\.)+)|\[(?P<index>[0-9]{1,4})\]|(?P<dot>\.)")
_INTEGER: Final = re.compile(r"-?[1-9][0-9]{0,17}|0")
_WORDS: Final[Mapping[str, Any]] = {"true": True, "false": False, "null": None}
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)
_VARIABLE: Final = "helm_value_{}"


def name_variable(*identity: str) -> str:
    """Make the name of the variable that stands for a value from a Secret while a chart is rendered."""
    return _VARIABLE.format(hashlib.sha256(json.dumps(identity).encode()).hexdigest()[:16])


def merge_values(values: Iterable[ChartValues], tree: SourceTree, at: tuple[str, int]) -> dict[str, Any]:
    """Return the values as one mapping; a text among them is the path of a file. `at` is the file and line that has
    them, for errors. Raises ChartError if a file is not in the source or is not a mapping, or a path is malformed.
    """
    merged: dict[str, Any] = {}
    for entry in values:
        if isinstance(entry, ValuesKey):
            is_secret = entry.reference.kind == ObjectKind.SECRET
            hint = "Set targetPath for each value." if is_secret else "Add it to the source."
            raise ChartError(f"Values of the chart are not known: {entry.fault}.", hint=hint, path=at[0], line=at[1])
        if isinstance(entry, SetValue):
            merged = _put(merged, _split_path(entry, at), _parse(entry))
        else:
            merged = _merge(merged, _read_file(entry, tree, at) if isinstance(entry, str) else entry)
    return merged


def list_files(values: Iterable[ChartValues]) -> tuple[str, ...]:
    """List the files among values."""
    return tuple(entry for entry in values if isinstance(entry, str))


def _merge(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(under)
    for key, value in over.items():
        known = merged.get(key)
        # A list replaces the one below it, and null stays: for it, Helm removes a value of the chart.
        is_nested = isinstance(known, Mapping) and isinstance(value, Mapping)
        merged[key] = _merge(known or {}, value) if is_nested else value
    return merged


def _read_file(path: str, tree: SourceTree, at: tuple[str, int]) -> Mapping[str, Any]:
    if path not in tree.paths:
        message = f"The values file {path[:200]!r} is not in this source."
        raise ChartError(message, hint="Fix the path.", path=at[0], line=at[1])
    return read_mapping(path, tree.read([path])[path])


def read_mapping(path: str, content: bytes) -> Mapping[str, Any]:
    """Return the values in a text, {} if it has none. Raises ChartError if it cannot be read, or is not a mapping."""
    contents = read_documents(path, content)
    for problem in contents.problems:
        raise ChartError(f"{path} cannot be read: {problem.message}", hint=problem.hint, path=path, line=problem.line)
    if any(map(is_one_cipher, contents.documents)):
        message = f"All of {path} is encrypted with SOPS, so its values are not known."
        raise ChartError(message, hint="Encrypt only its secret values: `sops encrypt --input-type yaml`.", path=path)
    found = [document.value for document in contents.documents if document.value is not None]
    if not found:
        return {}
    if len(found) > 1 or not isinstance(found[0], dict):
        raise ChartError(f"{path} is not a mapping of values.", hint="Write one `key: value` per line.", path=path)
    return found[0]


def _put(value: Any, steps: Sequence[str | int], leaf: Any) -> Any:
    """Copy a value, with `leaf` at a path in it, as `--set` of Helm does."""
    if not steps:
        return leaf
    step, *others = steps
    if isinstance(step, int):
        entries = list(value) if isinstance(value, list) else []
        entries += [None] * (step + 1 - len(entries))
        entries[step] = _put(entries[step], others, leaf)
        return entries
    members = value if isinstance(value, Mapping) else {}
    return {**members, step: _put(members.get(step), others, leaf)}


def _split_path(setting: SetValue, at: tuple[str, int]) -> list[str | int]:
    steps: list[str | int] = []
    position, is_name_next = 0, True
    while position < len(setting.path) and len(steps) <= _MOST_STEPS:
        match = _STEP.match(setting.path, position)
        if match is None or (match["name"] is not None) != is_name_next:
            break
        position = match.end()
        is_name_next = match["dot"] is not None
        if not is_name_next:
            steps.append(int(match["index"]) if match["index"] else _ESCAPED.sub(r"\1", match["name"]))
    if position == len(setting.path) and not is_name_next:
        return steps
    message = f"{at[0]} sets a value at {setting.path[:200]!r}, which is not a path in the values of the chart."
    raise ChartError(message, hint="Fix the path; write one as `a.b[0].c`.", path=at[0], line=at[1])


def _parse(setting: SetValue) -> Any:
    """Parse the text of a value as Helm does: a boolean, null, an integer, or a list in braces."""
    if setting.is_text:
        return _ESCAPED.sub(r"\1", setting.text)
    if setting.text.startswith("{") and setting.text.endswith("}"):
        inner = setting.text[1:-1]
        return [_parse_word(word.strip()) for word in inner.split(",")] if inner else []
    return _parse_word(setting.text)


def _parse_word(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    return int(text) if _INTEGER.fullmatch(text) else _ESCAPED.sub(r"\1", text)


def fill_values(unit: Unit, variables: FluxVariables) -> Unit:
    """Return a unit with the values that its chart has from Secrets and ConfigMaps, as far as they are known."""
    if unit.release is None:
        return unit
    filling = _ValueFilling(variables, unit.settings.cluster_folder)
    values = tuple(entry for each in unit.release.values for entry in filling.fill(each))
    options = replace(unit.options, substitution=filling.make_substitution()) if filling.labels else unit.options
    return replace(unit, release=replace(unit.release, values=values), options=options)


@dataclass(slots=True)
class _ValueFilling:
    """Fills the values of one unit. Mutable: it collects the variables that stand for secrets."""

    variables: FluxVariables
    cluster: str  # the folder of the cluster of the unit
    labels: dict[str, str] = field(default_factory=dict)  # the name of each variable in messages
    known: dict[str, str | Secret] = field(default_factory=dict)  # the value of each variable, if it is known
    unread: dict[ValuesReference, dict[str, str]] = field(default_factory=dict)
    """The variables of each object that was not read, with the key of the object."""

    def make_substitution(self) -> Substitution:
        references = (replace(reference, keys=tuple(sorted(keys.items()))) for reference, keys in self.unread.items())
        return Substitution(values=self.known, references=tuple(references), labels=self.labels)

    def fill(self, values: ChartValues) -> Iterator[ChartValues]:
        if not isinstance(values, ValuesKey):
            yield values
            return
        found = self.variables.look_up(replace(values.reference, cluster_folder=self.cluster))
        text = found.values.get(values.key)
        if text is not None:
            yield self.read(values, text)
        elif found.fault and values.reference.kind == ObjectKind.SECRET and values.path:
            self.unread.setdefault(values.reference, {})[name_variable(*_identify(values))] = values.key
            yield SetValue(path=values.path, text=self.mark(values), is_text=True)
        else:
            fault = found.fault or f"{describe(values.reference)} has no key {values.key}"
            if found.fault and values.reference.kind == ObjectKind.SECRET:
                fault = f"{describe(values.reference)} is not in the source in plain text"
            yield replace(values, fault=fault)

    def read(self, values: ValuesKey, text: str | Secret) -> ChartValues:
        """Read the values in a text, which is the value of a path, or YAML."""
        if values.path:
            if isinstance(text, Secret):
                return SetValue(path=values.path, text=self.mark(values, value=text), is_text=True)
            # A text in quotes is not read as a number, as with Flux.
            quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
            return SetValue(path=values.path, text=text[1:-1] if quoted else text, is_text=quoted)
        try:
            plain = text.reveal() if isinstance(text, Secret) else text
            mapping = read_mapping(f"{values.key} of {describe(values.reference)}", plain.encode())
        except ChartError as error:
            message = error.problem.message if isinstance(text, str) else "it is not a mapping in YAML"
            return replace(values, fault=f"{describe(values.reference)}: {message}")
        return self.hide(values, mapping) if isinstance(text, Secret) else mapping

    def hide(self, values: ValuesKey, value: Any, path: tuple[str | int, ...] = ()) -> Any:
        """Replace the texts in a value by variables."""
        if isinstance(value, Mapping):
            return {key: self.hide(values, member, (*path, key)) for key, member in value.items()}
        if isinstance(value, list):
            return [self.hide(values, entry, (*path, index)) for index, entry in enumerate(value)]
        # Numbers and booleans have no hidden form.
        return self.mark(values, *map(str, path), value=Secret(value)) if isinstance(value, str) and value else value

    def mark(self, values: ValuesKey, *path: str, value: Secret | None = None) -> str:
        """Make the variable that stands for a value, which is looked up later if it is not known yet."""
        name = name_variable(*_identify(values), *path)
        self.labels[name] = f"{'.'.join(path) or values.key} of {describe(values.reference)}"
        if value is not None:
            self.known[name] = value
        return f"${{{name}}}"


def _identify(values: ValuesKey) -> tuple[str, ...]:
    return values.reference.namespace, values.reference.name, values.key
