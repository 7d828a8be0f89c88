"""The settings under "what may change": deletes, adoption, checks, confirmation and their limits."""

from __future__ import annotations

from functools import partial

from gitsync.model.attribution import Who
from gitsync.model.check import NO_CHECKS, CheckName
from gitsync.settings.config.command_sets import ACCEPT, KEEPS, LOOKS, NAMED, REHEARSE, REVERT, RUNS, SET_UP, SYNC
from gitsync.settings.config.setting import HelpGroup, SettingForm, declare_setting, setting_group

_declare = partial(declare_setting, HelpGroup.CHANGE)


@setting_group
class ChangeSettings:
    """What a run may change."""

    prune: bool = _declare(
        False,
        "Delete resources that were removed from git. A plan always shows them.",
        (SET_UP - REVERT) | REHEARSE,
        form=SettingForm.SWITCH,
    )
    plan_file: str | None = _declare(
        None, "Apply only this reviewed plan, which `gitsync plan --out` wrote.", SYNC, flag="--plan", metavar="FILE"
    )
    yes: bool = _declare(
        False,
        "Skip the confirmation on a terminal before the first sync of a target, a revert and an acknowledgement.",
        SYNC | NAMED,
        form=SettingForm.SWITCH,
    )
    checks: tuple[str, ...] = _declare(
        tuple(name.value for name in CheckName),
        "Checks of changes before they are made: these, or none.",
        SET_UP | REHEARSE,
        form=SettingForm.LIST,
        choices=(*(name.value for name in CheckName), NO_CHECKS),
        metavar="CHECK",
    )
    who: str = _declare(
        Who.AUTO.value,
        "Show who changed or created a resource, as Azure reports it. auto: names of people, also in Azure's errors, "
        "are left out of comments, pull requests, commits, the status branch, and the output of a pipeline or a pod. "
        "names: they are left out of commits and the status branch only. off: Azure's change records are not read, "
        "and names are left out everywhere.",
        SET_UP | KEEPS | LOOKS,
        choices=tuple(who.value for who in Who),
    )
    max_deletes: int | None = _declare(
        None,
        "Limit of deletes in one run. A run with more deletes is refused. "
        "Default: the smaller of 10 and a fifth of the inventory, at least 1; 0 for an empty source.",
        (RUNS - REVERT) | REHEARSE,
        form=SettingForm.COUNT,
    )
    release: tuple[str, ...] = _declare(
        (),
        "With --prune: delete this removed resource (Kind/name), even if a file that is not read may declare it. "
        "Forget it if Azure cannot delete it.",
        RUNS - REVERT,
        form=SettingForm.LIST,
        metavar="KEY",
    )
    strict: bool = _declare(
        False,
        "Refuse the whole run if a manifest is invalid, before anything is touched.",
        SET_UP | REHEARSE | {"validate"},
        form=SettingForm.SWITCH,
    )
    adopt: str = _declare(
        "write",
        "Resources that exist without a record: write the values in git, or report the differences only.",
        (RUNS - REVERT) | REHEARSE,
        is_advanced=True,
        choices=("write", "report"),
    )
    allow_rollback: bool = _declare(
        False,
        "Allow a revision that is older than the one that was applied last.",
        RUNS | REHEARSE,
        is_advanced=True,
        form=SettingForm.SWITCH,
    )
    register_providers: bool = _declare(
        True,
        "Register a resource provider that the subscription lacks.",
        SYNC | REVERT | {"doctor"},
        is_advanced=True,
        form=SettingForm.SWITCH,
    )
    always_put: bool = _declare(
        False,
        "Send a PUT for every resource, changed or not, as Azure Service Operator does.",
        (RUNS - REVERT) | REHEARSE,
        is_advanced=True,
        form=SettingForm.SWITCH,
    )
    reads: str = _declare(
        "list",
        "How resources are read: all of one type with a list, if that takes fewer requests, or each by itself.",
        RUNS | ACCEPT,
        is_advanced=True,
        choices=("list", "each"),
    )
    flap_limit: int = _declare(
        3,
        "Number of consecutive writes without a change in git that may be reset before a resource is reported as "
        "flapping and paused. 0: no limit.",
        RUNS | REHEARSE,
        is_advanced=True,
        form=SettingForm.COUNT,
    )
