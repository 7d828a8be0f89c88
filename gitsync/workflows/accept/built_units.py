"""Finds the text that made a field which a kustomization, a chart or variables render.

None of these tools reports which text made a field, so gitsync searches it: the texts of the unit's own files with the
value are edited one at a time, the tree is read again, and the only one that changes just this is kept.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import takewhile
from typing import Any, Final

from gitsync.desired.manifests.units import KUSTOMIZATIONS, ROOT, SUFFIXES, is_inside
from gitsync.desired.manifests.value_edits import apply_edits
from gitsync.desired.manifests.yaml_documents import read_documents
from gitsync.desired.manifests.yaml_edits import EditRefused, edit_documents
from gitsync.desired.manifests.yaml_scalars import resolve
from gitsync.desired.problems.field_path import FieldPath, find_member, format_field
from gitsync.desired.problems.finding import find_location
from gitsync.errors import ConfigError, SourceError
from gitsync.model.edit import REMOVED, Edit
from gitsync.model.gvk import Key
from gitsync.model.lines import Lines
from gitsync.model.problem import Problem, SourceLocation
from gitsync.model.resource import Prepared
from gitsync.model.unit import Unit
from gitsync.repository.git.source.listing import EntryKind, SourceListing
from gitsync.repository.units.kustomization_reader import KustomizationReader
from gitsync.repository.units.tree import is_below
from gitsync.repository.units.unit_builds import list_inputs
from gitsync.settings.config.config_file import FILE_NAME
from gitsync.workflows.accept.drift import DriftedResource, NotAccepted
from gitsync.workflows.accept.edit_proof import Tree, describe_request, find_request
from gitsync.workflows.accept.fields import cut

MOST_CANDIDATES: Final = 20
"""Texts that are tried: for each, its unit is built."""

Texts = dict[str, bytes | None]
"""New files by their paths; None for one that goes."""

_GENERATED: Final = re.compile(rb"^#[^\n]*(?:DO NOT EDIT|@generated)", re.IGNORECASE | re.MULTILINE)
_FIRST_BYTES: Final = 1000
_SEPARATORS: Final = re.compile(r"[\W_]+")
_LITERAL: Final = re.compile(r"[\w.-]+=")


def find_text(resource: DriftedResource, alike: Sequence[DriftedResource], tree: Tree) -> Texts | NotAccepted:
    """Find the one text of a unit that takes a part of drift: a field or a list of a resource that the unit renders, or
    the resource itself. Returns the new files by their paths relative to SOURCE, or else why there is no such text, and
    where a person would edit. `alike` have drifted alike, and may change with it.

    Raises SourceError if the tree cannot be read.
    """
    prepared = tree.prepared[resource.key]
    unit = prepared.resource.unit
    paths = [drifted.path for drifted in resource.fields]
    path = cut(paths[0]) if len(paths) > 1 else (*paths, ())[0]
    candidates = (
        sorted(_list_candidates(resource, prepared, unit, tree), key=lambda candidate: candidate.order) if unit else []
    )
    trials = _try_texts(candidates, [resource, *alike], tree)
    fitting = [trial for trial in trials if trial.fits]
    # Of several texts, only a person knows which one is meant.
    if len(fitting) == 1:
        return fitting[0].texts
    title = unit.title if unit else "the source"
    advice = "Edit one of these locations by hand, or run gitsync sync to restore the value from git."
    if fitting:
        reason = f"{len(fitting)} texts of {title} produce this value, each by itself."
    elif resource.is_gone:
        reason = f"Without this document, {title} cannot be built, or other requests change."
        advice = "Remove it from git by hand, or run gitsync sync to create it again."
    elif unit is None:
        reason = "Its value comes from variables that are set for the run."
    elif shared := [trial for trial in trials if trial.others]:
        fitting, others = shared, shared[0].others
        more = f" and {len(others) - 1} more" if len(others) > 1 else ""
        reason = f"The text that produces this value also produces it for {others[0].kind}/{others[0].name}{more}."
    elif trials and not any(trial.texts for trial in trials):
        reason = trials[0].refusal
    else:
        reason = f"No text of {title} produces just this value."
    locations = [trial.location for trial in fitting] or [candidate.location for candidate in candidates]
    return NotAccepted(
        key=resource.key,
        field=format_field(path),
        reason=reason,
        advice=advice,
        locations=tuple(dict.fromkeys(locations or [find_location(path, prepared.resource)]))[:MOST_CANDIDATES],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Trial:
    """What came out of an edit."""

    location: SourceLocation
    texts: Texts = field(default_factory=dict)  # the new files
    fits: bool = False  # the new files take the drift
    others: tuple[Key, ...] = ()  # the resources that the edit changes too
    refusal: str = ""  # why the text cannot be edited, if there are no new files


def _try_texts(candidates: Sequence[_Candidate], resources: Sequence[DriftedResource], tree: Tree) -> list[_Trial]:
    """Edit one text after the other, for the drift of the first resource; the others may change with it."""
    trials: list[_Trial] = []
    for candidate in candidates:
        if sum(1 for trial in trials if trial.texts) == MOST_CANDIDATES:
            break
        try:
            texts = candidate.write(tree)
        except EditRefused as error:
            trials.append(_Trial(location=candidate.location, refusal=error.reason))
            continue
        if any(trial.texts == texts for trial in trials):  # a list, and the manifest that has it, may come to the same
            continue
        changed = _find_changed(resources, tree, texts)
        others = () if changed is None else tuple(sorted(changed))
        trials.append(_Trial(location=candidate.location, texts=texts, fits=changed == set(), others=others))
    return trials


# What has to come out of it.


def _find_changed(
    resources: Sequence[DriftedResource], tree: Tree, texts: Mapping[str, bytes | None]
) -> set[Key] | None:
    """Find the resources that edited texts change, except those whose drift they take; None if they do not take that of
    the first one.
    """
    edited = tree.replace(texts)
    try:
        requests, new_requests = tree.requests({}), edited.requests({})
    except (ConfigError, SourceError):
        return None
    parts = {resource.key: resource for resource in resources}
    if not _has_drift(resources[0], tree.prepared, edited.prepared):
        return None
    return {
        key
        for key in requests.keys() | new_requests.keys()
        if describe_request(requests.get(key)) != describe_request(new_requests.get(key))
        if key not in parts or not _has_drift(parts[key], tree.prepared, edited.prepared)
    }


def _has_drift(part: DriftedResource, before: Mapping[Key, Prepared], after: Mapping[Key, Prepared]) -> bool:
    """Return whether a resource has become just what it is in Azure."""
    was, now = before[part.key].resource, after.get(part.key)
    if part.is_gone or now is None:
        return part.is_gone and now is None
    if isinstance(find_request(now), Problem) or (was.annotations, was.labels) != (
        now.resource.annotations,
        now.resource.labels,
    ):
        return False
    expected = apply_edits({"spec": was.spec}, [Edit(path=drifted.path, value=drifted.new) for drifted in part.fields])
    return _write_json(expected["spec"]) == _write_json(now.resource.spec)


def _write_json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)  # an expression is its text


# Where to look.


@dataclass(frozen=True, slots=True, kw_only=True)
class _Text:
    """A value in a file: that of a document, or of a document in a text of that."""

    file: str
    line: int
    number: int  # of the document in its file, or in the text around it
    path: FieldPath  # of the value in the document
    value: Any
    container: _Text | None = None  # the text that contains the document, None if the file does
    document: Any = None  # its value in full
    document_line: int = 0  # its first line
    is_apart: bool = False
    """It is outside of the folder of the unit; of texts that fit equally, those inside come first."""

    def edit(self, content: bytes, edits: Sequence[Edit]) -> bytes:
        """Edit the content of the file. Raises EditRefused."""
        if self.container is None:
            return edit_documents(content, {self.number: edits})
        text = edit_documents(self.container.value.encode(), {self.number: edits}).decode()
        return self.container.edit(content, [Edit(path=self.container.path, value=text)])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    """A text, and the edit that may take the drift."""

    text: _Text
    edit: Edit | None  # None removes the document
    rank: int  # the lower, the better it fits
    entries: tuple[_Text, ...] = ()
    """Of kustomizations, which name the file; they are removed too if the document was the only one in it."""

    @property
    def location(self) -> SourceLocation:
        return SourceLocation(self.text.file, self.text.line)

    @property
    def order(self) -> tuple[int, int, str, int, str]:
        return (self.rank, self.text.is_apart, self.text.file, self.text.line, str(self.edit))

    def write(self, tree: Tree) -> Texts:
        """Return the edited file. Raises EditRefused."""
        content = tree.content(self.text.file)
        if self.edit is not None:
            return {self.text.file: self.text.edit(content, [self.edit])}
        texts: Texts = {self.text.file: edit_documents(content, {self.text.number: REMOVED}) or None}
        for entry in self.entries if texts[self.text.file] is None else ():
            texts[entry.file] = entry.edit(tree.content(entry.file), [Edit(path=entry.path, value=REMOVED)])
        return texts


@dataclass(frozen=True)
class _SourceFiles:
    """All files of a tree, as the readers of units take them."""

    listing: SourceListing

    @cached_property
    def paths(self) -> frozenset[str]:
        return frozenset(entry.path for entry in self.listing.entries("") if entry.kind is EntryKind.FILE)

    def read(self, paths: Sequence[str]) -> Mapping[str, bytes]:
        return self.listing.read(self.listing.find(paths))


def _list_texts(unit: Unit, tree: Tree) -> Iterator[_Text]:
    """List all values in the files that a unit is made of, in the object that declares it, in the ConfigMaps that this
    object names, and of variables in gitsync.yaml. Secrets, encrypted and generated files are left out, and so is what
    is not in the source.
    """
    files = _SourceFiles(tree.listing)
    inputs = {path for path in list_inputs([unit], KustomizationReader(files)) if path.endswith(SUFFIXES)}
    declarer = [text for text in _read_texts(unit.file, files, unit) if text.document_line == unit.line]
    references = [text.value for text in declarer if find_member(text.value, "kind") == "ConfigMap"]
    names = {name for reference in references if isinstance(name := reference.get("name"), str)}
    if unit.options.substitution:
        names |= {reference.name for reference in unit.options.substitution.references if reference.kind == "ConfigMap"}
    yield from (text for text in declarer if unit.is_declared and text.file not in inputs)
    for text in _read_texts(FILE_NAME, files, unit):
        entry = find_member(text.document, *text.path[:2])
        if text.path[2:3] == ("substitute",) and is_inside(
            unit.path or ROOT, posixpath.normpath(str(entry.get("path")))
        ):
            yield text
    for path in sorted(inputs):
        yield from _read_texts(path, files, unit)
    others = files.read([path for path in files.paths - inputs if path.endswith(SUFFIXES)]) if names else {}
    for path in sorted(others):
        is_named = any(name.encode() in others[path] for name in names)
        # Searched as bytes first, since it takes long to parse all files of a source.
        for text in _read_texts(path, files, unit) if is_named else ():
            kind, name = (
                find_member((text.container or text).document, *where) for where in (("kind",), ("metadata", "name"))
            )
            if kind == "ConfigMap" and name in names:
                yield text


def _read_texts(path: str, files: _SourceFiles, unit: Unit) -> Iterator[_Text]:
    """List all values in a file."""
    content = files.read([path])[path] if path in files.paths else b""
    # A generator would undo the edit in its next run.
    if _GENERATED.search(content[:_FIRST_BYTES]):
        return
    for number, document in enumerate(read_documents(path, content).documents):
        if not document.seal:
            full_text = _Text(
                file=path,
                line=document.line(),
                number=number,
                path=(),
                value=document.value,
                document=document.value,
                document_line=document.line(),
                is_apart=not is_below(path, unit.path),
            )
            yield from _walk(full_text, document.lines, 0)


def _walk(text: _Text, lines: Lines, above: int) -> Iterator[_Text]:
    """List a value and all that it has below, also in texts that are YAML themselves, as patches are. `above` are the
    lines before those of `lines`.
    """
    value = text.value
    # A value of a Secret must not get into a text that people read, nor be a candidate for one.
    if isinstance(value, dict) and value.get("kind") == "Secret" and "apiVersion" in value:
        return
    text = replace(text, line=above + lines.find_nearest(text.path))
    yield text
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, part in parts:
        # kustomize makes Secrets of these values.
        if step != "secretGenerator":
            yield from _walk(replace(text, path=(*text.path, step), value=part), lines, above)
    # One level only: a text in a text is not what patches are, and each level costs a parse.
    if isinstance(value, str) and "\n" in value and text.container is None:
        for number, document in enumerate(read_documents("text.yaml", value.encode()).documents):
            if isinstance(document.value, dict | list) and not document.seal:
                inner = replace(
                    text, number=number, path=(), value=document.value, document=document.value, container=text
                )
                yield from _walk(inner, document.lines, text.line)  # a block begins below its key


def _list_candidates(resource: DriftedResource, prepared: Prepared, unit: Unit, tree: Tree) -> Iterator[_Candidate]:
    """List the texts that may take the drift of a resource, each with its edit."""
    source, was = prepared.resource.source, {"spec": prepared.resource.spec}
    now = apply_edits(was, [Edit(path=drifted.path, value=drifted.new) for drifted in resource.fields])
    # Of one item of a list, the item and the whole list may have a text.
    locations = {cut(drifted.path) for drifted in resource.fields} | {drifted.path for drifted in resource.fields[:1]}
    texts = list(_list_texts(unit, tree))
    for text in texts:
        if resource.is_gone and not text.path and SourceLocation(text.file, text.line) == source:
            entries = tuple(other for other in texts if _names_file(other, text.file))
            yield _Candidate(text=text, edit=None, rank=0, entries=entries)
        for path in locations:
            if edit := _make_edit(text, path, was, now, resource.key):
                yield _Candidate(text=text, edit=edit, rank=_rate(text, path, resource.key))


def _names_file(text: _Text, path: str) -> bool:
    """Return whether a text is the entry of a kustomization for a file."""
    is_entry = text.path[:-1] == ("resources",) and posixpath.basename(text.file) in KUSTOMIZATIONS
    named = posixpath.join(posixpath.dirname(text.file), str(text.value))
    return is_entry and posixpath.normpath(named) == path


def _make_edit(text: _Text, path: FieldPath, was: Any, now: Any, key: Key) -> Edit | None:
    """Make the edit of a text that may have made a field; None if it has another value."""
    old, new = _find(was, path), _find(now, path)
    if old is REMOVED:
        # The key is new: for the mapping that it is in, or for a manifest or a patch of the resource.
        parent = _find(was, path[:-1])
        is_parent = parent is not REMOVED and isinstance(text.value, dict) and bool(text.value)
        if is_parent and _write_json(text.value) == _write_json(parent):
            return Edit(path=(*text.path, path[-1]), value=new)
        return Edit(path=(*text.path, *path), value=new) if _is_of(text.value, key) else None
    name, literal = _split_literal(text)
    if isinstance(old, dict | list):
        return Edit(path=text.path, value=new) if _write_json(text.value) == _write_json(old) else None
    # A template may turn a number into a text or back, so types do not count here; the proof reads the result.
    if _write_plain(literal) != _write_plain(old):
        return None
    if new is REMOVED:
        # A removal needs the name of the field: many keys of values have the same value by chance.
        return Edit(path=text.path, value=REMOVED) if _name(text)[-1:] == _name_path(path)[-1:] else None
    if name or (isinstance(text.value, str) and not isinstance(new, str | dict | list | None)):
        new = name + _write_plain(new)
    elif not isinstance(text.value, str) and isinstance(new, str):
        # The file has a number or a switch there, so the new text becomes one if it looks like it.
        new = resolve(new) if new else new
    return Edit(path=text.path, value=new)


def _find(value: Any, path: FieldPath) -> Any:
    """Find the value at a path; REMOVED if it has none."""
    parent, step = find_member(value, *path[:-1]), path[-1]
    is_there = step in parent if isinstance(parent, dict) else isinstance(parent, list) and step in range(len(parent))
    return parent[step] if is_there else REMOVED


def _is_of(value: Any, key: Key) -> bool:
    """Return whether a value is the manifest of a resource, or a patch for it. The build may add to its name."""
    name = find_member(value, "metadata", "name")
    # A prefix or suffix of kustomize, or the name of a release, may be around it.
    return find_member(value, "kind") == key.kind and isinstance(name, str) and name in key.name


def _split_literal(text: _Text) -> tuple[str, Any]:
    """Split `name=value`, as generators of ConfigMaps have it; a text that is none has no name."""
    match = _LITERAL.match(text.value) if isinstance(text.value, str) and text.path[-2:-1] == ("literals",) else None
    return (match[0], text.value[match.end() :]) if match else ("", text.value)


def _write_plain(value: Any) -> str:
    """Write a value without quotes: charts and variables make a number of a text."""
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def _rate(text: _Text, path: FieldPath, key: Key) -> int:
    """Rate how well a text fits a field; the lower, the better."""
    if _is_of(text.document, key) and text.path == path:
        return 0
    names, field = _name(text), _name_path(path)
    same = sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(reversed(names), reversed(field), strict=False))
    )
    if same:
        return 1 if same > 1 else 2
    return 3 if names and field and (names[-1] in field[-1] or field[-1] in names[-1]) else 4


def _name(text: _Text) -> list[str]:
    """Name a text by the keys that lead to it; what a JSON patch sets, by the path of that."""
    target = find_member(text.document, *text.path[:-1], "path") if text.path[-1:] == ("value",) else None
    if isinstance(target, str):
        return _name_path(tuple(target.split("/")))
    name, _ = _split_literal(text)
    return _name_path((*text.path, name) if name else text.path)


def _name_path(path: FieldPath) -> list[str]:
    """Write the names in a path so that `sku_name`, `skuName` and `SKU-NAME` are alike."""
    return [_SEPARATORS.sub("", step).casefold() for step in path if isinstance(step, str) and step]
