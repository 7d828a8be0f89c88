"""docs/commands.md: every command, with its own options, and the names of the settings that it takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gitsync.cli.command_table import COMMANDS, CommandGroup
from gitsync.cli.usage import HELP, CommandHelp, OptionGroup
from gitsync.settings.config.setting import HelpGroup
from reference.command_helps import build_helps

PAGE = "docs/commands.md"

HEAD = """# Commands

What `gitsync COMMAND --help-all` and the man pages show, with the same examples. [Settings](settings.md) describes
the settings, each of which is also a variable and a key of `gitsync.yaml`. Every command also has `-h`, `--help` and
`--help-all`.
"""


def build_commands_page() -> Mapping[str, str]:
    """The page, by its path."""
    helps = build_helps()
    parts = [HEAD]
    for group in CommandGroup:
        parts.append(f"\n## {group.value[:1].upper()}{group.value[1:]}\n")
        for name, entry in COMMANDS.items():
            if entry.group is group:
                parts += [f"{line}\n" for line in _format_command(helps[name])]
    return {PAGE: "".join(parts)}


def _format_command(shown: CommandHelp) -> Iterator[str]:
    yield from ("", f"### gitsync {shown.name}", "", "```", shown.usage, "```", "", shown.summary)
    yield from ("", *_format_description(shown.description)) if shown.description else ()
    groups = [group for group in shown.groups if group.title != HELP]
    own = [option for group in groups for option in group.options if _is_own(group) or not option.variables]
    if rows := [f"| `{option.invocation}` | {_escape(option.text)} |" for option in own]:
        yield from ("", "| argument or flag | what it does |", "|---|---|", *rows)
    for group in (group for group in shown.groups if group.title in set(HelpGroup)):
        if flags := ", ".join(f"`{option.invocation}`" for option in group.options if option.variables):
            yield from ("", f"Settings, {group.title}: {flags}.")
    yield from (
        "",
        "```",
        *(line for example in shown.examples for line in (f"# {example.purpose}", example.line)),
        "```",
    )


def _is_own(group: OptionGroup) -> bool:
    return group.title in {"arguments", "options"}


def _format_description(text: str) -> Iterator[str]:
    """Paragraphs as they are; indented lines as a block of code."""
    in_block = False
    for line in text.splitlines():
        if line.startswith("  ") != in_block:
            in_block = not in_block
            yield from ("```",) if not in_block else ("", "```")
            yield from () if in_block else ("",)
        yield line.removeprefix("  ") if in_block else _escape(line)
    if in_block:
        yield "```"


def _escape(text: str) -> str:
    """Text that Markdown shows as it is."""
    return text.replace("|", "\\|").replace("<", "\\<").replace("*", "\\*")
