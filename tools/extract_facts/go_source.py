"""The structs, named types and methods of one Go package that ASO's generator wrote."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import tree_sitter_go
from tree_sitter import Language, Node, Parser

from extract_facts.not_supported import NotSupportedError

_PARSER = Parser(Language(tree_sitter_go.language()))
_TAG = re.compile(r'(\w+):"((?:[^"\\]|\\.)*)"')

_METHODS = frozenset(
    {
        "AzureName",
        "ConvertToARM",
        "ExportKubernetesConfigMaps",
        "GetAPIVersion",
        "GetResourceScope",
        "GetSupportedOperations",
        "GetType",
        "MarshalJSON",
        "PopulateFromARM",
        "UnmarshalJSON",
    }
)
"""The methods that state facts: the others convert between versions."""


class GoField(NamedTuple):
    """A field of a struct."""

    name: str  # as Go has it
    type: str  # the text of the type, such as `[]string`
    tags: Mapping[str, str]  # by key
    comments: tuple[str, ...]  # the lines above it, without slashes

    @property
    def json_name(self) -> str:
        """The name in JSON; "" for a field that is inlined."""
        return self.tags.get("json", "").partition(",")[0]

    @property
    def omits_empty(self) -> bool:
        """Return whether JSON lacks the field if it is empty."""
        return "omitempty" in self.tags.get("json", "").split(",")[1:]


class GoNamed(NamedTuple):
    """A named type that is not a struct: an enumeration, or a text with rules."""

    base: str
    comments: tuple[str, ...]


class GoMethod(NamedTuple):
    """A method, with the name that its body uses for the receiver."""

    receiver: str
    node: Node
    path: str  # of its file, below the checkout

    @property
    def text(self) -> str:
        return read_text(self.node)

    def statements(self) -> Iterator[Node]:
        """The statements of the body, without comments."""
        for child in self.node.child_by_field_name("body").named_children:
            if child.type == "statement_list":
                yield from (inner for inner in child.named_children if inner.type != "comment")
            elif child.type != "comment":
                yield child


@dataclass(frozen=True)
class GoPackage:
    """What the generated files of one folder declare."""

    structs: dict[str, dict[str, GoField]]  # fields by their names in Go
    named: dict[str, GoNamed]
    methods: dict[str, dict[str, GoMethod]]  # by type and name
    path: str  # below the checkout

    def method(self, struct: str, name: str) -> GoMethod | None:
        """A method of a struct; None if it has none."""
        return self.methods.get(struct, {}).get(name)


def read_package(folder: Path, checkout: Path) -> GoPackage:
    """The package in a folder. NotSupportedError for Go that cannot be parsed."""
    package = GoPackage({}, {}, {}, str(folder.relative_to(checkout)))
    for file in sorted(folder.glob("*_types_gen.go")):
        path = str(file.relative_to(checkout))
        root = _PARSER.parse(file.read_bytes()).root_node
        try:
            _check(root)
            _add_declarations(root, path, package)
        except NotSupportedError as error:
            raise error.at(path) from error
    return package


def _add_declarations(root: Node, path: str, package: GoPackage) -> None:
    comments: list[str] = []
    for node in root.children:
        if node.type == "comment":
            comments.append(_strip_comment(node))
            continue
        if node.type == "type_declaration":
            _add_type(_find_spec(node), tuple(comments), package)
        elif node.type == "method_declaration":
            _add_method(node, path, package)
        comments = []


def _find_spec(declaration: Node) -> Node:
    """The type that a declaration makes. NotSupportedError for several in parentheses, whose comments are inside."""
    specs = [child for child in declaration.children if child.type in {"type_spec", "type_alias"}]
    if len(specs) != 1 or declaration.children[1] != specs[0]:
        raise NotSupportedError("types in parentheses", declaration)
    return specs[0]


def _add_type(spec: Node, comments: tuple[str, ...], package: GoPackage) -> None:
    name, declared = read_text(spec.child_by_field_name("name")), spec.child_by_field_name("type")
    if spec.type == "type_alias":
        raise NotSupportedError(f"{name} is an alias of a type", spec)
    if declared.type == "struct_type":
        package.structs[name] = {field.name: field for field in _read_fields(declared)}
    else:
        package.named[name] = GoNamed(read_text(declared), comments)


def _read_fields(struct: Node) -> Iterator[GoField]:
    comments: list[str] = []
    for child in struct.named_children[0].children:
        if child.type == "comment":
            comments.append(_strip_comment(child))
        elif child.type == "field_declaration":
            names = child.children_by_field_name("name")
            tag = child.child_by_field_name("tag")
            tags = dict(_TAG.findall(read_text(tag))) if tag else {}
            if len(names) > 1:
                raise NotSupportedError("two fields in one declaration", child)
            if names:
                kind = read_text(child.child_by_field_name("type"))
                yield GoField(read_text(names[0]), kind, tags, tuple(comments))
            elif "inline" not in tags.get("json", "") and not _is_metadata(tags):
                raise NotSupportedError(f"a struct inside of a struct: {read_text(child)}", child)
            comments = []


def _is_metadata(tags: Mapping[str, str]) -> bool:
    return tags.get("json", "").partition(",")[0] == "metadata"


def _add_method(node: Node, path: str, package: GoPackage) -> None:
    name = read_text(node.child_by_field_name("name"))
    if name not in _METHODS:
        return
    receiver = node.child_by_field_name("receiver").named_children[0]
    owner = read_text(receiver.child_by_field_name("type")).lstrip("*")
    known_as = receiver.child_by_field_name("name")
    method = GoMethod(read_text(known_as) if known_as else "_", node, path)
    package.methods.setdefault(owner, {})[name] = method


def read_text(node: Node) -> str:
    """The source of a node."""
    return node.text.decode()


def read_string(node: Node) -> str:
    """The value of a literal in quotes. NotSupportedError for anything else."""
    if node.type == "raw_string_literal":
        return read_text(node)[1:-1]
    if node.type != "interpreted_string_literal":
        raise NotSupportedError(f"not a text in quotes: {read_text(node)}", node)
    return str(json.loads(read_text(node)))


def walk(node: Node) -> Iterator[Node]:
    """A node and all below it."""
    yield node
    for child in node.named_children:
        yield from walk(child)


def read_selectors(node: Node) -> Iterator[tuple[str, ...]]:
    """The longest selectors below a node, such as ("typedInput", "Properties", "Sku"), in the order of the source."""
    if node.type == "selector_expression" and (names := _read_selector(node)):
        yield names
        return
    for child in node.named_children:
        yield from read_selectors(child)


def _read_selector(node: Node) -> tuple[str, ...]:
    names: list[str] = []
    while node.type in {"selector_expression", "parenthesized_expression", "unary_expression"}:
        if node.type == "selector_expression":
            names.append(read_text(node.child_by_field_name("field")))
            node = node.child_by_field_name("operand")
        else:
            node = node.named_children[-1]
    return (read_text(node), *reversed(names)) if node.type == "identifier" else ()


def _check(root: Node) -> None:
    """Raise NotSupportedError at the first node that the parser could not make sense of."""
    stack = [root] if root.has_error else []
    while stack:
        node = stack.pop()
        if node.is_error or node.is_missing:
            raise NotSupportedError("not Go that can be parsed", node)
        stack.extend(child for child in reversed(node.children) if child.has_error)


def _strip_comment(node: Node) -> str:
    return read_text(node).lstrip("/").strip()
