"""The set-up of the environment shows its progress in a few lines, and what pip printed if it fails."""

from __future__ import annotations

import sys
import threading

import pytest
from set_up import STEP, find_steps, run, split_groups, watch_installs


def test_the_lines_of_pip_become_a_few_steps():
    lines = [
        "Obtaining file:///work\n",
        *(f"Collecting package-{number}\n" for number in range(2 * STEP + 1)),
        "  Downloading package-1.whl (3 kB)\n",
        "Installing collected packages: a, b, c\n",
        "Successfully installed a b c\n",
    ]
    assert list(find_steps(lines)) == [
        "Find and download packages",
        f"{STEP} packages found",
        f"{2 * STEP} packages found",
        "Install 3 packages",
    ]


@pytest.mark.parametrize(
    ("words", "expected", "why"),
    [
        (["--editable", ".[dev]"], [["--editable", ".[dev]"]], "one group without a separator"),
        (["-r", "a", "--", "-e", "."], [["-r", "a"], ["-e", "."]], "pip runs once for each"),
    ],
)
def test_arguments_are_grouped_by_the_runs_of_pip(words, expected, why):
    assert split_groups(words) == expected, why


@pytest.mark.parametrize(
    ("code", "shown", "why"),
    [(0, "", "what pip prints is noise if it works"), (3, "Collecting one\nERROR\n", "and needed if it does not")],
)
def test_what_pip_printed_is_shown_if_it_fails(code, shown, why, capfd):
    steps: list[str] = []
    script = f"print('Collecting one'); import sys; print('ERROR', file=sys.stderr, flush=True); sys.exit({code})"
    assert run([sys.executable, "-u", "-c", script], steps.append) == code
    assert steps == ["Find and download packages"]
    assert capfd.readouterr().err == shown, why


def test_packages_are_counted_as_pip_installs_them(tmp_path):
    packages = tmp_path / "lib" / "python3.11" / "site-packages"
    (packages / "old.dist-info").mkdir(parents=True)
    said, heard = [], threading.Event()

    def say(step: str) -> None:
        said.append(step)
        heard.set()

    with watch_installs(tmp_path, say, every=0.001):
        for number in range(STEP - 1):
            (packages / f"new-{number}.dist-info").mkdir()
        assert said == []
        (packages / "last.dist-info").mkdir()
        assert heard.wait(60)
    assert said == [f"{STEP} packages installed"]
