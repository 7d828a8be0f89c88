"""Expressions of manifests: compiled, reported when they are wrong, and worked out."""

import pytest

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.cel.expressions import UNTYPED, build_environment, compile_expression
from gitsync.desired.cel.objects import make_self
from gitsync.desired.exports.export_expressions import check_expressions, compile_exports, list_needed_fields
from gitsync.desired.exports.outcomes import evaluate_exports
from gitsync.errors import ExportError, ExpressionError, GitsyncError
from gitsync.model.export import Address, ObjectKind
from gitsync.model.gvk import GVK, Key
from gitsync.model.problem import Level, SourceLocation
from gitsync.model.resource import Resource
from gitsync.model.secret import Secret
from tests.desired.cel.lamps import LAMP, exporting, lamp, lamp_kind
from tests.support.builders import lines_of


def test_a_program_has_its_type_and_its_secrets():
    program = compile_expression("self.status.id + secret.a + secret['b']", UNTYPED)
    assert (str(program.type), program.secrets, program.uses_secret_object) == ("string", {"a", "b"}, False)
    assert compile_expression("self.status.id", UNTYPED) is compile_expression("self.status.id", UNTYPED)


def test_an_ill_typed_expression_is_refused_in_asos_words():
    with pytest.raises(ExpressionError) as caught:
        compile_expression("self.status.principalId + 10", build_environment(LAMP))
    assert isinstance(caught.value, GitsyncError)
    assert caught.value.message == (
        'failed to compile CEL expression: "self.status.principalId + 10": '
        "ERROR: <input>:1:25: found no matching overload for '_+_' applied to '(string, int)'"
    )
    assert caught.value.hint == "Convert it first: string(…)."


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "a b",
            "failed to compile CEL expression: \"a b\": ERROR: <input>:1:3: Syntax error: mismatched input 'b', expecting <EOF>",
        ),
        (
            'x + "é"\n + y',
            (
                "\"x + \\\"é\\\"\\n + y\": ERROR: <input>:1:1: undeclared reference to 'x' (in container ''); "
                "ERROR: <input>:2:4: undeclared reference to 'y' (in container '')"
            ),
        ),
        ("[a, b, c, d, e].size()", "undeclared reference to 'c' (in container ''); and 2 more"),
        ("x" * 500, f'"{"x" * 200}…"'),
    ],
)
def test_every_mistake_has_its_location(text, message):
    with pytest.raises(ExpressionError) as caught:
        compile_expression(text, UNTYPED)
    assert message in caught.value.message


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ({"name": "n", "key": "k", "value": "self.status.id"}, "a text under a key"),
        ({"name": "n", "value": "{'a': self.status.id}"}, "a map of texts"),
        ({"name": "n", "value": "self.spec.tags"}, "a map of the manifest"),
        ({"name": "n", "key": "k", "value": "secret.primaryKey + secret.secondaryKey"}, "secrets by name"),
        ({"name": "n", "key": "k", "value": "'a'", "labels": {"l": "self.metadata.name"}}, "a label"),
        ({"name": "n", "key": "k", "value": 7}, "another shape is another check's business"),
        ("text", "and so is this"),
    ],
)
def test_good_expressions(entry, why):
    assert check_expressions(exporting([entry]), LAMP) == (), why


@pytest.mark.parametrize(
    ("entry", "field", "code", "message", "hint"),
    [
        (
            {"key": "k", "value": "self.status.prt"},
            "value",
            "InvalidExpression",
            "failed to compile CEL expression: \"self.status.prt\": ERROR: <input>:1:12: undefined field 'prt'.",
            "Did you mean 'port'?",
        ),
        (
            {"key": "k", "value": "self.status.port"},
            "value",
            "ExpressionOutput",
            'expression "self.status.port" must return one of [string,map(string, string)], but was int.',
            "Convert it with string(…).",
        ),
        (
            {"value": "{'a': self.spec.free}"},
            "value",
            "ExpressionOutput",
            "expression \"{'a': self.spec.free}\" must return one of [string,map(string, string)], but was map(string, dyn).",
            "Convert it with string(…).",
        ),
        (
            {"value": "self.status.id"},
            "",
            "ExpressionKey",
            "CEL expression with output type string must specify destination 'key', \"self.status.id\" does not.",
            "Set `key` to the key for the value.",
        ),
        (
            {"key": "k", "value": "self.spec.tags"},
            "key",
            "ExpressionKey",
            "CEL expression with output type map[string]string must not specify destination 'key', \"self.spec.tags\" does.",
            "Remove `key`: the map has its own keys.",
        ),
        (
            {"key": "k", "value": "'a'", "annotations": {"x/y": "1"}},
            "annotations.x/y",
            "ExpressionOutput",
            'expression "1" must return one of [string], but was int.',
            "Convert it with string(…).",
        ),
        (
            {"key": "k", "value": "'a'", "labels": {"l": "nosuch"}},
            "labels.l",
            "InvalidExpression",
            "failed to compile CEL expression: \"nosuch\": ERROR: <input>:1:1: undeclared reference to 'nosuch' (in container '').",
            "",
        ),
        (
            {"key": "k", "value": "secret.primarykey"},
            "value",
            "UnknownSecret",
            'expression "secret.primarykey" uses secret.primarykey, which Lamp does not have.',
            "Did you mean secret.primaryKey? It has primaryKey or secondaryKey.",
        ),
        (
            {"value": "secret"},
            "value",
            "SecretNotNamed",
            'expression "secret" uses secret without the name of a secret.',
            "Name the secrets, as in secret.primaryKey: gitsync reads only named secrets from Azure.",
        ),
        (
            {"key": "k", "value": "secret['primaryKey']"},
            "value",
            "RefusedByAso",
            "expression \"secret['primaryKey']\" names the secret primaryKey in a way that ASO overlooks.",
            "If ASO also reads the manifest, write secret.primaryKey: ASO overlooks other forms.",
        ),
        (
            {"key": "k", "value": "base64.encode(b'x') + base64.encode(b'y')"},
            "value",
            "RefusedByAso",
            "expression \"base64.encode(b'x') + base64.encode(b'y')\" uses base64.encode, which ASO does not have.",
            "If ASO also reads the manifest, write it without base64.encode, which ASO refuses.",
        ),
        (
            {"key": "k", "value": "'x'", "labels": {"l": "cel.bind(a, 'x', a)"}},
            "labels.l",
            "RefusedByAso",
            "expression \"cel.bind(a, 'x', a)\" uses cel.bind, which ASO does not have.",
            "If ASO also reads the manifest, write it without cel.bind, which ASO refuses.",
        ),
    ],
)
def test_what_is_wrong_with_an_expression(entry, field, code, message, hint):
    resource = exporting([{"name": "other", "key": "k", "value": "'x'"}, {"name": "n", **entry}])
    (problem,) = check_expressions(resource, LAMP)
    location = "spec.operatorSpec.secretExpressions[1]"
    assert (problem.field, problem.code) == (f"{location}.{field}" if field else location, code)
    assert (problem.message, problem.hint) == (message, hint)
    assert problem.level is (Level.WARNING if code in {"SecretNotNamed", "RefusedByAso"} else Level.ERROR)


@pytest.mark.parametrize("text", [f"'a' '{'b' * 5000}'", f"string({'1,' * 3000}1)"])
def test_a_mistake_is_reported_in_a_few_words_however_long_the_expression(text):
    with pytest.raises(ExpressionError) as caught:
        compile_expression(text, UNTYPED)
    assert len(str(caught.value)) < 1500


@pytest.mark.parametrize("field", ["annotations", "labels"])
@pytest.mark.parametrize("text", ["secret.primaryKey", "string(bytes(secret['primaryKey']))"])
def test_metadata_may_show_no_secret(field, text):
    (problem,) = check_expressions(exporting([{"name": "n", "key": "k", "value": "'a'", field: {"l": text}}]), LAMP)
    assert (problem.code, problem.level) == ("SecretInMetadata", Level.ERROR)
    assert problem.field == f"spec.operatorSpec.secretExpressions[0].{field}.l"
    assert problem.hint.startswith("Write it to its own key")


def test_a_config_map_may_hold_no_secret():
    (problem,) = check_expressions(
        exporting(config_maps=[{"name": "n", "key": "k", "value": "secret.primaryKey"}]), LAMP
    )
    assert (problem.code, problem.field) == ("SecretInConfigMap", "spec.operatorSpec.configMapExpressions[0].value")
    assert problem.hint == "Move the expression to secretExpressions: ConfigMaps are not confidential."


def test_a_kind_without_secrets_reports_it():
    bare = lamp_kind()
    types = {
        **bare.types,
        "LampOperatorSpec": {"fields": {"secretExpressions": {"type": {"list": "destinationExpression"}}}},
    }
    kind = type(bare)(**{name: getattr(bare, name) for name in bare.__slots__} | {"types": types})
    (problem,) = check_expressions(exporting([{"name": "n", "key": "k", "value": "secret.a"}]), kind)
    assert problem.hint == "It has no secrets to export."


def test_every_problem_is_reported_with_its_file_and_line():
    resource = exporting(
        [{"name": "n", "key": "k", "value": "nosuch", "labels": {"l": "1"}}],
        [{"name": "n", "key": "k", "value": "self.status.port"}],
        lines=lines_of(
            {
                ("spec", "operatorSpec", "secretExpressions", 0, "value"): 9,
                ("spec", "operatorSpec", "configMapExpressions", 0): 20,
            }
        ),
    )
    found = check_expressions(resource, LAMP)
    assert [(p.path, p.line, p.code) for p in found] == [
        ("lamp.yaml", 1, "ExpressionOutput"),
        ("lamp.yaml", 9, "InvalidExpression"),
        ("lamp.yaml", 20, "ExpressionOutput"),
    ]


def test_a_manifest_without_expressions_has_none():
    for spec in ({}, {"operatorSpec": None}, {"operatorSpec": {"secretExpressions": "x"}}):
        assert (compile_exports(lamp(spec), LAMP), check_expressions(lamp(spec), LAMP)) == ((), ())


def test_what_is_exported_is_compiled_with_where_it_goes():
    resource = exporting(
        [{"name": "s", "key": "k", "value": "secret.primaryKey", "labels": {"l": "secret['secondaryKey']"}}],
        [{"name": "c", "value": "{'a': secret.other}"}],
    )
    first, second = compile_exports(resource, LAMP)
    assert (first.address, first.key) == (Address(ObjectKind.SECRET, "default", "s"), "k")
    assert (second.address, second.key) == (Address(ObjectKind.CONFIG_MAP, "default", "c"), None)
    assert list_needed_fields([first, second]) == {"primaryKey", "secondaryKey"}
    with pytest.raises(ExpressionError):
        compile_exports(exporting([{"name": "s", "key": "k", "value": "nosuch"}]), LAMP)


def outcome(resource, status=None, secrets=None):
    expressions = compile_exports(resource, LAMP)
    revealed = {name: Secret(value) for name, value in (secrets or {}).items()}
    found = evaluate_exports(expressions, make_self(resource, LAMP, status or {}), revealed)
    return [(str(e.to.address), e.to.key, e.value.reveal(), e.to.annotations, e.to.labels) for e in found]


def test_a_text_goes_to_its_key_and_a_map_to_its_own():
    resource = exporting(
        [
            {
                "name": "s",
                "key": "both",
                "value": "secret.primaryKey + '@' + self.metadata.name",
                "annotations": {"a": "string(true)"},
            },
            {
                "name": "m",
                "value": "{'z': 'last', 'a': string(self.status.port)}",
                "labels": {"l": "self.metadata.namespace"},
            },
        ],
        [{"name": "c", "key": "k", "value": "self.status.id"}],
    )
    assert outcome(resource, {"id": "/x", "port": 443}, {"primaryKey": "k=="}) == [
        ("Secret default/s", "both", "k==@desk", {"a": "true"}, {}),
        ("Secret default/m", "a", "443", {}, {"l": "default"}),
        ("Secret default/m", "z", "last", {}, {"l": "default"}),
        ("ConfigMap default/c", "k", "/x", {}, {}),
    ]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (
            {"key": "k", "value": "self.status.id"},
            'unexpected expression output "self.status.id" gives an empty string',
        ),
        ({"value": "self.spec.tags"}, 'unexpected expression output "self.spec.tags" gives an empty map'),
        (
            {"key": "k", "value": "secret.primaryKey"},
            'failed to eval CEL expression: "secret.primaryKey": no such key: primaryKey',
        ),
        (
            {"key": "k", "value": "self.status.principalId"},
            'unexpected expression output "self.status.principalId" gives a value that is not a string',
        ),
        ({"value": "{'a': self.status.principalId}"}, "gives a value that is not a map of strings"),
    ],
)
def test_what_has_no_value_is_an_error_that_only_the_manifest_fixes(entry, message):
    with pytest.raises(ExportError) as caught:
        outcome(exporting([{"name": "n", **entry}]), {"principalId": 7})
    assert message in f"{caught.value.message} {caught.value.hint}"
    assert caught.value.is_fatal


def test_all_expressions_of_a_manifest_have_one_budget():
    """One of them may take half a second, a manifest holds thousands, and nothing else goes on during that."""
    costly = f"{'[1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map(x, ' * 4}string(x){')' * 4}.size() > 0 ? 'a' : 'b'"
    rows = [{"name": "n", "key": f"k{number}", "value": costly} for number in range(20)]
    assert len(outcome(exporting(rows[:2]))) == 2
    with pytest.raises(ExportError, match="the expression takes too many steps") as caught:
        outcome(exporting(rows))
    assert caught.value.is_fatal


def test_a_config_map_never_sees_a_secret():
    with pytest.raises(ExportError, match="no such key"):
        outcome(
            exporting(config_maps=[{"name": "n", "key": "k", "value": "secret.primaryKey"}]), {}, {"primaryKey": "k=="}
        )


IDENTITY = open_catalog().kind(GVK("managedidentity.azure.com", "v1api20230131", "UserAssignedIdentity"))


def identity(**values):
    """A manifest that exports each value under its key to one secret."""
    rows = [{"name": "aso-credential", "key": key, "value": text} for key, text in values.items()]
    return Resource(
        key=Key("managedidentity.azure.com", "UserAssignedIdentity", "default", "runner"),
        gvk=IDENTITY.gvk,
        spec={"operatorSpec": {"secretExpressions": rows}},
        source=SourceLocation("runner.yaml", 1),
    )


def test_an_identity_exports_itself_as_a_credential():
    resource = identity(
        AZURE_SUBSCRIPTION_ID="aso.parseResourceId(self.status.id).subscriptionId",
        AZURE_TENANT_ID="self.status.tenantId",
        AZURE_CLIENT_ID="self.status.clientId",
        USE_WORKLOAD_IDENTITY_AUTH="string(true)",
    )
    status = {
        "id": "/subscriptions/sub/resourceGroups/g/providers/Microsoft.ManagedIdentity/userAssignedIdentities/runner",
        "tenantId": "tenant",
        "clientId": "client",
    }
    assert check_expressions(resource, IDENTITY) == ()
    found = evaluate_exports(compile_exports(resource, IDENTITY), make_self(resource, IDENTITY, status), {})
    assert [(e.to.key, e.value.reveal()) for e in found] == [
        ("AZURE_SUBSCRIPTION_ID", "sub"),
        ("AZURE_TENANT_ID", "tenant"),
        ("AZURE_CLIENT_ID", "client"),
        ("USE_WORKLOAD_IDENTITY_AUTH", "true"),
    ]


def test_a_number_added_to_a_text_of_a_real_kind_is_refused():
    (problem,) = check_expressions(identity(k="self.status.principalId + 10"), IDENTITY)
    assert problem.message == (
        'failed to compile CEL expression: "self.status.principalId + 10": '
        "ERROR: <input>:1:25: found no matching overload for '_+_' applied to '(string, int)'."
    )
