"""Which charts are units, and which files belong to them."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from gitsync.model.unit import ChartRelease, UnitEntry, UnitOptions
from gitsync.model.unit_kind import UnitKind
from gitsync.repository.units.discovery import FoundUnits, collect_units
from gitsync.repository.units.kustomization_reader import KustomizationReader
from tests.repository.units.trees import MemoryTree, pack

GROUP = "apiVersion: resources.azure.com/v1api20200601\nkind: ResourceGroup\nmetadata: {name: {{ .Release.Name }}}\n"
OTHERS = "apiVersion: apps/v1\nkind: Deployment\n"


def chart(name: str, *, more: str = "", needs: str = "") -> str:
    dependency = f"dependencies: [{{name: x, repository: 'file://{needs}'}}]\n" if needs else ""
    return f"apiVersion: v2\nname: {name}\nversion: 1.0.0\n{more}{dependency}"


def find(files: Mapping[str, str | bytes], *entries: UnitEntry, path: str = "") -> FoundUnits:
    paths = [text for text in sorted(files) if text.startswith(path)]
    return collect_units(paths, KustomizationReader(MemoryTree(files)), path=path, entries=entries)


GROUP_OBJECT = "apiVersion: resources.azure.com/v1api20200601\nkind: ResourceGroup\nmetadata: {name: core}\nspec: {location: westeurope}\n"
TEAM = {"team/Chart.yaml": chart("team"), "team/templates/g.yaml": GROUP}
LIBRARY = {"lib/Chart.yaml": chart("lib", more="type: library\n"), "lib/templates/_g.tpl": GROUP}

UNITS = [
    (TEAM, ["team"], "a chart with a kind of ASO"),
    ({**TEAM, "team/templates/g.yaml": OTHERS}, [], "a chart without one"),
    ({**TEAM, "team/templates/g.yaml": OTHERS, "team/values.yaml": "group: cache.azure.com\n"}, ["team"], "a group among the values"),
    ({**TEAM, "team/templates/g.yaml": OTHERS, "team/charts/x-1.0.0.tgz": b"\x1f\x8b"}, ["team"], "a packed chart in it that cannot be read"),
    ({**TEAM, "team/templates/g.yaml": OTHERS, "team/charts/x-1.0.0.tgz": pack({"x/templates/g.yaml": GROUP})}, ["team"], "a packed chart in it with one"),
    ({**TEAM, "team/templates/g.yaml": OTHERS, "team/charts/x-1.0.0.tgz": pack({"x/templates/g.yaml": OTHERS})}, [], "a packed chart in it without one"),
    ({**TEAM, "team/templates/g.yaml": OTHERS, "team/charts/x-1.0.0.tgz": pack({"x/charts/y-1.0.0.tgz": pack({"y/values.yaml": GROUP})})}, ["team"], "a packed chart in a packed chart"),
    (LIBRARY, [], "a library by itself"),
    ({**LIBRARY, "team/Chart.yaml": chart("team", needs="../lib"), "team/templates/g.yaml": "{{ x }}"}, ["team"], "a chart that gets one from a library"),
    ({**TEAM, "outer/Chart.yaml": chart("outer", needs="../team")}, ["outer"], "a chart that another one depends on"),
    ({**TEAM, "team/charts/sub/Chart.yaml": chart("sub"), "team/charts/sub/templates/g.yaml": GROUP}, ["team"], "a chart in a chart"),
    ({**TEAM, "team/apps/sub/Chart.yaml": chart("sub"), "team/apps/sub/templates/g.yaml": GROUP}, ["team", "team/apps/sub"], "a chart beside the templates of another one"),
    ({**TEAM, "kustomization.yaml": "{}"}, ["."], "a chart in the folder of a kustomization"),
    ({"Chart.yaml": chart("root"), "templates/g.yaml": GROUP}, ["."], "a chart at the root"),
    ({"team/Chart.yaml": "[", "team/templates/g.yaml": GROUP}, ["team"], "a chart that cannot be read is a unit, so that it is named"),
    ({"team/Chart.yaml": GROUP_OBJECT}, [], "an object in a file with the name of a chart"),
    ({"team/Chart.yaml": "kind: x\n" + chart("team"), "team/templates/g.yaml": GROUP}, ["team"], "a chart with a member more"),
]  # fmt: skip


@pytest.mark.parametrize(("files", "units", "why"), UNITS, ids=[row[-1] for row in UNITS])
def test_which_charts_are_units(files, units, why):
    assert [unit.name for unit in find(files).built] == units, why


PLAIN = [
    ({**TEAM, "team/values.yaml": "", "team/infra.yaml": "", "team/crds/c.yaml": "", "team/files/f.yaml": ""}, ["team/infra.yaml", "team/values.yaml"], "files beside the templates are read as they are"),
    ({**TEAM, "team/templates/g.yaml": OTHERS}, ["team/Chart.yaml", "team/templates/g.yaml"], "a chart that is not rendered is passed over by the reader"),
    ({**LIBRARY, "team/Chart.yaml": chart("team", needs="../lib"), "team/templates/x.yaml": "{{ y }}"}, [], "a library belongs to the chart"),
    ({"team/Chart.yaml": GROUP_OBJECT, "team/b.yaml": ""}, ["team/Chart.yaml", "team/b.yaml"], "an object is a manifest, whatever the name of its file"),
]  # fmt: skip


@pytest.mark.parametrize(("files", "plain", "why"), PLAIN, ids=[row[-1] for row in PLAIN])
def test_files_of_charts_are_not_read_as_they_are(files, plain, why):
    assert list(find(files).plain) == plain, why


def test_an_entry_names_a_chart_and_reports_how_it_is_rendered():
    release = ChartRelease(name="blue", values=("prod.yaml",))
    files = {**TEAM, "team/templates/g.yaml": OTHERS, "team/kustomization.yaml": "{}"}
    entry = UnitEntry(path="team", kind=UnitKind.CHART, options=UnitOptions(release=release))
    (unit,) = find(files, entry).built
    assert (unit.kind, unit.file, unit.release, unit.is_named) == (UnitKind.CHART, "team/Chart.yaml", release, True)


def test_a_folder_that_is_read_as_it_is_has_no_charts():
    found = find(TEAM, UnitEntry(path="team", kind=UnitKind.FOLDER))
    assert (found.built, list(found.plain)) == ((), [*TEAM])


RELEASED = [
    ((), "", (False, False), "nothing releases them"),
    ((UnitEntry(path="a"),), "", (True, False), "gitsync.yaml names one"),
    ((UnitEntry(path=""),), "", (False, False), "an entry above is for options"),
    ((), "b", (True,), "a run of its folder alone"),
    ((UnitEntry(path="a", options=UnitOptions(is_published=True)),), "", (False, False), "one that others release"),
    ((UnitEntry(path="a", options=UnitOptions(is_published=True)),), "a", (True,), "a run of its folder alone, all the same"),
]  # fmt: skip


@pytest.mark.parametrize(("entries", "path", "released", "why"), RELEASED, ids=[row[-1] for row in RELEASED])
def test_which_charts_are_released(entries, path, released, why):
    files = {f"{name}/{file.removeprefix('team/')}": text for name in "ab" for file, text in TEAM.items()}
    assert tuple(unit.is_named for unit in find(files, *entries, path=path).built) == released, why


def test_published_charts_are_found_wherever_they_are():
    options = UnitOptions(is_published=True)
    files = {f"{folder}/Chart.yaml": chart(folder) for folder in ("charts/a", "charts/b", "others/c")}
    entries = (UnitEntry(path="charts", options=options), UnitEntry(path="charts/b"))
    assert find(files, *entries, path="clusters").published == ("charts/a/Chart.yaml",), "the nearest entry counts"


def test_a_chart_at_the_path_of_a_run_finds_its_library_elsewhere():
    files = {**LIBRARY, "team/Chart.yaml": chart("team", needs="../lib"), "team/templates/x.yaml": "{{ y }}"}
    assert [unit.name for unit in find(files, path="team").built] == ["team"]
