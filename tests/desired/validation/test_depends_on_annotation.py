"""The annotation `gitsync/depends-on`: an order between resources of which none refers to the other."""

from __future__ import annotations

import pytest

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.manifests.reader import read_manifests
from gitsync.desired.manifests.selection import select_namespaces
from gitsync.desired.request.build import prepare
from gitsync.desired.validation.depends_on_annotation import DEPENDS_ON
from gitsync.desired.validation.portability import check_portability
from gitsync.report.owner_graph import Relation, build_owner_graph

SUBSCRIPTION = "00000000-0000-0000-0000-000000000000"
CATALOG = open_catalog()


def group(name, after="", namespace="default"):
    return f"""\
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata:
  name: {name}
  namespace: {namespace}
  annotations:
    gitsync/depends-on: "{after}"
spec: {{location: westeurope}}
"""


def network(name, owner, after=""):
    return f"""\
apiVersion: network.azure.com/v1api20240301
kind: VirtualNetwork
metadata:
  name: {name}
  annotations:
    gitsync/depends-on: "{after}"
spec: {{location: westeurope, owner: {{name: {owner}}}, addressSpace: {{addressPrefixes: [10.0.0.0/16]}}}}
"""


LOCK = f"""\
apiVersion: azure.gitsync/v1
kind: AzureResource
metadata: {{name: keep}}
spec:
  type: Microsoft.Authorization/locks@2020-05-01
  owner: {{armId: /subscriptions/{SUBSCRIPTION}}}
  body: {{properties: {{level: CanNotDelete}}}}
"""


def read(*documents, **files):
    files = {f"{name}.yaml": text.encode() for name, text in files.items()}
    return read_manifests({**files, **({"a.yaml": "---\n".join(documents).encode()} if documents else {})})


def prepare_all(manifests):
    return prepare(manifests, catalog=CATALOG, subscription=SUBSCRIPTION)


RIGHT = [
    ([group("a", "ResourceGroup/b"), group("b")], ["b"], "in its own namespace"),
    ([group("a", " ResourceGroup/b , ResourceGroup/c"), group("b"), group("c")], ["b", "c"], "several, with blanks"),
    ([group("a", "other/ResourceGroup/b"), group("b", namespace="other")], ["b"], "of another namespace"),
    ([group("a", "ResourceGroup.resources.azure.com/b"), group("b")], ["b"], "with the group of the kind"),
    ([group("a", "VirtualNetwork/hub"), group("b"), network("hub", "b")], ["hub"], "of another kind"),
    ([group("a", "  ")], [], "a blank text counts as absent"),
    ([group("a", "ResourceGroup/b,ResourceGroup/b"), group("b")], ["b"], "twice the same"),
]


@pytest.mark.parametrize(("documents", "names", "why"), RIGHT)
def test_what_is_named_comes_first(documents, names, why):
    first, *_ = [entry for entry in prepare_all(read(*documents)) if entry.key.name == "a"]
    assert (first.problems, [key.name for key in first.relations.depends_on]) == ((), names), why
    assert first.relations.named_first == first.relations.depends_on, why


WRONG = [
    ([group("a", "ResourceGroup/bb"), group("b")], "DependsOnAnnotation", 'No manifest declares "ResourceGroup/bb".',
     "Did you mean ResourceGroup/b?", "a name that nothing has"),
    ([group("a", "ResourceGroup/b"), group("b", namespace="other")], "DependsOnAnnotation",
     'No manifest declares "ResourceGroup/b".', "Did you mean other/ResourceGroup/b?", "another namespace"),
    ([group("a", "ResourceGroup/a")], "DependsOnAnnotation",
     '"ResourceGroup/a" is the resource itself, which cannot come before itself.', 'Remove "ResourceGroup/a".', "itself"),
    ([group("a", "ResourceGroup/b,"), group("b")], "DependsOnAnnotation", '"" is not the name of a resource.',
     "Write Kind/name, or namespace/Kind/name for another namespace.", "a comma too many"),
    ([group("a", "ResourceGroup/b"), group("b", "ResourceGroup/a")], "Cycle",
     "Dependency cycle: ResourceGroup/a → ResourceGroup/b → ResourceGroup/a.", "Remove one of these references.",
     "a cycle of two annotations"),
    ([group("a", "AzureResource/keep"), LOCK], "DependsOnAnnotation",
     "AzureResource/keep is a lock that holds for this resource, so it is created after it.",
     "Remove AzureResource/keep.", "its own lock"),
    ([group("a", "VirtualNetwork/hub"), network("hub", "a")], "Cycle",
     "Dependency cycle: VirtualNetwork/hub → ResourceGroup/a → VirtualNetwork/hub.", "Remove one of these references.",
     "a cycle through an owner"),
]  # fmt: skip


@pytest.mark.parametrize(("documents", "code", "message", "hint", "why"), WRONG)
def test_a_wrong_name_is_an_error_at_its_line(documents, code, message, hint, why):
    problem = next(p for entry in prepare_all(read(*documents)) if entry.key.name == "a" for p in entry.problems)
    assert (problem.code, problem.message, problem.hint) == (code, message, hint), why
    assert (problem.is_error, problem.path, problem.line) == (True, "a.yaml", 7), why
    assert problem.field == f"metadata.annotations.{DEPENDS_ON}", why


def test_a_name_of_a_document_that_cannot_be_used_leads_to_that():
    broken = group("b").replace("westeurope", "[")
    resource = next(entry for entry in prepare_all(read(a=group("a", "ResourceGroup/b"), b=broken)))
    (problem,) = resource.problems
    assert problem.hint == "b.yaml:1 declares it, but that document cannot be used. Fix that first."


def test_a_name_in_a_namespace_outside_of_the_run_is_known_and_not_waited_for():
    manifests = read(group("a", "other/ResourceGroup/b"), group("b", namespace="other"))
    (resource,) = prepare_all(select_namespaces(manifests, ["default"]))
    assert (resource.problems, resource.relations.depends_on) == ((), ())


def test_the_graph_names_the_edge():
    prepared = prepare_all(read(group("a", "ResourceGroup/b"), group("b")))
    (edge,) = build_owner_graph(prepared, CATALOG).edges
    assert (edge.relation, edge.source.rpartition("/")[2], edge.target.rpartition("/")[2]) == (Relation.NAMED, "a", "b")


def test_aso_ignores_the_annotation():
    (resource,) = read(group("a", "ResourceGroup/b")).resources
    (finding,) = check_portability(resource, CATALOG)
    assert (finding.code, finding.path[-1]) == ("NotPortable", DEPENDS_ON)
