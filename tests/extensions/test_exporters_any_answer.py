"""Laws of exporters, whatever an action answers: a Secret, nothing, or one kind of error that quotes no value."""

from __future__ import annotations

from functools import cache
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from gitsync.errors import GitsyncError
from gitsync.model.live import Live
from gitsync.model.secret import Secret
from tests.extensions.asking import REGISTRY, subject
from tests.extensions.exporting import exporters
from tests.extensions.test_exporters_tables import ACTIONS, TOLD
from tests.support.hypothesis_profile import scale

MARK = "hunter2"


@cache
def words() -> list[str]:
    """Names that the tables look for, so that made-up answers go deep."""
    found = set()

    def look(value: Any) -> None:
        for name, member in value.items() if isinstance(value, dict) else enumerate(value):
            found.update({name} if isinstance(name, str) else ())
            if isinstance(member, dict | list):
                look(member)
            elif isinstance(member, str):
                found.add(member)

    for cells in (*ACTIONS, *TOLD):
        look(cells[-2])
    return sorted(word for word in found if word.isascii())


leaves = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text().map(lambda text: MARK + text)
)
names = st.sampled_from(words())
answers = st.recursive(
    leaves | names,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4),
    max_leaves=12,
)


class Says:
    """Answers everything with the same."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    async def call(self, path, api_version, body=None, *, query=None):
        return self.answer

    async def pages(self, path, api_version):
        return self.answer


@settings(max_examples=scale(150), deadline=None)
@given(kind=st.sampled_from(sorted(exporters())), answer=answers)
async def test_an_answer_gives_secrets_or_an_error_without_its_values(kind, answer):
    wanted = exporters()[kind].fields
    about = subject(*kind, own=Live(body={"properties": answer}))
    try:
        found = await REGISTRY.export_secrets(about, Says(answer), wanted)
    except GitsyncError as error:
        assert MARK not in str(error)
        return
    assert found.keys() <= wanted
    assert all(type(secret) is Secret for secret in found.values())
    assert MARK not in repr(found)


@settings(max_examples=scale(50), deadline=None)
@given(kind=st.sampled_from(sorted(exporters())), data=st.data())
async def test_what_is_given_does_not_depend_on_what_else_is_wanted(kind, data):
    said = {cells[3]: cells[5] for cells in ACTIONS if cells[:2] == kind}
    told = {name: value for cells in TOLD if cells[:2] == kind for name, value in cells[2].items()}
    about = subject(*kind, own=Live(body={"properties": told}))
    wanted = data.draw(st.sets(st.sampled_from(sorted(exporters()[kind].fields)), min_size=1))

    async def given_for(fields):
        from tests.extensions.exporting import Answers

        return await REGISTRY.export_secrets(about, Answers(said), frozenset(fields))

    together = await given_for(wanted)
    assert together == {field: value for name in sorted(wanted) for field, value in (await given_for({name})).items()}
    assert list(together) == sorted(together)
