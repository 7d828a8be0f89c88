"""Which ConfigMaps, Secrets and Namespaces are used: what is wrong with them is an error, and with others a note."""

import pytest

from gitsync.desired.manifests.reader import read_manifests
from gitsync.desired.manifests.variable_values import VariableSet
from gitsync.model.problem import Level
from gitsync.model.unit import ChartRelease, Substitution, Unit, UnitOptions, ValuesKey, ValuesReference
from gitsync.model.unit_kind import UnitKind
from gitsync.model.variables import VariableValues

CACHE = """\
apiVersion: cache.azure.com/v1api20230801
kind: Redis
metadata: {name: cache, namespace: shop%s}
spec: %s
"""


def cache(spec="{}", more=""):
    return CACHE % (more, spec)


def twice(kind, name, namespace="shop"):
    text = f"apiVersion: v1\nkind: {kind}\nmetadata: {{name: '{name}', namespace: '{namespace}'}}\ndata: {{a: %s}}\n"
    return f"{text % 'YQ=='}---\n{text % 'Yg=='}"


SECRET = twice("Secret", "app")


@pytest.mark.parametrize(
    ("text", "user", "is_used", "why"),
    [
        (SECRET, cache("{password: {name: app, key: a}}"), True, "a reference to a key"),
        (SECRET, cache("{deep: [{er: {name: app}}]}"), True, "a reference to all of it"),
        (SECRET, cache("{operatorSpec: {secrets: {key: {name: app, key: a}}}}"), True, "the place of an export"),
        (SECRET, cache("{password: {name: other, key: a}}"), False, "another name"),
        (SECRET, cache("{password: {name: app, key: a}}").replace("shop", "bar"), False, "another namespace"),
        (SECRET, cache(more=", annotations: {serviceoperator.azure.com/credential-from: app}"), True, "a credential"),
        (SECRET, cache(more=", annotations: {serviceoperator.azure.com/credential-from: shop/app}"), True, "with its namespace"),
        (twice("Secret", "aso-credential"), cache(), True, "the credential of the namespace"),
        (twice("Secret", "aso-credential", "bar"), cache(), False, "that of another one"),
        (twice("ConfigMap", "app"), cache("{idFromConfig: {name: app, key: a}}"), True, "a ConfigMap"),
        ("apiVersion: v1\nkind: Secret\nmetadata: {name: app\n", cache("{password: {name: app, key: a}}"), True, "a text with its name"),
        ("apiVersion: v1\nkind: Secret\nmetadata: {name: my-app\n", cache("{password: {name: app, key: a}}"), False, "a part of another word"),
        ("apiVersion: v1\nkind: Secret\nmetadata: {name: app\n", cache("{owner: {name: app}, type: app}"), False, "a word by chance"),
        ("apiVersion: v1\nkind: Namespace\nmetadata: {name: shop\n", cache(), True, "its namespace, which may have a policy"),
    ],
)  # fmt: skip
def test_an_object_is_used_if_a_resource_refers_to_it(text, user, is_used, why):
    """The Secret is declared twice, or does not parse."""
    found = read_manifests({"a.yaml": text.encode(), "user.yaml": user.encode()})
    assert {problem.level for problem in found.problems} == {Level.ERROR if is_used else Level.NOTE}, why


@pytest.mark.parametrize(
    ("name", "namespace", "level", "why"),
    [
        ("app", "${NS}", Level.ERROR, "it may be in any namespace"),
        ("${NAME}", "shop", Level.NOTE, "nothing refers to a name that is not known"),
        ("${KNOWN}", "shop", Level.ERROR, "the name that its variables make"),
    ],
)
def test_an_object_is_known_by_what_its_variables_make_of_it(name, namespace, level, why):
    text = twice("Secret", name, namespace) + "---\n" + cache("{password: {name: app, key: a}}")
    variables = VariableSet(everywhere=VariableValues(known={"KNOWN": "app"}))
    found = read_manifests({"a.yaml": text.encode()}, variables=variables)
    assert {problem.level for problem in found.problems} == {level}, why


NAMESPACES = (
    "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, annotations: {serviceoperator.azure.com/reconcile-policy: skip}}\n"
    "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n"
)


@pytest.mark.parametrize(("user", "level"), [(cache(), Level.ERROR), (cache().replace("shop", "bar"), Level.NOTE)])
def test_a_namespace_is_used_if_a_resource_is_in_it(user, level):
    (problem,) = read_manifests({"a.yaml": NAMESPACES.encode(), "user.yaml": user.encode()}).problems
    assert (problem.code, problem.level) == ("DuplicateManifest", level)


@pytest.mark.parametrize("kind", ["ConfigMap", "Secret"])
def test_an_object_that_is_declared_twice_the_same_changes_nothing(kind):
    text = f"apiVersion: v1\nkind: {kind}\nmetadata: {{name: app, namespace: shop}}\ndata: {{a: YQ==}}\n"
    user = cache("{password: {name: app, key: a}}")
    found = read_manifests({"a.yaml": text.encode(), "b.yaml": text.encode(), "c.yaml": user.encode()})
    assert [(problem.code, problem.level, problem.path) for problem in found.problems] == [
        ("DuplicateManifest", Level.NOTE, "b.yaml")
    ]


REFERENCE = ValuesReference(kind="Secret", namespace="shop", name="app")


@pytest.mark.parametrize(
    "unit",
    [
        Unit(name="a", path="a", options=UnitOptions(substitution=Substitution(references=(REFERENCE,)))),
        Unit(name="a", path="a", kind=UnitKind.HELM_RELEASE, release=ChartRelease(values=(ValuesKey(reference=REFERENCE),))),
    ],
    ids=["variables", "values of a chart"],
)  # fmt: skip
def test_an_object_is_used_if_a_unit_is_made_of_it(unit):
    found = read_manifests({"a.yaml": SECRET.encode(), "b.yaml": b""}, units={"b.yaml": unit})
    assert [(problem.code, problem.level) for problem in found.problems] == [("DuplicateManifest", Level.ERROR)]
