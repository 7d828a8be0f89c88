"""Variables of manifests, as the operator gives them: --set, GITSYNC_VAR_NAME and a file; each name on its own."""

import argparse

import pytest

from gitsync.errors import ConfigError
from gitsync.settings.config.flags import add_flags
from gitsync.settings.config.load import list_misspelt_variables, make_config, resolve


def give(folder, *flags, file="", **variables):
    parser = argparse.ArgumentParser()
    add_flags(parser, ["variables"], ("text",))
    if file:
        (folder / "gitsync.yaml").write_text(file)
    return resolve(parser.parse_args(list(flags)), variables, folder).variables


@pytest.mark.parametrize(
    ("flags", "variables", "file", "expected", "why"),
    [
        ([], {}, "", (), "none"),
        (["--set", "A=1", "--set", "B=x,y=z"], {}, "", (("A", "1"), ("B", "x,y=z")), "a flag may stand several times"),
        (["--set", "A=1", "--set", "A=2"], {}, "", (("A", "2"),), "the last counts"),
        (["--set", "A= a "], {}, "", (("A", " a "),), "a value is not trimmed"),
        (["--set", "A="], {}, "", (("A", ""),), "an empty value is one"),
        ([], {"GITSYNC_VAR_A": "1\n"}, "", (("A", "1"),), "a variable, without line breaks"),
        ([], {"GITSYNC_VAR_A": " "}, "", (), "a variable without a value is not given"),
        ([], {"GITSYNC_VAR": "1", "A": "2", "MY_GITSYNC_VAR_A": "3"}, "", (), "no others"),
        ([], {}, "set: [A=1, B=2]", (("A", "1"), ("B", "2")), "a file"),
        (
            ["--set", "A=near"],
            {"GITSYNC_VAR_A": "middle", "GITSYNC_VAR_B": "middle"},
            "set: [A=far, B=far, C=far]",
            (("A", "near"), ("B", "middle"), ("C", "far")),
            "of each name, the nearest",
        ),
    ],
)
def test_what_is_given(flags, variables, file, expected, why, tmp_path):
    assert give(tmp_path, *flags, file=file, **variables) == expected, why


@pytest.mark.parametrize(
    ("flags", "variables", "message"),
    [
        (["--set", "A"], {}, "--set: expected NAME=VALUE, not a text without ="),
        (["--set", "1=x"], {}, "--set: expected NAME=VALUE with a name of letters, digits and _, not '1'"),
        (["--set", "a-b=x"], {}, "not 'a-b'"),
        (["--set", "=x"], {}, "not ''"),
        (["--set", "A=\x1b[0m"], {}, "without control characters"),
        ([], {"GITSYNC_VAR_A.B": "x"}, "GITSYNC_VAR_: expected NAME=VALUE with a name"),
        ([], {"GITSYNC_VAR_": "x"}, "not ''"),
    ],
)
def test_what_is_refused(flags, variables, message, tmp_path):
    with pytest.raises(ConfigError) as refused:
        give(tmp_path, *flags, **variables)
    assert message in str(refused.value)


def test_a_variable_of_manifests_is_not_a_misspelt_setting():
    assert list_misspelt_variables({"GITSYNC_VAR_AGENT": "x", "GITSYNC_VARS": "y"}) == []


def test_python_gives_a_mapping():
    assert make_config({"source": ".", "variables": {"A": "1"}}).variables == (("A", "1"),)
