"""Which hypothesis profile the tests use, and how many examples a law has: `usual` has fewer examples than `ci`, `dev`
more, and `deep` so many that a law which fails once in many runs of CI fails at once. None has a deadline.
"""

from __future__ import annotations

import os
import random
from collections.abc import Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")

_OF_CI = 50
"""Examples of a law. Each run has others, so half of hypothesis' hundred is enough for one of many."""
_USUAL = 10
_OF_DEV = 100
_OF_DEEP = 50 * _OF_CI


def load_profile(processes: int) -> None:
    """Register the profiles, and load the one that fits a run of tests in so many processes."""
    from hypothesis import HealthCheck, settings

    # Under load, which may begin later, an example may take any time. That reports nothing about the code, so no test
    # fails for it.
    settings.register_profile("ci", deadline=None, max_examples=_OF_CI, suppress_health_check=[HealthCheck.too_slow])
    settings.register_profile("usual", settings.get_profile("ci"), max_examples=_USUAL)
    settings.register_profile("dev", settings.get_profile("ci"), max_examples=_OF_DEV)
    settings.register_profile("deep", settings.get_profile("ci"), max_examples=_OF_DEEP)
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    settings.load_profile(choose_profile(os.environ, load=load, cores=cores, processes=processes))


def choose_profile(variables: Mapping[str, str], *, load: float, cores: int, processes: int) -> str:
    """The profile that HYPOTHESIS_PROFILE names, else `ci` in CI, and `usual` beside other test processes and under
    load.
    """
    if named := variables.get("HYPOTHESIS_PROFILE"):
        return named
    if variables.get("CI", "").casefold() not in ("", "0", "false"):
        return "ci"
    return "usual" if processes > 1 or load > cores / 2 else "dev"


def scale(examples: int) -> int:
    """Examples of a law that has a number of its own, since one takes long: all of them in CI, fewer in usual runs, and
    many times as many with `deep`.
    """
    from hypothesis import settings

    of_profile = settings().max_examples
    drawn = of_profile if of_profile == _OF_DEEP else min(of_profile, _OF_CI)
    return max(1, examples * drawn // _OF_CI)


def sample(moments: Sequence[T]) -> list[T]:
    """The moments, in order, at which a test kills or stops a run, or Azure fails: each of them in CI, some in usual
    runs, at least two, and others each time.
    """
    chosen = random.sample(range(len(moments)), min(len(moments), max(2, scale(len(moments)))))
    return [moments[index] for index in sorted(chosen)]
