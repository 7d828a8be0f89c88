"""Puts the values that expressions compute from other resources into the specs of manifests (docs/values.md): those of
the annotation `gitsync/set`, and of `$expression` in an AzureResource and in `gitsync/body`.

A value is a `ComputedValue` from then on, with the location of its expression. What can be wrong with it is found here,
offline: its field, the resources that it names, types and secrets.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from gitsync.desired.catalog.body_words import SET
from gitsync.desired.catalog.catalog import Catalog
from gitsync.desired.catalog.directory_relations import APPLICATION, PRINCIPAL, RELATIONS, SYSTEM_ID
from gitsync.desired.catalog.type_words import add_article, join_with_and
from gitsync.desired.catalog.version_annotation import BODY
from gitsync.desired.cel.expressions import quote_expression
from gitsync.desired.cel.object_ids import find_object_id
from gitsync.desired.cel.source_types import (
    KNOWN_ELSEWHERE,
    UNKNOWN_KIND,
    Unsettable,
    find_choices,
    find_field_type,
    fits_field,
    is_required,
    make_source_type,
)
from gitsync.desired.cel.types.types import Type
from gitsync.desired.cel.value_expressions import ValueExpression, check_value, parse_value
from gitsync.desired.manifests.unbuilt_units import doubt_absence
from gitsync.desired.manifests.written_names import WrittenNames
from gitsync.desired.problems.field_path import FieldPath, find_member, format_field
from gitsync.desired.problems.finding import Finding
from gitsync.desired.request.secret_reads import find_secret_read
from gitsync.desired.request.value_estate import ValueEstate
from gitsync.desired.validation.body_annotation import BODY_PATH, read_body
from gitsync.desired.validation.directory_links import has_links, read_links
from gitsync.desired.validation.references import check_owner_type
from gitsync.desired.validation.set_annotation import (
    APPLICATION_IDS,
    OWNER_ID,
    PRINCIPAL_FIELDS,
    SET_PATH,
    SetEntry,
)
from gitsync.errors import ExpressionError
from gitsync.model.arm_id import ArmId
from gitsync.model.facts import Kind
from gitsync.model.gvk import Key
from gitsync.model.problem import Level, Problem
from gitsync.model.resource import Resource
from gitsync.model.template import UNREADABLE, WAITING_FOR_UNIT, WAITING_FOR_VALUE, ComputedValue

_OF_EXPRESSION: Final = frozenset(
    {"InvalidExpression", "ExpressionOutput", "SecretInExpression", "OwnerType", *UNREADABLE}
)
"""Codes of what is wrong with an expression, and not with its field."""

_INSTEAD_OF_ID: Final = ("group", "kind", "name", "wellKnownName")
"""The members of an owner or of a reference that name it without an id."""

_LINKS: Final = "DirectoryLinks"
_PRINCIPAL: Final = "PrincipalReference"

_PARTS: Final = "Fix the expression: a resource has id, name, spec and status. There is no self or secret."


class Computed(NamedTuple):
    """A value in a spec, and the field that has it."""

    field: FieldPath
    value: ComputedValue


class Elsewhere(NamedTuple):
    """The resources that no manifest declares, and records have."""

    ids: Mapping[Key, ArmId]
    hidden: frozenset[Key]  # those whose manifests may be in what could not be read of the source
    unbuilt: tuple[Problem, ...] = ()  # the problems of units that may declare further ones


def add_computed(
    resources: Sequence[Resource], found: Mapping[int, Sequence[SetEntry]], elsewhere: Elsewhere, catalog: Catalog
) -> ValueEstate:
    """Return the resources with their computed values, and the problems of these. `found` has the expressions by the
    index of their manifest.
    """
    setting = _Setting(resources, elsewhere, catalog)
    added = tuple(
        setting.add(resource, found[index]) if index in found else resource for index, resource in enumerate(resources)
    )
    return ValueEstate(added, setting.bodies, setting.values)


class _EntryError(Exception):
    """An entry is wrong."""

    def __init__(self, code: str, message: str, hint: str = "", level: Level = Level.ERROR) -> None:
        super().__init__(message)
        self.code, self.message, self.hint, self.level = code, message, hint, level


class _Setting:
    """Puts values into specs: has the resources that expressions may name."""

    def __init__(self, resources: Sequence[Resource], elsewhere: Elsewhere, catalog: Catalog) -> None:
        self._resources = {resource.key: resource for resource in resources}
        self._elsewhere = elsewhere
        self._names = WrittenNames([*self._resources, *elsewhere.ids], elsewhere.unbuilt)
        self._catalog = catalog
        self.bodies: dict[Key, Mapping[str, Any]] = {}
        self.values: dict[Key, tuple[ComputedValue, ...]] = {}

    def add(self, resource: Resource, entries: Sequence[SetEntry]) -> Resource:
        """Return a resource with its computed values, and the problems of these."""
        kind = self._catalog.kind_of(resource)
        if kind is None:  # a problem of its own
            return resource
        # Entries set fields of spec, of the annotation `gitsync/body` and of directory links: one mapping has all of
        # them.
        annotations = {BODY: read_body(resource), **{annotation: {} for annotation in RELATIONS}}
        manifest: Any = {"spec": resource.spec, "metadata": {"annotations": annotations}, "body": {}}
        values, problems, patched = list[ComputedValue](), list(resource.problems), dict(resource.patched)
        for entry in entries:
            try:
                value = self._make_value(resource, kind, entry)
                self._check_owner(kind, entry.field, value)
                manifest = _put(manifest, entry.field, value, is_word=entry.is_word)
                values.append(value)
                # A word has the line of its field; the annotation sets a field from another line.
                if not entry.is_word:
                    patched[entry.field] = entry.source
            except _EntryError as error:
                if entry.field in APPLICATION_IDS:  # the check of owners reports it
                    continue
                problems.append(_locate(error, resource, entry))
                # The field itself is right, and without a value it would be reported as missing too.
                if error.code in _OF_EXPRESSION or entry.principal:
                    manifest = _hide_fault(manifest, entry)
        self.values[resource.key] = tuple(values)
        if body := _find_added_members(resource, manifest, entries):
            self.bodies[resource.key] = body
        ordered = sorted(problems, key=lambda problem: problem.order)
        return replace(resource, spec=manifest["spec"], patched=patched, problems=tuple(ordered))

    def _make_value(self, resource: Resource, kind: Kind, entry: SetEntry) -> ComputedValue:
        """Make a value. Raises _EntryError for the first thing that is wrong with it."""
        if entry.fault:
            raise _EntryError("SetAnnotation", entry.fault, entry.hint)
        if entry.principal:
            return self._make_principal(resource, entry)
        wanted = find_field_type(kind, entry.field)
        if isinstance(wanted, Unsettable):
            raise _EntryError("SetField", wanted.message, wanted.hint)
        sources: Mapping[str, Key] = {}
        try:
            expression = parse_value(entry.expression)
            sources = self._find_sources(resource, expression)
            given = check_value(expression, {name: self._make_type(key) for name, key in sources.items()})
        except ExpressionError as error:
            self._wait_for_hidden(sources)
            hint = error.hint or self._explain_elsewhere(sources) or _PARTS
            raise _EntryError("InvalidExpression", f"{error.message}.", hint) from error
        # The value goes into a body as plain text, so plans and records would show it.
        if secret := find_secret_read(expression, {name: self._find_kind(key) for name, key in sources.items()}):
            message = f"The expression {quote_expression(expression.text)} reads {secret}, which may be a secret."
            hint = "Export it to a Secret with operatorSpec, and refer to that Secret."
            raise _EntryError("SecretInExpression", message, hint)
        if not fits_field(wanted, given):
            message = f"{format_field(entry.field)} must be {_name_type(wanted)}, and the expression gives {given}."
            raise _EntryError("ExpressionOutput", message, _suggest_conversion(wanted, given))
        return ComputedValue(
            entry.expression,
            field=format_field(entry.field),
            sources=sources,
            known_ids={key: self._elsewhere.ids[key] for key in sources.values() if key not in self._resources},
            id_of=sources.get(expression.find_id_name()),
            reads=frozenset(sources[name] for name in expression.list_read_names()),
            shape=wanted.name,
            choices=find_choices(kind, entry.field),
            is_required=is_required(kind, entry.field),
        )

    def _make_principal(self, resource: Resource, entry: SetEntry) -> ComputedValue:
        """Make the value for the object id of what a name stands for. Raises _EntryError if it has none."""
        name, code = entry.principal, _PRINCIPAL if entry.field[0] == "spec" else _LINKS
        found = self._names.find(name, resource.key.namespace, code=code, path=entry.field)
        if isinstance(found, Finding):
            raise _EntryError(found.code, found.message, found.hint, found.level)
        if found == resource.key:
            raise _EntryError(code, f"{name} is the resource itself.", "Remove it.")
        if found not in self._resources:
            self._wait_for_hidden({name: found})
            message = f"No manifest of this run declares {name}, so its object id is not known."
            raise _EntryError(code, message, "Write the object id in place of the name.")
        steps = APPLICATION_IDS.get(entry.field) or self._find_object_id(found)
        needed = (
            APPLICATION if entry.field in APPLICATION_IDS else PRINCIPAL if entry.field == PRINCIPAL_FIELDS[1] else None
        )
        if steps is None or (needed and found[:2] != needed) or (not needed and found[:2] == APPLICATION):
            raise _EntryError(code, *_explain_other_kind(name, found, needed))
        return ComputedValue(
            f"resource({json.dumps(name)}).status.{'.'.join(steps)}",
            field="spec.owner" if entry.field in APPLICATION_IDS else format_field(entry.field),
            sources={name: found},
            reads=frozenset({found}),
            shape="string",
            is_required=True,
        )

    def _wait_for_hidden(self, sources: Mapping[str, Key]) -> None:
        """Raise _EntryError if the manifest of a source may be in what could not be read: its status is then unknown,
        and not absent.
        """
        for name, key in sources.items():
            if key in self._elsewhere.hidden:
                begin = f"The status of {name} is not known, since its manifest cannot be read"
                hint = "Fix what cannot be read. This resource follows."
                unread = Finding(
                    code=WAITING_FOR_VALUE, path=SET_PATH, message=f"{begin}.", hint=hint, level=Level.WARNING
                )
                found = doubt_absence(unread, begin, self._elsewhere.unbuilt)
                raise _EntryError(found.code, found.message, found.hint, found.level)

    def _find_object_id(self, key: Key) -> tuple[str, ...] | None:
        kind = self._find_kind(key)
        return find_object_id(kind) if kind else SYSTEM_ID

    def _check_owner(self, kind: Kind, field: FieldPath, value: ComputedValue) -> None:
        """Raise _EntryError for an owner that has the wrong type. The rules of AzureResource check theirs."""
        if field != OWNER_ID or value.id_of is None or kind.owner is None:
            return
        of_owner, known_id = self._find_kind(value.id_of), value.known_ids.get(value.id_of)
        owner_type = known_id.arm_type if known_id else of_owner.arm_type if of_owner else ""
        for finding in check_owner_type(owner_type, kind, field) if owner_type else ():
            raise _EntryError(finding.code, finding.message, finding.hint)

    def _find_sources(self, resource: Resource, expression: ValueExpression) -> Mapping[str, Key]:
        sources = {}
        for name, at in expression.names.items():
            found = self._names.find(name, resource.key.namespace, code="SetAnnotation", path=SET_PATH)
            if isinstance(found, Finding) and found.code == WAITING_FOR_UNIT:  # the expression may be right
                raise _EntryError(found.code, found.message, found.hint, found.level)
            if isinstance(found, Finding):
                raise expression.refuse(at, found.message.rstrip("."), found.hint)
            if found == resource.key:
                hint = "Write the value itself: a resource cannot wait for its own."
                raise expression.refuse(at, f"{name} is the resource itself", hint)
            sources[name] = found
        if not sources:
            message = f"The expression {quote_expression(expression.text)} names no resource."
            raise _EntryError(
                "InvalidExpression", message, 'Write the value itself, or name a resource: resource("Kind/name").'
            )
        return sources

    def _make_type(self, key: Key) -> Type:
        if key not in self._resources:
            return KNOWN_ELSEWHERE
        kind = self._find_kind(key)
        return make_source_type(kind) if kind else UNKNOWN_KIND

    def _explain_elsewhere(self, sources: Mapping[str, Key]) -> str:
        names = [name for name, key in sources.items() if key not in self._resources]
        return f"No manifest of this run declares {names[0]}: use its .id or .name." if names else ""

    def _find_kind(self, key: Key) -> Kind | None:
        resource = self._resources.get(key)
        return self._catalog.kind_of(resource) if resource else None


def _find_added_members(resource: Resource, manifest: Any, entries: Sequence[SetEntry]) -> Mapping[str, Any]:
    """Find the members that a body has beside those of spec, with their values; empty if no value is among them."""
    if any(entry.field[: len(BODY_PATH)] == BODY_PATH for entry in entries):
        members: Mapping[str, Any] = find_member(manifest, *BODY_PATH)
        return members
    links = read_links(resource, manifest["metadata"]["annotations"]) if has_links(resource) else {}
    return {**manifest["body"], **links}


def _explain_other_kind(name: str, found: Key, needed: tuple[str, str] | None) -> tuple[str, str]:
    """Explain that a resource is not the principal that a field needs, and what to do."""
    if needed:
        message = f"{name} is {add_article(found.kind)}, and the field needs {add_article(needed[1])}."
        return message, f"Name {add_article(needed[1])}, or write its object id."
    if found[:2] == APPLICATION:
        return f"{name} is an application, which has no access itself.", "Name its ServicePrincipal."
    message = f"{name} is not a principal of Entra ID: {found.kind} has no object id."
    return message, "Name a UserAssignedIdentity, a SecurityGroup or a ServicePrincipal, or write an object id."


def _suggest_conversion(wanted: Type, given: Type) -> str:
    if given.fields is not None:
        return "Select a member of it, such as .id or .name."
    if wanted.fields is not None or wanted.params:
        return "Set its members one by one."
    return f"Convert it with {wanted}(…)."


def _hide_fault(manifest: Any, entry: SetEntry) -> Any:
    """Return a manifest with an unknown value in place of one that is wrong, so that nothing else reports the field."""
    unknown = ComputedValue(entry.expression, field=format_field(entry.field), sources={})
    try:
        return _put(manifest, entry.field, unknown, is_word=entry.is_word)
    except _EntryError:
        return manifest


def _name_type(type_: Type) -> str:
    return "an object" if type_.fields is not None else str(type_)


def _put(value: Any, path: FieldPath, computed: ComputedValue, *, is_word: bool) -> Any:
    """Return a part of a spec with a value at a path. Raises _EntryError if the spec has something there: a word is
    replaced, anything else is not.
    """
    if not path:
        if value is not None and not is_word:
            message = f"{computed.field} is set by {SET} and in spec."
            raise _EntryError("SetField", message, "Remove one of them.")
        return computed
    step, rest = path[0], path[1:]
    if isinstance(step, int):
        entries = [] if value is None else value
        if not isinstance(entries, list) or step > len(entries):
            hint = "Declare the entries before it in spec."
            raise _EntryError("SetField", f"{computed.field} is not an entry of a list in spec.", hint)
        entry = entries[step] if step < len(entries) else None
        return [*entries[:step], _put(entry, rest, computed, is_word=is_word), *entries[step + 1 :]]
    if value is not None and not isinstance(value, dict):
        raise _EntryError("SetField", f"{computed.field} is not below a mapping in spec.", "Fix the field, or spec.")
    members = value or {}
    # An id and a name could mean two resources.
    beside = [name for name in _INSTEAD_OF_ID if members.get(name)] if path == ("armId",) else []
    if beside:
        reference = computed.field.removesuffix(".armId")
        message = f"{reference} has armId, which an expression sets, and {join_with_and(beside)}."
        raise _EntryError("SetField", message, f"Keep either armId or {join_with_and(beside)}.")
    return {**members, step: _put(members.get(step), rest, computed, is_word=is_word)}


def _locate(error: _EntryError, resource: Resource, entry: SetEntry) -> Problem:
    """Locate a fault of an entry: in the annotation, or at the word."""
    field = entry.field if entry.is_word else SET_PATH
    return Problem(
        code=error.code,
        message=error.message,
        hint=error.hint,
        level=error.level,
        path=entry.source.path,
        line=entry.source.line,
        field=format_field(field),
        rendered_by=(resource.rendered_by,) if resource.rendered_by else (),
    )
