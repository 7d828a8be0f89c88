"""A loaded machine fails no property test: which profile is chosen, and what the profiles say."""

import re
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.support.hypothesis_profile import choose_profile

TESTS = Path(__file__).resolve().parent


@pytest.mark.parametrize(
    ("variables", "load", "processes", "profile", "why"),
    [
        ({}, 0.1, 0, "dev", "a person on an idle machine hears of slow code"),
        ({"CI": "true"}, 0.1, 0, "ci", "GitHub Actions and GitLab set it"),
        ({"CI": "false"}, 0.1, 0, "dev", "some tools set it to false"),
        ({"CI": ""}, 0.1, 0, "dev", "an empty variable is as good as none"),
        ({}, 0.1, 2, "ci", "several test processes share the machine"),
        ({}, 2.0, 0, "ci", "something else uses the machine"),
        ({"HYPOTHESIS_PROFILE": "dev", "CI": "true"}, 9.0, 0, "dev", "who names a profile gets it"),
    ],
)
def test_the_profile_fits_the_machine(variables, load, processes, profile, why):
    assert choose_profile(variables, load=load, cores=2, processes=processes) == profile, why


def test_the_profile_of_a_loaded_machine_has_no_deadline():
    profile = settings.get_profile("ci")
    assert profile.deadline is None
    assert HealthCheck.too_slow in profile.suppress_health_check


def test_the_profile_of_a_person_has_one():
    assert settings.get_profile("dev").deadline == timedelta(milliseconds=200)


def test_no_test_brings_a_deadline_of_its_own_back():
    """A deadline at a test would count in every profile."""
    own = re.compile(r"@settings\([^)]*deadline=(?!None)")
    assert [path.name for path in TESTS.rglob("test_*.py") if own.search(path.read_text(encoding="utf-8"))] == []
