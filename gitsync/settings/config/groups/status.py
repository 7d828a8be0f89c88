"""The settings under "status and records": where they are, which keys sign them, and where messages go."""

from __future__ import annotations

from functools import partial

from gitsync.model.secret import Secret
from gitsync.settings.config.command_sets import ACCEPT, RECORDS, REHEARSE, REPORT, SITE, SOURCE, SYNC
from gitsync.settings.config.setting import HelpGroup, SettingForm, declare_setting, setting_group

_declare = partial(declare_setting, HelpGroup.STATUS)


@setting_group
class StatusSettings:
    """Where a run records what it did."""

    status_branch: str | None = _declare(
        None,
        "Branch for status and state. Default: gitsync/status if SOURCE has a remote.",
        RECORDS | REHEARSE | REPORT,
        metavar="BRANCH",
    )
    status_dir: str | None = _declare(
        None,
        "Folder for status and state instead. Default: .gitsync in a folder without a remote.",
        SOURCE | ACCEPT | SITE,
        metavar="FOLDER",
    )
    notify: Secret | None = _declare(
        None,
        "Addresses that get a message when the state of the estate changes, such as slack://…, separated by blanks.",
        SYNC | {"doctor"} | REPORT,
        form=SettingForm.SECRET,
        flag="",
    )
    agent: str | None = _declare(
        None,
        "Name of this agent. Resources recorded for another agent are skipped. Default: gitsync.",
        RECORDS | REHEARSE | REPORT,
        is_advanced=True,
    )
    heartbeat: bool = _declare(
        False,
        "After a run that succeeds, move the branch STATUS-BRANCH-heartbeat/AGENT to a new commit. `gitsync status` "
        "then shows the age of the last success.",
        SYNC | REPORT,
        is_advanced=True,
        form=SettingForm.SWITCH,
    )
    notify_file: str | None = _declare(
        None, "File with such addresses, one per line.", SYNC | {"doctor"} | REPORT, is_advanced=True, metavar="FILE"
    )
    digest_key: Secret | None = _declare(
        None,
        "Key that signs records, and of the digests that replace secrets in records and plans: 32 random characters "
        "or more.",
        RECORDS | REPORT,
        is_advanced=True,
        form=SettingForm.SECRET,
        pattern=".{32,}",
        flag="",
    )
    previous_digest_key: Secret | None = _declare(
        None,
        "The previous key, while keys are rotated: records that it signed are accepted, and signed again.",
        RECORDS | REPORT,
        is_advanced=True,
        form=SettingForm.SECRET,
        pattern=".{32,}",
        flag="",
    )
