"""The enumerations of numbers in the facts of every kind: each of their values can be written in a manifest."""

from collections.abc import Mapping

import pytest

from gitsync.desired.validation.constraints import list_violations
from gitsync.desired.validation.validate import validate_resource
from gitsync.model.gvk import GVK
from tests.support.handmade_kinds import a_resource

SHAPES = {"integer": int, "number": int | float}
INSIGHTS = ("insights.azure.com", "v1api20220615", "ScheduledQueryRule")
WORKSPACE = ("operationalinsights.azure.com", "v1api20210601", "Workspace")
RETENTION = "ServersDatabasesBackupShortTermRetentionPolicy"


def list_types(catalog):
    """Every type of the facts, once: {(group, api-version, name of the type): its facts}."""
    kinds = (
        catalog.kind(GVK(group, version, name))
        for group in catalog.groups()
        for name in catalog.kinds(group)
        for version in catalog.versions(group, name)
    )
    return {(kind.gvk.group, kind.gvk.version, name): facts for kind in kinds for name, facts in kind.types.items()}


def find_number_choices(catalog):
    """(group, type, field, base, choices) of every field that is a choice of numbers, at any depth of its type."""
    for (group, _, type_name), facts in list_types(catalog).items():
        for field, entry in facts["fields"].items():
            for type_ in walk(entry["type"]):
                if "enum" in type_ and type_.get("base") in SHAPES:
                    yield group, type_name, field, type_["base"], type_["enum"]


def walk(type_):
    if isinstance(type_, Mapping):
        yield type_
        for inner in type_.values():
            yield from walk(inner)


def test_every_value_of_every_enumeration_of_numbers_is_accepted(catalog):
    found = list(find_number_choices(catalog))
    assert {field for _, _, field, _, _ in found} >= {
        "severity",
        "capacityReservationLevel",
        "diffBackupIntervalInHours",
    }, "those that ASO has"
    for group, type_name, field, base, choices in found:
        where = f"{group} {type_name}.{field}"
        assert all(isinstance(choice, SHAPES[base]) for choice in choices), where
        for choice in choices:
            assert not list(list_violations(choice, {"enum": choices})), f"{where}: {choice}"
        assert list(list_violations(max(choices) + 1, {"enum": choices})), f"{where}: one that it does not have"


@pytest.mark.parametrize(
    ("of", "spec", "codes", "why"),
    [
        (INSIGHTS, {"severity": 2}, set(), "one of them"),
        (INSIGHTS, {"severity": 7}, {"UnknownValue"}, "none of them"),
        (INSIGHTS, {"severity": "2"}, {"WrongType"}, "a text"),
        (
            WORKSPACE,
            {"sku": {"name": "CapacityReservation", "capacityReservationLevel": 500}},
            set(),
            "in a type of its own",
        ),
        (("sql.azure.com", "v20211101", RETENTION), {"diffBackupIntervalInHours": 24}, set(), "an integer"),
        (("sql.azure.com", "v20250101", RETENTION), {"diffBackupIntervalInHours": 24}, set(), "a number"),
    ],
)
def test_a_manifest_takes_a_number_of_the_enumeration(catalog, of, spec, codes, why):
    group, version, name = of
    manifest = a_resource(spec, kind=name, group=group, version=version)
    problems = validate_resource(manifest, catalog.kind(manifest.gvk), catalog=catalog)
    field = f"spec.{next(iter(spec))}"
    assert {problem.code for problem in problems if problem.field.startswith(field)} == codes, why
