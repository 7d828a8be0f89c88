"""The candidates for a word of a command line: commands, flags, and values of settings, kinds and resources."""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gitsync.cli.command import Command
from gitsync.cli.command_table import COMMANDS, load_command
from gitsync.cli.shell.command_line import Slot, decide_slot, split_line
from gitsync.errors import ExitCode, GitsyncError
from gitsync.settings.config.config import SETTINGS
from gitsync.settings.config.flags import list_choices
from gitsync.settings.config.setting import SettingForm

if TYPE_CHECKING:
    from gitsync.model.gvk import Key
    from gitsync.settings.config.config import Config

_SEPARATORS = frozenset({"=", ":", "@"})

FILES = ":files"
FOLDERS = ":folders"
"""Instead of candidates: the shell completes paths by itself."""

_MOST_NAMES = 100  # with more resources, their kinds come first


class Candidate(NamedTuple):
    """A word, and what it means ("" if it speaks for itself)."""

    word: str
    about: str = ""


class _Wanted(NamedTuple):
    """What the values of a slot depend on."""

    command: Command
    slot: Slot


def list_candidates(words: list[str], last: str) -> Iterator[Candidate]:
    """What `last` may become, after the words behind the name of the program."""
    if not words or words == ["help"]:
        shown = [Candidate(name, entry.summary) for name, entry in COMMANDS.items()]
        extra = [Candidate("--help", "Show the commands."), Candidate("--version", "Show the version.")]
        yield from _filter(last, extra if last.startswith("-") else shown)
        return
    if words[0] not in COMMANDS:
        return
    from gitsync.cli.usage import CommandParser

    command = load_command(words[0])
    parser = CommandParser(words[0], command)
    slot = decide_slot(parser, words[1:], last)
    if slot.action is None:
        yield from _list_flags(parser, slot) if last.startswith("-") else ()
    else:
        yield from _list_values(_Wanted(command, slot))


def _list_flags(parser: argparse.ArgumentParser, slot: Slot) -> Iterator[Candidate]:
    """The flags that begin like the word. With dashes alone: those that --help shows."""
    for action in parser._actions:  # noqa: SLF001 - no public way
        is_again = isinstance(action, argparse._AppendAction)  # noqa: SLF001 - no public way
        # A flag that was given is of no use again, unless it makes a list.
        if slot.flags.intersection(action.option_strings) and not is_again:
            continue
        if slot.text in {"-", "--"} and action.dest in SETTINGS and SETTINGS[action.dest].is_advanced:
            continue
        # A shell has one line for it, so its first sentence.
        about = str(action.help or "").replace("%%", "%").partition(". ")[0].rstrip(".")
        # The `--no-` forms would double the list, so they show only after their first letters.
        flags = (flag for flag in action.option_strings if not flag.startswith("--no-") or slot.text.startswith("--no"))
        yield from _filter(slot.text, (Candidate(flag, about) for flag in flags if flag.startswith("--")))


def _list_values(wanted: _Wanted) -> Iterator[Candidate]:
    """The values of a flag or argument; each with what precedes it in its word."""
    slot = wanted.slot
    if slot.action is None:
        return
    setting = SETTINGS.get(slot.action.dest)
    choices = list_choices(setting, wanted.command.OUTPUTS) if setting else tuple(slot.action.choices or ())
    find = (lambda _: map(Candidate, choices)) if choices else _FINDERS.get(str(slot.action.metavar))
    if find is None:
        return
    is_list = setting is not None and setting.form is SettingForm.LIST
    before, comma, text = slot.text.rpartition(",") if is_list else ("", "", slot.text)
    chosen = set(before.split(","))
    for word, about in find(wanted):
        if word in {FILES, FOLDERS}:
            yield Candidate(word)
        # Kinds are found in any case, so they are completed in any case too.
        elif word.casefold().startswith(text.casefold()) and word not in chosen:
            yield Candidate(f"{slot.before}{before}{comma}{word}", about)


def _filter(text: str, candidates: Iterable[Candidate]) -> Iterator[Candidate]:
    return (candidate for candidate in candidates if candidate.word.startswith(text))


def _resolve(wanted: _Wanted) -> Config:
    """The settings of the command line so far. GitsyncError if they are wrong."""
    from gitsync.settings.config.load import resolve

    names = {"source", "path", "status_dir", "status_branch", "namespace", "config"}
    given = {name: value for name, value in wanted.slot.given.items() if name in names}
    if folders := [name for name in wanted.slot.given.get("names", []) if Path(name).is_dir()]:
        given["source"] = folders[0]
    return resolve(argparse.Namespace(**given), os.environ, Path.cwd(), wanted.command.OUTPUTS, uses_azure=False)


def _list_keys(wanted: _Wanted) -> tuple[Key, ...]:
    """The resources of SOURCE: those of its status, and of its files if the command reads them or no status is here."""
    from gitsync.cli.shell.resource_names import list_declared, list_recorded

    try:
        config = _resolve(wanted)
    except GitsyncError:
        return ()
    recorded = frozenset(list_recorded(config))
    declared = list_declared(config) if "path" in wanted.command.SETTINGS or not recorded else ()
    return tuple(sorted({*recorded, *declared}))


def _list_resources(wanted: _Wanted) -> Iterator[Candidate]:
    """Resources by their shortest unambiguous name; their kinds first, if there are many."""
    keys = _list_keys(wanted)
    if len(keys) > _MOST_NAMES and "/" not in wanted.slot.text:
        yield from (Candidate(f"{kind}/", _count(count)) for kind, count in _count_kinds(keys).items())
        return
    times = Counter((key.kind, key.name) for key in keys)
    for key in keys:
        is_unambiguous = times[key.kind, key.name] == 1
        yield Candidate(f"{key.kind}/{key.name}" if is_unambiguous else str(key), key.namespace)


def _list_kinds_and_resources(wanted: _Wanted) -> Iterator[Candidate]:
    keys = _list_keys(wanted)
    if "/" in wanted.slot.text:
        yield from _list_resources(wanted)
    else:
        yield from (Candidate(kind, _count(count)) for kind, count in _count_kinds(keys).items())
        # Of many resources, it lists the kinds, which are here already.
        yield from (candidate for candidate in _list_resources(wanted) if not candidate.word.endswith("/"))
    yield Candidate(FOLDERS)


def _count(number: int) -> str:
    return f"{number} resource{'' if number == 1 else 's'}"


def _count_kinds(keys: Iterable[Key]) -> dict[str, int]:
    return dict(sorted(Counter(key.kind for key in keys).items()))


def _list_revisions(wanted: _Wanted) -> Iterator[Candidate]:
    from gitsync.cli.shell.resource_names import list_refs

    try:
        return map(Candidate, list_refs(_resolve(wanted)))
    except GitsyncError:
        return iter(())


def _list_kinds(wanted: _Wanted) -> Iterator[Candidate]:
    """The kinds of the catalog, with the group where several have one; behind a slash, the ARM types of a namespace, or
    gitsync's annotations.
    """
    from gitsync.desired.catalog.catalog import open_catalog

    if wanted.slot.text.startswith("gitsync/"):
        yield from _list_annotations()
        return
    if "/" in wanted.slot.text:
        yield from _list_types(wanted.slot.text)
        return
    catalog = open_catalog()
    group_kinds = [(group, kind) for group in catalog.all_groups() for kind in catalog.kinds(group)]
    times = Counter(kind for _, kind in group_kinds)
    yield from (
        Candidate(kind if times[kind] == 1 else f"{kind}.{group}", group) for group, kind in sorted(group_kinds)
    )
    # Without a first letter, the namespaces would bury the kinds.
    if wanted.slot.text:
        yield from _list_namespaces()


def _list_annotations() -> Iterator[Candidate]:
    from gitsync.desired.editor.shared_schemas import list_annotations

    yield from (Candidate(name, description) for name, description in list_annotations())


def _list_types(text: str) -> Iterator[Candidate]:
    """The ARM types of a namespace; the versions of a type behind its @."""
    from gitsync.desired.catalog.arm_types import open_arm_types
    from gitsync.desired.catalog.type_paths import list_types

    name, at, _ = text.partition("@")
    if not at:
        yield from map(Candidate, list_types(text.partition("/")[0]))
    elif (arm_type := open_arm_types().find_type(name)) is not None:
        yield from (Candidate(f"{name}@{version}") for version in reversed([*arm_type.versions]))


def _list_namespaces() -> Iterator[Candidate]:
    from gitsync.desired.catalog.arm_types import open_arm_types

    spellings: dict[str, list[str]] = {}
    for name in open_arm_types().list_names():
        namespace = name.partition("/")[0]
        # ARM types spell some namespaces in two ways.
        spellings.setdefault(namespace.casefold(), []).append(namespace)
    for found in spellings.values():
        yield Candidate(f"{found[0]}/", f"{len(found)} type{'' if len(found) == 1 else 's'}")


def _offer(word: str) -> Callable[[_Wanted], Iterator[Candidate]]:
    return lambda _: iter([Candidate(word)])


_FINDERS: Mapping[str, Callable[[_Wanted], Iterator[Candidate]]] = {
    "FILE": _offer(FILES),
    "DESIRED": _offer(FILES),
    "LIVE": _offer(FILES),
    "PATH": _offer(FILES),
    "FOLDER": _offer(FOLDERS),
    "DIR": _offer(FOLDERS),
    "SOURCE": _offer(FOLDERS),
    "REPOSITORY[#BRANCH]": _offer(FOLDERS),
    "KIND": _list_kinds,
    "TYPE": _list_kinds,
    "KIND/NAME": _list_resources,
    "KEY-OR-GLOB": _list_resources,
    "KIND[/NAME]": _list_kinds_and_resources,
    "NAMESPACE": lambda wanted: map(Candidate, sorted({key.namespace for key in _list_keys(wanted)})),
    "REV": _list_revisions,
    "BRANCH": _list_revisions,
}
"""By how help calls a value: what finds its candidates."""


def answer(arguments: list[str]) -> ExitCode:
    """Print the candidates: a line for each, with a tab before what it means. Nothing is wrong with a line that is not
    finished, so the exit code is 0.
    """
    shell, *rest = arguments or [""]
    if shell == "bash" and len(rest) == 2:
        lines = _answer_bash(*rest)
    elif rest:
        *words, last = rest
        lines = [f"{word}\t{about}" if about else word for word, about in list_candidates(words, last)]
    else:
        lines = []
    print("".join(f"{line}\n" for line in dict.fromkeys(lines)), end="")
    return ExitCode.FINE


def _answer_bash(line: str, piece: str) -> list[str]:
    """Answer bash, which sends the line as it is typed, and the part of the last word that it will replace, since it
    splits words at `=`, `:` and `@` too; it gets the words alone.
    """
    words, last = split_line(line)
    # bash sends a separator as a piece of its own, and keeps it on the line.
    replaced = "" if piece in _SEPARATORS else piece
    kept = last.removesuffix(replaced) if last.endswith(replaced) else ""
    found = [word for word, _ in list_candidates(words, last)]
    return [word if word in {FILES, FOLDERS} else word.removeprefix(kept) for word in found]
