"""`.gitsyncignore`: names that are not read, in the language of `.gitignore` (gitignore(5)).

A file applies to the folder that it is in, and everything below; the nearest file with a matching pattern decides. git
could match them too, but only in a working tree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gitsync.errors import SourceError
from gitsync.git.source.ignore_patterns import IgnorePatterns, InvalidPatternError

IGNORE_FILE = ".gitsyncignore"


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """Patterns by the folder of their file ("" for the root of the source)."""

    by_folder: Mapping[str, IgnorePatterns]

    def ignores(self, path: str) -> bool:
        """Tell whether `path` or one of its parent folders is ignored."""
        if not self.by_folder:
            return False
        folder = path
        while folder:
            folder = folder.rpartition("/")[0]
            patterns = self.by_folder.get(folder)
            verdict = patterns.find_verdict(path[len(folder) :].lstrip("/")) if patterns else None
            if verdict is not None:
                return verdict
        return False


def read_rules(files: Mapping[str, bytes]) -> IgnoreRules:
    """Compile ignore files, given by their path. SourceError (file, line) for an invalid pattern: skipping it would
    read files that should be ignored.
    """
    return IgnoreRules({path.rpartition("/")[0]: _compile(path, content) for path, content in files.items()})


def _compile(path: str, content: bytes) -> IgnorePatterns:
    lines = content.decode("utf-8", "replace").splitlines()
    try:
        return IgnorePatterns(lines)
    except InvalidPatternError as error:
        raise SourceError(
            f"{path}:{error.number}: {lines[error.number - 1][:100]!r} is not a pattern.",
            hint="Write it as in .gitignore: a range is ascending ([a-z]), and ! or \\ needs a name after it.",
        ) from error
