"""The settings under "output": reports and their formats, exit codes, metrics and log lines."""

from __future__ import annotations

from functools import partial

from gitsync.model.verdict import DRIFT_WORD, OUTSIDE_WORD, Verdict
from gitsync.settings.config.command_sets import EVERY_COMMAND, LOOKS, PLAN, PRINTING, REHEARSE, REPORT, RUNS
from gitsync.settings.config.setting import HelpGroup, SettingForm, declare_setting, setting_group

_declare = partial(declare_setting, HelpGroup.OUTPUT)


@setting_group
class OutputSettings:
    """What a command prints and writes."""

    output: str = _declare("text", "Format of the output on stdout.", PRINTING | REPORT, metavar="FORMAT", short="-o")
    plan_out: str | None = _declare(
        None,
        "Write the plan to this file, for review and for `gitsync sync --plan`.",
        PLAN,
        flag="--out",
        metavar="FILE",
    )
    report_dir: str | None = _declare(
        None,
        "Also write the report to this folder, in every format.",
        RUNS | REHEARSE | {"validate"} | REPORT,
        flag="--report",
        metavar="FOLDER",
    )
    detailed_exitcode: bool = _declare(
        False,
        "Exit with 4 if a plan finds drift, and with 3 if it finds pending changes.",
        PLAN,
        form=SettingForm.SWITCH,
    )
    fail_on: tuple[str, ...] = _declare(
        (),
        "Exit with 1 for one of these; drift means drifted, missing and conflict, outside a change outside of git.",
        RUNS,
        form=SettingForm.LIST,
        choices=(DRIFT_WORD, OUTSIDE_WORD, *(verdict.value for verdict in Verdict)),
        metavar="VERDICT",
    )
    metrics: str | None = _declare(
        None,
        "Write metrics of the run to this file, in OpenMetrics, for a textfile collector.",
        RUNS | LOOKS,
        is_advanced=True,
        metavar="FILE",
    )
    color: str = _declare(
        "auto",
        "auto: colours on a terminal only.",
        EVERY_COMMAND,
        is_advanced=True,
        choices=("auto", "always", "never"),
        switches={"NO_COLOR": "never"},
    )
    log_level: str = _declare(
        "auto",
        "Minimum level of log lines. auto: warning on a terminal and in a pipeline, where the report has the rest; "
        "info otherwise.",
        EVERY_COMMAND,
        is_advanced=True,
        choices=("auto", "debug", "info", "warning", "error"),
    )
    log_format: str = _declare(
        "auto",
        "auto: text on a terminal and in a pipeline (CI is set, for example), JSON lines otherwise.",
        EVERY_COMMAND,
        is_advanced=True,
        choices=("auto", "text", "json"),
    )
