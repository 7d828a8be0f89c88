"""Applications and ApplicationSets of Argo CD: which folders they lead to, what is built there, and what is not."""

from __future__ import annotations

import json
import textwrap
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from gitsync.model.problem import Level, Problem
from gitsync.model.unit import ChartRelease, FileSelection, SetValue, Unit, UnitEntry, UnitOptions
from gitsync.repository.units.all_units import AllUnits, FollowContext, build_all
from gitsync.repository.units.build_sandbox import Builds
from gitsync.repository.units.controller_objects import MOST
from gitsync.repository.units.declarations import ThisRepository
from gitsync.repository.units.discovery import collect_units
from gitsync.repository.units.kustomization_reader import KustomizationReader
from tests.repository.units.trees import GROUP, MemoryTree
from tests.support.programs import needs_build_tool, needs_helm

HERE = "https://github.com/acme/estate.git"
REPOSITORY = ThisRepository(lambda: "github.com/acme/estate", lambda: "dev")
MANIFEST = GROUP.decode()


def application(name: str, source: Mapping[str, Any] | None = None, **spec: Any) -> str:
    """An Application whose source is this repository, in JSON."""
    document: dict[str, Any] = {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Application",
        "metadata": {"name": name, **spec.pop("metadata", {})},
        "spec": {"destination": {"namespace": "platform"}, **spec},
    }
    if "sources" not in spec:
        document["spec"]["source"] = {"repoURL": HERE, **(source or {})}
    return f"---\n{json.dumps(document, indent=1)}\n"


def application_set(*generators: Mapping[str, Any], is_go: bool = False, **spec: Any) -> str:
    """A set whose Applications have the name and the path that its generators give them."""
    name, path = ("{{.name}}", "{{.folder}}") if is_go else ("{{name}}", "{{folder}}")
    template = {"metadata": {"name": name}, "spec": {"source": {"repoURL": HERE, "path": path}}}
    document = {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "ApplicationSet",
        "metadata": {"name": "teams"},
        "spec": {"goTemplate": is_go, "generators": generators, "template": template, **spec},
    }
    return f"---\n{json.dumps(document, indent=1)}\n"


def build(files: Mapping[str, str], *, start: str = "apps", repository: ThisRepository = REPOSITORY) -> AllUnits:
    """Build what the files below `start` lead to."""
    tree = MemoryTree(files)
    plain = {path: text.encode() for path, text in files.items() if path.startswith(f"{start}/")}
    reader = KustomizationReader(tree)
    entries = (UnitEntry(path="infra", options=UnitOptions(waits_for_owners=True)),)
    return build_all(
        collect_units(list(plain), reader, path=start, entries=entries),
        plain,
        reader,
        Builds(),
        FollowContext(repository),
    )


def list_files(built: AllUnits) -> list[str]:
    """The files of units, with the names of those."""
    return sorted(built.files)


def describe(problems: tuple[Problem, ...]) -> list[tuple[str, Level, str]]:
    return [(problem.code, problem.level, problem.unit) for problem in problems]


DIRECTORY = {
    "infra/rg.yaml": MANIFEST,
    "infra/more.json": "{}",
    "infra/notes.md": "",
    "infra/deep/rg.yml": MANIFEST,
    "infra/deep/test-rg.yaml": MANIFEST,
    "infra/skipped.yaml": f"# +argocd:skip-file-rendering\n{MANIFEST}",
}

DIRECTORIES: Mapping[str, tuple[Any, list[str]]] = {
    "a folder without those in it": ({}, ["infra/more.json", "infra/rg.yaml"]),
    "with all of them": (
        {"recurse": True},
        ["infra/deep/rg.yml", "infra/deep/test-rg.yaml", "infra/more.json", "infra/rg.yaml"],
    ),
    "only some files": ({"include": "*.yaml"}, ["infra/rg.yaml"]),
    "not some files, at any depth": (
        {"recurse": True, "exclude": "{*test-*,*.json}"},
        ["infra/deep/rg.yml", "infra/rg.yaml"],
    ),
    "exclude wins": ({"include": "*", "exclude": "rg.*"}, ["infra/more.json"]),
}


@pytest.mark.parametrize(("directory", "files"), DIRECTORIES.values(), ids=DIRECTORIES)
def test_a_directory_is_read_as_it_is(directory: Any, files: list[str]) -> None:
    text = application("infra", {"path": "infra", "directory": directory})
    built = build({"apps/infra.yaml": text, **DIRECTORY})
    assert built.problems == ()
    assert list_files(built) == [f"apps/argocd/infra/{path}" for path in files]
    unit = built.units["apps/argocd/infra/infra/rg.yaml"] if "infra/rg.yaml" in files else None
    assert unit is None or (unit.namespace, unit.options.waits_for_owners) == ("platform", True)


def test_files_of_a_flat_directory_cover_no_folders() -> None:
    built = build({"apps/infra.yaml": application("infra", {"path": "infra"}), **DIRECTORY})
    assert [built.covered.has(path) for path in ("infra/x.yaml", "infra/deep/x.yaml")] == [True, False]


FORMS: Mapping[str, tuple[dict[str, Any], dict[str, str], dict[str, Any]]] = {
    "the fields of kustomize, by the names of Flux": (
        {
            "kustomize": {
                "namePrefix": "p-",
                "namespace": "n",
                "commonLabels": {"a": "b"},
                "commonAnnotations": {"c": "$d"},
                "patches": [{"patch": "x"}],
                "components": ["../tagged", "../gone"],
                "ignoreMissingComponents": True,
                "images": ["web=reg:80/other:2", "db@sha256:1", "cache:3", "plain=x"],
            }
        },
        {"app/kustomization.yaml": "", "tagged/kustomization.yaml": ""},
        {
            "changes": {
                "namePrefix": "p-",
                "targetNamespace": "n",
                "commonMetadata": {"labels": {"a": "b"}, "annotations": {"c": "$d"}},
                "patches": [{"patch": "x"}],
                "components": ["../tagged"],
                "images": [
                    {"name": "web", "newName": "reg:80/other", "newTag": "2"},
                    {"name": "db", "digest": "sha256:1"},
                    {"name": "cache", "newTag": "3"},
                    {"name": "plain", "newName": "x"},
                ],
            }
        },
    ),
    "an explicit directory, whatever is in the folder": (
        {"directory": {"recurse": True}},
        {"app/kustomization.yaml": ""},
        {"selection": FileSelection(recurses=True)},
    ),
    "a chart, its values in the order in which they win": (
        {
            "helm": {
                "releaseName": "rel",
                "valueFiles": ["values-prod.yaml", "../shared.yaml", "/top.yaml", "gone.yaml"],
                "ignoreMissingValueFiles": True,
                "values": "a: 1\n",
                "parameters": [{"name": "a.b", "value": "1", "forceString": True}, {"name": "c"}],
                "fileParameters": [{"name": "cert", "path": "cert.pem"}],
                "kubeVersion": "1.30",
                "apiVersions": ["x/v1"],
            }
        },
        {
            "app/Chart.yaml": "",
            "app/values-prod.yaml": "",
            "shared.yaml": "",
            "top.yaml": "",
            "app/cert.pem": "a\\b",
        },
        {
            "release": ChartRelease(
                name="rel",
                namespace="platform",
                values=(
                    "app/values-prod.yaml",
                    "shared.yaml",
                    "top.yaml",
                    {"a": 1},
                    SetValue(path="a.b", text="1", is_text=True),
                    SetValue(path="c", text=""),
                    SetValue(path="cert", text="a\\\\b", is_text=True),
                ),
                kubernetes=("1.30", "x/v1"),
            )
        },
    ),
    "values as an object win over a text": (
        {"helm": {"values": "a: 1", "valuesObject": {"b": 2}}},
        {"app/Chart.yaml": ""},
        {"release": ChartRelease(name="one", namespace="platform", values=({"b": 2},))},
    ),
}


@pytest.mark.parametrize(("source", "files", "fields"), FORMS.values(), ids=FORMS)
def test_how_a_source_is_built(source: dict[str, Any], files: dict[str, str], fields: dict[str, Any]) -> None:
    built = build({"apps/one.yaml": application("one", {"path": "app", **source}), **files})
    (unit,) = built.declared
    settings = unit.settings
    assert {"changes": settings.changes, "selection": settings.selection, "release": unit.release} == {
        "changes": {},
        "selection": None,
        "release": None,
        **fields,
    }


def find_unit(text: str, **files: str) -> Unit:
    (unit,) = build({"apps/one.yaml": text, **files}).declared
    return unit


AUTOMATED: Mapping[str, tuple[Any, bool]] = {
    "somebody syncs by hand, and decides then": ({}, True),
    "automated, and prunes": ({"automated": {"prune": True}}, True),
    "automated, and does not": ({"automated": {}}, False),
    "automated, but switched off": ({"automated": {"enabled": False}}, True),
    "nothing is pruned": ({"automated": {"prune": True}, "syncOptions": ["A=b", "Prune=false"]}, False),
    "a person is asked": ({"automated": {"prune": True}, "syncOptions": ["Prune=confirm"]}, False),
}


@pytest.mark.parametrize(("policy", "prunes"), AUTOMATED.values(), ids=AUTOMATED)
def test_whether_an_application_prunes(policy: Any, prunes: bool) -> None:
    assert find_unit(application("one", {"path": "a"}, syncPolicy=policy)).settings.prunes is prunes


def test_what_an_application_sets_for_its_own_end() -> None:
    finalizer = {"finalizers": ["resources-finalizer.argocd.argoproj.io/background"]}
    assert find_unit(application("one", {"path": "a"}, metadata=finalizer)).settings.cascades
    assert not find_unit(application("one", {"path": "a"})).settings.cascades
    element = {"list": {"elements": [{"name": "one", "folder": "a"}]}}
    assert find_unit(application_set(element)).settings.cascades, "a set deletes what it made"
    assert not find_unit(application_set(element, syncPolicy={"preserveResourcesOnDeletion": True})).settings.cascades


def test_an_application_that_is_not_reconciled_is_suspended() -> None:
    skipped = {"annotations": {"argocd.argoproj.io/skip-reconcile": "true"}}
    built = build({"apps/one.yaml": application("one", {"path": "infra"}, metadata=skipped), **DIRECTORY})
    assert [unit.settings.is_suspended for unit in built.declared] == [True]
    assert [(problem.code, problem.hint) for problem in built.problems] == [
        ("Suspended", "Remove the annotation argocd.argoproj.io/skip-reconcile to resume it.")
    ]


def test_several_sources_are_units_and_one_may_be_values_only() -> None:
    sources = [
        {"repoURL": HERE, "path": "chart", "helm": {"valueFiles": ["$values/prod/values.yaml"]}},
        {"repoURL": HERE, "ref": "values", "targetRevision": "main"},
        {"repoURL": HERE, "path": "infra"},
        {"repoURL": "https://charts.example.com", "chart": "redis", "targetRevision": "1.2.3"},
    ]
    files = {"chart/Chart.yaml": "name: c\nversion: 0.1.0\n", "prod/values.yaml": "", **DIRECTORY}
    built = build({"apps/one.yaml": application("one", sources=sources), **files})
    chart, infra = sorted(built.declared, key=lambda declared: declared.name)  # charts are rendered last
    assert (chart.name, infra.name) == ("apps/argocd/one", "apps/argocd/one/2")
    assert chart.release
    assert chart.release.values == ("prod/values.yaml",)
    others = [problem for problem in built.problems if problem.code == "OtherSource"]
    assert [declared.unit for declared in others] == ["apps/argocd/one/3"]
    assert others[0].message == (
        "The chart of this Application is not in this repository, and not rendered: "
        "argocd/one (the chart redis of https://charts.example.com)."
    )


def test_helm_repository_charts_are_named_together() -> None:
    chart = {"repoURL": "https://charts.example.com", "chart": "redis", "targetRevision": "1.2.3"}
    other = {"repoURL": "https://github.com/acme/other", "path": "infra"}
    texts = [application(f"x{index}", chart) for index in range(4)] + [application("other", other)]
    found = build({"apps/all.yaml": "".join(texts)}).problems
    assert describe(found) == [
        ("OtherSource", Level.WARNING, "apps/argocd/other"),
        ("OtherSource", Level.WARNING, "apps/argocd/x0"),
    ]
    assert found[1].message.startswith("The charts of 4 Applications are not in this repository, and not rendered: ")
    assert found[1].parts == tuple(f"apps/argocd/x{index}" for index in range(4)), "deletes of each are held"


REVISIONS: Mapping[str, tuple[str, bool]] = {
    "the default branch": ("", True),
    "by its usual name": ("HEAD", True),
    "by its own name": ("main", True),
    "the branch that is read": ("dev", True),
    "in full": ("refs/heads/dev", True),
    "another branch": ("release", False),
    "a tag": ("v1.0.0", False),
    "a commit": ("0123456789abcdef0123456789abcdef01234567", False),
}


@pytest.mark.parametrize(("revision", "is_built"), REVISIONS.values(), ids=REVISIONS)
def test_another_revision_is_named_and_not_built(revision: str, is_built: bool) -> None:
    text = application("one", {"path": "infra", "targetRevision": revision})
    built = build({"apps/one.yaml": text, **DIRECTORY})
    assert bool(built.files) is is_built
    assert built.covered.has("infra/rg.yaml"), "what another revision has is not read from this one"
    expected = [] if is_built else [("OtherSource", Level.WARNING, "apps/argocd/one")]
    assert describe(built.problems) == expected


def test_nothing_is_followed_without_a_remote() -> None:
    text = application("one", {"path": "infra"})
    built = build({"apps/one.yaml": text, **DIRECTORY}, repository=ThisRepository())
    assert (built.declared, describe(built.problems)) == ((), [("OtherSource", Level.WARNING, "apps/argocd/one")])
    assert "a clone with a remote of this URL" in built.problems[0].hint
    assert not built.covered.has("infra/rg.yaml")


def test_applications_lead_to_others_in_their_order() -> None:
    wave = {"annotations": {"argocd.argoproj.io/sync-wave": "-2"}}
    files = {
        "apps/root.yaml": application("root", {"path": "all", "directory": {"recurse": True}}),
        "all/one.yaml": application("one", {"path": "infra"}, metadata=wave),
        "all/deep/two.yaml": application("two", {"path": "infra/deep", "directory": {"exclude": "test-*"}}),
        **DIRECTORY,
    }
    built = build(files)
    assert {unit.name: unit.settings.waves for unit in built.declared} == {
        "apps/argocd/root": (),
        "apps/argocd/one": (("apps/argocd/root", -2),),
        "apps/argocd/two": (("apps/argocd/root", 0),),
    }
    assert built.problems == ()


def test_applications_in_a_circle_and_one_that_declares_itself_are_followed_once() -> None:
    files = {
        "apps/a.yaml": application("a", {"path": "apps"}),
        "apps/b.yaml": application("b", {"path": "more"}),
        "more/a.yaml": application("a", {"path": "apps"}) + application("b", {"path": "more"}),
    }
    built = build(files)
    assert (sorted(unit.name for unit in built.declared), built.problems) == (["apps/argocd/a", "apps/argocd/b"], ())


def test_a_file_that_a_parent_leaves_out_is_followed_from_where_it_is() -> None:
    files = {
        "apps/root.yaml": application("root", {"path": "apps", "directory": {"exclude": "own/*"}}),
        "apps/own/one.yaml": application("one", {"path": "infra"}),
        **DIRECTORY,
    }
    assert [unit.name for unit in build(files).declared] == ["apps/own/argocd/one", "apps/argocd/root"]


def test_a_chain_of_applications_ends() -> None:
    files = {f"a{n}/next.yaml": application(f"n{n}", {"path": f"a{n + 1}"}) for n in range(60)}
    built = build({"apps/start.yaml": application("start", {"path": "a0"}), **files})
    assert (len(built.declared), [problem.code for problem in built.problems]) == (21, ["TooDeep"])


def test_templates_of_charts_are_not_read_as_objects() -> None:
    template = application("{{ .Values.name }}", {"path": "infra"}).replace('"kind"', '{{ if }}\n"kind"')
    built = build({"apps/Chart.yaml": "name: c\n", "apps/templates/one.yaml": template})
    assert (built.declared, [problem for problem in built.problems if problem.code == "InvalidApplication"]) == ((), [])


LISTED = {"list": {"elements": [{"name": "a", "folder": "teams/a"}, {"name": "b", "folder": "teams/b"}]}}
TEAMS = {f"teams/{name}/rg.yaml": MANIFEST for name in ("a", "b", "old")}
CONFIGS = {f"teams/{name}/config.json": json.dumps({"name": name, "of": {"x": name}}) for name in ("a", "b")}


def git(**more: Any) -> dict[str, Any]:
    return {"git": {"repoURL": HERE, "revision": "HEAD", **more}}


SETS: Mapping[str, tuple[str, dict[str, str]]] = {
    "a list": (application_set(LISTED), {"a": "teams/a", "b": "teams/b"}),
    "a list in Go": (application_set(LISTED, is_go=True), {"a": "teams/a", "b": "teams/b"}),
    "folders": (
        application_set(git(directories=[{"path": "teams/*"}, {"path": "teams/old", "exclude": True}]))
        .replace("{{name}}", "{{path.basename}}")
        .replace("{{folder}}", "{{path}}"),
        {"a": "teams/a", "b": "teams/b"},
    ),
    "folders in Go, with a prefix and values": (
        application_set(
            git(
                directories=[{"path": "teams/[ab]"}],
                pathParamPrefix="one",
                values={"n": "{{index .one.path.segments 1}}"},
            ),
            is_go=True,
        )
        .replace("{{.name}}", "{{.values.n}}")
        .replace("{{.folder}}", "{{.one.path.path}}"),
        {"a": "teams/a", "b": "teams/b"},
    ),
    "files": (
        application_set(git(files=[{"path": "teams/**/config.json"}]))
        .replace("{{name}}", "{{of.x}}")
        .replace("{{folder}}", "{{path[0]}}/{{path.basename}}"),
        {"a": "teams/a", "b": "teams/b"},
    ),
    "files in Go": (
        application_set(git(files=[{"path": "teams/a/*.json"}]), is_go=True)
        .replace("{{.name}}", "{{.of.x}}-{{.path.filename}}")
        .replace("{{.folder}}", "{{.path.path}}"),
        {"a-config.json": "teams/a"},
    ),
    "two generators": (
        application_set(LISTED, {"list": {"elements": [{"name": "c", "folder": "teams/old"}]}}),
        {"a": "teams/a", "b": "teams/b", "c": "teams/old"},
    ),
    "no elements": (application_set({"list": {"elements": []}}), {}),
}


@pytest.mark.parametrize(("text", "paths"), SETS.values(), ids=SETS)
def test_an_application_set_makes_applications(text: str, paths: dict[str, str]) -> None:
    built = build({"apps/set.yaml": text, **TEAMS, **CONFIGS})
    assert [problem for problem in built.problems if problem.is_error] == []
    assert {unit.name.rpartition("/")[2]: unit.path for unit in built.declared} == paths
    assert built.inputs == (CONFIGS.keys() & built.inputs)
    assert bool(built.inputs) is ("config.json" in text or "*.json" in text), "their changes are changes of the source"


UNFOLLOWED: Mapping[str, tuple[str, str, str]] = {
    "clusters": (application_set({"clusters": {}}), "generators[0].clusters", "queries a cluster"),
    "pull requests": (application_set({"pullRequest": {}}), "generators[0].pullRequest", "queries a service"),
    "a matrix": (application_set({"matrix": {"generators": []}}), "generators[0].matrix", "combines others"),
    "an unknown one": (application_set({"stars": {}}), "generators[0].stars", "is not known"),
    "a list of a matrix": (application_set({"list": {"elementsYaml": "x"}}), "elementsYaml", "combines others"),
    "a selector": (application_set({**LISTED, "selector": {"matchLabels": {}, "x": 1}}), "selector", "not supported"),
    "an own template": (application_set({"list": {"template": {"metadata": {"name": "x"}}}}), "template", "supported"),
    "another repository": (
        application_set({"git": {"repoURL": "https://example.com/a", "directories": []}}),
        "git.repoURL",
        "not this repository",
    ),
    "another revision": (application_set(git(revision="v1", directories=[])), "git.revision", "the revision v1"),
    "folders that are not there": (
        application_set(git(directories=[{"path": "infra/*"}])),
        "git.directories[0].path",
        "matches nothing",
    ),
    "a patch of the template": (application_set(LISTED, templatePatch="x"), "templatePatch", "templates"),
}


@pytest.mark.parametrize(("text", "field", "reason"), UNFOLLOWED.values(), ids=UNFOLLOWED)
def test_a_generator_that_is_not_followed_is_named(text: str, field: str, reason: str) -> None:
    built = build({"apps/set.yaml": text})
    assert describe(built.problems) == [("GeneratorNotFollowed", Level.WARNING, "apps")]
    assert built.problems[0].field.endswith(field)
    assert reason in built.problems[0].message


INVALID: Mapping[str, tuple[str, str]] = {
    "no source": (application("a").replace("source", "sauce"), "spec.source"),
    "a source without a URL": (application("a", {"path": "x", "repoURL": None}), "spec.source.repoURL"),
    "a path out of the repository": (application("a", {"path": "../.."}), "spec.source.path"),
    "two forms": (
        application("a", {"path": "chart", "helm": {"releaseName": "a"}, "directory": {"recurse": True}}),
        "spec.source.helm",
    ),
    "a glob with odd braces": (
        application("a", {"path": "x", "directory": {"include": "{a"}}),
        "spec.source.directory.include",
    ),
    "values out of the repository": (
        application("a", {"path": "chart", "helm": {"valueFiles": ["../../etc/passwd"]}}),
        "spec.source.helm.valueFiles[0]",
    ),
    "values that are no mapping": (
        application("a", {"path": "chart", "helm": {"values": "[1]"}}),
        "spec.source.helm.values",
    ),
    "values that do not parse": (
        application("a", {"path": "chart", "helm": {"values": "a: ["}}),
        "spec.source.helm.values",
    ),
    "a file that is missing": (
        application("a", {"path": "chart", "helm": {"fileParameters": [{"name": "a", "path": "/etc/passwd"}]}}),
        "spec.source.helm.fileParameters[0].path",
    ),
    "a template with odd braces": (
        application_set(LISTED, is_go=True).replace("{{.name}}", "{{ {{.name}} }}"),
        "spec.template",
    ),
    "a template with a condition": (
        application_set(LISTED, is_go=True).replace("{{.name}}", "{{ if .name }}a{{ end }}"),
        "spec.template",
    ),
    "an element that is no mapping": (
        application_set({"list": {"elements": ["a"]}}),
        "spec.generators[0].list.elements[0]",
    ),
    "two generators in one entry": (application_set({**LISTED, **git()}), "spec.generators[0]"),
    "a made path out of the repository": (
        application_set({"list": {"elements": [{"name": "a", "folder": "../../etc"}]}}),
        "spec.source.path",
    ),
    "parameters that do not parse": (application_set(git(files=[{"path": "apps/odd.txt"}])), "spec.generators"),
    "a text that does not parse": (application("a").replace("]", "") + "a: [\n", ""),
}


@pytest.mark.parametrize(("text", "field"), INVALID.values(), ids=INVALID)
def test_an_object_that_cannot_be_read_is_an_error_with_its_field(text: str, field: str) -> None:
    built = build({"apps/one.yaml": text, "apps/odd.txt": "a: [", "chart/Chart.yaml": ""})
    errors = [problem for problem in built.problems if problem.is_error]
    assert [(error.code, error.field, error.unit, bool(error.hint)) for error in errors] == [
        ("InvalidApplication", field, "apps", True)
    ]
    assert all(error.line for error in errors)


REFUSED: Mapping[str, tuple[dict[str, Any], dict[str, str], str]] = {
    "a plugin": ({"plugin": {"name": "vault"}}, {}, "plugin"),
    "Jsonnet": ({}, {"infra/a.jsonnet": "{}"}, "infra/a.jsonnet is Jsonnet"),
    "overrides in the folder": ({}, {"infra/.argocd-source.yaml": ""}, "infra/.argocd-source.yaml"),
    "overrides of one Application": ({}, {"infra/.argocd-source-one.yaml": ""}, ".argocd-source-one.yaml"),
    "variables in annotations": (
        {"kustomize": {"commonAnnotations": {"a": "$ARGOCD_APP_NAME"}, "commonAnnotationsEnvsubst": True}},
        {"infra/kustomization.yaml": ""},
        "Argo CD variables",
    ),
    "variables in parameters": (
        {"helm": {"parameters": [{"name": "a", "value": "${ARGOCD_APP_NAME}"}]}},
        {"infra/Chart.yaml": ""},
        "Argo CD variables",
    ),
    "no kustomization": ({"kustomize": {"namePrefix": "x"}}, {}, "no kustomization in infra"),
    "values of another address": (
        {"helm": {"valueFiles": ["https://example.com/v.yaml"]}},
        {"infra/Chart.yaml": ""},
        "does not fetch remote files",
    ),
    "no chart": ({"helm": {"releaseName": "x"}}, {}, "no Chart.yaml in infra"),
    "no files": ({"directory": {"include": "*.nothing"}}, {}, "no manifests"),
}


@pytest.mark.parametrize(("source", "files", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_is_not_built_is_an_error_if_it_may_have_resources(
    source: dict[str, Any], files: dict[str, str], reason: str
) -> None:
    built = build({"apps/one.yaml": application("one", {"path": "infra", **source}), **DIRECTORY, **files})
    assert describe(built.problems) == [("ApplicationFailed", Level.ERROR, "apps/argocd/one")]
    (problem,) = built.problems
    assert (problem.path, problem.line) == ("apps/one.yaml", 2)
    assert reason in problem.message
    assert built.covered.has("infra/rg.yaml"), "it is not read in another way"


def test_values_of_another_repository_are_named() -> None:
    sources = [
        {"repoURL": HERE, "path": "infra", "helm": {"valueFiles": ["$values/a.yaml"]}},
        {"repoURL": "https://example.com/values", "ref": "values"},
    ]
    built = build({"apps/one.yaml": application("one", sources=sources), "infra/Chart.yaml": "", **DIRECTORY})
    assert [problem.code for problem in built.problems] == ["ApplicationFailed"]
    assert "https://example.com/values" in built.problems[0].message


def test_a_generator_that_makes_too_many_applications_ends() -> None:
    elements = [{"name": f"n{n}", "folder": f"a{n}"} for n in range(MOST + 1)]
    built = build({"apps/set.yaml": application_set({"list": {"elements": elements}})})
    assert len(built.declared) == MOST
    assert Counter(problem.code for problem in built.problems)["TooManyUnits"] == 1


def test_one_name_with_two_meanings_is_an_error() -> None:
    files = {"apps/a.yaml": application("a", {"path": "infra"}), "apps/b.yaml": application("a", {"path": "teams"})}
    codes = [(problem.code, problem.path) for problem in build({**files, **DIRECTORY}).problems]
    assert codes == [("DuplicateUnit", "apps/b.yaml")]


@needs_build_tool
def test_everything_that_a_kustomize_source_changes_in_a_real_build() -> None:
    kustomize = {
        "namePrefix": "p-",
        "commonLabels": {"team": "a"},
        "commonAnnotations": {"note": "b"},
        "patches": [{"target": {"kind": "ResourceGroup"}, "patch": "- {op: add, path: /spec/tags, value: {a: b}}"}],
        "components": ["../tagged"],
    }
    files = {
        "apps/one.yaml": application("one", {"path": "app", "kustomize": kustomize}),
        "app/kustomization.yaml": "resources: [rg.yaml]\nnamePrefix: own-\n",
        "app/rg.yaml": MANIFEST,
        "tagged/kustomization.yaml": textwrap.dedent("""\
            apiVersion: kustomize.config.k8s.io/v1alpha1
            kind: Component
            nameSuffix: -tagged
            """),
    }
    built = build(files)
    assert built.problems == ()
    group = yaml.safe_load(built.files["apps/argocd/one.yaml"])
    assert group["metadata"]["name"] == "p-rg-tagged", "it replaces the prefix of the folder"
    assert (group["metadata"]["labels"], group["metadata"]["annotations"]["note"]) == ({"team": "a"}, "b")
    assert group["spec"]["tags"] == {"a": "b"}
    assert "app/rg.yaml" in built.units["apps/argocd/one.yaml"].contents, "the file to edit"


TEAM_CHART = {
    "charts/team/Chart.yaml": "{apiVersion: v2, name: team, version: 0.1.0}\n",
    "charts/team/values.yaml": "{location: eastus, tags: {}, zone: none}\n",
    "charts/team/near.yaml": "{tags: {file: near}}\n",
    "charts/team/templates/group.yaml": textwrap.dedent(
        """\
        apiVersion: resources.azure.com/v1api20200601
        kind: ResourceGroup
        metadata: {name: {{ .Release.Name }}, annotations: {zone: {{ .Values.zone | quote }}}}
        spec: {location: {{ .Values.location }}, tags: {{ toJson .Values.tags }}}
        """
    ),
    "shared.yaml": "{location: northeurope, tags: {ring: one}}\n",
}
PARAMETERS = {"parameters": [{"name": "location", "value": "uksouth"}, {"name": "tags.a", "value": "7"}]}
VALUES_HERE = {"repoURL": HERE, "ref": "values"}

HELM_SOURCES: Mapping[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "values of the chart": ({}, {"location": "eastus", "tags": {}}),
    "values as a text": ({"values": "location: westus\n"}, {"location": "westus", "tags": {}}),
    "values over files": (
        {"valueFiles": ["near.yaml"], "valuesObject": {"location": "westus"}},
        {"location": "westus", "tags": {"file": "near"}},
    ),
    "parameters over values": (
        {"valuesObject": {"location": "westus"}, **PARAMETERS},
        {"location": "uksouth", "tags": {"a": 7}},
    ),
    "a file of another source": (
        {"valueFiles": ["near.yaml", "$values/shared.yaml"]},
        {"location": "northeurope", "tags": {"file": "near", "ring": "one"}},
    ),
    "a file from the root": ({"valueFiles": ["/shared.yaml"]}, {"location": "northeurope", "tags": {"ring": "one"}}),
    "a missing file": (
        {"valueFiles": ["none.yaml"], "ignoreMissingValueFiles": True},
        {"location": "eastus", "tags": {}},
    ),
    "the content of a file": (
        {"fileParameters": [{"name": "tags.a", "path": "near.yaml"}]},
        {"location": "eastus", "tags": {"a": "{tags: {file: near}}\n"}},
    ),
}


@needs_helm
def test_values_of_a_helm_source_in_a_real_render() -> None:
    sources = {
        f"a{index}": [{"repoURL": HERE, "path": "charts/team", "helm": helm}, VALUES_HERE]
        for index, (helm, _) in enumerate(HELM_SOURCES.values())
    }
    texts = [application(name, sources=both) for name, both in sources.items()]
    built = build({"apps/all.yaml": "".join(texts), **TEAM_CHART})
    assert built.problems == ()
    found = [yaml.safe_load(built.files[f"apps/argocd/{name}.yaml"]) for name in sources]
    assert [manifest["metadata"]["name"] for manifest in found] == list(sources), (
        "the release has the name of the Application"
    )
    assert dict(zip(HELM_SOURCES, (application["spec"] for application in found), strict=True)) == {
        why: spec for why, (_, spec) in HELM_SOURCES.items()
    }


@needs_helm
def test_an_application_of_applications_in_a_chart_leads_to_charts() -> None:
    template = """\
        {{- range .Values.teams }}
        ---
        apiVersion: argoproj.io/v1alpha1
        kind: Application
        metadata: {name: {{ . }}}
        spec:
          destination: {namespace: {{ . }}}
          sources:
          - repoURL: https://github.com/acme/estate
            path: charts/team
            helm:
              valueFiles: [$values/shared.yaml]
              parameters: [{name: location, value: westeurope}]
          - {repoURL: https://github.com/acme/estate, ref: values}
        {{- end }}
        """
    files = {
        "apps/root.yaml": application("root", {"path": "all", "helm": {"valuesObject": {"teams": ["blue", "red"]}}}),
        "all/Chart.yaml": "{apiVersion: v2, name: all, version: 0.1.0}\n",
        "all/templates/apps.yaml": textwrap.dedent(template),
        **TEAM_CHART,
    }
    built = build(files)
    assert built.problems == ()
    assert [unit.name for unit in built.declared] == ["apps/argocd/root", "apps/argocd/blue", "apps/argocd/red"]
    found = yaml.safe_load(built.files["apps/argocd/red.yaml"])
    assert (found["metadata"]["name"], found["spec"]) == ("red", {"location": "westeurope", "tags": {"ring": "one"}})
    assert built.units["apps/argocd/red.yaml"].namespace == "red"
