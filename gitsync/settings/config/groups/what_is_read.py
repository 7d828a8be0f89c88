"""The settings under "what is read": the source, its revision, its variables, and which of its resources count."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from gitsync.model.secret import Secret
from gitsync.settings.config.command_sets import (
    ACCEPT,
    ESTATE,
    LOOKS,
    MANIFESTS,
    NAMED,
    PLAN,
    REPORT,
    REVERT,
    SET_UP,
    SITE,
    SOURCE,
    SYNC,
)
from gitsync.settings.config.setting import (
    VARIABLE_PREFIX,
    Authority,
    HelpGroup,
    SettingForm,
    declare_setting,
    setting_group,
)

if TYPE_CHECKING:
    from gitsync.model.unit import UnitEntry  # making its classes takes a tenth of the time of --help
    from gitsync.model.written_rules import RuleEntry

_declare = partial(declare_setting, HelpGroup.READ)


@setting_group
class ReadSettings:
    """What a run reads."""

    source: str = _declare(".", "A folder, or the URL of a git repository.", SOURCE | REPORT, metavar="SOURCE", flag="")
    ref: str | None = _declare(
        None, "Branch, tag or commit to read. Default: the default branch.", MANIFESTS | LOOKS, metavar="REV"
    )
    path: str = _declare(".", "Folder or file of the manifests in SOURCE.", ESTATE | SITE, metavar="PATH")
    only: tuple[str, ...] = _declare(
        (),
        "Only these resources: Kind/name, Kind.group/namespace/name, or a pattern with * and ?. An unambiguous "
        "name may be abbreviated.",
        (MANIFESTS - NAMED) | {"status"},
        form=SettingForm.LIST,
        metavar="KEY-OR-GLOB",
    )
    target_namespaces: tuple[str, ...] = _declare(
        (),
        "Only resources of these namespaces. Default: all.",
        SOURCE | ACCEPT,
        form=SettingForm.LIST,
        variables=("AZURE_TARGET_NAMESPACES",),
        metavar="NAMESPACE",
        short="-n",
    )
    variables: tuple[tuple[str, str], ...] = _declare(
        (),
        "Value of a variable in the manifests, ${NAME}. May be repeated.",
        ESTATE | SITE,
        form=SettingForm.VARIABLES,
        metavar="NAME=VALUE",
        variables=(f"{VARIABLE_PREFIX}NAME",),
        flag="--set",
    )
    from_revision: str | None = _declare(
        None,
        "Compare with this revision, without reading Azure: a branch, tag or commit, or an expression such as main~2.",
        PLAN | {"doctor"},
        flag="--from",
        metavar="REV",
    )
    to_revision: str | None = _declare(
        None,
        "With --from: the revision to compare. Default: the revision that a plan would read.",
        PLAN | {"doctor"},
        flag="--to",
        metavar="REV",
    )
    aso: str | None = _declare(
        "",
        "Warn of what Azure Service Operator does not read: the kind AzureResource, gitsync/api-version, gitsync/body, "
        "default tags; and of versions that a release of it, such as 2.20, does not serve.",
        frozenset({"validate"}),
        form=SettingForm.RELEASE,
        authority=Authority.SOURCE,
    )
    shard: str | None = _declare(
        None,
        "Sync only the part of one worker, as `gitsync shards` lists them: 2/8 is the second of eight.",
        SYNC,
        is_advanced=True,
        form=SettingForm.SHARD,
        metavar="NUMBER/WORKERS",
    )
    shards: int | None = _declare(
        None,
        "Number of workers in a Kubernetes Indexed Job. JOB_COMPLETION_INDEX is the index of this worker.",
        SYNC,
        is_advanced=True,
        form=SettingForm.POSITIVE,
        flag="",
    )
    run_id: str | None = _declare(
        None,
        "Id that the workers of one run share, and no other run has: the id of the pipeline run or of the Job.",
        SYNC | {"shards"} | REPORT,
        is_advanced=True,
        metavar="ID",
    )
    namespace: str | None = _declare(
        "default",
        "Namespace of manifests without one. It is part of generated UUID names.",
        ESTATE | SITE | {"import"},
        is_advanced=True,
        authority=Authority.SOURCE,
    )
    units: tuple[UnitEntry, ...] | None = _declare(
        (),
        "Units of the source: mappings of path, kind, substitute, variables, loadRestrictor, missingOwner, "
        "migrateVersions, capz, and of charts values, release, namespace, kubernetes, published.",
        frozenset(),
        is_advanced=True,
        form=SettingForm.UNITS,
        authority=Authority.SOURCE,
        flag="",
    )
    this_repository: tuple[str, ...] | None = _declare(
        (),
        "Flux sources that are this repository, although no file in it declares them: namespace/name of a "
        "GitRepository, or Kind/namespace/name.",
        frozenset(),
        is_advanced=True,
        form=SettingForm.LIST,
        authority=Authority.SOURCE,
        flag="",
    )
    ignore: tuple[RuleEntry, ...] | None = _declare(
        (),
        "Fields that gitsync ignores in many resources: paths, or mappings of path or tags, kind, namespace, until and "
        "reason.",
        frozenset(),
        is_advanced=True,
        form=SettingForm.IGNORE,
        authority=Authority.SOURCE,
        flag="",
    )
    tags: tuple[RuleEntry, ...] | None = _declare(
        (),
        "Default tags: values by name, for every resource that can have tags and does not set them.",
        frozenset(),
        is_advanced=True,
        form=SettingForm.TAGS,
        authority=Authority.SOURCE,
        flag="",
    )
    known_from: tuple[str, ...] = _declare(
        (),
        "Status of other repositories whose resources manifests may use as owners and references: a URL or a folder, "
        "and #BRANCH if it is not gitsync/status. The records must be signed with the digest key.",
        ESTATE | SITE,
        is_advanced=True,
        form=SettingForm.LIST,
        metavar="REPOSITORY[#BRANCH]",
    )
    trusted_keys: str | None = _declare(
        None,
        "Only apply commits that one of the keys in this file has signed: PGP public key blocks, ssh public keys, or "
        "lines of an allowed signers file.",
        SET_UP,
        is_advanced=True,
        metavar="FILE",
    )
    unknown_fields: str | None = _declare(
        "error",
        "Unknown fields: an error, or a warning (the field is dropped, as by an API server).",
        MANIFESTS | ACCEPT,
        is_advanced=True,
        authority=Authority.SOURCE,
        choices=("error", "warn"),
    )
    default_policy: str = _declare(
        "manage",
        "Reconcile policy of resources that have none, nor their Namespace.",
        MANIFESTS | ACCEPT,
        is_advanced=True,
        choices=("manage", "skip", "detach-on-delete"),
        variables=("DEFAULT_RECONCILE_POLICY",),
        flag="--default-reconcile-policy",
    )
    allow_dirty: bool = _declare(
        False, "Allow sync from a dirty working tree.", SYNC | REVERT, is_advanced=True, form=SettingForm.SWITCH
    )
    git_username: str = _declare(
        "x-access-token",
        "User name for git over HTTPS, used with the token.",
        SOURCE | ACCEPT | REPORT | SITE,
        is_advanced=True,
    )
    git_token: Secret | None = _declare(
        None,
        "Token for git over HTTPS.",
        SOURCE | ACCEPT | REPORT | SITE,
        is_advanced=True,
        form=SettingForm.SECRET,
        flag="",
    )
