"""The addresses of the documentation of this package. They are in its metadata, if a pipeline built it."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, metadata

from gitsync.problems.problem_codes import PAGE, CodeMeaning


def find_help_page(meaning: CodeMeaning) -> str:
    """The URL of the page of a code; "" if the package does not name its repository."""
    home = _find_home()
    return f"{home}/blob/main/{PAGE}#{meaning.anchor}" if home else ""


@cache
def _find_home() -> str:
    try:
        urls = metadata("gitsync").get_all("Project-URL") or []
    except PackageNotFoundError:
        return ""
    return next((text.partition(", ")[2] for text in urls if text.startswith("Homepage, https://")), "")
