"""What gitsync does not use: it ends no run with an error, is counted, and holds the deletes of its unit anyway."""

from __future__ import annotations

import pytest

from gitsync.emulator.settings import Timing
from gitsync.emulator.types.behaviour import Style
from gitsync.model.problem import Level
from gitsync.model.unit import Substitution, Unit, UnitOptions, ValuesReference
from gitsync.model.unit_kind import UnitKind
from gitsync.model.verdict import Verdict
from tests.support.world import GROUP, VNET, World, of

SOURCE = {"group.yaml": GROUP, "net/hub.yaml": VNET, "other/other.yaml": "kind: Deployment\napiVersion: apps/v1\n"}
ON = UnitOptions(substitution=Substitution(values={"LOCATION": "westeurope"}))


def config_map(
    name: str = "app", *, kind: str = "ConfigMap", namespace: str = "shop", data: str = "data: {a: b}"
) -> str:
    return f"apiVersion: v1\nkind: {kind}\nmetadata: {{name: '{name}', namespace: '{namespace}'}}\n{data}\n"


COUNTED = {
    "a ConfigMap twice": ("DuplicateManifest", config_map() + "---\n" + config_map(data="data: {}")),
    "a Secret twice": (
        "DuplicateManifest",
        config_map(kind="Secret", data="data: {a: YQ==}") + "---\n" + config_map(kind="Secret", data=""),
    ),
    "an encrypted Secret twice": (
        "DuplicateManifest",
        "---\n".join([config_map(kind="Secret", data="data: {a: 'ENC[x]'}\nsops: {mac: x}")] * 2),
    ),
    "a Namespace twice": (
        "DuplicateManifest",
        "---\n".join(
            f"apiVersion: v1\nkind: Namespace\nmetadata: {{name: shop, labels: {{a: b}}, annotations: {{a: {name}}}}}\n"
            for name in "ab"
        ),
    ),
    "a Namespace of resources, twice the same": (
        "DuplicateManifest",
        "---\n".join(["apiVersion: v1\nkind: Namespace\nmetadata: {name: default}\n"] * 2),
    ),
    "a number in a ConfigMap": ("InvalidData", config_map(data="data: {a: 1}")),
    "no base64 in a Secret": ("InvalidData", config_map(kind="Secret", data="data: {password: <BASE64>}")),
    "bytes in a Secret": ("BinarySecret", config_map(kind="Secret", data="data: {a: /w==}")),
    "a key twice": ("DuplicateKey", config_map(data="data: {a: b, a: c}")),
    "no name": ("MissingName", "apiVersion: v1\nkind: Secret\nmetadata: {generateName: app-}\n"),
    "a name that is none": ("InvalidName", config_map("a/b")),
    "annotations that are none": (
        "InvalidMetadata",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: app, namespace: shop, annotations: {a: 1}}\n",
    ),
    "metadata that is none": ("InvalidMetadata", "apiVersion: v1\nkind: Secret\nmetadata: app\n"),
    "a template": ("Template", config_map("{{ name }}")),
    "a template that is no YAML": ("Template", "apiVersion: v1\nkind: Secret\nmetadata: {name: {{ name }}}\n"),
    "a text that is no YAML": ("InvalidYaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: app\n"),
    "a text with a conflict": ("MergeConflict", f"<<<<<<< HEAD\n{config_map()}=======\n>>>>>>> other\n"),
    "a text that is too deep": ("TooDeep", config_map(data=f"data: {'[' * 200}{']' * 200}")),
    "a field in another case": ("MisspeltField", config_map().replace("metadata", "Metadata")),
    "a key that is there twice with its variables": (
        "InvalidVariable",
        config_map(data="data: {westeurope: a, '${LOCATION}': b}"),
    ),
    "a variable in a name": ("VariableNotSet", config_map("${APP}-values")),
    "a variable in a value": ("VariableNotSet", config_map(data="data: {a: '${APP}'}")),
    "a variable in a label": ("VariableNotSet", config_map().replace("{name", "{labels: {a: '${APP}'}, name")),
    "a variable that is none": ("InvalidVariable", config_map(data="data: {a: '${APP:+x}'}")),
}


@pytest.fixture
def world(tmp_path):
    return World(tmp_path, operations=Timing(style=Style.DONE))


def with_variables(world: World, *paths: str, unit: str = "net", options: UnitOptions = ON) -> None:
    folder = Unit(name=unit, path=unit, kind=UnitKind.FOLDER, file="gitsync.yaml", options=options)
    world.units |= dict.fromkeys(paths, folder)


def test_what_is_wrong_with_an_object_that_nothing_uses_is_counted_and_holds_deletes_of_its_unit(world):
    """Each row has a unit with a network, and a namespace."""
    rows = [
        (f"net{n}", why, code, text.replace("shop", f"shop{n}"))
        for n, (why, (code, text)) in enumerate(COUNTED.items())
    ]
    for unit, *_ in rows:
        with_variables(world, f"{unit}/hub.yaml", f"{unit}/app.yaml", unit=unit)
    source = {"group.yaml": GROUP, "other/other.yaml": SOURCE["other/other.yaml"]}
    networks = {f"{unit}/hub.yaml": VNET.replace("name: hub", f"name: {unit}") for unit, *_ in rows}
    pruning = {"prune": True, "max_deletes": len(rows)}
    world.says_files(source | networks).sync(**pruning)
    report = world.says_files({"group.yaml": GROUP, **{f"{unit}/app.yaml": text for unit, _, _, text in rows}}).sync(
        **pruning
    )
    assert (report.exit_code, {problem.code for problem in report.problems}) == (0, {"RecordsNotSigned"})
    assert world.sent("DELETE") == []
    for unit, why, code, _ in rows:
        assert {note.code for note in report.source.coverage.notes if note.path == f"{unit}/app.yaml"} == {code}, why
        held = of(report, "VirtualNetwork", unit)
        assert (held.verdict, held.condition.reason) == (Verdict.BLOCKED, "PruneHeld"), why
        assert f"{unit}/app.yaml" in held.condition.message, why

    world.units = {}
    elsewhere = {f"elsewhere/{unit}.yaml": text for unit, _, _, text in rows}
    world.says_files({"group.yaml": GROUP, **elsewhere}).sync(**pruning)
    deleted = {path.rpartition("/")[2] for path in world.sent("DELETE")}
    assert deleted == {unit for unit, *_ in rows}, "of its own unit, and of no other"


def test_a_value_that_is_not_known_matters_only_in_an_object_that_is_used(world):
    reference = ValuesReference(kind="ConfigMap", namespace="default", name="elsewhere")
    options = UnitOptions(substitution=Substitution(references=(reference,)))
    with_variables(world, "net/hub.yaml", "net/app.yaml", options=options)
    world.says_files(SOURCE).sync(prune=True)
    report = world.says_files({"group.yaml": GROUP, "net/app.yaml": config_map("${APP}")}).sync(prune=True)
    assert (report.exit_code, world.sent("DELETE")) == (0, [])
    assert {note.code for note in report.source.coverage.notes} == {"VariableNotKnown"}
    assert of(report, "VirtualNetwork", "hub").condition.reason == "PruneHeld"


@pytest.mark.parametrize("name", ["{{ name }}", "'<NAME>'"])
def test_a_template_of_a_resource_is_a_warning_and_holds_deletes_of_its_folder(world, name):
    world.says_files(SOURCE).sync(prune=True)
    template = VNET.replace("name: hub", f"name: {name}")
    report = world.says_files({"group.yaml": GROUP, "net/hub.yaml": template}).sync(prune=True)
    assert (report.exit_code, world.sent("DELETE")) == (0, [])
    assert {(problem.code, problem.level) for problem in report.problems} == {
        ("Template", Level.WARNING),
        ("RecordsNotSigned", Level.WARNING),
    }
    assert of(report, "VirtualNetwork", "hub").condition.reason == "PruneHeld"
