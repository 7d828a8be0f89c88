"""Make a site of static pages: the estate, its state, and what happened to it.

It reads the status branch of each SOURCE with its history, and the manifests at the revision of the records. It sends
no request to Azure. SOURCE#BRANCH names another status branch; without SOURCE, it reads the working folder. Any file
host can serve the site, and a browser opens its index.html from a disk. It shows subscription ids, names and findings:
keep it private. A later run with the same --out reads only new commits, and writes only files that differ.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gitsync.cli.command import Example
from gitsync.errors import ExitCode
from gitsync.settings.config.config import Config, list_settings

if TYPE_CHECKING:
    from gitsync.report.site.estate import SiteEstate
    from gitsync.workflows.site.site_folder import SiteFigures

SETTINGS = list_settings("site")
OUTPUTS = ()
EXAMPLES = (
    Example("The estate of the working folder", "gitsync site --out public"),
    Example(
        "Two repositories, one of them with another status branch",
        "gitsync site --out public ../shop ../hub#status/prod",
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
    from gitsync.cli.site.site_sources import choose_source, read_estates
    from gitsync.report.site.data_files import encode_data, name_data_file
    from gitsync.report.site.pages import render_pages
    from gitsync.report.site.site_data import Extras, build_data
    from gitsync.settings.logging import escape_controls, neutralize
    from gitsync.workflows.site.extras import read_extras
    from gitsync.workflows.site.site_folder import SiteFolder

    configs = [choose_source(config, text) for text in options.sources or [config.source]]
    # Before anything is read: a folder of somebody else must be refused at once.
    folder = SiteFolder(Path(options.out), tuple(each.source for each in configs))
    extras = read_extras(Path(options.extras)) if options.extras else Extras()
    estates = read_estates(configs, folder, options.redactions)
    data = {name_data_file(name): encode_data(name, value) for name, value in build_data(estates, extras).items()}
    figures = folder.write({**render_pages(), **data})
    for line in _list_lines(estates, figures, options.out):
        print(neutralize(escape_controls(line)))
    return ExitCode.FAILED if any(estate.unread for estate in estates) else ExitCode.FINE


def _list_lines(estates: Sequence[SiteEstate], figures: SiteFigures, out: str) -> Iterator[str]:
    """List what could not be read, then what was written and where it is."""
    from gitsync.report.wording import format_plural

    for estate in estates:
        yield from (f"{estate.name.title}: {note}" for note in (estate.unread, *estate.history.notes) if note)
        if estate.declarations.doubt:
            yield f"{estate.name.title}: Manifests were not read: {estate.declarations.doubt}"
    resources = format_plural(sum(len(estate.state.records) for estate in estates), "resource")
    yield f"{resources} in {format_plural(figures.files, 'file')}, {figures.changed} of them changed: {out}/index.html"
