"""Reads the manifests in files: resources, the Secrets and ConfigMaps that they use, and documents of other tools.

This module only sorts: `yaml_documents` parses, `headers` reads headers, `validation` checks resources. A document that
cannot be read becomes a problem, and does not stop the others.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain

from gitsync.desired.manifests.aso_groups import is_ours, mentions_aso
from gitsync.desired.manifests.capz import CapzObjects
from gitsync.desired.manifests.credential_secret import CERTIFICATE
from gitsync.desired.manifests.document_forms import CIPHERTEXT, split_list
from gitsync.desired.manifests.expansions import ExpansionBudget
from gitsync.desired.manifests.headers import Header, is_object, read_header
from gitsync.desired.manifests.object_collector import ObjectCollector, reject_repeated
from gitsync.desired.manifests.origins import Origins
from gitsync.desired.manifests.units import SUFFIXES, find_own_path, is_built_unit
from gitsync.desired.manifests.unparsed_text import may_be_object, may_be_ours
from gitsync.desired.manifests.unread_collector import UnreadCollector
from gitsync.desired.manifests.unread_documents import (
    UnreadContent,
    collect_templates,
    find_embedded,
    find_hook,
    list_hidden,
    list_misspelt_fields,
    mark_followed,
    reject,
    report_templates,
    skip,
    skip_hook,
)
from gitsync.desired.manifests.used_objects import ConfigMapVersions, FeedingObject, UsedObjects, read_feeding_object
from gitsync.desired.manifests.variable_reader import VariableReader, VariableSubject
from gitsync.desired.manifests.variable_values import NO_VARIABLES, VariableSet
from gitsync.desired.manifests.yaml_documents import AliasBudget, Document, read_documents
from gitsync.desired.problems.field_path import FieldPath, find_member, format_field
from gitsync.model.gvk import Key
from gitsync.model.manifests import Manifests, UnreadDocument, UnusableDeclarations
from gitsync.model.problem import Level, Problem, SourceLocation
from gitsync.model.resource import Resource, Wrapper
from gitsync.model.secret import Secret
from gitsync.model.unit import Unit
from gitsync.model.written_rules import RuleEntries

MAX_PROBLEMS = 1000
"""The most problems of one file, without those of resources: a file may have a million documents."""

UNPARSED = "text that is not JSON"
MAPPING = "Write one `key: value` per line."
REFER = "Move them to a Secret, encrypt it, and reference it."


def read_manifests(
    files: Mapping[str, bytes],
    *,
    namespace: str = "default",
    units: Mapping[str, Unit] | None = None,
    variables: VariableSet = NO_VARIABLES,
    budget: ExpansionBudget | None = None,
) -> Manifests:
    """Read all manifests in files. `files` maps a path in the source to its content; only *.yaml, *.yml and *.json are
    read. `namespace` is that of documents without one. `units` has the units of files by their paths, except plain
    folders without options. `variables` has the values of variables by unit. `budget` limits their expansions; None if
    it is not shared with other files.

    Documents that SOPS encrypted stay encrypted.
    """
    units = units or {}
    versions = ConfigMapVersions(frozenset(unit.settings.cluster_folder for unit in units.values() if unit.is_declared))
    variable_reader = VariableReader(variables, budget or ExpansionBudget())
    sorter = _Sorter(
        namespace, variable_reader, CapzObjects(namespace), ObjectCollector(versions), tuple(units.values())
    )
    readable = {path for path in files if path in units or path.endswith(SUFFIXES)}
    templates = collect_templates(readable)
    sorter.unread.add(report_templates(templates, files))
    # In a fixed order, the same one of two declarations counts as the first in each run.
    for path in sorted(readable - templates.keys()):
        sorter.read(path, files[path], units.get(path))
    sorter.unwrap()
    return sorter.finish()


def _set_levels(problems: Sequence[Problem], path: str, text: bytes) -> tuple[Problem, ...]:
    """Set the level of the problems of a file that does not parse: warnings if nothing shows that it is for gitsync,
    and none for JSON that is not a Kubernetes object. YAML may be the rest of a manifest, so its warnings still hold
    deletes.
    """
    # An error in such a text may hide a manifest, so it stays an error.
    if not problems or may_be_ours(text):
        return tuple(problems)
    # A repository has many JSON files that are not manifests, such as those of editors.
    if path.endswith(".json") and not may_be_object(text):
        return ()
    return tuple(replace(problem, level=Level.WARNING) for problem in problems)


def _make_too_many(path: str, line: int) -> Problem:
    message = f"The file has more than {MAX_PROBLEMS} problems; the rest is not read."
    return Problem(code="TooManyProblems", message=message, hint="Fix the problems above.", path=path, line=line)


@dataclass(slots=True)
class _Sorter:
    """Sorts documents by their kind. Mutable: it is filled document by document."""

    namespace: str  # of manifests without one
    variables: VariableReader
    capz: CapzObjects
    objects: ObjectCollector
    units: tuple[Unit, ...] = ()  # those of the source
    resources: list[Resource] = field(default_factory=list)  # the documents that became a resource
    unread: UnreadCollector = field(default_factory=UnreadCollector)
    unit: Unit | None = None  # of the file that is read
    wrapper: Wrapper | None = None  # the CAPZ object around the document that is read
    origins: Origins = field(default_factory=Origins)  # what set each value of a result that a unit built
    aliases: AliasBudget = field(default_factory=AliasBudget)  # the aliases of YAML that all documents together may use

    def read(self, path: str, content: bytes, unit: Unit | None) -> None:
        """Sort the documents of one file of a unit."""
        if unit is None:
            self.unit = None
            self.sort(path, content)
            return
        with self.within(unit):
            self.sort(path, content)

    def unwrap(self) -> None:
        """Sort the objects in CAPZ objects, which may need values from any file."""
        for wrapped in self.capz.unwrap():
            self.wrapper = wrapped.wrapper
            with self.within(wrapped.unit):
                self.add(wrapped.document)
        self.wrapper = None

    @contextmanager
    def within(self, unit: Unit | None) -> Iterator[None]:
        """Set the unit of everything that is added in this context."""
        self.unit = unit
        with self.unread.within(unit):
            yield

    def sort(self, path: str, content: bytes) -> None:
        # The result of a build has the path of its unit. A file that is not built keeps its own.
        own_path = find_own_path(path, self.unit)
        is_built = own_path == path and is_built_unit(self.unit)
        path = own_path
        marks_quotes = self.variables.has_variables(self.unit)
        content = self.variables.replace_begins(content, self.unit, is_built=is_built)
        contents = read_documents(
            path, content, marks_quotes=marks_quotes, max_problems=MAX_PROBLEMS, aliases=self.aliases
        )
        before, _ = self.unread.size
        problems = _set_levels(contents.problems, path, content)
        if contents.problems and not problems:
            # Not a problem, but unread: it may still be the reason to hold a delete.
            line = contents.problems[0].line
            self.unread.documents.append(UnreadDocument(source=SourceLocation(path, line), form=UNPARSED))
        self.unread.add_unparsed(path, contents.unparsed[:MAX_PROBLEMS])
        # It may be a Secret or a ConfigMap, which matters only if a resource uses its name.
        may_be_used = bool(problems) and may_be_ours(content) and not mentions_aso([content])
        for problem in problems[:MAX_PROBLEMS]:
            if may_be_used:
                self.unread.about[len(self.unread.problems)] = content
            self.unread.reject_text(problem)
        if len(problems) > MAX_PROBLEMS:
            self.unread.reject_text(_make_too_many(path, problems[MAX_PROBLEMS].line))
            return
        for single in chain.from_iterable(map(split_list, contents.documents)):
            # The rest counts as rejected, so that it holds deletes: it may declare anything.
            if len(self.unread.problems) - before >= MAX_PROBLEMS:
                self.unread.reject_text(_make_too_many(path, single.line()))
                return
            located = self.origins.locate(single, self.unit) if self.unit and is_built else single
            # Helm and Argo CD run a hook as a job of the release, and keep it out of the estate.
            if annotation := find_hook(located, self.unit):
                self.unread.add(skip_hook(located, annotation))
            else:
                self.add(located)

    def add(self, document: Document) -> None:
        value = document.value
        if value is None and not document.problems:  # only comments
            return
        take = TAKERS.get((value["apiVersion"], value["kind"])) if is_object(value) else None
        # Most documents of a cluster are for other tools.
        if take is None and not (is_object(value) and is_ours(value["apiVersion"])):
            # An object in a CAPZ object is not a wrapper itself.
            if self.wrapper or not self.capz.take(document, self.unit):
                self.unread.add(skip(document))
            return
        # A unit may set the namespace of all that it builds.
        namespace = (self.unit and self.unit.namespace) or self.namespace
        if take is None:
            if read := self.read_header(document, namespace, resource=len(self.resources)):
                self.add_resource(*read)
            return
        since, about = self.unread.size, read_feeding_object(value, namespace)
        if read := self.read_header(document, namespace, resource=None):
            document, header = read
            about = FeedingObject(header.gvk.kind, header.namespace, header.name)
            self.unread.problems.extend([*document.problems, *header.problems])
            take(self, document, header)
        self.unread.relate(since, about)
        self.unread.problems.extend(find_embedded(document))

    def read_header(
        self, document: Document, namespace: str, *, resource: int | None
    ) -> tuple[Document, Header] | None:
        """Replace the variables of a document, and read its header; None if it is rejected. `resource` is the position
        that a resource will have.
        """
        subject = VariableSubject(document=document, unit=self.unit, resource=resource, namespace=namespace)
        replaced = self.variables.replace(subject)
        if isinstance(replaced, UnreadContent):
            self.unread.add(replaced)
            return None
        header = read_header(replaced, namespace)
        if isinstance(header, Problem):
            # The next resource gets this position, and must not get the problems of this document.
            self.variables.uses.detach(len(self.resources))
            header = replace(header, is_unread=resource is not None)
            self.unread.add(reject(replaced, *(list_misspelt_fields(replaced) or (header,)), *replaced.problems))
            return None
        self.unread.documents.extend(list_hidden(replaced))
        return replaced, header

    def add_resource(self, document: Document, header: Header) -> None:
        gvk = header.gvk
        spec = document.value.get("spec")
        misspelt = list_misspelt_fields(document)
        reported = {problem.field for problem in misspelt}
        others = (
            {key: value for key, value in header.others.items() if key not in reported} if reported else header.others
        )
        problems = [*document.problems, *header.problems, *misspelt]
        if spec is not None and not isinstance(spec, dict):
            # The resource stays, with this problem: without it, a mistyped spec would look like a removal.
            problems.append(_make_problem(document, "InvalidSpec", ("spec",), "spec is not a mapping.", MAPPING))
        if document.seal and CIPHERTEXT.search(repr(spec)):
            message = "Values of spec are encrypted with SOPS; only those of Secrets and ConfigMaps are decrypted."
            problems.append(_make_problem(document, "EncryptedManifest", ("spec",), message, REFER))
        self.resources.append(
            Resource(
                key=Key(gvk.group, gvk.kind, header.namespace, header.name),
                gvk=gvk,
                spec=spec if isinstance(spec, dict) else {},
                source=document.patched.get((), SourceLocation(document.path, document.line())),
                others=others,
                annotations=header.annotations,
                labels=header.labels,
                lines=document.lines,
                patched=document.patched,
                problems=tuple(sorted(problems, key=lambda p: p.order)),
                unit=self.unit,
                wrapper=self.wrapper,
                renamed_from=_find_former_name(document, header),
            )
        )

    def add_config_map(self, document: Document, header: Header) -> None:
        if document.seal:
            self.unread.add(self.objects.add_encrypted(document, header))
            return
        data = _read_texts(self.unread, document, "data")
        self.unread.add(self.objects.add_config_map(document, header, self.unit, data))

    def add_secret(self, document: Document, header: Header) -> None:
        if document.seal:
            self.unread.add(self.objects.add_encrypted(document, header))
            return
        # As in Kubernetes, stringData wins over data.
        plain = {key: Secret(text) for key, text in _read_texts(self.unread, document, "stringData").items()}
        data = _decode_data(self.unread, document) | plain
        self.unread.add(self.objects.add_secret(document, header, self.unit, data))

    def add_namespace(self, document: Document, header: Header) -> None:
        self.unread.add(self.objects.add_namespace(document, header, self.unit))

    def finish(self) -> Manifests:
        versions, unread = self.objects.versions, self.unread
        for repeated in versions.list_repeated(resource.key.namespace for resource in self.resources):
            address = repeated.address
            unread.about[len(unread.problems)] = FeedingObject(address.object_kind, address.namespace, address.name)
            with self.within(repeated.unit):
                unread.add(reject_repeated(str(address), repeated.document))
        # All resources are known only here, and with them the objects that they use.
        used = UsedObjects(self.resources, self.units)
        unread.settle(used)
        unread.problems.extend(self.variables.uses.attach(self.resources, used.has, versions.by_address))
        declarers = frozenset(SourceLocation(unit.file, unit.line) for unit in self.units if unit.is_declared)
        return Manifests(
            resources=tuple(sorted(self.resources, key=lambda r: (r.key, r.gvk.version, r.source))),
            objects=self.objects.make_objects(),
            namespaces=self.objects.namespaces,
            rules=RuleEntries(namespaces=self.objects.ruling),
            problems=tuple(sorted(unread.problems, key=lambda p: p.order)),
            unread=mark_followed(unread.documents, declarers),
            variables={unit: frozenset(names) for unit, names in self.variables.names.items()},
            shown=tuple(self.variables.shown),
            hidden=tuple(self.variables.hidden),
            unusable=UnusableDeclarations(rejected=unread.rejected),
        )


TAKERS: Mapping[tuple[str, str], Callable[[_Sorter, Document, Header], None]] = {
    ("v1", "ConfigMap"): _Sorter.add_config_map,
    ("v1", "Secret"): _Sorter.add_secret,
    ("v1", "Namespace"): _Sorter.add_namespace,
}


def _find_former_name(document: Document, header: Header) -> str:
    """Return the name in the file of a built document, if the build changed it; "" otherwise."""
    name = find_member(document.original.value, "metadata", "name") if document.original else None
    return name if isinstance(name, str) and name != header.name else ""


def _read_texts(unread: UnreadCollector, document: Document, member: str) -> dict[str, str]:
    """Read a mapping of texts, such as the data of a ConfigMap. A value that is not text is reported, but not shown."""
    mapping = document.value.get(member)
    if mapping is None:
        return {}
    if not isinstance(mapping, dict):
        unread.problems.append(
            _make_problem(document, "InvalidData", (member,), f"{member} is not a mapping.", MAPPING)
        )
        return {}
    for key in [key for key, value in mapping.items() if not isinstance(value, str)]:
        message = f"The value of {key} under {member} is not text."
        unread.problems.append(_make_problem(document, "InvalidData", (member, key), message, "Quote it."))
    return {key: value for key, value in mapping.items() if isinstance(value, str)}


def _decode_data(unread: UnreadCollector, document: Document) -> dict[str, Secret]:
    """Decode the base64 data of a Secret. A value that is not text (a DER certificate) is left out, since a body is
    JSON.
    """
    values = {}
    for key, text in _read_texts(unread, document, "data").items():
        try:
            # Kubernetes allows line breaks in base64. Without `validate`, Python skips letters that are not base64.
            values[key] = Secret(base64.b64decode("".join(text.split()), validate=True).decode())
        except binascii.Error:
            hint = "Encode it, or move it to stringData unencoded."
            message = f"The value of {key} under data is not base64."
            unread.problems.append(_make_problem(document, "InvalidData", ("data", key), message, hint))
        except UnicodeDecodeError:
            if key == CERTIFICATE:  # a PKCS#12 certificate stays in base64
                values[key] = Secret("".join(text.split()))
                continue
            message = f"The value of {key} under data is not UTF-8 text; no resource can use it."
            hint = "Ignore this if no manifest references it."
            problem = _make_problem(document, "BinarySecret", ("data", key), message, hint)
            unread.problems.append(replace(problem, level=Level.WARNING))
    return values


def _make_problem(document: Document, code: str, where: FieldPath, message: str, hint: str) -> Problem:
    line, field_ = document.line(*where), format_field(where)
    return Problem(code=code, message=message, hint=hint, path=document.path, line=line, field=field_)
