"""Reads the objects of controllers in files: what they declare, with the variables of the units that they are in
replaced.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Final

from gitsync.desired.manifests.document_forms import split_list
from gitsync.desired.manifests.headers import find_placeholder, is_object
from gitsync.desired.manifests.origins import Origins
from gitsync.desired.manifests.units import find_own_path
from gitsync.desired.manifests.yaml_documents import Document, read_documents
from gitsync.model.problem import Level, Problem
from gitsync.model.unit import Substitution, Unit
from gitsync.model.variables import MARK, VariableFault
from gitsync.repository.units.argocd_sets import ARGO_CD
from gitsync.repository.units.declarations import BrokenObject, Declarations, join_declarations
from gitsync.repository.units.flux_objects import FLUX
from gitsync.repository.units.flux_variables import FluxVariables, ReplacedObject
from gitsync.repository.units.object_fields import Controller, InvalidFieldError, SourceView, find_type

CONTROLLERS: Final = (FLUX, ARGO_CD)


def read_declarations(
    files: Mapping[str, bytes], units: Mapping[str, Unit], variables: FluxVariables, view: SourceView
) -> Declarations:
    """Return what the objects of controllers in files declare. `files` maps a path to its content, `units` that of a
    built one to its unit, `variables` has the values of variables in them, and `view` what they may refer to. A text
    that does not parse is a problem if it mentions a controller.
    """
    found = join_declarations(
        _add_overlay(declarations, path, units.get(path))
        for path, content in sorted(files.items())
        if (mentioned := [each for each in CONTROLLERS if each.is_mentioned(content)])
        for declarations in _read_file(path, content, units.get(path), mentioned, variables, view)
    )
    return replace(found, units=tuple(sorted(found.units, key=lambda declared: (declared.declared_at, declared.key))))


def may_declare(contents: Iterable[bytes]) -> bool:
    """Return whether one of these files may have objects of a controller."""
    return any(controller.is_mentioned(content) for content in contents for controller in CONTROLLERS)


def _read_file(
    path: str,
    content: bytes,
    unit: Unit | None,
    mentioned: list[Controller],
    variables: FluxVariables,
    view: SourceView,
) -> Iterator[Declarations]:
    own_path = find_own_path(path, unit)
    contents = read_documents(own_path, content)
    yield Declarations(problems=tuple(map(mentioned[0].explain_hidden, contents.problems[:1])))
    values, origins = variables.find(unit), Origins()
    for document in chain.from_iterable(map(split_list, contents.documents)):
        type_ = find_type(document) if is_object(document.value) else None
        controller = next((each for each in CONTROLLERS if type_ in each.readers), None)
        if controller is None:
            continue
        # A template of something else, with names that are filled in later.
        if template := find_placeholder(document):
            yield Declarations(problems=(replace(template, level=Level.NOTE),))
            continue
        located = origins.locate(document, unit) if unit and own_path == path else document
        if values is None or type_ in controller.as_written:
            yield _read_object(located, controller, view)
            continue
        replaced = variables.replace(located, values, unit)
        found = _read_object(replaced.document, controller, view)
        yield Declarations(is_unknown=replaced.is_unknown)
        yield _break(found, replaced.problems) if replaced.problems else _hand_on(found, replaced)


def _add_overlay(found: Declarations, path: str, unit: Unit | None) -> Declarations:
    """Add the kustomization or chart that the file is the result of, if it is one."""
    if unit is None or not unit.renders or find_own_path(path, unit) != path:
        return found
    return replace(
        found,
        units=tuple(replace(declared, overlay=unit.file) for declared in found.units),
        problems=tuple(replace(problem, unit=unit.file) for problem in found.problems),
        broken=tuple(
            replace(broken, problems=tuple(replace(each, unit=unit.file) for each in broken.problems))
            for broken in found.broken
        ),
    )


def _break(found: Declarations, problems: tuple[Problem, ...]) -> Declarations:
    """Break an object that has these problems: keep what it is built from, or which source it is."""
    named = (*found.repositories, *found.charts)
    sources = (
        tuple(each.source for each in found.units) or tuple(chain(*(each.sources for each in found.broken))) or named
    )
    if not sources:
        return Declarations(problems=problems)
    return Declarations(broken=(BrokenObject(sources=sources, problems=problems, is_source=sources == named),))


def _hand_on(found: Declarations, replaced: ReplacedObject) -> Declarations:
    """Give the unit of an object the variables that stand for missing ones."""
    if not replaced.missing:
        return found
    return replace(
        found,
        units=tuple(
            replace(declared, unit=_add_missing(declared.unit, replaced.missing), notes=replaced.notes)
            for declared in found.units
        ),
    )


def _add_missing(unit: Unit, missing: Mapping[str, VariableFault]) -> Unit:
    own = unit.options.substitution
    marks = {name: "" for name in missing if name.startswith(MARK)}
    # A unit that replaces no variables has these alone.
    substitution = own or Substitution(labels={name: missing[name].name for name in marks})
    substitution = replace(substitution, values={**substitution.values, **marks}, missing=missing)
    return replace(unit, options=replace(unit.options, substitution=substitution))


def _read_object(document: Document, controller: Controller, view: SourceView) -> Declarations:
    try:
        return controller.readers[find_type(document)](document, view)
    except InvalidFieldError as error:
        problems = (controller.explain(error, document),)
        if error.source is None:
            return Declarations(problems=problems)
        return Declarations(broken=(BrokenObject(sources=(error.source,), problems=problems),))
