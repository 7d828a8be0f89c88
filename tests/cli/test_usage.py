"""What a command line may have, and how mistakes are reported."""

import argparse
import re
import shlex
from types import SimpleNamespace

import pytest

from gitsync.cli.command import Example, make_number_reader
from gitsync.cli.command_table import COMMANDS, load_command
from gitsync.cli.usage import CommandParser, build_help, format_help, read_arguments
from gitsync.errors import ConfigError


def port(text):
    raise argparse.ArgumentTypeError(f"{text!r} is no port.")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("target", metavar="KIND/NAME")
    parser.add_argument("--port", type=port, default=argparse.SUPPRESS)


COMMAND = SimpleNamespace(
    __doc__="Describe it.",
    SETTINGS=("source", "ref", "only", "prune", "emulator", "output"),
    OUTPUTS=("text", "json"),
    EXAMPLES=(Example("One of them", "gitsync describe A/b"),),
    arguments=arguments,
)


@pytest.mark.parametrize(
    ("line", "expected", "why"),
    [
        ("A/b ./repo", {"target": "A/b", "source": "./repo"}, "a command's own argument stands before SOURCE"),
        ("A/b --output json ./repo", {"target": "A/b", "output": "json", "source": "./repo"}, "flags in between"),
        ("--prune A/b", {"target": "A/b", "prune": True}, "flags in front"),
        ("A/b --no-prune", {"target": "A/b", "prune": False}, "a switch taken back"),
        ("A/b --only x --only y", {"target": "A/b", "only": ["x", "y"]}, "a list"),
        ("A/b --emulator", {"target": "A/b", "emulator": "true"}, "a flag with an optional value"),
        ("A/b", {"target": "A/b"}, "what is not given leaves no trace"),
    ],
)
def test_what_is_read(line, expected, why):
    assert vars(read_arguments("describe", COMMAND, line.split())) == expected, why


@pytest.mark.parametrize(
    ("line", "message", "why"),
    [
        ("", "The following arguments are required: KIND/NAME. Run gitsync describe --help.", "argparse's own"),
        ("A/b --pruen", "Unknown flag --pruen. Did you mean --prune?", "a slip"),
        ("A/b --outptu=json", "Unknown flag --outptu. Did you mean --output?", "with a value"),
        ("A/b --branch main", "Unknown flag --branch. Did you mean --ref?", "another word for it"),
        ("A/b --pru", "Unknown flag --pru. Did you mean --prune?", "a flag is never guessed"),
        ("A/b --non", "Unknown flag --non. Run", "dashes make no two words alike"),
        (
            "A/b --strict",
            "gitsync describe has no flag --strict. These commands have it: doctor, plan, rehearse, revert, ",
            "another command's flag",
        ),
        ("A/b c d", "Unexpected argument 'd'.", "SOURCE is one"),
        ("A/b --git-token abc", "Set the variable GITSYNC_GIT_TOKEN instead.", "a secret is no flag"),
        ("A/b --port x", "Argument --port: 'x' is no port. Run", "a command's own check"),
        ("A/b --only", "Argument --only: expected one argument.", "a value is missing"),
    ],
)
def test_what_is_refused(line, message, why):
    with pytest.raises(ConfigError) as caught:
        read_arguments("describe", COMMAND, line.split())
    assert message in str(caught.value), why


@pytest.mark.parametrize(
    ("text", "expected", "why"),
    [
        ("1", 1, "the least"),
        ("20", 20, "the most"),
        ("007", 7, "zeros in front say nothing"),
        ("0", None, "too few"),
        ("21", None, "too many"),
        ("-1", None, "a sign"),
        ("1.5", None, "a part"),
        ("²", None, "a digit that is none of ASCII's"),
        ("", None, "nothing"),
    ],
)
def test_a_number_is_read_within_its_limits(text, expected, why):
    read = make_number_reader(1, 20)
    if expected is not None:
        assert read(text) == expected, why
    else:
        refusal = f"^'{text}' is not a number from 1 to 20$"
        with pytest.raises(argparse.ArgumentTypeError, match=refusal):
            read(text)


def show_help(capsys, *arguments):
    """What the command prints for help, its white space joined."""
    with pytest.raises(SystemExit) as end:
        read_arguments("describe", COMMAND, list(arguments))
    assert end.value.code == 0
    return " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("arguments", [["-h"], ["--help"], ["A/b", "--help"]], ids=" ".join)
def test_help_shows_what_the_command_does_and_the_most_used_flags(arguments, capsys):
    text = show_help(capsys, *arguments)
    assert text.startswith("usage: gitsync describe KIND/NAME [SOURCE] [flags] Describe it.")
    assert "--[no-]prune Delete resources that were removed from git." in text
    assert "-o, --output FORMAT Format of the output on stdout. One of text, json. [default text]" in text
    assert "--config FILE" in text
    assert "GITSYNC_OUTPUT" not in text
    assert "`gitsync describe --help-all` shows 3 more flags, and the variable of each." in text


def test_all_flags_are_shown_with_their_variables(capsys):
    text = show_help(capsys, "--help-all")
    assert "[GITSYNC_PRUNE]" in text
    assert "[default text, GITSYNC_OUTPUT]" in text
    assert "--log-level WORD" in text
    assert "more flags" not in text


def test_flags_of_one_letter_can_be_joined(capsys):
    assert vars(read_arguments("describe", COMMAND, ["A/b", "-ojson"])) == {"target": "A/b", "output": "json"}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_ends_with_examples_that_its_parser_takes(name):
    command = load_command(name)
    shown = list(format_help(build_help(name, command, CommandParser(name, command)), everything=False, width=80))
    assert 1 <= len(command.EXAMPLES) <= 3
    ending = [line for example in command.EXAMPLES for line in (f"  # {example.purpose}", f"  {example.line}")]
    assert shown[-len(ending) - 1 :] == ["examples:", *ending]
    assert max(map(len, ending)) <= 80
    runs = [
        shlex.split(run) for example in command.EXAMPLES for run in re.findall(r"\bgitsync [^|;&>)]+", example.line)
    ]
    assert name in {run[1] for run in runs}
    for _, called, *words in runs:
        read_arguments(called, load_command(called), words)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_names_no_file_that_an_installed_program_does_not_have(name):
    command = load_command(name)
    lines = format_help(build_help(name, command, CommandParser(name, command)), everything=True, width=80)
    assert not re.search(r"\b(?:docs|tests|tools|examples|deploy)/|\b(?:README|CHANGELOG)\b", "\n".join(lines))


OTHER_WORDS = [
    ("apply", "gitsync sync", "Terraform, kubectl"),
    ("diff", "gitsync plan", "kubectl, Flux"),
    ("what-if", "gitsync plan", "az deployment"),
    ("destroy", "gitsync sync --prune", "Terraform"),
    ("get", "gitsync status", "kubectl"),
    ("show", "gitsync status", "Terraform"),
    ("build", "gitsync render", "kustomize"),
    ("Apply", "gitsync sync", "in capitals"),
    ("version", "gitsync --version", "most programs"),
]


@pytest.mark.parametrize(("word", "meant", "why"), OTHER_WORDS, ids=[row[0] for row in OTHER_WORDS])
def test_the_words_of_other_tools_lead_to_a_command(word, meant, why):
    with pytest.raises(ConfigError) as caught:
        load_command(word)
    assert caught.value.message == f"Unknown command {word!r}. Did you mean `{meant}`?", why
    named = meant.split()[1]
    assert named in COMMANDS or named == "--version"


REFUSED_LINES = [
    ("sync", ". extra", "Unexpected argument 'extra'.", "one SOURCE"),
    ("plan", ". extra", "Unexpected argument 'extra'.", "the same for a plan"),
    ("sync", ". 3", "Unexpected argument '3'.", "no number either: it has a variable only"),
    ("sync", "--dry-run", "Unknown flag --dry-run. Did you mean `gitsync plan`? It writes nothing.", "kubectl"),
    ("sync", ". --dry-run=client", "Did you mean `gitsync plan`?", "with a value"),
    ("sync", "--what-if", "Did you mean `gitsync plan`?", "PowerShell"),
    ("plan", "--dry-run", "Unknown flag --dry-run. A plan writes nothing without it.", "said twice"),
    ("plan", "--destroy", "Unknown flag --destroy. Did you mean --prune?", "Terraform"),
]


@pytest.mark.parametrize(("name", "line", "message", "why"), REFUSED_LINES, ids=[row[-1] for row in REFUSED_LINES])
def test_a_command_line_of_another_tool_leads_to_the_right_command(name, line, message, why):
    with pytest.raises(ConfigError) as caught:
        read_arguments(name, load_command(name), line.split())
    assert message in caught.value.message, why


@pytest.mark.parametrize("name", COMMANDS)
def test_the_usage_of_a_command_has_no_argument_without_a_meaning(name):
    shown = build_help(name, load_command(name), CommandParser(name, load_command(name)))
    assert "[N]" not in shown.usage
