"""Shared by `status` and `describe`: the recorded state of a SOURCE, and records as Kubernetes objects."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gitsync.settings.config.config import Config

if TYPE_CHECKING:
    from gitsync.model.record import Record, State
    from gitsync.repository.git.source.checkout import Checkout
    from gitsync.repository.git.state.branch import StatusBranch
    from gitsync.repository.git.state.state_folder import StatusFolder
    from gitsync.repository.git.state.store import StateStore


def load_state(config: Config) -> State:
    """Load the status branch or folder of SOURCE. SourceError or StateError if it cannot be read."""
    with open_recorded(config) as store:
        return store.load()


@contextmanager
def open_recorded(config: Config) -> Iterator[StateStore]:
    """Open the status branch or folder of SOURCE. SourceError or StateError if it cannot be used."""
    with open_source_and_status(config) as (_, store):
        yield store


@contextmanager
def open_source_and_status(config: Config) -> Iterator[tuple[Checkout, StatusBranch | StatusFolder]]:
    """Open SOURCE, and its status branch or folder. SourceError or StateError if one cannot be used."""
    from gitsync.agent.run.git_settings import make_git_access, make_seals
    from gitsync.providers.arm.real_clock import SystemClock
    from gitsync.repository.git.source.checkout import open_checkout
    from gitsync.repository.git.state.store_choice import open_store

    status_dir = Path(config.status_dir) if config.status_dir else None
    # With the key, if it is set: else a forged record would be shown like any other.
    seals = make_seals(config, os.environ)
    with (
        open_checkout(
            config.source, access=make_git_access(config), status_dir=status_dir, config_file=config.config_file
        ) as source,
        open_store(
            source, status_branch=config.status_branch, status_dir=status_dir, clock=SystemClock(), seals=seals
        ) as store,
    ):
        yield source, store


def select_records(state: State, config: Config) -> tuple[Record, ...]:
    """The records that --only and --target-namespaces select, sorted. ConfigError if a name of either matches none."""
    from gitsync.desired.manifests.selection import check_namespaces, make_selection, spell_out

    check_namespaces(config.target_namespaces, records=state.records)
    choice = spell_out(make_selection(config), state.records)
    return tuple(record for key, record in sorted(state.records.items()) if choice.has(key))


def build_objects(records: Iterable[Record]) -> list[Any]:
    """The Kubernetes objects that the status tree contains for these records."""
    from gitsync.repository.git.state.record_files import build_object

    return [build_object(record) for record in records]


def print_object(value: Mapping[str, Any], form: str) -> None:
    """Print an object as "json" or "yaml"."""
    import json

    from gitsync.desired.manifests.yaml_output import dump
    from gitsync.settings.logging import neutralize

    print(neutralize(json.dumps(value, indent=2) if form == "json" else dump(value).decode().rstrip("\n")))
