"""Run the worked examples of the documentation, and compare what they print with what the pages show.

usage: python tools/worked_examples.py [--write] [PAGE...]

In the PAGES below, every `console` block is run: a line that begins with `$ ` is a command, and the lines up to the
next one are its output. The blocks of one page run in one shell, in an empty folder, in the order of the page. A `yaml`
block whose first line is the comment `# NAME.yaml` is saved under that name when the shell reaches it, as is a `json`
block below the comment `<!-- file NAME -->`. A page with the comment `<!-- continues PAGE -->` goes on where the
example of another page ends: the steps of that one are run first.

What differs from run to run (revisions, times, durations, ids of requests) is listed in VARYING, and compared by its
shape. With `--write` the pages get the new output. An output that differs only in such values stays as it is.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from program_environment import name_person

ROOT = Path(__file__).resolve().parent.parent
PAGES = (
    ROOT / "README.md",
    ROOT / "docs/getting-started.md",
    ROOT / "docs/import.md",
    ROOT / "docs/from-bicep.md",
    ROOT / "docs/from-terraform.md",
    ROOT / "docs/export.md",
    ROOT / "docs/any-type.md",
    ROOT / "docs/values.md",
    ROOT / "docs/editor.md",
    ROOT / "docs/variables.md",
    ROOT / "docs/argocd.md",
    ROOT / "docs/checks.md",
    ROOT / "docs/doctor.md",
    ROOT / "docs/replace.md",
    ROOT / "docs/running.md",
    ROOT / "docs/how-to/applications.md",
    ROOT / "docs/how-to/audit.md",
    ROOT / "docs/how-to/drift.md",
    ROOT / "docs/how-to/drill.md",
    ROOT / "docs/how-to/rehearse.md",
    ROOT / "docs/how-to/unmanaged.md",
    ROOT / "docs/how-to/emulator-in-tests.md",
    ROOT / "docs/how-to/secrets.md",
)

VARYING = (
    (re.compile(r"(?<![\w-])[0-9a-f]{12}(?![\w-])"), "REVISION"),
    (re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"), "TIME"),
    (re.compile(r"\buntil \d{4}-\d\d-\d\d\b"), "until DAY"),
    (re.compile(r"\b(in|for) \d+s\b"), r"\1 DURATION"),
    (re.compile(r"\b(take|in|and) (about|at least) \w+"), r"\1 \2 DURATION"),
    (re.compile(r" +(\d+m)?\d+s +"), " DURATION "),  # a column
    (re.compile(r"[·░█]{24}"), "BAR"),
    (re.compile(r"\b\d+[smhd]\w* ago\b"), "AGE ago"),
    (re.compile(r"\b\d{4}-\d\d-\d\d \d\d:\d\d( to [\d: -]+)? UTC"), "TIME UTC"),
    (re.compile(r"\((request|correlation) [0-9a-f-]{36}\)"), r"(\1 ID)"),
    (re.compile(r"\bgit version [\w. ()-]+"), "git version VERSION"),
)
"""What no two runs have in common, as a pattern and the word that stands for it."""

HOME = "/home/demo"
"""Shown for the folder that the examples run in."""

END = "\x1e"
"""Printed after each command, between its output and the next."""

_BLOCK = re.compile(
    r"^(?:<!-- file (?P<file>\S+) -->\n)?```(?P<language>console|yaml|json)\n(?P<block>.*?)^```$",
    flags=re.MULTILINE | re.DOTALL,
)
_CONTINUES = re.compile(r"^<!-- continues (\S+) -->$", flags=re.MULTILINE)
_NAMED = re.compile(r"# ([\w.-]+\.yaml)\n")
_LOG_LINE = re.compile(r'^\{"time": .*\n', flags=re.MULTILINE)


class Command(NamedTuple):
    """One command of a page, and the output that the page shows for it."""

    text: str
    shown: str


Step = Command | tuple[str, str]


class Example(NamedTuple):
    """What a page has the shell do."""

    steps: tuple[Step, ...]  # files (name and text) and commands, in order
    before: tuple[Step, ...] = ()  # what the pages do that it continues

    @property
    def commands(self) -> list[Command]:
        return [step for step in self.steps if isinstance(step, Command)]

    @property
    def all_steps(self) -> tuple[Step, ...]:
        return (*self.before, *self.steps)


def read_page(page: Path) -> Example:
    """The example of a page, and what it continues."""
    text = page.read_text(encoding="utf-8")
    continued = _CONTINUES.search(text)
    return Example(read_example(text).steps, read_page(page.parent / continued[1]).all_steps if continued else ())


def read_example(text: str) -> Example:
    """The files and the commands of a page."""
    return Example(tuple(_steps(text)))


def _steps(text: str) -> Iterator[Step]:
    for file, language, block in _BLOCK.findall(text):
        named = _NAMED.match(block)
        if language == "console":
            yield from _commands(block)
        elif file:
            yield file, block
        elif named:
            yield named.group(1), block


def _commands(block: str) -> Iterator[Command]:
    """Each command of a block. ValueError if a block begins with output."""
    before, *parts = re.split(r"^\$ ", block, flags=re.MULTILINE)
    if before.strip():
        raise ValueError(f"A console block begins with a command, not with: {before.splitlines()[0]}")
    for part in parts:
        command, _, shown = part.partition("\n")
        yield Command(command, shown)


def run_example(example: Example, folder: Path, programs: Path = Path(sys.executable).parent) -> list[str]:
    """What the commands print, one text a command, stdout and stderr as a terminal mixes them. `programs` is the folder
    that gitsync is in.
    """
    script = "\n".join(_lines(example))
    shell = ["bash", "--noprofile", "--norc", "-c", script]
    environment = _environment(os.environ, programs)
    work = folder / "work"  # the examples write beside their folder, too
    work.mkdir()
    done = subprocess.run(
        shell,
        cwd=work,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    printed = _LOG_LINE.sub("", done.stdout.decode())  # a terminal shows no line of the log that the report repeats
    outputs = printed.replace(str(work), HOME).split(END)[:-1]
    return outputs[len(outputs) - len(example.commands) :]


def _lines(example: Example) -> Iterator[str]:
    for step in example.all_steps:
        if isinstance(step, Command):
            yield f"{step.text}\nprintf '{END}'"
        else:
            name, text = step
            yield f"cat > {name} <<'END OF FILE'\n{text}END OF FILE"


def _environment(variables: Mapping[str, str], programs: Path) -> dict[str, str]:
    """The environment of the shell: no settings of this machine, gitsync in PATH, and a person for git."""
    kept = {name: variables[name] for name in ("HOME", "TMPDIR") if name in variables}
    path = os.pathsep.join([str(programs), variables.get("PATH", os.defpath)])
    logs = {"GITSYNC_LOG_LEVEL": "error"}
    git = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    return {**kept, **name_person("Demo"), **logs, **git, "PATH": path, "PYTHONUTF8": "1"}


def normalise(text: str) -> str:
    """A text with one word for everything that varies, and no blank lines or blanks at its ends."""
    for pattern, word in VARYING:
        text = pattern.sub(word, text)
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())


def refresh(shown: str, printed: str) -> str:
    """The new output for a page. The shown one stays if only what varies has changed."""
    if normalise(shown) == normalise(printed):
        return shown
    kept = printed.strip("\n")
    after = shown[len(shown.rstrip("\n")) :] or "\n"
    return f"{kept}{after}" if kept else ""


def write(page: Path, example: Example, printed: Iterable[str]) -> None:
    """Put the new output into the page, command by command, in their order."""
    text, location = page.read_text(encoding="utf-8"), 0
    for command, output in zip(example.commands, printed, strict=True):
        shown = f"$ {command.text}\n{command.shown}"
        location = text.index(shown, location)
        fresh = f"$ {command.text}\n{refresh(command.shown, output)}"
        text = text[:location] + fresh + text[location + len(shown) :]
        location += len(fresh)
    page.write_text(text, encoding="utf-8")


def main(arguments: list[str]) -> int:
    pages = [Path(name) for name in arguments if name != "--write"] or PAGES
    differ = False
    for page in pages:
        example = read_page(page)
        with tempfile.TemporaryDirectory(prefix="gitsync-example-") as folder:
            printed = run_example(example, Path(folder))
        if "--write" in arguments:
            write(page, example, printed)
            continue
        for command, output in zip(example.commands, printed, strict=True):
            if normalise(command.shown) != normalise(output):
                differ = True
                print(f"{page}: `{command.text}` prints\n{output}\nand the page shows\n{command.shown}")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
