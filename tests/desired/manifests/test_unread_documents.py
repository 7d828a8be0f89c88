from __future__ import annotations

import pytest

from gitsync.desired.manifests.unread_documents import mark_followed
from gitsync.model.manifests import UnreadDocument
from gitsync.model.problem import SourceLocation

DOCUMENTS = [UnreadDocument(source=SourceLocation(path, line)) for path, line in (("a", 1), ("a", 9), ("b", 5))]


@pytest.mark.parametrize(
    ("location", "followed", "why"),
    [
        (("a", 1), [("a", 1)], "the first line of the document declares the unit"),
        (("a", 8), [("a", 1)], "a line inside of it does: the template of a set"),
        (("a", 9), [("a", 9)], "of two documents in a file, the one with the line"),
        (("b", 7), [("b", 5)], "each file has lines of its own"),
        (("b", 1), [], "what declares the unit was no such document"),
        (("0", 1), [], "nor is it in another file"),
    ],
)
def test_the_document_that_declares_a_unit_is_followed(location, followed, why):
    marked = mark_followed(reversed(DOCUMENTS), {SourceLocation(*location)})
    assert [document.source for document in marked] == [document.source for document in DOCUMENTS], (
        "all of them, in the order of files"
    )
    assert [(document.source.path, document.source.line) for document in marked if document.is_followed] == followed, (
        why
    )
