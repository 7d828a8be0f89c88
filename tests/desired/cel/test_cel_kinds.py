"""What `self` is: its type for a kind, and its value for a manifest with a status."""

import pytest

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.cel.evaluate import evaluate
from gitsync.desired.cel.expressions import UNTYPED, build_environment, compile_expression
from gitsync.desired.cel.objects import Object, make_self
from gitsync.desired.cel.types.kinds import escape_name, list_secret_names, make_self_type
from gitsync.desired.cel.types.types import INT, STRING, make_struct_type
from gitsync.errors import EvaluationError, ExpressionError
from gitsync.model.gvk import GVK
from gitsync.model.secret import Secret
from tests.desired.cel.lamps import LAMP, lamp, lamp_kind

STATUS = {
    "id": "/subscriptions/s/resourceGroups/g/providers/Microsoft.Light/lamps/desk",
    "principalId": "p-1",
    "port": 443,
    "brightness": 1,
    "bulbs": [{"name": "left", "watts": 5.0}, {"name": "right"}],
    "rooms": {"hall": {"name": "one"}, "attic": None},
}
SPEC = {
    "location": "eastus",
    "max-power": 7,
    "in": "I",
    "a__b/c.d": "E",
    "free": {"a": [1, "x"]},
    "tags": {"k": "v"},
    "colour": "Red",
}


def typed(text, kind=LAMP):
    return str(compile_expression(text, build_environment(kind)).type)


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("self.metadata.name", "string"),
        ("self.metadata.generation", "int"),
        ("self.metadata.annotations", "map(string, string)"),
        ("self.spec.location", "string"),
        ("self.spec.colour", "string"),
        ("self.spec.owner.armId", "string"),
        ("self.spec.key.name", "string"),
        ("self.spec.settings", "map(string, dyn)"),
        ("self.spec.free", "dyn"),
        ("self.spec.max__dash__power", "int"),
        ("self.spec.__in__", "string"),
        ("self.spec.a__underscores__b__slash__c__dot__d", "string"),
        ("self.spec.operatorSpec.secretExpressions[0].value", "string"),
        ("self.status.brightness", "double"),
        ("self.status.isOn", "bool"),
        ("self.status.bulbs", "list(v20240101.Bulb_STATUS)"),
        ("self.status.rooms.hall.inner.inner.watts", "int"),
        ("self.status.conditions[0].reason", "string"),
    ],
)
def test_a_field_has_the_type_of_its_kind(text, type_):
    assert typed(text) == type_


@pytest.mark.parametrize("field", ["TypeMeta", "spec.max", "status.location", "metadata.createdAt", "spec.`max-power`"])
def test_a_field_that_a_kind_does_not_have_is_undefined(field):
    with pytest.raises(ExpressionError, match=f"undefined field '{field.rpartition('.')[2].strip('`')}'"):
        typed(f"self.{field}")


def test_a_field_of_the_manifests_own_version_is_there_although_newer_ones_lost_it():
    older, newer = lamp_kind("v20200101", filament={"type": "string"}), lamp_kind("v20250101")
    assert typed("self.status.filament", older) == "string"
    with pytest.raises(ExpressionError, match="undefined field 'filament'"):
        typed("self.status.filament", newer)


@pytest.mark.parametrize(
    ("name", "spelt"),
    [
        ("plain", "plain"),
        ("in", "__in__"),
        ("true", "__true__"),
        ("inside", "inside"),
        ("a-b", "a__dash__b"),
        ("odata.type", "odata__dot__type"),
        ("a/b", "a__slash__b"),
        ("a__b", "a__underscores__b"),
        ("a_b", "a_b"),
    ],
)
def test_a_name_that_is_none_is_escaped(name, spelt):
    assert escape_name(name) == spelt


def test_the_secrets_of_a_kind():
    assert list_secret_names(LAMP) == ("primaryKey", "secondaryKey")


def test_every_field_of_every_kind_of_the_catalog_has_a_type():
    catalog = open_catalog()
    seen = 0
    for group in catalog.groups():
        for kind in catalog.kinds(group):
            found = catalog.kind(GVK(group, catalog.versions(group, kind)[-1], kind))
            seen += walk(make_self_type(found), set())
            assert all(isinstance(name, str) for name in list_secret_names(found))
    assert seen > 30_000


def walk(type_, known):
    if type_.fields is not None and type_.name not in known:
        known.add(type_.name)
        assert len(type_.fields) == len(list(type_.fields)), type_.name
        return 1 + sum(walk(inner, known) for inner in type_.fields.values())
    return 1 + sum(walk(inner, known) for inner in type_.params)


def value(text, status=STATUS, spec=SPEC, **more):
    subject = make_self(lamp(spec, labels={"l": "1"}, annotations={"a": "b"}), LAMP, status, **more)
    return evaluate(compile_expression(text, build_environment(LAMP)).tree, {"self": subject, "secret": {}})


@pytest.mark.parametrize("text", ["self.spec.location", "self.spec.tags.a + 'x'", "self.spec.settings.a"])
def test_a_value_from_a_secret_cannot_be_exported(text):
    hidden = Secret("hush")
    with pytest.raises(EvaluationError, match="variable from a Secret"):
        value(text, spec={"location": hidden, "tags": {"a": hidden}, "settings": {"a": hidden}})


@pytest.mark.parametrize(
    ("text", "expected", "why"),
    [
        ("self.metadata.name + '/' + self.metadata.namespace", "desk/default", "the manifest's own"),
        ("self.metadata.labels.l + self.metadata.annotations['a']", "1b", "labels and annotations"),
        ("self.metadata.uid", "", "nothing tells it without a cluster"),
        ("self.spec.location", "eastus", "what the manifest says"),
        ("self.spec.azureName", "desk", "the default is filled in"),
        ("self.spec.max__dash__power", 7, "a name that is escaped"),
        ("self.spec.__in__ + self.spec.a__underscores__b__slash__c__dot__d", "IE", "and others"),
        ("string(self.spec.free.a[0]) + string(self.spec.free.a[1])", "1x", "free-form JSON as it is"),
        ("self.status.principalId", "p-1", "what Azure says"),
        ("self.status.brightness / 2.0", 0.5, "a whole number where a double is asked for"),
        ("self.status.bulbs[0].watts + 1", 6, "a double where a whole number is asked for"),
        ("self.status.bulbs.map(b, b.name).join(',')", "left,right", "a list of structs"),
        ("self.status.rooms.hall.name", "one", "a map of structs"),
        ("self.status.rooms.attic.name", "", "null is nothing"),
        ("self.status.socket.inner.name", "", "what is not set reads as empty, however deep"),
        ("self.status.socket.watts", 0, "or as zero"),
        ("self.status.isOn", False, "or as false"),
        ("self.status.conditions.size()", 0, "or as a list of nothing"),
        ("self.spec.settings.size()", 0, "or as a map of nothing"),
        ("self.spec.owner.name", "", "or as a struct of nothing"),
        ("has(self.status.port)", True, "set"),
        ("has(self.status.socket)", False, "not set"),
        ("has(self.status.bulbs[1].watts)", False, "not set in a struct"),
        ("self.status.?socket.?name.orValue('none')", "none", "an optional that is not there"),
        ("self.status.bulbs[0] == self.status.bulbs[0]", True, "structs are equal to themselves"),
        ("self.status.bulbs[0] == self.status.bulbs[1]", False, "and to no others"),
        ("self.status.bulbs[1].inner == self.status.socket.inner", True, "what is unset is alike"),
        ("aso.parseResourceId(self.status.id).resourceGroupName", "g", "parts of the id"),
    ],
)
def test_what_an_expression_sees_of_a_manifest(text, expected, why):
    assert value(text) == expected, why


def test_the_name_in_azure_may_be_known_from_elsewhere():
    assert value("self.spec.azureName", azure_name="derived") == "derived"
    assert value("self.spec.azureName", spec={"azureName": "own"}, azure_name="derived") == "own"
    assert value("string(self.metadata.generation)", generation=3) == "3"


@pytest.mark.parametrize(
    ("text", "status", "expected", "why"),
    [
        ("has(self.status.port)", {"port": 0}, True, "a pointer to 0 is set"),
        ("has(self.status.isOn)", {"isOn": False}, True, "a pointer to false is set"),
        ("has(self.status.principalId)", {"principalId": ""}, True, "a pointer to nothing but quotes is set"),
        ("has(self.status.principalId)", {"principalId": None}, False, "null is no pointer"),
        ("has(self.status.socket)", {"socket": {}}, True, "a pointer to an empty struct is set"),
        ("has(self.status.bulbs)", {"bulbs": []}, True, "an empty list is not nil"),
        ("has(self.status)", {}, False, "a struct that is no pointer is set if a field of it is"),
        ("has(self.status)", {"port": 0}, True, "as this one"),
        ("has(self.metadata.uid)", {}, False, "a text that is no pointer is set unless it is empty"),
        ("has(self.metadata.generation)", {}, True, "the first generation is 1"),
        ("has(self.metadata.creationTimestamp)", {}, False, "nothing tells a time without a cluster"),
        ("has(self.metadata.deletionTimestamp)", {}, False, "nor a deletion"),
        ("has(self.metadata.labels.nope)", {}, False, "a key that a map lacks"),
        ("has(self.spec.azureName)", {}, True, "the name in Azure is known"),
        ("self.status.?port.orValue(7)", {"port": 0}, 0, "optionals follow has"),
        ("has(self.status.conditions[0].message)", {"conditions": [{"message": ""}]}, False, "ASO's own text"),
        ("has(self.status.conditions[0].reason)", {"conditions": [{"reason": "x"}]}, True, "which is set"),
    ],
)
def test_presence_is_gos(text, status, expected, why):
    assert value(text, status=status) == expected, why


@pytest.mark.parametrize(
    ("text", "expected", "why"),
    [
        ("self.kind + ' ' + self.apiVersion", "Lamp light.azure.com/v20240101", "what the manifest begins with"),
        ("self.namespace + '/' + self.name", "default/desk", "Go embeds the metadata"),
        ("string(self.status.conditions[0].lastTransitionTime.Time)", "2026-01-02T03:04:05Z", "a time of Go"),
        ("string(self.metadata.creationTimestamp.Time)", "1970-01-01T00:00:00Z", "one that is not known"),
        ("self.metadata.ownerReferences.size()", 0, "nothing owns a manifest in a cluster"),
        ("self.metadata.annotations.`a`", "b", "a name in backticks"),
        ("optional.ofNonZeroValue(self.status.socket).hasValue()", False, "a struct of nothing is zero"),
        ("type(self.status.conditions[0]) == type(self.status)", False, "structs have types of their own"),
    ],
)
def test_what_go_gives_an_object(text, expected, why):
    status = {"conditions": [{"lastTransitionTime": "2026-01-02T03:04:05Z"}]}
    assert value(text, status=status) == expected, why


@pytest.mark.parametrize(
    ("text", "type_"),
    [
        ("self.metadata.creationTimestamp", "v1.Time"),
        ("self.metadata.ownerReferences", "list(v1.OwnerReference)"),
        ("self.status.conditions", "list(conditions.Condition)"),
        ("self.status", "v20240101.Lamp_STATUS"),
        ("self.spec.owner", "genruntime.KnownResourceReference"),
        ("aso.parseResourceId('/x').resourceType", "cel.ResourceType"),
    ],
)
def test_structs_have_gos_names(text, type_):
    assert typed(text) == type_


def test_json_of_another_shape_fails_where_it_is_used():
    with pytest.raises(EvaluationError):
        value("self.status.principalId + 'x'", status={"principalId": 7})
    with pytest.raises(EvaluationError):
        value("self.status.socket.name", status={"socket": "text"})
    assert value("has(self.status.rooms)", status={"rooms": ["x"]}) is True


def test_an_object_has_no_other_members():
    thing = Object(make_struct_type("Thing", {"a": STRING, "b": INT}), {"a": "x"})
    assert (thing.read_member("a"), thing.read_member("b"), thing.has("b")) == ("x", 0, False)
    assert repr(thing) == "<Thing>"
    assert hash(thing) == hash(Object(make_struct_type("Thing", {}), {}))
    with pytest.raises(EvaluationError, match="no such field: c"):
        thing.read_member("c")


def test_without_a_kind_names_are_what_they_are():
    tree = compile_expression("self.spec.__false__ + self.spec.dash__dash__field", UNTYPED).tree
    assert evaluate(tree, {"self": {"spec": {"__false__": "F", "dash__dash__field": "d"}}, "secret": {}}) == "Fd"
