"""How a command ends: exit codes, and what is reported on stderr."""

import os
import signal
import sys

import pytest

from gitsync.cli.ending import format_fault, run_guarded
from gitsync.errors import (
    ArmError,
    CatalogError,
    ConfigError,
    GitError,
    GitsyncError,
    PublishError,
    SourceError,
    StateError,
    TransientStoreError,
    TransportError,
    UnsafePlanError,
)
from gitsync.model.secret import Secret
from gitsync.settings.redaction import Redactions


@pytest.fixture(autouse=True)
def ctrl_c():
    """Ctrl-C ends the tests as before: a command that it has ended takes no more."""
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)


def raising(error):
    def body():
        raise error

    return body


def caused(error, *causes):
    """An error as `raise … from …` makes it, over several steps."""
    for one, cause in zip((error, *causes), causes, strict=False):
        one.__cause__ = cause
    return error


OUTAGE = GitError("a", is_outage=True)
ENDS = [
    (ConfigError("a"), 2, "a wrong setting: nothing was touched"),
    (SourceError("a"), 2, "no source: nothing was touched"),
    (StateError("a"), 2, "no state: nothing was touched"),
    (UnsafePlanError("a"), 2, "a limit: nothing was touched"),
    (PublishError("a"), 1, "the work was done, and not written back"),
    (GitsyncError("a"), 1, "any other failure"),
    (CatalogError("a"), 70, "damaged facts are a fault of ours"),
    (caused(SourceError("a"), OUTAGE), 75, "git's host did not answer"),
    (caused(StateError("a"), PublishError("b"), OUTAGE), 75, "it did not take a push"),
    (caused(StateError("a"), GitError("b")), 2, "it answered, and refused"),
    (caused(ConfigError("a"), TransportError("b", was_sent=True)), 75, "Azure did not answer"),
    (
        caused(ConfigError("a"), TransportError("b", was_sent=False, is_trusted=False)),
        2,
        "its certificate is not trusted",
    ),
    (caused(SourceError("a"), ArmError("b", status=503)), 75, "Azure is out of order"),
    (caused(SourceError("a"), ArmError("b", status=403)), 2, "Azure refused"),
    (caused(ConfigError("a"), TransientStoreError("b", attempts=1, is_of_all=True)), 75, "a store is out of order"),
    (caused(PublishError("a"), OUTAGE), 1, "the work was done, so another try has little to do"),
    (caused(ConfigError("a"), OSError("b")), 2, "something on this machine"),
    (RuntimeError("a"), 70, "a fault of ours"),
    (ExceptionGroup("a", [KeyError("b")]), 70, "several at once"),
    (KeyboardInterrupt(), 130, "Ctrl-C"),
    (SystemExit(0), 0, "--help"),
]


@pytest.mark.parametrize(("error", "code", "why"), ENDS, ids=[e[-1] for e in ENDS])
def test_every_end_has_its_exit_code(error, code, why, capsys):
    assert run_guarded(raising(error), str) == code, why


def test_ctrl_c_that_is_pressed_again_while_the_command_ends_changes_nothing(capsys):
    def press_again(text):
        os.kill(os.getpid(), signal.SIGINT)
        return text

    assert run_guarded(raising(KeyboardInterrupt()), press_again) == 130
    assert capsys.readouterr() == ("", "gitsync: interrupted.\n")


def test_the_code_of_a_command_is_passed_on():
    assert run_guarded(lambda: 4, str) == 4


def test_a_message_and_its_hint_are_on_lines_of_their_own(capsys):
    run_guarded(raising(ConfigError("What is wrong.\nAnd what else.", hint="How to mend it.")), str)
    assert capsys.readouterr() == ("", "gitsync: What is wrong.\nAnd what else.\nHow to mend it.\n")


def test_foreign_text_moves_no_cursor_and_shows_no_secret(capsys):
    run_guarded(raising(SourceError("a\x1b[2Jb s3cret-value")), Redactions([Secret("s3cret-value")]).mask)
    assert capsys.readouterr().err == "gitsync: a\\x1b[2Jb <secret>\n"


def test_a_fault_is_reported_by_locations_and_versions_without_values():
    password = "hunter2-in-a-variable"
    try:
        try:
            int(password)
        except ValueError as error:
            raise KeyError(password) from error
    except KeyError as fault:
        told = "\n".join(format_fault(fault))
    assert password not in told.replace(f'password = "{password}"', "")
    assert "builtins.ValueError, raised at:" in told
    assert told.index("ValueError") < told.index("KeyError"), "the cause stands first"
    assert 'test_ending.py", line' in told
    assert "Please report it" in told
    assert f"Python {sys.version_info.major}." in told
    assert "azure-mgmt-resource " in told


def test_every_member_of_a_group_is_reported():
    told = "\n".join(format_fault(ExceptionGroup("x", [KeyError("a"), OSError("b")])))
    assert all(name in told for name in ("KeyError", "OSError", "ExceptionGroup"))
