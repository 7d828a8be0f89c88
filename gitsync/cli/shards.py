"""Show how several workers would share one run: the resources of each, and the references between them.

Offline, unless --run-id is given: then it pins the run, as the first job of a pipeline does. The outputs github, gitlab
and azure are the matrix for such a pipeline.
"""

from __future__ import annotations

import argparse

from gitsync.cli.command import Example, add_verbosity, make_number_reader
from gitsync.errors import ExitCode
from gitsync.settings.config.config import Config, list_settings

SETTINGS = list_settings("shards")
OUTPUTS = ("text", "json", "github", "gitlab", "azure")
EXAMPLES = (
    Example("What would each of eight workers do?", "gitsync shards --workers 8"),
    Example("The first job of a pipeline", 'gitsync shards --workers 8 --run-id "$GITHUB_RUN_ID" -o github'),
)

_MOST_WORKERS = 1000


def arguments(parser: argparse.ArgumentParser) -> None:
    """Add the number of workers, and `-v`."""
    parser.add_argument(
        "--workers",
        metavar="NUMBER",
        type=make_number_reader(1, _MOST_WORKERS),
        required=True,
        help=f"How many workers, {_MOST_WORKERS} at most.",
    )
    add_verbosity(parser, "; list all references to other shards")


def run(options: argparse.Namespace, config: Config) -> ExitCode:
    """Make the cut, pin the run if it has an id, print the cut and return the exit code."""
    import json

    from gitsync.agent.run.shard_costs import estimate_costs
    from gitsync.agent.run.shards import cut_shards, list_members
    from gitsync.cli.offline import read_offline
    from gitsync.cli.recorded import load_state
    from gitsync.report.shard_matrix import MATRICES, build_document, format_lines, format_matrix
    from gitsync.settings.logging import neutralize

    # Before the output: a matrix without a pin would start workers on different commits.
    if config.run_id:
        _pin(config, options.workers)
    if config.output in MATRICES:
        print(format_matrix(config.output, options.workers))
        return ExitCode.FINE
    offline, state = read_offline(config, options.redactions), load_state(config)
    shards = cut_shards(list_members(offline.everything, state.records), options.workers)
    costs = estimate_costs(shards, offline.everything, state.records, offline.catalog)
    if config.output == "json":
        print(neutralize(json.dumps(build_document(shards, costs), indent=2)))
    else:
        print(*map(neutralize, format_lines(shards, costs, verbose=options.verbose)), sep="\n")
    return ExitCode.FINE


def _pin(config: Config, workers: int) -> None:
    """Pin the source and the status for the workers of the run. Raises ConfigError or StateError if that fails."""
    from gitsync.agent.run.connections import open_source, open_state
    from gitsync.agent.run.workers import pin_run
    from gitsync.providers.arm.real_clock import SystemClock
    from gitsync.settings.processes.programs import Grace

    clock = SystemClock()
    with open_source(config, Grace()) as source, open_state(config, source, clock) as store:
        pin_run(config, source, store, clock, workers)
