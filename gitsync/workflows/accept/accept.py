"""Accepts drift: edits the texts of manifests to Azure's values, and proves each edit before it counts.

A proof reads the edited tree as a plan would. The edited manifests differ in just the accepted fields, a comparison
with what the plan read from Azure finds no difference there any more, and the requests of all other resources stay as
they are.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from gitsync.desired.formats.json_pointer import JsonPath, parse_pointer
from gitsync.desired.manifests.document_forms import MAX_LISTS, is_list
from gitsync.desired.manifests.value_edits import DocumentEdits, apply_edits
from gitsync.desired.manifests.yaml_edits import EditableFile, EditRefused
from gitsync.desired.problems.field_path import find_member, format_field
from gitsync.desired.problems.finding import find_location
from gitsync.errors import SourceError
from gitsync.model.edit import REMOVED, Edit, Removed
from gitsync.model.gvk import Key
from gitsync.model.lines import Step
from gitsync.model.problem import Problem, SourceLocation
from gitsync.model.report import Report
from gitsync.model.result import Result
from gitsync.workflows.accept.built_units import find_text
from gitsync.workflows.accept.drift import Accepted, DriftedField, DriftedResource, NotAccepted
from gitsync.workflows.accept.edit_proof import Tree, compare_with_live, describe_request, find_request
from gitsync.workflows.accept.fields import BY_HAND, collect_drift, cut

Texts = dict[str, bytes | None]


def accept_drift(report: Report, tree: Tree, names: Sequence[str] = (), fields: Sequence[str] = ()) -> Accepted:
    """Take the drift that a plan found into the texts of its manifests, as far as that can be proven. `names` and
    `fields` select the drift (see `collect_drift`). Nothing is written.

    Raises ConfigError for a name that no resource has, SourceError if the tree cannot be read.
    """
    drift = collect_drift(report, tree, names, fields)
    accepted = accept_resources(drift.resources, report, tree)
    return replace(accepted, left=(*drift.left, *accepted.left))


def accept_resources(resources: Sequence[DriftedResource], report: Report, tree: Tree) -> Accepted:
    """Take the drift of just these resources. `report` is the plan that found it, `tree` is read as it was then.

    Raises SourceError if the tree cannot be read.
    """
    taking = _Taking(tree, {result.key: result for result in report.results})
    parts = [part for resource in resources for part in _split(resource)]
    # The dependants of a resource that goes have to go before it.
    ordered = [
        *reversed(_sort_by_owner([part for part in parts if part.is_gone], tree)),
        *(part for part in parts if not part.is_gone),
    ]
    # Plain documents are proven together, in one reading of the tree; each text of a unit takes a build of its own.
    taking.take([edited for part in ordered if not part.unit and (edited := taking.prepare(part))])
    built = [part for part in ordered if part.unit or part in taking.rendered]
    for part in built:
        taking.take_built(part, [other for other in built if _is_alike(other, part)])
    prefix = f"{tree.prefix}/" if tree.prefix else ""
    return Accepted(
        resources=_join(taking.taken),
        texts={prefix + path: text for path, text in sorted(taking.texts.items())},
        left=tuple(sorted(taking.left, key=lambda left: (left.key, left.field))),
    )


def _split(resource: DriftedResource) -> list[DriftedResource]:
    """Split a resource into the parts that can be taken by themselves: one for each leaf and each list."""
    if resource.is_gone:
        return [resource]
    fields: dict[JsonPath, list[DriftedField]] = {}
    for drifted in resource.fields:
        fields.setdefault(cut(parse_pointer(drifted.pointer)), []).append(drifted)
    return [replace(resource, fields=tuple(part)) for part in fields.values()]


def _join(parts: Sequence[DriftedResource]) -> tuple[DriftedResource, ...]:
    """Join the parts of each resource again, sorted by key."""
    joined: dict[Key, DriftedResource] = {}
    for part in sorted(parts, key=lambda part: part.key):
        known = joined.get(part.key)
        joined[part.key] = replace(known, fields=(*known.fields, *part.fields)) if known else part
    return tuple(joined.values())


def _sort_by_owner(parts: Sequence[DriftedResource], tree: Tree) -> list[DriftedResource]:
    """Sort resources so that each comes after those that it depends on."""
    rest, ordered = {part.key: part for part in parts}, []
    while rest:
        # A cycle has no first resource; the proof finds out whether all of it can go together.
        free = [key for key in rest if not rest.keys() & set(tree.prepared[key].relations.depends_on)] or list(rest)
        ordered += [rest.pop(key) for key in free]
    return ordered


class _EditedPart(NamedTuple):
    """A part of a resource's drift, and how its document would be edited."""

    part: DriftedResource
    path: str  # the file of the document
    number: int  # of the document in its file, from 0
    edits: tuple[Edit, ...] | Literal[Removed.REMOVED]  # REMOVED if the document goes


class _Failure(NamedTuple):
    """Why edits were not proven."""

    reason: str
    reasons: Mapping[Key, str] = MappingProxyType({})
    """Those of the accepted resources that are at fault; empty if others are."""

    line: int = 0  # of a text that cannot be edited, 0 for none


@dataclass(slots=True)
class _Taking:
    """The edits so far. Mutable: it is filled part by part."""

    tree: Tree
    results: Mapping[Key, Result]
    taken: list[DriftedResource] = field(default_factory=list)  # the parts that the texts contain
    texts: Texts = field(default_factory=dict)
    left: list[NotAccepted] = field(default_factory=list)  # the drift that was skipped
    rendered: list[DriftedResource] = field(default_factory=list)
    """Parts of plain documents whose value variables have made."""

    edited: Tree | None = None  # the tree with the texts so far, if a unit needed it: to read one takes time
    documents: dict[str, Mapping[int, Sequence[_Document]]] = field(default_factory=dict)
    """Those of each file, by their number."""

    def leave(self, part: DriftedResource, reason: str, line: int = 0, advice: str = BY_HAND) -> None:
        """Note that a part is skipped."""
        resource = self.tree.prepared[part.key].resource
        for drifted in part.fields or (None,):
            path = drifted.path if drifted else ()
            location = SourceLocation(part.source.path, line) if line else find_location(path, resource)
            self.left.append(
                NotAccepted(key=part.key, field=format_field(path), reason=reason, advice=advice, locations=(location,))
            )

    def prepare(self, part: DriftedResource) -> _EditedPart | None:
        """Find the document of a plain manifest and the edits for a part of its drift; None, and a note, without."""
        document = self.find_document(part)
        if document is None:
            self.leave(part, f"The manifest is no longer in {part.source.path}.")
            return None
        number, prefix, value = document
        # An edit would break the digest of the file, and only the tool with the key can write a new one.
        if "sops" in (value if isinstance(value, dict) else {}):
            self.leave(part, "The manifest is encrypted with SOPS.")
            return None
        for drifted in part.fields:
            written, read = find_member(value, *drifted.path), None if drifted.old is REMOVED else drifted.old
            if json.dumps(written) != json.dumps(read):  # variables have made it
                self.rendered.append(part)
                return None
        return _EditedPart(part, part.source.path, number, _make_edits(part, prefix))

    def find_document(self, part: DriftedResource) -> _Document | None:
        """Find the document of a manifest."""
        path = part.source.path
        if path not in self.documents:
            self.documents[path] = _index_documents(self.tree.open_file(path))
        for document in self.documents[path].get(part.source.line, ()):
            # The line alone does not identify a document: the file may have changed since the plan.
            is_named = find_member(document.value, "metadata", "name") == part.key.name
            if is_named and find_member(document.value, "kind") in {None, part.key.kind}:
                return document
        return None

    def keep_writable(self, candidates: Sequence[_EditedPart]) -> list[_EditedPart]:
        """Keep the parts that the texts of their files can say together; note the others."""
        sections: dict[tuple[str, int], list[_EditedPart]] = {}
        for part in candidates:
            file = self.tree.open_file(part.path)
            sections.setdefault((part.path, file.choose_section(part.number)), []).append(part)
        kept = [self._keep_in_section(path, at, parts) for (path, at), parts in sections.items()]
        return [part for parts in kept for part in parts]

    def _keep_in_section(self, path: str, at: int, candidates: Sequence[_EditedPart]) -> list[_EditedPart]:
        file = self.tree.open_file(path)

        def find_refusal(parts: Sequence[_EditedPart]) -> _Failure | None:
            try:
                file.edit_section(file.sections[at], _join_edits(parts))
            except EditRefused as error:
                return _Failure(error.reason, line=error.line)
            return None

        kept: list[_EditedPart] = []
        for bad, failure in _list_faulty(candidates, find_refusal, kept):
            self.leave(bad.part, failure.reason, failure.line)
        return kept

    def take(self, candidates: Sequence[_EditedPart]) -> None:
        """Take as many parts of plain documents as can be proven together; note the others."""
        kept: list[_EditedPart] = []
        for bad, failure in _list_faulty(self.keep_writable(candidates), self.try_together, kept):
            self.leave(bad.part, failure.reasons.get(bad.part.key, failure.reason))

    def try_together(self, candidates: Sequence[_EditedPart]) -> _Failure | None:
        """Take these parts, and no others, if that can be proven; else return why not."""
        try:
            texts = self.write(candidates)
        except EditRefused as error:
            return _Failure(error.reason)
        parts, edited = [each.part for each in candidates], self.tree.replace(texts)
        failure = prove(self.tree, parts, edited, self.results)
        if failure is None:
            self.texts, self.taken, self.edited = texts, parts, edited
        return failure

    def write(self, candidates: Sequence[_EditedPart]) -> Texts:
        """Edit the files. Raises EditRefused for a text that cannot have the value."""
        files: dict[str, list[_EditedPart]] = {}
        for part in candidates:
            files.setdefault(part.path, []).append(part)
        # A file in which no document is left goes.
        return {path: self.tree.open_file(path).edit(_join_edits(parts)) or None for path, parts in files.items()}

    def take_built(self, part: DriftedResource, alike: Sequence[DriftedResource]) -> None:
        """Take a part of a resource that a unit renders, and with it those alike that its text changes, too."""
        if part in self.taken:
            return
        tree = self.edited or self.tree.replace(self.texts)
        texts = find_text(part, alike, tree)
        if isinstance(texts, NotAccepted):
            self.edited = tree
            self.left.append(texts)
            return
        edited = tree.replace(texts)
        before, after = (
            {other.key: side.prepared[other.key].resource.spec for other in alike} for side in (tree, edited)
        )
        taken = [*self.taken, part, *(other for other in alike if before[other.key] != after[other.key])]
        if failure := prove(self.tree, taken, edited, self.results):
            self.leave(part, failure.reason)
            return
        self.texts, self.taken, self.edited = {**self.texts, **texts}, taken, edited


def _is_alike(part: DriftedResource, other: DriftedResource) -> bool:
    """Return whether two resources have drifted to the same values in the same fields."""
    moves, other_moves = ([(each.pointer, each.old, each.new) for each in side.fields] for side in (part, other))
    return part.key != other.key and not part.is_gone and not other.is_gone and moves == other_moves


def _make_edits(part: DriftedResource, prefix: tuple[Step, ...]) -> tuple[Edit, ...] | Literal[Removed.REMOVED]:
    """Make the edits of a document; `prefix` leads to the manifest if it is an item of a list."""
    if not part.is_gone:
        return tuple(Edit(path=(*prefix, *drifted.path), value=drifted.new) for drifted in part.fields)
    return (Edit(path=prefix, value=REMOVED),) if prefix else REMOVED


def _list_faulty(
    candidates: Sequence[_EditedPart],
    check: Callable[[Sequence[_EditedPart]], _Failure | None],
    kept: list[_EditedPart],
) -> Iterator[tuple[_EditedPart, _Failure]]:
    """Yield the parts that fail a check of all together, and add the others to `kept`. Those that the check reports are
    tried after all others; else the fault is found by halving.
    """
    if not candidates:
        return
    # Together with those kept so far: two edits may be right alone and wrong in one file.
    failure = check([*kept, *candidates])
    if failure is None:
        kept += candidates
        return
    if len(candidates) == 1:
        yield candidates[0], failure
        return
    bad = [candidate for candidate in candidates if candidate.part.key in failure.reasons]
    good = [candidate for candidate in candidates if candidate.part.key not in failure.reasons]
    if bad and not good and len({candidate.part.key for candidate in bad}) == len(bad):  # each has failed by itself
        yield from ((part, failure) for part in bad)
        return
    middle = len(candidates) // 2
    for half in (good, bad) if good and bad else (candidates[:middle], candidates[middle:]):
        yield from _list_faulty(half, check, kept)


def _join_edits(candidates: Sequence[_EditedPart]) -> dict[int, DocumentEdits]:
    """Join the edits of one file by their documents."""
    edits: dict[int, list[Edit]] = {}
    gone = {part.number for part in candidates if part.edits is REMOVED}
    for edit in candidates:
        if edit.edits is not REMOVED:
            edits.setdefault(edit.number, []).extend(edit.edits)
    # A document that goes needs no edits of its fields.
    return {**edits, **dict.fromkeys(gone, REMOVED)}


class _Document(NamedTuple):
    """A manifest in a file: the number of its document, its path in there if it is in a list, and its value."""

    number: int
    prefix: tuple[Step, ...]
    value: Any


def _index_documents(file: EditableFile) -> dict[int, list[_Document]]:
    """List the manifests of a file by their lines."""
    by_line: dict[int, list[_Document]] = {}
    for number, document in enumerate(file.documents):
        for prefix, value in _list_items(document.value, ()):
            by_line.setdefault(document.lines.find_nearest(prefix), []).append(_Document(number, prefix, value))
    return by_line


def _list_items(value: Any, path: tuple[Step, ...], depth: int = MAX_LISTS) -> Iterator[tuple[tuple[Step, ...], Any]]:
    """Yield the paths and values of the manifests in a document, which may be a list of documents."""
    if not is_list(value) or not depth:
        yield path, value
        return
    for index, item in enumerate(value["items"]):
        yield from _list_items(item, (*path, "items", index), depth - 1)


def prove(tree: Tree, parts: Sequence[DriftedResource], edited: Tree, results: Mapping[Key, Result]) -> _Failure | None:
    """Prove that the edited tree takes just these parts of drift; return why not. `results` are those of the plan."""
    try:
        before, after = tree.requests({}), edited.requests({})
    except SourceError as error:
        return _Failure(error.message)
    # The fields of a resource are proven together: its next plan compares all of them.
    accepted = _join(parts)
    faults = {resource.key: _explain_fault(tree, edited, resource, results[resource.key]) for resource in accepted}
    if reasons := {key: reason for key, reason in faults.items() if reason}:
        return _Failure(next(iter(reasons.values())), reasons)
    keys = {resource.key for resource in accepted}
    for key in sorted((before.keys() | after.keys()) - keys):
        # One text may feed several resources: a base, an anchor or a variable.
        if describe_request(before.get(key)) != describe_request(after.get(key)):
            return _Failure(f"The edit would also change the request of {key.kind}/{key.name}.")
    return None


def _explain_fault(tree: Tree, edited: Tree, resource: DriftedResource, result: Result) -> str:
    """Explain why the edited tree has more or less than the drift of a resource; "" if it has just that."""
    now = edited.prepared.get(resource.key)
    if resource.is_gone:
        return f"{resource.key.kind}/{resource.key.name} would still be in git." if now else ""
    if now is None:
        return "The edited manifest cannot be read."
    if isinstance(problem := find_request(now), Problem):
        return f"The manifest would not be valid: {problem.message}"
    was = tree.prepared[resource.key].resource
    expected = apply_edits(
        {"spec": was.spec}, [Edit(path=drifted.path, value=drifted.new) for drifted in resource.fields]
    )
    meta, meta_now = (
        (manifest.gvk, manifest.annotations, manifest.labels, sorted(manifest.others))
        for manifest in (was, now.resource)
    )
    # What an expression computes is written as the expression.
    specs = [json.dumps(spec, sort_keys=True, default=str) for spec in (expected["spec"], now.resource.spec)]
    if specs[0] != specs[1] or meta != meta_now:
        return "The edit would change more of the manifest than this field."
    old, new = compare_with_live(tree, result), compare_with_live(edited, result)
    if old is None or new is None:
        return "The plan does not have enough of Azure's values to compare the edited manifest with them."
    taken = {cut(parse_pointer(drifted.pointer)) for drifted in resource.fields}
    # What differed before and was skipped may differ still; a new difference shows a wrong edit.
    allowed = {cut(parse_pointer(difference.path)) for difference in old.differences} - taken
    still = sorted(
        difference.path for difference in new.differences if cut(parse_pointer(difference.path)) not in allowed
    )
    return f"The next plan would still show a difference at {still[0]}." if still else ""
