"""The settings under "limits": timeouts, and how many requests may be sent."""

from __future__ import annotations

from functools import partial

from gitsync.settings.config.command_sets import ACCEPT, AZURE, LOOKS, REHEARSE, REPORT, SITE, SOURCE
from gitsync.settings.config.setting import HelpGroup, SettingForm, declare_setting, setting_group

_declare = partial(declare_setting, HelpGroup.LIMITS)


@setting_group
class LimitSettings:
    """How long a run may take, and how many requests it may send."""

    run_timeout: float = _declare(
        3000.0,
        "Timeout of the whole run.",
        (AZURE - {"doctor"}) | REHEARSE,
        is_advanced=True,
        form=SettingForm.DURATION,
    )
    resource_timeout: float = _declare(
        1800.0, "Timeout of one resource.", AZURE - LOOKS - {"doctor"}, is_advanced=True, form=SettingForm.DURATION
    )
    git_timeout: float = _declare(
        300.0,
        "Timeout of one git command.",
        SOURCE | ACCEPT | REPORT | SITE,
        is_advanced=True,
        form=SettingForm.DURATION,
    )
    concurrency: int = _declare(
        20, "Maximum number of concurrent requests.", AZURE, is_advanced=True, form=SettingForm.POSITIVE
    )
    request_share: float = _declare(
        1.0,
        "Share of Azure's request limits to use, such as 0.5; the rest is left to others.",
        AZURE,
        is_advanced=True,
        form=SettingForm.SHARE,
    )
