"""The texts of the package: codes, messages and pages that they name."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from functools import cache

import pytest

from gitsync.desired.problems.problem_codes import load_codes
from gitsync.model.condition import WaitReason
from gitsync.planning.status.advice import BY_CODE, BY_TYPE
from tests.desired.problems.test_message_texts import find_holes
from tests.support.package_trees import PACKAGE, read, trees

pytestmark = pytest.mark.together("package")

CODES = {meaning.code: meaning for meaning in load_codes()}
NOT_OURS = {"ErrorRule"}
"""Calls whose codes are Azure's."""
NO_CODES = {"Opaque", "NamespaceTerminating"}
"""Kubernetes words in the position of a code."""


def modules():
    """Those whose codes are of gitsync: the emulator's are Azure's."""
    return [(file, tree) for file, tree in trees().items() if "emulator" not in file.parts]


def walk(tree):
    """As `ast.walk`, in two thirds of its time: without the nodes that only report how a name is used."""
    pending = [tree]
    while pending:
        node = pending.pop()
        yield node
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, list):
                pending += [child for child in value if isinstance(child, ast.AST)]
            elif isinstance(value, ast.AST) and not isinstance(value, ast.expr_context):
                pending.append(value)


@cache
def nodes(*kinds):
    """All nodes of some kinds."""
    return [node for _, node in all_nodes() if isinstance(node, kinds)]


@cache
def all_nodes():
    wanted = (ast.AnnAssign, ast.Call, ast.Constant, ast.FunctionDef)
    return [(file, node) for file, tree in modules() for node in walk(tree) if isinstance(node, wanted)]


@cache
def constants():
    """Texts that modules give names to, by name: two modules may have one name for different texts."""
    named = defaultdict(set)
    for _, tree in modules():
        for node in tree.body:
            value = getattr(node, "value", None)
            if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(value, ast.Constant):
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    if isinstance(target, ast.Name):
                        named[target.id].add(value.value)
    return named


@cache
def code_parameters():
    """Functions with a parameter that is a code, and its location."""
    return {
        node.name: location
        for node in nodes(ast.FunctionDef)
        for location, argument in enumerate(arg.arg for arg in node.args.args if arg.arg not in {"self", "cls"})
        if argument in {"code", "reason"}
    }


def codes_of(node):
    """The codes that an expression can be."""
    if isinstance(node, ast.Constant):
        return {node.value}
    if isinstance(node, ast.Name):
        return constants().get(node.id, set())
    branches = [node.body, node.orelse] if isinstance(node, ast.IfExp) else []
    return {code for branch in branches for code in codes_of(branch)}


@cache
def used_codes():
    found = {reason.value for reason in WaitReason}
    for node in nodes(ast.AnnAssign):
        if getattr(node.target, "id", "") == "_code":
            found |= codes_of(node.value)
    for node in nodes(ast.Call):
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if name in NOT_OURS:
            continue
        location = code_parameters().get(name, len(node.args))
        given = [*node.args[location : location + 1], *(k.value for k in node.keywords if k.arg in {"code", "reason"})]
        found |= {code for module in given for code in codes_of(module)}
    return {code for code in found - NO_CODES if isinstance(code, str) and re.fullmatch(r"[A-Z][a-z]+[A-Za-z]*", code)}


def test_every_code_has_its_entry():
    of_azure = {*BY_CODE, *(code for code, _ in BY_TYPE)}  # which checks use as well
    assert {code for code in used_codes() - CODES.keys() if code.casefold() not in of_azure} == set()
    assert len(used_codes()) > 100, "the search finds them"


def test_every_entry_is_used():
    texts = {node.value for node in nodes(ast.Constant) if isinstance(node.value, str)}
    assert CODES.keys() - texts == set()


@cache
def fragments():
    """The fixed parts of all texts of the package that some page shows, the longest first."""
    pages = "\n".join(code.shown for code in load_codes())
    constants = (node.value for node in nodes(ast.Constant) if isinstance(node.value, str))
    texts = {part.strip(" .\"'") for text in constants for part in re.split(r"{[a-z]+}", text)}  # filled in later
    return sorted((text for text in texts if len(text) >= 5 and text in pages), key=len, reverse=True)


@pytest.mark.parametrize("meaning", [code for code in load_codes() if code.shown], ids=lambda meaning: meaning.code)
def test_a_message_is_one_that_gitsync_prints(meaning):
    found = [text for text in fragments() if text in meaning.shown]
    covered = meaning.shown
    for text in found:
        covered = covered.replace(text, "")
    assert len(covered) <= len(meaning.shown) * 0.5, f"no text of the package is like {meaning.shown!r}"


def read_text(node):
    """A text of the package, with a word where a value goes; None for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if not isinstance(node, ast.JoinedStr):
        return None
    parts = (
        part.value if isinstance(part, ast.Constant) else "'word'" if part.conversion == ord("r") else "word"
        for part in node.values
    )
    return "".join(parts)


def is_message(call):
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    return name.endswith(("Error", "Problem", "Finding", "Check", "Hint")) or name.startswith(("make_", "refus"))


def list_messages():
    """Each text that the package gives to an error, a problem, a check or a condition, with its location."""
    for file, node in all_nodes():
        given = []
        if isinstance(node, ast.Call):
            named = {word.arg: word.value for word in node.keywords}
            given = [named[name] for name in ("message", "hint", "text", "reason") if name in named]
            given += node.args if is_message(node) else []
        for text in filter(None, map(read_text, given)):
            if " " in text:
                yield f"{file.relative_to(PACKAGE)}:{node.lineno}", text


def test_the_messages_of_the_package_have_no_placeholders():
    messages = list(list_messages())
    # A part that another text continues may end with a colon.
    holes = [(where, text, found) for where, text in messages if (found := find_holes(re.sub(r": $", ": word", text)))]
    assert holes == []
    assert len(messages) > 500, "the search finds them"


def list_docstrings(tree):
    """The docstrings of a module, which are not texts for users except the first of a command."""
    return {node.value for node in walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)}


def test_no_text_names_a_file_that_an_installed_program_does_not_have():
    page = re.compile(r"docs/[\w/-]+|(?:README|CONTRIBUTING)\.md")
    found = {}
    for file, tree in trees().items():
        if not page.search(read(file)):
            continue
        hidden = list_docstrings(tree) - ({tree.body[0].value} if file.parent.name == "cli" else set())
        texts = [node.value for node in walk(tree) if isinstance(node, ast.Constant) and node not in hidden]
        if named := [text for text in texts if isinstance(text, str) and page.search(text)]:
            found[str(file.relative_to(PACKAGE))] = named
    assert found == {"desired/problems/problem_codes.py": ["docs/problems.md"]}, "the end of an address"
    tables = [text for code in load_codes() for text in (code.cause, code.fix, code.shown)]
    tables += [*BY_CODE.values(), *BY_TYPE.values()]
    assert [text for text in tables if page.search(text)] == []
