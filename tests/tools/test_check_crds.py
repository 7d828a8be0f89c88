"""The check of the catalog against CRDs, on a small release and on one mistake at a time."""

from pathlib import Path

import check_crds
import make_catalog
import pytest
import yaml
from extract_facts.release import Release
from from_aso_page import ESTATE, make_definition

from gitsync.desired.catalog.catalog import open_catalog
from tests.tools.aso_checkouts import ASO, GROUP, read_facts
from tests.tools.tool_runs import run_tool

CRDS = (ASO / "crds.yaml").read_text()


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """The catalog of the small checkout."""
    folder = tmp_path_factory.mktemp("data")
    make_catalog.take_release(read_facts(), ASO, Release("2.21", "2026-08-21"), folder)
    return folder


def check(data, folder, text=CRDS, *flags):
    bundle = Path(folder) / "crds.yaml"
    bundle.write_text(text)
    return run_tool(check_crds.main, bundle, "--data", data, *flags)


def test_the_catalog_agrees_with_the_crds_of_its_release(data, tmp_path):
    done = check(data, tmp_path)
    assert "0  Without a reason." in done.stdout, done.stdout
    assert done.stdout.startswith("3 versions of kinds compared.\n")
    assert "ASO checks the form of an armId by a pattern." in done.stdout
    assert done.returncode == 0


MISTAKES = [
    ("maxLength: 24", "maxLength: 20", "Thing spec.azureName: maxLength: catalog 24.0, CRD 20", "a length"),
    (
        "enum: [Large, Small]",
        "enum: [Large]",
        "Thing spec.size: enum: catalog ['Large', 'Small'], CRD ['Large']",
        "a choice",
    ),
    ('pattern: "^[1-3]$"', 'pattern: "^[1-2]$"', "Thing spec.zone: pattern: catalog ^[1-3]$, CRD ^[1-2]$", "a pattern"),
    (
        "required: [location, owner]",
        "required: [owner]",
        "Thing spec.location: required: catalog True, CRD absent",
        "a must",
    ),
    (
        "hour: {type: integer}",
        "hour: {type: string}",
        "backup.dailyBackup.hour: type: catalog integer, CRD string",
        "a type",
    ),
    (
        "policyId: {type: string}\n",
        "policy: {type: string}\n",
        "spec.policyId: property: catalog present, CRD absent",
        "a property",
    ),
    (
        "policyId: {type: string}\n",
        "policy: {type: string}\n",
        "spec.policy: property: catalog absent, CRD present",
        "its name",
    ),
    ("maxItems: 10", "maxItems: 11", "spec.certificates: maxItems: catalog 10.0, CRD 11", "the items of a list"),
    ("multipleOf: 0.5", "multipleOf: 0.25", "spec.share: multipleOf: catalog 0.5, CRD 0.25", "the steps of a number"),
    (
        "kind: Tie, plural: ties",
        "kind: Knot, plural: knots",
        "v20240101 Tie : version: catalog served, CRD absent",
        "a kind",
    ),
    (
        "kind: Tie, plural: ties",
        "kind: Knot, plural: knots",
        "v20240101 Knot : version: catalog absent, CRD served",
        "another kind",
    ),
    (
        "subnets: {type: array, items: {type: string}}",
        "subnets: {type: array, items: {type: integer}}",
        "status.subnets[]: type",
        "an item",
    ),
]


@pytest.mark.parametrize(("old", "new", "line", "why"), MISTAKES)
def test_a_difference_is_listed_and_fails_the_check(data, tmp_path_factory, old, new, line, why):
    assert old in CRDS
    done = check(data, tmp_path_factory.mktemp("crds"), CRDS.replace(old, new, 1))
    assert line in done.stdout, why
    assert done.returncode == 1, why


def test_the_list_of_differences_has_an_end(data, tmp_path):
    done = check(data, tmp_path, CRDS.replace("type: string", "type: boolean"), "--show", "2")
    assert done.stdout.count(f"        {GROUP}/") == 2


@pytest.mark.parametrize(
    ("text", "message", "why"),
    [
        ("kind: ConfigMap\n", "crds.yaml: no CRD of ASO in there", "other kinds"),
        ("- one\n---\n7\n", "crds.yaml: no CRD of ASO in there", "documents that are no objects"),
        ("kind: A\n---\nspec: [\n", "crds.yaml:4: not YAML", "a list without an end"),
        (
            "kind: A\n---\nkind: CustomResourceDefinition\n",
            "crds.yaml:3: a CRD without what each has: 'spec'",
            "no spec",
        ),
        ("kind: CustomResourceDefinition\nspec: {}\n", "crds.yaml:1: a CRD without what each has: 'versions'", "none"),
        (CRDS.replace("openAPIV3Schema:", "schema:"), "a CRD without what each has: 'openAPIV3Schema'", "no schema"),
        ("kind: \x00\n", "crds.yaml: cannot be read", "a control character"),
    ],
)
def test_a_bundle_that_is_none_is_refused(data, tmp_path, text, message, why):
    done = check(data, tmp_path, text)
    assert message in done.stderr, why
    assert "Traceback" not in done.stderr, why
    assert done.returncode == 1, why


def test_a_bundle_that_does_not_exist_is_refused(data, tmp_path):
    done = run_tool(check_crds.main, tmp_path / "none.yaml", "--data", data)
    assert "none.yaml: cannot be read: " in done.stderr


def test_the_crds_of_the_tool_for_a_real_api_server_have_the_kinds_and_versions_of_the_catalog(tmp_path):
    bundle = tmp_path / "crds.yaml"
    bundle.write_text(yaml.safe_dump_all(make_definition(held) for held in ESTATE))
    schemas = check_crds.read_schemas([bundle])
    catalog = open_catalog()
    served = {gvk for gvk, _ in schemas}
    assert served == {
        gvk._replace(version=version) for gvk in served for version in catalog.versions(gvk.group, gvk.kind)
    }
