"""Replaces variables in the Flux objects that a unit builds: Flux replaces them there as in all other documents.

Following needs the values before the sources of a run are open, so they come from the operator, the unit, and the
ConfigMaps that the source declares. Secrets give none: reports show paths and names.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from gitsync.desired.manifests.expansions import ExpansionBudget
from gitsync.desired.manifests.reader import read_manifests
from gitsync.desired.manifests.substitution import VariableUse, substitute
from gitsync.desired.manifests.used_objects import find_in_cluster
from gitsync.desired.manifests.variable_reader import make_too_large
from gitsync.desired.manifests.variable_values import (
    DeclaredConfigMaps,
    ReferencedValues,
    VariablePosition,
    VariableUses,
    describe,
    describe_unset,
    join_lines,
    make_variables,
)
from gitsync.desired.manifests.yaml_documents import Document, read_documents
from gitsync.desired.problems.field_path import FieldPath, find_member
from gitsync.errors import TooLargeExpansionError
from gitsync.model.export import Address, ObjectKind
from gitsync.model.manifests import ConfigMapVersion
from gitsync.model.problem import Level, Problem, SourceLocation
from gitsync.model.secret import Secret
from gitsync.model.unit import Unit, ValuesReference
from gitsync.model.variables import MARK, VariableFault, VariableValues, replace_markers

CHANGES: Final = ("targetNamespace", "namePrefix", "nameSuffix", "patches", "images", "components", "commonMetadata")
"""Fields of a Kustomization that change what its folder declares."""

_READ: Final[frozenset[FieldPath]] = frozenset(
    {("apiVersion",), ("kind",), ("metadata", "name"), ("metadata", "namespace")}
    | {("spec", name) for name in ("path", "sourceRef", "postBuild", "dependsOn", "prune", "suspend", "url", *CHANGES)}
    | {("spec", name) for name in ("chart", "chartRef", "releaseName", "values", "valuesFrom", "postRenderers")}
)
"""The fields that decide what is built. A variable in another one does not matter."""

_HANDED_ON: Final[frozenset[FieldPath]] = frozenset(
    ("spec", name) for name in ("patches", "images", "commonMetadata", "postBuild")
)
_HOLDER: Final = re.compile(rb"kind[\"']?:\s*[\"']?(?:ConfigMap|Secret)\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplacedObject:
    """A document with its variables replaced."""

    document: Document
    problems: tuple[Problem, ...] = ()  # what is wrong with the variables
    is_unknown: bool = False  # a ConfigMap which may give a value was not found yet
    missing: Mapping[str, VariableFault] = field(default_factory=dict)
    """Variables of the unit that the object declares: each stands for another one, without a value, in what the object
    hands on.
    """

    notes: tuple[Problem, ...] = ()  # name the variables in `missing`


@dataclass(slots=True)
class FluxVariables:
    """The variables of the units of one source. Mutable: ConfigMaps and Secrets are added as units are built."""

    given: tuple[tuple[str, str], ...] = ()  # the values of the operator
    budget: ExpansionBudget = field(default_factory=ExpansionBudget)
    _unread: list[tuple[str, bytes, Unit | None]] = field(default_factory=list)
    """The files of results that were not searched yet: path, content, unit."""

    _config_maps: dict[Address, list[ConfigMapVersion]] = field(default_factory=lambda: defaultdict(list))
    """All declarations of each, since several clusters may have one of the same name."""

    _secrets: dict[Address, list[Mapping[str, Secret]]] = field(default_factory=lambda: defaultdict(list), repr=False)
    """All declarations of each."""

    def declare(self, files: Mapping[str, bytes], units: Mapping[str, Unit]) -> None:
        """Add the ConfigMaps and Secrets of files. They are read once a unit needs one."""
        self._unread += [(path, text, units.get(path)) for path, text in files.items() if _HOLDER.search(text)]

    def find(self, unit: Unit | None) -> VariableValues | None:
        """Find the variables of a unit (None for plain files); None if its documents are left as they are."""
        substitution = unit.options.substitution if unit else None
        references = {
            reference: self._look_up(reference) for reference in (substitution.references if substitution else ())
        }
        return make_variables((unit,) if unit else (), self.given, references).find(unit)

    def replace(self, document: Document, values: VariableValues, unit: Unit | None) -> ReplacedObject:
        """Replace the variables of one Flux object. What a Kustomization hands on, such as a patch, keeps a marker
        where one has no value: it matters where the text ends up.
        """
        try:
            substituted = substitute(document, replace(values, marks_missing=not values.is_partial), self.budget, unit)
        except TooLargeExpansionError:
            return ReplacedObject(document=document, problems=(make_too_large(document, "Flux's objects"),))
        uses = [use for use in substituted.uses if use.path[:1] in _READ or use.path[:2] in _READ]
        if values.is_partial:
            uses = [use for use in uses if use.variable.name in values.known]  # the others stay as they are
        handed_on = [use for use in uses if _is_handed_on(use, substituted.document.value)]
        unset = _list_unset([use for use in uses if use not in handed_on], document, values, unit, self._config_maps)
        notes = _list_unset(handed_on, document, values, unit, self._config_maps)
        return ReplacedObject(
            document=substituted.document,
            problems=(*substituted.document.problems[len(document.problems) :], *unset),
            is_unknown=any(use.variable.is_unread for use in uses),
            missing={
                _name_missing(use, substituted.document.value): describe_unset(use.variable, values, unit)
                for use in handed_on
            },
            notes=tuple(replace(problem, level=Level.NOTE) for problem in notes),
        )

    def _look_up(self, reference: ValuesReference) -> ReferencedValues:
        if reference.kind == ObjectKind.SECRET:
            return ReferencedValues(fault=f"{describe(reference)} is secret, and Flux objects show their values")
        found = self.look_up(reference)
        texts = {name: join_lines(text) for name, text in found.values.items() if isinstance(text, str)}
        return ReferencedValues(values=texts, fault=found.fault)

    def look_up(self, reference: ValuesReference) -> ReferencedValues:
        """Look up the values of a ConfigMap, or a Secret that is not encrypted, if the source declares it."""
        self._read_all()
        address = Address(ObjectKind(reference.kind), reference.namespace, reference.name)
        secrets, config_maps = self._secrets.get(address, []), self._config_maps.get(address, [])
        if not (secrets or config_maps):
            return ReferencedValues(fault=f"{describe(reference)} is not in the source")
        values: Mapping[str, str | Secret] | None
        if secrets:
            values = secrets[0] if all(secret == secrets[0] for secret in secrets) else None
        else:
            values = find_in_cluster(config_maps, "")  # the one that the source declares, or else the cluster
            values = find_in_cluster(config_maps, reference.cluster_folder) if values is None else values
        if values is None:
            return ReferencedValues(fault=f"{describe(reference)} is declared twice, with different values")
        return ReferencedValues(values=values)

    def _read_all(self) -> None:
        for path, content, unit in self._unread:
            units = {path: unit} if unit else {}
            variables = make_variables(units.values(), self.given)
            manifests = read_manifests({path: content}, units=units, variables=variables, budget=self.budget)
            for address, versions in manifests.objects.versions.items():
                self._config_maps[address] += versions
            for position, secrets in manifests.objects.secrets.items():
                self._secrets[Address(ObjectKind.SECRET, *position)].append(secrets)
        self._unread.clear()


def _is_handed_on(use: VariableUse, value: Any) -> bool:
    """Return whether a text of a Kustomization becomes a part of what it builds, or the value of a variable there."""
    is_known = not (use.variable.is_unread or use.variable.message or use.is_key)
    if value["kind"] != "Kustomization" or use.path[:2] not in _HANDED_ON or not is_known:
        return False
    if use.path[1] != "patches":
        return use.path[1] != "postBuild" or use.path[2] == "substitute"
    # A patch is handed on only if it can be read with its marker.
    patch = find_member(value, *use.path)
    return use.path[3:] == ("patch",) and isinstance(patch, str) and not read_documents("", patch.encode()).problems


def _name_missing(use: VariableUse, value: Any) -> str:
    """Name the variable that stands for a missing one: its marker, or the one whose value it is a part of, which then
    loses its marker.
    """
    if use.path[1] != "postBuild":
        return MARK + use.variable.name.removeprefix(MARK)
    values = value["spec"]["postBuild"]["substitute"]
    values[use.path[3]] = replace_markers(str(values[use.path[3]]), "")
    return str(use.path[3])


def _list_unset(
    uses: Iterable[VariableUse],
    document: Document,
    values: VariableValues,
    unit: Unit | None,
    config_maps: DeclaredConfigMaps,
) -> Iterator[Problem]:
    """List the variables without a value, one problem each."""
    found = VariableUses()
    for use in uses:
        position = VariablePosition(source=SourceLocation(document.path, use.line), path=use.path, resource=None)
        found.add(describe_unset(use.variable, values, unit), position, unit, Level.ERROR)
    return found.attach([], lambda _: True, config_maps)
