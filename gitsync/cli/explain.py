"""Describe a kind, an ARM type, or a field: types, constraints, and the path in ARM's body. Offline.

KIND is a kind (StorageAccount), a kind with its group (Account.batch.azure.com) or with its group and version
(storage.azure.com/v20230101/StorageAccount), an everyday name (aks, postgres, "key vault") or a Terraform resource
(azurerm_storage_account). Append fields with dots: StorageAccount.spec.sku.name. Any ARM type is described as well, at
its newest stable version (Microsoft.Logic/workflows) or at another (Microsoft.Logic/workflows@2016-06-01), also with
fields of its body: Microsoft.Logic/workflows.properties.state. For a namespace (Microsoft.Logic), it lists the types.
Without KIND, it lists all supported kinds. With --example, it prints a manifest instead. For the code of a problem
(OwnerNotFound), the reason of a condition, a verdict (drifted) or an Azure error code (SkuNotAvailable), it shows the
meaning and what to do. For an annotation (gitsync/depends-on), it shows what it does. For the word deletes, it lists
what keeps a resource that was removed from git.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from gitsync.cli.command import Example
from gitsync.errors import ConfigError, ExitCode
from gitsync.settings.config.config import Config, list_settings

if TYPE_CHECKING:
    from gitsync.desired.catalog.catalog import Catalog
    from gitsync.desired.problems.problem_codes import CodeMeaning
    from gitsync.desired.validation.explain import Explanation
    from gitsync.planning.delete_guards import Moment

SETTINGS = list_settings("explain")
OUTPUTS = ("text", "json")
EXAMPLES = (
    Example("A field, with its type and constraints", "gitsync explain StorageAccount.spec.sku.name"),
    Example(
        "A first manifest of any ARM type", "gitsync explain Microsoft.Consumption/budgets --example > budget.yaml"
    ),
    Example("What a message means, and how to fix it", "gitsync explain OwnerNotFound"),
)

_INDENT = 2
_DELETES = "deletes"
_ABOUT_DELETES = (
    "What keeps a resource that was removed from git, in order. A report shows the first reason.",
    "A resource that is kept also keeps its owners, what it depends on and what is below it.",
    "`gitsync sync --prune --release NAME` overrides the reasons marked with an asterisk.",
)
_ABOUT_STOPS = "What else stops a delete:"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "kind",
        metavar="KIND",
        nargs="?",
        default="",
        help="A kind or an ARM type, optionally with a path of fields; a code; an annotation; or deletes.",
    )
    parser.add_argument(
        "--api-version",
        metavar="VERSION",
        help="The version of the kind or type. [default the newest release]",
    )
    parser.add_argument("--example", action="store_true", help="Print a valid manifest of the kind or type.")
    parser.add_argument("--recursive", action="store_true", help="Show nested fields too.")


def run(options: argparse.Namespace, config: Config) -> ExitCode:
    from gitsync.desired.problems.problem_codes import find_code_meaning

    if options.kind.casefold() == _DELETES:
        _print_guards(config)
        return ExitCode.FINE
    # Codes before kinds: no kind has the name of a code.
    if meaning := find_code_meaning(options.kind):
        _print_code(meaning, config)
        return ExitCode.FINE
    if word := _explain_word(options.kind):
        _print_word(options.kind, word, config)
        return ExitCode.FINE

    from gitsync.desired.catalog.catalog import open_catalog

    if not options.kind and options.example:
        raise ConfigError("--example needs a kind.", hint="Run gitsync explain KIND --example.")
    _print_facts(options, open_catalog(), config)
    return ExitCode.FINE


def _print_facts(options: argparse.Namespace, catalog: Catalog, config: Config) -> None:
    """Print what the facts have: all kinds, the types of a namespace, an example, a kind or a type."""
    from gitsync.desired.catalog.type_paths import list_types
    from gitsync.settings.logging import neutralize

    is_json = config.output == "json"
    if not options.kind:
        _print_kinds(catalog, config)
    elif types := list_types(options.kind):
        print(json.dumps({types[0].partition("/")[0]: types}, indent=2) if is_json else "\n".join(types))
    elif options.example:
        _print_example(options, catalog, config)
    else:
        explanation = _explain(options, catalog)
        lines = json.dumps(_build_document(explanation), indent=2) if is_json else "\n".join(_format_lines(explanation))
        print(neutralize(lines))


def _explain(options: argparse.Namespace, catalog: Catalog) -> Explanation:
    """Explain a kind or an ARM type, or a field of it."""
    from gitsync.desired.catalog.kind_names import find_kind
    from gitsync.desired.catalog.releases import read_catalog_release
    from gitsync.desired.catalog.type_paths import find_type_path, names_type
    from gitsync.desired.validation.explain import explain_kind
    from gitsync.desired.validation.explain_type import explain_type

    if names_type(options.kind):
        type_match = find_type_path(options.kind, options.api_version)
        explanation = explain_type(type_match, catalog, recursive=options.recursive)
    else:
        kind_match = find_kind(options.kind, catalog, options.api_version)
        explanation = explain_kind(kind_match, catalog, recursive=options.recursive)
    return replace(explanation, facts=(*explanation.facts, ("catalog", str(read_catalog_release()))))


def _print_example(options: argparse.Namespace, catalog: Catalog, config: Config) -> None:
    from gitsync.desired.catalog.kind_names import find_kind
    from gitsync.desired.catalog.type_paths import find_type_path, names_type
    from gitsync.desired.editor.examples import build_example
    from gitsync.desired.editor.type_examples import USUAL_TYPE, build_type_example
    from gitsync.desired.manifests.yaml_output import dump

    kind = None if names_type(options.kind) else find_kind(options.kind, catalog, options.api_version).kind
    if kind is None or kind.is_any_type:
        match = find_type_path(options.kind if kind is None else USUAL_TYPE, options.api_version)
        example = build_type_example(match, catalog)
    else:
        example = build_example(kind, catalog)
    print(json.dumps(example, indent=2) if config.output == "json" else dump(example).decode().rstrip("\n"))


def _print_code(meaning: CodeMeaning, config: Config) -> None:
    """The cause, an example and the fix of a code."""
    if config.output == "json":
        members = ("code", "cause", "fix", "example", "shown")
        print(json.dumps({name: getattr(meaning, name) for name in members}, indent=2))
        return
    from gitsync.cli.output import find_terminal_width
    from gitsync.report.terminal import indent

    width = find_terminal_width()
    print(meaning.code)
    for title, text in (("Cause", meaning.cause), ("Fix", meaning.fix)):
        print("\n".join(["", f"{title}:", *indent(text, width, by=_INDENT)]))
    lines = _label_mistakes(meaning) if meaning.example else meaning.shown.splitlines()
    print("\n".join(["", "Example:", *(f"{' ' * _INDENT}{line}".rstrip() for line in lines)]))


def _explain_word(name: str) -> dict[str, str]:
    """What an annotation, a verdict or an Azure error code means and what to do, by title; empty for any other word."""
    from gitsync.desired.catalog.catalog import open_catalog
    from gitsync.desired.editor.shared_schemas import explain_annotation
    from gitsync.desired.problems.problem_codes import find_verdict_meaning
    from gitsync.planning.status.advice import BY_TYPE, find_advice

    if annotation := explain_annotation(name):
        return dict(annotation)
    if verdict := find_verdict_meaning(name):
        return {"Verdict": verdict.means, "A sync": verdict.does}
    found = {"Azure error code, what to do": find_advice(name)}
    for (code, arm_type), advice in sorted(BY_TYPE.items()):
        if code == name.casefold():
            group, kind = open_catalog().group_kind_of(arm_type) or ("", arm_type)
            found[f"For {kind}.{group}"] = advice
    return {title: text for title, text in found.items() if text}


def _print_word(name: str, found: dict[str, str], config: Config) -> None:
    if config.output == "json":
        print(json.dumps({"word": name, "meaning": found}, indent=2))
        return
    from gitsync.cli.output import find_terminal_width
    from gitsync.report.terminal import indent

    print(name)
    for title, text in found.items():
        print("\n".join(["", f"{title}:", *indent(text, find_terminal_width(), by=_INDENT)]))


def _print_guards(config: Config) -> None:
    """Everything that keeps a resource that was removed from git, in the order in which it is evaluated."""
    from gitsync.planning.delete_guards import GUARDS
    from gitsync.planning.delete_stops import DELETE_STOPS

    if config.output == "json":
        guards = [
            {
                "name": guard.name,
                "evaluated": guard.moment.value,
                "keeps": guard.protects,
                "canBeReleased": guard.released,
            }
            for guard in GUARDS
        ]
        others = [{"name": s.name, "decided": s.moment.value, "stops": s.stops} for s in DELETE_STOPS]
        print(json.dumps({"word": _DELETES, "guards": guards, "others": others}, indent=2))
        return
    from gitsync.cli.output import find_terminal_width
    from gitsync.report.terminal import indent

    width = find_terminal_width()
    kept = [(guard.moment, f"{guard.name}{' *' if guard.released else ''}", guard.protects) for guard in GUARDS]
    stopped = [(stop.moment, stop.name, stop.stops) for stop in DELETE_STOPS]
    column = max(len(name) for _, name, _ in (*kept, *stopped)) + 2 * _INDENT
    print("\n".join(line for text in _ABOUT_DELETES for line in indent(text, width, by=0)))
    _print_moments("Evaluated", kept, column, width)
    print("\n".join(("", *indent(_ABOUT_STOPS, width, by=0))))
    _print_moments("Decided", stopped, column, width)


def _print_moments(word: str, rows: Sequence[tuple[Moment, str, str]], column: int, width: int | None) -> None:
    """Print the rows of each moment that has any: a moment, a name and a sentence."""
    from gitsync.report.terminal import indent_after

    for moment in dict.fromkeys(moment for moment, _, _ in rows):
        print(f"\n{word} {moment.value}:")
        for _, name, sentence in (row for row in rows if row[0] is moment):
            print("\n".join(indent_after(f"{' ' * _INDENT}{name}".ljust(column), sentence, width)))


def _label_mistakes(meaning: CodeMeaning) -> list[str]:
    """The lines of the example; those with the mistake have a comment."""
    from gitsync.desired.catalog.catalog import open_catalog
    from gitsync.desired.manifests.reader import read_manifests
    from gitsync.desired.request.build import prepare

    manifests = read_manifests({"example.yaml": meaning.example.encode()})
    prepared = prepare(manifests, catalog=open_catalog(), subscription="0")
    problems = {p for resource in prepared for p in resource.problems} | set(manifests.problems)
    lines = meaning.example.splitlines()
    # From the end, so that an added line does not move those that follow.
    for problem in sorted(problems, key=lambda problem: problem.order, reverse=True):
        if problem.code == meaning.code and 0 < problem.line <= len(lines):
            indentation = lines[problem.line - 1][: -len(lines[problem.line - 1].lstrip()) or None]
            lines.insert(problem.line - 1, f"{indentation}# wrong: {problem.message}")
    return lines


def _print_kinds(catalog: Catalog, config: Config) -> None:

    kinds = {group: catalog.kinds(group) for group in catalog.all_groups()}
    if config.output == "json":
        print(json.dumps(kinds, indent=2))
        return
    from gitsync.desired.catalog.releases import read_catalog_release

    for group, names in kinds.items():
        for name in names:
            print(f"{name}.{group}")
    print(f"\ncatalog: {read_catalog_release()}")


def _format_lines(explanation: Explanation) -> Iterator[str]:
    from gitsync.cli.output import find_terminal_width
    from gitsync.report.terminal import format_table

    width = max(len(heading) for heading, _ in explanation.facts) + _INDENT
    yield from (f"{heading + ':':<{width}}{text}" for heading, text in explanation.facts)
    yield ""
    yield f"{explanation.field}: {explanation.type}"
    yield from (f"{' ' * _INDENT}{note}" for note in explanation.notes)
    if explanation.rows:
        yield ""
        rows = [(" " * _INDENT * row.depth + row.name, row.type, "; ".join(row.notes)) for row in explanation.rows]
        yield from format_table(("FIELD", "TYPE", "RULES"), rows, width=find_terminal_width())
    if explanation.referrers:
        yield ""
        yield "Fields that refer to it:"
        yield from (f"{' ' * _INDENT}{referrer}" for referrer in explanation.referrers)


_MEMBERS = {
    "also": "otherVersions",
    "ARM": "arm",
    "ASO": "aso",
    "Azure can": "operations",
    "called": "everydayNames",
}
"""The headings of facts that are not names of JSON members, with the member."""


def _build_document(explanation: Explanation) -> dict[str, object]:
    return {
        **{_MEMBERS.get(heading, heading): text for heading, text in explanation.facts},
        "field": explanation.field,
        "type": explanation.type,
        "rules": list(explanation.notes),
        "fields": [
            {"depth": row.depth, "name": row.name, "type": row.type, "rules": list(row.notes)}
            for row in explanation.rows
        ],
        "referrers": list(explanation.referrers),
    }
