"""Charts that others are packed in: read as open ones, and never handed on as they are."""

from __future__ import annotations

import gzip
import tarfile

import pytest

from gitsync.model.unit import ChartRelease, Unit
from gitsync.model.unit_kind import UnitKind
from gitsync.repository.units.build_sandbox import ChartError
from gitsync.repository.units.charts import MOST_BYTES
from gitsync.repository.units.helm import make_chart_job
from gitsync.repository.units.kustomization_reader import KustomizationReader
from gitsync.settings.processes.programs import Grace
from tests.repository.units.trees import MemoryTree, pack
from tests.support.programs import needs_helm

GROUP = "apiVersion: resources.azure.com/v1api20200601\nkind: ResourceGroup\nmetadata: {name: rg}\n"
TEAM = {"team/Chart.yaml": "apiVersion: v2\nname: team\nversion: 1.0.0\n"}
CHART = {"lib/Chart.yaml": "apiVersion: v2\nname: lib\nversion: 1.0.0\n"}
LOCATION = "team/charts/lib-1.0.0.tgz"
REMOTE = '{"$ref": "http://127.0.0.1:1/x"}'


def render(packed: bytes, **more: str) -> str:
    unit = Unit(name="team", path="team", kind=UnitKind.CHART, file="team/Chart.yaml", release=ChartRelease())
    job = make_chart_job(unit, KustomizationReader(MemoryTree({**TEAM, LOCATION: packed, **more})))
    return job.run(60.0, Grace()).decode()


def nest(levels: int) -> bytes:
    packed = pack(CHART)
    for _ in range(levels):
        packed = pack({**CHART, "lib/charts/lib-1.0.0.tgz": packed})
    return packed


REFUSED = [
    (lambda: pack({**CHART, "lib/values.schema.json": REMOTE}), "values.schema.json in team/charts/lib-1.0.0.tgz refers to 'http://127", "an address"),
    (lambda: pack({**CHART, "lib/values.schema.json": '{"a": {"$ref": "file:///etc/passwd"}}'}), "refers to 'file:///etc/passwd'", "a file of the machine"),
    (lambda: pack({**CHART, "lib/values.schema.json": "{"}), "values.schema.json in team/charts/lib-1.0.0.tgz is not JSON", "no JSON"),
    (lambda: pack({**CHART, "lib\\values.schema.json": REMOTE}), "refers to", "a name as Windows has it"),
    (lambda: pack({**CHART, "lib/./x/../values.schema.json": REMOTE}), "refers to", "a name that is not in its shortest form"),
    (lambda: pack({**CHART, "lib/charts/in/values.schema.json": REMOTE}), "charts/in/values.schema.json in team/", "an open chart inside"),
    (lambda: pack({**CHART, "lib/charts/in.tgz": pack({"in/values.schema.json": REMOTE})}), "refers to", "a packed chart inside"),
    (lambda: pack({**CHART, "lib/values.schema.json": "{}"}) + pack({"lib/values.schema.json": REMOTE})[:40], "not a packed chart", "a damaged archive"),
    (lambda: b"\x1f\x8b", "is not a packed chart", "no archive"),
    (lambda: gzip.compress(b"a" * 600), "is not a packed chart", "no tar"),
    (lambda: pack({"values.schema.json": REMOTE}), "it has the file 'values.schema.json'", "a file outside of a folder"),
    (lambda: pack({"lib/../../x": ""}), "it has the file", "a path that leads out of it"),
    (lambda: pack({"lib//etc/x": ""}), "it has the file", "a path from the root"),
    (lambda: gzip.compress(bytes(MOST_BYTES + 1), 1), "more than 50 MB", "a small archive of much"),
    (lambda: gzip.compress(tarfile.TarInfo("lib/a").tobuf() * 10_001), "more than 10000 files", "many files"),
    (lambda: nest(11), "or 10 in each other", "charts in each other"),
    (lambda: pack(dict.fromkeys((f"lib/charts/{number}.tgz" for number in range(201)), pack(CHART))), "more than 200 charts", "many charts"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "said", "why"), REFUSED, ids=[row[-1] for row in REFUSED])
def test_a_packed_chart_is_refused_as_an_open_one(make, said, why):
    with pytest.raises(ChartError) as failed:
        render(make())
    problem = failed.value.problem
    assert (problem.code, problem.path, said in problem.message) == ("ChartFailed", LOCATION, True), problem.message


@needs_helm
def test_helm_gets_the_files_of_a_packed_chart():
    schema = '{"properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"type": "integer"}}}'
    inner = pack(
        {
            "in/Chart.yaml": CHART["lib/Chart.yaml"].replace("lib", "in"),
            "in/templates/in.yaml": f"{GROUP}spec: {{location: inner}}\n",
        }
    )
    packed = pack(
        {**CHART, "lib/values.schema.json": schema, "lib/templates/g.yaml": f"{GROUP}spec: {{location: {{{{ .Values.a }}}}}}\n", "lib/values.yaml": "a: 7\n", "lib/charts/in-1.0.0.tgz": inner},
        **{"values.yml": tarfile.SYMTYPE, "templates": tarfile.DIRTYPE, "pipe": tarfile.FIFOTYPE},
    )  # fmt: skip
    text = render(packed)
    assert [text.count(f"location: {name}}}") for name in ("7", "inner")] == [1, 1]


@needs_helm
@pytest.mark.parametrize("path", ["files/lib-1.0.0.tgz", "charts/_lib.tgz"])
def test_what_helm_reads_as_no_chart_stays_as_it_is(path):
    text = render(pack(CHART), **{f"team/{path}": "no archive", "team/templates/a.yaml": GROUP})
    assert "kind: ResourceGroup" in text
