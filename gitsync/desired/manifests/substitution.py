"""Replaces the variables in one document, as Flux does in the YAML of a built object.

Flux writes an object as YAML, replaces the variables, and reads the YAML again, so an unquoted `${COUNT}` becomes a
number, and a value such as `[a, b]` a list. Here each text is read again on its own, with the same result: every field
keeps its line, and no value can change the fields around it.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

import yaml

from gitsync.desired.catalog.body_words import is_word
from gitsync.desired.catalog.tag_fields import DEFAULT_TAGS
from gitsync.desired.catalog.version_annotation import BODY
from gitsync.desired.manifests.expansions import Expansion, ExpansionBudget, TextParts, apply_operator, parse_expansions
from gitsync.desired.manifests.yaml_documents import (
    ENCRYPTED,
    MAX_ALIASED,
    Document,
    QuotedText,
    Unreadable,
    read_fragment,
)
from gitsync.desired.manifests.yaml_scalars import resolve
from gitsync.desired.problems.field_path import FieldPath, format_field
from gitsync.errors import InvalidExpansionError
from gitsync.model.gvk import AZURE_GROUP
from gitsync.model.lines import WrittenValue
from gitsync.model.problem import Problem
from gitsync.model.secret import Placeholder, Secret
from gitsync.model.unit import Unit
from gitsync.model.variables import VariableValues, make_marker, replace_markers

SWITCH = "kustomize.toolkit.fluxcd.io/substitute"
"""Annotation or label; `disabled` leaves the variables of an object as they are."""

_SIMPLE: Final = re.compile(r"[A-Za-z0-9_./+-]*")
_LIVE: Final = "status"  # an object exported from a cluster has it; gitsync does not read it
_VALUE: Final = 25  # the cost of a value in a text, in characters
_BODY: Final = ("spec", "body")
_OWN: Final = f"{AZURE_GROUP}/"
_SEALED: Final = ("data", "stringData", ENCRYPTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class VariableUse:
    """A variable without a value in one field."""

    variable: UnsetVariable
    path: FieldPath  # of the text in the document
    line: int  # of the text in its file
    is_key: bool = False  # the variable is in a key


@dataclass(frozen=True, slots=True, kw_only=True)
class SubstitutedDocument:
    """A document with its variables replaced."""

    document: Document
    """If that is not possible, a text of `spec` or data is a `Placeholder`, and any other text stays as written; its
    problems are invalid expansions.
    """

    uses: tuple[VariableUse, ...] = ()  # variables without a value, even if they may be empty
    names: frozenset[str] = frozenset()  # all variables that the document mentions
    shown: tuple[Secret, ...] = ()
    """The texts from Secrets that are part of an id, a name, a location or an owner, and so are plain text."""

    hidden: tuple[Secret, ...] = ()  # all other texts from Secrets


INVALID = "InvalidVariable"
"""The code of a text that starts an expansion but is not a valid one."""


def can_be_empty(variable: UnsetVariable, path: FieldPath, values: VariableValues) -> bool:
    """Return whether a variable without a value may be replaced by an empty text: it certainly has no value, and the
    manifest still declares the same resource.
    """
    # The text is handed on to a build, and only the built fields show whether an empty text is allowed.
    if values.marks_missing:
        return True
    is_unknown = variable.is_unread or (variable.name in values.labels and variable.name not in values.missing)
    return not (is_unknown or variable.message or values.is_partial or identifies(path))


def is_disabled(value: Any) -> bool:
    """Return whether a document turns off the replacement for itself."""
    metadata = value.get("metadata") if isinstance(value, dict) else None
    members = [metadata.get(member) for member in ("annotations", "labels")] if isinstance(metadata, dict) else []
    return any(isinstance(member, dict) and member.get(SWITCH) == "disabled" for member in members)


def substitute(
    document: Document, values: VariableValues, budget: ExpansionBudget, unit: Unit | None
) -> SubstitutedDocument:
    """Replace the variables of a document, unless it turns that off. Raises TooLargeExpansionError.

    The data of an encrypted document stays, since it is decrypted from its file. In a Flux unit, quotes make no
    difference, since Flux writes the YAML again; elsewhere, quoted text stays text.
    """
    if is_disabled(document.value):
        return SubstitutedDocument(document=replace(document, value=_unmark(document.value)))
    heeds_quotes = unit is None or not unit.traits.substitutes
    substitution = _Replacement(document, values, budget, heeds_quotes=heeds_quotes)
    value = substitution.convert(document.value, ())
    lines = document.lines.rewrite(substitution.written) if substitution.written else document.lines
    lines = lines.rename(substitution.renamed) if substitution.renamed else lines
    problems = (*document.problems, *substitution.problems)
    return SubstitutedDocument(
        document=replace(document, value=value, lines=lines, problems=problems, original=document.original or document),
        uses=tuple(substitution.uses),
        names=frozenset(substitution.names),
        shown=tuple(substitution.shown),
        hidden=tuple(substitution.hidden),
    )


def _unmark(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _unmark(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_unmark(entry) for entry in value]
    return str(value) if isinstance(value, QuotedText) else value


@dataclass(slots=True)
class _Replacement:
    """The replacement in one document. Mutable: it collects problems, uses and secrets."""

    document: Document
    values: VariableValues
    budget: ExpansionBudget
    heeds_quotes: bool = field(kw_only=True)  # quotes in the file decide whether a value stays text
    problems: list[Problem] = field(default_factory=list)
    uses: list[VariableUse] = field(default_factory=list)
    names: set[str] = field(default_factory=set)  # the variables that the document mentions
    shown: list[Secret] = field(default_factory=list)  # the texts from Secrets that are plain text
    hidden: list[Secret] = field(default_factory=list)  # all other texts from Secrets
    renamed: dict[FieldPath, str] = field(default_factory=dict)  # the new keys, by the path of the old one
    written: dict[FieldPath, WrittenValue] = field(default_factory=dict)  # the spelling of values that differ from JSON

    def convert(self, value: Any, path: FieldPath) -> Any:
        if isinstance(value, dict):
            return self.convert_mapping(value, path)
        if isinstance(value, list):
            return [self.convert(entry, (*path, index)) for index, entry in enumerate(value)]
        return self.convert_text(value, path) if isinstance(value, str) and self.values.concern(value) else value

    def convert_mapping(self, mapping: Mapping[str, Any], path: FieldPath) -> dict[str, Any]:
        members: dict[str, Any] = {}
        for key, value in mapping.items():
            if not path and key == _LIVE:
                continue
            # SOPS verifies the file as a whole, so a changed key or value could not be decrypted.
            if not path and key in _SEALED and self.document.seal:
                members[key] = _unmark(value)
                continue
            is_replaced = self.values.concern(key) and not self.is_word(key, path)
            name = self.convert_key(key, (*path, key)) if is_replaced else key
            if name != key and name.startswith(("#", " ")):
                message = (
                    "The line starts with a variable that is not part of its key: in built manifests, variables are "
                    "replaced only in keys and values."
                )
                self.refuse((*path, key), message, "Remove the variable, and remove the field with a patch if needed.")
                continue
            if name in members:
                self.refuse((*path, key), f"The key {name!r} occurs twice after its variables are replaced.")
            members[name] = self.convert(value, (*path, key))
        return members

    def is_word(self, key: str, path: FieldPath) -> bool:
        """Return whether a key is a word of an AzureResource, or such a word with more than one `$`: it means the same
        in a unit without variables, where `$$` is not one `$`.
        """
        return path[:2] == _BODY and is_word(key) and str(self.document.value.get("apiVersion")).startswith(_OWN)

    def convert_key(self, key: str, path: FieldPath) -> str:
        expanded = self.expand(key, path, is_key=True)
        if expanded is None or expanded.unset:
            return str(key)
        self.shown += expanded.secrets
        self.renamed[path] = expanded.text
        return expanded.text

    def convert_text(self, text: str, path: FieldPath) -> Any:
        expanded = self.expand(text, path)
        if expanded is None or not all(can_be_empty(variable, path, self.values) for variable in expanded.unset):
            # A placeholder in the identity of a document would make the key of another resource.
            may_stay = self.values.is_partial or path[:1] not in _BODIES
            return str(text) if may_stay else Placeholder(replace_markers(str(text)))
        is_text = isinstance(text, QuotedText) and self.heeds_quotes
        value = expanded.text if is_text or not _is_written_plain(text) else self.read_again(expanded.text, path)
        # A number read from a variable has no quotes in the file, so a hint must quote the expression and not the
        # value.
        if isinstance(value, bool | int | float):
            self.written[path] = WrittenValue("", expression=str(text), keeps_quotes=self.heeds_quotes)
        if not expanded.secrets:
            return value
        if path in _IN_BODIES:
            message = f"{path[-1]} has the value of a Secret, which plans and records would show."
            self.refuse(path, message, _IN_BODIES[path])
            self.hidden.append(Secret(expanded.text))
            return str(text)
        if is_shown(path):
            self.shown += [*expanded.secrets, Secret(expanded.text)]
            return value
        self.hidden.append(Secret(expanded.text))
        return _hide(value)

    def expand(self, text: str, path: FieldPath, *, is_key: bool = False) -> ExpandedText | None:
        is_left = self.values.is_partial and not self.values.are_mentioned(text)
        try:
            expanded = expand_text(self.values.normalize(text), self.values, self.budget)
        except InvalidExpansionError as error:
            if not is_left:
                self.refuse(path, error.message, error.hint)
            return None
        if is_left and not expanded.names:
            return None  # `$$` stays as well
        line = self.document.lines.find_nearest(path)
        self.uses += [
            VariableUse(variable=variable, path=path, line=line, is_key=is_key) for variable in expanded.unset
        ]
        self.names |= expanded.names
        return expanded

    def read_again(self, text: str, path: FieldPath) -> Any:
        """Read the value of an unquoted YAML text."""
        if _SIMPLE.fullmatch(text):
            return resolve(text)
        # A value takes more memory than its characters, and an alias may expand to many values.
        self.budget.spend(_VALUE * sum(map(text.count, ",[{")) + (MAX_ALIASED if "*" in text else 0))
        try:
            return read_fragment(text)
        except Unreadable:
            message = f"{format_field(path)} is not valid YAML after its variables are replaced."
            self.refuse(path, message, "Quote the text, or change the values of its variables.")
            return Placeholder(text)

    def refuse(self, path: FieldPath, message: str, hint: str = "") -> None:
        line = self.document.lines.find_nearest(path)
        where = format_field(path)
        self.problems.append(
            Problem(code=INVALID, message=message, hint=hint, path=self.document.path, line=line, field=where)
        )


_ANNOTATIONS_PATH: Final = ("metadata", "annotations")
_IN_BODIES: Final[Mapping[FieldPath, str]] = {
    (*_ANNOTATIONS_PATH, BODY): "Write {$secret: {name: …, key: …}} there, which names a Secret and a key of it.",
    (*_ANNOTATIONS_PATH, DEFAULT_TAGS): "Remove the variable, or take its value from a ConfigMap.",
}
"""The annotations that become parts of bodies, and what to do about the value of a Secret there."""

_BODIES: Final = (("spec",), ("data",), ("stringData",))
"""The parts of a document that may have placeholders for unknown texts: all others identify it."""


def _is_written_plain(text: str) -> bool:
    """Return whether YAML writes this text without quotes."""
    analysis = yaml.emitter.Emitter(io.StringIO(), allow_unicode=True).analyze_scalar(str(text))
    return bool(analysis.allow_block_plain) and not analysis.multiline


def _hide(value: Any) -> Any:
    """Turn every text in a value into a Secret. A number or a boolean has no hidden form."""
    if isinstance(value, dict):
        return {key: _hide(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_hide(entry) for entry in value]
    return Secret(value) if isinstance(value, str) else value


# One text with its variables replaced.


_DEFAULTS = frozenset({"=", ":=", ":-"})
_REQUIRED = ":?"


@dataclass(frozen=True, slots=True)
class UnsetVariable:
    """A variable without a value, which Flux replaces by an empty text."""

    name: str
    message: str = ""  # of `${NAME:?message}`, whose author wants an error
    is_unread: bool = False  # it may have a value in a Secret or ConfigMap that was not read


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpandedText:
    """A text with its variables replaced."""

    text: str  # with empty texts for unset variables
    secrets: tuple[Secret, ...] = ()  # the values of Secrets in it
    unset: tuple[UnsetVariable, ...] = ()
    names: frozenset[str] = frozenset()  # all variables that the text mentions, even if their values are not used


def expand_text(text: str, values: VariableValues, budget: ExpansionBudget) -> ExpandedText:
    """Replace the variables of a text. Variables inside their values are not replaced.

    Raises InvalidExpansionError, TooLargeExpansionError.
    """
    parts = parse_expansions(text)
    evaluation = _Evaluation(values, budget)
    return ExpandedText(
        text=evaluation.join(parts),
        secrets=tuple(evaluation.secrets.values()),
        unset=tuple(evaluation.unset.values()),
        names=frozenset(_list_names(parts)),
    )


def _list_names(parts: TextParts) -> Iterator[str]:
    for part in parts:
        if isinstance(part, Expansion):
            yield part.name
            for argument in part.arguments:
                yield from _list_names(argument)


@dataclass(slots=True)
class _Evaluation:
    """The evaluation of one text. Mutable: it collects secrets and unset variables."""

    values: VariableValues
    budget: ExpansionBudget
    secrets: dict[str, Secret] = field(default_factory=dict)
    """The values of Secrets that the text contains, by variable."""

    unset: dict[str, UnsetVariable] = field(default_factory=dict)  # the variables without a value, by name

    def join(self, parts: TextParts) -> str:
        """Join the texts of parts. Each is counted before they become one text, which may be far too large."""
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
            # Only a unit whose author uses variables means `:-` as a default.
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
        """Return the value of a variable, with a marker if it refers to a missing variable."""
        return text + self.miss(UnsetVariable(name)) if name in self.values.missing else text

    def miss(self, variable: UnsetVariable) -> str:
        """Note a variable without a value, and return its replacement: an empty text, or a marker."""
        self.unset.setdefault(variable.name, variable)
        return make_marker(variable.name) if self.values.marks_missing else ""


# The fields in which a value from a Secret is plain text: they name, locate and order resources.
#
# They are ids, names, locations and owners: the header, `azureName`, `location`, `owner`, `operatorSpec` and every
# field with such a name. Records, reports and deletes show them.


_SHOWN_PARTS: Final = frozenset({"azureName", "azureNameFromConfig", "location", "operatorSpec", "owner"})
_SHOWN_FIELD: Final = re.compile(r"name|group|kind|wellKnownName|locationName|locations?|.*Locations?|id|.*I[dD]s?")
"""The members of a reference, locations, and ids."""


_ANNOTATIONS: Final = ("serviceoperator.azure.com/", "gitsync/")
"""The prefixes of annotations that decide what a run does with a resource."""


def identifies(path: FieldPath) -> bool:
    """Return whether a field decides which resource a manifest declares, or to which others it refers. All fields of a
    document that is not a resource do.
    """
    if path[:2] in {("metadata", "labels"), ("metadata", "annotations")} and len(path) > 2:
        return str(path[2]).startswith(_ANNOTATIONS)
    return path[:1] != ("spec",) or is_shown(path) or path[-1] == "key"


def is_shown(path: FieldPath) -> bool:
    """Return whether a value from a Secret is plain text at a path of a manifest."""
    if path[:1] in {("data",), ("stringData",)}:
        return False
    if path[:1] != ("spec",) or (len(path) > 1 and path[1] in _SHOWN_PARTS):
        return True
    named = [step for step in path if isinstance(step, str)]
    return _SHOWN_FIELD.fullmatch(named[-1]) is not None
