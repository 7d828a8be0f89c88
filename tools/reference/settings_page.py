"""docs/settings.md: every setting, in the groups of `--help`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain

from gitsync.cli.command_table import COMMANDS
from gitsync.settings.config.config import EVERYWHERE, SETTINGS
from gitsync.settings.config.flags import show_default
from gitsync.settings.config.setting import HelpGroup, Setting, SettingForm

PAGE = "docs/settings.md"

HEAD = """# Settings

Every setting can be given by a flag, a variable, or a key in `gitsync.yaml`. The nearest wins: flag, variable, file,
default. An empty variable counts as not given. A command has the flags that concern it (the column *commands*), and
{everywhere} in any case.

There are two classes of settings. An **operator** setting decides where requests and secrets go, what runs, and what
may be deleted. The operator gives it: by flag, by variable, or in a file that `--config` or `GITSYNC_CONFIG`
names. A **source** setting describes the manifests; the repository may give it too.

- `--config FILE` may give every setting, and so may a `gitsync.yaml` in a working folder that is in no git repository.
- A `gitsync.yaml` at the root of SOURCE gives source settings alone. It is read at the revision whose manifests are
  read, from a folder as from a URL, and for each of the two revisions of `plan --from`.
- A `gitsync.yaml` in a working folder that is in a git repository is such a file, and so is one that a link in a
  repository leads to. An operator setting in it ends the command with exit code 2, with its line and the other ways to
  give it.
- A `gitsync.yaml` of SOURCE that is a link, or no file, ends the command with exit code 2. In a folder outside of git,
  a link to a file inside that folder is read.
- `explain`, `completion`, `init`, `schema`, `emulator`, `compare` and `comment` use no setting of SOURCE. They work in
  a folder whose `gitsync.yaml` is wrong, and use none of it then.
- The file that `--config` names may be the `gitsync.yaml` of a SOURCE folder. It is then read once, as the operator's.
  With `--ref`, the file of that revision is read as the source's.

What the operator gives goes first, then SOURCE's file, then the default. The file is flat, except for
[units](manifests.md#options-of-units), [ignore](manifests.md#ignore-a-field-of-many-resources) and
[tags](manifests.md#default-tags):

```yaml
subscription: 00000000-0000-0000-0000-000000000000
target-namespaces: [default, network]
prune: true
run-timeout: 45m
```

Lists are separated by commas, or are lists in the file; a flag may stand several times. Durations are written as `90s`,
`30m` or `1h30m`. Switches are `true` or `false`; as flags they are `--x` and `--no-x`. Secrets are given by variables
alone: a command line shows in process lists, and a file ends up in git.

`--help` shows the settings that most people need, and `--help-all` all of them.
"""

_TABLE = """
## {title}

| flag | variable | key | class | commands | default | what it does |
|---|---|---|---|---|---|---|
"""


def build_settings_page() -> Mapping[str, str]:
    """The page, by its path."""
    everywhere = ", ".join(f"`{SETTINGS[name].flag}`" for name in sorted(EVERYWHERE, reverse=True)) + " and `--config`"
    tables = chain.from_iterable(map(_list_rows, HelpGroup))
    return {PAGE: HEAD.format(everywhere=everywhere) + "".join(tables)}


def _list_rows(group: HelpGroup) -> Iterator[str]:
    yield _TABLE.format(title=f"{group[:1].upper()}{group[1:]}")
    yield from (f"{_row(setting)}\n" for setting in SETTINGS.values() if setting.group is group)


def _row(setting: Setting) -> str:
    cells = (
        _flag(setting),
        "<br>".join(_variables(setting)),
        _code(setting.key),
        setting.authority.value,
        _commands(setting),
        _default(setting),
        _help(setting),
    )
    return f"| {' | '.join(cells)} |"


def _flag(setting: Setting) -> str:
    flags = filter(None, (setting.short, setting.flag or ("SOURCE" if setting.name == "source" else "")))
    return ", ".join(map(_code, flags))


def _variables(setting: Setting) -> Iterator[str]:
    yield from map(_code, setting.variables)
    for variable, value in setting.switches.items():
        yield f"{_code(variable + '=true')} for {_code(value)}"


def _commands(setting: Setting) -> str:
    """The commands that take it, in the order of the help; "all" of them, or "" for what only a file gives."""
    taken = [_code(name) for name in COMMANDS if name in setting.commands]
    return "all" if setting.name in EVERYWHERE else ", ".join(taken)


def _default(setting: Setting) -> str:
    return "the command's first" if setting.name == "output" else _code(show_default(setting))


def _help(setting: Setting) -> str:
    choices = f" One of {', '.join(map(_code, setting.choices))}." if setting.choices else ""
    kind = " A secret." if setting.form is SettingForm.SECRET else ""
    return f"{setting.help}{choices}{kind}".replace("|", "\\|")


def _code(text: str) -> str:
    return f"`{text}`" if text else ""
