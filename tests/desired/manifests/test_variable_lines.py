"""Lines that begin with a variable: its value decides whether the line is there."""

from __future__ import annotations

import pytest

from gitsync.desired.manifests.expansions import ExpansionBudget
from gitsync.desired.manifests.reader import read_manifests
from gitsync.desired.manifests.variable_lines import replace_begins
from gitsync.desired.manifests.variable_values import VariableSet
from gitsync.model.secret import Secret
from gitsync.model.unit import Unit
from gitsync.model.unit_kind import UnitKind
from gitsync.model.variables import VariableValues

GROUP = """\
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {name: web}
spec:
  location: westeurope
"""


@pytest.mark.parametrize(
    ("line", "replaced", "why"),
    [
        ("${OFF}  tags: {a: b}", "#  tags: {a: b}", "a comment"),
        ("  ${OFF}tags: {a: b}", None, "a part of a key"),
        ("  ${OFF} - a", "  # - a", "an item of a list"),
        ("${ON}  tags: {a: b}", "  tags: {a: b}", "an empty value"),
        ("${ON}# a comment", "# a comment", "before a comment"),
        ("${NOTE} tags: {a: b}", "# off tags: {a: b}", "a comment of several words"),
        ("${NONE:=#} tags: {a: b}", "# tags: {a: b}", "a default"),
        ("${NONE} tags: {a: b}", None, "a variable without a value"),
        ("${KEY} tags: {a: b}", None, "any other value"),
        ("${LINES} tags: {a: b}", None, "a value cannot add a line"),
        ("${SECRET} tags: {a: b}", None, "a value of a Secret is shown nowhere"),
        ("a: ${OFF} b", None, "in the middle of a line"),
        ("$OFF tags: {a: b}", None, "without braces"),
        ("${OFF", None, "no variable"),
    ],
)
def test_a_line_that_begins_with_a_variable(line, replaced, why):
    known = {"OFF": "#", "ON": "", "NOTE": "# off", "KEY": "x", "LINES": "#\nkind: X", "SECRET": Secret("#")}
    text = f"spec:\n{line}\nlast: 1\n"
    found, _ = replace_begins(text.encode(), VariableValues(known=known), ExpansionBudget())
    assert found.decode() == text.replace(line, line if replaced is None else replaced), why


def test_without_braces_for_envsubst():
    values = VariableValues(known={"OFF": "#"}, takes_braceless=True)
    assert replace_begins(b"$OFF tags: 1\n", values, ExpansionBudget()) == (b"# tags: 1\n", {"OFF"})


def test_a_default_counts_only_where_variables_are_replaced():
    values = VariableValues(known={"OFF": "#"}, is_partial=True)
    text = b"${OTHER:=#} tags: 1\n${OFF} tags: 2\n"
    assert replace_begins(text, values, ExpansionBudget())[0] == b"${OTHER:=#} tags: 1\n# tags: 2\n"


def test_an_object_may_turn_it_off():
    text = b"metadata: {annotations: {kustomize.toolkit.fluxcd.io/substitute: disabled}}\n${OFF} tags: 1\n"
    assert replace_begins(text, VariableValues(known={"OFF": "#"}), ExpansionBudget())[0] == text


@pytest.mark.parametrize(("value", "tags"), [("#", None), ("", {"env": "dev"})])
def test_the_line_is_there_or_not(value, tags):
    values = VariableValues(known={"OFF": value})
    text = f"{GROUP}${{OFF}}  tags: {{env: dev}}\n"
    found = read_manifests({"a.yaml": text.encode()}, variables=VariableSet(everywhere=values))
    (resource,) = found.resources
    assert (resource.spec.get("tags"), resource.problems, found.problems) == (tags, (), ())
    assert found.variables == {"": {"OFF"}}


@pytest.mark.parametrize("value", ["#", ""])
def test_what_is_built_has_no_such_lines(value):
    """kustomize has read the line as a key, and written it elsewhere."""
    unit = Unit(name="apps", path="apps", kind=UnitKind.FLUX, file="apps.yaml", contents={})
    values = VariableValues(known={"OFF": value})
    text = f"{GROUP}${{OFF}}  tags:\n  env: dev\n"
    variables = VariableSet(by_unit={"apps": values})
    (resource,) = read_manifests({"apps.yaml": text.encode()}, units={"apps.yaml": unit}, variables=variables).resources
    (problem,) = resource.problems
    assert (problem.code, "starts with a variable" in problem.message) == ("InvalidVariable", True)
    assert resource.others == {}
