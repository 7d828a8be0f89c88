"""The Python API: sync and plan as functions.

For programs that build on gitsync. It is not in the package itself, so that `import gitsync` loads no other module.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from gitsync.agent.run.run import execute
from gitsync.model.report import Report
from gitsync.model.secret import Secret
from gitsync.settings.config.load import make_config

if TYPE_CHECKING:
    from gitsync.model.unit import UnitEntry

__all__ = ["Settings", "execute", "plan", "sync"]

# A value, or the text that a flag would have; None means "not given".
Text = str | Path | None
Names = Sequence[str] | str | None
Switch = bool | str | None
Count = int | str | None
Share = float | str | None
Seconds = float | str | None
"""Seconds, or a text such as `30m`."""
SecretText = Secret | str | None


class Settings(TypedDict, total=False):
    """The settings of a run, by the names of `Config`; docs/settings.md describes each of them."""

    source: Text
    ref: Text
    from_revision: Text
    to_revision: Text
    path: Text
    only: Names
    aso: Switch  # or a release
    shard: Text
    shards: Count
    run_id: Text
    namespace: Text
    target_namespaces: Names
    allow_dirty: Switch
    git_timeout: Seconds
    git_username: Text
    git_token: SecretText
    trusted_keys: Text
    digest_key: SecretText
    previous_digest_key: SecretText
    units: Sequence[UnitEntry] | None
    ignore: Sequence[str | Mapping[str, Any]] | None
    tags: Mapping[str, str] | None
    this_repository: Names
    variables: Mapping[str, str] | None
    unknown_fields: Text
    default_policy: Text
    strict: Switch
    known_from: Names
    secret_sources: Names
    secrets_folder: Text
    config_maps_folder: Text
    key_vault: Text
    plan_secrets: Switch
    export_to: Names
    export_folder: Text
    export_sops_folder: Text
    export_dotenv: Text
    subscription: Text
    tenant_id: Text
    client_id: Text
    client_secret: SecretText
    client_certificate: SecretText
    client_certificate_path: Text
    client_certificate_password: SecretText
    identity_file: Text
    identity_folder: Text
    federated_token_file: Text
    additional_tenants: Names
    credential: Text
    endpoint: Text
    audience: Text
    authority: Text
    allow_multi_env_management: Switch
    allow_identities: Text | Mapping[str, Any]
    user_agent_suffix: Text
    ca_bundle: Text
    database_servers: Names
    emulator: Text | bool
    emulator_script: Text
    prune: Switch
    plan_file: Text
    yes: Switch
    max_deletes: Count
    release: Names
    checks: Names
    who: Text
    allow_rollback: Switch
    adopt: Text
    always_put: Switch
    reads: Text
    flap_limit: Count
    register_providers: Switch
    resource_timeout: Seconds
    run_timeout: Seconds
    concurrency: Count
    request_share: Share
    agent: Text
    status_branch: Text
    status_dir: Text
    report_dir: Text
    metrics: Text
    heartbeat: Switch
    notify: SecretText
    notify_file: str
    plan_out: Text
    output: Text
    detailed_exitcode: Switch
    fail_on: Names
    log_level: Text
    log_format: Text
    color: Text


def sync(**settings: Unpack[Settings]) -> Report:
    """Bring Azure to the desired state in git and write the status back. The settings are checked as on the command
    line (docs/python-api.md).

    Raises ConfigError for a wrong setting, another GitsyncError if the run is refused. Failures of single resources are
    in the report.
    """
    # A program with an event loop awaits `execute` instead.
    return asyncio.run(execute(make_config(settings), writes=True))


def plan(**settings: Unpack[Settings]) -> Report:
    """Report what `sync` would do, and write nothing. Settings and errors are those of `sync`."""
    return asyncio.run(execute(make_config(settings), writes=False))
