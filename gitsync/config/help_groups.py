"""The groups that help and documentation show settings in: the most used group first, and in it the most used setting.

`--help` shows what is in `common`, `--help-all` everything.
"""

from __future__ import annotations

from typing import NamedTuple


class HelpGroup(NamedTuple):
    """Names of settings. `common` are those that most people need; the others have good defaults."""

    title: str
    common: tuple[str, ...]
    advanced: tuple[str, ...]


OUTPUT = "output"
"""The title of the group that also has --config, -v and -q."""

HELP = "help"
"""The title of the last group, which has no settings."""

HELP_GROUPS = (
    HelpGroup(
        "what is read",
        common=("source", "ref", "path", "only", "target_namespaces", "variables", "from_revision", "to_revision"),
        advanced=(
            "namespace",
            "units",
            "known_from",
            "trusted_keys",
            "unknown_fields",
            "default_policy",
            "allow_dirty",
            "git_username",
            "git_token",
        ),
    ),
    HelpGroup(
        "what may change",
        common=("prune", "plan_file", "yes", "max_deletes", "strict"),
        advanced=("adopt", "allow_rollback", "register_providers", "always_put", "reads", "flap_limit"),
    ),
    HelpGroup(
        OUTPUT,
        common=("output", "plan_out", "report_dir", "detailed_exitcode", "fail_on"),
        advanced=("metrics", "color", "log_level", "log_format"),
    ),
    HelpGroup(
        "Azure and the identity",
        common=("subscription", "credential", "emulator"),
        advanced=(
            "tenant_id",
            "client_id",
            "client_secret",
            "client_certificate",
            "client_certificate_path",
            "client_certificate_password",
            "identity_file",
            "identity_folder",
            "federated_token_file",
            "additional_tenants",
            "endpoint",
            "audience",
            "authority",
            "allow_multi_env_management",
            "user_agent_suffix",
            "ca_bundle",
            "emulator_script",
        ),
    ),
    HelpGroup(
        "Secrets and ConfigMaps",
        common=("secret_sources", "export_to", "key_vault"),
        advanced=(
            "secrets_folder",
            "config_maps_folder",
            "plan_secrets",
            "export_folder",
            "export_sops_folder",
            "export_dotenv",
        ),
    ),
    HelpGroup(
        "status and records",
        common=("status_branch", "status_dir"),
        advanced=("agent", "heartbeat", "digest_key", "previous_digest_key"),
    ),
    HelpGroup(
        "limits",
        common=(),
        advanced=("run_timeout", "resource_timeout", "git_timeout", "concurrency", "request_share"),
    ),
)

_TITLES = {name: group.title for group in HELP_GROUPS for name in (*group.common, *group.advanced)}
_PLACES = {name: at for at, name in enumerate(_TITLES)}
_ADVANCED = frozenset(name for group in HELP_GROUPS for name in group.advanced)


def find_title(name: str) -> str:
    """The title of the group of a setting."""
    return _TITLES[name]


def find_place(name: str) -> int:
    """Where a setting is in the order of the groups: the most used one has the lowest number."""
    return _PLACES[name]


def is_advanced(name: str) -> bool:
    """Tell whether only --help-all shows a setting."""
    return name in _ADVANCED
