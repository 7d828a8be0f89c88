"""An owner whose document cannot be used: the hint names that document, and not a manifest to add."""

from __future__ import annotations

import pytest

from gitsync.desired.manifests.unparsed_text import find_likely_header
from tests.support.command_line import run_here

CHILD = """\
apiVersion: network.azure.com/v1api20240301
kind: NatGateway
metadata: {name: nat}
spec: {location: westeurope, owner: {name: web}, sku: {name: Standard}}
"""
GROUP = """\
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata:
  name: web
spec:
  location: westeurope
"""
BROKEN = GROUP + "  tags: {a: b: c}\n"


@pytest.mark.parametrize(
    ("text", "location", "why"),
    [
        (GROUP.replace("westeurope", "{{ .Env.LOCATION }}"), "a.yaml:2", "a template"),
        (BROKEN, "a.yaml:2", "broken YAML"),
        (f"<<<<<<< HEAD\n{GROUP}=======\n>>>>>>> x\n", "a.yaml:3", "a conflict"),
        (BROKEN.replace("metadata:\n  name: web", "metadata: {namespace: default, name: web}"), "a.yaml:2", "braces"),
        (BROKEN.replace("  name: web", "  labels:\n    name: other\n  name: web # the web"), "a.yaml:2", "a label"),
        (BROKEN.replace("name: web", 'name: "web"').replace("\n", "\r\n"), "a.yaml:2", "quotes, and Windows"),
        (GROUP.replace("apiVersion:", "apiversion:"), "a.yaml:2", "a misspelt field"),
        (GROUP.replace("kind:", "Kind:"), "a.yaml:2", "a field in another case"),
        ("# first\n" + BROKEN, "a.yaml:3", "a comment before it"),
        (CHILD.replace("nat", "x").replace("web", "b") + "---\n" + BROKEN, "a.yaml:7", "the second of a file"),
        (BROKEN.replace("name: web", "name: {{ name }}"), "", "a template of any name"),
        (BROKEN.replace("ResourceGroup", "Registry"), "", "another kind"),
        (BROKEN.replace("name: web", "name: website"), "", "another name"),
    ],
)
def test_the_hint_of_a_missing_owner_names_a_document_that_cannot_be_used(tmp_path, text, location, why):
    (tmp_path / "a.yaml").write_bytes(f"---\n{text}".encode())
    (tmp_path / "child.yaml").write_text(CHILD)
    said = run_here("validate", folder=tmp_path)
    hint = said.out.partition("child.yaml:4: error: OwnerNotFound")[2].splitlines()[2].strip()
    if location:
        assert hint == f"{location} declares it, but cannot be used. Fix that first.", why
    else:
        assert "cannot be used" not in hint, why


def test_a_long_text_without_a_header_takes_time_in_proportion():
    """A pattern that looks at texts of strangers runs over none twice."""
    for line in (b"metadata:\n", b"metadata: {", b"  a\n", b"name: \n", b"kind: ", b"metadata:\n  a: b\n"):
        assert find_likely_header(line * 200_000) is None
