"""Every setting: one field of `Config` each, with its declaration, in the order of the help.

A setting is given by a flag, a variable, a key in gitsync.yaml, or not at all; the nearest wins. The flag is the name
with dashes, the key is the flag without the leading ones, and the variable is `GITSYNC_` and the same word, unless
Azure Service Operator has a name for it (docs/reference/reconciliation.md#settings-of-aso). How they are read and
checked is in `gitsync.settings.config.load`; this module holds values alone, so that every layer may take a `Config`.

In each group of the help, the settings that most people need come first; `--help-all` shows the advanced ones too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from gitsync.model.attribution import Who
from gitsync.model.check import NO_CHECKS, CheckName
from gitsync.model.secret import Secret
from gitsync.model.verdict import DRIFT_WORD, Verdict
from gitsync.settings.config.setting import (
    VARIABLE_PREFIX,
    Authority,
    HelpGroup,
    Setting,
    SettingForm,
    declare_setting,
    describe_setting,
)

if TYPE_CHECKING:
    from gitsync.model.unit import UnitEntry  # making its classes takes a tenth of the time of --help

_ID = r"[A-Za-z0-9][A-Za-z0-9.-]*"

# The commands that take a setting, by what they do.
_PLAN = frozenset({"plan"})
_SYNC = frozenset({"sync"})
_REVERT = frozenset({"revert"})  # a plan and a sync of what it names, which deletes and adopts nothing
_RUNS = _PLAN | _SYNC | _REVERT
_ACCEPT = frozenset({"accept"})
_REHEARSE = frozenset({"rehearse"})  # simulates a sync: takes what decides about it, and no identity
_LOOKS = frozenset({"audit", "unmanaged"})  # compare Azure with manifests and records, and reconcile nothing
_SET_UP = _RUNS | {"doctor"}  # doctor checks what a run would use
_MANIFESTS = _SET_UP | _REHEARSE | {"eval", "graph", "render", "shards", "validate"}
_ESTATE = _MANIFESTS | _ACCEPT | _LOOKS  # need to know all that git has
_SOURCE = _MANIFESTS | _LOOKS | {"describe", "status"}
_RECORDS = _SET_UP | _ACCEPT | _LOOKS | {"describe", "eval", "shards", "status"}
_AZURE = _SET_UP | _ACCEPT | _LOOKS | {"eval", "import"}
_PRINTING = _SOURCE | _ACCEPT | {"compare", "explain", "import"}
_REPORT = frozenset({"report"})  # reads and writes what workers have recorded, and no manifests
_EVERY_COMMAND = frozenset({"*"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """All settings of one run, checked. Durations are in seconds; a `None` means "not given".

    Source settings are read through `gitsync.settings.config.config_file`, which has what the source gives.
    """

    config_file: Path | None = None  # the file that the operator's settings were read from; not a setting

    # what is read
    source: str = declare_setting(
        ".", "A folder, or the URL of a git repository.", HelpGroup.READ, _SOURCE | _REPORT, metavar="SOURCE", flag=""
    )
    ref: str | None = declare_setting(
        None,
        "Branch, tag or commit to read. Default: the default branch.",
        HelpGroup.READ,
        _MANIFESTS | _LOOKS,
        metavar="REV",
    )
    path: str = declare_setting(
        ".", "Folder or file of the manifests in SOURCE.", HelpGroup.READ, _ESTATE, metavar="PATH"
    )
    only: tuple[str, ...] = declare_setting(
        (),
        "Only these resources: Kind/name, Kind.group/namespace/name, or a pattern with * and ?. An unambiguous "
        "name may be abbreviated.",
        HelpGroup.READ,
        _MANIFESTS - _REVERT | {"status"},
        form=SettingForm.LIST,
        metavar="KEY-OR-GLOB",
    )
    target_namespaces: tuple[str, ...] = declare_setting(
        (),
        "Only resources of these namespaces. Default: all.",
        HelpGroup.READ,
        _SOURCE | _ACCEPT,
        form=SettingForm.LIST,
        variables=("AZURE_TARGET_NAMESPACES",),
        metavar="NAMESPACE",
        short="-n",
    )
    variables: tuple[tuple[str, str], ...] = declare_setting(
        (),
        "Value of a variable in the manifests, ${NAME}. May be repeated.",
        HelpGroup.READ,
        _ESTATE,
        form=SettingForm.VARIABLES,
        metavar="NAME=VALUE",
        variables=(f"{VARIABLE_PREFIX}NAME",),
        flag="--set",
    )
    from_revision: str | None = declare_setting(
        None,
        "Compare with this revision, without reading Azure: a branch, tag or commit, or an expression such as main~2.",
        HelpGroup.READ,
        _PLAN | {"doctor"},
        flag="--from",
        metavar="REV",
    )
    to_revision: str | None = declare_setting(
        None,
        "With --from: the revision to compare. Default: the revision that a plan would read.",
        HelpGroup.READ,
        _PLAN | {"doctor"},
        flag="--to",
        metavar="REV",
    )
    shard: str | None = declare_setting(
        None,
        "Sync only the part of one worker, as `gitsync shards` lists them: 2/8 is the second of eight.",
        HelpGroup.READ,
        _SYNC,
        is_advanced=True,
        form=SettingForm.SHARD,
        metavar="NUMBER/WORKERS",
    )
    shards: int | None = declare_setting(
        None,
        "Number of workers in a Kubernetes Indexed Job. JOB_COMPLETION_INDEX is the index of this worker.",
        HelpGroup.READ,
        _SYNC,
        is_advanced=True,
        form=SettingForm.POSITIVE,
        flag="",
    )
    run_id: str | None = declare_setting(
        None,
        "Id that the workers of one run share, and no other run has: the id of the pipeline run or of the Job.",
        HelpGroup.READ,
        _SYNC | {"shards"} | _REPORT,
        is_advanced=True,
        metavar="ID",
    )
    namespace: str | None = declare_setting(
        "default",
        "Namespace of manifests without one. It is part of generated UUID names.",
        HelpGroup.READ,
        _ESTATE | {"import"},
        is_advanced=True,
        authority=Authority.SOURCE,
    )
    units: tuple[UnitEntry, ...] | None = declare_setting(
        (),
        "Units of the source: mappings of path, kind, substitute, variables, loadRestrictor, missingOwner, "
        "migrateVersions, capz, and of charts values, release, namespace, kubernetes, published.",
        HelpGroup.READ,
        frozenset(),
        is_advanced=True,
        form=SettingForm.UNITS,
        authority=Authority.SOURCE,
        flag="",
    )
    this_repository: tuple[str, ...] | None = declare_setting(
        (),
        "Flux sources that are this repository, although no file in it declares them: namespace/name of a "
        "GitRepository, or Kind/namespace/name.",
        HelpGroup.READ,
        frozenset(),
        is_advanced=True,
        form=SettingForm.LIST,
        authority=Authority.SOURCE,
        flag="",
    )
    known_from: tuple[str, ...] = declare_setting(
        (),
        "Status of other repositories whose resources manifests may use as owners and references: a URL or a folder, "
        "and #BRANCH if it is not gitsync/status. The records must be signed with the digest key.",
        HelpGroup.READ,
        _ESTATE,
        is_advanced=True,
        form=SettingForm.LIST,
        metavar="REPOSITORY[#BRANCH]",
    )
    trusted_keys: str | None = declare_setting(
        None,
        "Only apply commits that one of the keys in this file has signed: PGP public key blocks, ssh public keys, or "
        "lines of an allowed signers file.",
        HelpGroup.READ,
        _SET_UP,
        is_advanced=True,
        metavar="FILE",
    )
    unknown_fields: str | None = declare_setting(
        "error",
        "Unknown fields: an error, or a warning (the field is dropped, as by an API server).",
        HelpGroup.READ,
        _MANIFESTS | _ACCEPT,
        is_advanced=True,
        authority=Authority.SOURCE,
        choices=("error", "warn"),
    )
    default_policy: str = declare_setting(
        "manage",
        "Reconcile policy of resources that have none, nor their Namespace.",
        HelpGroup.READ,
        _MANIFESTS | _ACCEPT,
        is_advanced=True,
        choices=("manage", "skip", "detach-on-delete"),
        variables=("DEFAULT_RECONCILE_POLICY",),
        flag="--default-reconcile-policy",
    )
    allow_dirty: bool = declare_setting(
        False,
        "Allow sync from a dirty working tree.",
        HelpGroup.READ,
        _SYNC | _REVERT,
        is_advanced=True,
        form=SettingForm.SWITCH,
    )
    git_username: str = declare_setting(
        "x-access-token",
        "User name for git over HTTPS, used with the token.",
        HelpGroup.READ,
        _SOURCE | _ACCEPT | _REPORT,
        is_advanced=True,
    )
    git_token: Secret | None = declare_setting(  # noqa: RUF009 - a row of the table
        None,
        "Token for git over HTTPS.",
        HelpGroup.READ,
        _SOURCE | _ACCEPT | _REPORT,
        is_advanced=True,
        form=SettingForm.SECRET,
        flag="",
    )

    # what may change
    prune: bool = declare_setting(
        False,
        "Delete resources that were removed from git. A plan always shows them.",
        HelpGroup.CHANGE,
        (_SET_UP - _REVERT) | _REHEARSE,
        form=SettingForm.SWITCH,
    )
    plan_file: str | None = declare_setting(
        None,
        "Apply only this reviewed plan, which `gitsync plan --out` wrote.",
        HelpGroup.CHANGE,
        _SYNC,
        flag="--plan",
        metavar="FILE",
    )
    yes: bool = declare_setting(
        False,
        "Skip the confirmation on a terminal before the first sync of a target and before a revert.",
        HelpGroup.CHANGE,
        _SYNC | _REVERT,
        form=SettingForm.SWITCH,
    )
    checks: tuple[str, ...] = declare_setting(
        tuple(name.value for name in CheckName),
        "Checks of changes before they are made: these, or none.",
        HelpGroup.CHANGE,
        _SET_UP | _REHEARSE,
        form=SettingForm.LIST,
        choices=(*(name.value for name in CheckName), NO_CHECKS),
        metavar="CHECK",
    )
    who: str = declare_setting(
        Who.AUTO.value,
        "Show who changed or created a resource, as Azure reports it. auto: names of people, also in Azure's errors, "
        "are left out of comments, pull requests, commits, the status branch, and the output of a pipeline or a pod. "
        "names: they are left out of commits and the status branch only. off: Azure's change records are not read, "
        "and names are left out everywhere.",
        HelpGroup.CHANGE,
        _SET_UP | _ACCEPT | _LOOKS,
        choices=tuple(who.value for who in Who),
    )
    max_deletes: int | None = declare_setting(
        None,
        "Limit of deletes in one run. A run with more deletes is refused. "
        "Default: the smaller of 10 and a fifth of the inventory, at least 1; 0 for an empty source.",
        HelpGroup.CHANGE,
        (_RUNS - _REVERT) | _REHEARSE,
        form=SettingForm.COUNT,
    )
    release: tuple[str, ...] = declare_setting(
        (),
        "With --prune: delete this removed resource (Kind/name), even if a file that is not read may declare it. "
        "Forget it if Azure cannot delete it.",
        HelpGroup.CHANGE,
        _RUNS - _REVERT,
        form=SettingForm.LIST,
        metavar="KEY",
    )
    strict: bool = declare_setting(
        False,
        "Refuse the whole run if a manifest is invalid, before anything is touched.",
        HelpGroup.CHANGE,
        _SET_UP | _REHEARSE | {"validate"},
        form=SettingForm.SWITCH,
    )
    adopt: str = declare_setting(
        "write",
        "Resources that exist without a record: write the values in git, or report the differences only.",
        HelpGroup.CHANGE,
        (_RUNS - _REVERT) | _REHEARSE,
        is_advanced=True,
        choices=("write", "report"),
    )
    allow_rollback: bool = declare_setting(
        False,
        "Allow a revision that is older than the one that was applied last.",
        HelpGroup.CHANGE,
        _RUNS | _REHEARSE,
        is_advanced=True,
        form=SettingForm.SWITCH,
    )
    register_providers: bool = declare_setting(
        True,
        "Register a resource provider that the subscription lacks.",
        HelpGroup.CHANGE,
        _SYNC | _REVERT | {"doctor"},
        is_advanced=True,
        form=SettingForm.SWITCH,
    )
    always_put: bool = declare_setting(
        False,
        "Send a PUT for every resource, changed or not, as Azure Service Operator does.",
        HelpGroup.CHANGE,
        (_RUNS - _REVERT) | _REHEARSE,
        is_advanced=True,
        form=SettingForm.SWITCH,
    )
    reads: str = declare_setting(
        "list",
        "How resources are read: all of one type with a list, if that takes fewer requests, or each by itself.",
        HelpGroup.CHANGE,
        _RUNS | _ACCEPT,
        is_advanced=True,
        choices=("list", "each"),
    )
    flap_limit: int = declare_setting(
        3,
        "Number of consecutive writes without a change in git that may be reset before a resource is reported as "
        "flapping and paused. 0: no limit.",
        HelpGroup.CHANGE,
        _RUNS | _REHEARSE,
        is_advanced=True,
        form=SettingForm.COUNT,
    )

    # output
    output: str = declare_setting(
        "text", "Format of the output on stdout.", HelpGroup.OUTPUT, _PRINTING | _REPORT, metavar="FORMAT", short="-o"
    )
    plan_out: str | None = declare_setting(
        None,
        "Write the plan to this file, for review and for `gitsync sync --plan`.",
        HelpGroup.OUTPUT,
        _PLAN,
        flag="--out",
        metavar="FILE",
    )
    report_dir: str | None = declare_setting(
        None,
        "Also write the report to this folder, in every format.",
        HelpGroup.OUTPUT,
        _RUNS | _REHEARSE | {"validate"} | _REPORT,
        flag="--report",
        metavar="FOLDER",
    )
    detailed_exitcode: bool = declare_setting(
        False,
        "Exit with 4 if a plan finds drift, and with 3 if it finds pending changes.",
        HelpGroup.OUTPUT,
        _PLAN,
        form=SettingForm.SWITCH,
    )
    fail_on: tuple[str, ...] = declare_setting(
        (),
        "Exit with 1 if a resource has one of these verdicts; drift means drifted, missing and conflict.",
        HelpGroup.OUTPUT,
        _RUNS,
        form=SettingForm.LIST,
        choices=(DRIFT_WORD, *(verdict.value for verdict in Verdict)),
        metavar="VERDICT",
    )
    metrics: str | None = declare_setting(
        None,
        "Write metrics of the run to this file, in OpenMetrics, for a textfile collector.",
        HelpGroup.OUTPUT,
        _RUNS | _LOOKS,
        is_advanced=True,
        metavar="FILE",
    )
    color: str = declare_setting(
        "auto",
        "auto: colours on a terminal only.",
        HelpGroup.OUTPUT,
        _EVERY_COMMAND,
        is_advanced=True,
        choices=("auto", "always", "never"),
        switches={"NO_COLOR": "never"},
    )
    log_level: str = declare_setting(
        "auto",
        "Minimum level of log lines. auto: warning on a terminal and in a pipeline, where the report has the rest; "
        "info otherwise.",
        HelpGroup.OUTPUT,
        _EVERY_COMMAND,
        is_advanced=True,
        choices=("auto", "debug", "info", "warning", "error"),
    )
    log_format: str = declare_setting(
        "auto",
        "auto: text on a terminal and in a pipeline (CI is set, for example), JSON lines otherwise.",
        HelpGroup.OUTPUT,
        _EVERY_COMMAND,
        is_advanced=True,
        choices=("auto", "text", "json"),
    )

    # Azure and the identity
    subscription: str | None = declare_setting(
        None,
        "Subscription id (a UUID) of resources whose manifests contain no ARM id.",
        HelpGroup.AZURE,
        _ESTATE | {"import"},
        form=SettingForm.UUID,
        variables=("AZURE_SUBSCRIPTION_ID",),
    )
    credential: str = declare_setting(
        "default",
        "How to get a token. anonymous sends none, and only to this machine.",
        HelpGroup.AZURE,
        _AZURE,
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
    emulator: str | None = declare_setting(
        None,
        "Run against the emulator, in this process: in memory, or with its state in an SQLite FILE.",
        HelpGroup.AZURE,
        _AZURE,
        form=SettingForm.FILE_OR_ON,
        metavar="FILE",
    )
    tenant_id: str | None = declare_setting(
        None,
        "Tenant of the identity.",
        HelpGroup.AZURE,
        _AZURE,
        is_advanced=True,
        variables=("AZURE_TENANT_ID",),
        pattern=_ID,
    )
    client_id: str | None = declare_setting(
        None,
        "Client id of the identity.",
        HelpGroup.AZURE,
        _AZURE,
        is_advanced=True,
        variables=("AZURE_CLIENT_ID",),
        pattern=_ID,
    )
    client_secret: Secret | None = declare_setting(  # noqa: RUF009 - a row of the table
        None,
        "Secret of the identity, for --credential client-secret.",
        HelpGroup.AZURE,
        _AZURE,
        is_advanced=True,
        form=SettingForm.SECRET,
        variables=("AZURE_CLIENT_SECRET",),
        flag="",
    )
    client_certificate: Secret | None = declare_setting(  # noqa: RUF009 - a row of the table
        None,
        "Certificate of the identity with its key, for --credential client-certificate: PEM, or PKCS#12 in base64.",
        HelpGroup.AZURE,
        _AZURE,
        is_advanced=True,
        form=SettingForm.SECRET,
        variables=("AZURE_CLIENT_CERTIFICATE",),
        flag="",
    )
    client_certificate_path: str | None = declare_setting(
        None,
        "The same certificate, as a file.",
        HelpGroup.AZURE,
        _AZURE,
        is_advanced=True,
        variables=("AZURE_CLIENT_CERTIFICATE_PATH",),
        metavar="FILE",
    )
    client_certificate_password: Secret | None = declare_setting(  # noqa: RUF009 - a row of the table
        None,
        "Password of the certificate.",
        HelpGroup.AZURE,
        _AZURE,
        is_advanced=True,
        form=SettingForm.SECRET,
        variables=("AZURE_CLIENT_CERTIFICATE_PASSWORD",),
        flag="",
    )
    identity_file: str | None = declare_setting(
        None,
        "Credentials file of a user-assigned identity, for --credential identity-file.",
        HelpGroup.AZURE,
        _AZURE,
        is_advanced=True,
        variables=("AZURE_USER_ASSIGNED_IDENTITY_CREDENTIALS",),
        metavar="FILE",
    )
    identity_folder: str | None = declare_setting(
        None,
        "The only folder whose files credential Secrets may name.",
        HelpGroup.AZURE,
        _AZURE,
        is_advanced=True,
        metavar="FOLDER",
    )
    federated_token_file: str | None = declare_setting(
        None,
        "File with the federated token, for --credential workload-identity. It is read again when it changes.",
        HelpGroup.AZURE,
        _AZURE,
        is_advanced=True,
        variables=("AZURE_FEDERATED_TOKEN_FILE",),
        metavar="FILE",
    )
    additional_tenants: tuple[str, ...] = declare_setting(
        (),
        "Additional tenants to get tokens for.",
        HelpGroup.AZURE,
        _AZURE,
        is_advanced=True,
        form=SettingForm.LIST,
        variables=("AZURE_ADDITIONAL_TENANTS",),
    )
    endpoint: str = declare_setting(
        "https://management.azure.com",
        "Endpoint of Azure Resource Manager. Plain http only to this machine.",
        HelpGroup.AZURE,
        _AZURE | {"render"},
        is_advanced=True,
        form=SettingForm.URL,
        variables=("AZURE_RESOURCE_MANAGER_ENDPOINT",),
    )
    audience: str | None = declare_setting(
        None,
        "Audience of tokens. Default: that of the endpoint, if it is one of a known cloud.",
        HelpGroup.AZURE,
        _AZURE,
        is_advanced=True,
        variables=("AZURE_RESOURCE_MANAGER_AUDIENCE",),
    )
    authority: str | None = declare_setting(
        None,
        "Host that issues tokens. Default: that of the endpoint, if it is one of a known cloud.",
        HelpGroup.AZURE,
        _AZURE,
        is_advanced=True,
        form=SettingForm.URL,
        variables=("AZURE_AUTHORITY_HOST",),
    )
    allow_multi_env_management: bool = declare_setting(
        False,
        "Allow credential Secrets to name another Azure cloud: then tokens are sent there.",
        HelpGroup.AZURE,
        _AZURE,
        is_advanced=True,
        form=SettingForm.SWITCH,
        variables=("ALLOW_MULTI_ENV_MANAGEMENT",),
    )
    user_agent_suffix: str | None = declare_setting(
        None,
        "Added to the User-Agent of every request.",
        HelpGroup.AZURE,
        _AZURE,
        is_advanced=True,
        variables=("AZURE_USER_AGENT_SUFFIX",),
    )
    ca_bundle: str | None = declare_setting(
        None,
        "Certificates (PEM) to trust instead of the system's.",
        HelpGroup.AZURE,
        _AZURE,
        is_advanced=True,
        variables=("GITSYNC_CA_BUNDLE", "REQUESTS_CA_BUNDLE"),
        metavar="FILE",
    )
    database_servers: tuple[str, ...] = declare_setting(
        (),
        "Servers on this machine that replace Azure's servers in tests, such as "
        "postgresql=localhost:5433,mysql=localhost:3307.",
        HelpGroup.AZURE,
        _RUNS,
        is_advanced=True,
        form=SettingForm.LIST,
        metavar="SERVICE=HOST:PORT",
    )
    emulator_script: str | None = declare_setting(
        None, "Faults that the emulator injects.", HelpGroup.AZURE, _AZURE | _REHEARSE, is_advanced=True, metavar="FILE"
    )

    # Secrets and ConfigMaps
    secret_sources: tuple[str, ...] = declare_setting(
        ("manifests", "environment"),
        "Sources of the Secrets and config maps that manifests reference, in this order, after what the run "
        "itself exports.",
        HelpGroup.SECRETS,
        _SET_UP | _ACCEPT | _REHEARSE | {"validate"},
        form=SettingForm.LIST,
        choices=("manifests", "folder", "environment", "key-vault", "kubernetes"),
        metavar="SOURCE",
    )
    export_to: tuple[str, ...] = declare_setting(
        ("status",),
        "Sinks of the Secrets and config maps that resources export, in addition to the memory of the run. "
        "status takes config maps only, and writes them next to the status.",
        HelpGroup.SECRETS,
        _SET_UP | _REHEARSE,
        form=SettingForm.LIST,
        choices=("status", "folder", "key-vault", "kubernetes", "sops", "dotenv", "ci"),
        metavar="SINK",
    )
    key_vault: str | None = declare_setting(
        None,
        "Key Vault of the source and the sink `key-vault`: its https address.",
        HelpGroup.SECRETS,
        _SET_UP | _ACCEPT | _REHEARSE,
        form=SettingForm.URL,
    )
    secrets_folder: str | None = declare_setting(
        None,
        "Folder of the source `folder`: one folder per Secret, one file per key.",
        HelpGroup.SECRETS,
        _SET_UP | _ACCEPT | _REHEARSE | {"validate"},
        is_advanced=True,
        metavar="FOLDER",
    )
    config_maps_folder: str | None = declare_setting(
        None,
        "The same for ConfigMaps.",
        HelpGroup.SECRETS,
        _SET_UP | _ACCEPT | _REHEARSE | {"validate"},
        is_advanced=True,
        metavar="FOLDER",
    )
    plan_secrets: bool = declare_setting(
        False,
        "Let a plan read Secrets from Key Vault and the cluster as a sync does, including those of credentials. "
        "The plan shows and stores no values, only that a value changed.",
        HelpGroup.SECRETS,
        _PLAN | _ACCEPT,
        is_advanced=True,
        form=SettingForm.SWITCH,
    )
    export_folder: str | None = declare_setting(
        None,
        "Folder of the sink `folder`; no other user may have access to it.",
        HelpGroup.SECRETS,
        _SET_UP,
        is_advanced=True,
        metavar="FOLDER",
    )
    export_sops_folder: str | None = declare_setting(
        None,
        "Folder of the sink `sops`: one encrypted manifest per Secret.",
        HelpGroup.SECRETS,
        _SET_UP,
        is_advanced=True,
        metavar="FOLDER",
    )
    export_dotenv: str | None = declare_setting(
        None, "File of the sink `dotenv`.", HelpGroup.SECRETS, _SET_UP, is_advanced=True, metavar="FILE"
    )

    # status and records
    status_branch: str | None = declare_setting(
        None,
        "Branch for status and state. Default: gitsync/status if SOURCE has a remote.",
        HelpGroup.STATUS,
        _RECORDS | _REHEARSE | _REPORT,
        metavar="BRANCH",
    )
    status_dir: str | None = declare_setting(
        None,
        "Folder for status and state instead. Default: .gitsync in a folder without a remote.",
        HelpGroup.STATUS,
        _SOURCE | _ACCEPT,
        metavar="FOLDER",
    )
    notify: Secret | None = declare_setting(  # noqa: RUF009 - a row of the table
        None,
        "Addresses that get a message when the state of the estate changes, such as slack://…, separated by blanks.",
        HelpGroup.STATUS,
        _SYNC | {"doctor"} | _REPORT,
        form=SettingForm.SECRET,
        flag="",
    )
    agent: str | None = declare_setting(
        None,
        "Name of this agent. Resources recorded for another agent are skipped. Default: gitsync.",
        HelpGroup.STATUS,
        _RECORDS | _REHEARSE | _REPORT,
        is_advanced=True,
    )
    heartbeat: bool = declare_setting(
        False,
        "After a run that succeeds, move the branch STATUS-BRANCH-heartbeat/AGENT to a new commit. `gitsync status` "
        "then shows the age of the last success.",
        HelpGroup.STATUS,
        _SYNC | _REPORT,
        is_advanced=True,
        form=SettingForm.SWITCH,
    )
    notify_file: str | None = declare_setting(
        None,
        "File with such addresses, one per line.",
        HelpGroup.STATUS,
        _SYNC | {"doctor"} | _REPORT,
        is_advanced=True,
        metavar="FILE",
    )
    digest_key: Secret | None = declare_setting(  # noqa: RUF009 - a row of the table
        None,
        "Key that signs records, and of the digests that replace secrets in records and plans: 32 random characters "
        "or more.",
        HelpGroup.STATUS,
        _RECORDS | _REPORT,
        is_advanced=True,
        form=SettingForm.SECRET,
        pattern=".{32,}",
        flag="",
    )
    previous_digest_key: Secret | None = declare_setting(  # noqa: RUF009 - a row of the table
        None,
        "The previous key, while keys are rotated: records that it signed are accepted, and signed again.",
        HelpGroup.STATUS,
        _RECORDS | _REPORT,
        is_advanced=True,
        form=SettingForm.SECRET,
        pattern=".{32,}",
        flag="",
    )

    # limits
    run_timeout: float = declare_setting(
        3000.0,
        "Timeout of the whole run.",
        HelpGroup.LIMITS,
        (_AZURE - {"doctor"}) | _REHEARSE,
        is_advanced=True,
        form=SettingForm.DURATION,
    )
    resource_timeout: float = declare_setting(
        1800.0,
        "Timeout of one resource.",
        HelpGroup.LIMITS,
        _AZURE - _LOOKS - {"doctor"},
        is_advanced=True,
        form=SettingForm.DURATION,
    )
    git_timeout: float = declare_setting(
        300.0,
        "Timeout of one git command.",
        HelpGroup.LIMITS,
        _SOURCE | _ACCEPT | _REPORT,
        is_advanced=True,
        form=SettingForm.DURATION,
    )
    concurrency: int = declare_setting(
        20,
        "Maximum number of concurrent requests.",
        HelpGroup.LIMITS,
        _AZURE,
        is_advanced=True,
        form=SettingForm.POSITIVE,
    )
    request_share: float = declare_setting(
        1.0,
        "Share of Azure's request limits to use, such as 0.5; the rest is left to others.",
        HelpGroup.LIMITS,
        _AZURE,
        is_advanced=True,
        form=SettingForm.SHARE,
    )


SETTINGS: Mapping[str, Setting] = {f.name: describe_setting(f.name, f.metadata) for f in fields(Config) if f.metadata}
"""Every setting by the name of its field, in the order in which people are shown them."""

EVERYWHERE = tuple(name for name, setting in SETTINGS.items() if setting.commands == _EVERY_COMMAND)
"""Settings that every command takes as flags."""


def list_settings(command: str) -> tuple[str, ...]:
    """The settings that a command takes, in addition to those of every command."""
    return tuple(name for name, setting in SETTINGS.items() if command in setting.commands)
