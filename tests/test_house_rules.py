"""The house rules that no linter has: sizes, names, docstrings, one import path a name, words that are not used."""

import ast
import re
import warnings
from collections import Counter, defaultdict
from functools import cache
from itertools import chain, pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

from gitsync.cli.command_table import COMMANDS
from gitsync.settings.config.config import SETTINGS
from gitsync.settings.config.setting import HelpGroup
from tests.support.package_trees import parse, read

pytestmark = pytest.mark.together("package")

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
MOST_COLUMNS = 120
LARGE_VALUE = 4
"""Fields from which on a value explains most of them."""
MOST_FIELDS = 14
"""Fields beyond which a value has parts with names."""
BANNED_NAMES = {"util", "utils", "common", "helper", "helpers", "manager", "managers", "base", "misc", "tools"}


def name_of(path):
    return str(path.relative_to(ROOT))


class FieldOutline(NamedTuple):
    """A field of a value."""

    name: str
    type: str
    line: str  # its last one
    comment: str  # at the end of that line, "" for none
    docstring: str | None  # on the lines below, joined


class ValueOutline(NamedTuple):
    """A class with fields."""

    name: str
    docstring: str
    fields: tuple[FieldOutline, ...]


class Outline(NamedTuple):
    """What a module holds."""

    is_documented: bool  # the module has a docstring
    functions: tuple[tuple[str, int], ...]  # with their lines
    classes: tuple[str, ...]  # the public ones
    values: tuple[ValueOutline, ...]
    unfrozen_fields: tuple[str, ...]  # of values that are unfrozen for speed
    assigned: tuple[tuple[str, int], ...]  # attributes that it assigns to, with the line


@cache
def outline(path):
    text = read(path)
    tree, comments = parse(path), [line.lstrip().startswith("#") for line in text.splitlines()]
    statements = list(list_statements(tree))
    unfrozen = [node for node in tree.body if isinstance(node, ast.ClassDef) and is_unfrozen(node)]
    functions = [node for node in statements if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return Outline(
        is_documented=bool(ast.get_docstring(tree)),
        functions=tuple((function.name, lines_of_code(function, comments)) for function in functions),
        classes=tuple(n.name for n in tree.body if isinstance(n, ast.ClassDef) and not n.name.startswith("_")),
        values=tuple(outline_values(statements, text.splitlines())),
        unfrozen_fields=tuple(n.target.id for value in unfrozen for n in value.body if isinstance(n, ast.AnnAssign)),
        assigned=tuple(list_assigned(statements)),
    )


def outline_values(statements, lines):
    for node in statements:
        if isinstance(node, ast.ClassDef) and (fields := tuple(outline_fields(node, lines))):
            yield ValueOutline(node.name, ast.get_docstring(node) or "", fields)


def outline_fields(node, lines):
    for statement, below in pairwise([*node.body, None]):
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            line = lines[statement.end_lineno - 1]
            comment = line.encode()[statement.end_col_offset :].decode().strip()
            text = below.value.value if is_docstring(below) else None
            docstring = " ".join(text.split()) if text is not None else None
            yield FieldOutline(statement.target.id, ast.unparse(statement.annotation), line, comment, docstring)


def is_docstring(node):
    is_constant = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return is_constant and isinstance(node.value.value, str)


BLOCKS = ("body", "handlers", "orelse", "finalbody", "cases")
"""Where statements have statements."""


def list_statements(node):
    """All statements below a node, without the expressions, which are most of a tree."""
    for block in BLOCKS:
        for child in getattr(node, block, ()):
            yield child
            yield from list_statements(child)


def lines_of_code(function, comments):
    """Lines from the signature to the end, without docstring and comments: to explain costs nothing. `comments` has for
    each line of the module whether it is one.
    """
    first = function.body[0]
    documented = first.end_lineno - first.lineno + 1 if is_docstring(first) else 0
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
        lines = len(read(path).splitlines())
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


IN_A_TABLE = {
    # each row has the text of the help
    "ReadSettings",
    "ChangeSettings",
    "OutputSettings",
    "AzureSettings",
    "SecretSettings",
    "StatusSettings",
    "LimitSettings",
    "Settings",  # the same settings, by name; docs/settings.md describes them
}


def list_values(*, tests=False):
    """All values of the package and the tools, of tests too if they are wanted, with where they are."""
    paths = [*MODULES, *TOOLS, *(filter(has_values, TESTS) if tests else ())]
    return [(f"{name_of(path)}: {value.name}", value) for path in paths for value in outline(path).values]


def has_values(path):
    """Return whether a test has any; parsing all of the tests takes long."""
    return bool(re.search(r"NamedTuple|@dataclass", read(path)))


FLAT = {
    "ReadSettings": "a row for each setting: commands, files and the help name it alone",
    "AzureSettings": "a row for each setting, as those of what is read",
    "Settings": "the parameters of the Python API, by the same names",
    "Setting": "a row of the table of settings",
    "Extension": "public: a registration names the points that it fills",
    "Field": "a packed fact: read by the hundred thousand, by ASO's names",
    "Kind": "a packed fact, as its fields",
    "EmulatorSettings": "a row for each setting: scripts name it alone",
    "TypeBehaviour": "a row for each type: it names what differs from the usual",
    "UniqueName": "a row for each type, as its behaviour",
    "EmulatedOperation": "the emulator stores it by the names of its fields",
    "LoggedChange": "the emulator stores it by the names of its fields",
    "TargetShape": "a JSON document: the script of a page reads its members",
    "TreeShape": "a JSON document: a column for each fact of a row",
    "ResourceShape": "a JSON document: the script of a page reads its members",
}
"""Values with more fields, and why they have no parts."""


def test_a_value_has_few_fields_or_parts():
    large = {value.name: len(value.fields) for _, value in list_values() if len(value.fields) > MOST_FIELDS}
    assert {name: size for name, size in large.items() if name not in FLAT} == {}
    assert FLAT.keys() <= large.keys(), "an exception that is no longer needed"


def test_a_class_docstring_describes_the_value_and_not_its_fields():
    """The explanation of a field is where the field is."""
    values = list_values(tests=True)
    assert len(values) > 600, "the search finds them"
    named = {
        where: [field.name for field in value.fields if f"`{field.name}`" in value.docstring] for where, value in values
    }
    assert {where: names for where, names in named.items() if names} == {}


def test_a_large_value_explains_its_fields():
    """A flag, a field that may be None and a callable always need words, and so do half of all texts, numbers and
    collections: name and type rarely show the unit, the order, and what an empty one means.
    """
    large = [(where, value) for where, value in list_values() if len(value.fields) >= LARGE_VALUE]
    missing = {where: list_unexplained(value) for where, value in large if value.name not in IN_A_TABLE}
    assert {where: names for where, names in missing.items() if names} == {}


def list_unexplained(value):
    bare = [field for field in value.fields if not (field.comment or field.docstring)]
    plain = [field for field in value.fields if not has_own_type(field)]
    is_half = 2 * (len(value.fields) - len(bare)) >= len(plain)
    return [field.name for field in bare if needs_words(field) or (field in plain and not is_half)]


def needs_words(field):
    return field.type == "bool" or field.type.endswith("| None") or field.type.startswith("Callable[")


def has_own_type(field):
    """A class of the package has a docstring itself."""
    return re.fullmatch(r"[A-Z]\w+", field.type) is not None and field.type != "Any"


def test_a_field_is_explained_in_one_way():
    """By a comment behind it where that fits, else by a docstring below it."""
    fields = [(f"{where}.{field.name}", field) for where, value in list_values(tests=True) for field in value.fields]
    short = [where for where, field in fields if field.docstring and not field.comment and fits_behind(field)]
    assert short == []


def fits_behind(field):
    is_one_line = field.line.strip().startswith(f"{field.name}:")
    return is_one_line and len(f"{field.line}  # {field.docstring.removesuffix('.')}") <= MOST_COLUMNS


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
    calls = [value for value in node.decorator_list if isinstance(value, ast.Call)]
    return any(keyword.arg == "unsafe_hash" for call in calls for keyword in call.keywords)


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
    assert {"differences", "arm_id", "template", "applied"} <= fields
    assigned = [(name_of(path), line, name) for path in MODULES for name, line in outline(path).assigned]
    assert len(assigned) > 50, "the search finds them"
    assert [row for row in assigned if row[2] in fields - MUTABLE_NAMES] == []


MOST_BOUND = {"gitsync": 0, "beside": 30}
"""How often the package may bind `one`, and the tests, tools and benches: the noun of the thing is a better name."""


BOUND = re.compile(r"\b(?:for|lambda) (?:\w+, )*one(?:, \w+)*(?: in\b|:)|^ *one = |\(one :=|[(,] *one: ")
"""In a line."""


def count_bound(paths):
    lines = ((path, line) for path in paths for line in read(path).splitlines() if "one" in line)
    return Counter(str(path) for path, line in lines for _ in BOUND.finditer(line))


def test_a_variable_is_named_after_what_it_is():
    package, beside = count_bound(MODULES), count_bound([*TESTS, *TOOLS])
    assert package.total() <= MOST_BOUND["gitsync"], package
    assert beside.total() <= MOST_BOUND["beside"], beside


def test_most_functions_are_short():
    sizes = sorted(lines for path in MODULES for _, lines in outline(path).functions)
    assert sizes[len(sizes) // 2] <= 10


def test_modules_are_named_after_what_they_are_about():
    assert [name_of(p) for p in MODULES if set(p.with_suffix("").relative_to(PACKAGE).parts) & BANNED_NAMES] == []


SHARED_NAMES = {
    "api": "public paths: `gitsync.api` for programs, `gitsync.extensions.api` for extensions",
    "folder": "rows of two tables, which settings and files name: a sink of exports and a kind of unit",
}
"""Names that several modules have anyway, and why."""


NAMED_AFTER = {
    "emulator": "what it imitates, which the client names too",
    "settings/config/groups": "a heading of the help",
}
"""Folders whose modules are named after something else than modules elsewhere."""


def test_a_name_stands_for_one_module():
    """A command is named as people type it."""
    found = defaultdict(list)
    for path in MODULES:
        where = path.relative_to(PACKAGE)
        names = next((folder for folder in NAMED_AFTER if where.is_relative_to(folder)), "")
        is_command = where.parts[0] == "cli" and path.stem in COMMANDS
        if path.stem != "__init__" and not is_command:
            found[path.stem, names].append(name_of(path))
    shared = {name: paths for (name, _), paths in found.items() if len(paths) > 1}
    assert {name: paths for name, paths in shared.items() if name not in SHARED_NAMES} == {}
    assert SHARED_NAMES.keys() <= shared.keys(), "an exception that is no longer needed"


@pytest.mark.parametrize("path", [p for p in MODULES if p.name == "__init__.py"], ids=name_of)
def test_a_package_exports_nothing_again(path):
    """One import path a name: what a package's own module holds is its docstring, and what is defined there."""
    tree = parse(path)
    imported = [n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and (n.module or "").startswith("gitsync")]
    at_top = [n for n in imported if n in tree.body]
    assert at_top == []


def test_the_map_names_every_part_of_the_package():
    text = ast.get_docstring(parse(PACKAGE / "__init__.py"))
    named = set(re.findall(r"^    ([a-z_]+(?:/|\.py))  ", text, flags=re.MULTILINE))
    there = {p.name + ("/" if p.is_dir() else "") for p in PACKAGE.iterdir() if not p.name.startswith(("_", "."))}
    assert named == there - {"py.typed"}


PATCHES = re.compile(r"(?:\.setattr|patch|patch\.object)\s*\(")


def patched(path):
    """gitsync's names that a test replaces; where that is needed, an argument is missing."""
    text = read(path)
    if not PATCHES.search(text):  # most tests replace nothing, and parsing all of them takes long
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


FOLDS = {"casefold", "lower", "upper"}
FOLDED = re.compile(rf"(?:arm|owner)_id[\s)]*\.\s*(?:{'|'.join(FOLDS)})\b")


def list_folded_ids(path):
    """Lines that compare an ARM id by hand: they turn one to lower or upper case themselves."""
    if not FOLDED.search(read(path)):  # to look through all modules takes long
        return
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in FOLDS:
            text = node.func.value
            name = text.attr if isinstance(text, ast.Attribute) else text.id if isinstance(text, ast.Name) else ""
            if name.endswith(("arm_id", "owner_id")):
                yield f"{name_of(path)}:{node.lineno}"


def test_ids_are_compared_by_their_type():
    """`ArmId` decides how ids compare. mypy holds the rest: a lookup by an id takes its `key`, a type of its own."""
    compared = (path for path in MODULES if path.relative_to(PACKAGE).parts[0] != "emulator")  # which shares nothing
    assert [line for path in compared for line in list_folded_ids(path)] == []


def test_nothing_of_gitsync_is_patched_in_tests():
    assert {name_of(path): names for path in TESTS if (names := patched(path))} == {}


def comments_with(pattern):
    found = re.compile(pattern, re.MULTILINE)
    paths = [path for path in [*MODULES, *TOOLS] if found.search(read(path))]  # few have any, and have many lines
    lines = ((path, number, line) for path in paths for number, line in enumerate(read(path).splitlines(), 1))
    return [f"{name_of(path)}:{number}: {line.strip()}" for path, number, line in lines if found.search(line)]


def test_nothing_is_left_for_later():
    assert comments_with(r"\b(TODO|FIXME|XXX|HACK)\b|NotImplementedError") == []


def test_an_exception_to_a_rule_gives_its_reason():
    assert comments_with(r"#\s*noqa(: [A-Z0-9, ]+)?\s*$|#\s*type: ignore(\[[a-z, -]+\])?\s*$") == []


def test_every_command_is_a_module_and_every_module_of_that_shape_a_command():
    shaped = {
        ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        for path in (PACKAGE / "cli").rglob("*.py")
        if {"SETTINGS", "OUTPUTS", "arguments", "run"} <= top_level_names(path)
    }
    assert {entry.module for entry in COMMANDS.values()} == shaped


def top_level_names(path):
    """What a module defines, assigns or imports for others to find."""
    names = set()
    for node in parse(path).body:
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
