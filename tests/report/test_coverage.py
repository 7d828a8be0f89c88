"""What was read and what was skipped: counted in every form of a report, and listed where that is requested."""

import json
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from gitsync.model.manifests import Coverage, UnreadDocument
from gitsync.model.problem import Problem, SourceLocation
from gitsync.report import json as json_report
from gitsync.report import junit, markdown, sarif, text
from gitsync.report.html import page
from gitsync.report.run_facts import build_coverage, format_coverage, list_left_out
from tests.report.report_builders import FULL
from tests.support.parts import change


def unread(line, kind="", api_version="", **more):
    return UnreadDocument(source=SourceLocation("a.yaml", line), kind=kind, api_version=api_version, **more)


WEB, API = unread(1, "Deployment", "apps/v1", name="web"), unread(5, "Deployment", "apps/v1", name="api")
CHART = unread(9, "HelmRelease", "helm.toolkit.fluxcd.io/v2")
APPLICATION = unread(18, "Application", "argoproj.io/v1alpha1", name="shop", is_followed=True)
UNNAMED = Coverage(files=1, resources=1, unnamed={"a/b.yaml": 2, "a/c.yaml": 1})
COVERAGE = Coverage(
    files=3,
    resources=20,
    unread=(WEB, API, CHART, unread(12), unread(15, is_rejected=True), APPLICATION),
    ignored=("b.yaml", "c.yml"),
    skipped=("b/kustomization.yaml",),
    notes=(Problem(code="DuplicateManifest", message="Secret a/b is declared twice.", path="c.yml", line=2),),
)
SENTENCE = (
    "20 resources in 3 files; followed 1 Argo CD Application; skipped: 2 Deployment.apps, 1 HelmRelease.helm.toolkit.fluxcd.io, "
    "1 without a kind; 1 document rejected; 2 files ignored; 1 kustomization skipped; 1 problem in what is not used"
)


@pytest.mark.parametrize(
    ("coverage", "expected", "why"),
    [
        (COVERAGE, SENTENCE, "all that there can be"),
        (Coverage(files=1, resources=1), "1 resource in 1 file", "nothing was left out"),
        (UNNAMED, "1 resource in 1 file; 3 ASO objects in 2 files that no kustomization names", "files beside those that are built"),
        (Coverage(files=1, unread=(unread(1),)), "0 resources in 1 file; skipped: 1 without a kind", "no kind"),
        (
            Coverage(files=1, unread=(unread(1, form="ARM template"),)),
            "0 resources in 1 file; skipped: 1 ARM template", "something else that can be recognised",
        ),
        (
            Coverage(files=1, unread=(unread(1, "Service", "v1"),)),
            "0 resources in 1 file; skipped: 1 Service", "the core group has no name",
        ),
        (
            Coverage(files=1, unread=(unread(1, "{{ .kind }}", "v1"), unread(2, "x\n##vso[x]", "a/v1"))),
            "0 resources in 1 file; skipped: 2 of an invalid kind", "foreign text is not repeated",
        ),
        (
            Coverage(files=1, unread=tuple(unread(n, f"Kind{n:02}", "g/v1") for n in range(12))),
            "0 resources in 1 file; skipped: "
            + ", ".join(f"1 Kind{n:02}.g" for n in range(10))
            + ", 2 more kinds", "a sentence stays a sentence",
        ),
    ],
)  # fmt: skip
def test_the_sentence(coverage, expected, why):
    assert format_coverage(coverage) == expected, why


def test_the_counts_of_a_program():
    assert build_coverage(COVERAGE) == {
        "files": 3,
        "resources": 20,
        "followed": {"Application.argoproj.io": 1},
        "passedOver": {"Deployment.apps": 2, "HelmRelease.helm.toolkit.fluxcd.io": 1, "without a kind": 1},
        "rejected": 1,
        "ignoredFiles": 2,
        "skippedKustomizations": 1,
        "notes": 1,
    }


def test_what_no_kustomization_names_is_counted_and_listed():
    assert build_coverage(UNNAMED)["unnamed"] == 3
    assert list(list_left_out(UNNAMED)) == [
        "a/b.yaml: no kustomization names it: 2 ASO objects",
        "a/c.yaml: no kustomization names it: 1 ASO object",
    ]


def test_the_order_of_the_documents_changes_nothing():
    turned = replace(COVERAGE, unread=COVERAGE.unread[::-1])
    assert json.dumps(build_coverage(turned)) == json.dumps(build_coverage(COVERAGE))
    assert list(list_left_out(turned)) == list(list_left_out(COVERAGE))


def test_the_list_has_each_with_its_location():
    assert list(list_left_out(COVERAGE)) == [
        "a.yaml:1: skipped: Deployment.apps web",
        "a.yaml:5: skipped: Deployment.apps api",
        "a.yaml:9: skipped: HelmRelease.helm.toolkit.fluxcd.io",
        "a.yaml:12: skipped: without a kind",
        "a.yaml:15: rejected",
        "a.yaml:18: followed: Application.argoproj.io shop",
        "b.yaml: ignored",
        "b/kustomization.yaml: skipped: its files have nothing for gitsync",
        "c.yml: ignored",
        "c.yml:2: not used: DuplicateManifest: Secret a/b is declared twice.",
    ]


def test_the_list_shows_no_control_character():
    unexpected = replace(WEB, name="web\x1b[2J\n")
    assert list(list_left_out(Coverage(unread=(unexpected,)))) == ["a.yaml:1: skipped: Deployment.apps web\\x1b[2J\\n"]


def test_every_form_reports_it():
    report = change(FULL, coverage=COVERAGE)
    assert f"\nread {SENTENCE}\n" in text.render(report)
    assert f"\n\nRead {SENTENCE}.\n\n" in markdown.render(report)
    assert SENTENCE in page.render(report)
    assert json_report.build_document(report)["coverage"] == build_coverage(COVERAGE)
    assert sarif.build_log(report)["runs"][0]["properties"]["coverage"] == build_coverage(COVERAGE)
    properties = {
        member.attrib["name"]: member.attrib["value"] for member in ET.fromstring(junit.render(report)).iter("property")
    }
    assert properties["read"] == SENTENCE
