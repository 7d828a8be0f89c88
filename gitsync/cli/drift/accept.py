"""Accept drift: edit the manifests to match Azure. Nothing in Azure is changed.

It plans, and edits the manifests in the working folder for what was changed in Azure since the last sync: everything,
or the resources NAME only. A change outside of the fields that git sets becomes a new field. Only the text of these
fields changes. Before it writes a file, it reads the edited manifests and compares them with Azure again: the drift
must be gone, and no other request may change. Drift that cannot be accepted this way is skipped, with the reason. Two
changes are accepted only by name, not by a pattern: a change that weakens security, and a resource that was deleted in
Azure, whose manifest is removed. The exit code is 0 if all drift was accepted, or all drift of the named resources; 1
if something was skipped.

With --branch or --pull-request the files stay as they are, and branches have the edits. A job in GitHub Actions, GitLab
CI or Azure Pipelines opens pull requests with gh (GH_TOKEN), glab (GITLAB_TOKEN) or az (AZURE_DEVOPS_EXT_PAT). Nothing
is merged.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from gitsync.cli.command import Example, add_quiet
from gitsync.errors import ConfigError, ExitCode, PublishError
from gitsync.model.attribution import Who
from gitsync.settings.config.config import Config, list_settings
from gitsync.settings.config.flags import find_group
from gitsync.settings.config.setting import HelpGroup

if TYPE_CHECKING:
    from gitsync.model.report import Report
    from gitsync.workflows.accept.drift import Accepted
    from gitsync.workflows.accept.edit_proof import Tree
    from gitsync.workflows.accept.publish import Publication, Published

SETTINGS = list_settings("accept")
OUTPUTS = ("text", "json")
EXAMPLES = (
    Example("Accept all drift", "gitsync accept"),
    Example("Accept one field of one resource", "gitsync accept StorageAccount/orders --field spec.sku.name"),
    Example("Offer it in pull requests, in a scheduled job", "gitsync accept --pull-request"),
)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the names, `-q`, and the flags for what is accepted and where it goes: all others are settings."""
    parser.add_argument(
        "names",
        metavar="NAME",
        nargs="*",
        help="A resource: Kind/name, Kind.group/namespace/name, or a pattern with * and ?. Default: all.",
    )
    parser.add_argument(
        "--field",
        metavar="FIELD",
        action="append",
        default=[],
        help="Only this field and its subfields, as a plan prints it: spec.sku.name. May be repeated.",
    )
    targets = parser.add_mutually_exclusive_group()
    targets.add_argument(
        "--branch", metavar="NAME", help="Create this branch from HEAD and commit to it. No file is edited."
    )
    targets.add_argument(
        "--pull-request",
        action="store_true",
        help="Open a pull request for each actor and correlation id, and close those whose drift is gone.",
    )
    parser.add_argument(
        "--together", action="store_true", help="With --pull-request: open one pull request for all drift."
    )
    add_quiet(find_group(parser, HelpGroup.OUTPUT), "Print only what was skipped, and no progress.")


def run(options: argparse.Namespace, config: Config) -> ExitCode:
    """Plan, accept the drift, print it, and return the exit code."""
    from gitsync.cli.interruption import Interruption
    from gitsync.cli.running import execute_quietly
    from gitsync.model.check import NO_CHECKS
    from gitsync.providers.arm.real_clock import SystemClock
    from gitsync.report.hidden_people import leave_out_people
    from gitsync.workflows.accept.edit_proof import open_tree
    from gitsync.workflows.accept.fields import find_named

    check_flags(options, config)
    # The working tree is read before the plan: a tree that cannot be edited needs no requests.
    interruption = Interruption()
    in_branches = bool(options.branch or options.pull_request)
    tree = open_tree(config, SystemClock(), options.redactions, interruption.grace, is_committed=in_branches)
    # It writes nothing to Azure, so the checks of a write would only cost requests.
    config = replace(config, only=tuple(options.names), checks=(NO_CHECKS,), plan_out=None, metrics=None)
    published: list[Published] = []
    try:
        report = execute_quietly(options, config, interruption, writes=False)
        report = report if config.who == Who.NAMES else leave_out_people(report)  # commits and requests quote it
        # Half of a plan would offer half of the drift as if it were all.
        if report.interrupted:
            return interruption.exit_code(report)
        accepted, publishing = take(report, tree, options, config)
        try:
            published.extend(publishing)  # one by one, so it has those before an error
        except PublishError:
            print_accepted(accepted, published, options, config)
            raise
    finally:
        interruption.close()
    print_accepted(accepted, published, options, config)
    named = find_named(options.names, [result.key for result in report.results])
    # What only a pattern selects may be skipped if names were given, too.
    return ExitCode.FAILED if any(not named or refusal.key in named for refusal in accepted.left) else ExitCode.FINE


def check_flags(options: argparse.Namespace, config: Config) -> None:
    """Raise ConfigError for flags that do not fit each other or this job, before the first request."""
    from gitsync.report.hosts.host import HostUse
    from gitsync.report.hosts.opening import open_host, register_tokens
    from gitsync.repository.git.state.store_choice import DEFAULT_BRANCH
    from gitsync.workflows.accept.publish import check_branch_name
    from gitsync.workflows.accept.wanted_fields import check_fields

    check_fields(options.field)
    if options.branch:
        check_branch_name(options.branch, config.status_branch or DEFAULT_BRANCH, config.ref)
    if options.together and not options.pull_request:
        raise ConfigError("--together needs --pull-request.", hint="Add --pull-request.")
    if options.pull_request:
        register_tokens(os.environ, options.redactions.add)
        open_host(os.environ, HostUse.PULL_REQUEST)


def take(
    report: Report, tree: Tree, options: argparse.Namespace, config: Config
) -> tuple[Accepted, Iterable[Published]]:
    """Accept the drift of a report into the files, or return with it the branches and pull requests that are made while
    one iterates over them.
    """
    from gitsync.agent.run.git_settings import make_git_access
    from gitsync.providers.arm.real_clock import SystemClock
    from gitsync.repository.git.state.store_choice import DEFAULT_BRANCH
    from gitsync.workflows.accept.accept import accept_drift
    from gitsync.workflows.accept.publish import Publication, commit_branch

    publication = Publication(
        folder=tree.folder,
        access=make_git_access(config),
        clock=SystemClock(),
        environment=os.environ,
        who=Who(config.who),
        mask=options.redactions.mask,
        status_branch=config.status_branch or DEFAULT_BRANCH,
        ref=config.ref,
    )
    if options.pull_request:
        return take_in_groups(report, tree, options, publication)
    accepted = accept_drift(report, tree, options.names, options.field)
    # Without an edit there is no branch: its commit would be empty.
    if options.branch and accepted.texts:
        return accepted, [commit_branch(accepted, options.branch, publication)]
    if not options.branch:
        # Last: everything that could refuse has passed, so the files are written in full or not at all.
        write(accepted, tree)
    return accepted, []


def take_in_groups(
    report: Report, tree: Tree, options: argparse.Namespace, publication: Publication
) -> tuple[Accepted, Iterable[Published]]:
    """Accept the drift of each author by itself, for pull requests, which are made while one iterates over them."""
    from gitsync.workflows.accept.accept import accept_resources
    from gitsync.workflows.accept.drift import Accepted
    from gitsync.workflows.accept.fields import collect_drift
    from gitsync.workflows.accept.pull_requests import Examined, group_drift, list_examined, publish_pull_requests

    found = collect_drift(report, tree, options.names, options.field)
    groups = [
        accept_resources(group, report, tree) for group in group_drift(found.resources, together=options.together)
    ]
    accepted = Accepted(
        resources=tuple(resource for group in groups for resource in group.resources),
        texts={path: text for group in groups for path, text in group.texts.items()},
        left=(*found.left, *(refusal for group in groups for refusal in group.left)),
    )
    # With --field, other fields of a resource may still differ, so it is not known that drift is gone.
    examined = Examined() if options.field else list_examined(report, accepted.left)
    return accepted, publish_pull_requests(groups, examined, publication)


def write(accepted: Accepted, tree: Tree) -> None:
    """Write the new texts into the working tree: all, or none. ConfigError if a file has changed since it was read."""
    from gitsync.settings.files.target_folder import TargetFolder

    # Accepted texts have paths from the top of the repository, and the folder may be below it.
    prefix = f"{tree.prefix}/" if tree.prefix else ""
    texts = {path.removeprefix(prefix): text for path, text in accepted.texts.items()}
    # With the content that was read: an edit by a person in between must not be lost.
    TargetFolder(tree.folder).change_all({path: (tree.content(path), text) for path, text in texts.items()})


def print_accepted(
    accepted: Accepted, published: Sequence[Published], options: argparse.Namespace, config: Config
) -> None:
    """Print what was accepted, what was skipped, and where the edits are if not in the files."""
    import json

    from gitsync.cli.output import may_name_people
    from gitsync.settings.logging import neutralize
    from gitsync.workflows.accept import accept_report
    from gitsync.workflows.accept.publish import PublishedAs

    mask = options.redactions.mask
    names = may_name_people(Who(config.who), os.environ)
    if config.output == "json":
        print(mask(json.dumps(accept_report.build(accepted, published, names=names), indent=2, ensure_ascii=False)))
        return
    shown = replace(accepted, texts={}) if options.branch or options.pull_request else accepted  # no file is edited
    lines = list(accept_report.format_lines(shown, published, names=names))
    if options.quiet:
        lines = [
            *accept_report.format_left(accepted),
            *(outcome.sentence for outcome in published if outcome.action is PublishedAs.LEFT),
        ]
    for line in lines:
        print(neutralize(mask(line)))
