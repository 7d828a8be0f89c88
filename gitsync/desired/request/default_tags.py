"""Default tags of gitsync.yaml and of Namespaces (the annotation `gitsync/tags`), added to manifests that lack them.

The nearer wins: a tag of the manifest, then of its Namespace, then of gitsync.yaml. Names compare without case, as in
Azure. Only kinds that can have tags get them. A manifest or a Namespace does without a default by a tag that is null.

The tags are part of the spec from then on, with the location of their default: all that reads manifests sees them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from gitsync.desired.catalog.body_words import escape, find_word, unescape
from gitsync.desired.catalog.catalog import Catalog
from gitsync.desired.catalog.tag_fields import DEFAULT_TAGS, find_tags_field
from gitsync.desired.catalog.type_words import quote_scalar
from gitsync.desired.catalog.version_annotation import BODY
from gitsync.desired.formats.list_pairing import TAGS
from gitsync.desired.problems.field_path import FieldPath, find_member
from gitsync.desired.validation.annotation_text import locate_in_annotation, read_annotation
from gitsync.desired.validation.body_annotation import read_body
from gitsync.desired.validation.field_rules import RULE_UNUSED, RuleOrigin
from gitsync.desired.validation.ignored_field import Fault
from gitsync.model.problem import Problem, SourceLocation
from gitsync.model.resource import Resource
from gitsync.model.written_rules import RuleEntries

_MOST_TAGS: Final = 50
_LONGEST_NAME: Final = 512
_LONGEST_VALUE: Final = 256
_NO_NAME: Final = re.compile(r"[<>%&\\?/\x00-\x1f\x7f]")
"""Characters that Azure does not allow in names of tags (learn.microsoft.com, Use tags to organize resources)."""

_FORM: Final = "Write a mapping of names to values, such as {team: platform}."


@dataclass(frozen=True, slots=True)
class DefaultTag:
    """One default."""

    name: str
    value: str | None  # None removes the default of gitsync.yaml
    source: SourceLocation


_Tags = Mapping[str, DefaultTag]
"""Defaults by their names in lower case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DefaultTags:
    """All defaults of a source."""

    of_source: _Tags = field(default_factory=dict)
    of_namespaces: Mapping[str, _Tags] = field(default_factory=dict)
    problems: tuple[tuple[str, Problem], ...] = ()  # each with its Namespace, "" for gitsync.yaml

    def find(self, namespace: str) -> _Tags:
        """Find the defaults of the resources of a namespace."""
        return {**self.of_source, **self.of_namespaces.get(namespace, {})}


def read_default_tags(entries: RuleEntries) -> DefaultTags:
    """Read the defaults. Those with a fault are left out."""
    problems: list[tuple[str, Problem]] = []
    written = [
        (name, value, RuleOrigin(entry.source, key=TAGS)) for entry in entries.tags for name, value in [entry.value]
    ]
    of_source = _read_tags(written, problems)
    of_namespaces = {}
    for name, namespace in sorted(entries.namespaces.items()):
        if namespace.annotations.get(DEFAULT_TAGS):
            of_namespaces[name] = _read_tags(_list_annotated(name, namespace, problems), problems)
    return DefaultTags(of_source=of_source, of_namespaces=of_namespaces, problems=tuple(problems))


_Written = tuple[Any, Any, RuleOrigin]
"""Name and value as they are written, and where."""


def _list_annotated(name: str, namespace: Resource, problems: list[tuple[str, Problem]]) -> Iterator[_Written]:
    read = read_annotation(DEFAULT_TAGS, namespace.annotations[DEFAULT_TAGS])
    values = [document.value for document in read.documents]
    if read.fault or len(values) != 1 or not isinstance(values[0], dict):
        origin = RuleOrigin(locate_in_annotation(DEFAULT_TAGS, (), namespace), name, DEFAULT_TAGS)
        fault = f"{read.fault} It is in line {read.line} of the annotation." if read.fault else ""
        problems.append((name, origin.make_error(Fault(fault or "It is not one YAML mapping.", _FORM))))
        return
    for key, value in values[0].items():
        yield key, value, RuleOrigin(locate_in_annotation(DEFAULT_TAGS, (key,), namespace), name, DEFAULT_TAGS)


def _read_tags(written: Iterable[_Written], problems: list[tuple[str, Problem]]) -> _Tags:
    tags: dict[str, DefaultTag] = {}
    for name, value, origin in written:
        fault = _check_tag(name, value, origin)
        if fault is None and len(tags) == _MOST_TAGS:
            fault = Fault(f"There are more than {_MOST_TAGS} tags, and Azure allows no more.", "Remove some.")
        if fault is None and name.casefold() in tags:
            fault = Fault(f"The tag {quote_scalar(name)} is given twice.", "Remove one: case does not count.")
        if fault is None:
            tags[name.casefold()] = DefaultTag(name, value, origin.source)
        else:
            problems.append((origin.namespace, origin.make_error(fault)))
    return tags


def _check_tag(name: Any, value: Any, origin: RuleOrigin) -> Fault | None:
    if not isinstance(name, str) or not 0 < len(name) <= _LONGEST_NAME or _NO_NAME.search(name):
        message = f"{quote_scalar(name)} is not a name of a tag."
        return Fault(message, f"Use at most {_LONGEST_NAME} characters, without < > % & \\ ? and /.")
    # A Namespace gives up a default of gitsync.yaml by a null. In gitsync.yaml there is nothing above to give up.
    if value is None and origin.namespace:
        return None
    if not isinstance(value, str):
        return Fault(f"The value of the tag {quote_scalar(name)} is not text.", "Quote it.")
    if len(value) > _LONGEST_VALUE:
        return Fault(
            f"The value of the tag {quote_scalar(name)} is too long.", f"Azure allows {_LONGEST_VALUE} characters."
        )
    return None


def add_default_tags(resources: Iterable[Resource], tags: DefaultTags, catalog: Catalog) -> tuple[Resource, ...]:
    """Return the resources with the default tags that their manifests lack."""
    if not tags.of_source and not tags.of_namespaces:
        return tuple(resources)
    by_namespace: dict[str, _Tags] = {}
    added = []
    for resource in resources:
        namespace = resource.key.namespace
        if namespace not in by_namespace:
            by_namespace[namespace] = tags.find(namespace)
        added.append(_add(resource, by_namespace[namespace], catalog))
    return tuple(added)


def _add(resource: Resource, tags: _Tags, catalog: Catalog) -> Resource:
    kind = catalog.kind_of(resource)
    at = find_tags_field(kind) if kind and tags else None
    if at is None:
        return resource
    *above, last = at[1:]
    parent = find_member(resource.spec, *above)
    own = find_member(parent, last)
    is_mapping = (own is None or (isinstance(own, dict) and not find_word(own))) and isinstance(parent, dict | None)
    if not is_mapping:  # validation reports it, or a value of another object stands for all tags
        return resource
    # Azure has one tag for names that differ in case only, so a second one would be refused or lost.
    names = {unescape(name).casefold() for name in own or () if isinstance(name, str)} | _list_in_body(resource)
    # In the body of an AzureResource, a tag named `$secret` would be read as a reference to a Secret.
    missing = {
        escape(tag.name) if above else tag.name: tag
        for name, tag in tags.items()
        if name not in names and tag.value is not None
    }
    if not missing:
        return resource
    value: Any = {**(own or {}), **{name: tag.value for name, tag in missing.items()}}
    for step, outer in ((last, parent), *((step, resource.spec) for step in above)):
        value = {**(outer or {}), step: value}
    sources = {(*at, name): tag.source for name, tag in missing.items()}
    return replace(resource, spec=value, patched={**resource.patched, **sources}, default_tags=frozenset(sources))


def _list_in_body(resource: Resource) -> set[str]:
    """List the names of the tags that the annotation `gitsync/body` has."""
    tags = read_body(resource).get(TAGS) if resource.annotations.get(BODY) else None
    return {str(name).casefold() for name in tags} if isinstance(tags, Mapping) else set()


def find_default_tag(resource: Resource, path: FieldPath) -> SourceLocation | None:
    """Find where the default is set that a field of a resource comes from; None if its manifest has the field."""
    return resource.patched.get(path) if path in resource.default_tags else None


def list_default_tags(resource: Resource) -> Mapping[str, SourceLocation]:
    """List the default tags of a resource by name, with where each is set."""
    return {unescape(str(path[-1])): resource.patched[path] for path in sorted(resource.default_tags, key=str)}


def warn_of_tags(tags: DefaultTags, resources: Iterable[Resource], catalog: Catalog) -> Iterator[Problem]:
    """Warn of default tags that no resource can have. The source must be read completely."""
    pairs = ((resource.key.namespace, catalog.kind_of(resource)) for resource in resources)
    tagged = {namespace for namespace, kind in pairs if kind and find_tags_field(kind)}
    hint = "Remove them."
    if tags.of_source and not tagged:
        origin = RuleOrigin(min(tag.source for tag in tags.of_source.values()), key=TAGS)
        yield origin.make_warning(RULE_UNUSED, Fault("The source has no resource that can have tags.", hint))
    for namespace, own in tags.of_namespaces.items():
        if own and namespace not in tagged:
            origin = RuleOrigin(min(tag.source for tag in own.values()), namespace, DEFAULT_TAGS)
            yield origin.make_warning(RULE_UNUSED, Fault("The namespace has no resource that can have tags.", hint))
