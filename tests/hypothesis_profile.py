"""Which hypothesis profile the tests use: `ci` has no deadline, `dev` has hypothesis' own."""

from __future__ import annotations

from collections.abc import Mapping


def choose_profile(variables: Mapping[str, str], *, load: float, cores: int) -> str:
    """The profile that HYPOTHESIS_PROFILE names, else `ci` in CI, beside other test processes and under load."""
    if named := variables.get("HYPOTHESIS_PROFILE"):
        return named
    is_ci = variables.get("CI", "").casefold() not in ("", "0", "false")
    is_parallel = "PYTEST_XDIST_WORKER" in variables
    return "ci" if is_ci or is_parallel or load > cores / 2 else "dev"
