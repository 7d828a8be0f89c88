"""Variables in the documents of a source: what is read, what is rejected, and one problem for each variable."""

from dataclasses import replace
from textwrap import dedent

import pytest

from gitsync.desired.manifests.expansions import ExpansionBudget
from gitsync.desired.manifests.reader import read_manifests
from gitsync.desired.manifests.variable_reader import VariableReader, VariableSubject
from gitsync.desired.manifests.variable_values import VariableSet, make_variables
from gitsync.desired.manifests.yaml_documents import read_documents
from gitsync.model.problem import Level
from gitsync.model.secret import Placeholder, Secret
from gitsync.model.unit import ObjectSettings, Substitution, Unit, UnitOptions, ValuesReference
from gitsync.model.unit_kind import UnitKind
from gitsync.model.variables import VariableValues

FLUX = Unit(name="clusters/apps", path="apps", kind=UnitKind.FLUX, file="clusters/apps.yaml")
GROUP = """\
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata:
  name: {name}
spec:
  location: {location}
"""


def group(name="rg", location="westeurope"):
    return GROUP.format(name=name, location=location)


def read(unit=None, values=None, **texts):
    files = {f"{name}.yaml": dedent(text).encode() for name, text in texts.items()}
    units = dict.fromkeys(files, unit) if unit else {}
    known = VariableValues(known={"NAME": "rg", "LOCATION": "westeurope"}) if values is None else values
    by_unit = {unit.name: known} if unit else {}
    return read_manifests(files, units=units, variables=VariableSet(by_unit=by_unit, everywhere=known))


def read_off(**texts):
    return read_off_in(None, **texts)


def read_off_in(unit, **texts):
    files = {f"{name}.yaml": text.encode() for name, text in texts.items()}
    return read_manifests(files, units=dict.fromkeys(files, unit) if unit else {})


def list_problems(found):
    problems = {*found.problems, *(problem for resource in found.resources for problem in resource.problems)}
    return [
        (problem.code, problem.level.value, problem.path, problem.line)
        for problem in sorted(problems, key=lambda problem: problem.order)
    ]


def test_variables_are_replaced_only_in_what_gitsync_takes():
    other = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: '${NONE}'}\n"
    found = read(a=group("${NAME}", "${LOCATION}"), b=other)
    (resource,) = found.resources
    assert (resource.key.name, resource.spec) == ("rg", {"location": "westeurope"})
    assert (list_problems(found), found.variables) == ([], {"": {"NAME", "LOCATION"}})


def test_a_variable_without_a_value_is_one_problem_with_all_of_its_locations():
    found = read(a=group("one", "${ZONE}"), b=group("two", "${ZONE}"), c=group("three", "eastus"))
    one, three, two = found.resources
    (problem,) = one.problems
    assert (two.problems, three.problems, found.problems) == ((problem,), (), ())
    assert (problem.path, problem.line, problem.field) == ("a.yaml", 6, "spec.location")
    assert problem.message == "The variable ZONE has no value. It is used in 2 locations: a.yaml:6, b.yaml:6."
    assert "--set ZONE=VALUE" in problem.hint
    assert "GITSYNC_VAR_ZONE" in problem.hint


def test_of_many_locations_the_first_are_named():
    texts = {f"f{number}": group(f"rg{number}", "${ZONE}") for number in range(9)}
    assert read(**texts).resources[0].problems[0].message.endswith("f3.yaml:6, f4.yaml:6 and 4 more.")


@pytest.mark.parametrize(
    ("text", "unit", "hint", "why"),
    [
        ("${LOCATIN}", None, "Did you mean LOCATION?", "a misspelt name"),
        ("${ZONE}", FLUX, "spec.postBuild.substitute of the Kustomization clusters/apps", "where Flux has them"),
        ("${ZONE:?one of three}", None, "--set ZONE=VALUE", "a required one"),
    ],
)
def test_the_hint_reports_where_a_variable_belongs(text, unit, hint, why):
    found = read_manifests(
        {"a.yaml": group(location=text).encode()},
        units={"a.yaml": unit} if unit else {},
        variables=VariableSet(everywhere=VALUES, by_unit={FLUX.name: VALUES}),
    )
    (problem,) = {*found.problems, *found.resources[0].problems}
    assert hint in problem.hint, why
    assert ("one of three" in problem.message) == (":?" in text)


@pytest.mark.parametrize(
    ("cluster_folder", "path"),
    [("clusters/prod", "clusters/prod/vars.yaml"), ("clusters/dev", "clusters/dev/vars.yaml"), ("x", "clusters/dev/vars.yaml")],
)  # fmt: skip
def test_the_hint_names_the_file_of_the_config_map_that_the_unit_takes_variables_from(cluster_folder, path):
    names = ("base-vars", "cluster-vars", "only-in-the-cluster")
    references = tuple(
        ValuesReference(kind="ConfigMap", namespace="flux-system", name=name, cluster_folder=cluster_folder)
        for name in names
    )
    unit = replace(
        FLUX,
        settings=ObjectSettings(cluster_folder=cluster_folder),
        options=UnitOptions(substitution=Substitution(references=references)),
    )
    texts = {
        f"clusters/{cluster}/vars.yaml": "---\n".join(
            f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: flux-system}}\n"
            for name in names[:2]
        )
        for cluster in ("dev", "prod")
    }
    files = {path: text.encode() for path, text in {**texts, "a.yaml": group(location="${ZONE}")}.items()}
    variables = VariableSet(by_unit={unit.name: VALUES})
    (problem,) = read_manifests(files, units={"a.yaml": unit}, variables=variables).resources[0].problems
    assert problem.hint == (
        "Add ZONE to spec.postBuild.substitute of the Kustomization clusters/apps in clusters/apps.yaml, or to ConfigMap "
        f"flux-system/cluster-vars in {path}. For a default, write ${{ZONE:=default}}."
    )


VALUES = VariableValues(known={"LOCATION": "x"})


@pytest.mark.parametrize(
    ("text", "code", "why"),
    [
        (group("${ENV}-rg"), "VariableNotSet", "the name"),
        (group("${a.b}"), "InvalidVariable", "a name that is no variable"),
        (group().replace("  name: rg", "  name: rg\n  namespace: ${NS}"), "VariableNotSet", "the namespace"),
        (group().replace("v1api20200601", "${VERSION}"), "VariableNotSet", "the version"),
        (
            "apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: '${NS}'}\n",
            "VariableNotSet",
            "a Secret that may be in any namespace",
        ),
    ],
)
def test_a_document_without_its_identity_is_rejected(text, code, why):
    found = read(a=text, user=f"{group('user')}  from: {{name: a}}\n")
    assert ([resource.key.name for resource in found.resources], found.objects.secrets) == (["user"], {}), why
    assert [document.is_rejected for document in found.unread] == [True], why
    assert [(problem.code, problem.level) for problem in found.problems] == [(code, Level.ERROR)], why


def test_a_resource_without_a_value_in_its_spec_stays_a_resource():
    (resource,) = read(a=group("rg", "${ZONE}")).resources
    assert resource.spec == {"location": Placeholder("${ZONE}")}


def test_a_problem_does_not_go_to_the_resource_after_a_rejected_one():
    nameless = group("rg", "${ZONE}").replace("name: rg", "labels: {}")
    found = read(a=f"{nameless}---\n{group('good')}")
    assert [(resource.key.name, resource.problems) for resource in found.resources] == [("good", ())]
    assert "VariableNotSet" in {problem.code for problem in found.problems}


@pytest.mark.parametrize(("kind", "member"), [("ConfigMap", "data"), ("Secret", "stringData")])
def test_a_key_without_a_value_is_left_out_with_a_warning(kind, member):
    found = read(
        a=f"apiVersion: v1\nkind: {kind}\nmetadata: {{name: a}}\n"
        f"{member}: {{a: '${{ZONE}}', b: '${{NAME}}', c: '${{x.y}}'}}\n",
        b=f"{group()}  from: {{name: a, key: b}}\n",
    )
    objects = found.objects.config_maps if kind == "ConfigMap" else found.objects.secrets
    assert list(objects["default", "a"]) == ["b"]
    assert {(problem.code, problem.level) for problem in found.problems} == {
        ("VariableNotSet", Level.WARNING),
        ("InvalidVariable", Level.WARNING),
    }


def test_a_label_without_a_value_is_empty_with_a_warning():
    (resource,) = read(a=group().replace("metadata:", "metadata:\n  labels:\n    team: ${TEAM}")).resources
    assert dict(resource.labels) == {"team": ""}
    assert [(problem.code, problem.level) for problem in resource.problems] == [("VariableNotSet", Level.WARNING)]


def test_a_value_of_a_secret_stays_in_secrets():
    values = VariableValues(known={"TOKEN": Secret("hush")})
    text = "apiVersion: v1\nkind: {0}\nmetadata: {{name: a}}\n{1}: {{a: '${{TOKEN}}', b: 'x'}}\n"
    texts = {"a": text.format("ConfigMap", "data"), "b": text.format("Secret", "stringData")}
    found = read(values=values, **texts, c=f"{group()}  from: {{name: a, key: b}}\n")
    assert found.objects.config_maps == {("default", "a"): {"b": "x"}}
    assert found.objects.secrets == {("default", "a"): {"a": Secret("hush"), "b": Secret("x")}}
    assert list_problems(found) == [("SecretInConfigMap", "warning", "a.yaml", 4)]


@pytest.mark.parametrize(
    ("is_to_come", "field", "level", "why"),
    [
        (True, "managedBy", "warning", "a sync reads it, and nothing in a plan depends on it"),
        (True, "location", "error", "what is planned depends on it"),
        (False, "managedBy", "error", "nobody reads it"),
    ],
)
def test_a_value_that_was_not_read_is_unknown_whatever_its_default(is_to_come, field, level, why):
    values = VariableValues(unread=("Secret ns/a is in no secret source",), is_to_come=is_to_come)
    found = read(values=values, a=f"{group()}  {field}: ${{X:=default}}\n".replace("  location: westeurope\n", ""))
    (resource,) = found.resources
    assert resource.spec == {field: Placeholder("${X:=default}")}
    (problem,) = resource.problems
    assert (problem.code, problem.level.value) == ("VariableNotKnown", level), why
    assert "Secret ns/a is in no secret source" in problem.message


@pytest.mark.parametrize(
    ("text", "unit", "expected", "why"),
    [
        ("$LOCATION", None, "error", "a variable that is there"),
        ("x-$NAME", None, "error", "inside a text"),
        ("$ZONE", None, "error", "nothing else in capitals"),
        ("x $ZONE", None, "warning", "it may be a text"),
        ("$LOCATION", FLUX, "warning", "Flux leaves it"),
        ("$zone", None, None, "a text"),
        ("$$LOCATION", None, None, "a literal"),
        ("cost: 5$", None, None, "a price"),
    ],
)
def test_a_variable_without_braces_is_named(text, unit, expected, why):
    found = read(unit, a=f"{group()}  managedBy: '{text}'\n")
    (resource,) = found.resources
    assert [(problem.code, problem.level.value) for problem in resource.problems] == (
        [("VariableWithoutBraces", expected)] if expected else []
    ), why


@pytest.mark.parametrize(
    ("text", "expected", "why"),
    [
        (group("rg", "${LOCATION}"), [("VariableNotReplaced", "error", "a.yaml", 6)], "no location has a $"),
        (group("rg", "$LOCATION"), [("VariableWithoutBraces", "error", "a.yaml", 6)], "without braces"),
        (group("rg", "eu-$LOCATION"), [("VariableWithoutBraces", "error", "a.yaml", 6)], "nor in a part of a location"),
        (group() + "  azureName: $web\n", [], "a name that Azure has"),
        (group("rg", "$zone"), [("VariableWithoutBraces", "error", "a.yaml", 6)], "no location is $zone"),
        (
            group() + "  owner: {name: $group}\n",
            [("VariableWithoutBraces", "error", "a.yaml", 7)],
            "no name of Kubernetes",
        ),
        (group() + "  managedBy: $BY\n", [("VariableWithoutBraces", "warning", "a.yaml", 7)], "hardly a text"),
        (group() + "  managedBy: by $BY\n", [], "perhaps a text"),
        (group() + "  managedBy: ${BY:=x}\n", [("VariableNotReplaced", "warning", "a.yaml", 7)], "another field"),
        (group() + "  managedBy: ${{ github.sha }} $${A} $x\n", [], "no variable"),
        (group() + "  managedBy: ${A/b/c}\n", [("VariableNotReplaced", "warning", "a.yaml", 7)], "with a function"),
    ],
)
def test_a_unit_without_variables_names_those_that_stay(text, expected, why):
    assert list_problems(read_off(a=text)) == expected, why


GIVEN = make_variables((), [("ENV", "dev"), ("EMPTY", "")])


@pytest.mark.parametrize(
    ("text", "expected", "problems", "why"),
    [
        ("${ENV}-x", "dev-x", [], "the variable that was asked for"),
        ("${ENV:=prod} 5$$", "dev 5$", [], "as in a unit with variables"),
        ("${OTHER}", "${OTHER}", [("VariableNotReplaced", "warning")], "another one stays, as without --set"),
        ("${ENV}-${OTHER}", "${ENV}-${OTHER}", [("VariableNotReplaced", "warning")], "a text is replaced as a whole"),
        ("${OTHER:-x}", "${OTHER:-x}", [("VariableNotReplaced", "warning")], "a script, not for gitsync"),
        ("${OTHER:-x} # ${ENV}", "x # dev", [], "in a document for it, defaults count"),
        ("$${A} $5 ${{ x }}", "$${A} $5 ${{ x }}", [], "what is no variable stays, letter by letter"),
        ("$OTHER", "$OTHER", [("VariableWithoutBraces", "warning")], "without braces"),
        ("$ENV", "$ENV", [("VariableWithoutBraces", "warning")], "only gitsync.yaml lets braces out"),
        ("${ENV:+x}", "${ENV:+x}", [("InvalidVariable", "error")], "what is asked for is invalid"),
        ("${EMPTY:?say which}", "${EMPTY:?say which}", [("VariableNotSet", "error")], "what is asked for is required"),
    ],
)
def test_in_a_unit_without_variables_what_the_operator_gives_is_replaced_and_nothing_else(
    text, expected, problems, why
):
    manifest = f"{group()}  managedBy: '{text}'\n"
    (resource,) = read_manifests({"a.yaml": manifest.encode()}, variables=GIVEN).resources
    assert (resource.spec["managedBy"], resource.spec["location"]) == (expected, "westeurope"), why
    assert [(problem.code, problem.level.value) for problem in resource.problems] == problems, why


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"{group()}  tags: {{a: '${{A}} $B $${{C}} ${{D:-d}} ${{A.b}}', '${{E}}': $F}}\n", "a resource"),
        (group("${A}"), "a resource without its identity"),
        ("apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {a: '${A} $${B} ${C:=c}'}\n", "a Secret"),
        (
            "apiVersion: v1\nkind: Namespace\nmetadata: {name: a, annotations: {b: '${A}', '${B}': b}}\n",
            "a namespace, whose annotations are its policies",
        ),
    ],
)
def test_a_document_that_uses_nothing_given_is_read_as_without(text, why):
    files = {"a.yaml": text.encode()}
    found, alone = read_manifests(files, variables=GIVEN), read_manifests(files)
    assert (found.resources, found.objects.secrets, found.namespaces) == (
        alone.resources,
        alone.objects.secrets,
        alone.namespaces,
    ), why
    assert (list_problems(found), found.unread) == (list_problems(alone), alone.unread), why


@pytest.mark.parametrize(
    ("name", "code"),
    [("${ENV}-rg", "VariableNotReplaced"), ("$ENV-rg", "VariableWithoutBraces"), ("$env", "VariableWithoutBraces")],
)
def test_a_name_with_a_variable_is_not_a_name_in_a_unit_without(name, code):
    """It may be any resource: none may count as removed from git because somebody forgot the values."""
    found = read_off(a=group(name))
    assert (found.resources, [document.is_rejected for document in found.unread]) == ((), [True])
    assert list_problems(found) == [(code, "error", "a.yaml", 4)]


@pytest.mark.parametrize("unit", [None, FLUX])
def test_a_name_without_braces_is_not_a_name_in_a_unit_with_variables(unit):
    """Kubernetes has no such name, so not even Flux may leave it; what is wrong with its letters is not said."""
    found = read(unit, a=group("$env"))
    assert (found.resources, [document.is_rejected for document in found.unread]) == ((), [True])
    assert [(problem.code, problem.level) for problem in found.problems] == [("VariableWithoutBraces", Level.ERROR)]


@pytest.mark.parametrize(
    ("has_variables", "unit", "hint", "why"),
    [
        (False, None, "set ENV with `substitute` there or with --set ENV=VALUE", "both are missing"),
        (True, None, "or write ${ENV}, or $$ENV for the literal text", "what a unit with variables reads"),
        (False, FLUX, "Add ENV to spec.postBuild.substitute", "Flux has its own place"),
        (True, FLUX, "Write ${ENV}, or $$ENV for the literal text", "Flux reads braces only"),
    ],
)
def test_the_hint_names_envsubst_where_gitsync_yaml_counts(has_variables, unit, hint, why):
    (problem,) = (read if has_variables else read_off_in)(unit, a=group("$ENV")).problems
    assert hint in problem.hint, why
    assert ("variables: envsubst" in problem.hint) == (unit is None)
    assert ("variables: envsubst" in problem.message) == (unit is None)


@pytest.mark.parametrize(
    ("text", "expected", "why"),
    [
        ("$LOCATION", "westeurope", "without braces"),
        ("${LOCATION}", "westeurope", "with braces"),
        ("a-$NAME-b", "a-rg-b", "a name ends before what no name has"),
        ("$NAME$LOCATION", "rgwesteurope", "one after the other"),
        ("$NAME_x", None, "the longest name counts, as in a shell"),
        ("${ZONE:-$LOCATION}", "westeurope", "in a default"),
        ("$$LOCATION", "$LOCATION", "the text itself"),
        ("$$$LOCATION", "$westeurope", "the text of a dollar, then a variable"),
        ("5$ or $5", "5$ or $5", "a price"),
    ],
)
def test_envsubst_takes_variables_without_braces(text, expected, why):
    known = VariableValues(known={"NAME": "rg", "LOCATION": "westeurope"}, takes_braceless=True)
    found = read(values=known, a=f"{group()}  managedBy: '{text}'\n")
    (resource,) = found.resources
    codes = [problem.code for problem in resource.problems]
    if expected is None:
        assert codes == ["VariableNotSet"], why
    else:
        assert (codes, resource.spec["managedBy"]) == ([], expected), why


def test_a_unit_of_flux_without_variables_is_not_changed_by_the_operator():
    variables = VariableSet(everywhere=VariableValues(known={"ZONE": "x"}))
    text = f"{group()}  managedBy: $${{ZONE}}\n"
    found = read_manifests({"a.yaml": text.encode()}, units={"a.yaml": FLUX}, variables=variables)
    assert found.resources[0].spec["managedBy"] == "$${ZONE}"


def test_a_document_that_wants_none_replaced_reports_nothing():
    text = group("rg", "${ZONE}").replace(
        "metadata:", "metadata:\n  annotations: {kustomize.toolkit.fluxcd.io/substitute: disabled}"
    )
    for found in (read(a=text), read_off(a=text)):
        assert (found.resources[0].spec, list_problems(found)) == ({"location": "${ZONE}"}, [])


def test_what_expands_to_too_much_is_rejected():
    variables = VariableSet(everywhere=VariableValues(known={"A": "x" * 100}))
    reader = VariableReader(variables, ExpansionBudget(left=1000))
    text = GROUP.format(name="rg", location="${A}") + "".join(f"  f{number}: ${{A}}\n" for number in range(9))
    (document,) = read_documents("a.yaml", text.encode(), marks_quotes=True).documents
    leftover = reader.replace(VariableSubject(document=document, unit=None, resource=0))
    assert [problem.code for problem in leftover.problems] == ["VariablesTooLarge"]
