"""Finds which fields of which manifests would take what Azure changed, and what is skipped, with the reason.

The run compares bodies of ARM; here its differences become values of manifests. Indexes in lists are git's, since Azure
may keep a list in another order.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from gitsync.desired.catalog.body_words import find_word
from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.catalog.version_annotation import BODY
from gitsync.desired.catalog.weakening_fields import explain_weakening
from gitsync.desired.formats.ignored_paths import remove_paths
from gitsync.desired.formats.json_pointer import JsonPath, format_pointer, parse_pointer
from gitsync.desired.formats.leaf_changes import find
from gitsync.desired.manifests.selection import Selection, find_keys, spell_out
from gitsync.desired.problems.field_path import FieldPath, format_field
from gitsync.desired.problems.field_path import find_member as find_spec_member
from gitsync.desired.problems.finding import find_location
from gitsync.desired.request.body import find_field
from gitsync.desired.request.default_tags import find_default_tag
from gitsync.desired.validation.annotations import UPDATE_METHOD
from gitsync.desired.validation.body_annotation import BODY_PATH
from gitsync.errors import UnfitValueError
from gitsync.model.arm_id import NO_ID
from gitsync.model.attribution import Attribution
from gitsync.model.edit import REMOVED
from gitsync.model.facts import Kind
from gitsync.model.gvk import Key
from gitsync.model.outside import OutsideChange
from gitsync.model.problem import Problem, SourceLocation
from gitsync.model.report import Report
from gitsync.model.resource import Prepared, Resource
from gitsync.model.result import Result
from gitsync.model.secret import Secret
from gitsync.model.template import ComputedValue, list_computed_values
from gitsync.model.verdict import DRIFTED, Difference, Verdict
from gitsync.planning.diff.hints import Hints, make_kind_hints
from gitsync.planning.diff.projection import project, select_desired
from gitsync.planning.diff.three_way import UNDONE
from gitsync.planning.diff.unknown_values import NOT_KNOWN
from gitsync.report.wording import format_plural
from gitsync.workflows.accept.drift import DriftedField, DriftedResource, NotAccepted
from gitsync.workflows.accept.edit_proof import Tree, compare_with_live, find_request
from gitsync.workflows.accept.moves import UNKNOWN, DriftMove, compare_parts
from gitsync.workflows.accept.outside_moves import OutsideMove, collect_outside_moves, count_unnamed, list_outside
from gitsync.workflows.accept.wanted_fields import WantedFields
from gitsync.workflows.imports.conversion.any_live_body import convert_any_value
from gitsync.workflows.imports.conversion.imported_manifests import ManifestIndex
from gitsync.workflows.imports.conversion.live_body import convert_value, find_field_position

BY_HAND: Final = "Edit the manifest by hand, or run gitsync sync to restore the value from git."

_NOT_COMPARED: Final = frozenset({Verdict.UNKNOWN, Verdict.BLOCKED, Verdict.INVALID})

_MADE: Final = {
    "secret": "Its value comes from a Secret.",
    "secretMap": "Its values come from a Secret.",
    "configMap": "Its value comes from a ConfigMap.",
    "identityMap": "It is a list of references to identities.",
}
"""Why a field is skipped, by how its value is made."""


_MODES: Final = {"$reference": "reference", "$secret": "secret", "$configMap": "configMap"}
"""How a value is made, by the word that stands for it in the body of an AzureResource."""


class FoundDrift(NamedTuple):
    """The drift that can be accepted, sorted by key, and the drift that is skipped."""

    resources: tuple[DriftedResource, ...]
    left: tuple[NotAccepted, ...]


def find_named(names: Sequence[str], keys: Sequence[Key]) -> frozenset[Key]:
    """Find the resources that people name. A pattern is not a name: it may match what its author did not think of."""
    return frozenset(key for name in names if not _WILDCARDS.intersection(name) for key in find_keys(name, keys))


def collect_drift(report: Report, tree: Tree, names: Sequence[str] = (), fields: Sequence[str] = ()) -> FoundDrift:
    """Collect the drift of a plan that git could take: of the resources with these names (as `--only` takes them), all
    without; with `fields`, only at or below these (see `WantedFields`).

    Raises ConfigError for a name that no resource has, and for a field that no drift is in.
    """
    keys = [result.key for result in report.results]
    selection = spell_out(Selection(only=tuple(names)), keys)
    named, wanted = find_named(names, keys), WantedFields(tuple(fields))
    # A pattern deletes no manifest: it may match what its author did not think of.
    gone = {result.key for result in report.results if result.found is Verdict.MISSING and result.key in named}
    resources, left = [], []
    for result in report.results:
        if not selection.has(result.key):
            continue
        search = _Search(result, tree, wanted, is_named=result.key in named)
        is_compared = result.verdict not in _NOT_COMPARED and not result.ending.fault
        if not is_compared and result.key in tree.prepared:  # else git has removed it
            left.append(search.leave(f"It was not compared with Azure: {result.message}", (), result.condition.advice))
        outside = list_outside(result, is_selected=bool(names))
        if result.found not in DRIFTED and not outside:
            continue
        # A hold is a decision of people about this resource, so a pattern does not reach through it.
        is_held = result.verdict is Verdict.HELD or bool(outside)
        if is_held and result.manifest.hold and not search.is_named:
            left.append(search.leave_unless_named(result.manifest.hold.sentence, ()))
            continue
        found = search.explain_gone(gone) if result.found is Verdict.MISSING else search.list_fields(outside)
        drifted = tuple(outcome for outcome in found if isinstance(outcome, DriftedField))
        refused = [outcome for outcome in found if isinstance(outcome, NotAccepted)]
        left += refused
        prepared = tree.prepared.get(result.key)
        # A deleted resource has no fields, so its manifest goes only if nothing speaks against it and no field is
        # named.
        if prepared and (drifted or (result.found is Verdict.MISSING and not refused and not fields)):
            resources.append(search.describe(prepared.resource, drifted))
    if all(refusal.field for refusal in left):  # else it is not known what has drifted
        wanted.refuse_missing()
    return FoundDrift(tuple(sorted(resources, key=lambda resource: resource.key)), tuple(left))


_WILDCARDS: Final = frozenset("*?[")


def cut(path: JsonPath) -> JsonPath:
    """Cut a path at the outermost list: what is in a list is taken together, since Azure has other indexes."""
    return next((path[:index] for index, step in enumerate(path) if isinstance(step, int)), path)


def find_author(changes: Sequence[Attribution], pointer: str) -> Attribution | None:
    """Find the newest change of a resource that made a difference; None if it is not known."""
    known = [change for change in changes if not change.doubt]
    path_in_body = cut(parse_pointer(pointer))
    # The first that names the path is the newest, since changes are sorted so; one without paths may be of any field.
    exact = (change for change in known if any(cut(parse_pointer(path)) == path_in_body for path in change.paths))
    return next(exact, next((change for change in known if not change.paths), None))


@dataclass(frozen=True, slots=True)
class _Search:
    """The search in one result."""

    result: Result
    tree: Tree
    wanted: WantedFields  # the fields that people named
    is_named: bool = False  # people gave its name, and not only a pattern

    def describe(self, resource: Resource, fields: tuple[DriftedField, ...]) -> DriftedResource:
        kind = open_catalog().kind_of(resource)
        return DriftedResource(
            key=self.result.key,
            arm_id=self.result.arm_id or NO_ID,
            arm_type=kind.arm_type if kind else "",
            source=resource.source,
            unit=resource.rendered_by,
            fields=fields,
            is_gone=self.result.found is Verdict.MISSING,
            changed_by=self.result.changed_by,
        )

    def leave(
        self, reason: str, field: FieldPath = (), advice: str = BY_HAND, locations: tuple[SourceLocation, ...] = ()
    ) -> NotAccepted:
        prepared = self.tree.prepared.get(self.result.key)
        path_in_body = (find_location(field, prepared.resource),) if prepared and not locations else locations
        return NotAccepted(
            key=self.result.key, field=format_field(field), reason=reason, advice=advice, locations=path_in_body
        )

    def explain_gone(self, gone: Collection[Key]) -> list[DriftedField | NotAccepted]:
        """Explain why the document of a resource that was deleted in Azure stays; nothing if it may go, which takes its
        name. `gone` are the resources that may go with it.
        """
        key, prepared = self.result.key, self.tree.prepared.get(self.result.key)
        # People named fields, and a deleted resource has none.
        if self.wanted.texts:
            return []
        if prepared is None:
            return [self.leave_unread()]
        if not self.is_named:
            kind = open_catalog().kind_of(prepared.resource)
            weakness = explain_weakening(kind.arm_type, "", None, None, is_gone=True) if kind else ""
            return [
                self.leave_unless_named(
                    f"It was deleted in Azure, so its manifest would be removed. {weakness}".strip(), ()
                )
            ]
        stay = sorted(
            (
                resource
                for resource in self.tree.prepared.values()
                if key in resource.relations.depends_on and resource.key not in gone
            ),
            key=lambda resource: resource.key,
        )
        if not stay:
            return []
        names = ", ".join(f"{resource.key.kind}/{resource.key.name}" for resource in stay)
        advice = "Name all of them, or remove them from git first; gitsync sync creates the resource again."
        locations = tuple(prepared.resource.source for prepared in stay)
        return [self.leave(f"It was deleted in Azure, and {names} in git need it.", (), advice, locations)]

    def list_fields(self, outside: Sequence[OutsideChange]) -> list[DriftedField | NotAccepted]:
        """Find the fields that Azure changed, in the order of the report, then those for changes outside of them."""
        prepared = self.tree.prepared.get(self.result.key)
        if prepared is None:
            return [self.leave_unread()]
        if isinstance(problem := find_request(prepared), Problem):
            return [self.leave(f"The manifest in the working tree is not ready: {problem.message}")]
        comparison, kind = compare_with_live(self.tree, self.result), open_catalog().kind_of(prepared.resource)
        body = self.tree.fill(prepared)
        if comparison is None or kind is None or body is None or self.result.comparison.live_body is None:
            return [
                self.leave("The plan does not have enough of Azure's values to compare an edited manifest with them.")
            ]
        reading = _Reading(self, kind, prepared, body, remove_paths(self.result.comparison.live_body, prepared.ignored))
        new = list(reading.read_outside(outside))
        if outside and (more := count_unnamed(self.result)):
            reason = f"Its write may reset {format_plural(more, 'more value')}, which the plan does not name."
            new.append(self.leave(reason, (), "Run gitsync accept again: the plan of the edited manifest names them."))
        if self.result.found not in DRIFTED:
            return new
        # Azure's values are those of git already; nothing in the manifest could be edited.
        if not self.result.differences:
            advice = "Run gitsync sync: it writes the resource again."
            return [self.leave("Its last operation failed in Azure, and no field differs.", (), advice), *new]
        moved = [difference.path for difference in comparison.differences if difference.rule not in UNDONE]
        return [*reading.read(moved), *new]

    def leave_unread(self) -> NotAccepted:
        return self.leave("The working tree has no manifest of it that a plan reads, or more than one.", (), BY_HAND)

    def leave_outside(self, reason: str, field: FieldPath) -> NotAccepted:
        name = f"{self.result.key.kind}/{self.result.key.name}"
        if self.result.verdict is Verdict.ADOPT:
            return self.leave(reason, field, f"To keep it, annotate the manifest with {UPDATE_METHOD}: patch")
        return self.leave(
            reason, field, f"To keep it, run gitsync acknowledge {name}; to undo it, gitsync revert {name}"
        )

    def leave_unless_named(self, reason: str, field: FieldPath) -> NotAccepted:
        name = f"{self.result.key.kind}/{self.result.key.name}"
        return self.leave(reason, field, f"To accept it anyway, run gitsync accept {name}")


@dataclass(frozen=True, slots=True)
class _Reading:
    """The bodies of one resource."""

    search: _Search
    kind: Kind
    prepared: Prepared  # the manifest of the resource
    desired: Mapping[str, Any]  # what git requests
    live: Mapping[str, Any]  # what Azure has

    def read(self, moved: Collection[str]) -> Iterator[DriftedField | NotAccepted]:
        """Yield the fields that Azure changed. `moved` are the paths that a comparison without secrets finds."""
        search = self.search
        compared = {cut(parse_pointer(pointer)) for pointer in moved}
        in_git = {
            cut(parse_pointer(difference.path))
            for difference in search.result.differences
            if difference.rule in UNDONE or difference.rule == NOT_KNOWN
        }
        locations: dict[JsonPath, list[Difference]] = {}
        for difference in search.result.differences:
            locations.setdefault(cut(parse_pointer(difference.path)), []).append(difference)
        for path_in_body, differences in locations.items():
            is_of_git = path_in_body in in_git and not self.has_moved(path_in_body)  # git alone has changed it
            if is_of_git or not search.wanted.want(search.result, self.prepared.resource, differences):
                continue
            field = find_field(self.kind, path_in_body, self.prepared.resource) or ()
            computed = self.find_computed(field)
            if computed and (path_in_body not in compared or not _is_below(computed.field, format_field(field))):
                yield self.leave_computed(computed, field)
            elif path_in_body not in in_git and path_in_body not in compared:
                yield search.leave("Its value is a secret, or is known during a run only.", field)
            # In a conflict git wins, unless a person names the field.
            elif path_in_body not in in_git or search.wanted.texts:
                yield from self.read_path(path_in_body)
            else:
                advice = f"To accept Azure's value, add --field {format_field(field) or format_pointer(path_in_body)}"
                yield search.leave("It also changed in git, and a sync would write that value.", field, advice)

    def read_outside(self, changes: Sequence[OutsideChange]) -> Iterator[DriftedField | NotAccepted]:
        """Yield the new fields that take changes of values which git does not set."""
        search, resource = self.search, self.prepared.resource
        for move in collect_outside_moves(changes, select_desired(self.desired), self.live):
            pointer, field = format_pointer(move.path), find_field(self.kind, move.path, resource)
            if not search.wanted.want_names({pointer: format_field(field) if field else pointer}, resource):
                continue
            if move.is_hidden or _has_secret(move.path, move.live, make_kind_hints(self.kind)):
                yield search.leave_outside("Its value may be a secret, or is too long for the record.", field or ())
            # Git never had it, so no edit can take this over.
            elif move.live is None:
                what = "It" if field else pointer
                yield search.leave_outside(f"{what} was removed in Azure, and git does not set it.", field or ())
            else:
                yield self.read_new(move, field)

    def read_new(self, move: OutsideMove, field: FieldPath | None) -> DriftedField | NotAccepted:
        """Make a field that git does not set yet, or return why it is skipped."""
        search = self.search
        if field is None:
            left = search.leave_outside(f"The manifest has no field for {format_pointer(move.path)}.", ())
            return replace(left, advice=f"Set it in the annotation {BODY}. {left.advice}")
        # A new value for all of the field would overwrite the parts that git sets.
        if find_spec_member(self.prepared.resource.spec, *field[1:]) is not None:
            return search.leave_outside(f"{format_pointer(move.path)} is a part of this field.", field)
        try:
            mode = self.find_mode(field, None)
            if mode not in {"", "reference"}:
                return search.leave_outside(_MADE.get(mode, "gitsync computes its value."), field)
            new = self.convert(move.path, field, move.live)
        except UnfitValueError:
            return search.leave_outside("Azure has a value that the kind does not allow.", field)
        if move.weakens and not search.is_named:
            return search.leave_unless_named(move.weakens, field)
        return self.make_field(move.path, field, None, new)

    def read_path(self, path_in_body: JsonPath) -> Iterator[DriftedField | NotAccepted]:
        """Yield the fields of one leaf, or of one list: all of them, or the reasons why it is skipped."""
        field = find_field(self.kind, path_in_body, self.prepared.resource) or ()
        if default := find_default_tag(self.prepared.resource, field):
            advice = f"Change the default in {default}, or set the tag in the manifest."
            yield self.search.leave(f"It is a default tag, which {default} sets.", field, advice, (default,))
            return
        found = [self.read_computed(move.path) or self.read_move(*move) for move in self.collect_moves(path_in_body)]
        refused = [outcome for outcome in found if isinstance(outcome, NotAccepted)]
        if not found:
            yield self.search.leave("The change in this field could not be found.", field)
        # A list is taken in full or not at all: its entries depend on each other by their order.
        yield from refused or found

    def has_moved(self, path_in_body: JsonPath) -> bool:
        """Return whether Azure changed what the last write has set at a path."""
        record = self.search.result.record
        if record is None or record.spec.applied is None or record.spec.baseline is None:
            return False
        sent, baseline = record.spec.applied, record.spec.baseline
        applied, before = (find(body, path_in_body, sent) for body in (sent, baseline))
        return bool(project(applied, find(self.live, path_in_body, sent)) != before)

    def collect_moves(self, path_in_body: JsonPath) -> list[DriftMove]:
        """Collect what Azure changed at a leaf or in a list."""
        record, hints = self.search.result.record, make_kind_hints(self.kind)
        requested = select_desired(self.desired)
        desired, live = find(requested, path_in_body, requested), find(self.live, path_in_body, requested)
        before = record.spec.baseline if record else None
        if desired is not None and not isinstance(desired, list):  # the comparison has found it
            return [DriftMove(path_in_body, desired, live)]
        return list(
            compare_parts(
                path_in_body,
                desired,
                live,
                UNKNOWN if before is None else find(before, path_in_body, requested),
                hints,
            )
        )

    def read_move(self, path: JsonPath, desired: Any, live: Any) -> DriftedField | NotAccepted:
        """Make the field of a manifest, or return why it is skipped."""
        search, spec, hints = self.search, self.prepared.resource.spec, make_kind_hints(self.kind)
        field = find_field(self.kind, path, self.prepared.resource)
        if field is None:
            return search.leave(f"The manifest has no field for {format_pointer(path)}.")
        if field[:2] == BODY_PATH[:2]:
            advice = "Edit the annotation by hand, or run gitsync sync."
            return search.leave(f"Its value is in the annotation {field[2]}.", field, advice)
        if isinstance(desired, Secret) or _has_secret(path, live, hints):
            is_plain_text = self.kind.is_any_type and not isinstance(desired, Secret)
            reason = "Its value may be a secret." if is_plain_text else _MADE["secret"]
            return search.leave(reason, field, "Change the Secret, or run gitsync sync.")
        old = find_spec_member(spec, *field[1:])
        try:
            mode = self.find_mode(field, old)
            if mode == "reference":
                return self.read_reference(path, field, old, live)
            if mode:
                return search.leave(_MADE.get(mode, "gitsync computes its value."), field)
            if old is None and desired is not None:
                return search.leave("Its value comes from another object, such as a ConfigMap.", field)
            new = REMOVED if live is None else self.convert(path, field, live)
        except UnfitValueError:
            return search.leave("Azure has a value that the kind does not allow.", field)
        return self.make_field(path, field, old, new)

    def find_computed(self, field: FieldPath) -> ComputedValue | None:
        """Find an expression that computes a field, a part of it, or all around it."""
        values = list_computed_values(self.prepared.template) if self.prepared.template and field else ()
        name = format_field(field)
        return next(
            (
                value
                for value in values
                if name == value.field or _is_below(name, value.field) or _is_below(value.field, name)
            ),
            None,
        )

    def read_computed(self, path: JsonPath) -> NotAccepted | None:
        """Skip a part of a list that an expression computes; None for any other."""
        field = find_field(self.kind, path, self.prepared.resource) or ()
        computed = self.find_computed(field)
        return self.leave_computed(computed, field) if computed else None

    def leave_computed(self, value: ComputedValue, field: FieldPath) -> NotAccepted:
        """Skip a field of an expression: an edit would contradict that, and the next sync undo it."""
        key = self.search.result.key
        advice = f"Change the expression, or run gitsync revert {key.kind}/{key.name} to restore the value."
        return self.search.leave(f"The expression {value.expression} computes {value.field}.", field, advice)

    def find_mode(self, field: FieldPath, old: Any) -> str:
        """Find how the value of a field is made; "" for a plain one. `old` is what the manifest has there."""
        if self.kind.is_any_type:
            return _MODES.get(find_word(old), "")
        return find_field_position(self.kind, field).mode

    def convert(self, path: JsonPath, field: FieldPath, live: Any) -> Any:
        """Return what a field has to say for the value that Azure shows. Raises UnfitValueError if it has no form."""
        if self.kind.is_any_type:
            return convert_any_value(self.kind, path, live)
        return convert_value(self.kind, field, live, self.refer)

    def read_reference(self, path: JsonPath, field: FieldPath, old: Any, live: Any) -> DriftedField | NotAccepted:
        """Make the field of a reference by its ARM id. One to another manifest is skipped."""
        inside = field
        if word := find_word(old):
            inside, old = (*field, word), old[word]
        if isinstance(old, str) and isinstance(live, str):
            return self.make_field(path, field, old, live)
        if old is not None and live is None:
            return self.make_field(path, field, old, REMOVED)
        if isinstance(old, Mapping) and "armId" in old and isinstance(live, str):
            return self.make_field(path, (*inside, "armId"), old["armId"], live)
        now = f", and Azure has {live} now" if isinstance(live, str) and live else ""
        is_by_name = isinstance(old, Mapping) and {"kind", "name"} <= old.keys()
        target = f" to {old['kind']}/{old['name']}" if is_by_name else ""
        reason = f"It is a reference{target}{now}."
        return self.search.leave(reason, field, "Change the reference by hand, or run gitsync sync.")

    def make_field(self, path: JsonPath, field: FieldPath, old: Any, new: Any) -> DriftedField | NotAccepted:
        search, pointer = self.search, format_pointer(path)
        old = REMOVED if old is None else old
        mask = search.tree.reader.redactions.mask
        # A known secret may show up in any field that Azure returns, and a commit cannot be undone.
        if any(mask(text) != text for text in (json.dumps(value, default=str) for value in (old, new))):
            return search.leave("Its value has a secret in it.", field)
        weakness = explain_weakening(self.kind.arm_type, pointer, old, new, is_gone=False)
        if weakness and not search.is_named:
            return search.leave_unless_named(weakness, field)
        author = find_author(search.result.changed_by, pointer)
        source = find_location(field, self.prepared.resource)
        return DriftedField(path=field, pointer=pointer, old=old, new=new, changed_by=author, source=source)

    def refer(self, arm_id: str) -> Mapping[str, Any]:
        """Refer to a resource: by its name if it has a manifest in the same namespace."""
        near = {
            resource.arm_id.key: resource.key
            for resource in self.search.tree.prepared.values()
            if resource.arm_id and resource.key.namespace == self.prepared.key.namespace
        }
        return ManifestIndex(near).refer(arm_id)


def _is_below(name: str, above: str) -> bool:
    """Return whether a field is below another one, both as `format_field` writes them."""
    return name.startswith((f"{above}.", f"{above}["))


def _has_secret(path: JsonPath, value: Any, hints: Hints) -> bool:
    if hints.told(path) == "secret" or isinstance(value, Secret):
        return True
    if isinstance(value, Mapping):
        return any(_has_secret((*path, key), member, hints) for key, member in value.items())
    return isinstance(value, list) and any(
        _has_secret((*path, index), entry, hints) for index, entry in enumerate(value)
    )
