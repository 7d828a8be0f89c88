"""Reads the manifests in files: resources, the Secrets and ConfigMaps that they use, and documents of other tools.

This module only sorts: `yaml_documents` parses, `headers` reads headers, `validation` checks resources. A document that
cannot be read becomes a problem, and does not stop the others.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from gitsync.manifests.aso_groups import is_ours, mentions_aso
from gitsync.manifests.capz import CapzObjects
from gitsync.manifests.credential_secret import CERTIFICATE
from gitsync.manifests.document_forms import CIPHERTEXT, make_encrypted, split_list
from gitsync.manifests.expansions import ExpansionBudget
from gitsync.manifests.headers import Header, is_object, read_header
from gitsync.manifests.origins import Origins
from gitsync.manifests.units import SUFFIXES, find_own_path, is_built_unit
from gitsync.manifests.unparsed_text import find_likely_header, may_be_object, may_be_ours
from gitsync.manifests.unread_documents import (
    UnreadContent,
    find_embedded,
    find_hook,
    find_templates,
    list_hidden,
    list_misspelt_fields,
    mark_followed,
    reject,
    report_templates,
    skip,
    skip_hook,
)
from gitsync.manifests.used_objects import ConfigMapVersions, FeedingObject, UsedObjects, find_feeding_object
from gitsync.manifests.variables import VariableReader, VariableSubject
from gitsync.manifests.yaml_documents import AliasBudget, Document, read_documents
from gitsync.model.export import OWNER, Address, ObjectKind
from gitsync.model.gvk import Key
from gitsync.model.manifests import DeclaredObject, Encrypted, Manifests, UnreadDocument
from gitsync.model.problem import Level, Problem, SourceLocation
from gitsync.model.resource import Resource, Wrapper
from gitsync.model.secret import Secret
from gitsync.model.unit import Unit
from gitsync.model.variables import NO_VARIABLES, VariableSet
from gitsync.problems.field_path import FieldPath, find_member, format_field

MAX_PROBLEMS = 1000
"""The most problems of one file, without those of resources: a file may have a million documents."""

UNPARSED = "text that is not JSON"
MAPPING = "Write one `key: value` per line."
REFER = "Move them to a Secret, encrypt it, and reference it."
KEEP_ONE = "Remove one of them; until then the first is used."


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
    declarers = frozenset(SourceLocation(unit.file, unit.line) for unit in units.values() if unit.is_declared)
    variable_reader = VariableReader(variables, budget or ExpansionBudget())
    sorter = _Sorter(namespace, variable_reader, CapzObjects(namespace), versions, declarers, tuple(units.values()))
    readable = {path for path in files if path in units or path.endswith(SUFFIXES)}
    templates = find_templates(readable)
    sorter.account_for(report_templates(templates, files))
    for path in sorted(readable - templates.keys()):
        sorter.read(path, files[path], units.get(path))
    sorter.unwrap()
    return sorter.finish()


def _set_levels(problems: Sequence[Problem], path: str, text: bytes) -> tuple[Problem, ...]:
    """Set the level of the problems of a file that does not parse: warnings if nothing shows that it is for gitsync,
    and none for JSON that is not a Kubernetes object. YAML may be the rest of a manifest, so its warnings still hold
    deletes.
    """
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
    versions: ConfigMapVersions
    declarers: frozenset[SourceLocation] = frozenset()  # the locations of objects whose unit was read
    units: tuple[Unit, ...] = ()  # those of the source
    resources: list[Resource] = field(default_factory=list)  # the documents that became a resource
    config_maps: dict[tuple[str, str], Mapping[str, str]] = field(default_factory=dict)
    secrets: dict[tuple[str, str], Mapping[str, Secret]] = field(default_factory=dict)
    encrypted: dict[Address, Encrypted] = field(default_factory=dict)
    """The Secrets and ConfigMaps that are encrypted with SOPS."""

    declared: dict[Address, DeclaredObject] = field(default_factory=dict)
    """All Secrets and ConfigMaps, encrypted or not."""

    namespaces: dict[str, Mapping[str, str]] = field(default_factory=dict)
    """The annotations of Namespace manifests, by name."""

    problems: list[Problem] = field(default_factory=list)  # those without a resource
    unread: list[UnreadDocument] = field(default_factory=list)
    """The documents that are not for gitsync and the rejected ones."""

    unit: Unit | None = None  # of the file that is read
    wrapper: Wrapper | None = None  # the CAPZ object around the document that is read
    origins: Origins = field(default_factory=Origins)  # what set each value of a result that a unit built
    keepers: dict[tuple[str, ...], Unit | None] = field(default_factory=dict)
    """The unit that each ConfigMap, Secret and Namespace was read from, by kind and name."""

    aliases: AliasBudget = field(default_factory=AliasBudget)  # the aliases of YAML that all documents together may use
    ambiguous: set[Address] = field(default_factory=set)
    """ConfigMaps and Secrets that are declared again with other values."""

    rejected: dict[Key, SourceLocation] = field(default_factory=dict)
    """The locations of unusable documents, by key without namespace."""

    about: dict[int, FeedingObject | bytes] = field(default_factory=dict)
    """The subjects of problems, by their positions: objects that resources may use, or texts that do not parse."""

    left: dict[int, FeedingObject] = field(default_factory=dict)
    """Rejected documents that resources may use, by their positions."""

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
        problems, unread = len(self.problems), len(self.unread)
        yield
        if unit is not None:
            renderers = (unit.name,) if unit.renders else ()
            self.problems[problems:] = [
                replace(problem, unit=unit.name, rendered_by=renderers) for problem in self.problems[problems:]
            ]
            self.unread[unread:] = [replace(document, unit=unit.name) for document in self.unread[unread:]]

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
        before = len(self.problems)
        problems = _set_levels(contents.problems, path, content)
        if contents.problems and not problems:
            # Not a problem, but unread: it may still be the reason to hold a delete.
            line = contents.problems[0].line
            self.unread.append(UnreadDocument(source=SourceLocation(path, line), form=UNPARSED))
        self.note_unparsed(path, contents.unparsed[:MAX_PROBLEMS])
        # It may be a Secret or a ConfigMap, which matters only if a resource uses its name.
        may_be_used = bool(problems) and may_be_ours(content) and not mentions_aso([content])
        for problem in problems[:MAX_PROBLEMS]:
            if may_be_used:
                self.about[len(self.problems)] = content
            self.reject_text(problem)
        if len(problems) > MAX_PROBLEMS:
            self.reject_text(_make_too_many(path, problems[MAX_PROBLEMS].line))
            return
        for single in chain.from_iterable(map(split_list, contents.documents)):
            if len(self.problems) - before >= MAX_PROBLEMS:
                self.reject_text(_make_too_many(path, single.line()))
                return
            located = self.origins.locate(single, self.unit) if self.unit and is_built else single
            # Helm and Argo CD run a hook as a job of the release, and keep it out of the estate.
            if annotation := find_hook(located, self.unit):
                self.account_for(skip_hook(located, annotation))
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
                self.account_for(skip(document))
            return
        # A unit may set the namespace of all that it builds.
        namespace = (self.unit and self.unit.namespace) or self.namespace
        if take is None:
            if read := self.read_header(document, namespace, resource=len(self.resources)):
                self.add_resource(*read)
            return
        before, left, about = len(self.problems), len(self.unread), find_feeding_object(value, namespace)
        if read := self.read_header(document, namespace, resource=None):
            document, header = read
            about = FeedingObject(header.gvk.kind, header.namespace, header.name)
            self.problems.extend([*document.problems, *header.problems])
            take(self, document, header)
        self.about |= dict.fromkeys(range(before, len(self.problems)), about)
        self.left |= {index: about for index in range(left, len(self.unread)) if self.unread[index].kind}
        self.problems.extend(find_embedded(document))

    def read_header(
        self, document: Document, namespace: str, *, resource: int | None
    ) -> tuple[Document, Header] | None:
        """Replace the variables of a document, and read its header; None if it is rejected. `resource` is the position
        that a resource will have.
        """
        subject = VariableSubject(document=document, unit=self.unit, resource=resource, namespace=namespace)
        replaced = self.variables.replace(subject)
        if isinstance(replaced, UnreadContent):
            self.account_for(replaced)
            return None
        header = read_header(replaced, namespace)
        if isinstance(header, Problem):
            # The next resource gets this position, and must not get the problems of this document.
            self.variables.uses.detach(len(self.resources))
            header = replace(header, is_unread=resource is not None)
            self.account_for(reject(replaced, *(list_misspelt_fields(replaced) or (header,)), *replaced.problems))
            return None
        self.unread.extend(list_hidden(replaced))
        return replaced, header

    def note_unparsed(self, path: str, texts: Iterable[tuple[int, bytes]]) -> None:
        """Note the resources that texts without a valid syntax declare, as far as they show them."""
        for first_line, text in texts:
            if header := find_likely_header(text):
                key = _make_key(header.api_version, header.kind, header.name)
                self.rejected.setdefault(key, SourceLocation(path, first_line + header.line))

    def reject_text(self, problem: Problem) -> None:
        """Account for a text without a readable document."""
        self.problems.append(problem)
        self.unread.append(UnreadDocument(source=SourceLocation(problem.path, problem.line), is_rejected=True))

    def account_for(self, leftover: UnreadContent) -> None:
        self.problems.extend(leftover.problems)
        self.unread.extend(leftover.unread)

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
            self.keep_encrypted(document, header, ObjectKind.CONFIG_MAP)
            return
        data = _read_texts(self, document, "data")
        address = Address(ObjectKind.CONFIG_MAP, header.namespace, header.name)
        if self.versions.add(address, document, self.unit, data):
            if self.config_maps[address.namespace, address.name] != data:
                self.ambiguous.add(address)
            return
        self.keep(self.config_maps, document, header, data)

    def add_secret(self, document: Document, header: Header) -> None:
        if document.seal:
            self.keep_encrypted(document, header, ObjectKind.SECRET)
            return
        # As in Kubernetes, stringData wins over data.
        plain = {key: Secret(text) for key, text in _read_texts(self, document, "stringData").items()}
        self.keep(self.secrets, document, header, _decode_data(self, document) | plain)

    def add_namespace(self, document: Document, header: Header) -> None:
        name = header.name
        if name in self.namespaces and not self.is_repeat(
            ("Namespace", name), self.namespaces[name], header.annotations
        ):
            self.reject_repeated(f"Namespace {name}", document, is_same=self.namespaces[name] == header.annotations)
        self.namespaces.setdefault(name, header.annotations)
        self.keepers.setdefault(("Namespace", name), self.unit)

    def is_repeat(self, object_name: tuple[str, ...], kept: Any, value: Any) -> bool:
        """Return whether a unit only repeats the value of another: kustomizations may share a base."""
        keeper = self.keepers.get(object_name)
        # Overlays of one base build the same object, each for itself.
        return is_built_unit(keeper) and is_built_unit(self.unit) and keeper != self.unit and kept == value

    def keep(
        self,
        objects: dict[tuple[str, str], Mapping[str, Any]],
        document: Document,
        header: Header,
        data: Mapping[str, Any],
    ) -> None:
        """Keep the first of two objects with one name, and report the second."""
        object_name = (header.gvk.kind, header.namespace, header.name)
        if self.is_repeat(object_name, objects.get(object_name[1:]), data):
            return
        if self.declare(document, header, is_same=objects.get(object_name[1:]) == data):
            objects[object_name[1:]] = data
            self.keepers[object_name] = self.unit
        elif objects.get(object_name[1:]) != data:
            self.ambiguous.add(Address(ObjectKind(header.gvk.kind), header.namespace, header.name))

    def keep_encrypted(self, document: Document, header: Header, object_kind: ObjectKind) -> None:
        address = Address(object_kind, header.namespace, header.name)
        if self.declare(document, header, owner=header.annotations.get(OWNER, "")):
            self.encrypted[address] = make_encrypted(document)
        else:
            self.ambiguous.add(address)

    def declare(self, document: Document, header: Header, owner: str = "", *, is_same: bool = False) -> bool:
        """Note an object, unless another document declares it already: then report the document, and return False.
        `is_same`: both documents have the same content.
        """
        address = Address(ObjectKind(header.gvk.kind), header.namespace, header.name)
        if address not in self.declared:
            self.declared[address] = DeclaredObject(source=SourceLocation(document.path, document.line()), owner=owner)
            return True
        self.reject_repeated(str(address), document, is_same=is_same)
        return False

    def reject_repeated(self, title: str, document: Document, *, is_same: bool = False) -> None:
        message = f"{title} is declared twice."
        problem = _make_problem(document, "DuplicateManifest", ("metadata", "name"), message, KEEP_ONE)
        self.account_for(reject(document, replace(problem, level=Level.NOTE) if is_same else problem))

    def finish(self) -> Manifests:
        for repeated in self.versions.list_repeated(resource.key.namespace for resource in self.resources):
            address = repeated.address
            self.about[len(self.problems)] = FeedingObject(address.object_kind, address.namespace, address.name)
            with self.within(repeated.unit):
                self.reject_repeated(str(address), repeated.document)
        # All resources are known only here, and with them the objects that they use.
        used = UsedObjects(self.resources, self.units)
        for position, about in self.about.items():
            if not (used.are_named_in(about) if isinstance(about, bytes) else used.has(about)):
                self.problems[position] = replace(self.problems[position], level=Level.NOTE)
        for position, object_ in self.left.items():
            if not used.has(object_):
                self.unread[position] = replace(self.unread[position], is_rejected=False)
        for document in self.unread:
            if document.is_rejected and document.kind:
                self.rejected.setdefault(_make_key(document.api_version, document.kind, document.name), document.source)
        self.problems.extend(self.variables.uses.attach(self.resources, used.has, self.versions.by_address))
        return Manifests(
            resources=tuple(sorted(self.resources, key=lambda r: (r.key, r.gvk.version, r.source))),
            config_maps=self.config_maps,
            secrets=self.secrets,
            encrypted=self.encrypted,
            declared=self.declared,
            namespaces=self.namespaces,
            problems=tuple(sorted(self.problems, key=lambda p: p.order)),
            unread=mark_followed(self.unread, self.declarers),
            variables={unit: frozenset(names) for unit, names in self.variables.names.items()},
            shown=tuple(self.variables.shown),
            hidden=tuple(self.variables.hidden),
            ambiguous=frozenset(self.ambiguous),
            rejected=self.rejected,
            versions={address: tuple(versions) for address, versions in self.versions.by_address.items()},
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


def _make_key(api_version: str, kind: str, name: str) -> Key:
    """Make the key of a document that is not read, without the namespace, which its unit may set."""
    return Key(api_version.rpartition("/")[0], kind, "", name)


def _read_texts(sorter: _Sorter, document: Document, member: str) -> dict[str, str]:
    """Read a mapping of texts, such as the data of a ConfigMap. A value that is not text is reported, but not shown."""
    mapping = document.value.get(member)
    if mapping is None:
        return {}
    if not isinstance(mapping, dict):
        sorter.problems.append(
            _make_problem(document, "InvalidData", (member,), f"{member} is not a mapping.", MAPPING)
        )
        return {}
    for key in [key for key, value in mapping.items() if not isinstance(value, str)]:
        message = f"The value of {key} under {member} is not text."
        sorter.problems.append(_make_problem(document, "InvalidData", (member, key), message, "Quote it."))
    return {key: value for key, value in mapping.items() if isinstance(value, str)}


def _decode_data(sorter: _Sorter, document: Document) -> dict[str, Secret]:
    """Decode the base64 data of a Secret. A value that is not text (a DER certificate) is left out, since a body is
    JSON.
    """
    values = {}
    for key, text in _read_texts(sorter, document, "data").items():
        try:
            values[key] = Secret(base64.b64decode("".join(text.split()), validate=True).decode())
        except binascii.Error:
            hint = "Encode it, or move it to stringData unencoded."
            message = f"The value of {key} under data is not base64."
            sorter.problems.append(_make_problem(document, "InvalidData", ("data", key), message, hint))
        except UnicodeDecodeError:
            if key == CERTIFICATE:  # a PKCS#12 certificate stays in base64
                values[key] = Secret("".join(text.split()))
                continue
            message = f"The value of {key} under data is not UTF-8 text; no resource can use it."
            hint = "Ignore this if no manifest references it."
            problem = _make_problem(document, "BinarySecret", ("data", key), message, hint)
            sorter.problems.append(replace(problem, level=Level.WARNING))
    return values


def _make_problem(document: Document, code: str, where: FieldPath, message: str, hint: str) -> Problem:
    line, field_ = document.line(*where), format_field(where)
    return Problem(code=code, message=message, hint=hint, path=document.path, line=line, field=field_)
