"""Settings: the table itself, where each comes from, how its text is read, what is refused."""

import argparse
from functools import cache
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gitsync.errors import ConfigError
from gitsync.model.secret import Secret
from gitsync.settings.config.config import SETTINGS
from gitsync.settings.config.flags import add_flags, show_default
from gitsync.settings.config.load import list_misspelt_variables, resolve
from gitsync.settings.config.setting import NESTED, Authority, SettingForm
from gitsync.settings.config.setting_values import parse_value

OUTPUTS = ("text", "json", "markdown")
UUID = "01234567-89ab-cdef-0123-456789abcdef"
FILE_SETTINGS = [
    s for s in SETTINGS.values() if s.key and s.form not in {*NESTED, SettingForm.IDENTITIES, SettingForm.VARIABLES}
]

# For each form three texts that differ in what they mean, as a flag, a variable and a file may hold them.
NO_TEXTS = {SettingForm.SECRET, SettingForm.IDENTITIES, *NESTED}
"""Forms of which no message shows a text, or that are not text at all."""

SAMPLES = {
    SettingForm.TEXT: ("near", "middle", "far"),
    SettingForm.LIST: ("near,er", "middle", "far"),
    SettingForm.COUNT: ("1", "2", "3"),
    SettingForm.POSITIVE: ("1", "2", "3"),
    SettingForm.SHARE: ("0.25", "0.5", "1"),
    SettingForm.RELEASE: ("2.19", "2.20", "2.21"),
    SettingForm.SHARD: ("1/8", "2/8", "3/8"),
    SettingForm.DURATION: ("1s", "2m", "3h"),
    SettingForm.URL: ("https://near.test", "https://middle.test", "https://far.test"),
    SettingForm.UUID: tuple(f"00000000-0000-0000-0000-00000000000{digit}" for digit in "123"),
    SettingForm.FILE_OR_ON: ("near.db", "middle.db", "far.db"),
}


def samples(setting):
    if setting.name == "output":
        return OUTPUTS
    if setting.choices:
        allowed = [c for c in setting.choices if c != "anonymous"]
        return (*allowed, *allowed)[:3]
    if setting.form is SettingForm.SWITCH:
        return ("true", "false", "true")
    return SAMPLES[setting.form]


def flags_of(setting, text):
    if setting.name == "source":
        return [text]
    if not setting.flag:
        return []
    if setting.form is SettingForm.SWITCH:
        return [setting.flag if text == "true" else setting.flag.replace("--", "--no-", 1)]
    return [f"{setting.flag}={text}"]


@cache
def make_parser(outputs):
    parser = argparse.ArgumentParser()
    own = [name for name, s in SETTINGS.items() if s.form is not SettingForm.SECRET]
    add_flags(parser, [n for n in own if n not in {"log_level", "log_format", "color"}], outputs)
    return parser


def settings_of(arguments=(), variables=None, file=None, folder=None, outputs=OUTPUTS):
    """The settings that a command line, an environment and a file make."""
    if file is not None:
        (folder / "gitsync.yaml").write_text(file, encoding="utf-8")
    options = make_parser(outputs).parse_args(list(arguments))
    return resolve(options, variables or {}, folder or Path("/nowhere"), outputs)


@pytest.mark.parametrize("setting", FILE_SETTINGS, ids=lambda s: s.name)
def test_the_nearest_wins(setting, tmp_path):
    near, middle, far = samples(setting)
    near = near if setting.flag or setting.name == "source" else middle
    by_flag, by_variable = flags_of(setting, near), {setting.variables[0]: middle}
    by_file = f"{setting.key}: {far}\n"

    everything = settings_of(by_flag, by_variable, by_file, tmp_path)
    without_flag = settings_of([], by_variable, by_file, tmp_path)
    without_variable = settings_of([], {}, by_file, tmp_path)

    parsed = [parse_value(setting, (text,)) for text in (near, middle, far)]
    assert [getattr(c, setting.name) for c in (everything, without_flag, without_variable)] == parsed
    unset = None if setting.authority is Authority.SOURCE else setting.default  # the source may give it yet
    assert getattr(settings_of(), setting.name) == unset


@pytest.mark.parametrize("setting", [s for s in FILE_SETTINGS if s.form is SettingForm.SWITCH], ids=lambda s: s.name)
def test_a_nearer_switch_overrides_another(setting, tmp_path):
    off = flags_of(setting, "false")
    assert getattr(settings_of(off, {setting.variables[0]: "true"}, None, tmp_path), setting.name) is False
    assert (
        getattr(settings_of([], {setting.variables[0]: "no"}, f"{setting.key}: yes", tmp_path), setting.name) is False
    )


def test_every_setting_has_a_variable_of_its_own():
    variables = [v for s in SETTINGS.values() for v in (*s.variables, *s.switches)]
    assert len(variables) == len(set(variables))
    assert all(s.variables for s in SETTINGS.values() if s.form not in NESTED)


def test_names_that_azure_service_operator_has_are_kept():
    theirs = {
        "AZURE_SUBSCRIPTION_ID": "subscription",
        "AZURE_TENANT_ID": "tenant_id",
        "AZURE_CLIENT_ID": "client_id",
        "AZURE_CLIENT_SECRET": "client_secret",
        "AZURE_ADDITIONAL_TENANTS": "additional_tenants",
        "AZURE_AUTHORITY_HOST": "authority",
        "AZURE_RESOURCE_MANAGER_ENDPOINT": "endpoint",
        "AZURE_RESOURCE_MANAGER_AUDIENCE": "audience",
        "AZURE_USER_AGENT_SUFFIX": "user_agent_suffix",
        "AZURE_TARGET_NAMESPACES": "target_namespaces",
        "DEFAULT_RECONCILE_POLICY": "default_policy",
        "USE_WORKLOAD_IDENTITY_AUTH": "credential",
    }
    assert {v: s.name for s in SETTINGS.values() for v in (*s.variables, *s.switches) if v in theirs} == theirs


def test_every_setting_is_explained_in_a_sentence():
    assert [s.name for s in SETTINGS.values() if not s.help.endswith(".")] == []


def test_every_default_is_a_value_of_its_form():
    for setting in SETTINGS.values():
        if (text := show_default(setting)) and setting.name != "output":
            assert parse_value(setting, (text,)) == setting.default, setting.name


VARIABLES = [
    ({"POD_NAMESPACE": "aso"}, "agent", None, "a namespace alone names no agent"),
    ({"POD_NAMESPACE": "aso", "GITSYNC_AGENT": "ours"}, "agent", "ours", "our own variable stands first"),
    ({"USE_WORKLOAD_IDENTITY_AUTH": "true"}, "credential", "workload-identity", "ASO's switch for it"),
    ({"USE_WORKLOAD_IDENTITY_AUTH": "false"}, "credential", "default", "a switch that is off says nothing"),
    (
        {"USE_WORKLOAD_IDENTITY_AUTH": "true", "GITSYNC_CREDENTIAL": "managed-identity"},
        "credential",
        "managed-identity",
        "the setting's own variable stands before the switch",
    ),
    ({"NO_COLOR": "1"}, "color", "never", "as no-color.org asks"),
    ({"NO_COLOR": ""}, "color", "auto", "an empty variable is not given"),
    ({"AZURE_SUBSCRIPTION_ID": "  "}, "subscription", None, "a pipeline sets what it has no value for to nothing"),
    ({"AZURE_SUBSCRIPTION_ID": f"{UUID.upper()}\n"}, "subscription", UUID.upper(), "a UUID in capitals is one"),
    ({"AZURE_TENANT_ID": "t1\n"}, "tenant_id", "t1", "a secret store adds a newline"),
    ({"AZURE_TARGET_NAMESPACES": "a, b,,c"}, "target_namespaces", ("a", "b", "c"), "ASO separates by commas"),
    ({"GITSYNC_EMULATOR": "true"}, "emulator", "", "in memory"),
    ({"GITSYNC_EMULATOR": "off"}, "emulator", None, "off"),
    ({"GITSYNC_EMULATOR": "azure.db"}, "emulator", "azure.db", "its state in a file"),
    ({"GITSYNC_RUN_TIMEOUT": "1h30m5s"}, "run_timeout", 5405.0, "durations as Go writes them"),
    ({"GITSYNC_RUN_TIMEOUT": "0.5h"}, "run_timeout", 1800.0, "with fractions"),
    ({"GITSYNC_MAX_DELETES": "0"}, "max_deletes", 0, "no delete at all is a limit, too"),
    ({"AZURE_AUTHORITY_HOST": "login.microsoftonline.us"}, "authority", "https://login.microsoftonline.us", "a host"),
    ({"AZURE_RESOURCE_MANAGER_ENDPOINT": "http://[::1]:80"}, "endpoint", "http://[::1]:80", "http to this machine"),
    ({"GITSYNC_GIT_TOKEN": " s3cret \n"}, "git_token", Secret(" s3cret "), "only the line's end is not of it"),
]


@pytest.mark.parametrize(("variables", "name", "expected", "why"), VARIABLES, ids=[v[-1] for v in VARIABLES])
def test_what_a_variable_sets(variables, name, expected, why):
    assert getattr(settings_of((), variables), name) == expected, why


FLAGS = [
    (["--only", "a", "--only", "b,c"], "only", ("a", "b", "c"), "several times, and with commas"),
    (["--emulator"], "emulator", "", "alone it is in memory"),
    (["--emulator", "azure.db"], "emulator", "azure.db", "with a file"),
    (["--no-register-providers"], "register_providers", False, "what is on by default can be turned off"),
    (["--report", "out"], "report_dir", "out", "a flag may be shorter than its field"),
    (["--fail-on", "drift,pending"], "fail_on", ("drift", "pending"), "verdicts, and the word for three of them"),
    (["--output", "json"], "output", "json", "one of the command's choices"),
    ([], "output", "text", "the first of the command's choices"),
    (["https://example.test/a.git", "--ref", "v1"], "source", "https://example.test/a.git", "SOURCE is positional"),
]


@pytest.mark.parametrize(("arguments", "name", "expected", "why"), FLAGS, ids=[f[-1] for f in FLAGS])
def test_what_a_flag_sets(arguments, name, expected, why):
    assert getattr(settings_of(arguments), name) == expected, why


WRONG = [
    (["--max-deletes", "-1"], {}, "--max-deletes: expected a whole number from 0", "a count is not negative"),
    (["--max-deletes", "٣"], {}, "expected a whole number", "digits are ASCII"),
    (["--concurrency", "0"], {}, "--concurrency: expected a whole number from 1", "nothing would ever be sent"),
    (["--run-timeout", "30"], {}, "expected a duration such as 90s, 30m or 1h30m, not '30'", "a unit is needed"),
    (["--run-timeout", "0s"], {}, "expected a duration", "a run needs time"),
    (["--only", ""], {}, "--only: expected at least one name", "an unset variable of a script is not `everything`"),
    (["--only", "a", "--target-namespaces", " , "], {}, "expected at least one name", "nor are blanks and commas"),
    (["--ref", ""], {}, "--ref: expected a value", "an empty flag is a mistake"),
    (["--adopt", "never"], {}, "--adopt: expected write or report, not 'never'", "choices are named"),
    (["--tenant-id", "a/b"], {}, "--tenant-id: expected letters, digits", "it becomes a part of a URL"),
    (["--subscription", "a/b"], {}, "--subscription: expected a UUID such as", "it becomes a part of a URL, too"),
    ([], {"AZURE_SUBSCRIPTION_ID": "shop-prod"}, "the variable AZURE_SUBSCRIPTION_ID: expected a UUID", "a name"),
    (["--subscription", "0" * 32], {}, "--subscription: expected a UUID", "no dashes"),
    (["--subscription", f"{{{UUID}}}"], {}, "--subscription: expected a UUID", "in braces"),
    (["--user-agent-suffix", "a\nb"], {}, "one line without control characters", "it becomes a header"),
    (["--endpoint", "http://example.test"], {}, "plain http goes only to this machine", "a token would be read"),
    (["--endpoint", "ftp://example.test"], {}, "expected an address", "not a protocol of ours"),
    (["--endpoint", "https://[::1"], {}, "expected an address", "an address that breaks off"),
    (["--endpoint", "https://example.test:99999"], {}, "expected an address", "no such port"),
    (["--endpoint", "https://u:p@example.test"], {}, "expected an address", "no user in it"),
    (["--fail-on", "drifft"], {}, "--fail-on: expected some of drift, outside, in-sync", "words are named"),
    (["--fail-on", "pending,drifft"], {}, "not 'drifft' (did you mean drift?)", "and the nearest"),
    (["--output", "yaml"], {}, "--output: expected text or json or markdown, not 'yaml'", "the command's choices"),
    ([], {"GITSYNC_STRICT": "maybe"}, "the variable GITSYNC_STRICT: expected true or false", "the place is named"),
    (["--credential", "anonymous"], {}, "goes only to this machine", "nobody is anonymous in Azure"),
    (["--emulator", "."], {}, "Write SOURCE before --emulator", "a folder was meant as SOURCE"),
    (["--emulator", "https://a.test/b.git"], {}, "Write SOURCE before --emulator", "a URL was meant as SOURCE"),
    (["--status-dir", "a", "--status-branch", "b"], {}, "exclude each other", "status has one place"),
]


@pytest.mark.parametrize(("arguments", "variables", "message", "why"), WRONG, ids=[w[-1] for w in WRONG])
def test_what_is_refused(arguments, variables, message, why):
    with pytest.raises(ConfigError) as caught:
        settings_of(arguments, variables)
    assert message in str(caught.value), why
    assert caught.value.exit_code == 2


def test_all_wrong_settings_are_named_at_once():
    with pytest.raises(ConfigError) as caught:
        settings_of(["--max-deletes", "x"], {"GITSYNC_CONCURRENCY": "y"})
    assert len(str(caught.value).splitlines()) == 2


def test_anonymous_is_allowed_to_this_machine():
    assert settings_of(["--credential", "anonymous", "--emulator"]).credential == "anonymous"
    assert settings_of(["--credential", "anonymous", "--endpoint", "http://localhost:1"]).credential == "anonymous"


@pytest.mark.parametrize("arguments", [["--from", "main"], ["--to", "main"]])
def test_anonymous_does_not_matter_to_a_plan_of_two_revisions(arguments):
    assert settings_of(arguments, {"GITSYNC_CREDENTIAL": "anonymous"}).credential == "anonymous"


def test_the_nearer_of_status_branch_and_status_dir_wins(tmp_path):
    config = settings_of(["--status-dir", "here"], {"GITSYNC_STATUS_BRANCH": "there"}, None, tmp_path)
    assert (config.status_dir, config.status_branch) == ("here", None)


def test_a_setting_of_the_output_that_a_command_lacks_is_no_matter_to_it():
    assert settings_of((), {"GITSYNC_OUTPUT": "markdown"}, outputs=()).output == "markdown"


FILES = [
    ("prune: true\nonly:\n- A/b\n- C/*\n", {"prune": True, "only": ("A/b", "C/*")}, "lists as YAML has them"),
    ("only: A/b, C/d", {"only": ("A/b", "C/d")}, "or with commas"),
    ("ref:\nonly: []\n", {"ref": None, "only": ()}, "a key without a value is not given"),
    ("max-deletes: 012", {"max_deletes": 12}, "a value is read as a flag's text is"),
    ("", {}, "an empty file"),
    ("# nothing but a comment\n", {}, "no document"),
    ("emulator: true", {"emulator": ""}, "in memory"),
]


@pytest.mark.parametrize(("text", "expected", "why"), FILES, ids=[f[-1] for f in FILES])
def test_what_a_file_sets(text, expected, why, tmp_path):
    config = settings_of((), {}, text, tmp_path)
    assert {name: getattr(config, name) for name in expected} == expected, why


WRONG_FILES = [
    ("a: 1\nprune: true\n", ":1: there is no setting 'a'", "unknown keys are errors"),
    ("prune: true\n\nstatusBranch: x\n", ":3: there is no setting 'statusBranch'. Did you mean status-branch?", "case"),
    ("max_deletes: 1\n", "Did you mean max-deletes?", "the field's name is near, too"),
    ("git-token: abc\n", ":1: git-token is a secret, which a file must not contain", "files are committed"),
    ("prune: true\nprune: false\n", ":2: prune is given twice", "which one was meant?"),
    ("ref: {a: b}\n", ":1: ref takes one value, or a list of them", "settings are flat"),
    ("- prune\n", "expected a mapping of settings", "a list is none"),
    ("prune: [\n", "this is not YAML", "the place is told by the parser"),
    ("prune: maybe\n", ":1: prune: expected true or false", "values are checked with their line"),
    ("a: &x 1\n? [b]\n: 2\n", "there is no setting", "keys that are no texts"),
]


@pytest.mark.parametrize(("text", "message", "why"), WRONG_FILES, ids=[f[-1] for f in WRONG_FILES])
def test_what_a_file_must_not_say(text, message, why, tmp_path):
    with pytest.raises(ConfigError) as caught:
        settings_of((), {}, text, tmp_path)
    assert message in str(caught.value), why
    assert "gitsync.yaml" in str(caught.value)


def test_a_file_that_was_named_must_be_there(tmp_path):
    with pytest.raises(ConfigError, match=r"settings in .*absent\.yaml cannot be read: No such file"):
        settings_of(["--config", "absent.yaml"], folder=tmp_path)


def test_a_file_by_flag_is_read_instead_of_the_usual_one(tmp_path):
    (tmp_path / "other.yaml").write_text("ref: other\n")
    named = settings_of(["--config", "other.yaml"], {}, "ref: usual\nprune: true\n", tmp_path)
    by_variable = settings_of([], {"GITSYNC_CONFIG": str(tmp_path / "other.yaml")}, None, tmp_path)
    assert (named.ref, named.prune, by_variable.ref) == ("other", False, "other")


def test_a_file_that_is_not_a_text_is_refused(tmp_path):
    (tmp_path / "gitsync.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="it is not UTF-8"):
        settings_of(folder=tmp_path)


def test_a_secret_is_in_no_repr():
    config = settings_of((), {"GITSYNC_GIT_TOKEN": "t0ken-value", "AZURE_CLIENT_SECRET": "s3cret-value"})
    assert config.git_token.reveal() == "t0ken-value"
    assert "value" not in repr(config)


def test_a_misspelt_variable_is_reported():
    variables = {"GITSYNC_MAX_DELETE": "1", "GITSYNC_PRUNE": "1", "GITSYNC_SECRET_A_B_C": "1", "GITSYNC_CI_RUN": "1"}
    assert list_misspelt_variables(variables) == [
        "GITSYNC_MAX_DELETE is not a setting. Did you mean GITSYNC_MAX_DELETES?"
    ]


def read(setting, text):
    """What comes of a text: its value, or the sentence that refuses it."""
    try:
        return parse_value(setting, (text,)), None
    except ValueError as error:
        return None, str(error)


@given(st.sampled_from([s for s in SETTINGS.values() if s.form not in NO_TEXTS]), st.text(max_size=30))
@example(SETTINGS["endpoint"], "[")
@example(SETTINGS["endpoint"], "a:b")
def test_any_text_is_read_or_refused_with_a_sentence(setting, text):
    value, refusal = read(setting, text)
    assert refusal is None or "expected" in refusal
    assert all(str(part).isprintable() for part in (value if isinstance(value, tuple) else (value,)))
