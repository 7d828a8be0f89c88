"""Documents that are neither resources nor used by them: skip them, or reject them with their problems.

Every document is accounted for, since a silently ignored one would look like a removal. Among them are hooks, templates
of Helm charts, and documents of other tools that contain ASO objects.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from yaml.reader import Reader

from gitsync.desired.catalog.type_words import format_count
from gitsync.desired.manifests.aso_groups import is_ours, mentions_aso
from gitsync.desired.manifests.document_forms import is_list
from gitsync.desired.manifests.headers import HEADER, Likeness, find_key_like, find_placeholder, is_object
from gitsync.desired.manifests.recognition import find_header_fault, is_arm_template, note_unknown_group
from gitsync.desired.manifests.yaml_documents import Document, is_encrypted, read_documents
from gitsync.desired.problems.field_path import format_field
from gitsync.desired.problems.finding import Finding
from gitsync.model.gvk import GVK
from gitsync.model.manifests import UnreadDocument
from gitsync.model.problem import Level, Problem, SourceLocation
from gitsync.model.unit import Unit

ARM_TEMPLATE = "ARM template"
_HEADER = frozenset(HEADER)
_IDENTITY = frozenset({"apiVersion", "kind", "metadata", "metadata.name"})


@dataclass(frozen=True, slots=True)
class UnreadContent:
    """The problems of one document, and the unread documents in it: itself, or the items of an invalid list."""

    problems: tuple[Problem, ...]
    unread: tuple[UnreadDocument, ...]


def skip(document: Document) -> UnreadContent:
    """Skip a document, or reject it if it was meant for gitsync."""
    likeness = Likeness.read(document.value)
    fault = _find_list_fault(document.value, likeness) or find_header_fault(document.value, likeness)
    if fault is not None:
        # A placeholder explains the fault: the template gets its header when it is rendered.
        template = find_placeholder(document) if isinstance(document.value, dict) else None
        problem = replace(template, is_unread=True) if template else locate_in_document(fault, document)
        return reject(document, problem)
    # If `kind` occurs twice, a `---` may be missing, and a resource with it.
    if duplicates := tuple(problem for problem in document.problems if _hides(problem, {"apiVersion", "kind"})):
        return reject(document, *duplicates)
    form = ARM_TEMPLATE if is_arm_template(document.value) else ""
    unread = likeness.make_unread(_locate(document), is_rejected=False, form=form)
    note = note_unknown_group(likeness)
    notes = (locate_in_document(note, document),) if note else ()
    return UnreadContent((*notes, *find_embedded(document)), (unread,))


def reject(document: Document, *problems: Problem) -> UnreadContent:
    """Return a document that is not used, with its problems."""
    likeness = Likeness.read(document.value)
    items = tuple(_iterate_own_items(document, likeness))
    full_document = likeness.make_unread(_locate(document), is_rejected=True)
    return UnreadContent(problems, (*(items or (full_document,)), *list_hidden(document)))


def list_hidden(document: Document) -> tuple[UnreadDocument, ...]:
    """List the previous document, if no `---` separates them: its header is in the same mapping, and is lost."""
    if not (document.problems and any(_hides(problem, _IDENTITY) for problem in document.problems)):
        return ()
    return (UnreadDocument(source=_locate(document), is_rejected=True),)


def explain_unreadable(path: str, content: bytes) -> Problem | None:
    """Return why a file cannot be read as documents; None if it can, or if it is blank.

    A mapping or a list is a document of some tool. A single value (a pointer, base64, an HTML page) is not a document,
    and neither is a file that SOPS encrypted completely. UTF-16 is valid YAML, but Helm and text searches do not read
    it.
    """
    contents = read_documents(path, content)
    if contents.problems:
        return contents.problems[0]
    # Almost any text is a YAML scalar, so a file without a problem may still not be a manifest.
    message = hint = ""
    if content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        message, hint = "It is UTF-16 text.", "Save it as UTF-8."
    elif any(is_encrypted(document) and not is_object(document.value) for document in contents.documents):
        message, hint = "It is completely encrypted with SOPS.", "Run `sops decrypt`."
    elif any(not isinstance(document.value, dict | list | None) for document in contents.documents):
        message, hint = "It is plain text without `key: value`.", "Restore the manifest."
    elif not (contents.documents or _is_blank(content)):
        message, hint = "It is not text.", "Restore the manifest."
    return Problem(code="InvalidText", message=message, hint=hint, path=path, line=1) if message else None


def _is_blank(content: bytes) -> bool:
    """Return whether a text has only comments and document separators."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return False
    if Reader.NON_PRINTABLE.search(text):
        return False
    return all(line.partition("#")[0].strip() in {"", "---", "..."} for line in text.splitlines())


def mark_followed(
    unread: Iterable[UnreadDocument], declarers: Collection[SourceLocation]
) -> tuple[UnreadDocument, ...]:
    """Return the documents in the order of their locations, and mark those that declare units as followed. `declarers`
    are the locations of the units: a line in such a document.
    """
    documents = sorted(unread, key=lambda unread_document: unread_document.source)
    for declarer in declarers:
        index = bisect_right(documents, declarer, key=lambda document: document.source) - 1
        if index >= 0 and documents[index].source.path == declarer.path:
            documents[index] = replace(documents[index], is_followed=True)
    return tuple(documents)


def list_misspelt_fields(document: Document) -> tuple[Problem, ...]:
    """Report each field of the header whose key is in another case or within two letters."""
    if isinstance(document.value, dict) and document.value.keys() >= _HEADER:
        return ()  # most documents, without comparing the header
    misspelt = Likeness.read(document.value).misspelt
    return tuple(
        Problem(
            code="MisspeltField",
            message=f"{key} is not a field of a manifest.",
            hint=f"Did you mean {word}?",
            path=document.path,
            line=document.line(key),
            field=format_field((key,)),
        )
        for word, key in misspelt.items()
    )


def _find_list_fault(value: Any, likeness: Likeness) -> Finding | None:
    if is_list(value):  # `split_list` has split all others
        message = "Lists are nested more than ten levels deep."
        return Finding(code="InvalidList", path=("items",), message=message, hint=DIVIDE)
    if not any(_is_meant(item) for item in _list_items(value, likeness)):  # a list of another tool
        return None
    if isinstance(value, list):
        message = "The document is a YAML list of manifests, which Kubernetes does not accept."
        return Finding(code="InvalidList", path=(), message=message, hint=DIVIDE)
    message = "The document contains manifests, but is not a Kubernetes List."
    return Finding(code="InvalidList", path=(), message=message, hint="Write apiVersion: v1, kind: List and items.")


DIVIDE = "Separate the manifests with lines of --- instead."


def _iterate_own_items(document: Document, likeness: Likeness) -> Iterator[UnreadDocument]:
    """Yield the ASO manifests among the items of a list that is not a Kubernetes List."""
    for index, item in enumerate(_list_items(document.value, likeness)):
        if _is_meant(item):
            path = ("items", index) if isinstance(document.value, dict) else (index,)
            line = document.lines.find_nearest(path)
            yield Likeness.read(item).make_unread(SourceLocation(document.path, line), is_rejected=True)


def _is_meant(item: Any) -> bool:
    if is_object(item) and is_ours(item["apiVersion"]):
        return True
    return find_header_fault(item, Likeness.read(item)) is not None


def _list_items(value: Any, likeness: Likeness) -> list[Any]:
    """List the items of a list that Kubernetes does not accept: without a header, or with one in the core group."""
    if isinstance(value, list):
        return value
    if not isinstance(value, dict):
        return []
    has_header = bool({"apiVersion", "kind"} & likeness.keys.keys()) and not likeness.group
    key = find_key_like("items", value) if has_header else None
    return value[key] if key is not None and isinstance(value[key], list) else []


def locate_in_document(finding: Finding, document: Document) -> Problem:
    """Add file, line and field to a finding."""
    return Problem(
        code=finding.code,
        message=finding.message,
        hint=finding.hint,
        level=finding.level,
        path=document.path,
        line=document.line(*finding.path),
        field=format_field(finding.path),
    )


def _hides(problem: Problem, fields: set[str] | frozenset[str]) -> bool:
    return problem.code == "DuplicateKey" and problem.field in fields


def _locate(document: Document) -> SourceLocation:
    return SourceLocation(document.path, document.line())


# ASO objects in documents of other tools, such as kro, Crossplane, Argo Workflows and the templates of a ClusterClass,
# and in the texts of ConfigMaps and Secrets: they are reported, but not applied.
#
# What those tools create from them depends on values that are not in a file.


_FOLLOWED: Final = frozenset(
    {
        "kustomize.config.k8s.io",
        "kustomize.toolkit.fluxcd.io",
        "helm.toolkit.fluxcd.io",
        "apiextensions.k8s.io",
    }
)
"""Groups whose documents have parts of manifests: patches, values, examples. Among them are those of controllers."""

_ARGO_CD: Final = frozenset({"Application", "ApplicationSet", "AppProject"})
"""The kinds of argoproj.io that have such parts. A Workflow applies complete manifests."""

_IN_TEXT: Final = re.compile(r"""(?:^|[\s{,\\])["']?apiVersion["']?: *["']?([a-z0-9.]+/[a-z0-9]+)""", re.MULTILINE)


def find_embedded(document: Document) -> tuple[Problem, ...]:
    """Return a warning if a document that is not an ASO object contains some, with their number."""
    value = document.value
    if not is_object(value):
        return ()
    gvk = GVK.parse(value["apiVersion"], value["kind"])
    has_parts = gvk.group in _FOLLOWED or (gvk.group == "argoproj.io" and gvk.kind in _ARGO_CD)
    # `metadata` is left out: kubectl keeps the complete object that it applied in an annotation.
    count = 0 if has_parts else sum(_count(value[key]) for key in value if key != "metadata")
    if not count:
        return ()
    metadata = value.get("metadata")
    name = metadata.get("name") if isinstance(metadata, Mapping) else None
    objects = format_count(count, "ASO object")
    problem = Problem(
        code="EmbeddedObjects",
        message=f"{gvk.kind}{f' {name}' if name else ''} contains {objects}, which gitsync does not apply.",
        hint="Move them to separate manifests, or add the file to .gitsyncignore if another tool applies them.",
        level=Level.WARNING,
        path=document.path,
        line=document.line(),
    )
    return (problem,)


def _count(value: Any) -> int:
    """Count the ASO objects in a part of a document, also in its texts."""
    if isinstance(value, str):
        return sum(is_ours(match[1]) for match in _IN_TEXT.finditer(value))
    # A reference to an object has an apiVersion and a kind too, but neither of the other two.
    is_one = is_object(value) and is_ours(value["apiVersion"]) and bool({"metadata", "spec"} & value.keys())
    members = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return is_one + sum(map(_count, members))


# Helm charts in a source: their templates are not manifests until Helm renders them.


CHART: Final = "Chart.yaml"
TEMPLATE: Final = "Helm template"


def collect_templates(paths: Collection[str]) -> Mapping[str, str]:
    """Map each template of a chart to the path of its Chart.yaml."""
    charts = {path.removesuffix(CHART): path for path in paths if path.rpartition("/")[2] == CHART}
    templates = {}
    for path in paths:
        folder, separator, _ = path.rpartition("templates/")
        # A chart may have a folder `templates` in its templates, so the outer ones are tried too.
        while separator and folder not in charts:
            folder, separator, _ = folder.rpartition("templates/")
        if separator:
            templates[path] = charts[folder]
    return templates


def report_templates(templates: Mapping[str, str], files: Mapping[str, bytes]) -> UnreadContent:
    """Report the templates of charts: one problem for each chart that mentions ASO groups or similar ones."""
    counts: dict[str, int] = {}
    for path, chart in sorted(templates.items()):
        counts[chart] = counts.get(chart, 0) + mentions_aso([files[path]])
    unread = (UnreadDocument(source=SourceLocation(path, 1), form=TEMPLATE) for path in sorted(templates))
    problems = (_make_problem(chart, count) for chart, count in sorted(counts.items()) if count)
    return UnreadContent(tuple(problems), tuple(unread))


def _make_problem(chart: str, count: int) -> Problem:
    folder = chart.removesuffix(CHART).rstrip("/") or "."
    noun = "template" if count == 1 else "templates"
    return Problem(
        code="HelmChart",
        message=f"{folder} is a Helm chart with {count} {noun} of ASO kinds, which gitsync does not render.",
        hint=f"Run `helm template {folder}`, and commit the result. To leave the chart out, add it to .gitsyncignore.",
        path=chart,
        line=1,
    )


# Hooks: objects that helm or Argo CD applies only at one point of its own runs. gitsync skips them.


class _Hook(NamedTuple):
    """The code of its problem, its form in reports, and the owner of the hook."""

    code: str
    form: str
    owner: str


_ARGO: Final = "argocd.argoproj.io/hook"
_HELM: Final = "helm.sh/hook"
_HOOKS: Final[Mapping[str, _Hook]] = {
    _ARGO: _Hook("ArgoHook", "Argo CD hook", "Argo CD"),
    _HELM: _Hook("HelmHook", "Helm hook", "its chart"),
}
"""The hooks, by the annotation that makes an object a hook."""


def find_hook(document: Document, unit: Unit | None) -> str:
    """Return the annotation that makes a document of a unit a hook or a test; "" for any other document.

    Argo CD reads both annotations, the first of them first
    (https://argo-cd.readthedocs.io/en/stable/user-guide/helm/#helm-hooks).
    """
    value = document.value
    metadata = value.get("metadata") if isinstance(value, dict) else None
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    # In a plain folder no tool runs hooks, so the annotation has no effect.
    if unit is None or not isinstance(annotations, dict):
        return ""
    return next((name for name in unit.traits.hooks if name in annotations), "")


def skip_hook(document: Document, annotation: str) -> UnreadContent:
    """Skip a hook. If it is a resource, warn and keep its name, so that the resource is not deleted."""
    value, hook = document.value, _HOOKS[annotation]
    source = SourceLocation(document.path, document.line())
    if not (is_object(value) and is_ours(value["apiVersion"])):
        return UnreadContent((), (UnreadDocument(source=source, form=hook.form),))
    where = ("metadata", "annotations", annotation)
    problem = Problem(
        code=hook.code,
        level=Level.WARNING,
        message=f"{value['kind']} {value['metadata'].get('name', '')} is a hook of {hook.owner}, so it is not applied.",
        hint=f"To apply it, remove the annotation {annotation}.",
        path=document.path,
        line=document.line(*where),
        field=format_field(where),
    )
    unread = Likeness.read(value).make_unread(source, is_rejected=False, form=hook.form)
    return UnreadContent((problem,), (unread,))
