"""Logs: what a line holds, what it never holds, and what libraries may say."""

import errno
import io
import json
import logging
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loguru import logger

from gitsync.model.secret import MASKED, Secret
from gitsync.settings.logging import escape_controls, neutralize, set_up
from gitsync.settings.redaction import Redactions

SECRET = 'p4ss"wörd/with\\everything'


@pytest.fixture
def logs():
    """Start logs that write into a buffer, and give a function that reads it."""
    buffer = io.StringIO()

    def start(form="text", level="info", *, colour=False):
        set_up(level=level, form=form, colour=colour, mask=Redactions([Secret(SECRET)]).mask, stream=lambda: buffer)
        return buffer.getvalue

    yield start
    logger.remove()
    logging.captureWarnings(capture=False)
    logging.getLogger().setLevel(logging.WARNING)
    for handler in [h for h in logging.getLogger().handlers if type(h).__module__ == "gitsync.settings.logging"]:
        logging.getLogger().removeHandler(handler)


def test_a_line_of_text_has_the_message_and_its_fields(logs):
    read = logs()
    logger.bind(stage="act", action="create").info("Sent to Azure")
    assert read()[8:] == " INFO    Sent to Azure  action=create  stage=act\n"


def test_a_line_of_json_is_an_object_by_itself(logs):
    read = logs("json")
    logger.bind(count=2, keys=("a", "b"), where={"x": None}).warning("Two\nlines")
    line = json.loads(read())
    assert line.pop("time").endswith("+00:00")
    assert line == {"level": "warning", "message": "Two\nlines", "count": 2, "keys": ["a", "b"], "where": {"x": None}}
    assert read().count("\n") == 1


def test_the_level_decides_what_is_written(logs):
    read = logs(level="warning")
    logger.info("not this")
    logger.warning("but this")
    assert "not this" not in read()
    assert "but this" in read()


def test_colour_is_on_the_outside(logs):
    read = logs(colour=True)
    logger.error("No")
    assert read().startswith("\x1b[31m")
    assert read().endswith("No\x1b[0m\n")


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_secret_is_never_shown(logs, form):
    read = logs(form)
    logger.bind(header=f"Bearer {SECRET}", nested={"a": [SECRET]}).info(f"Sending {SECRET}")
    try:
        int(SECRET)
    except ValueError:
        logger.exception("Failed")
    assert SECRET not in read()
    assert json.dumps(SECRET)[1:-1] not in read()
    assert repr(SECRET)[1:-1] not in read()
    assert read().count(MASKED) >= 4, "message, header, nested field, exception"


def test_values_of_variables_are_in_no_traceback(logs):
    read = logs()
    password = "not registered anywhere"
    try:
        int(len(password) and "x")
    except ValueError:
        logger.exception("Failed")
    assert "not registered" not in read().replace('password = "not registered anywhere"', "")
    assert "ValueError" in read()


def test_one_line_stays_one_line(logs):
    read = logs()
    logger.bind(name="a\nFAKE").info("x\r\x1b[2J\u202egone")
    assert read().count("\n") == 1
    assert "\\x1b[2J\\u202egone" in read()


def test_libraries_are_heard_from_warning_on(logs):
    read = logs()
    logging.getLogger("azure.core").info("headers of a request")
    logging.getLogger("azure.core").warning("Retrying %s", SECRET)
    logging.getLogger("git.cmd").log(35, "a level of its own")
    assert "headers" not in read()
    assert "library=azure.core" in read()
    assert "a level of its own" in read()
    assert SECRET not in read()


def _lose_connection():
    raise ConnectionError(f"sent {SECRET}")


LIBRARIES = ["azure.core", "azure.identity.aio", "aiohttp.client", "asyncio", "urllib3.connectionpool", "git.cmd"]


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize("library", LIBRARIES)
def test_what_a_library_logs_is_written_once_and_masked_with_its_exception(logs, library, form):
    read = logs(form)
    try:
        _lose_connection()
    except ConnectionError:
        logging.getLogger(library).exception("No answer to %s", SECRET)
    assert read().count("No answer to") == read().count("ConnectionError: sent") == 1
    assert read().count(MASKED) >= 2, "message and exception"
    for spelling in (SECRET, json.dumps(SECRET)[1:-1], repr(SECRET)[1:-1]):
        assert spelling not in read()


HEARD = [
    ("debug", {"info", "warning"}, "more is wanted, but no bodies of requests"),
    ("info", {"warning"}, "what libraries do is their affair"),
    ("error", set(), "a level holds for everyone"),
]


@pytest.mark.parametrize(("level", "heard", "why"), HEARD, ids=[row[0] for row in HEARD])
def test_the_level_of_logs_sets_how_much_of_libraries_is_heard(logs, level, heard, why):
    read = logs("json", level)
    for name in ("debug", "info", "warning"):
        getattr(logging.getLogger("azure.core.pipeline"), name)("Signed in")
    assert {json.loads(line)["level"] for line in read().splitlines()} == heard, why


def test_a_library_whose_values_do_not_fit_its_message_ends_nothing(logs):
    read = logs()
    (handler,) = [h for h in logging.getLogger().handlers if type(h).__module__ == "gitsync.settings.logging"]
    handler.handle(
        logging.makeLogRecord(
            {"name": "urllib3", "levelno": 30, "levelname": "WARNING", "msg": "%d of %s", "args": (SECRET,)}
        )
    )
    assert "%d of %s" in read()
    assert SECRET not in read()


def test_warnings_of_python_are_masked_as_everything_else(logs):
    read = logs()
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        logging.captureWarnings(capture=False)
        logging.captureWarnings(capture=True)
        warnings.warn(f"{SECRET} was never closed", ResourceWarning, stacklevel=1)
    assert "was never closed" in read()
    assert SECRET not in read()


def test_setting_up_again_replaces_what_was_there(logs):
    logs()
    read = logs("json")
    logging.getLogger("msal").warning("once")
    assert read().count("once") == 1


@pytest.mark.parametrize("error", [BrokenPipeError, OSError(errno.ENOSPC, "No space left on device")], ids=str)
def test_a_reader_that_went_away_or_a_full_disk_ends_nothing(error, capsys):
    class Gone(io.StringIO):
        def write(self, _text):
            raise error

    set_up(level="info", form="text", colour=False, mask=str, stream=Gone)
    logger.info("to nobody")
    logger.remove()
    assert capsys.readouterr().err == "", "and nothing else tells it unmasked"


@given(st.text())
def test_what_is_visible_is_one_printable_line(text):
    shown = escape_controls(text)
    assert shown.isprintable()
    assert escape_controls(shown) == shown


COMMANDS = [
    (
        "a ##vso[task.setvariable variable=x]y",
        "a ##vso\\u005btask.setvariable variable=x]y",
        "Azure Pipelines, anywhere",
    ),
    ("##VSO[x]", "##VSO\\u005bx]", "in any case"),
    ("##[add-mask]x", "##\\u005badd-mask]x", "GitHub's older form"),
    ("one\n  ::error::x", "one\n  \\u003a:error::x", "GitHub, at the beginning of a line"),
    ("a::b ## c [d] :e", "a::b ## c [d] :e", "what is none stays"),
]


@pytest.mark.parametrize(("text", "expected", "why"), COMMANDS, ids=[c[-1] for c in COMMANDS])
def test_output_commands_no_pipeline(text, expected, why):
    assert neutralize(text) == expected, why


@given(st.dictionaries(st.text(max_size=8), st.text("#:[vso \n", max_size=20)))
def test_output_for_machines_stays_the_same_value(value):
    for indent in (None, 2):
        assert json.loads(neutralize(json.dumps(value, indent=indent))) == value


def test_a_log_commands_no_pipeline(logs):
    written = logs(form="json")
    logger.bind(path="##vso[task.x]").info("::error::")
    assert "##vso[" not in written()
    assert json.loads(written())["path"] == "##vso[task.x]"
