"""A loaded machine fails no property test: which profile is chosen, and what the profiles say."""

import re
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.support.hypothesis_profile import choose_profile, sample, scale

TESTS = Path(__file__).resolve().parent


@pytest.mark.parametrize(
    ("variables", "load", "processes", "profile", "why"),
    [
        ({}, 0.1, 0, "dev", "a person on an idle machine hears of slow code"),
        ({"CI": "true"}, 0.1, 0, "ci", "GitHub Actions and GitLab set it"),
        ({"CI": "true"}, 9.0, 3, "ci", "CI runs each law with many examples, in several processes too"),
        ({"CI": "false"}, 0.1, 0, "dev", "some tools set it to false"),
        ({"CI": ""}, 0.1, 0, "dev", "an empty variable is as good as none"),
        ({}, 0.1, 2, "usual", "several test processes share the machine"),
        ({}, 2.0, 0, "usual", "something else uses the machine"),
        ({"HYPOTHESIS_PROFILE": "dev", "CI": "true"}, 9.0, 0, "dev", "who names a profile gets it"),
    ],
)
def test_the_profile_fits_the_machine(variables, load, processes, profile, why):
    assert choose_profile(variables, load=load, cores=2, processes=processes) == profile, why


@pytest.mark.parametrize("name", ["ci", "usual", "dev", "deep"])
def test_no_profile_has_a_deadline(name):
    profile = settings.get_profile(name)
    assert profile.deadline is None
    assert HealthCheck.too_slow in profile.suppress_health_check


@pytest.mark.parametrize(
    ("profile", "examples", "expected", "why"),
    [
        ("ci", 6, 6, "CI has all of them"),
        ("dev", 6, 6, "a person waits no longer than CI"),
        ("deep", 6, 300, "fifty runs of CI"),
        ("usual", 10, 2, "a fifth, as of laws without a number of their own"),
        ("usual", 2, 1, "one is drawn in any case"),
    ],
)
def test_a_law_with_a_number_of_its_own_follows_the_profile(profile, examples, expected, why):
    with in_profile(profile):
        assert scale(examples) == expected, why


def test_a_run_is_stopped_at_each_moment_in_ci_and_at_some_in_usual_runs():
    moments = list("abcdefghij")
    for profile in ("ci", "deep"):
        with in_profile(profile):
            assert sample(moments) == moments
    with in_profile("usual"):
        chosen = [sample(moments) for _ in range(100)]
    assert {len(some) for some in chosen} == {2}
    assert all(some == sorted(some) for some in chosen)
    assert {moment for some in chosen for moment in some} == set(moments)


@contextmanager
def in_profile(name):
    before = settings.get_current_profile_name()
    settings.load_profile(name)
    try:
        yield
    finally:
        settings.load_profile(before)


def test_no_test_brings_a_deadline_of_its_own_back():
    """A deadline at a test would count in every profile."""
    own = re.compile(r"@settings\([^)]*deadline=(?!None)")
    assert [path.name for path in TESTS.rglob("test_*.py") if own.search(path.read_text(encoding="utf-8"))] == []
