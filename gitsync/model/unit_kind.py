"""The kinds of units, one row each: what reads or writes the manifests of a unit decides by these members, and never by
the kind itself. How the units of a kind are found and built is in its module of units/kinds. Only kustomizations are
found before all others (units/discovery), since a kustomization claims files.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

_ARGO_HOOK: Final = "argocd.argoproj.io/hook"
_HELM_HOOK: Final = "helm.sh/hook"


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitTraits:
    """What is true of all units of a kind. The defaults are those of files that are read as they are."""

    is_built: bool = False  # its manifests are built from its files, not read as they are
    program: str = ""  # the program that builds them (processes/programs)
    declared_by: str = ""
    """The kind of the controller object that declares it, as records keep it. gitsync.yaml can name the other kinds."""

    substitutes: bool = False
    """Its controller replaces variables, after the build, so quotes and the operator's variables are not for it."""

    variable_hint: str = ""
    """An order that states where its variables get values, with `variable`, `unit` and `file` to fill in."""

    build_hint: str = ""
    """An order that shows the complaint of its tool again, with `object`, `path` and `file` to fill in."""

    hooks: tuple[str, ...] = ()
    """The annotations that make an object a hook, which no run applies, the first of them first."""

    has_waves: bool = False  # its manifests, and the objects among them, are applied in the order of their sync waves
    takes_release: bool = False
    """gitsync.yaml has its values and its namespace, unless others release its chart from where it is published."""

    takes_options: bool = False  # its options are those of gitsync.yaml: its object has no fields for them
    finalizer: str = ""  # without this finalizer, its object leaves its resources behind when it is deleted


class UnitKind(Enum):
    """How the manifests of a unit are built. A member has the name of its module, in capitals."""

    FOLDER = UnitTraits()
    KUSTOMIZATION = UnitTraits(is_built=True, program="kustomize")
    CHART = UnitTraits(is_built=True, program="helm", hooks=(_HELM_HOOK,), takes_release=True)
    FLUX = UnitTraits(
        is_built=True,
        program="kustomize",
        declared_by="Kustomization",
        substitutes=True,
        variable_hint="Add {variable} to spec.postBuild.substitute of the Kustomization {unit} in {file}.",
        build_hint="Run `flux build kustomization {object} --path {path} --kustomization-file {file} --dry-run`.",
    )
    APPLICATION = UnitTraits(
        is_built=True,
        program="kustomize",
        declared_by="Application",
        hooks=(_ARGO_HOOK, _HELM_HOOK),
        has_waves=True,
        takes_options=True,
        finalizer="resources-finalizer.argocd.argoproj.io",
    )
    HELM_RELEASE = UnitTraits(
        is_built=True,
        program="helm",
        declared_by="HelmRelease",
        variable_hint="Write the value in spec.values of the HelmRelease {unit} in {file}.",
        hooks=(_HELM_HOOK,),
    )

    @property
    def word(self) -> str:
        """Its name in gitsync.yaml, and that of its module."""
        return self.name.lower()


CONTROLLER_NAMES: Final = {"fluxcd.io": "Flux", "argoproj.io": "Argo CD"}
"""The names of the controllers whose objects declare units, by the ends of their API groups."""

NAMED_KINDS: Final = {kind.word: kind for kind in UnitKind if not kind.value.declared_by}
"""The kinds that gitsync.yaml can name, by their names there."""
