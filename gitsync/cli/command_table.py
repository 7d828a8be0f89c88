"""The table of commands. It names their modules, and imports none: only the chosen command is imported."""

from __future__ import annotations

from enum import StrEnum
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple, cast

if TYPE_CHECKING:
    from gitsync.cli.command import Command


class CommandGroup(StrEnum):
    """What the help lists commands by, in its order."""

    RUN = "reconcile"
    MANIFESTS = "look at manifests"
    RECORDS = "look at what was recorded"
    AZURE = "look at Azure"
    SET_UP = "set up and try"


class CommandEntry(NamedTuple):
    module: str
    summary: str
    group: CommandGroup


COMMANDS = {
    "sync": CommandEntry("gitsync.cli.sync", "Reconcile Azure with git, and write the status back.", CommandGroup.RUN),
    "plan": CommandEntry("gitsync.cli.plan", "Show what a sync would do, and write nothing.", CommandGroup.RUN),
    "rehearse": CommandEntry(
        "gitsync.cli.rehearse", "Simulate the sync and the next one in the emulator. Offline.", CommandGroup.RUN
    ),
    "accept": CommandEntry(
        "gitsync.cli.drift.accept", "Accept drift: edit the manifests to match Azure.", CommandGroup.RUN
    ),
    "revert": CommandEntry(
        "gitsync.cli.drift.revert", "Write the values in git over drift in Azure.", CommandGroup.RUN
    ),
    "acknowledge": CommandEntry(
        "gitsync.cli.drift.acknowledge", "Record changes outside of git as the values to expect.", CommandGroup.RUN
    ),
    "comment": CommandEntry(
        "gitsync.cli.comment",
        "Post a report on the pull request of this pipeline.",
        CommandGroup.RUN,
    ),
    "report": CommandEntry(
        "gitsync.cli.report",
        "Combine the reports of a run's workers, and record the result.",
        CommandGroup.RUN,
    ),
    "validate": CommandEntry(
        "gitsync.cli.validate",
        "Show every problem in the manifests. Offline.",
        CommandGroup.MANIFESTS,
    ),
    "render": CommandEntry(
        "gitsync.cli.render",
        "Show the requests that the manifests produce. Offline.",
        CommandGroup.MANIFESTS,
    ),
    "graph": CommandEntry("gitsync.cli.graph", "Draw owners and references. Offline.", CommandGroup.MANIFESTS),
    "shards": CommandEntry(
        "gitsync.cli.shards",
        "Show how workers would share a run, or a pipeline matrix. Offline.",
        CommandGroup.MANIFESTS,
    ),
    "explain": CommandEntry(
        "gitsync.cli.explain",
        "Describe a kind or one of its fields. Offline.",
        CommandGroup.MANIFESTS,
    ),
    "eval": CommandEntry(
        "gitsync.cli.eval",
        "Evaluate an export expression for one resource.",
        CommandGroup.MANIFESTS,
    ),
    "compare": CommandEntry(
        "gitsync.cli.compare",
        "Compare two ARM documents, desired and live. Offline.",
        CommandGroup.MANIFESTS,
    ),
    "status": CommandEntry(
        "gitsync.cli.status",
        "Show what the last run recorded, like kubectl get.",
        CommandGroup.RECORDS,
    ),
    "describe": CommandEntry(
        "gitsync.cli.describe",
        "Show everything recorded about one resource, like kubectl describe.",
        CommandGroup.RECORDS,
    ),
    "site": CommandEntry(
        "gitsync.cli.site.site",
        "Make a site of static pages from status branches. Offline.",
        CommandGroup.RECORDS,
    ),
    "unmanaged": CommandEntry(
        "gitsync.cli.unmanaged",
        "List resources that exist in Azure but not in git. Read-only.",
        CommandGroup.AZURE,
    ),
    "audit": CommandEntry(
        "gitsync.cli.audit",
        "Show who wrote to the resources in git: gitsync or somebody else. Read-only.",
        CommandGroup.AZURE,
    ),
    "doctor": CommandEntry(
        "gitsync.cli.doctor",
        "Check tools, git, the identity and its rights. Read-only.",
        CommandGroup.SET_UP,
    ),
    "import": CommandEntry(
        "gitsync.cli.import_",
        "Write manifests for resources that exist in Azure.",
        CommandGroup.SET_UP,
    ),
    "export": CommandEntry(
        "gitsync.cli.migration.export",
        "Write the manifests as a configuration of Terraform. Offline.",
        CommandGroup.SET_UP,
    ),
    "init": CommandEntry(
        "gitsync.cli.init",
        "Write editor settings and a first gitsync.yaml. Offline.",
        CommandGroup.SET_UP,
    ),
    "schema": CommandEntry(
        "gitsync.cli.schema",
        "Write JSON Schemas of all kinds, for editors. Offline.",
        CommandGroup.SET_UP,
    ),
    "emulator": CommandEntry(
        "gitsync.cli.emulator",
        "Serve an emulated Azure Resource Manager for tests and rehearsals.",
        CommandGroup.SET_UP,
    ),
    "completion": CommandEntry(
        "gitsync.cli.completion",
        "Print a completion script for bash, zsh or fish.",
        CommandGroup.SET_UP,
    ),
}


def load_command(name: str) -> Command:
    """The module of a command. ConfigError, with the nearest name, if there is none."""
    if name not in COMMANDS:
        from gitsync.cli.usage import make_unknown_command

        raise make_unknown_command(name, COMMANDS)
    return cast("Command", import_module(COMMANDS[name].module))
