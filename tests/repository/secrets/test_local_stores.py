"""Which store a word of the settings stands for, and what is missing for it."""

from dataclasses import replace

import pytest

from gitsync.errors import ConfigError
from gitsync.repository.secrets.stores import SINKS, open_local_sink, open_local_source
from gitsync.settings.config.config import SETTINGS, Config

GIVEN = Config(secrets_folder="s", export_folder="f", export_sops_folder="e", export_dotenv="d")


@pytest.mark.parametrize("word", ["folder", "environment"])
def test_a_source_has_the_name_of_its_setting(word, tmp_path):
    assert open_local_source(word, replace(GIVEN, secrets_folder=str(tmp_path)), {}).name == word


@pytest.mark.parametrize("word", SINKS)
def test_a_sink_has_the_name_of_its_setting(word):
    assert word in SETTINGS["export_to"].choices
    assert open_local_sink(word, GIVEN, {}, print).name == word


def test_other_words_are_for_others():
    assert open_local_source("key-vault", GIVEN, {}) is None
    assert open_local_sink("kubernetes", GIVEN, {}, print) is None


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("folder", "Set --export-folder"),
        ("sops", "Set --export-sops-folder"),
        ("dotenv", "Set --export-dotenv"),
    ],
)
def test_a_sink_without_its_location(word, said):
    with pytest.raises(ConfigError, match=said):
        open_local_sink(word, Config(), {}, print)


def test_a_folder_of_secrets_that_is_not_given():
    with pytest.raises(ConfigError, match="Set --secrets-folder or --config-maps-folder"):
        open_local_source("folder", Config(), {})


@pytest.mark.parametrize(
    ("setting", "flag"), [("secrets_folder", "--secrets-folder"), ("config_maps_folder", "--config-maps-folder")]
)
def test_a_folder_that_is_not_there_refuses_the_run(setting, flag, tmp_path):
    """It has nothing of any value, not even of the credentials: no resource could be reconciled."""
    with pytest.raises(ConfigError, match=f"There is no folder {tmp_path}/absent.") as refused:
        open_local_source("folder", Config(**{setting: f"{tmp_path}/absent"}), {})
    assert refused.value.hint == f"Create it, or check {flag}."
