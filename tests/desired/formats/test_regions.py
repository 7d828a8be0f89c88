"""The names of regions, of all clouds, and no others."""

import pytest

from gitsync.desired.formats.regions import REGIONS, is_known_region


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("westeurope", "a public region"),
        ("denmarkeast", "one that opened late"),
        ("indiasouthcentral", "one that opened late"),
        ("usgovvirginia", "Azure Government"),
        ("usdodeast", "its part for the military"),
        ("chinanorth3", "China"),
        ("bleufrancecentral", "a sovereign cloud"),
        ("eastus2euap", "early access"),
        ("global", "a service without a region"),
        ("unitedstates", "a geography, as Azure AD B2C has it"),
    ],
)
def test_a_region_is_known(name, why):
    assert is_known_region(name), why


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("westeurop", "a letter is missing"),
        ("easteurope", "Azure has none there"),
        ("eu-west-1", "a region of another provider"),
        ("austriawest", "no list of Microsoft has it"),
        ("", "nothing"),
    ],
)
def test_another_name_is_not(name, why):
    assert not is_known_region(name), why


def test_each_is_written_as_arm_has_it():
    assert all(name.isalnum() and name == name.casefold() for name in REGIONS)
