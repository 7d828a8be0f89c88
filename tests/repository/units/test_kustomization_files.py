"""What a kustomization refers to, and what it must not name."""

import pytest

from gitsync.repository.units.build_sandbox import UnbuildableError
from gitsync.repository.units.kustomization_files import find_inline_fault, read_kustomization
from gitsync.repository.units.kustomization_reader import KustomizationReader, list_all_inputs
from tests.repository.units.trees import MemoryTree


def one(text, **others):
    files = {"a/kustomization.yaml": text, **others}
    return list_all_inputs("a/kustomization.yaml", KustomizationReader(MemoryTree(files)))


@pytest.mark.parametrize(
    ("text", "word", "why"),
    [
        ("resources: ['https://example.com/x.yaml']", "https://example.com/x.yaml", "a file by its URL"),
        ("resources: ['github.com/org/repo//base?ref=v1']", "does not fetch remote", "a git base without a scheme"),
        ("resources: ['github.com/org/repo']", "does not fetch remote", "one without a revision"),
        ("bases: ['example.com/org/repo.git//base']", "does not fetch remote", "one of another host"),
        ("resources: ['git@github.com:org/repo']", "git@github.com", "a git base over ssh"),
        ("resources: [../../outside]", "outside this source", "a folder above the source"),
        ("resources: [../../outside.yaml]", "outside this source", "a file above the source"),
        ("patches: [{path: ../../p.yaml}]", "outside this source", "a patch above the source"),
        ("configMapGenerator: [{name: x, files: [k=../../../etc/passwd]}]", "outside this source", "a file after a key"),
        ("configMapGenerator: [{name: x, files: [/etc/passwd]}]", "a path of the machine", "a file of this machine"),
        ("configMapGenerator: [{name: x, files: [k=/etc/passwd]}]", "a path of the machine", "the same after a key"),
        ("resources: [/etc]", "a path of the machine", "a folder of this machine"),
        ("transformers: ['{kind: P, path: /etc/passwd}']", "neither a file", "an object in one line is a path"),
        ('transformers: ["kind: P\\npath: /etc/passwd\\n"]', "a path of the machine", "a path in an object"),
        ('generators: ["kind: P\\nfiles: [../../x]\\n"]', "outside this source", "another path in an object"),
        ("components: [missing]", "neither a file", "a component that is not there"),
        ("transformers: [github.com/a/b]", "does not fetch remote", "a transformer from elsewhere"),
        ("configMapGenerator: [{name: x, files: ['k=http://127.0.0.1/?a=b']}]", "http://127.0.0.1", "an address after a key"),
        ("secretGenerator: [{name: x, envs: ['HTTP://169.254.169.254/']}]", "169.254", "the machine's metadata"),
        ("patches: [{path: 'https://example.com/p'}]", "https://example.com/p", "a patch by its URL"),
        ("openapi: {path: 'https://example.com/o'}", "https://example.com/o", "a schema by its URL"),
        ("helmCharts: [{repo: 'oci://example.com/charts'}]", "oci://", "a chart"),
        ("[", "not valid YAML", "what cannot be read cannot be trusted"),
        ("just text", "must be a mapping", "no kustomization at all"),
        ("", "must be a mapping", "an empty file"),
        ("#" * 1_000_001, "too large", "nor is it one that is larger than any"),
        ("a: " + "[" * 5000, "not valid YAML", "nests without end"),
    ],
)  # fmt: skip
def test_nothing_outside_of_the_source_is_read(text, word, why):
    with pytest.raises(UnbuildableError) as refused:
        one(text)
    assert word in refused.value.problem.message, why
    assert refused.value.problem.path == "a/kustomization.yaml"


def test_what_a_file_of_plugins_names_is_checked_too():
    """kustomize reads these without its restrictor, and they are not kustomizations."""
    plugin = "kind: ConfigMapGenerator\nmetadata: {name: x}\nfiles: [/etc/passwd]\n"
    with pytest.raises(UnbuildableError, match="a path of the machine") as refused:
        one("generators: [g.yaml]", **{"a/g.yaml": plugin})
    assert (refused.value.problem.path, refused.value.problem.line) == ("a/g.yaml", 3)


@pytest.mark.parametrize(
    "text",
    [
        "commonAnnotations: {docs: 'https://example.com'}",
        "configMapGenerator: [{name: x, literals: ['URL=https://example.com']}]",
        'patches: [{patch: \'[{"op": "add", "path": "/spec/x", "value": "https://example.com"}]\'}]',
        "patchesStrategicMerge: [\"kind: A\\nspec: {url: 'https://example.com'}\"]",
        "images: [{name: a, newName: 'registry.example.com/a'}]",
        'transformers: ["kind: PrefixTransformer\\nmetadata: {name: x}"]\nresources: []',
        "labels: [{pairs: {a: b}, fields: [{path: /spec/x}]}]",
        "replacements: [{source: {kind: A, fieldPath: /x}, targets: [{fieldPaths: [/y]}]}]",
    ],
)
def test_texts_that_are_not_paths_are_skipped(text):
    assert one(text) == ("a/kustomization.yaml",)


def test_a_problem_has_the_line_of_the_text():
    text = "namePrefix: x\nresources:\n- b.yaml\n- https://example.com/x\n"
    with pytest.raises(UnbuildableError) as refused:
        one(text)
    assert refused.value.problem.line == 4


def test_a_syntax_error_has_its_line_also_below_a_patch_in_a_block():
    text = "patches:\n- patch: |\n    kind: A\n    spec: 1\nresources:\n- a: [\n"
    with pytest.raises(UnbuildableError) as refused:
        one(text)
    assert refused.value.problem.line == 6, "the last line, where the bracket is missed"


def test_aliases_without_end_are_read_once():
    lines = ["a0: &a0 [x, x]"] + [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 60)]
    assert len(read_kustomization("kustomization.yaml", "\n".join(lines).encode()).references) == 2


INLINE = [
    ("patches:\n- patch: |\n    kind: A\n     b: c\n", 4, "a block: its text begins in the next line"),
    ("patches:\n- patch: |-\n    kind: A\n- patch: |\n    a: b\n\n    b: c: d\n", 7, "a second block"),
    ('patches:\n- patch: "kind: A\\n b: c: d"\n', 3, "a text in quotes has one line in the file, and the object two"),
    ("transformers:\n- |\n  kind: A\n  b: 'c\n", 4, "a plugin"),
    ("patches:\n- patch: |\n    kind: A\n", None, "one that is YAML"),
]


@pytest.mark.parametrize(("text", "line", "why"), INLINE, ids=[row[-1] for row in INLINE])
def test_the_line_of_an_object_that_is_not_yaml(text, line, why):
    assert find_inline_fault(text.encode()) == line, why


@pytest.mark.parametrize(
    ("content", "what", "why"),
    [
        (
            "apiVersion: resources.azure.com/v1api20200601\nkind: ResourceGroup\n",
            "ResourceGroup of resources.azure.com",
            "ASO",
        ),
        (
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n",
            "Kustomization of kustomize.toolkit",
            "Flux",
        ),
        ("kind: List\n", "a List.", "a kind alone"),
        ("kind: Kustomization\n", "", "without an apiVersion"),
        ("apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n", "", "a component"),
        ("resources: []\n", "", "without a header"),
    ],
)
def test_a_file_of_another_tool_with_the_name_of_a_kustomization(content, what, why):
    try:
        read_kustomization("k/kustomization.yaml", content.encode())
    except UnbuildableError as error:
        assert what in str(error), why
        assert what, why
    else:
        assert not what, why
