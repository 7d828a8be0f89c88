"""Sets of settings that several commands share, and the forms of a report.

Separate from the code that uses them: `--help` and completion need the names, and import nothing else of a command.
"""

from __future__ import annotations

REPORT_OUTPUTS = ("text", "json", "markdown", "html", "junit", "sarif")
"""The choices of --output for a command that prints a report."""

OFFLINE = (
    "source",
    "ref",
    "path",
    "only",
    "namespace",
    "target_namespaces",
    "git_timeout",
    "git_username",
    "git_token",
    "variables",
    "unknown_fields",
    "default_policy",
    "subscription",
    "status_dir",
    "known_from",
)
"""How manifests are read: for every command that reads SOURCE."""

READING = (*OFFLINE, "strict", "trusted_keys")
"""The same for a run."""

AZURE = (
    "tenant_id",
    "client_id",
    "client_secret",
    "client_certificate",
    "client_certificate_path",
    "client_certificate_password",
    "identity_file",
    "identity_folder",
    "allow_multi_env_management",
    "federated_token_file",
    "additional_tenants",
    "credential",
    "endpoint",
    "audience",
    "authority",
    "user_agent_suffix",
    "ca_bundle",
    "emulator",
    "emulator_script",
    "concurrency",
    "request_share",
    "resource_timeout",
    "run_timeout",
)
"""Azure, and the identity."""

VAULT = (
    "secret_sources",
    "secrets_folder",
    "config_maps_folder",
    "key_vault",
    "export_to",
    "export_folder",
    "export_sops_folder",
    "export_dotenv",
)
"""Sources and sinks of Secrets and ConfigMaps."""

DECIDING = (
    "prune",
    "max_deletes",
    "allow_rollback",
    "adopt",
    "always_put",
    "reads",
    "flap_limit",
    "agent",
    "digest_key",
    "previous_digest_key",
)
"""What a run decides, and how."""

TELLING = ("status_branch", "report_dir", "metrics", "output", "fail_on")
"""What a run leaves behind."""

RECORDED = (
    "source",
    "git_timeout",
    "git_username",
    "git_token",
    "status_branch",
    "status_dir",
    "agent",
    "digest_key",
    "previous_digest_key",
)
"""The settings by which recorded state is found and checked."""
