"""The duration of a write, as a record keeps it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.planning.record_counts import renew_duration, round_duration


@pytest.mark.parametrize(
    ("seconds", "rounded"),
    [
        pytest.param(0.0, 1, id="at least a second"),
        pytest.param(1.4, 1, id="whole seconds"),
        pytest.param(42.6, 43, id="two digits are exact"),
        pytest.param(137.0, 140, id="of three, two count"),
        pytest.param(1521.0, 1500, id="and of four"),
        pytest.param(99.7, 100, id="a rounding may have a digit more"),
    ],
)
def test_rounding(seconds: float, rounded: int):
    assert round_duration(seconds) == rounded


@pytest.mark.parametrize(
    ("recorded", "measured", "kept"),
    [
        pytest.param(None, None, None, id="nothing is known"),
        pytest.param(None, 42.2, 42, id="the first that was seen"),
        pytest.param(42, None, 42, id="a run without such a write"),
        pytest.param(42, 50.0, 42, id="nearly as before"),
        pytest.param(42, 63.0, 63, id="half as long again"),
        pytest.param(42, 21.0, 21, id="half as long"),
        pytest.param(1, 1.4, 1, id="as short as before"),
        pytest.param(1, 2.0, 2, id="twice as long, though short"),
    ],
)
def test_what_is_recorded(recorded: int | None, measured: float | None, kept: int | None):
    assert renew_duration(recorded, measured) == kept


@given(st.floats(0, 1e6), st.none() | st.integers(1, 10**6))
def test_the_same_duration_again_changes_nothing(measured: float, recorded: int | None):
    once = renew_duration(recorded, measured)
    assert renew_duration(once, measured) == once


@given(st.floats(1, 1e6))
def test_rounding_loses_little(seconds: float):
    assert abs(round_duration(seconds) - seconds) <= max(0.5, 0.05 * seconds) + 0.5
