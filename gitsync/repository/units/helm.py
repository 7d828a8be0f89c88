"""Render a Helm chart with `helm template`: without a cluster, without a network, from a copy of its files.

Each chart is rendered twice. What differs, such as a random password, would be another resource in each run, and is
refused. A value from a Secret is a variable in both, each time with another name, and gets its value later: helm sees
no secret, and a template that computes with one is refused as well.
"""

from __future__ import annotations

import json
import posixpath
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Final, NamedTuple

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.manifests.origins import SOURCE_COMMENT
from gitsync.desired.manifests.yaml_documents import MAX_BYTES
from gitsync.errors import SourceError
from gitsync.model.unit import ChartRelease, Unit
from gitsync.repository.units.build_sandbox import (
    MEMORY,
    ChartError,
    UnbuildableError,
    clean_complaint,
    digest_inputs,
    make_environment,
    run_tool,
    write_files,
)
from gitsync.repository.units.chart_values import list_files, merge_values
from gitsync.repository.units.charts import CHART, ChartCopy, ChartPacker, copy_chart, is_packed_dependency
from gitsync.repository.units.kustomization_reader import KustomizationReader
from gitsync.repository.units.kustomize import build, has_tool
from gitsync.settings.processes.programs import Grace, Program, ProgramCall
from gitsync.settings.processes.temporary_folders import open_temporary_folder

KUBERNETES: Final = "1.33.0"
"""The Kubernetes version for charts that need one, if no other is set: not that of the installed helm."""

_READS_VERSIONS: Final = b"APIVersions"
_FOLDERS: Final = ("HELM_CACHE_HOME", "HELM_CONFIG_HOME", "HELM_DATA_HOME", "HELM_PLUGINS")
_KUBERNETES: Final = re.compile(r"v?[0-9]+\.[0-9]+(?:\.[0-9]+)?")
_RELEASE: Final = re.compile(r"[a-z0-9]([a-z0-9.-]{0,51}[a-z0-9])?")
_DOCUMENT: Final = re.compile(rb"^---\n# Source: ([^\n]*)\n", re.MULTILINE)
_CONTENT: Final = re.compile(rb"^[^\S\n]*[^\s#-]", re.MULTILINE)
_REPEATED: Final = re.compile(r"(: error calling include: template: [^\s>]+ executing \"[^\"]*\" at <[^>]*>)\1+")
_LOCATION: Final = re.compile(r"(?<![\w./-])([\w./-]+):([0-9]+)(?::[0-9]+)?")
_PARSED: Final = re.compile(r"YAML parse error on ([^\s:]+)")
_QUOTED: Final = re.compile(r"`[^`]*`")
_READ: Final = re.compile(
    rb"\.azure\.com/|toolkit\.fluxcd\.io/|argoproj\.io/|^kind: *[\"']?(?:ConfigMap|Secret|Namespace|List)\b",
    re.MULTILINE,
)
_UNSTABLE: Final = re.compile(
    rb"\b(?:rand[A-Z]\w*|randInt|gen[A-Z]\w*|uuidv4|now|ago|shuffle|htpasswd|bcrypt|encryptAES|keys|values)\b"
)
_GENERATED: Final = "kustomization.yaml"
_MARK: Final = re.compile(r"\$\{(helm_value_[0-9a-f]{16})\}")
_OTHER_MARK: Final = re.compile(rb"\$\{(helm_value_[0-9a-f]{16})_again\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartJob:
    """The rendering of one chart."""

    failure: ClassVar[type[UnbuildableError]] = ChartError

    path: str  # the folder of the chart
    files: Mapping[str, bytes] = field(repr=False)
    """All that it needs by their paths in the source; a Secret may be among them."""

    copies: Mapping[str, str]  # the paths of its copy with those of the source
    names: Mapping[str, str]  # those that Helm has for the files
    values: Mapping[str, Any] = field(repr=False)  # merged
    release: ChartRelease

    @property
    def digest(self) -> str:
        release = self.release
        settings = [release.name, release.namespace, release.kubernetes, release.changes]
        return digest_inputs([self.path, self.values, settings, sorted(self.copies.items())], self.files)

    def run(self, timeout: float, grace: Grace) -> bytes:
        """Render the manifests as one YAML text; each names its template in a comment, or in an annotation if `changes`
        of the release were applied. Raises ChartError if there are none.
        """
        documents = self._render_twice(timeout, grace)
        # Without changes, kustomize has nothing to do.
        if not self.release.changes:
            return b"".join(
                b"---\n%s%s\n%s" % (SOURCE_COMMENT, document.path.encode(), document.text) for document in documents
            )
        return _build_around(self.path, documents, self.release.changes, timeout=timeout, grace=grace)

    def _render_twice(self, timeout: float, grace: Grace) -> tuple[_Rendered, ...]:
        values = json.dumps(self.values)
        with open_temporary_folder() as temporary:
            home = temporary / "home"
            home.mkdir()
            write_files(temporary / "source", self._list_contents())
            first, second = (
                self._render(temporary, text, timeout, grace) for text in (values, _MARK.sub(r"${\1_again}", values))
            )
        documents = tuple(self._split(first))
        others = tuple(self._split(_OTHER_MARK.sub(rb"${\1}", second)))
        # A template that renders only sometimes is as unstable as one with a random value.
        if [document.path for document in documents] != [document.path for document in others]:
            raise self._refuse_unstable(self.path)
        for document, other in zip(documents, others, strict=True):
            # What differs would be another resource in each run. Documents that gitsync does not read may differ.
            if document != other and (_READ.search(document.text) or _READ.search(other.text)):
                raise self._refuse_unstable(document.path)
        return documents

    def _list_contents(self) -> Mapping[str, bytes]:
        """List the files of the copy, with charts in it packed again."""
        packer = ChartPacker()
        return {
            copy: packer.repack(path, self.files[path]) if is_packed_dependency(copy) else self.files[path]
            for copy, path in sorted(self.copies.items())
        }

    def _render(self, temporary: Path, values: str, timeout: float, grace: Grace) -> bytes:
        values_file = temporary / "values.json"
        values_file.write_text(values)
        call = ProgramCall(
            program=Program.HELM,
            command=[*self._make_command(temporary / "source"), f"--values={values_file}"],
            environment=make_environment(Program.HELM, temporary / "home", _FOLDERS),
            timeout=timeout,
            grace=grace,
            folder=temporary / "home",
            memory=MEMORY,
        )
        result = run_tool(call, self.path, ChartError)
        if result.code != 0:
            raise self._explain(result.complaint.decode("utf-8", "replace").replace(f"{temporary}/", ""))
        # A loop in a template may render without end.
        if len(result.output) > MAX_BYTES:
            message = f"{self.path} renders to {len(result.output)} bytes; the limit is {MAX_BYTES}."
            raise ChartError(message, hint="Split the chart.", path=self.path)
        return result.output

    def _make_command(self, source: Path) -> Sequence[str]:
        helm = shutil.which("helm")
        if helm is None:
            message = f"{self.path} was not rendered: helm is not installed."
            raise ChartError(message, hint="Install helm, version 3 or 4.", path=self.path)
        release = self.release
        if not _RELEASE.fullmatch(release.name):
            message = f"{release.name[:200]!r} is not the name of a release."
            hint = "Use at most 53 lower-case letters, digits and dashes."
            raise ChartError(message, hint=hint, path=self.path)
        versions = [entry for entry in release.kubernetes if _KUBERNETES.fullmatch(entry)]
        version = (versions or [KUBERNETES])[-1]
        # helm 3 and 4 show a version of three numbers alike.
        more = [f"--kube-version={version if version.count('.') == 2 else f'{version}.0'}"]
        more += [f"--api-versions={entry}" for entry in release.kubernetes if entry not in versions]
        # The list has thousands of entries, so only charts that use it get it.
        if any(_READS_VERSIONS in content for content in self.files.values()):
            more.append(f"--api-versions={','.join(_list_aso_versions())}")
        more += [f"--namespace={release.namespace}"] if release.namespace else []
        return [helm, "template", release.name, str((source / self.path).parent), *more]

    def _split(self, text: bytes) -> Iterator[_Rendered]:
        """Split a result into documents, each with the path of its template in the source."""
        _, *parts = _DOCUMENT.split(text)
        for name, part in zip(parts[::2], parts[1::2], strict=True):
            # A template may render to comments alone.
            if _CONTENT.search(part):
                yield _Rendered(self.names.get(name.decode("utf-8", "replace"), self.path), part)

    def _refuse_unstable(self, path: str) -> ChartError:
        content = self.files[path]
        found = _UNSTABLE.search(content)
        return ChartError(
            f"{path} renders differently each time, so each run would change its resources.",
            hint="Set the results of functions such as randAlphaNum, genCA or now as values, and do not compute "
            "with values from Secrets.",
            path=path,
            line=content.count(b"\n", 0, found.start()) + 1 if found else 1,
        )

    def _explain(self, complaint: str) -> ChartError:
        """Make the error for helm's complaint, at the template that it names."""
        text = _REPEATED.sub(r"\1", complaint.replace("Use --debug flag to render out invalid YAML", ""))
        # helm quotes the line of the template or of its result, which may have a value of a Secret.
        text = clean_complaint(_QUOTED.sub("(not shown: it may have a secret)", text))
        path, line = self.path, 1
        for name, number in (*_LOCATION.findall(text), *((template, "1") for template in _PARSED.findall(text))):
            if name in self.names:
                path, line = self.names[name], int(number)
        message = f"{self.path} cannot be rendered: {text}"
        return ChartError(message, hint="Fix the template, or its values.", path=path, line=line)


@cache
def _list_aso_versions() -> tuple[str, ...]:
    """List the API versions of ASO and their kinds, which its clusters have: a chart may check for them."""
    catalog = open_catalog()
    found: set[str] = set()
    for group in catalog.groups():
        for kind in catalog.kinds(group):
            for version in catalog.versions(group, kind):
                found |= {f"{group}/{version}", f"{group}/{version}/{kind}"}
    return tuple(sorted(found))


class _Rendered(NamedTuple):
    """One document, and the path of its template."""

    path: str
    text: bytes


def make_chart_job(unit: Unit, reader: KustomizationReader) -> ChartJob:
    """Return the job that renders the chart of a unit.

    Raises ChartError if something that it needs cannot be read or is not in the source; raises SourceError if it is too
    much.
    """
    release = unit.release or ChartRelease()
    copy = _copy(unit, reader)
    values = merge_values(release.values, reader.tree, (unit.file, unit.line or 1))
    return ChartJob(
        path=copy.chart.path,
        files=reader.tree.read(_list_paths(copy, release)),
        copies=copy.files,
        names=copy.names,
        values=values,
        release=replace(release, name=release.name or copy.chart.name),
    )


def make_chart_jobs(
    units: Mapping[str, Unit], reader: KustomizationReader
) -> tuple[dict[str, ChartJob], dict[str, UnbuildableError]]:
    """Make the jobs of units by their names, and the errors of those that have none."""
    jobs: dict[str, ChartJob] = {}
    errors: dict[str, UnbuildableError] = {}
    for name, unit in units.items():
        try:
            jobs[name] = make_chart_job(unit, reader)
        except UnbuildableError as error:
            errors[name] = error
        except SourceError as error:
            errors[name] = ChartError(error.message, hint=error.hint, path=unit.file, line=unit.line or 1)
    return jobs, errors


def list_chart_inputs(unit: Unit, reader: KustomizationReader) -> Sequence[str]:
    """Return the files that rendering the chart of a unit needs. Raises as `make_chart_job`."""
    found = _list_paths(_copy(unit, reader), unit.release or ChartRelease())
    return [path for path in found if path in reader.tree.paths]


def _copy(unit: Unit, reader: KustomizationReader) -> ChartCopy:
    if posixpath.join(unit.path, CHART) not in reader.tree.paths:
        message = f"{unit.path or '.'} is not the folder of a chart in this source: it has no {CHART}."
        raise ChartError(message, hint="Fix the path of the chart.", path=unit.file, line=unit.line or 1)
    return copy_chart(unit.path, reader)


def _list_paths(copy: ChartCopy, release: ChartRelease) -> list[str]:
    return sorted({*copy.files.values(), *list_files(release.values)})


def _build_around(
    path: str, documents: Sequence[_Rendered], changes: Mapping[str, Any], *, timeout: float, grace: Grace
) -> bytes:
    """Change the documents by a kustomization around them."""
    if not has_tool():
        message = (
            f"{path} was not rendered: its result has to be built, and neither kustomize nor kubectl is installed."
        )
        raise ChartError(message, hint="Install one of them.", path=path)
    # Each template is a file of the kustomization, so that its origin is known.
    texts: dict[str, list[bytes]] = {}
    for document in documents:
        texts.setdefault(document.path, []).append(document.text)
    files = {name: b"\n---\n".join(parts) for name, parts in texts.items()}
    files[_GENERATED] = json.dumps({"resources": list(texts)}).encode()
    try:
        return build(_GENERATED, files, is_restricted=False, more=changes, timeout=timeout, grace=grace)
    except UnbuildableError as error:
        message = f"{path} was rendered, but kustomize cannot change the result: {error.problem.message}"
        raise ChartError(message, hint="Fix the patches.", path=path) from error
