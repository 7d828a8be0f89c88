"""Files into manifests: what each document is taken for."""

import base64
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitsync.desired.manifests import reader
from gitsync.desired.manifests.reader import read_manifests
from gitsync.desired.manifests.variable_values import VariableSet
from gitsync.model.export import Address, ObjectKind
from gitsync.model.gvk import GVK, Key
from gitsync.model.manifests import Encrypted
from gitsync.model.problem import Level, SourceLocation
from gitsync.model.secret import Secret
from gitsync.model.unit import ChartRelease, FileSelection, ObjectSettings, Unit
from gitsync.model.unit_kind import UnitKind
from gitsync.model.variables import VariableValues
from tests.support.hypothesis_profile import scale

GROUP = """apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata:
  name: rg
  namespace: team
  annotations: {a/b: c}
  labels: {d: e}
spec:
  location: westeurope
"""


def read(text, **more):
    return read_manifests({"a.yaml": text.encode()}, **more)


def user(name):
    """A resource that takes a value from a Secret or a ConfigMap."""
    return (
        "apiVersion: cache.azure.com/v1api20230801\nkind: Redis\nmetadata: {name: user}\n"
        f"spec: {{password: {{name: {name}, key: a}}}}\n"
    )


def told(manifests):
    return [(p.code, p.line, p.field) for p in manifests.problems]


def test_a_resource_is_read_in_full():
    (resource,) = read(GROUP).resources
    assert resource.key == Key("resources.azure.com", "ResourceGroup", "team", "rg")
    assert resource.gvk == GVK("resources.azure.com", "v1api20200601", "ResourceGroup")
    assert resource.spec == {"location": "westeurope"}
    assert (resource.annotations, resource.labels) == ({"a/b": "c"}, {"d": "e"})
    assert resource.source == SourceLocation("a.yaml", 1)
    assert resource.lines.find(("spec", "location")) == 9
    assert resource.problems == ()


@pytest.mark.parametrize(
    ("said", "namespace", "expected", "why"),
    [
        ("  namespace: team\n", "default", "team", "what the manifest says"),
        ("", "default", "default", "nothing said"),
        ("", "ours", "ours", "the setting where nothing is said"),
        ("  namespace: ''\n", "ours", "ours", "said to be empty is not said"),
    ],
)
def test_the_namespace(said, namespace, expected, why):
    text = GROUP.replace("  namespace: team\n", said)
    (resource,) = read(text, namespace=namespace).resources
    assert resource.key.namespace == expected, why


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a: 1\n", "says no kind"),
        ("- a\n", "is a list"),
        ("just text\n", "is text"),
        ("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\n", "a kind of Kubernetes"),
        ("apiVersion: karpenter.azure.com/v1beta1\nkind: AKSNodeClass\nmetadata: {name: x}\n", "another operator's"),
        ("apiVersion: 5\nkind: Thing\n", "says its kind in numbers"),
        ("apiVersion: v1\nkind: ''\n", "says an empty kind"),
        ("apiVersion: apps/v1\nkind: Deployment\nspec: {a: 1, a: 2}\n", "whatever is wrong with another's"),
    ],
)
def test_what_is_not_for_us_is_counted(text, why):
    found = read(text)
    assert (found.resources, found.problems, found.skipped_documents) == ((), (), 1), why


def test_nothing_is_not_counted():
    assert read("---\n# a comment\n---\n\n---\nnull\n").skipped_documents == 0


@pytest.mark.parametrize("name", ["notes.txt", "values.tpl", "a.yaml.bak", "README"])
def test_other_files_are_not_read(name):
    assert read_manifests({name: b"{{"}) == read_manifests({})


def test_yml_and_json_are_read():
    as_json = b'{"apiVersion": "resources.azure.com/v1", "kind": "ResourceGroup", "metadata": {"name": "b"}}'
    found = read_manifests({"a.yml": GROUP.encode(), "b.json": as_json})
    assert [r.key.name for r in found.resources] == ["b", "rg"]


@pytest.mark.parametrize(
    ("change", "expected", "why"),
    [
        (("  name: rg\n", ""), ("MissingName", 4, "metadata.name"), "no name"),
        (("name: rg", "generateName: rg-"), ("MissingName", 4, "metadata.name"), "a name that is yet to be made"),
        (("name: rg", "name: 5"), ("InvalidName", 4, "metadata.name"), "a number"),
        (("name: rg", "name: ../../x"), ("InvalidName", 4, "metadata.name"), "a way out of the folder"),
        (("name: rg", "name: a/b"), ("InvalidName", 4, "metadata.name"), "a path"),
        (("name: rg", "name: " + "a" * 254), ("InvalidName", 4, "metadata.name"), "too long"),
        (("namespace: team", "namespace: a/b"), ("InvalidName", 5, "metadata.namespace"), "a path as namespace"),
        (("namespace: team", "namespace: [a]"), ("InvalidName", 5, "metadata.namespace"), "a list as namespace"),
        (("kind: ResourceGroup", "kind: Resource/Group"), ("InvalidKind", 1, "apiVersion"), "a path as kind"),
        (("/v1api20200601", "/"), ("InvalidKind", 1, "apiVersion"), "no version"),
        (("resources.azure", "Resources.azure"), ("InvalidKind", 1, "apiVersion"), "a group in capitals"),
    ],
)
def test_a_document_without_a_usable_identity_is_a_problem_and_no_resource(change, expected, why):
    found = read(GROUP.replace(*change))
    assert found.resources == ()
    where = [(p.code, p.field) for p in found.problems]
    assert where == [(expected[0], expected[2])], why
    assert found.problems[0].line in {1, expected[1]}
    assert found.problems[0].hint


def test_no_metadata_is_a_problem():
    assert told(read("apiVersion: resources.azure.com/v1api20200601\nkind: ResourceGroup\n")) == [
        ("InvalidMetadata", 1, "metadata")
    ]


@pytest.mark.parametrize(
    ("change", "expected", "why"),
    [
        (("{a/b: c}", "{a/b: true}"), ("InvalidMetadata", 6, "metadata.annotations.a/b"), "an annotation is text"),
        (("{a/b: c}", "[a]"), ("InvalidMetadata", 6, "metadata.annotations"), "annotations are a mapping"),
        (("{d: e}", "{d: 1}"), ("InvalidMetadata", 7, "metadata.labels.d"), "a label is text"),
        (("  location: westeurope", "  location: a\n  location: b"), ("DuplicateKey", 10, "spec.location"), "twice"),
        (("spec:\n  location: westeurope", "spec: []"), ("InvalidSpec", 8, "spec"), "a spec is a mapping"),
    ],
)
def test_a_resource_bears_what_was_wrong_in_reading_it(change, expected, why):
    found = read(GROUP.replace(*change))
    (resource,) = found.resources
    assert [(p.code, p.line, p.field) for p in resource.problems] == [expected], why
    assert all(p.hint for p in resource.problems)
    assert found.problems == ()


@pytest.mark.parametrize(
    ("change", "annotations", "labels", "why"),
    [
        (("{d: e}", "{d: null, f: ~}"), {"a/b": "c"}, {"d": "", "f": ""}, "null is an empty label"),
        (("{a/b: c}", "{a/b: null}"), {"a/b": ""}, {"d": "e"}, "and an empty annotation"),
        (("{d: e}", "null"), {"a/b": "c"}, {}, "no labels at all"),
    ],
)
def test_null_in_labels_and_annotations_is_what_kubernetes_makes_of_it(change, annotations, labels, why):
    (resource,) = read(GROUP.replace(*change)).resources
    assert (resource.annotations, resource.labels) == (annotations, labels), why
    assert resource.problems == ()


@pytest.mark.parametrize(
    ("change", "others", "why"),
    [
        (("spec:", "spec:"), {}, "all is read"),
        (("spec:", "tags: {a: b}\nspec:"), {"tags": {"a": "b"}}, "what is misplaced is kept for validation"),
        (("  name: rg", "  name: rg\n  uid: 5"), {"metadata": {"uid": 5}}, "and so is the rest of metadata"),
        (("spec:", "status: {a: b}\nsops: {mac: x}\nspec:"), {}, "what clusters and SOPS write"),
        (("spec:", "Spec:"), {}, "a misspelt field is reported as one"),
    ],
)
def test_the_fields_of_a_resource_that_are_not_read(change, others, why):
    (resource,) = read(GROUP.replace(*change)).resources
    assert resource.others == others, why


def test_annotations_that_are_not_text_are_left_out():
    (resource,) = read(GROUP.replace("{a/b: c}", "{a/b: c, d: 1}")).resources
    assert resource.annotations == {"a/b": "c"}


def test_lists_are_taken_apart():
    item = GROUP.replace("\n", "\n    ")
    text = f"apiVersion: v1\nkind: List\nitems:\n  - {item}\n  -\n  - apiVersion: v1\n    kind: List\n    items: []\n"
    found = read(text)
    (resource,) = found.resources
    assert (resource.source.line, resource.lines.find(("spec", "location"))) == (4, 12)
    assert (found.problems, found.skipped_documents) == ((), 0)


def test_a_list_of_one_kind_need_not_repeat_it():
    text = (
        "apiVersion: resources.azure.com/v1api20200601\nkind: ResourceGroupList\nitems:\n"
        "- metadata: {name: a, annotations: {x: 1}}\n"
    )
    (resource,) = read(text).resources
    assert resource.gvk == GVK("resources.azure.com", "v1api20200601", "ResourceGroup")
    assert [(p.line, p.field) for p in resource.problems] == [(4, "metadata.annotations.x")]


def test_items_of_an_aliased_list_have_the_line_of_the_alias():
    text = "x: &x [{metadata: {name: a}}]\napiVersion: resources.azure.com/v1\nkind: ResourceGroupList\nitems: *x\n"
    (resource,) = read(text).resources
    assert resource.source.line == 4


def test_config_maps_are_kept():
    found = read("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: b, c: '1'}\nbinaryData: {x: eA==}\n")
    assert found.objects.config_maps == {("default", "c"): {"a": "b", "c": "1"}}
    assert found.problems == ()


def test_secrets_are_kept_decoded_and_plain_text_wins():
    encoded = base64.b64encode(b"one\n").decode()
    text = f"apiVersion: v1\nkind: Secret\nmetadata: {{name: s}}\ndata: {{a: {encoded}, b: {encoded}}}\nstringData: {{b: two}}\n"
    assert read(text).objects.secrets == {("default", "s"): {"a": Secret("one\n"), "b": Secret("two")}}


@pytest.mark.parametrize(
    ("line", "expected", "level", "why"),
    [
        ("data: {a: 'hunter2!'}", ("InvalidData", 4, "data.a"), Level.ERROR, "no base64"),
        ("data: {a: 12345}", ("InvalidData", 4, "data.a"), Level.ERROR, "a number"),
        ("stringData: [hunter2]", ("InvalidData", 4, "stringData"), Level.ERROR, "no mapping"),
        ("data: {a: /w==}", ("BinarySecret", 4, "data.a"), Level.WARNING, "bytes that are no text"),
    ],
)
def test_a_secret_that_cannot_be_read_is_reported_without_its_value(line, expected, level, why):
    found = read(f"apiVersion: v1\nkind: Secret\nmetadata: {{name: s}}\n{line}\n---\n{user('s')}")
    assert told(found) == [expected], why
    assert found.problems[0].level is level
    assert "hunter2" not in str(found.problems) + repr(found)
    assert "12345" not in str(found.problems)


def test_what_is_encrypted_with_sops_is_kept_as_it_stands():
    text = b"apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {a: 'ENC[x]'}\nsops: {mac: x}\n"
    found = read_manifests({"a.yaml": text, "b.yaml": text.replace(b"Secret", b"ConfigMap")})
    assert (found.objects.secrets, found.objects.config_maps, found.problems) == ({}, {}, ())
    assert found.objects.encrypted == {
        Address(ObjectKind.SECRET, "default", "s"): Encrypted(
            source=SourceLocation("a.yaml", 1), text=text, name=("Secret", "", "s")
        ),
        Address(ObjectKind.CONFIG_MAP, "default", "s"): Encrypted(
            source=SourceLocation("b.yaml", 1),
            text=text.replace(b"Secret", b"ConfigMap"),
            name=("ConfigMap", "", "s"),
        ),
    }


def sealed(name, mac, kind="Secret", group="v1"):
    return f"apiVersion: {group}\nkind: {kind}\nmetadata: {{name: {name}}}\nsops: {{mac: {mac}}}\n"


def test_documents_that_were_encrypted_at_once_are_kept_together():
    texts = [sealed("a", 1), sealed("b", 2), sealed("c", 1, "ResourceGroup", "resources.azure.com/v1api20200601")]
    found = read("---\n".join(texts))
    one, other = (found.objects.encrypted[Address(ObjectKind.SECRET, "default", name)] for name in "ab")
    assert one.text.decode() == f"{texts[0]}---\n{texts[2]}"
    assert other.text.decode() == f"---\n{texts[1]}"


def test_what_was_encrypted_at_once_is_kept_once_however_many_share_it():
    found = read("---\n".join(sealed(f"s{number}", "1") for number in range(300)))
    texts = {id(file.text) for file in found.objects.encrypted.values()}
    assert (len(found.objects.encrypted), len(texts)) == (300, 1), "a file of thousands must not fill the memory"


def test_items_of_an_encrypted_list_are_not_taken_for_plain():
    items = "items: [{metadata: {name: a}, data: {k: x}}, {metadata: {name: b}}]"
    text = f"apiVersion: v1\nkind: SecretList\n{items}\nsops: {{mac: 1}}\n"
    found = read(text)
    assert found.objects.secrets == {}
    assert {str(at): file.text.decode() for at, file in found.objects.encrypted.items()} == {
        "Secret default/a": text,
        "Secret default/b": text,
    }


VARIABLES = VariableSet(everywhere=VariableValues(known={"ENV": "prod", "TEXT": "more"}))


def test_an_encrypted_document_keeps_its_seal_when_its_variables_are_replaced():
    text = sealed('"${ENV}-db"', 1) + "data: {a: 'ENC[x]', b: '${TEXT}'}\n"
    found = read_manifests({"a.yaml": text.encode()}, variables=VARIABLES)
    assert (found.problems, found.objects.encrypted) == (
        (),
        {
            Address(ObjectKind.SECRET, "default", "prod-db"): Encrypted(
                source=SourceLocation("a.yaml", 1), text=text.encode(), name=("Secret", "", "${ENV}-db")
            )
        },
    )
    (one,) = found.objects.encrypted.values()
    assert one.values == {"a": "ENC[x]", "b": "${TEXT}"}, "values are read from the decrypted file"


def test_no_step_of_reading_makes_an_encrypted_object_a_plain_one():
    """Copies: an item of a list, of a wrapper of CAPZ, and what variables are replaced in."""
    resource = "{apiVersion: resources.azure.com/v1api20200601, kind: ResourceGroup, metadata: {name: a}, spec: {location: 'ENC[AES256_GCM,x]'}}"
    wrapper = f"apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: AzureASOManagedCluster\nmetadata: {{name: a}}\nspec: {{resources: [{resource}]}}\n"
    listed = f"apiVersion: v1\nkind: List\nitems: [{resource}, {{apiVersion: v1, kind: Secret, metadata: {{name: '${{ENV}}'}}, data: {{a: 'ENC[x]'}}}}]\n"
    for text in (wrapper, listed):
        found = read_manifests({"a.yaml": f"{text}sops: {{mac: 1}}\n".encode()}, variables=VARIABLES)
        assert [problem.code for resource in found.resources for problem in resource.problems] == ["EncryptedManifest"]
        assert found.objects.secrets == {}
    assert [str(address) for address in found.objects.encrypted] == ["Secret default/prod"]


def test_one_name_plain_and_encrypted_stands_twice():
    found = read(sealed("a", 1) + "---\napiVersion: v1\nkind: Secret\nmetadata: {name: a}\n")
    assert (len(found.objects.encrypted), found.objects.secrets, told(found)) == (
        1,
        {},
        [("DuplicateManifest", 8, "metadata.name")],
    )


def test_every_declared_object_has_its_location_and_the_owner_that_a_sink_noted():
    annotated = "apiVersion: v1\nkind: Secret\nmetadata: {name: NAME, annotations: {gitsync/owner: me}}\n"
    sealed_text = annotated.replace("NAME", "b") + "sops: {mac: x}\n"
    found = read(
        f"{annotated.replace('NAME', 'a')}---\n{sealed_text}---\nkind: ConfigMap\napiVersion: v1\nmetadata: {{name: c}}\n"
    )
    assert {
        str(address): (document.source.line, document.owner) for address, document in found.objects.declared.items()
    } == {
        "Secret default/a": (1, ""),
        "Secret default/b": (5, "me"),
        "ConfigMap default/c": (10, ""),
    }


def test_a_resource_is_not_encrypted():
    text = GROUP.replace("westeurope", "ENC[AES256_GCM,data:x,type:str]") + "sops: {mac: 1}\n"
    (resource,) = read(text).resources
    assert [(p.code, p.line) for p in resource.problems] == [("EncryptedManifest", 8)]


def test_namespaces_are_kept_with_their_annotations():
    found = read("apiVersion: v1\nkind: Namespace\nmetadata: {name: team, annotations: {p: skip}}\n")
    assert found.namespaces == {"team": {"p": "skip"}}


@pytest.mark.parametrize("kind", ["ConfigMap", "Secret", "Namespace"])
def test_of_two_with_one_name_the_first_counts_and_the_second_is_reported(kind):
    template = "apiVersion: v1\nkind: {}\nmetadata: {{name: x, annotations: {{no1: '{}'}}}}\ndata: {{a: {}}}\n"
    files = {"b.yaml": template.format(kind, 2, "Mg==").encode(), "a.yaml": template.format(kind, 1, "MQ==").encode()}
    found = read_manifests(files)
    assert [(p.code, p.path) for p in found.problems] == [("DuplicateManifest", "b.yaml")]
    kept = found.objects.config_maps or found.objects.secrets
    assert kept in ({}, {("default", "x"): {"a": "MQ=="}}, {("default", "x"): {"a": Secret("1")}})
    assert found.namespaces in ({}, {"x": {"no1": "1"}})


@settings(max_examples=scale(20))
@given(st.randoms())
def test_the_order_of_files_changes_nothing(shuffler: random.Random):
    files = {f"{n}.yaml": GROUP.replace("name: rg", f"name: rg{n % 3}").encode() for n in range(6)}
    files["bad.yaml"] = b"{"
    files["cm.yaml"] = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"
    shuffled = list(files.items())
    shuffler.shuffle(shuffled)
    assert read_manifests(dict(shuffled)) == read_manifests(files)


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        (
            "#azure.com\n" + "---\n}\n" * (reader.MAX_PROBLEMS + 5),
            2 * reader.MAX_PROBLEMS + 3,
            "documents that do not parse",
        ),
        ("---\nkind: Vault\nspec:\n" * (reader.MAX_PROBLEMS + 5), 3 * reader.MAX_PROBLEMS + 2, "without apiVersion"),
    ],
)
def test_a_file_of_too_many_problems_is_not_read_to_its_end(text, line, why):
    found = read(text)
    last = found.problems[-1]
    assert (len(found.problems), last.code, last.line) == (reader.MAX_PROBLEMS + 1, "TooManyProblems", line), why
    assert found.unread[-1].is_rejected, "the rest may be manifests, so nothing may be deleted"


def test_problems_of_items_name_their_items():
    text = "apiVersion: v1\nkind: List\nitems:\n- x: {a: 1, a: 2}\n  apiVersion: resources.azure.com/v1\n  kind: ResourceGroup\n  metadata: {name: b}\n"
    (resource,) = read(text).resources
    assert [(problem.code, problem.field, problem.line) for problem in resource.problems] == [
        ("DuplicateKey", "x.a", 4)
    ]


ASO = "apiVersion: resources.azure.com/v1api20200601\nkind: ResourceGroup\nmetadata: {name: x}\n"
UNPARSED = [
    (ASO + "spec:\n\tlocation: x\n", Level.ERROR, "InvalidYaml", 5, "column 1: it is indented with a tab"),
    (
        ASO + "spec:\n  a: 1\n b: 2\n",
        Level.ERROR,
        "InvalidYaml",
        6,
        "the line does not continue the mapping that starts on",
    ),
    (
        ASO + "spec: {location: a\n",
        Level.ERROR,
        "InvalidYaml",
        5,
        "the mapping in braces that starts on line 4 is not closed",
    ),
    (ASO + "spec: {location: {{ .Values.region }}}\n", Level.ERROR, "Template", 4, "{{ }} of Helm"),
    (
        "{{- if .Values.x }}\n" + ASO + "{{- end }}\n",
        Level.WARNING,
        "Template",
        1,
        "{{ }} of Helm or another template tool",
    ),
    (ASO.replace("name: x", "name: {{ .Values.name }}"), Level.WARNING, "Template", 3, "{{ }} of Helm"),
    ("kind: Secret\nmetadata: {name: {{ name }}}\n", Level.NOTE, "Template", 2, "{{ }} of Helm"),
    ("<<<<<<< HEAD\n" + ASO + "=======\n>>>>>>> x\n", Level.ERROR, "MergeConflict", 2, "merge conflict markers"),
    (
        ASO.replace("resources.azure.com", "apps") + "a: b: c\n",
        Level.WARNING,
        "InvalidYaml",
        4,
        "unexpected key: check the indentation of the lines above",
    ),
    (
        "kind: Secret\na: b: c\n",
        Level.NOTE,
        "InvalidYaml",
        2,
        "unexpected key: check the indentation of the lines above",
    ),
]


@pytest.mark.parametrize(("text", "level", "code", "line", "part"), UNPARSED)
def test_what_is_wrong_with_a_text_that_does_not_parse(text, level, code, line, part):
    (problem,) = read(text).problems
    assert (problem.level, problem.code, problem.line) == (level, code, line)
    assert part in problem.message


@pytest.mark.parametrize(
    "name",
    ["'{{ name }}'", "'{{name}}-rg'", "${{ values.name }}", "<NAME>", "rg-<your name>", "'#{name}#'", "__NAME__", "'@@name@@'", "'%NAME%'", "$(name)", "'{name}'", "{name}", "{Resource Group Name}", "'{Resource Group Name}'", "{a name, of your choice}", "'[[ name ]]'"],
)  # fmt: skip
@pytest.mark.parametrize(("kind", "level"), [("ResourceGroup", Level.WARNING), ("Secret", Level.NOTE)])
def test_a_document_with_a_placeholder_in_its_name_is_a_template(name, kind, level):
    head = "apiVersion: v1\nkind: Secret\n" if kind == "Secret" else ASO.partition("metadata")[0]
    found = read(f"{head}metadata:\n  name: {name}\n")
    (problem,) = found.problems
    assert (problem.code, problem.level, problem.line, found.resources) == ("Template", level, 4, ())
    assert [document.is_rejected or problem.may_hide_manifest for document in found.unread] == [True]


REST_OF_IT = "metadata: {name: a}\nspec: {location: westeurope, owner: {name: b}}\n"
TEMPLATES = [
    ("apiVersion: resources.azure.com/v1api20200601\nkind: {Kind}\n", 2, "kind", "{Kind}"),
    ("apiVersion: resources.azure.com/v1api20200601\nkind: '{{ .Values.kind }}'\n", 2, "kind", "{{ .Values.kind }}"),
    ("apiVersion: '{{ .Values.api }}'\nkind: ResourceGroup\n", 1, "apiVersion", "{{ .Values.api }}"),
    ("apiVersion: '{{ .Values.group }}/v1api20200601'\nkind: ResourceGroup\n", 1, "apiVersion", "{{ .Values.group }}"),
    ("apiVersion: {Version of the API}\nkind: ResourceGroup\n", 1, "apiVersion", "{Version of the API}"),
    ("apiVersion: <VERSION>\nkind: ResourceGroup\n", 1, "apiVersion", "<VERSION>"),
    ("apiVersion: $(API)\nkind: ResourceGroup\n", 1, "apiVersion", "$(API)"),
    ("apiVersion: '{{ .Values.api }}'\nkind: '{{ .Values.kind }}'\n", 1, "apiVersion", "{{ .Values.api }}"),
    ("kind: {Kind}\n", 1, "kind", "{Kind}"),
    *(
        (f"apiVersion: '{group}/v1'\nkind: VirtualNetwork\n", 1, "apiVersion", group)
        for group in ("#{Group}#", "@@Group@@", "%GROUP%", "__GROUP__", "<GROUP>", "{group}", "$(GROUP)", "{{ group }}")
    ),
    ("apiVersion: 'network.#{domain}#/v1'\nkind: VirtualNetwork\n", 1, "apiVersion", "network.#{domain}#"),
]


@pytest.mark.parametrize(("head", "line", "field", "written"), TEMPLATES, ids=[row[0] for row in TEMPLATES])
def test_a_document_with_a_placeholder_in_its_header_is_a_template(head, line, field, written):
    found = read(head + REST_OF_IT)
    (problem,) = found.problems
    assert (problem.code, problem.path, problem.line, problem.field) == ("Template", "a.yaml", line, field)
    assert (problem.is_unread, written in problem.message) == (True, True), "a run is refused, as for other templates"
    assert [document.is_rejected for document in found.unread] == [True]


@pytest.mark.parametrize("api_version", ["{{ .Values.api }}", "{{ .Values.group }}/v1", "#{Group}#/v1", "@@Group@@/v1"])
@pytest.mark.parametrize("kind", ["Deployment", "Image", "Ingress"])
def test_a_document_of_another_tool_with_a_placeholder_in_its_header_is_skipped(api_version, kind):
    assert read(f"apiVersion: '{api_version}'\nkind: {kind}\nmetadata: {{name: a}}\n").problems == ()


def test_a_variable_for_a_group_does_not_hide_an_aso_kind():
    """The group of a manifest decides who applies it, before variables are replaced."""
    (problem,) = read("apiVersion: '${GROUP}/v1'\nkind: VirtualNetwork\n" + REST_OF_IT).problems
    assert (problem.code, problem.is_error) == ("UnknownGroup", True)


def test_a_variable_in_a_name_is_not_a_placeholder():
    found = read("apiVersion: v1\nkind: Secret\nmetadata:\n  name: ${NAME}\nstringData: {a: b}\n")
    assert (found.problems, list(found.objects.secrets)) == ((), [("default", "${NAME}")])


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("tsconfig.json", '{\n  // strict\n  "compilerOptions": {"strict": true},\n}\n'),
        (
            "arm.json",
            '{"$schema": "https://x/deploymentTemplate.json#",\n  // x\n "resources": [{"apiVersion": "1"}]}\n',
        ),
    ],
)
def test_a_file_that_is_not_a_manifest_is_skipped(path, text):
    found = read_manifests({path: text.encode()})
    assert found.problems == ()
    assert [(document.form, document.is_rejected) for document in found.unread] == [("text that is not JSON", False)]


def test_yaml_without_any_sign_may_be_the_rest_of_a_manifest():
    found = read_manifests({"a.yaml": b"a: [\n"})
    assert [(p.level, p.code) for p in found.problems] == [(Level.WARNING, "InvalidYaml")]
    assert [document.is_rejected for document in found.unread] == [True], "it holds deletes"


def test_json_is_reported_as_json():
    (problem,) = read_manifests({"a.json": b'{"kind": "Secret",\n "a": 1 "b": 2}'}).problems
    assert (problem.code, problem.line) == ("InvalidJson", 2)
    assert problem.message == "This is not JSON at column 9: expecting ',' delimiter."


TEMPLATE = ASO.replace("name: x", "name: {{ .Release.Name }}")


@pytest.mark.parametrize(
    ("templates", "count", "why"),
    [
        ({"a.yaml": TEMPLATE, "sub/b.yaml": ASO, "_helpers.tpl": ""}, 2, "one problem a chart"),
        ({"a.yaml": TEMPLATE.replace("resources.azure.com", "apps")}, 0, "a chart of others is no problem"),
    ],
)
def test_the_templates_of_a_chart_are_named_once(templates, count, why):
    files = {f"charts/team/templates/{name}": text.encode() for name, text in templates.items()}
    found = read_manifests(
        {"charts/team/Chart.yaml": b"apiVersion: v2\nname: team\n", "charts/team/values.yaml": b"a: 1\n", **files}
    )
    assert [(p.code, p.path, p.line) for p in found.problems] == (
        [("HelmChart", "charts/team/Chart.yaml", 1)] if count else []
    )
    assert all(f"{count} templates" in p.message for p in found.problems), why
    assert found.resources == ()
    assert {document.form for document in found.unread if "templates" in document.source.path} == {"Helm template"}


def test_hooks_of_a_chart_are_skipped():
    hook = "metadata:\n  name: x\n  annotations:\n    helm.sh/hook: test"
    rendered = f"---\n# Source: team/templates/a.yaml\n{ASO}---\n# Source: team/templates/h.yaml\n"
    rendered += (
        ASO.replace("metadata: {name: x}", hook)
        + f"---\n# Source: team/templates/p.yaml\nkind: Pod\napiVersion: v1\n{hook}\n"
    )
    unit = Unit(
        name="team", path="team", kind=UnitKind.CHART, file="team/Chart.yaml", release=ChartRelease(), namespace="shop"
    )
    found = read_manifests({"team/Chart.yaml": rendered.encode()}, units={"team/Chart.yaml": unit})
    assert [resource.key.namespace for resource in found.resources] == ["shop"]
    assert [(problem.code, problem.level) for problem in found.problems] == [("HelmHook", Level.WARNING)]
    assert [document.form for document in found.unread] == ["Helm hook"] * 2
    assert [document.kind for document in found.unread] == ["ResourceGroup", ""], "its name holds a delete"
    plain = read_manifests({"a.yaml": rendered.encode()})
    assert len(plain.resources) == 2, "elsewhere the annotation means nothing"


def test_argo_cd_reads_the_hooks_of_helm_too():
    unit = Unit(
        name="argocd/app",
        path="app",
        kind=UnitKind.APPLICATION,
        file="app.yaml",
        settings=ObjectSettings(selection=FileSelection()),
    )
    annotations = (
        "argocd.argoproj.io/hook: Sync",
        "helm.sh/hook: test",
        "helm.sh/hook: test, argocd.argoproj.io/hook: Skip",
    )
    files = {
        f"app/{index}.yaml": ASO.replace("{name: x}", f"{{name: x, annotations: {{{one}}}}}").encode()
        for index, one in enumerate(annotations)
    }
    found = read_manifests(files, units=dict.fromkeys(files, unit))
    assert found.resources == ()
    assert sorted((problem.path, problem.code) for problem in found.problems) == [
        ("app/0.yaml", "ArgoHook"),
        ("app/1.yaml", "HelmHook"),
        ("app/2.yaml", "ArgoHook"),
    ]
    assert [document.form for document in found.unread] == ["Argo CD hook", "Helm hook", "Argo CD hook"]


def test_a_chart_in_a_chart_has_its_own_templates():
    files = {
        "a/Chart.yaml": b"name: a\n",
        "a/charts/b/Chart.yaml": b"name: b\n",
        "a/charts/b/templates/x.yaml": TEMPLATE.encode(),
        "a/other/y.yaml": ASO.encode(),
    }
    found = read_manifests(files)
    assert [(p.code, p.path) for p in found.problems] == [("HelmChart", "a/charts/b/Chart.yaml")]
    assert len(found.resources) == 1, "only templates belong to a chart"
