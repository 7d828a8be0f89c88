"""`units` in gitsync.yaml: what it gives, and an error with file, line and key for everything else."""

import pytest

from gitsync.errors import ConfigError
from gitsync.model.unit import ChartRelease, Substitution, UnitEntry, UnitOptions
from gitsync.model.unit_kind import UnitKind
from gitsync.settings.config.config_file import (
    SourceFile,
    join_source_settings,
    list_unit_entries,
    read_source_settings,
)
from gitsync.settings.config.load import make_config


def entries(text):
    return list_unit_entries(SourceFile(path="gitsync.yaml", content=text.encode()))


def test_every_key_of_a_unit():
    text = """\
namespace: team
units:
- path: ./apps/prod/
  kind: kustomization
  loadRestrictor: none
  missingOwner: wait
  migrateVersions: true
  capz: manage
  substitute:
    REGION: westeurope
    COUNT: 3
    EMPTY:
- {path: ., substitute: true}
"""
    substitution = Substitution(values={"REGION": "westeurope", "COUNT": "3", "EMPTY": ""})
    options = UnitOptions(
        is_restricted=False,
        substitution=substitution,
        waits_for_owners=True,
        migrates_versions=True,
        manages_capz=True,
    )
    assert entries(text) == (
        UnitEntry(path="apps/prod", kind=UnitKind.KUSTOMIZATION, options=options, line=3),
        UnitEntry(path="", options=UnitOptions(substitution=Substitution()), line=13),
    )


def test_a_chart_has_values_from_its_folder():
    text = (
        "units: [{path: charts/team, kind: chart, values: [../base.yaml, prod.yaml], release: blue, kubernetes: 1.31}]"
    )
    release = ChartRelease(name="blue", values=("charts/base.yaml", "charts/team/prod.yaml"), kubernetes=("1.31",))
    (entry,) = entries(text)
    assert (entry.kind, entry.options.release) == (UnitKind.CHART, release)


@pytest.mark.parametrize(
    ("text", "values", "why"),
    [
        ("variables: envsubst", {}, "the values of the operator alone"),
        ("variables: envsubst, substitute: true", {}, "the same, in full"),
        ("variables: envsubst, substitute: {A: b}", {"A": "b"}, "values of the source"),
    ],
)
def test_envsubst_turns_variables_on(text, values, why):
    (entry,) = entries(f"units: [{{path: a, {text}}}]")
    assert entry.options.substitution == Substitution(values=values, takes_braceless=True), why


@pytest.mark.parametrize("text", ["", "units:\n", "units: []\n", "namespace: a\n"])
def test_no_units(text):
    assert entries(text) == ()


@pytest.mark.parametrize(
    ("text", "options", "why"),
    [
        ("loadRestrictor: rootOnly", UnitOptions(is_restricted=True), "a refusal, which is not the default"),
        ("missingOwner: error", UnitOptions(), "another default"),
        ("capz: skip", UnitOptions(), "what CAPZ manages"),
        ("substitute: false", UnitOptions(), "a unit below one with variables may have none"),
        ("migrateVersions: 'no'", UnitOptions(), "as every switch"),
    ],
)
def test_defaults_can_be_written(text, options, why):
    assert entries(f"units: [{{path: a, {text}}}]")[0].options == options, why


FAULTS = [
    ("units: [{path: a, published: true, values: b.yaml}]", "gitsync.yaml:1: units[0]: the releases of a published chart have their own values.", "values that no release has"),
    ("units:\n- {path: a, values: {b: c}}", "gitsync.yaml:2: units[0].values: expected a text of one line", "values that are no file"),
    ("units: a", "gitsync.yaml:1: units: expected a list", "a text"),
    ("units: [a]", "gitsync.yaml:1: units[0]: expected a mapping with a path", "a list of texts"),
    ("units:\n- kind: folder", "gitsync.yaml:2: units[0]: expected a path", "no path"),
    ("units:\n- path: a\n- path: ./a/", "gitsync.yaml:3: units[1].path: a is named twice", "one path twice"),
    ("units:\n- path: ../a", "gitsync.yaml:2: units[0].path: expected a folder inside the source", "a path above"),
    ("units:\n- path: /etc", "gitsync.yaml:2: units[0].path: expected a folder inside the source", "of the machine"),
    ("units:\n- path: [a]", "gitsync.yaml:2: units[0].path: expected a text of one line", "a list as a path"),
    ("units:\n- path: a\n  kind: helm", "gitsync.yaml:3: units[0].kind: expected folder or kustomization", "a kind"),
    ("units:\n- path: a\n  loadRestrictor: off", "3: units[0].loadRestrictor: expected none or rootOnly", "a word"),
    ("units:\n- path: a\n  missingOwners: wait", "3: units[0].missingOwners: there is no such key. Did you mean missingOwner?", "a key"),
    ("units:\n- path: a\n  path: b", "3: units[0].path: is given twice", "a key twice"),
    ("units:\n- path: a\n  migrateVersions: maybe", "3: units[0].migrateVersions: expected true or false", "a switch"),
    ("units:\n- path: a\n  substitute: [a]", "3: units[0].substitute: expected a text", "a list of variables"),
    ("units:\n- path: a\n  variables: true", "3: units[0].variables: expected envsubst", "a switch for a word"),
    ("units:\n- path: a\n  variables: envsubst\n  substitute: false", "2: units[0]: variables and `substitute: false` contradict", "on and off"),
    ("units:\n- path: a\n  substitute:\n    a-b: c", "4: units[0].substitute.a-b: expected a name of letters", "a name"),
    ("units:\n- path: a\n  substitute:\n    A: [b]", "4: units[0].substitute.A: expected a text", "a value"),
    ("units:\n- [path]: a", "2: units[0].?: expected a text", "a list as a key"),
    ("units:\n- path: a\n  substitute: {{A: b}: c}", "3: units[0].substitute.?: expected a text", "a mapping as the name of a variable"),
    ("units: [" + "{path: a}," * 2001 + "]", "expected at most 2000 units", "more than any source has"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "said", "why"), FAULTS, ids=[row[-1] for row in FAULTS])
def test_a_fault_has_its_line_and_its_key(text, said, why):
    with pytest.raises(ConfigError) as refused:
        entries(text)
    assert said in str(refused.value), why


def test_all_faults_are_reported_at_once_up_to_a_limit():
    with pytest.raises(ConfigError) as refused:
        read_source_settings(b"units:\n" + b"- {kind: x}\n" * 500, "gitsync.yaml")
    lines = refused.value.message.splitlines()
    assert 90 < len(lines) < 110
    assert "are not checked" in lines[-1]


def test_what_the_operator_gives_goes_first():
    own = (UnitEntry(path="own"),)
    file = SourceFile(path="gitsync.yaml", content=b"units: [{path: source}]")
    assert join_source_settings(make_config({"units": own}), file).units == own
    assert [unit.path for unit in join_source_settings(make_config({}), file).units] == ["source"]
    with pytest.raises(ConfigError, match="tuple of UnitEntry"):
        make_config({"units": "a"})
