"""The seals of records, made from the settings."""

from __future__ import annotations

from collections.abc import Mapping

from gitsync.config.config import Config
from gitsync.git.state.seal import RecordSeals
from gitsync.planning.agents import DEFAULT_AGENT


def make_seals(config: Config, environment: Mapping[str, str]) -> RecordSeals:
    """The seals of the agent. Without --agent, its records may bear the name of its namespace, and are checked too."""
    former = environment.get("POD_NAMESPACE", "") if config.agent is None else ""
    return RecordSeals(config.agent or DEFAULT_AGENT, config.digest_key, config.previous_digest_key, former)
