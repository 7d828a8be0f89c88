"""The expressions that compute fields of a manifest from other resources (docs/values.md): those of the annotation
`gitsync/set`, a YAML mapping of fields to expressions, and of the word `$expression` in an AzureResource and in the
annotation `gitsync/body`.

Here they are read and located. `request.computed_values` checks them, and puts their values into the spec.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gitsync.desired.catalog.body_words import EXPRESSION, SET, find_word
from gitsync.desired.catalog.directory_relations import APPLICATION, RELATIONS
from gitsync.desired.catalog.own_kinds import ASSIGNMENT, CREDENTIAL
from gitsync.desired.catalog.type_words import quote_scalar
from gitsync.desired.catalog.version_annotation import BODY
from gitsync.desired.problems.field_path import (
    EVERY,
    Entry,
    FieldPath,
    FieldSyntaxError,
    find_member,
    format_field,
    parse_field,
)
from gitsync.desired.problems.finding import find_location
from gitsync.desired.validation.annotation_text import locate_in_annotation, read_annotation
from gitsync.desired.validation.body_annotation import BODY_PATH, locate_member, read_body
from gitsync.desired.validation.directory_links import OBJECT_ID, list_links, locate_link
from gitsync.model.gvk import AZURE_GROUP, AZURE_RESOURCE
from gitsync.model.problem import SourceLocation
from gitsync.model.resource import Resource
from gitsync.model.template import ComputedValue

SET_PATH: Final[FieldPath] = ("metadata", "annotations", SET)

OWNER_ID: Final[FieldPath] = ("spec", "owner", "armId")

APPLICATION_IDS: Final[Mapping[FieldPath, tuple[str, ...]]] = {
    ("body", "applicationId"): ("entraID",),
    ("body", "appId"): ("appId",),
}
"""The members of the body of a federated credential that have the ids of its owner, which no field of spec has: each
with the member of the owner's status.
"""

PRINCIPAL_FIELDS: Final[tuple[FieldPath, ...]] = (("spec", "principal"), ("spec", "resource"))
"""The fields of an AppRoleAssignment that have an object id, or the name of a manifest that stands for one."""

ID_FIELDS: Final[tuple[FieldPath, ...]] = (OWNER_ID, ("spec", "azureName"))
"""The fields that make the ARM id, which is known offline."""

_FORM: Final = 'Write a mapping of fields to expressions, such as {spec.tags.hub: resource("VirtualNetwork/hub").id}.'
_WORD_FORM: Final = f'Write an expression as text, such as {{{EXPRESSION}: resource("VirtualNetwork/hub").id}}.'
_QUOTE: Final = "If an expression has a colon and a blank, put it in quotes, or in its own line below `>-`."
_LONGEST_SHOWN: Final = 120
_ANNOTATIONS: Final = frozenset({SET, BODY, *RELATIONS})


@dataclass(frozen=True, slots=True, kw_only=True)
class SetEntry:
    """A field with its expression, or an entry that is wrong."""

    field: FieldPath = ()  # of the manifest; in the annotation `gitsync/body`, below its key
    expression: str = ""
    source: SourceLocation
    is_word: bool = False  # it is written in place of the value
    principal: str = ""  # the name of a manifest whose object id is the value, in place of an expression
    fault: str = ""  # what is wrong, as a sentence; "" if nothing is
    hint: str = ""


def list_set_entries(resource: Resource) -> Sequence[SetEntry]:
    """List the expressions of a manifest, in order."""
    if resource.key[:2] == AZURE_RESOURCE:
        return [*_refuse_annotation(resource), *_list_words(resource)]
    if resource.key.group == AZURE_GROUP:
        return [*_refuse_annotation(resource), *_list_principals(resource)]
    if resource.annotations.keys().isdisjoint(_ANNOTATIONS):  # as most
        return ()
    body = read_body(resource) if resource.annotations.get(BODY) else {}
    in_spec = _read_annotation(resource) if resource.annotations.get(SET) else ()
    return [*in_spec, *_find_words(resource, body, BODY_PATH), *_list_links(resource)]


def _list_links(resource: Resource) -> Iterator[SetEntry]:
    """List the manifests in `gitsync/members` and `gitsync/owners`: each stands for its object id."""
    for links in list_links(resource):
        for entry in links.entries:
            if not OBJECT_ID.fullmatch(entry):
                source = locate_link(links.relation.annotation, entry, resource)
                yield SetEntry(field=(*links.path, entry), source=source, is_word=True, principal=entry)


def _list_principals(resource: Resource) -> Iterator[SetEntry]:
    """List the manifests that a kind of gitsync's own names, each of which stands for its object id."""
    if resource.key[:2] == CREDENTIAL:
        owner = find_member(resource.spec, "owner", "name")
        if isinstance(owner, str) and owner:
            name = f"{'.'.join(reversed(APPLICATION))}/{owner}"
            source = find_location(("spec", "owner"), resource)
            for field in APPLICATION_IDS:
                yield SetEntry(field=field, source=source, is_word=True, principal=name)
    for field in PRINCIPAL_FIELDS if resource.key[:2] == ASSIGNMENT else ():
        text = find_member(resource.spec, *field[1:])
        if isinstance(text, str) and text and not OBJECT_ID.fullmatch(text):
            yield SetEntry(field=field, source=find_location(field, resource), is_word=True, principal=text)


def has_computed_ids(resources: Iterable[Resource]) -> bool:
    """Return whether an expression computes a field that makes an ARM id."""
    return any(
        isinstance(find_member(resource.spec, *field[1:]), ComputedValue)
        for resource in resources
        for field in ID_FIELDS
    )


def _refuse_annotation(resource: Resource) -> Iterator[SetEntry]:
    if SET in resource.annotations:
        fault = f"{SET} is not allowed on {resource.key.kind}."
        is_any = resource.key[:2] == AZURE_RESOURCE
        hint = f"Write {{{EXPRESSION}: …}} in place of the value." if is_any else "Remove it."
        yield SetEntry(source=locate_in_annotation(SET, (), resource), fault=fault, hint=hint)


def _read_annotation(resource: Resource) -> Iterator[SetEntry]:
    read = read_annotation(SET, resource.annotations[SET])
    values = [document.value for document in read.documents]
    if read.fault:
        fault = f"{read.fault} It is in line {read.line} of the annotation."
        yield SetEntry(source=locate_in_annotation(SET, (), resource), fault=fault, hint=_QUOTE)
        return
    if len(values) != 1 or not isinstance(values[0], dict) or not values[0]:
        fault = f"{SET} is not one YAML mapping."
        yield SetEntry(source=locate_in_annotation(SET, (), resource), fault=fault, hint=_FORM)
        return
    for key, value in values[0].items():
        yield _read_entry(key, value, resource)


def _read_entry(key: Any, value: Any, resource: Resource) -> SetEntry:
    source = locate_in_annotation(SET, (key,), resource)
    shown = quote_scalar(key, _LONGEST_SHOWN)
    if not isinstance(value, str) or not value.strip():
        return SetEntry(source=source, fault=f"{SET} has no expression for {shown}.", hint=_FORM)
    try:
        pattern = parse_field(key) if isinstance(key, str) else ()
    except FieldSyntaxError:
        pattern = ()
    # An expression gives one value, and `*` is many fields.
    if pattern[:1] != ("spec",) or len(pattern) == 1 or EVERY in pattern:
        fault = f"{SET} has {shown}, which is not a field of spec."
        hint = 'Write it as plans do: spec.sku.capacity, spec.tags["a.b"], spec.rules[name=web].port.'
        return SetEntry(source=source, fault=fault, hint=hint)
    field: FieldPath = ()
    for step in pattern[1:]:
        found = _find_index(find_member(resource.spec, *field), step) if isinstance(step, Entry) else step
        if not isinstance(found, str | int):
            hint = "Declare the entry in spec, with its other members."
            return SetEntry(source=source, fault=f"{SET} has {shown}, and spec has no such entry.", hint=hint)
        field = (*field, found)
    return SetEntry(field=("spec", *field), expression=value.strip(), source=source)


def _find_index(entries: Any, step: Entry) -> int | None:
    """Find the one entry of a list that has a value in a member."""
    if not isinstance(entries, list):
        return None
    members = step.field.split(".")
    found = [index for index, entry in enumerate(entries) if _format_scalar(find_member(entry, *members)) == step.value]
    # Several such entries leave open which of them is meant.
    return found[0] if len(found) == 1 else None


def _format_scalar(value: Any) -> str:
    """Format a scalar as the step of a field has it."""
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _list_words(resource: Resource) -> Iterator[SetEntry]:
    """List the words `$expression` of an AzureResource."""
    for field in ID_FIELDS:
        value = find_member(resource.spec, *field[1:])
        if find_word(value) == EXPRESSION:
            yield _read_word(resource, value, field)
    yield from _find_words(resource, resource.spec.get("body"), ("spec", "body"))


def _find_words(resource: Resource, body: Any, field: FieldPath) -> Iterator[SetEntry]:
    members = body.items() if isinstance(body, dict) else enumerate(body) if isinstance(body, list) else ()
    for step, member in members:
        if not isinstance(member, dict | list):
            continue
        if find_word(member) == EXPRESSION:
            yield _read_word(resource, member, (*field, step))
        else:
            yield from _find_words(resource, member, (*field, step))


def _read_word(resource: Resource, word: Any, field: FieldPath) -> SetEntry:
    text, at = word[EXPRESSION], (*field, EXPRESSION)
    source = locate_member(at, resource) if field[:1] == BODY_PATH[:1] else find_location(at, resource)
    if isinstance(text, str) and text.strip():
        return SetEntry(field=field, expression=text.strip(), source=source, is_word=True)
    fault = f"{format_field(field)} has no expression."
    return SetEntry(field=field, source=source, is_word=True, fault=fault, hint=_WORD_FORM)
