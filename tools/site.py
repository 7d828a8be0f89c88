"""What the documentation site does with its pages, as hooks of MkDocs (`hooks` in .mkdocs.yml).

The pages are written for the repository, whose links lead to code and to files beside docs/. The site has the changelog
and the like as pages too; other links lead to the repository whose pipeline builds the site, and become plain text
outside of a pipeline, since the project may live in any fork (tools/project_urls.py).
"""

from __future__ import annotations

import os
import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING

from project_urls import find_home

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
DOCS = "docs"
BESIDE_DOCS = ("CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "SECURITY.md")
"""Files at the top of the repository that the site has as pages."""
_NAMELESS = 'data-md-component="search" role="dialog"'

_FENCE = re.compile(r"^( *)(```|~~~).*?^\1\2", flags=re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?P<image>!?)\[(?P<text>(?:[^\[\]]|\[[^\[\]]*\])*)\]\((?P<target>[^()\s]+)\)")
_LOADED = re.compile(r"<(?:script|img|iframe|link rel=\"stylesheet\")[^>]*(?:src|href)=\"?(?:https?:)?//[^\s\">]+")


def rewrite_links(markdown: str, source: str, repository: str) -> str:
    """The text of a page whose links work on the site.

    `source` is the page's path in the repository, such as `docs/git.md`. Code blocks stay as they are.
    """
    rewritten: list[str] = []
    end = 0
    for fence in _FENCE.finditer(markdown):
        rewritten += [_rewrite(markdown[end : fence.start()], source, repository), fence.group()]
        end = fence.end()
    return "".join((*rewritten, _rewrite(markdown[end:], source, repository)))


def _rewrite(text: str, source: str, repository: str) -> str:
    def replace(link: re.Match[str]) -> str:
        target = link["target"]
        if target.startswith("#") or re.match(r"[a-z]+:", target):
            return link.group()
        path, _, anchor = target.partition("#")
        found = _location(posixpath.normpath(posixpath.join(posixpath.dirname(source), path)), source, repository)
        anchored = f"{found}#{anchor}" if anchor else found
        return f"{link['image']}[{link['text']}]({anchored})" if found else link["text"]

    return _LINK.sub(replace, text)


def _location(path: str, source: str, repository: str) -> str:
    """Where the site has a file of the repository, as seen from a page; empty if it has none."""
    if path.startswith(f"{DOCS}/") or path in BESIDE_DOCS:
        return posixpath.relpath(_on_site(path), posixpath.dirname(_on_site(source)) or ".")
    return f"{repository}/blob/HEAD/{path}" if repository else ""


def _on_site(path: str) -> str:
    return path.removeprefix(f"{DOCS}/")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Name the repository, where one is known."""
    config.repo_url = find_home(os.environ) or None
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the files beside docs/."""
    from mkdocs.structure.files import File  # noqa: PLC0415 - only where the site is built

    for name in BESIDE_DOCS:
        files.append(File.generated(config, name, content=(ROOT / name).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Make the links of a page those of the site. The home page lists all pages and has no navigation beside it."""
    del files
    name = page.file.src_uri
    if page.is_homepage:
        page.meta["hide"] = ["navigation", "toc"]
    return rewrite_links(markdown, name if name in BESIDE_DOCS else f"{DOCS}/{name}", config.repo_url or "")


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Name the dialog to which the theme gives no name. Refuse a page that would load something from another host."""
    from mkdocs.exceptions import PluginError  # noqa: PLC0415 - as above

    del config
    if loaded := find_loaded(output):
        message = f"{page.file.src_uri} loads something from another host: {loaded}"
        raise PluginError(message)
    return output.replace(_NAMELESS, f'{_NAMELESS} aria-label="Search"')


def find_loaded(html: str) -> str:
    """The first element that loads something from another host; empty if there is none."""
    loaded = _LOADED.search(html)
    return loaded.group() if loaded else ""
