"""The templates of the page: escaping is not left to any of them, and nothing that they name is missing."""

import re
from pathlib import Path

import pytest
from jinja2 import UndefinedError

from gitsync.report.html import markup
from gitsync.report.html.links import make_links
from gitsync.report.html.markup import render_template
from tests.report.report_builders import FULL

TEMPLATES = sorted((Path(markup.__file__).parent / "templates").iterdir())


GIVEN = {
    "report": FULL,
    "links": make_links(FULL),
    "headline": "",
    "counts": "",
    "authors": (),
    "baseline": "",
    "tiles": (),
    "bar": (),
    "target": (),
    "coverage": "",
    "steps": (),
}


def header(**values):
    return render_template("header.html", **GIVEN | values)


@pytest.mark.parametrize(
    ("value", "shown", "why"),
    [
        ("<b> & 'c' \"d\"", "&lt;b&gt; &amp; &#x27;c&#x27; &quot;d&quot;", "what HTML would read"),
        ("a\u202eb\x1b", "a\\u202eb\\x1b", "directions and controls"),
        (7, "7", "a number"),
        (header(counts="<b>"), "&lt;b&gt;", "what a template has escaped is not escaped twice"),
    ],
)
def test_a_value_is_escaped(value, shown, why):
    assert shown in header(counts=value), why


def test_a_name_without_a_value_is_an_error():
    with pytest.raises(UndefinedError, match="counts"):
        render_template("header.html", **{name: value for name, value in GIVEN.items() if name != "counts"})


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_no_template_decides_on_escaping(path):
    """A line break, which would be spelled out, is all that may be declared safe."""
    source = path.read_text(encoding="utf-8").replace('"\\n" | safe', "")
    assert not re.search(r"\bsafe\b|autoescape|forceescape|xmlattr|tojson|urlize|<script>(?!{{ script }})", source)
    assert not re.search(r"=({{|'{{)", source), "an attribute without double quotes could end early"
