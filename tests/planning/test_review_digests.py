"""What moved since a plan was reviewed, by the digests of both sides."""

from __future__ import annotations

import pytest

from gitsync.model.arm_id import ArmId
from gitsync.model.plan import Review, Reviewed
from gitsync.model.secret import Placeholder, Secret
from gitsync.model.template import Request
from gitsync.model.verdict import Action
from gitsync.planning.approval import (
    NOT_REVIEWED,
    OUTDATED,
    SECRETS_NOT_REVIEWED,
    digest_desired,
    digest_live,
    find_objection,
    list_runtime_values,
    remove_runtime_values,
)
from tests.support.builders import live, vnet

SEEN = Reviewed(action=Action.UPDATE, desired="d", live="l", etag="e")


def reviewed(**more):
    return Reviewed(**{"action": Action.UPDATE, "desired": "d", "live": "l", "etag": "e"} | more)


def review(digest_key=""):
    return Review(repository="", revision="", prune=False, digest_key=digest_key, nodes={vnet(): SEEN})


@pytest.mark.parametrize(
    "then, now, reason, why",
    [
        (SEEN, SEEN, "", "all is as it was"),
        (None, SEEN, NOT_REVIEWED, "nobody saw it"),
        (reviewed(action=Action.NONE), SEEN, NOT_REVIEWED, "it was to be left alone, and is as it was"),
        (reviewed(action=Action.NONE, live="x"), SEEN, OUTDATED, "it was to be left alone, and moved"),
        (reviewed(desired="x"), SEEN, OUTDATED, "git asks for something else"),
        (reviewed(live="x"), SEEN, OUTDATED, "Azure moved"),
        (reviewed(live=""), SEEN, OUTDATED, "it was not there"),
        (SEEN, reviewed(live=""), OUTDATED, "it is no longer there"),
        (reviewed(action=Action.CREATE), SEEN, OUTDATED, "it was to be created"),
        (reviewed(etag="x"), SEEN, OUTDATED, "its ETag moved"),
        (reviewed(etag=None), SEEN, "", "the provider gave no ETag then"),
        (SEEN, reviewed(etag=None), "", "the provider gives no ETag now"),
        (reviewed(secrets=True), SEEN, SECRETS_NOT_REVIEWED, "no key was there when the plan was made"),
        (reviewed(secrets=True, action=Action.NONE), SEEN, NOT_REVIEWED, "nothing of it is written either way"),
    ],
)
def test_what_a_reviewed_plan_objects_to(then, now, reason, why):
    found = find_objection(review(), then, now, "", quiet=True)
    assert (found.reason if found else "") == reason, why
    assert found is None or found.message.endswith("."), why


@pytest.mark.parametrize(
    "then, now, objects, why",
    [
        ("a", "a", False, "the same key"),
        ("a", "b", True, "another key"),
        ("a", "", True, "no key now"),
        ("", "a", True, "no key then"),
        ("", "", True, "no key at all"),
    ],
)
def test_secrets_need_the_same_key_twice(then, now, objects, why):
    seen = reviewed(secrets=True)
    assert (find_objection(review(then), seen, seen, now, quiet=True) is not None) is objects, why
    assert find_objection(review(then), SEEN, SEEN, now, quiet=True) is None, "nothing else depends on the key"


def test_an_etag_that_this_run_may_have_moved_means_nothing():
    assert find_objection(review(), reviewed(etag="x"), SEEN, "", quiet=False) is None


def request(body, arm_id="/subscriptions/s/resourceGroups/g", api_version="1"):
    return Request(arm_id=ArmId(arm_id), api_version=api_version, body=body)


@pytest.mark.parametrize(
    "left, right, same, why",
    [
        (request({"a": 1, "b": 2}), request({"b": 2, "a": 1}), True, "the order of members"),
        (request({"a": None, "b": 1}), request({"b": 1}), True, "null is nothing"),
        (request({"a": {}}), request({}), False, "an empty object asks for something"),
        (request({}, "/A"), request({}, "/a"), True, "ids compare without case"),
        (request({}, "/a"), request({}, "/b"), False, "another resource"),
        (request({}), request({}, api_version="2"), False, "another api-version"),
        (request({"a": 1}), request({"a": True}), False, "a number is no truth value"),
        (request({"a": [1, 2]}), request({"a": [2, 1]}), False, "the order of a list is sent as it is"),
    ],
)
def test_the_digest_of_what_git_sets(left, right, same, why):
    assert (digest_desired(left, left.body, ()) == digest_desired(right, right.body, ())) is same, why


def test_what_comes_later_is_left_out_on_both_sides():
    planned = request(
        {"a": Placeholder("<configmap x/y>"), "b": [{"c": Placeholder("<configmap x/z>"), "d": 1}]}, "/<x>"
    )
    later = list_runtime_values(planned)
    assert later == ("/a", "/b/0/c", "id")
    known = request({"a": "1", "b": [{"c": "2", "d": 1}]}, "/x")
    digests = {digest_desired(request, remove_runtime_values(request.body, later), later) for request in (known,)}
    assert digests == {digest_desired(planned, remove_runtime_values(planned.body, later), later)}
    assert remove_runtime_values(known.body, later) == {"a": None, "b": [{"c": None, "d": 1}]}


@pytest.mark.parametrize(
    "other, same, why",
    [
        (live(location="x", properties={"counter": 2}), True, "what git does not ask for moves by itself"),
        (live(location="y"), False, "what git asks for moved"),
        (live("Failed", location="x"), False, "its last operation failed since"),
        (live("Updating", location="x"), True, "it is at work"),
    ],
)
def test_the_digest_of_what_azure_returns(other, same, why):
    requested = {"location": "z", "properties": {"password": {"$secret": ""}}}
    assert (digest_live(live(location="x"), requested, {}) == digest_live(other, requested, {})) is same, why


def test_a_secret_that_azure_returns_is_in_no_digest():
    requested = {"properties": {"password": {"$secret": ""}}}
    one, two = (live(properties={"password": value}) for value in ("1", "2"))
    assert digest_live(one, requested, requested) == digest_live(two, requested, requested)


def test_what_was_sent_counts_as_well():
    """A field that was removed from git is shown in the plan with what Azure has, so that must not move either."""
    sent = {"properties": {"mode": "a"}}
    one, two = (live(properties={"mode": value}) for value in ("1", "2"))
    assert digest_live(one, {}, sent) != digest_live(two, {}, sent)


def test_a_secret_is_not_a_value_that_comes_later():
    assert list_runtime_values(request({"a": Secret("x")})) == ()
