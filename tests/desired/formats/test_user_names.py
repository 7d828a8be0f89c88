"""Users of databases as steps of ids."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.desired.formats.user_names import DatabaseUser, format_user, parse_user
from gitsync.desired.validation.references import is_arm_id
from gitsync.model.arm_id import ArmId


@pytest.mark.parametrize(
    ("user", "step", "why"),
    [
        (DatabaseUser("app"), "app", "a plain name stays as it is"),
        (DatabaseUser("app", "10.0.0.1"), "app@10.0.0.1", "a host that is not any"),
        (DatabaseUser("app", "%"), "app", "any host"),
        (DatabaseUser("me@example.com"), "me%40example.com", "an @ of the name is not that of the host"),
        (DatabaseUser("a/b"), "a%2Fb", "a slash would be a step of its own"),
        (DatabaseUser(".."), "%2E%2E", "a step that changes the path"),
        (DatabaseUser("App"), "%41pp", "ids compare without case, and servers with it"),
        (DatabaseUser("%41pp"), "%2541pp", "a name that looks encoded"),
        (DatabaseUser("a b'\"`\0é"), "a%20b%27%22%60%00%C3%A9", "what else a name may have"),
    ],
)
def test_a_user_is_one_step(user, step, why):
    assert format_user(user) == step, why
    assert parse_user(step) == user, why


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
USERS = st.builds(DatabaseUser, TEXTS, TEXTS)


@given(USERS)
def test_a_step_is_read_back_in_any_case_of_the_id(user):
    step = format_user(user)
    assert parse_user(step) == user
    assert parse_user(ArmId(f"/{step}").key[1:]) == user


@given(USERS, USERS)
def test_two_users_have_two_ids(one, other):
    assert (ArmId(format_user(one)).key == ArmId(format_user(other)).key) == (one == other)


@given(USERS)
def test_a_step_does_not_change_the_path(user):
    step = format_user(user)
    assert "/" not in step
    assert step.strip(".")
    assert is_arm_id(f"/subscriptions/0/resourceGroups/g/providers/M.D/servers/s/users/{step.replace('%', '_')}")
