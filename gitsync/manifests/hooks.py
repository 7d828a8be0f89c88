"""Hooks: objects that helm or Argo CD applies at one point of its own runs only, and that gitsync passes over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from gitsync.manifests.header_likeness import Likeness
from gitsync.manifests.metadata import is_object
from gitsync.manifests.recognition import is_ours
from gitsync.manifests.unread_documents import UnreadContent
from gitsync.manifests.yaml_documents import Document
from gitsync.model.manifests import UnreadDocument
from gitsync.model.problem import Level, Problem, SourceLocation
from gitsync.model.unit import Unit, UnitKind
from gitsync.problems.field_path import format_field


class _Hook(NamedTuple):
    """The code of its problem, what reports count it as, and what it is a hook of."""

    code: str
    form: str
    owner: str


_ARGO: Final = "argocd.argoproj.io/hook"
_HELM: Final = "helm.sh/hook"
_HOOKS: Final[Mapping[str, _Hook]] = {
    _ARGO: _Hook("ArgoHook", "Argo CD hook", "Argo CD"),
    _HELM: _Hook("HelmHook", "Helm hook", "its chart"),
}
"""By the annotation that makes an object a hook."""


def find_hook(document: Document, unit: Unit | None) -> str:
    """Return the annotation that makes a document of a unit a hook or a test; "" if it is none.

    Argo CD reads both annotations, the first of them first
    (https://argo-cd.readthedocs.io/en/stable/user-guide/helm/#helm-hooks).
    """
    value = document.value
    metadata = value.get("metadata") if isinstance(value, dict) else None
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    if unit is None or not isinstance(annotations, dict):
        return ""
    return next((name for name in _list_annotations(unit) if name in annotations), "")


def pass_over_hook(document: Document, annotation: str) -> UnreadContent:
    """Pass a hook over. If it is a resource, warn, and keep its name: that holds a delete of the same resource."""
    value, hook = document.value, _HOOKS[annotation]
    source = SourceLocation(document.path, document.line())
    if not (is_object(value) and is_ours(value["apiVersion"])):
        return UnreadContent((), (UnreadDocument(source=source, form=hook.form),))
    where = ("metadata", "annotations", annotation)
    problem = Problem(
        code=hook.code,
        level=Level.WARNING,
        message=f"{value['kind']} {value['metadata'].get('name', '')} is a hook of {hook.owner}, so it is not applied.",
        hint=f"Remove the annotation {annotation} to have it applied.",
        path=document.path,
        line=document.line(*where),
        field=format_field(where),
    )
    unread = Likeness.of(value).unread(source, is_rejected=False)
    return UnreadContent((problem,), (replace(unread, form=hook.form),))


def _list_annotations(unit: Unit) -> tuple[str, ...]:
    if unit.kind is UnitKind.APPLICATION:
        return (_ARGO, _HELM)
    return (_HELM,) if unit.release is not None else ()
