"""Every form of a report shows which unit rendered a manifest, as its file has no such document."""

import pytest

from gitsync.model.problem import Problem
from gitsync.model.report import Report, RequestCounts
from gitsync.report import json, junit, markdown, pipelines, sarif, text
from gitsync.report.html import page
from tests.support.parts import build

FORMS = {
    "text": text.render,
    "json": json.render,
    "markdown": markdown.render,
    "html": page.render,
    "junit": junit.render,
    "sarif": sarif.render,
    "github": lambda report: "\n".join(pipelines.annotate_github(report)),
    "azure": lambda report: "\n".join(pipelines.annotate_azure_pipelines(report)),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("names", [("dev", "prod"), ()])
def test_every_form_names_the_units_of_a_problem(form, names):
    problem = Problem(code="UnknownField", message="It is unknown.", path="base/a.yaml", line=3, rendered_by=names)
    report = build(
        Report,
        command="plan",
        revision="abc",
        started="2026-11-22T10:00:00Z",
        finished="2026-11-22T10:00:01Z",
        exit_code=1,
        requests=RequestCounts(),
        problems=(problem,),
        results=(),
    )
    shown = FORMS[form](report)
    said = "renderedBy" if form == "json" else "rendered by dev, prod"
    assert (said in shown) is bool(names)
