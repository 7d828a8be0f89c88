"""How a manifest of an Entra ID object finds that object: `spec.operatorSpec.creationMode`
(docs/how-to/groups.md#which-group-a-manifest-means).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

ENTRA_GROUP: Final = "entra.azure.com"
ADOPT_ONLY: Final = "AdoptOnly"
ALWAYS_CREATE: Final = "AlwaysCreate"


def read_creation_mode(spec: Mapping[str, Any]) -> Any:
    """Read the creationMode of a spec, which may be invalid; None for the default, AdoptOrCreate."""
    operator = spec.get("operatorSpec")
    return operator.get("creationMode") if isinstance(operator, Mapping) else None
