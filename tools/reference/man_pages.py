"""docs/man: gitsync(1), and a page for each command, such as gitsync-sync(1). The package puts them into share/man."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from gitsync.cli.command_table import COMMANDS, CommandGroup
from gitsync.cli.usage import CommandHelp, Option
from gitsync.settings.config.config import SETTINGS
from gitsync.settings.config.flags import CONFIG_VARIABLE
from gitsync.settings.config.setting import VARIABLE_PREFIX, SettingForm
from reference.command_helps import build_helps

MAN_FOLDER = "docs/man"

_EXIT_CODES = Path(__file__).resolve().parents[2] / "docs" / "exit-codes.md"

_ABOUT = """gitsync reads Azure Service Operator manifests from a git repository and reconciles them with Azure Resource
Manager. It is a batch job and needs no Kubernetes: one run reads one revision, applies resources in the order of their
owners, and writes status back to git."""

_SETTINGS = """Every setting can be given by a flag, a variable, or a key in gitsync.yaml. The nearest wins: flag,
variable, file, default. The page of a command lists its flags, with the variable of each; the key is the flag without
its dashes. Secrets are given by variables alone:"""


def build_man_pages() -> Mapping[str, str]:
    """The pages, by their paths."""
    helps = build_helps()
    pages = {"gitsync": _format_overview(helps)} | {
        f"gitsync-{name}": _format_command(shown, helps) for name, shown in helps.items()
    }
    return {f"{MAN_FOLDER}/{name}.1": "\n".join(lines) + "\n" for name, lines in pages.items()}


def _format_overview(helps: Mapping[str, CommandHelp]) -> Iterator[str]:
    yield from _format_head("gitsync", "GitOps for Azure without a cluster")
    yield from (".SH SYNOPSIS", r".B gitsync", "COMMAND [SOURCE] [flags]", ".SH DESCRIPTION", *_paragraphs(_ABOUT))
    yield from (".PP", "SOURCE is a folder (default: the working directory) or the URL of a git repository.")
    yield ".SH COMMANDS"
    for group in CommandGroup:
        yield f'.SS "{_escape(group.value[:1].upper() + group.value[1:])}"'
        for name, entry in COMMANDS.items():
            if entry.group is group:
                yield from (".TP", rf"\fB{_escape(name)}\fR", _escape(entry.summary))
    yield from (".SH ENVIRONMENT", *_paragraphs(_SETTINGS))
    for setting in SETTINGS.values():
        if setting.form is SettingForm.SECRET:
            yield from (".TP", _bold(setting.variables[0]), _escape(setting.help))
    yield from (".PP", "Two more variables belong to no flag of one name:")
    yield from (".TP", _bold(CONFIG_VARIABLE), "File with settings, as with \\-\\-config.")
    yield from (".TP", _bold(f"{VARIABLE_PREFIX}NAME"), "Value of a variable in the manifests, as with \\-\\-set.")
    yield from _format_exit_codes()
    yield from (".SH FILES", ".TP", _bold("gitsync.yaml"), "Settings: of the operator in a folder without git or")
    yield from (r"with \-\-config, of the source at the root of SOURCE.", ".TP", _bold(".gitsync/"))
    yield "Status and state of a SOURCE without a remote."
    yield from _format_see_also([f"gitsync-{name}" for name in helps] + ["git"])


def _format_command(shown: CommandHelp, helps: Mapping[str, CommandHelp]) -> Iterator[str]:
    yield from _format_head(f"gitsync-{shown.name}", shown.summary.removesuffix("."))
    arguments = shown.usage.removeprefix(f"gitsync {shown.name}").strip()
    yield from (".SH SYNOPSIS", rf".B gitsync {_escape(shown.name)}", _escape(arguments), ".SH DESCRIPTION")
    yield from _paragraphs(shown.description or shown.summary)
    yield ".SH OPTIONS"
    for group in shown.groups:
        yield f'.SS "{_escape(group.title[:1].upper() + group.title[1:])}"'
        for option in group.options:
            yield from (".TP", _bold(option.invocation), _escape(_describe(option)))
    yield ".SH EXAMPLES"
    for example in shown.examples:
        yield from (".PP", f"{_escape(example.purpose)}:", ".PP", ".nf", ".RS", _escape(example.line), ".RE", ".fi")
    yield from _format_exit_codes()
    yield from _format_see_also(["gitsync", *(f"gitsync-{name}" for name in helps if name != shown.name)])


def _describe(option: Option) -> str:
    notes = (option.default and f"default {option.default}", *option.variables)
    note = ", ".join(filter(None, notes))
    return f"{option.text} [{note}]" if note else option.text


def _format_head(name: str, summary: str) -> Iterator[str]:
    """The head has no date and no version: it changes with the text alone."""
    yield from (r".\" Written by tools/build_reference.py.", f'.TH {_escape(name.upper())} 1 "" "gitsync" "gitsync"')
    yield from (".nh", ".SH NAME", rf"{_escape(name)} \- {_escape(summary.replace('`', ''))}")


def _format_exit_codes() -> Iterator[str]:
    """The table of docs/exit-codes.md."""
    yield ".SH EXIT STATUS"
    rows = re.findall(r"^\| (\d+) \| (.+) \|$", _EXIT_CODES.read_text(encoding="utf-8"), flags=re.MULTILINE)
    for code, text in rows:
        yield from (".TP", rf"\fB{code}\fR", _escape(_strip_links(text)))


def _format_see_also(names: Iterable[str]) -> Iterator[str]:
    yield from (".SH SEE ALSO", ",\n".join(rf"\fB{_escape(name)}\fR(1)" for name in names))


def _strip_links(text: str) -> str:
    return re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", text)


def _paragraphs(text: str) -> Iterator[str]:
    """Text as roff: a blank line begins a paragraph, indented lines stay as they are."""
    in_block = False
    for line in text.splitlines():
        if line.startswith("  ") != in_block:
            in_block = not in_block
            yield from (".PP", ".nf") if in_block else (".fi", ".PP")
        yield _escape(line) if line.strip() else ".PP"
    if in_block:
        yield ".fi"


def _bold(text: str) -> str:
    return rf"\fB{_escape(text)}\fR"


def _escape(text: str) -> str:
    """Text that roff shows as it is; code between backticks is bold."""
    plain = text.replace("\\", r"\e").replace("-", r"\-").replace("…", "...")
    bold = re.sub(r"`([^`]+)`", r"\\fB\1\\fR", plain)
    return rf"\&{bold}" if bold.startswith((".", "'")) else bold
