"""Shared by the commands that search Azure for what exists: the connection, its progress and failures, and metrics."""

from __future__ import annotations

import argparse
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

from gitsync.errors import ArmError, ConfigError, SourceError
from gitsync.settings.config.config import Config

if TYPE_CHECKING:
    from gitsync.agent.run.watch import RunWatch
    from gitsync.providers.arm.client import Arm
    from gitsync.providers.arm.session import Session
    from gitsync.workflows.imports.conversion.scope import Filters
    from gitsync.workflows.imports.resource_discovery import Discovery

_Found = TypeVar("_Found")


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What a search in Azure needs."""

    arm: Arm
    begin_session: Callable[[], Session]  # begins requests that end with the timeout of the complete run
    count: Callable[[int, int], None]  # receives how many reads began, and how many ended

    @property
    def requests(self) -> int:
        """How many requests were sent."""
        sent = self.arm.requests
        return sent.reads + sent.polls + sent.checks

    @property
    def now(self) -> datetime:
        return self.arm.now


@contextmanager
def watch_search(options: argparse.Namespace, config: Config, command: str) -> Iterator[RunWatch]:
    """Watch a search. If an error ends it, its metrics are written anyway."""
    import os

    from gitsync.agent.run.watch import begin_watch
    from gitsync.providers.arm.real_clock import SystemClock

    watch = begin_watch(config, os.environ, options.redactions, SystemClock(), None, command=command)
    try:
        yield watch
    except Exception as error:
        watch.failed(error)
        raise


@asynccontextmanager
async def open_search(options: argparse.Namespace, config: Config) -> AsyncIterator[Search]:
    """Open Azure for a search that only reads, and show its progress. ConfigError if Azure cannot be reached,
    SourceError for a read that got no answer.
    """
    from gitsync.agent.run.connections import open_azure
    from gitsync.cli.output import show_progress
    from gitsync.providers.arm.session import Session

    with show_progress(options.log_mask, prints=options.prints_progress) as tally:

        def count(begun: int, ended: int) -> None:
            tally.total += begun
            tally.done += ended

        async with open_azure(config, options.redactions) as (arm, clock):
            tally.watch(arm.list_limits)
            deadline = clock.monotonic() + config.run_timeout
            try:
                yield Search(arm=arm, begin_session=lambda: Session(deadline=deadline), count=count)
            except ArmError as error:
                raise SourceError(
                    f"{error.resource_id} cannot be read: {error.message}",
                    hint="Run the command again. Nothing was written.",
                ) from error


async def search_for_import(
    options: argparse.Namespace,
    config: Config,
    filters: Filters,
    find: Callable[[Discovery], Awaitable[_Found]],
) -> tuple[_Found, int]:
    """What is in Azure, and the number of requests that it took to find it."""
    from gitsync.desired.catalog.catalog import open_catalog
    from gitsync.desired.catalog.children import KindTree
    from gitsync.extensions.registry import Registry
    from gitsync.workflows.imports.acceptance import Acceptance
    from gitsync.workflows.imports.conversion.imported_manifests import is_as_made
    from gitsync.workflows.imports.resource_discovery import Discovery
    from gitsync.workflows.imports.resource_reader import ResourceReader

    tree = KindTree(open_catalog(), options.api_version)
    keeps_all = (lambda _: False) if options.full else is_as_made
    acceptance = Acceptance(Registry.load(), filters, keeps_all, is_sparing=not options.full)
    async with open_search(options, config) as search:
        reader = ResourceReader(search.arm.reader(search.begin_session()), search.count, acceptance.note_unread)
        findings = await find(Discovery(reader, tree, acceptance))
        # Only after the search is it known which kinds there are, and so whether a version was misspelt.
        if unused := sorted(set(options.api_version) - tree.used):
            raise ConfigError(
                f"No imported kind has the api-version {', '.join(unused)}.",
                hint="Run gitsync explain KIND to list its versions.",
            )
        return findings, search.requests
