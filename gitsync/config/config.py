"""Every setting of gitsync: one field of `Config` each, with its declaration.

A setting is given by a flag, a variable, a key in gitsync.yaml, or not at all; the nearest wins. The flag is the name
with dashes, the key is the flag without the leading ones, and the variable is `GITSYNC_` and the same word, unless
Azure Service Operator has a name for it (docs/reference/reconciliation.md#settings-of-aso). How they are read and
checked is in `gitsync.config.load`; this module holds values alone, so that every layer may take a `Config`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from gitsync.config.setting import VARIABLE_PREFIX, Authority, Setting, SettingForm, declare_setting, describe_setting
from gitsync.model.secret import Secret
from gitsync.model.verdict import DRIFT_WORD, Verdict

if TYPE_CHECKING:
    from gitsync.model.unit import UnitEntry  # making its classes takes a tenth of the time of --help

_ID = r"[A-Za-z0-9][A-Za-z0-9.-]*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """All settings of one run, checked. Durations are in seconds; a `None` means "not given".

    Source settings are read through `gitsync.config.source_settings`, which knows what the source gives.
    `config_file` is no setting: it is the file that the operator's settings were read from.
    """

    config_file: Path | None = None

    # what is read
    source: str = declare_setting(".", "A folder, or the URL of a git repository.", metavar="SOURCE", flag="")
    ref: str | None = declare_setting(
        None, "Branch, tag or commit to read. Default: the default branch.", metavar="REV"
    )
    from_revision: str | None = declare_setting(
        None,
        "Plan without reading Azure: compare with this revision (a branch, tag or commit, or one like main~2).",
        flag="--from",
        metavar="REV",
    )
    to_revision: str | None = declare_setting(
        None,
        "With --from: the revision to plan. Default: what a plan would read.",
        flag="--to",
        metavar="REV",
    )
    path: str = declare_setting(".", "Folder, or file, of the manifests inside SOURCE.", metavar="PATH")
    only: tuple[str, ...] = declare_setting(
        (),
        "Only these resources: Kind/name, Kind.group/namespace/name, or a pattern with * and ?. A name that is clear "
        "may be abbreviated.",
        form=SettingForm.LIST,
        metavar="KEY-OR-GLOB",
    )
    namespace: str | None = declare_setting(
        "default",
        "Namespace of manifests without one. It is part of generated UUID names.",
        authority=Authority.SOURCE,
    )
    target_namespaces: tuple[str, ...] = declare_setting(
        (),
        "Only resources of these namespaces. Default: all.",
        form=SettingForm.LIST,
        variables=("AZURE_TARGET_NAMESPACES",),
        metavar="NAMESPACE",
        short="-n",
    )
    allow_dirty: bool = declare_setting(False, "Allow sync from a dirty working tree.", form=SettingForm.SWITCH)
    git_timeout: float = declare_setting(300.0, "Timeout of one git command.", form=SettingForm.DURATION)
    git_username: str = declare_setting("x-access-token", "User name for git over HTTPS, used with the token.")
    git_token: Secret | None = declare_setting(None, "Token for git over HTTPS.", form=SettingForm.SECRET, flag="")  # noqa: RUF009 - a row of the table
    trusted_keys: str | None = declare_setting(
        None,
        "Only apply commits that one of the keys in this file has signed: PGP public key blocks, ssh public keys, or "
        "lines of an allowed signers file.",
        metavar="FILE",
    )
    digest_key: Secret | None = declare_setting(  # noqa: RUF009 - a row of the table
        None,
        "Key that signs records, and of the digests that replace secrets in records and plans: 32 random characters "
        "or more.",
        form=SettingForm.SECRET,
        pattern=".{32,}",
        flag="",
    )
    previous_digest_key: Secret | None = declare_setting(  # noqa: RUF009 - a row of the table
        None,
        "The key before, while keys are rotated: records that it signed are accepted, and signed again.",
        form=SettingForm.SECRET,
        pattern=".{32,}",
        flag="",
    )

    # how it is read
    units: tuple[UnitEntry, ...] | None = declare_setting(
        (),
        "Units of the source: mappings of path, kind, substitute, variables, loadRestrictor, missingOwner, "
        "migrateVersions, capz, and of charts values, release, namespace, kubernetes, published.",
        form=SettingForm.UNITS,
        authority=Authority.SOURCE,
        flag="",
    )
    variables: tuple[tuple[str, str], ...] = declare_setting(
        (),
        "Value of a variable in the manifests, ${NAME}. May be repeated.",
        form=SettingForm.VARIABLES,
        metavar="NAME=VALUE",
        variables=(f"{VARIABLE_PREFIX}NAME",),
        flag="--set",
    )
    unknown_fields: str | None = declare_setting(
        "error",
        "Unknown fields: an error, or a warning (the field is dropped, as by an API server).",
        authority=Authority.SOURCE,
        choices=("error", "warn"),
    )
    default_policy: str = declare_setting(
        "manage",
        "Reconcile policy of resources that have none, nor their Namespace.",
        choices=("manage", "skip", "detach-on-delete"),
        variables=("DEFAULT_RECONCILE_POLICY",),
        flag="--default-reconcile-policy",
    )
    strict: bool = declare_setting(
        False, "Refuse the whole run if a manifest is invalid, before anything is touched.", form=SettingForm.SWITCH
    )

    known_from: tuple[str, ...] = declare_setting(
        (),
        "Status of other repositories, whose resources manifests may name as owners and references: a URL or a folder, "
        "and #BRANCH if it is not gitsync/status. Its records must be signed with the digest key.",
        form=SettingForm.LIST,
        metavar="REPOSITORY[#BRANCH]",
    )

    # the sources and sinks of Secrets and config maps
    secret_sources: tuple[str, ...] = declare_setting(
        ("manifests", "environment"),
        "Sources of the Secrets and config maps that manifests reference, in this order, after what the run "
        "itself exports.",
        form=SettingForm.LIST,
        choices=("manifests", "folder", "environment", "key-vault", "kubernetes"),
        metavar="SOURCE",
    )
    secrets_folder: str | None = declare_setting(
        None, "Folder of the source `folder`: one folder per Secret, one file per key.", metavar="FOLDER"
    )
    config_maps_folder: str | None = declare_setting(None, "The same for config maps.", metavar="FOLDER")
    key_vault: str | None = declare_setting(
        None, "Key Vault of the source and the sink `key-vault`: its https address.", form=SettingForm.URL
    )
    plan_secrets: bool = declare_setting(
        False,
        "Let a plan read Secrets from Key Vault and the cluster as a sync does, those of credentials included. "
        "It shows and keeps no value, only that one changed.",
        form=SettingForm.SWITCH,
    )
    export_to: tuple[str, ...] = declare_setting(
        ("status",),
        "Sinks of the Secrets and config maps that resources export, in addition to the memory of the run. "
        "status takes config maps only, and writes them next to the status.",
        form=SettingForm.LIST,
        choices=("status", "folder", "key-vault", "kubernetes", "sops", "dotenv", "ci"),
        metavar="SINK",
    )
    export_folder: str | None = declare_setting(
        None, "Folder of the sink `folder`; no other user may have access to it.", metavar="FOLDER"
    )
    export_sops_folder: str | None = declare_setting(
        None, "Folder of the sink `sops`: one encrypted manifest per Secret.", metavar="FOLDER"
    )
    export_dotenv: str | None = declare_setting(None, "File of the sink `dotenv`.", metavar="FILE")

    # Azure and the identity
    subscription: str | None = declare_setting(
        None,
        "Subscription of resources without an ARM id of their own: its id, a UUID.",
        form=SettingForm.UUID,
        variables=("AZURE_SUBSCRIPTION_ID",),
    )
    tenant_id: str | None = declare_setting(
        None, "Tenant of the identity.", variables=("AZURE_TENANT_ID",), pattern=_ID
    )
    client_id: str | None = declare_setting(
        None, "Client id of the identity.", variables=("AZURE_CLIENT_ID",), pattern=_ID
    )
    client_secret: Secret | None = declare_setting(  # noqa: RUF009 - a row of the table
        None,
        "Secret of the identity, for --credential client-secret.",
        form=SettingForm.SECRET,
        variables=("AZURE_CLIENT_SECRET",),
        flag="",
    )
    client_certificate: Secret | None = declare_setting(  # noqa: RUF009 - a row of the table
        None,
        "Certificate of the identity with its key, for --credential client-certificate: PEM, or PKCS#12 in base64.",
        form=SettingForm.SECRET,
        variables=("AZURE_CLIENT_CERTIFICATE",),
        flag="",
    )
    client_certificate_path: str | None = declare_setting(
        None, "The same as a file.", variables=("AZURE_CLIENT_CERTIFICATE_PATH",), metavar="FILE"
    )
    client_certificate_password: Secret | None = declare_setting(  # noqa: RUF009 - a row of the table
        None,
        "Password of the certificate.",
        form=SettingForm.SECRET,
        variables=("AZURE_CLIENT_CERTIFICATE_PASSWORD",),
        flag="",
    )
    identity_file: str | None = declare_setting(
        None,
        "Credentials file of a user-assigned identity, for --credential identity-file.",
        variables=("AZURE_USER_ASSIGNED_IDENTITY_CREDENTIALS",),
        metavar="FILE",
    )
    identity_folder: str | None = declare_setting(
        None, "The only folder whose files credential Secrets may name.", metavar="FOLDER"
    )
    federated_token_file: str | None = declare_setting(
        None,
        "File with the federated token, for --credential workload-identity. It is read again when it changes.",
        variables=("AZURE_FEDERATED_TOKEN_FILE",),
        metavar="FILE",
    )
    additional_tenants: tuple[str, ...] = declare_setting(
        (), "Additional tenants to get tokens for.", form=SettingForm.LIST, variables=("AZURE_ADDITIONAL_TENANTS",)
    )
    credential: str = declare_setting(
        "default",
        "How to get a token. anonymous sends none, and only to this machine.",
        choices=(
            "default",
            "workload-identity",
            "managed-identity",
            "client-secret",
            "client-certificate",
            "identity-file",
            "anonymous",
        ),
        switches={"USE_WORKLOAD_IDENTITY_AUTH": "workload-identity"},
    )
    endpoint: str = declare_setting(
        "https://management.azure.com",
        "Endpoint of Azure Resource Manager. Plain http only to this machine.",
        form=SettingForm.URL,
        variables=("AZURE_RESOURCE_MANAGER_ENDPOINT",),
    )
    audience: str | None = declare_setting(
        None,
        "Audience of tokens. Default: that of the endpoint, if it is one of a known cloud.",
        variables=("AZURE_RESOURCE_MANAGER_AUDIENCE",),
    )
    authority: str | None = declare_setting(
        None,
        "Host that issues tokens. Default: that of the endpoint, if it is one of a known cloud.",
        form=SettingForm.URL,
        variables=("AZURE_AUTHORITY_HOST",),
    )
    allow_multi_env_management: bool = declare_setting(
        False,
        "Allow credential Secrets to name another Azure cloud: then tokens are sent there.",
        form=SettingForm.SWITCH,
        variables=("ALLOW_MULTI_ENV_MANAGEMENT",),
    )
    user_agent_suffix: str | None = declare_setting(
        None, "Added to the User-Agent of every request.", variables=("AZURE_USER_AGENT_SUFFIX",)
    )
    ca_bundle: str | None = declare_setting(
        None,
        "Certificates (PEM) to trust instead of the system's.",
        variables=("GITSYNC_CA_BUNDLE", "REQUESTS_CA_BUNDLE"),
        metavar="FILE",
    )
    emulator: str | None = declare_setting(
        None,
        "Run against an Azure Resource Manager inside the process: in memory, or with its state in an SQLite FILE.",
        form=SettingForm.FILE_OR_ON,
        metavar="FILE",
    )
    emulator_script: str | None = declare_setting(None, "Faults that the emulator injects.", metavar="FILE")

    # what the run may do
    prune: bool = declare_setting(
        False, "Delete resources that were removed from git. A plan always shows them.", form=SettingForm.SWITCH
    )
    plan_file: str | None = declare_setting(
        None,
        "Apply only this reviewed plan, which `gitsync plan --out` wrote.",
        flag="--plan",
        metavar="FILE",
    )
    yes: bool = declare_setting(
        False,
        "Do not ask on a terminal before the first sync of a target.",
        form=SettingForm.SWITCH,
    )
    max_deletes: int | None = declare_setting(
        None,
        "Limit of deletes in one run; more refuses the run. "
        "Default: the smaller of 10 and a fifth of the inventory, at least 1.",
        form=SettingForm.COUNT,
    )
    allow_rollback: bool = declare_setting(
        False, "Allow a revision that is older than the one that was applied last.", form=SettingForm.SWITCH
    )
    adopt: str = declare_setting(
        "write",
        "Resources that exist without a record: write the values in git, or report the differences only.",
        choices=("write", "report"),
    )
    always_put: bool = declare_setting(
        False, "Send a PUT for every resource, changed or not, as Azure Service Operator does.", form=SettingForm.SWITCH
    )
    reads: str = declare_setting(
        "list",
        "How resources are read: those of one type by a list, if that takes fewer requests, or each by itself.",
        choices=("list", "each"),
    )
    flap_limit: int = declare_setting(
        3,
        "Writes in a row, with no change in git, that something may reset before a resource is reported as "
        "flapping and paused. 0 writes without limit.",
        form=SettingForm.COUNT,
    )
    register_providers: bool = declare_setting(
        True, "Register a resource provider that the subscription lacks.", form=SettingForm.SWITCH
    )
    resource_timeout: float = declare_setting(1800.0, "Timeout of one resource.", form=SettingForm.DURATION)
    run_timeout: float = declare_setting(3000.0, "Timeout of the whole run.", form=SettingForm.DURATION)
    concurrency: int = declare_setting(20, "Maximum number of concurrent requests.", form=SettingForm.POSITIVE)
    request_share: float = declare_setting(
        1.0,
        "Share of Azure's request limits to use, such as 0.5; the rest is left to others.",
        form=SettingForm.SHARE,
    )
    agent: str | None = declare_setting(
        None, "Name of this agent. Resources recorded for another agent are left alone. Default: gitsync."
    )

    # what it leaves behind
    status_branch: str | None = declare_setting(
        None,
        "Branch for status and state. Default: gitsync/status if SOURCE has a remote.",
        metavar="BRANCH",
    )
    status_dir: str | None = declare_setting(
        None, "Folder for status and state instead. Default: .gitsync in a folder without a remote.", metavar="FOLDER"
    )
    report_dir: str | None = declare_setting(
        None, "Also write the report to this folder, in every format.", flag="--report", metavar="FOLDER"
    )
    metrics: str | None = declare_setting(
        None,
        "Write metrics of the run to this file, in OpenMetrics, for a textfile collector.",
        metavar="FILE",
    )
    heartbeat: bool = declare_setting(
        False,
        "After a run that succeeds, move the branch STATUS-BRANCH-heartbeat/AGENT to a new commit. `gitsync status` "
        "then shows the age of the last success.",
        form=SettingForm.SWITCH,
    )
    plan_out: str | None = declare_setting(
        None, "Write the plan to this file, for review and for `gitsync sync --plan`.", flag="--out", metavar="FILE"
    )
    output: str = declare_setting("text", "Format of the output on stdout.", metavar="FORMAT", short="-o")
    detailed_exitcode: bool = declare_setting(
        False, "Exit with 4 if a plan finds drift, and with 3 if it finds pending changes.", form=SettingForm.SWITCH
    )
    fail_on: tuple[str, ...] = declare_setting(
        (),
        "Exit with 1 if a resource has one of these verdicts; drift means drifted, missing and conflict.",
        form=SettingForm.LIST,
        choices=(DRIFT_WORD, *(verdict.value for verdict in Verdict)),
        metavar="VERDICT",
    )
    log_level: str = declare_setting(
        "auto",
        "Minimum level of log lines. auto: warning on a terminal, where the report says the rest; info otherwise.",
        choices=("auto", "debug", "info", "warning", "error"),
    )
    log_format: str = declare_setting(
        "auto", "auto: text on a terminal, JSON lines otherwise.", choices=("auto", "text", "json")
    )
    color: str = declare_setting(
        "auto",
        "auto: colours on a terminal only.",
        choices=("auto", "always", "never"),
        switches={"NO_COLOR": "never"},
    )


SETTINGS: Mapping[str, Setting] = {f.name: describe_setting(f.name, f.metadata) for f in fields(Config) if f.metadata}
"""Every setting by the name of its field, in the order in which people are shown them."""
