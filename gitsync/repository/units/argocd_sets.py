"""Reads Argo CD's ApplicationSets: the Applications that their generators and templates make.

Lists, folders and files of this repository are known without a cluster. Other generators are named as not followed
(https://argo-cd.readthedocs.io/en/stable/operator-manual/applicationset/Generators/).
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final

from gitsync.desired.manifests.expansions import MAX_CHARACTERS, ExpansionBudget
from gitsync.desired.manifests.yaml_documents import Document, read_documents
from gitsync.desired.problems.field_path import FieldPath, format_field
from gitsync.errors import TemplateError, TooLargeExpansionError
from gitsync.model.problem import Level, Problem
from gitsync.repository.units.argocd_applications import FINALIZER, NAMESPACE, check_glob, read_application
from gitsync.repository.units.argocd_templates import Renderer, normalize
from gitsync.repository.units.controller_objects import MOST
from gitsync.repository.units.declarations import Declarations, join_declarations
from gitsync.repository.units.object_fields import (
    Controller,
    InvalidFieldError,
    SourceView,
    find_field,
    read_key,
    read_list,
    read_mapping,
    read_optional,
    read_switch,
    read_text,
)
from gitsync.repository.units.tree import find_folder, list_folders
from gitsync.repository.units.unit_files import Matcher, compile_glob

_REASONS: Final = {
    "clusterDecisionResource": "queries a cluster",
    "clusters": "queries a cluster",
    "matrix": "combines others",
    "merge": "combines others",
    "plugin": "queries a service",
    "pullRequest": "queries a service",
    "scmProvider": "queries a service",
}
"""Why generators are not followed."""

_FOLLOW_NONE: Final = "List its results as `list` elements, or commit the Applications."

Parameters = Mapping[str, Any]
"""The values for templates: texts by name, or with `goTemplate: true` any value."""


class _NotFollowedError(Exception):
    """Ends one generator. `where` is the field that gitsync cannot evaluate."""

    def __init__(self, where: FieldPath, reason: str) -> None:
        super().__init__(reason)
        self.where, self.reason = where, reason


@dataclass(frozen=True, slots=True, kw_only=True)
class _ApplicationSet:
    """An ApplicationSet, which makes Applications of a template."""

    document: Document
    view: SourceView
    key: str  # its namespace and name, for messages
    is_go: bool  # its templates are those of Go, not of fasttemplate
    finalizers: Sequence[str]  # those of the Applications that it makes

    def render(self, renderer: Renderer, parameters: Parameters) -> Document:
        """Render one Application, with the lines of the template."""
        where: FieldPath = ("spec", "template")
        rendered = renderer.render(read_mapping(self.document, where), parameters)
        metadata = rendered.get("metadata") if isinstance(rendered.get("metadata"), dict) else {}
        own = find_field(self.document, ("metadata", "namespace"))
        return replace(
            self.document,
            value={
                "apiVersion": self.document.value["apiVersion"],
                "kind": "Application",
                **rendered,
                "metadata": {**metadata, "namespace": own or NAMESPACE, "finalizers": self.finalizers},
            },
            lines=self.document.lines.below(where),
        )

    def skip(self, where: FieldPath, reason: str) -> Declarations:
        problem = Problem(
            code="GeneratorNotFollowed",
            level=Level.WARNING,
            message=f"ApplicationSet {self.key}: {format_field(where)} is not followed, since it {reason}.",
            hint=_FOLLOW_NONE,
            path=self.document.path,
            line=self.document.line(*where),
            field=format_field(where),
        )
        return Declarations(problems=(problem,))


def read_application_set(document: Document, view: SourceView) -> Declarations:
    """Return what the Applications that an ApplicationSet makes declare. Raises InvalidFieldError if it cannot be
    read.
    """
    appset = _ApplicationSet(
        document=document,
        view=view,
        key=str(read_key(document, NAMESPACE)),
        is_go=read_switch(document, ("spec", "goTemplate")),
        finalizers=[] if read_switch(document, ("spec", "syncPolicy", "preserveResourcesOnDeletion")) else [FINALIZER],
    )
    if read_optional(document, ("spec", "templatePatch")):
        return appset.skip(("spec", "templatePatch"), "is not one of the templates that gitsync renders")
    return join_declarations(_read_generators(appset))


def _read_generators(appset: _ApplicationSet) -> Iterator[Declarations]:
    renderer = Renderer(appset.is_go, appset.view.budget)
    left = MOST + 1  # the one too many is reported
    for index in range(len(read_list(appset.document, ("spec", "generators")))):
        try:
            for parameters in islice(_generate(appset, ("spec", "generators", index), renderer), left):
                left -= 1
                yield _read_generated(appset.render(renderer, parameters), appset.view)
        except _NotFollowedError as error:
            yield appset.skip(error.where, error.reason)
        except TemplateError as error:
            message, hint = str(error), "Write the template without it, or commit the Applications that it renders."
            raise InvalidFieldError(("spec", "template"), f"ApplicationSet {appset.key}: {message}", hint) from error
        except TooLargeExpansionError as error:
            message = f"the templates of the ApplicationSets render more than {MAX_CHARACTERS:,} characters."
            hint = "Shorten them, or the values that they use."
            raise InvalidFieldError(("spec", "template"), f"ApplicationSet {appset.key}: {message}", hint) from error


def _read_generated(document: Document, view: SourceView) -> Declarations:
    """Read what one made Application declares. One that cannot be read is a problem of its own."""
    try:
        return read_application(document, view)
    except InvalidFieldError as error:
        return Declarations(problems=(ARGO_CD.explain(error, document),))


def _generate(appset: _ApplicationSet, where: FieldPath, renderer: Renderer) -> Iterator[Parameters]:
    generator = read_mapping(appset.document, where)
    kinds = sorted(generator.keys() - {"selector"})
    name = str(kinds[0]) if len(kinds) == 1 else ""
    if not name:
        raise InvalidFieldError(
            where, f"{format_field(where)} must have exactly one generator.", "Use one entry for each generator."
        )
    if name not in _GENERATORS:
        raise _NotFollowedError((*where, name), _REASONS.get(name, "is not known"))
    path = (*where, name)
    for field_path in ((*where, "selector"), (*path, "template")):
        if find_field(appset.document, field_path):
            raise _NotFollowedError(field_path, "is not supported")
    values = read_mapping(appset.document, (*path, "values"))
    for parameters in _GENERATORS[name](appset, path):
        rendered = renderer.render(values, parameters)
        own = {"values": rendered} if appset.is_go else {f"values.{key}": value for key, value in rendered.items()}
        yield {**parameters, **own} if values else parameters


def _list_elements(appset: _ApplicationSet, where: FieldPath) -> Iterator[Parameters]:
    if find_field(appset.document, (*where, "elementsYaml")):
        raise _NotFollowedError((*where, "elementsYaml"), "combines others")
    elements = (*where, "elements")
    for index in range(len(read_list(appset.document, elements))):
        element = read_mapping(appset.document, (*elements, index))
        yield element if appset.is_go else _flatten(element, appset.view.budget)


def _list_git(appset: _ApplicationSet, where: FieldPath) -> Iterator[Parameters]:
    url, revision = (read_optional(appset.document, (*where, field)) for field in ("repoURL", "revision"))
    if not appset.view.repository.has_url(url):
        raise _NotFollowedError((*where, "repoURL"), f"reads {url}, which is not this repository")
    if not appset.view.repository.has_revision(revision):
        raise _NotFollowedError((*where, "revision"), f"reads the revision {revision}, not the one that is read here")
    prefix = read_optional(appset.document, (*where, "pathParamPrefix"))
    paths = appset.view.reader.tree.paths
    if find_field(appset.document, (*where, "directories")) is not None:
        folders = sorted({folder for path in paths for folder in list_folders(path) if folder})
        for folder in _select(appset, (*where, "directories"), folders, crosses_folders=False):
            yield _describe_path(folder, {}, prefix, is_go=appset.is_go)
        return
    for path in _select(appset, (*where, "files"), sorted(paths), crosses_folders=True):
        name = posixpath.basename(path)
        file = {"filename": name, "filenameNormalized": normalize(name)}
        for content in _read_parameters(appset, path):
            yield {**content, **_describe_path(find_folder(path), file, prefix, is_go=appset.is_go)}


def _select(appset: _ApplicationSet, where: FieldPath, paths: list[str], *, crosses_folders: bool) -> Iterator[str]:
    """Select the paths that one of the entries matches, and no entry excludes."""
    included: dict[int, Matcher] = {}
    excluded: list[Matcher] = []
    for index in range(len(read_list(appset.document, where))):
        glob = read_text(appset.document, (*where, index, "path"))
        check_glob(glob, (*where, index, "path"))
        matches = compile_glob(glob.strip("/"), crosses_folders=crosses_folders)
        if read_switch(appset.document, (*where, index, "exclude")):
            excluded.append(matches)
        else:
            included[index] = matches
    unused = set(included)
    for path in paths:
        found = {index for index, matches in included.items() if matches(path)}
        unused -= found
        if found and not any(matches(path) for matches in excluded):
            yield path
    # An entry that matches none may be a slip.
    if unused:
        raise _NotFollowedError((*where, min(unused), "path"), "matches nothing in this source")


def _read_parameters(appset: _ApplicationSet, path: str) -> Iterator[Parameters]:
    """Read the parameters in a file: a mapping, or a list of mappings."""
    appset.view.used.add(path)
    contents = read_documents(path, appset.view.reader.tree.read([path])[path])
    value = contents.documents[0].value if contents.documents else {}
    for each in value if isinstance(value, list) else [value]:
        if contents.problems or not isinstance(each, dict):
            raise InvalidFieldError(("spec", "generators"), f"{path} is not a mapping of parameters.", f"Fix {path}.")
        yield each if appset.is_go else _flatten(each, appset.view.budget)


def _describe_path(folder: str, file: Mapping[str, str], prefix: str, *, is_go: bool) -> Parameters:
    """List the parameters of a path: of a folder, or of a file and its folder."""
    name, steps = posixpath.basename(folder), folder.split("/")
    names = {"basename": name, "basenameNormalized": normalize(name), **file}
    if is_go:
        path = {"path": {"path": folder, "segments": steps, **names}}
        return {prefix: path} if prefix else path
    start = f"{prefix}.path" if prefix else "path"
    return {
        start: folder,
        **{f"{start}[{index}]": step for index, step in enumerate(steps)},
        **{f"{start}.{key}": value for key, value in names.items()},
    }


def _flatten(value: Any, budget: ExpansionBudget, name: str = "") -> dict[str, str]:
    """Flatten a value to texts by their paths, such as `a.b` and `a.0`."""
    budget.spend(len(name) + 1)
    if isinstance(value, dict | list):
        inner = value.items() if isinstance(value, dict) else enumerate(value)
        return {
            path: text
            for key, value in inner
            for path, text in _flatten(value, budget, f"{name}.{key}" if name else str(key)).items()
        }
    text = str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)
    return {name: text}


_GENERATORS: Final[Mapping[str, Callable[[_ApplicationSet, FieldPath], Iterator[Parameters]]]] = {
    "git": _list_git,
    "list": _list_elements,
}


ARGO_CD: Final = Controller(
    name="Argo CD",
    word=b"argoproj.io/v",
    pattern=re.compile(rb"(?s)\A(?=.*\bargoproj\.io/v)(?=.*\bkind[\"']?:\s*[\"']?Application(?:Set)?\b)"),
    readers={
        ("argoproj.io", "Application"): read_application,
        ("argoproj.io", "ApplicationSet"): read_application_set,
    },
    invalid="InvalidApplication",
)
