"""The last commits of manifests that were removed from git: who knows about them, and where to find them again.

A manifest that a unit was built from has no history of its own, so any change below its unit counts.
"""

from __future__ import annotations

from collections.abc import Mapping

from gitsync.git.source.checkout import Checkout
from gitsync.git.source.last_commits import Place
from gitsync.model.commit import LastCommit
from gitsync.model.gvk import Key


def find_last_commits(source: Checkout, last: Mapping[Key, tuple[str, Place]]) -> dict[Key, LastCommit]:
    """Return the commit that changed each manifest last. `last` has the last revision with the manifest, and the paths
    that it was made of. git is started once for each revision.
    """
    commits: dict[Key, LastCommit] = {}
    for revision in dict.fromkeys(revision for revision, _ in last.values()):
        places = {key: place for key, (its_revision, place) in last.items() if its_revision == revision}
        found = source.find_last_commits(revision, set(places.values()))
        commits |= {key: found[place] for key, place in places.items()}
    return commits


def explain_unknown(source: Checkout, since: str | None, *, is_long: bool) -> LastCommit | None:
    """Return why a commit is not known; None for a source without git. `since` is the revision of the records; it
    `is_long` ago if not every change since then was searched.
    """
    if source.history is None:
        return None
    if since is None:
        return LastCommit(doubt="the records name no revision")
    start = since[:12]
    if not source.has_history_since(since):
        return LastCommit(doubt=f"the history since {start} is not in this clone (fetch-depth: 0)")
    if is_long:
        return LastCommit(doubt=f"too many commits since {start} changed manifests")
    return LastCommit(doubt=f"no commit since {start} has its manifest in --path {source.wanted.path}")
