"""The schemas of gitsync.yaml accept what the reader of the file accepts."""

import pytest
import yaml

from gitsync.desired.editor.settings_schemas import OPERATOR_SETTINGS, SOURCE_SETTINGS, build_settings_schemas
from gitsync.errors import ConfigError
from gitsync.settings.config.config import SETTINGS
from gitsync.settings.config.config_file import read_config_file, read_source_settings
from gitsync.settings.config.setting_values import parse_value
from gitsync.settings.config.unit_entries import UNIT_KEYS
from tests.desired.editor.schema_validation import find_errors

SCHEMAS = build_settings_schemas()


def is_read(read, text):
    """Whether gitsync accepts the settings."""
    try:
        for name, (texts, _) in read(text).items():
            parse_value(SETTINGS[name], texts)
    except (ConfigError, ValueError):
        return False
    return True


def is_accepted(schema, text):
    return not find_errors(schema, yaml.safe_load(text))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "namespace: web\n",
        "unknown-fields: warn\n",
        "unknown-fields: wrn\n",
        "prune: true\n",
        "subscription: 00000000-0000-0000-0000-000000000000\n",
        "namespce: web\n",
        "units: [{path: a}]\n",
        "units: [{path: a, kind: kustomization, substitute: true, loadRestrictor: none, missingOwner: wait}]\n",
        "units: [{path: a, kind: chart, values: [x.yaml], release: r, namespace: n, kubernetes: '1.30', capz: skip}]\n",
        "units: [{path: a, substitute: {NAME: value, COUNT: 3}, migrateVersions: yes}]\n",
        "units: [{path: a, substitute: {1x: value}}]\n",
        "units: [{path: a, variables: envsubst}]\n",
        "units: [{path: a, variables: true}]\n",
        "units: [{path: a, kind: flux}]\n",
        "units: [{kind: folder}]\n",
        "units: [{path: a, knd: folder}]\n",
        "units: {path: a}\n",
        "ignore: [spec.tags.team, {tags: [hidden-*], kind: StorageAccount, namespace: dev, until: '2030-12-31'}]\n",
        "ignore: {tags: a}\n",
        "ignore: [[a]]\n",
        "tags: {team: web, cost: 12, live: yes}\n",
        "tags: [team]\n",
        "tags: {team: [a]}\n",
    ],
)
def test_the_file_of_a_repository(text):
    assert is_accepted(SOURCE_SETTINGS, text) is is_read(lambda path: read_source_settings(path.encode(), "x"), text)


@pytest.mark.parametrize(
    "text",
    [
        "prune: true\n",
        "prune: 'on'\n",
        "prune: maybe\n",
        "max-deletes: 3\n",
        "max-deletes: -1\n",
        "concurrency: 0\n",
        "concurrency: 5\n",
        "request-share: 0.5\n",
        "request-share: 2\n",
        "run-timeout: 1h30m\n",
        "run-timeout: 90\n",
        "run-timeout: soon\n",
        "subscription: 00000000-0000-0000-0000-000000000000\n",
        "subscription: web\n",
        "only: [ResourceGroup/web, '*']\n",
        "only: ResourceGroup/web\n",
        "export-to: [status, folder]\n",
        "export-to: [statsu]\n",
        "emulator: true\n",
        "emulator: azure.db\n",
        "set: [A=1]\n",
        "client-secret: x\n",
        "endpoint: https://management.azure.com\n",
        "adopt: {a: b}\n",
    ],
)
def test_the_file_of_an_operator(text, tmp_path):
    file = tmp_path / "operator.yaml"
    file.write_text(text)
    assert is_accepted(OPERATOR_SETTINGS, text) is is_read(lambda _: read_config_file(file), text)


def test_every_key_has_a_description():
    keys = {setting.key for setting in SETTINGS.values() if setting.key}
    properties = SCHEMAS[OPERATOR_SETTINGS]["properties"]
    assert set(properties) == keys
    assert all(member["description"] for member in properties.values())


def test_every_option_of_a_unit_is_known():
    units = SCHEMAS[SOURCE_SETTINGS]["properties"]["units"]["items"]["properties"]
    assert set(units) == set(UNIT_KEYS)
    assert all(unit["description"] for unit in units.values())
