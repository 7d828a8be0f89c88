"""The commands of docs/from-aso.md as the tool for real API servers takes them; the servers are started by hand."""

import re
import subprocess

from from_aso_page import ESTATE, PAGE, find_versions, make_definition, read_blocks

BLOCKS = list(read_blocks(PAGE.read_text()))


def test_every_command_of_the_steps_is_run():
    shown = PAGE.read_text().partition("\n1. ")[2].partition("\n## ")[0]
    commands = re.findall(r"^    (?:\$ )?((?:kubectl|gitsync|\w+=\$\(kubectl) .*)$", shown, re.MULTILINE)
    assert [line for block in BLOCKS for line in block.script.splitlines()] == commands
    assert [block.step for block in BLOCKS] == [1, 2, 4, 5, 6, 7]


def test_the_commands_are_bash():
    for block in BLOCKS:
        subprocess.run(["bash", "-n", "-c", block.script], check=True)


def test_what_the_page_shows_belongs_to_its_command():
    assert {block.step for block in BLOCKS if block.output} == {2, 4, 6}
    assert BLOCKS[1].output.startswith("Written to azure:")


def test_a_definition_stores_one_version_that_is_none_of_arm():
    for held in ESTATE:
        versions = make_definition(held)["spec"]["versions"]
        assert [version["name"] for version in versions if version["storage"]] == [find_versions(held)[-1]]
        assert held.version in [version["name"] for version in versions if not version["storage"]]
