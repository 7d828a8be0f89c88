"""Which hypothesis profile the tests use: `ci` has no deadline, `dev` has hypothesis' own."""

from __future__ import annotations

import os
from collections.abc import Mapping


def load_profile(processes: int) -> None:
    """Register the profiles, and load the one that fits a run of tests in so many processes."""
    from hypothesis import HealthCheck, settings

    # Under load an example may take any time. That reports nothing about the code, so no test fails for it. Each run
    # has other examples, so half of hypothesis' hundred is enough for one of many.
    settings.register_profile("ci", deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow])
    settings.register_profile("dev", settings.get_profile("default"))
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    settings.load_profile(choose_profile(os.environ, load=load, cores=cores, processes=processes))


def choose_profile(variables: Mapping[str, str], *, load: float, cores: int, processes: int) -> str:
    """The profile that HYPOTHESIS_PROFILE names, else `ci` in CI, beside other test processes and under load."""
    if named := variables.get("HYPOTHESIS_PROFILE"):
        return named
    is_ci = variables.get("CI", "").casefold() not in ("", "0", "false")
    return "ci" if is_ci or processes > 1 or load > cores / 2 else "dev"
