"""A document with an ASO group that is not read: a warning of a run, an error of `validate` and with --strict."""

from __future__ import annotations

import pytest

from gitsync.cli.main import run
from gitsync.errors import SourceError
from gitsync.model.problem import Level
from tests.support.world import GROUP, VNET, World, of

MANIFEST = """\
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata:
  name: other
spec:
  location: westeurope
"""

TEMPLATES = [
    ("name: other", "name: {{ .Values.name }}", 4, "braces of Helm"),
    ("name: other", 'name: "{{ .Values.name }}"', 4, "braces of Helm in quotes"),
    ("name: other", "name: '{ResourceGroupName}'", 4, "single braces in quotes"),
    ("name: other", "name: <resource-group>", 4, "angle brackets"),
    ("name: other", "name: $(name)", 4, "a variable of a pipeline"),
    ("name: other", "name: __NAME__", 4, "a token between underscores"),
    ("apiVersion: resources", "{{- if .Values.group }}\napiVersion: resources", 1, "a condition around the document"),
    ("v1api20200601", "{{ .Values.version }}", 1, "a version of the template"),
    ("kind: ResourceGroup", "kind: <Kind>", 2, "a kind of the template"),
]


def test_templates_are_errors_of_validate_and_with_strict(tmp_path, capsys):
    """Each has a file of its own."""
    files = {f"template{row}": MANIFEST.replace(text, other) for row, (text, other, _, _) in enumerate(TEMPLATES)}
    assert MANIFEST not in files.values()
    world = World(tmp_path).says(group=GROUP, **files)
    assert run(["validate", str(world.folder)]) == 1
    told = capsys.readouterr().out
    for start in (world.plan, world.sync):
        with pytest.raises(SourceError, match=r"--strict refuses the run: template0\.yaml:4: "):
            start(strict=True)
    assert world.requests == [], "nothing was touched"
    report = world.sync()
    assert report.exit_code == 0
    problems = [(problem.path, problem.line, problem.code, problem.level) for problem in report.problems]
    for row, (_, _, line, why) in enumerate(TEMPLATES):
        assert f"template{row}.yaml:{line}: error: Template" in told, why
        assert (f"template{row}.yaml", line, "Template", Level.WARNING) in problems, why
    assert len(problems) == len(TEMPLATES)


NOT_OURS = [
    ("apiVersion: v1\nkind: Service\nmetadata: {name: {{ .Values.name }}}\n", "a template of another tool"),
    ("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: '{Name}'}\n", "an object of another tool"),
]


@pytest.mark.parametrize(("template", "why"), NOT_OURS, ids=[row[-1] for row in NOT_OURS])
def test_a_template_without_an_aso_group_fails_nothing(tmp_path, template, why):
    world = World(tmp_path).says(group=GROUP, template=template)
    assert run(["validate", str(world.folder)]) == 0, why
    assert world.sync(strict=True).exit_code == 0, why


def test_a_manifest_that_becomes_a_template_is_not_deleted(tmp_path):
    world = World(tmp_path)
    world.synced(group=GROUP, vnet=VNET)
    report = world.says(group=GROUP, vnet=VNET.replace("name: hub", "name: '{{ .Values.name }}'")).sync(prune=True)
    assert (of(report, "VirtualNetwork", "hub").condition.reason, world.sent("DELETE")) == ("PruneHeld", [])
