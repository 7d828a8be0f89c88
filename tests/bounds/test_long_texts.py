"""A long text takes time in proportion to its length: these would take minutes if it took the square of it."""

from __future__ import annotations

import pytest

from gitsync.desired.manifests.unparsed_text import has_no_name, may_be_object, may_be_ours

LONG = 400_000


@pytest.mark.parametrize("part", [b"\n", b" ", b" \n", b"{ ", b"name: ", b"kind "])
@pytest.mark.parametrize("look", [may_be_ours, may_be_object, has_no_name])
def test_texts_that_do_not_parse(look, part):
    assert not look(part * (LONG // len(part)))
