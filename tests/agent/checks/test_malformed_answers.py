"""Whatever Azure answers, the checks of locks, names and versions read it or report that they cannot: none raises."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.agent.checks import locks, names, versions
from gitsync.agent.checks.names import SOFT_DELETES
from gitsync.model.check import CheckVerdict
from tests.agent.checks.asking import GROUP, change, storage

LOCK = f"{GROUP}/providers/Microsoft.Authorization/locks/keep"
WORDS = ["id", "name", "properties", "level", "owners", "notes", "applicationId", "scope", "permissions", "actions"]
WORDS += ["principals", "excludePrincipals", "vaultId", "location", "resourceTypes", "resourceType", "apiVersions"]
WORDS += ["locations", "nameAvailable", "reason", "message"]
LEAVES = (
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from([LOCK, GROUP, "ReadOnly", "*"])
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=4),
    max_leaves=8,
)
ROWS = st.dictionaries(st.sampled_from(WORDS), VALUES, max_size=8)


@given(row=ROWS, properties=ROWS)
def test_an_unexpected_entry_of_a_list_raises_nothing(row, properties):
    row = {**row, "properties": properties}
    lock, denial = locks.read_lock(row), locks.read_deny_assignment(row)
    assert locks.evaluate(storage(exports_secrets=True), [lock] if lock else [], [denial] if denial else [])
    for kind, soft in SOFT_DELETES.items():
        create = change(f"{GROUP}/providers/{kind}/x")
        for holder in names.read_holders([row], soft) or ():
            assert names.evaluate_holder(create, soft, holder).verdict


@given(answer=ROWS)
def test_an_unexpected_answer_about_a_name_is_free_only_if_it_reports_it(answer):
    finding = names.evaluate_answer(answer, "x")
    assert (finding.verdict is CheckVerdict.FINE) == (answer.get("nameAvailable") is True)


@given(answer=ROWS, rows=st.lists(ROWS, max_size=2))
def test_unexpected_metadata_of_a_provider_is_never_fine(answer, rows):
    listings = versions.read_listings({**answer, "resourceTypes": rows})
    if listings is not None:
        (finding, *_) = versions.evaluate(storage(), listings)
        assert finding.verdict is not CheckVerdict.FINE


@pytest.mark.parametrize("text", ["a\nb", "x" * 2000])
def test_an_azure_text_is_one_short_line(text):
    row = {"id": LOCK, "properties": {"level": "ReadOnly", "notes": text, "owners": [{"applicationId": text}]}}
    (finding,) = locks.evaluate(storage(), [locks.read_lock(row)], [])
    holder = names.read_holders(
        [{"name": "stapp1", "id": GROUP, "location": text}], SOFT_DELETES["microsoft.cognitiveservices/accounts"]
    )[0]
    held = names.evaluate_holder(storage(), SOFT_DELETES["microsoft.cognitiveservices/accounts"], holder)
    for line in (finding.message, finding.contact, held.message, held.advice):
        assert "\n" not in line
        assert len(line) < 1500
