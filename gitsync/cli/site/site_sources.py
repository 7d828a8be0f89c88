"""Reads the sources of a site: the status of each, and its manifests at the revision of the records."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from gitsync.errors import ConfigError, GitsyncError, StateError
from gitsync.settings.config.config import Config

if TYPE_CHECKING:
    from gitsync.model.record import State
    from gitsync.report.site.declared import DeclaredManifests
    from gitsync.report.site.estate import SiteEstate
    from gitsync.repository.git.source.checkout import Checkout
    from gitsync.settings.redaction import Redactions
    from gitsync.workflows.site.reading import StatusLocation
    from gitsync.workflows.site.site_folder import SiteFolder


def choose_source(config: Config, text: str) -> Config:
    """Choose the settings of a source from its argument: a folder or URL, and #BRANCH for its status branch."""
    source, mark, branch = text.rpartition("#")
    # A folder may have a # in its name.
    if not mark or Path(text).is_dir():
        return replace(config, source=text)
    if not source or not branch:
        raise ConfigError(f"{text!r} is not SOURCE#BRANCH.", hint="Name the status branch behind the #.")
    return replace(config, source=source, status_branch=branch)


def read_estates(configs: Sequence[Config], folder: SiteFolder, redactions: Redactions) -> list[SiteEstate]:
    """Read the estate of each source. Raises the error of the first if none can be read."""
    from gitsync.cli.recorded import open_source_and_status
    from gitsync.workflows.site.reading import locate_status, make_unread, name_estates, read_estate

    errors: list[StateError] = []
    estates: list[SiteEstate] = []
    with ExitStack() as opened:
        # All are opened before one is read, since their names have to differ from each other.
        pairs = [opened.enter_context(open_source_and_status(config)) for config in configs]
        locations = [locate_status(source, store) for source, store in pairs]
        _refuse_the_same(configs, locations)
        names = name_estates(locations)
        for config, (source, store), name in zip(configs, pairs, names, strict=True):
            remote = source.remote.url if source.remote else ""
            mask = partial(_mask, redactions=redactions, source=source, title=name.title)
            try:
                declare = partial(_declare, config, redactions, mask)
                estates.append(read_estate(store, name, remote, folder.read, declare))
            except StateError as error:
                errors.append(error)
                estates.append(make_unread(name, mask(error.message)))
    # A site without any estate would replace a good one.
    if len(errors) == len(estates):
        raise errors[0]
    return estates


def _refuse_the_same(configs: Sequence[Config], locations: Sequence[StatusLocation]) -> None:
    """Raise ConfigError for a status that two sources have: its resources would count twice."""
    known: dict[tuple[str, str], str] = {}
    for config, location in zip(configs, locations, strict=True):
        # Two folders of one name may have different statuses.
        own = location.repository if location.repository and location.branch else str(Path(config.source).resolve())
        if (first := known.get((own, location.branch))) is not None:
            raise ConfigError(
                f"{first} and {config.source} have the same status.",
                hint="Give each status once, or name another status branch with SOURCE#BRANCH.",
            )
        known[own, location.branch] = config.source


def _mask(text: str, *, redactions: Redactions, source: Checkout, title: str) -> str:
    """Mask secrets in an error, and paths of this machine: a folder may have the name of a person."""
    remote = source.remote.url if source.remote else ""
    paths = {remote.removeprefix("file://"), str(source.folder or "")}
    # The longer path first, which may begin with the other.
    for path in sorted((path for path in paths if path.startswith("/")), key=len, reverse=True):
        text = text.replace(f"file://{path}", title).replace(path, title)
    return redactions.mask(text)


def _declare(config: Config, redactions: Redactions, mask: Callable[[str], str], state: State) -> DeclaredManifests:
    """Read the manifests at the revision of the records; for a folder without revisions, those of today."""
    from gitsync.cli.offline import read_offline
    from gitsync.report.site.declared import DeclaredManifests, declare

    # Without records there is no revision, and so nothing whose manifests could be shown.
    if not state.records:
        return DeclaredManifests()
    try:
        offline = read_offline(replace(config, ref=state.revision), redactions)
    except GitsyncError as error:
        return DeclaredManifests(doubt=mask(error.message))
    return declare(offline.everything, offline.catalog, redactions.mask, offline.root)
