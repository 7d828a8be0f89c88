"""The sources and sinks on this machine, from the settings; the words are those of `secret_sources` and `export_to`.

Separate from sources and sinks, so that these do not depend on settings.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from gitsync.config.config import Config
from gitsync.config.source_settings import find_source_settings
from gitsync.errors import ConfigError
from gitsync.processes.grace_period import Grace
from gitsync.secrets.protocols import SecretSource, Sink
from gitsync.secrets.sinks.dotenv import DotenvSink
from gitsync.secrets.sinks.folder import FolderSink
from gitsync.secrets.sinks.pipeline import PipelineSink, Tell
from gitsync.secrets.sinks.sops import SopsSink
from gitsync.secrets.sops import Sops
from gitsync.secrets.sources.environment import EnvironmentSource
from gitsync.secrets.sources.folder import FolderSource

SINKS = ("folder", "sops", "dotenv", "ci")
"""Words of `export_to` that `local_sink` knows."""


def open_local_source(word: str, config: Config, environment: Mapping[str, str]) -> SecretSource | None:
    """The source `folder` or `environment`; None for another word. ConfigError if its folder is not set, or
    does not exist: then all values would be unknown.
    """
    if word == "environment":
        return EnvironmentSource(environment)
    if word != "folder":
        return None
    if not (config.secrets_folder or config.config_maps_folder):
        raise ConfigError(
            "The secret source `folder` needs a folder.",
            hint="Set --secrets-folder or --config-maps-folder.",
        )
    return FolderSource(
        secrets=_find_folder(config.secrets_folder, "--secrets-folder"),
        config_maps=_find_folder(config.config_maps_folder, "--config-maps-folder"),
        namespace=find_source_settings(config, None).namespace,
    )


def open_local_sink(
    word: str, config: Config, environment: Mapping[str, str], tell: Tell, grace: Grace | None = None
) -> Sink | None:
    """One of `SINKS`; None for another word. `tell` shows a line to the host of a pipeline, and is not to be masked.
    Programs end with `grace`.

    ConfigError if its folder or file is not set.
    """
    match word:
        case "folder":
            return FolderSink(_require_path(config.export_folder, word, "--export-folder"))
        case "sops":
            folder = _require_path(config.export_sops_folder, word, "--export-sops-folder")
            return SopsSink(folder, Sops(environment=environment, grace=grace or Grace()))
        case "dotenv":
            return DotenvSink(_require_path(config.export_dotenv, word, "--export-dotenv"))
        case "ci":
            return PipelineSink(environment, tell)
        case _:
            return None


def _find_folder(path: str | None, flag: str) -> Path | None:
    if not path:
        return None
    folder = Path(path)
    if not folder.exists():
        raise ConfigError(f"There is no folder {folder.absolute()}.", hint=f"Create it, or check {flag}.")
    return folder


def _require_path(path: str | None, word: str, flag: str) -> Path:
    if not path:
        raise ConfigError(f"The secret sink {word} needs {flag}.", hint=f"Set {flag}.")
    return Path(path)
