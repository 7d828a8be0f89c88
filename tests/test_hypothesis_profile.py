"""A loaded machine fails no property test: which profile is chosen, and what the profiles say."""

import re
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.support.hypothesis_profile import choose_profile, scale

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


@pytest.mark.parametrize("name", ["ci", "usual"])
def test_the_profile_of_a_loaded_machine_has_no_deadline(name):
    profile = settings.get_profile(name)
    assert profile.deadline is None
    assert HealthCheck.too_slow in profile.suppress_health_check


def test_the_profile_of_a_person_has_one():
    assert settings.get_profile("dev").deadline == timedelta(milliseconds=200)


@pytest.mark.parametrize(
    ("profile", "examples", "expected", "why"),
    [
        ("ci", 6, 6, "CI has all of them"),
        ("dev", 6, 6, "more than CI has are never drawn"),
        ("usual", 10, 4, "two fifths, as of laws without a number of their own"),
        ("usual", 2, 1, "one is drawn in any case"),
    ],
)
def test_a_law_with_a_number_of_its_own_follows_the_profile(profile, examples, expected, why):
    before = settings.get_current_profile_name()
    settings.load_profile(profile)
    try:
        assert scale(examples) == expected, why
    finally:
        settings.load_profile(before)


def test_no_test_brings_a_deadline_of_its_own_back():
    """A deadline at a test would count in every profile."""
    own = re.compile(r"@settings\([^)]*deadline=(?!None)")
    assert [path.name for path in TESTS.rglob("test_*.py") if own.search(path.read_text(encoding="utf-8"))] == []
