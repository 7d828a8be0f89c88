"""Find what git cannot bring back into an empty subscription, what stops a rebuild first.

Pure: the manifests say most of it. The status adds what the resources of today export, and the Secrets that they were
written with.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from gitsync.config.config import Config
from gitsync.model.manifests import Manifests
from gitsync.model.record import State
from gitsync.model.rehearsal import Gap, GapKind
from gitsync.model.unit import Unit
from gitsync.rehearsal.fixed_ids import find_fixed_ids
from gitsync.rehearsal.missing_values import find_missing_values
from gitsync.rehearsal.outside import find_outside
from gitsync.rehearsal.rebuild import Rebuild
from gitsync.rehearsal.restores import find_losses

_ORDER: Final = tuple(GapKind)


def find_gaps(
    rebuild: Rebuild, manifests: Manifests, config: Config, units: Iterable[Unit], state: State
) -> tuple[Gap, ...]:
    """Find all gaps, in the order in which they are solved. `state` is that of the status branch, and `config` says
    where the values of Secrets are looked for.
    """
    credentials = {key: record.credential for key, record in state.records.items() if record.credential}
    gaps = (
        *find_outside(rebuild, manifests.known_ids),
        *find_missing_values(rebuild, manifests, config, units, credentials),
        *find_fixed_ids(rebuild, state.config_maps),
        *find_losses(rebuild),
    )
    return tuple(sorted(gaps, key=lambda gap: (not gap.stops, _ORDER.index(gap.kind), gap.key, gap.field, gap.message)))
