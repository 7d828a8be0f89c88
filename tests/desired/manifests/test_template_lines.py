"""Which line of a template a line of its result leads to."""

import pytest

from gitsync.desired.manifests.origins import follow_lines

TEMPLATE = b"""\
{{- if .Values.on }}
kind: A
metadata:
  name: {{ .Values.name }}
  {{- with .Values.labels }}
  labels: {{ toYaml . | nindent 4 }}
  {{- end }}
spec:
  name: {{ .Values.inner }}
  list:
  {{- range .Values.list }}
  - key: {{ . }}
  {{- end }}
---
kind: B
{{ include "x" . }}
{{- end }}
"""
ROWS = [
    (b"---\nkind: A\nmetadata:\n  name: a\n", [2, 2, 3, 4], "without the lines of the template's language"),
    (b"---\nkind: A\nspec:\n  name: b\n", [2, 2, 8, 9], "a key that is there twice is the next one"),
    (b"---\nkind: A\nmetadata:\n  name: a\n  labels:\n    x: y\nspec:\n", [2, 2, 3, 4, 6, 6, 8], "what has no line has that before it"),
    (b"---\nkind: A\nspec:\n  list:\n  - key: 1\n  - key: 2\n", [2, 2, 8, 10, 12, 12], "what a loop repeats"),
    (b"---\nspec:\n  name: b\nmetadata:\n  name: a\nkind: A\n", [2, 8, 9, 3, 4, 2], "fields in another order"),
    (b"---\nkind: B\na: 1\n", [15, 15, 15], "the document that has most of the lines"),
    (b"---\nq: 1\nr: 2\n", [16, 16, 16], "what is in no line leads to the first template that is included"),
]  # fmt: skip


@pytest.mark.parametrize(("result", "lines", "why"), ROWS, ids=[row[-1] for row in ROWS])
def test_a_line_leads_to_the_line_that_it_was_made_of(result, lines, why):
    followed = follow_lines(result, TEMPLATE)
    assert list(followed[1:]) == lines[1:], why
    assert len(followed) == len(result.splitlines())


@pytest.mark.parametrize("template", [b"", b"\n", b"---", b"{{ include }}"])
def test_whatever_the_template_each_line_has_one(template):
    assert follow_lines(b"---\nkind: A\n", template) in {(1, 1), (2, 2)}
