"""The documents of a source that were read, followed or passed over, which every report counts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gitsync.model.gvk import GVK
from gitsync.model.manifests import UnreadDocument
from gitsync.model.problem import Problem

WITHOUT_KIND = "without a kind"
ODD_KIND = "of an invalid kind"

_TITLE = re.compile(r"[A-Za-z][A-Za-z0-9]{0,62}(\.[a-z0-9][-.a-z0-9]{0,252})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """`files` and `resources` count what was read, `unread` are the documents that did not become a resource, and
    `ignored` the paths of manifest files that were left out, by .gitsyncignore or because their name begins with a dot.
    `notes` are problems of what gitsync does not use.
    """

    files: int = 0
    resources: int = 0
    unread: tuple[UnreadDocument, ...] = ()
    ignored: tuple[str, ...] = ()
    notes: tuple[Problem, ...] = ()

    @property
    def passed_over(self) -> Mapping[str, int]:
        """How many documents of each kind are not for gitsync: the most frequent first, then by name."""
        return _count_kinds(one for one in self.unread if not (one.is_rejected or one.is_followed))

    @property
    def followed(self) -> Mapping[str, int]:
        """How many objects of controllers declare units that were read, in the same order."""
        return _count_kinds(one for one in self.unread if one.is_followed)

    @property
    def rejected(self) -> int:
        """How many documents were meant for gitsync and could not be read; the problems say why."""
        return sum(one.is_rejected for one in self.unread)


def _count_kinds(documents: Iterable[UnreadDocument]) -> Mapping[str, int]:
    times = Counter(map(format_title, documents))
    return dict(sorted(times.items(), key=lambda item: (-item[1], item[0])))


def format_title(document: UnreadDocument) -> str:
    """The kind of a document as people write it (`Deployment.apps`), or words for one that has none.

    Nothing that a file may spell as it likes is repeated: a kind that Kubernetes would refuse is only called so.
    """
    if not document.kind:
        return document.form or WITHOUT_KIND
    gvk = GVK.parse(document.api_version, document.kind)
    title = f"{gvk.kind}.{gvk.group}" if gvk.group else gvk.kind
    return title if _TITLE.fullmatch(title) else ODD_KIND
