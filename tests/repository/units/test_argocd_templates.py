"""The templates of ApplicationSets, with and without Go."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from gitsync.desired.manifests.expansions import ExpansionBudget
from gitsync.errors import TemplateError, TooLargeExpansionError
from gitsync.repository.units.argocd_templates import Renderer, normalize

GO = {
    "path": {"path": "teams/Blue_Team", "basename": "Blue_Team", "segments": ["teams", "Blue_Team"]},
    "ring": "one",
    "size": 3,
    "part": 2.0,
    "on": True,
    "empty": "",
}

RENDERED: Mapping[str, tuple[str, str]] = {
    "a text without a template": ("plain {text}", "plain {text}"),
    "a field": ("{{.path.basename}}", "Blue_Team"),
    "several, with spaces": ("{{ .ring }}-{{.size}}-{{ .part }}-{{ .on }}", "one-3-2-true"),
    "an entry of a list": ("{{index .path.segments 1}}", "Blue_Team"),
    "a pipe": ("{{ .path.basename | lower | trimSuffix `_team` }}", "blue"),
    "the piped value is the last argument": ('{{ .path.path | replace "/" "-" }}', "teams-Blue_Team"),
    "parentheses": ('{{ upper (trimPrefix "o" .ring) }}', "NE"),
    "a default": ('{{ default "small" .missing }}{{ .empty | default "x" }}', "smallx"),
    "normalize": ("{{ normalize .path.basename }}", "blue-team"),
    "join": ('{{ join "." .path.segments }}', "teams.Blue_Team"),
    "trunc": ("{{ trunc 2 .ring }}{{ trunc -2 .ring }}", "onne"),
    "quote": ("{{ quote .ring }}", '"one"'),
    "trimmed text around": ("a  {{- .ring -}}  b", "aoneb"),
    "printf with texts": ('{{ printf "../%s/%s.yaml" .path.basename .ring }}', "../Blue_Team/one.yaml"),
    "printf with numbers": ('{{ printf "%d-%03d-%5d|%-3d|" .size 7 42 1 }}', "3-007-   42|1  |"),
    "printf with a width": ('{{ printf "%5s|%-5s|%.2s" .ring .ring .ring }}', "  one|one  |on"),
    "printf of anything": (
        '{{ printf "%v %v %v %t %q %x%%" .ring .size .on .on .ring 255 }}',
        'one 3 true true "one" ff%',
    ),
    "a pipe into printf": ('{{ .ring | printf "ring-%s" }}', "ring-one"),
    "print": ('{{ print "a" 1 2 "b" }}', "a1 2b"),
    "and": ("{{ and .on .ring }}{{ and .empty .ring }}", "one"),
    "or": ("{{ or .empty .missing .ring }}", "one"),
    "not": ("{{ not .empty }}{{ not .missing }}{{ not .ring }}", "truetruefalse"),
    "eq": ('{{ eq .ring "one" }}{{ eq .ring "two" "one" }}{{ eq .size 4 }}{{ ne .ring "one" }}', "truetruefalsefalse"),
    "comparisons": ('{{ lt .size 4 }}{{ le .size 3 }}{{ gt .size 3 }}{{ ge .ring "a" }}', "truetruefalsetrue"),
    "len": ('{{ len .path.segments }}{{ len .ring }}{{ len "é" }}', "232"),
    "slice": ("{{ slice .ring 1 }}{{ slice .ring 0 1 }}{{ index (slice .path.segments 1) 0 }}", "neoBlue_Team"),
    "index of a mapping": ('{{ index .path "basename" }}', "Blue_Team"),
    "html": ('{{ html "<a&b>" }}', "&lt;a&amp;b&gt;"),
    "urlquery": ('{{ urlquery "a b/c" }}', "a+b%2Fc"),
    "truths as literals": ("{{ and true .ring }}{{ or false .ring }}{{ true }}", "oneonetrue"),
    "a text as a literal": ('{{ "a\\"b" }}', 'a"b'),
}


@pytest.mark.parametrize(("template", "text"), RENDERED.values(), ids=RENDERED)
def test_a_go_template_is_rendered(template: str, text: str) -> None:
    assert Renderer(is_go=True).render(template, GO) == text


REFUSED = {
    "a missing field": "{{ .missing }}",
    "a mapping": "{{ .path }}",
    "everything": "{{ . }}",
    "a condition": "{{ if .on }}a{{ end }}",
    "a loop": "{{ range .path.segments }}{{ . }}{{ end }}",
    "a variable": "{{ $x := .ring }}",
    "an unknown function": "{{ genCA .ring }}",
    "printf without a value": '{{ printf "%s" }}',
    "printf with a value too many": '{{ printf "a" .ring }}',
    "printf of another type": '{{ printf "%d" .ring }}',
    "printf of a mapping": '{{ printf "%v" .path }}',
    "printf of what is missing": '{{ printf "%s" .missing }}',
    "printf with an unknown verb": '{{ printf "%y" .ring }}',
    "printf of more than fits": '{{ printf "%9999s" .ring }}',
    "a comparison of two types": "{{ eq .ring 3 }}",
    "a comparison of what is missing": '{{ eq .missing "a" }}',
    "an order of truths": "{{ lt true false }}",
    "and of nothing": "{{ and }}",
    "len of a number": "{{ len 3 }}",
    "a slice beyond the end": "{{ slice .ring 9 }}",
    "a slice of a number": "{{ slice 3 0 }}",
    "too few arguments": "{{ replace .ring }}",
    "an argument of another type": "{{ trunc .ring .ring }}",
    "a function of the process": '{{ env "HOME" }}',
    "no end": "{{ .ring",
    "no text": "{{ }}",
    "an odd brace": "{{ {{ .ring }} }}",
    "a pipe to nothing": "{{ .ring | }}",
    "a pipe to a field": "{{ .ring | .ring }}",
    "many parentheses": "{{ " + "(" * 500 + ".ring" + ")" * 500 + " }}",
    "an open parenthesis": "{{ (.ring }}",
    "an open text": '{{ "a }}',
}


@pytest.mark.parametrize("template", REFUSED.values(), ids=REFUSED)
def test_everything_else_is_refused(template: str) -> None:
    with pytest.raises(TemplateError):
        Renderer(is_go=True).render({"metadata": {"name": template}}, GO)


SIMPLE: Mapping[str, tuple[Any, Any]] = {
    "a parameter": ("{{path.basename}}", "blue"),
    "with spaces": ("{{ path[0] }}/{{path.basename}}", "teams/blue"),
    "an unknown one stays, as in Argo CD": ("{{ .Values.x }}{{other}}", "{{ .Values.x }}{{other}}"),
    "an odd brace": ("{{{path.basename}}} {{", "{{{path.basename}}} {{"),
    "keys and lists": ({"{{path.basename}}": ["{{path.basename}}", 1, None]}, {"blue": ["blue", 1, None]}),
    "what is put in is not rendered again": ("{{odd}}", "{{path.basename}}"),
}


@pytest.mark.parametrize(("template", "rendered"), SIMPLE.values(), ids=SIMPLE)
def test_parameters_replace_their_names(template: Any, rendered: Any) -> None:
    parameters = {"path.basename": "blue", "path[0]": "teams", "odd": "{{path.basename}}"}
    assert Renderer().render(template, parameters) == rendered


TOO_MUCH = [
    ("{{a}}" * 1_000_000, False, "a value, again and again"),
    ("{{.a}}" * 1_000_000, True, "the same in a template of Go"),
    ('{{.a | replace "x" "xxxxxxxxxx"' + ' | replace "x" "xxxxxxxxxx"' * 30 + "}}", True, "a chain that multiplies"),
    ("{{.q" + " | quote" * 40 + "}}", True, "quotes that are quoted"),
    ('{{(join (.a | replace "x" "xxxxxxxxxx") .many) | trunc 1}}', True, "a long text between short ones"),
]


@pytest.mark.parametrize(("text", "is_go", "why"), TOO_MUCH, ids=[row[-1] for row in TOO_MUCH])
def test_characters_are_counted_before_they_are_made(text: str, is_go: bool, why: str) -> None:
    parameters = {"a": "x" * 1000, "q": '"', "many": ["x"] * 10_000}
    with pytest.raises(TooLargeExpansionError):
        Renderer(is_go).render(text, parameters)


def test_the_budget_is_that_of_all_templates() -> None:
    budget = ExpansionBudget(left=100)
    for _ in range(9):
        Renderer(budget=budget).render("{{a}}", {"a": "x" * 10})
    with pytest.raises(TooLargeExpansionError):
        Renderer(budget=budget).render("{{a}}", {"a": "x" * 10})


def test_the_name_of_an_object_is_normalized() -> None:
    assert normalize("My_Team.v1-") == "my-team.v1"
    assert normalize("x" * 300) == "x" * 253
