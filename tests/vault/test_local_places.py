"""Which place a word of the settings stands for, and what is missing for it."""

import pytest

from gitsync.config import SETTINGS, Config
from gitsync.errors import ConfigError
from gitsync.vault.local import SINKS, local_sink, local_source

GIVEN = Config(secrets_folder="s", export_folder="f", export_sops_folder="e", export_dotenv="d")


@pytest.mark.parametrize("word", ["folder", "environment"])
def test_a_source_has_the_name_of_its_setting(word):
    assert local_source(word, GIVEN, {}).name == word


@pytest.mark.parametrize("word", SINKS)
def test_a_sink_has_the_name_of_its_setting(word):
    assert word in SETTINGS["export_to"].choices
    assert local_sink(word, GIVEN, {}, print).name == word


def test_other_words_are_for_others():
    assert local_source("key-vault", GIVEN, {}) is None
    assert local_sink("kubernetes", GIVEN, {}, print) is None


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("folder", "Give --export-folder"),
        ("sops", "Give --export-sops-folder"),
        ("dotenv", "Give --export-dotenv"),
    ],
)
def test_a_sink_without_its_place(word, said):
    with pytest.raises(ConfigError, match=said):
        local_sink(word, Config(), {}, print)


def test_a_folder_of_secrets_that_is_not_given():
    with pytest.raises(ConfigError, match="Give --secrets-folder or --config-maps-folder"):
        local_source("folder", Config(), {})
