"""Make a site of static pages: the estate, its state, and what happened to it.

It reads the status branch of each SOURCE with its history, and the manifests at the revision of the records. It sends
no request to Azure. SOURCE#BRANCH names another status branch; without SOURCE, it reads the working folder. Any file
host can serve the site, and a browser opens its index.html from a disk. It shows subscription ids, names and findings:
keep it private. A later run with the same --out reads only new commits, and writes only files that differ.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from gitsync.cli.command import Example
from gitsync.errors import ConfigError, ExitCode, GitsyncError, StateError
from gitsync.settings.config.config import Config, list_settings

if TYPE_CHECKING:
    from gitsync.model.record import State
    from gitsync.report.site.declared import Declarations
    from gitsync.report.site.estate import Estate
    from gitsync.settings.redaction import Redactions
    from gitsync.workflows.site.site_folder import SiteFigures, SiteFolder

SETTINGS = list_settings("site")
OUTPUTS = ()
EXAMPLES = (
    Example("The estate of the working folder", "gitsync site --out public"),
    Example(
        "Two repositories, one of them with another status branch",
        "gitsync site --out public https://github.com/contoso/shop https://github.com/contoso/hub#status/prod",
    ),
)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "sources", metavar="SOURCE[#BRANCH]", nargs="*", help="Folders, or URLs of git repositories. [default .]"
    )
    parser.add_argument("--out", metavar="DIR", required=True, help="Folder of the site.")
    parser.add_argument(
        "--with",
        dest="extras",
        metavar="DIR",
        help="Also show the JSON that `gitsync unmanaged` and `gitsync audit` have left in this folder.",
    )


def run(options: argparse.Namespace, config: Config) -> ExitCode:
    """Read each source, write the site, and print where it is."""
    from gitsync.report.site.data_files import encode_data, name_data_file
    from gitsync.report.site.pages import render_pages
    from gitsync.report.site.site_data import Extras, build_data
    from gitsync.settings.logging import escape_controls, neutralize
    from gitsync.workflows.site.extras import read_extras
    from gitsync.workflows.site.site_folder import SiteFolder

    configs = [choose_source(config, text) for text in options.sources or [config.source]]
    folder = SiteFolder(Path(options.out), tuple(each.source for each in configs))
    extras = read_extras(Path(options.extras)) if options.extras else Extras()
    estates = _read_estates(configs, folder, options.redactions)
    data = {name_data_file(name): encode_data(name, value) for name, value in build_data(estates, extras).items()}
    figures = folder.write({**render_pages(), **data})
    for line in _list_lines(estates, figures, options.out):
        print(neutralize(escape_controls(line)))
    return ExitCode.FAILED if any(estate.unread for estate in estates) else ExitCode.FINE


def _list_lines(estates: Sequence[Estate], figures: SiteFigures, out: str) -> Iterator[str]:
    """List what could not be read, then what was written and where it is."""
    from gitsync.report.wording import format_plural

    for estate in estates:
        yield from (f"{estate.name.title}: {note}" for note in (estate.unread, *estate.history.notes) if note)
        if estate.declarations.doubt:
            yield f"{estate.name.title}: Manifests were not read: {estate.declarations.doubt}"
    resources = format_plural(sum(len(estate.state.records) for estate in estates), "resource")
    yield f"{resources} in {format_plural(figures.files, 'file')}, {figures.changed} of them changed: {out}/index.html"


def choose_source(config: Config, text: str) -> Config:
    """Choose the settings of a source from its argument: a folder or URL, and #BRANCH for its status branch."""
    source, mark, branch = text.rpartition("#")
    if not mark or Path(text).is_dir():
        return replace(config, source=text)
    if not source or not branch:
        raise ConfigError(f"{text!r} is not SOURCE#BRANCH.", hint="Name the status branch behind the #.")
    return replace(config, source=source, status_branch=branch)


def _read_estates(configs: Sequence[Config], folder: SiteFolder, redactions: Redactions) -> list[Estate]:
    """Read the estate of each source. Raises the error of the first if none can be read."""
    from gitsync.cli.recorded import open_source_and_status
    from gitsync.workflows.site.reading import locate_status, make_unread, name_estates, read_estate

    errors: list[StateError] = []
    estates: list[Estate] = []
    with ExitStack() as opened:
        pairs = [opened.enter_context(open_source_and_status(config)) for config in configs]
        names = name_estates([locate_status(source, store) for source, store in pairs])
        for config, (source, store), name in zip(configs, pairs, names, strict=True):
            remote = source.remote.url if source.remote else ""
            try:
                estates.append(read_estate(store, name, remote, folder.read, partial(_declare, config, redactions)))
            except StateError as error:
                errors.append(error)
                estates.append(make_unread(name, error.message))
    if len(errors) == len(estates):
        raise errors[0]
    return estates


def _declare(config: Config, redactions: Redactions, state: State) -> Declarations:
    """Read the manifests at the revision of the records; for a folder without revisions, those of today."""
    from gitsync.cli.offline import read_offline
    from gitsync.report.site.declared import Declarations, declare

    if not state.records:
        return Declarations()
    try:
        offline = read_offline(replace(config, ref=state.revision), redactions)
    except GitsyncError as error:
        return Declarations(doubt=redactions.mask(error.message))
    return declare(offline.everything, offline.catalog, redactions.mask, offline.root)
