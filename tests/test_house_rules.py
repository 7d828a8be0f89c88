"""The house rules that no linter has: sizes, names, docstrings, one import path a name, words that are not used."""

import ast
import re
import warnings
from collections import Counter, defaultdict
from functools import cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import pytest

from gitsync.cli.main import COMMANDS
from gitsync.config.config import SETTINGS
from gitsync.config.setting import HelpGroup

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "gitsync"
MODULES = sorted(PACKAGE.rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))
TOOLS = sorted([*(ROOT / "tools").rglob("*.py"), *(ROOT / "bench").rglob("*.py")])

SECOND_IDEA = 500
"""Lines beyond which a module probably has a second idea."""
MOST_MODULES = 40
MOST_MODULES_AT_THE_TOP = 8
MOST_LINES_OF_A_FUNCTION = 40
BANNED_NAMES = {"util", "utils", "common", "helper", "helpers", "manager", "managers", "base", "misc", "tools"}


def name_of(path):
    return str(path.relative_to(ROOT))


class Outline(NamedTuple):
    """What a module holds: whether it has a docstring, lines of its functions, and the names of its public classes;
    fields of values that are unfrozen for speed, and attributes that it assigns to, with lines.
    """

    is_documented: bool
    functions: tuple[tuple[str, int], ...]
    classes: tuple[str, ...]
    unfrozen_fields: tuple[str, ...]
    assigned: tuple[tuple[str, int], ...]


@cache
def outline(path):
    """To parse all modules takes a second, so it is done once."""
    text = path.read_text(encoding="utf-8")
    tree, comments = ast.parse(text), [line.lstrip().startswith("#") for line in text.splitlines()]
    statements = list(list_statements(tree))
    functions = [node for node in statements if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    values = [node for node in tree.body if isinstance(node, ast.ClassDef) and is_unfrozen(node)]
    return Outline(
        is_documented=bool(ast.get_docstring(tree)),
        functions=tuple((function.name, lines_of_code(function, comments)) for function in functions),
        classes=tuple(n.name for n in tree.body if isinstance(n, ast.ClassDef) and not n.name.startswith("_")),
        unfrozen_fields=tuple(n.target.id for value in values for n in value.body if isinstance(n, ast.AnnAssign)),
        assigned=tuple(list_assigned(statements)),
    )


def list_statements(node):
    """All statements below a node, without the expressions, which are most of a tree."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            yield child
            yield from list_statements(child)


def lines_of_code(function, comments):
    """Lines from the signature to the end, without docstring and comments: to explain costs nothing. `comments` has for
    each line of the module whether it is one.
    """
    first = function.body[0]
    is_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    documented = first.end_lineno - first.lineno + 1 if is_docstring else 0
    commented = sum(comments[function.lineno : function.end_lineno])
    return function.end_lineno - function.lineno + 1 - documented - commented


def breaks_a_rule(path):
    """What is wrong with a module, if anything: every module starts with what it decides or does."""
    module = outline(path)
    long = [name for name, lines in module.functions if lines > MOST_LINES_OF_A_FUNCTION]
    return [*([] if module.is_documented else ["no docstring"]), *(f"{name} is too long" for name in long)]


def test_a_module_is_small_and_has_its_purpose():
    assert {name_of(path): wrong for path in [*MODULES, *TOOLS] if (wrong := breaks_a_rule(path))} == {}


@pytest.mark.filterwarnings("default")
def test_a_long_module_is_worth_a_look():
    for path in [*MODULES, *TOOLS]:
        lines = len(path.read_text(encoding="utf-8").splitlines())
        if lines > SECOND_IDEA:
            warnings.warn(f"{name_of(path)} has {lines} lines: look for its second idea", stacklevel=1)


def test_no_folder_is_a_heap():
    sizes = Counter(path.parent for path in MODULES)
    assert {name_of(folder): size for folder, size in sizes.items() if size > MOST_MODULES} == {}
    assert sizes[PACKAGE] <= MOST_MODULES_AT_THE_TOP


def test_a_class_name_has_one_meaning():
    found = defaultdict(list)
    for path in MODULES:
        for name in outline(path).classes:
            found[name].append(name_of(path))
    assert {name: paths for name, paths in found.items() if len(paths) > 1} == {}


MUTABLE_NAMES = {
    "at",
    "done",
    "exists",
    "failure",
    "method",
    "problems",
    "refusal",
    "request_id",
    "requests",
    "resource_id",
    "source",
    "text",
    "time",
}
"""Fields of unfrozen values that things which do change have, too."""


def is_unfrozen(node):
    calls = [one for one in node.decorator_list if isinstance(one, ast.Call)]
    return any(keyword.arg == "unsafe_hash" for one in calls for keyword in one.keywords)


def list_assigned(statements):
    """The attributes that statements assign to, except those of self."""
    for target in chain.from_iterable(map(list_targets, statements)):
        for node in ast.walk(target):
            is_assigned = isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del)
            if is_assigned and not (isinstance(node.value, ast.Name) and node.value.id == "self"):
                yield node.attr, node.lineno


def list_targets(statement):
    if isinstance(statement, ast.Assign | ast.Delete):
        return statement.targets
    if isinstance(statement, ast.With | ast.AsyncWith):
        return [item.optional_vars for item in statement.items if item.optional_vars]
    target = getattr(statement, "target", None)  # of a loop, and of other assignments
    return [target] if target else []


def test_nothing_changes_a_value_that_is_only_for_speed_not_frozen():
    """Values that a run makes of each resource are plain dataclasses, since a frozen one takes ten times as long."""
    fields = {name for path in MODULES for name in outline(path).unfrozen_fields}
    assert {"baseline", "differences", "arm_id", "template"} <= fields
    assigned = [(name_of(path), line, name) for path in MODULES for name, line in outline(path).assigned]
    assert len(assigned) > 50, "the search finds them"
    assert [one for one in assigned if one[2] in fields - MUTABLE_NAMES] == []


def test_a_stage_changes_only_members_that_an_attempt_has():
    """mypy does not see what `Part.changed` takes, and a misspelt member would be a new one."""
    parts = ast.parse((PACKAGE / "reconcile" / "attempt.py").read_text(encoding="utf-8"))
    fields = {one.target.id for one in ast.walk(parts) if isinstance(one, ast.AnnAssign)}
    texts = [text for path in MODULES if ".changed(" in (text := path.read_text(encoding="utf-8"))]
    calls = [node for text in texts for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    changes = [one for one in calls if isinstance(one.func, ast.Attribute) and one.func.attr == "changed"]
    names = {keyword.arg for one in changes for keyword in one.keywords if keyword.arg}
    assert {"live", "comparison", "unfinished"} <= names <= fields


def test_most_functions_are_short():
    sizes = sorted(lines for path in MODULES for _, lines in outline(path).functions)
    assert sizes[len(sizes) // 2] <= 10


def test_modules_are_named_after_what_they_are_about():
    assert [name_of(p) for p in MODULES if set(p.with_suffix("").relative_to(PACKAGE).parts) & BANNED_NAMES] == []


@pytest.mark.parametrize("path", [p for p in MODULES if p.name == "__init__.py"], ids=name_of)
def test_a_package_exports_nothing_again(path):
    """One import path a name: what a package's own module holds is its docstring, and what is defined there."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported = [n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and (n.module or "").startswith("gitsync")]
    at_top = [n for n in imported if n in tree.body]
    assert at_top == []


def test_the_map_names_every_part_of_the_package():
    text = ast.get_docstring(ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8")))
    named = set(re.findall(r"^    ([a-z_]+(?:/|\.py))  ", text, flags=re.MULTILINE))
    there = {p.name + ("/" if p.is_dir() else "") for p in PACKAGE.iterdir() if not p.name.startswith(("_", "."))}
    assert named == there - {"py.typed"}


def patched(path):
    """gitsync's names that a test replaces; where that is needed, an argument is missing."""
    text = path.read_text(encoding="utf-8")
    if not re.search(r"setattr|patch", text):  # most tests replace nothing, and parsing all of them takes long
        return []
    tree = ast.parse(text)
    ours = {
        alias.asname or alias.name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
        if (getattr(node, "module", None) or alias.name).startswith("gitsync")
    }
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args]
    targets = [
        ast.unparse(c.args[0]) for c in calls if ast.unparse(c.func).endswith((".setattr", "patch", "patch.object"))
    ]
    return [target for target in targets if target.strip("'\"").split(".")[0] in ours | {"gitsync"}]


def test_nothing_of_gitsync_is_patched_in_tests():
    assert {name_of(path): names for path in TESTS if (names := patched(path))} == {}


def comments_with(pattern):
    found = re.compile(pattern)
    lines = ((p, n, line) for p in [*MODULES, *TOOLS] for n, line in enumerate(p.read_text("utf-8").splitlines(), 1))
    return [f"{name_of(path)}:{number}: {line.strip()}" for path, number, line in lines if found.search(line)]


def test_nothing_is_left_for_later():
    assert comments_with(r"\b(TODO|FIXME|XXX|HACK)\b|NotImplementedError") == []


def test_an_exception_to_a_rule_gives_its_reason():
    assert comments_with(r"#\s*noqa(: [A-Z0-9, ]+)?\s*$|#\s*type: ignore(\[[a-z, -]+\])?\s*$") == []


def test_every_command_is_a_module_and_every_module_of_that_shape_a_command():
    shaped = {
        path.stem
        for path in (PACKAGE / "cli").glob("*.py")
        if {"SETTINGS", "OUTPUTS", "arguments", "run"} <= top_level_names(path)
    }
    assert {entry.module for entry in COMMANDS.values()} == {f"gitsync.cli.{name}" for name in shaped}


def top_level_names(path):
    """What a module defines, assigns or imports for others to find."""
    names = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        elif isinstance(node, ast.ImportFrom):
            names |= {alias.asname or alias.name for alias in node.names}
    return names


def test_settings_are_declared_in_the_order_of_the_help():
    """The groups in their order, and in each of them the settings that most people need first."""
    shown = sorted(SETTINGS.values(), key=lambda setting: (list(HelpGroup).index(setting.group), setting.is_advanced))
    assert [setting.name for setting in shown] == list(SETTINGS)
