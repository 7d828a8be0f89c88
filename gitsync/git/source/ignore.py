"""`.gitsyncignore`: names that are not read, in the language of `.gitignore` (gitignore(5)).

A file applies to the folder that it is in, and everything below; the nearest file with a matching pattern decides. The
patterns are those of pathspec, because they have many corner cases. git could match them too, but only in a working
tree.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gitsync.errors import SourceError

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

IGNORE_FILE = ".gitsyncignore"


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """Patterns by the folder of their file ("" for the root of the source)."""

    by_folder: Mapping[str, GitIgnoreSpec]

    def ignores(self, path: str) -> bool:
        """Tell whether `path` or one of its parent folders is ignored."""
        if not self.by_folder:
            return False
        folder = path
        while folder:
            folder = folder.rpartition("/")[0]
            spec = self.by_folder.get(folder)
            verdict = spec.check_file(path[len(folder) :].lstrip("/")).include if spec else None
            if verdict is not None:
                return verdict
        return False


def read_rules(files: Mapping[str, bytes]) -> IgnoreRules:
    """Compile ignore files, given by their path. SourceError (file, line) for an invalid pattern: skipping it would
    read files that should be ignored.
    """
    return IgnoreRules({path.rpartition("/")[0]: _compile(path, content) for path, content in files.items()})


def _compile(path: str, content: bytes) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec  # noqa: PLC0415 - most sources have no such file

    lines = content.decode("utf-8", "replace").splitlines()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of the module re, about brackets that mean themselves
        try:
            return GitIgnoreSpec.from_lines(lines)
        except (ValueError, re.error):
            number = next(number for number, line in enumerate(lines, 1) if not _is_pattern(line))
    raise SourceError(
        f"{path}:{number}: {lines[number - 1][:100]!r} is not a pattern.",
        hint="Write it as in .gitignore: a range is ascending ([a-z]), and ! or \\ needs a name after it.",
    )


def _is_pattern(line: str) -> bool:
    from pathspec import GitIgnoreSpec  # noqa: PLC0415 - as above

    try:
        GitIgnoreSpec.from_lines([line])
    except (ValueError, re.error):
        return False
    return True
