"""The addresses of the documentation of this package. They are in its metadata, if a pipeline built it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, metadata

from gitsync.problems.problem_codes import PAGE, CodeMeaning


def find_help_page(meaning: CodeMeaning, urls: Sequence[str] | None = None) -> str:
    """The URL of the page of a code; "" if the package does not name its repository. `urls` are those of the package,
    each after its label.
    """
    given = (text.partition(", ") for text in (_list_urls() if urls is None else urls))
    home = next((url for label, _, url in given if label == "Homepage" and url.startswith("https://")), "")
    return f"{home}/blob/main/{PAGE}#{meaning.anchor}" if home else ""


@cache
def _list_urls() -> tuple[str, ...]:
    try:
        return tuple(metadata("gitsync").get_all("Project-URL") or ())
    except PackageNotFoundError:
        return ()
