"""Variables in the documents of a source: which documents have them replaced, and what happens if that fails.

The step of the reader between recognizing a document and reading its header. A text without a value is never written: a
document without its identity is rejected, a resource is invalid, and a key of a ConfigMap or a Secret is left out.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from gitsync.desired.manifests.expansions import MAX_CHARACTERS, ExpansionBudget
from gitsync.desired.manifests.substitution import (
    INVALID,
    SubstitutedDocument,
    VariableUse,
    can_be_empty,
    is_disabled,
    is_shown,
    substitute,
)
from gitsync.desired.manifests.unread_documents import UnreadContent, reject
from gitsync.desired.manifests.used_objects import is_feeding, read_feeding_object
from gitsync.desired.manifests.variable_lines import replace_begins
from gitsync.desired.manifests.variable_values import (
    VariablePosition,
    VariableSet,
    VariableUses,
    describe_braceless,
    describe_unreplaced,
    describe_unset,
)
from gitsync.desired.manifests.yaml_documents import Document
from gitsync.desired.problems.field_path import FieldPath, format_field
from gitsync.errors import TooLargeExpansionError
from gitsync.model.problem import Level, Problem, SourceLocation
from gitsync.model.secret import Placeholder, Secret
from gitsync.model.unit import Unit
from gitsync.model.variables import VariableFault, VariableValues

_IDENTITY: Final = (("apiVersion",), ("kind",), ("metadata", "name"), ("metadata", "namespace"))
_DATA: Final = ("data", "stringData")
_BRACED: Final = re.compile(r"(?<!\$)\$\{([_a-zA-Z][_a-zA-Z0-9]*)[}:=/#%^,]")
_BRACELESS: Final = re.compile(r"(?<!\$)\$([_a-zA-Z][_a-zA-Z0-9]*)")
_BARE: Final = re.compile(r"\$[_A-Z][_A-Z0-9]*")  # hardly a literal text


@dataclass(kw_only=True, slots=True, unsafe_hash=True)  # not frozen: filled ten times as fast
class VariableSubject:
    """A document and its unit."""

    document: Document
    unit: Unit | None  # None for a plain folder
    resource: int | None  # its position among the resources; None for a Secret, a ConfigMap or a Namespace
    namespace: str = "default"  # of manifests without one

    def find_location(self, path: FieldPath) -> VariablePosition:
        source = SourceLocation(self.document.path, self.document.lines.find_nearest(path))
        value = self.document.value
        about = read_feeding_object(value, self.namespace) if is_feeding(value) else None
        return VariablePosition(source=source, path=path, resource=self.resource, about=about)


@dataclass(slots=True)
class VariableReader:
    """Replaces variables, and collects the uses. Mutable: it is filled document by document."""

    variables: VariableSet
    budget: ExpansionBudget = field(default_factory=ExpansionBudget)
    uses: VariableUses = field(default_factory=VariableUses)
    names: dict[str, set[str]] = field(default_factory=dict)
    """The variables that each unit mentions, by the unit's name ("" for plain folders)."""

    shown: list[Secret] = field(default_factory=list)  # the texts from Secrets that are plain text
    hidden: list[Secret] = field(default_factory=list)  # all other texts from Secrets

    def has_variables(self, unit: Unit | None) -> bool:
        """Return whether the manifests of a unit have their variables replaced."""
        return self.variables.find(unit) is not None

    def replace_begins(self, content: bytes, unit: Unit | None, *, is_built: bool) -> bytes:
        """Replace the variables at the start of lines. `replace` reports those that are too large. In a built text they
        stay, since the build has read such a line as a key.
        """
        values = self.variables.find(unit)
        # In a built text such a line is a key already, so a replacement would change its meaning.
        if is_built or values is None:
            return content
        try:
            replaced, names = replace_begins(content, values, self.budget)
        except TooLargeExpansionError:
            return content
        if names:
            self.names.setdefault(unit.name if unit else "", set()).update(names)
        return replaced

    def replace(self, subject: VariableSubject) -> Document | UnreadContent:
        """Replace the variables of a document, or return why it is rejected."""
        document, unit = subject.document, subject.unit
        values = self.variables.find(unit)
        if values is None:  # nothing is replaced here, so `${NAME}` is a mistake or a literal text
            return self._leave(subject)
        if values.is_partial:
            # A document without any of the given variables may be for another tool, so its defaults stay too.
            values = replace(values, has_defaults=values.are_mentioned(document.text.decode(errors="replace")))
        try:
            substituted = substitute(document, values, self.budget, unit)
        except TooLargeExpansionError:
            return reject(document, make_too_large(document, "the source"))
        self.names.setdefault(unit.name if unit else "", set()).update(substituted.names - values.missing.keys())
        self.shown += substituted.shown
        self.hidden += substituted.hidden
        if values.is_partial:
            uses = tuple(use for use in substituted.uses if use.variable.name in values.known)
            substituted = replace(substituted, uses=uses)  # the others stay as they are
        # A document without a name does not become a resource: its problem then belongs to the file.
        has_identity = _has_identity(substituted)
        self._note_unset(substituted, values, subject if has_identity else replace(subject, resource=None))
        if not has_identity:
            return reject(document, *substituted.document.problems)
        # A Secret or ConfigMap keeps the keys whose values are known: a resource may use only those.
        if subject.resource is None:
            return _keep_known_data(substituted.document)
        if values.is_partial or (values.labels and values.missing):
            return self._leave(replace(subject, document=substituted.document), values.known)
        return self._note_braceless(subject, substituted.document, values)

    def _note_unset(self, substituted: SubstitutedDocument, values: VariableValues, subject: VariableSubject) -> None:
        subject = replace(subject, document=substituted.document)
        for use in substituted.uses:
            level = _decide_level(use, substituted.document.value, values)
            is_empty = not is_feeding(subject.document.value) and _is_empty(use, values)
            fault = describe_unset(use.variable, values, subject.unit, is_empty=is_empty)
            self.uses.add(fault, subject.find_location(use.path), subject.unit, level)

    def _note_braceless(
        self, subject: VariableSubject, document: Document, values: VariableValues
    ) -> Document | UnreadContent:
        """Note each `$NAME`. It is an error unless it may be a literal text, as in a Flux unit, where it is not
        replaced.
        """
        if values.labels or values.takes_braceless:  # parameters of a template, or `envsubst`, which replaces it
            return document
        is_flux = subject.unit is not None and subject.unit.traits.substitutes
        remaining = []
        for path, text in _iterate_texts(subject.document.value):
            for name in (word for word in _BRACELESS.findall(text) if word in values.known or _is_variable(word, path)):
                is_meant = not is_flux and (name in values.known or _BARE.fullmatch(text))
                level = Level.ERROR if is_meant or _is_kubernetes_name(path) else Level.WARNING
                remaining.append((path, describe_braceless(name, subject.unit, has_variables=True), level))
        return self._note(subject, document, remaining)

    def _leave(self, subject: VariableSubject, given: Container[str] = ()) -> Document | UnreadContent:
        """Report the variables that stay in a document, except `given` ones, which were replaced before."""
        if subject.resource is None or b"$" not in subject.document.text:
            return subject.document
        remaining = []
        for path, text in _iterate_texts(subject.document.value):
            level = Level.ERROR if _is_kubernetes_name(path) or _identifies_in_azure(path) else Level.WARNING
            faults = [describe_unreplaced(name, subject.unit) for name in _BRACED.findall(text) if name not in given]
            if level is Level.ERROR or _BARE.fullmatch(text):
                names = [name for name in _BRACELESS.findall(text) if _is_variable(name, path)]
                faults += [describe_braceless(name, subject.unit, has_variables=False) for name in names]
            remaining += [(path, fault, level) for fault in faults]
        return self._note(subject, subject.document, remaining)

    def _note(
        self, subject: VariableSubject, document: Document, remaining: Sequence[tuple[FieldPath, VariableFault, Level]]
    ) -> Document | UnreadContent:
        """Note the variables that stay. A document with one in its identity is rejected. It may declare any resource,
        so no other counts as removed.
        """
        has_identity = not any(path in _IDENTITY for path, _, _ in remaining)
        subject = subject if has_identity else replace(subject, resource=None)
        for path, fault, level in remaining:
            self.uses.add(fault, subject.find_location(path), subject.unit, level if has_identity else Level.ERROR)
        return document if has_identity else reject(document, *document.problems)


def _has_identity(substituted: SubstitutedDocument) -> bool:
    """Return whether all variables of the identity of a document have values."""
    document = substituted.document
    faulty = {problem.field for problem in document.problems if problem.code == INVALID}
    is_faulty = any(format_field(path) in faulty for path in _IDENTITY)
    return not is_faulty and not any(_is_identity(document.value, use.path) for use in substituted.uses)


def _is_identity(value: Mapping[str, Any], path: FieldPath) -> bool:
    """Return whether a field identifies a document. Annotations of a Namespace count too, since they are policies."""
    is_policy = path[:2] == ("metadata", "annotations") and value["kind"] == "Namespace" and is_feeding(value)
    return path in _IDENTITY or is_policy


def _is_variable(name: str, path: FieldPath) -> bool:
    """Return whether `$NAME` in a field is a variable: Kubernetes names and locations never have a `$`, but Azure has
    names such as $web.
    """
    return name.isupper() or _is_kubernetes_name(path) or path == ("spec", "location")


def _is_kubernetes_name(path: FieldPath) -> bool:
    return path in _IDENTITY or path == ("spec", "owner", "name")


def _identifies_in_azure(path: FieldPath) -> bool:
    """Return whether a field is an id, a name, a location or an owner."""
    return path[:1] == ("spec",) and path[1:2] != ("operatorSpec",) and is_shown(path)


def _decide_level(use: VariableUse, value: Any, values: VariableValues) -> Level:
    """Return the level of a variable without a value: a warning if an empty text is allowed, if only a sync reads the
    value and no id contains it, or for a key of a Secret or ConfigMap, which may not be used. Other fields of these
    objects get a note, everything else is an error.
    """
    if is_feeding(value) and not _is_identity(value, use.path):
        return Level.WARNING if use.path[0] in _DATA else Level.NOTE
    is_to_come = use.variable.is_unread and values.is_to_come and not is_shown(use.path)
    return Level.WARNING if is_to_come or _is_empty(use, values) else Level.ERROR


def _is_empty(use: VariableUse, values: VariableValues) -> bool:
    return not use.is_key and can_be_empty(use.variable, use.path, values)


def _keep_known_data(document: Document) -> Document:
    """Return a Secret, ConfigMap or Namespace without unknown values. A ConfigMap keeps no value from a Secret."""
    if document.value["kind"] == "Namespace":
        return document
    is_secret = document.value["kind"] == "Secret"
    problems = [
        replace(problem, level=Level.WARNING) if problem.code == INVALID else problem for problem in document.problems
    ]
    value = dict(document.value)
    for member in _DATA:
        mapping = value.get(member)
        if not isinstance(mapping, dict):
            continue
        hidden = [
            key for key, value in mapping.items() if isinstance(value, Secret) and not isinstance(value, Placeholder)
        ]
        problems += [] if is_secret else [_make_hidden(document, (member, key)) for key in hidden]
        kept = {key: value for key, value in mapping.items() if not isinstance(value, Secret)}
        value[member] = kept | ({key: mapping[key].reveal() for key in hidden} if is_secret else {})
    return replace(document, value=value, problems=tuple(problems))


def _make_hidden(document: Document, path: FieldPath) -> Problem:
    where = format_field(path)
    return Problem(
        code="SecretInConfigMap",
        message=f"{where} has a variable from a Secret, so it is not read: values of ConfigMaps are not masked.",
        hint="Move it to a Secret.",
        level=Level.WARNING,
        path=document.path,
        line=document.lines.find_nearest(path),
        field=where,
    )


def make_too_large(document: Document, what: str) -> Problem:
    """Make the problem of variables that expand to too much in `what`, at the document that exceeded the limit."""
    return Problem(
        code="VariablesTooLarge",
        message=f"The variables of {what} expand to more than {MAX_CHARACTERS:,} characters.",
        hint="Shorten their values, or use them less often.",
        path=document.path,
        line=document.line(),
    )


def _iterate_texts(value: Any, path: FieldPath = ()) -> Iterator[tuple[FieldPath, str]]:
    """Yield the texts of a document that may have a variable, with their paths; none if it turns that off."""
    if not path and is_disabled(value):
        return
    if isinstance(value, dict):
        for key, member in value.items():
            # gitsync does not read the status, so a variable there has no effect.
            if path or key != "status":
                yield from _iterate_texts(member, (*path, key))
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            yield from _iterate_texts(entry, (*path, index))
    elif isinstance(value, str) and "$" in value:
        yield path, value
