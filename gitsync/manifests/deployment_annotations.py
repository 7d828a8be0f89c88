"""What annotations of deployment tools ask for a single object: its order, and whether it is ever deleted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

WAVE: Final = "argocd.argoproj.io/sync-wave"
SYNC_OPTIONS: Final = "argocd.argoproj.io/sync-options"
RESOURCE_POLICY: Final = "helm.sh/resource-policy"

_KEEPING: Final = frozenset({"Prune=false", "Delete=false", "Prune=confirm", "Delete=confirm"})
_LONGEST_WAVE: Final = 9


def read_wave(annotations: Mapping[str, Any]) -> int:
    """The sync wave of an object: lower ones go first. One that is no number counts as 0, as in Argo CD."""
    text = annotations.get(WAVE)
    digits = text[text[:1] in {"-", "+"} :] if isinstance(text, str) else ""
    is_number = digits.isascii() and digits.isdigit() and len(digits) <= _LONGEST_WAVE
    return int(str(text)) if is_number else 0


def keeps_resources(options: str) -> bool:
    """Tell whether sync options, divided by commas, keep a resource that is removed from git. Those that ask a person
    first keep it too.
    """
    return not _KEEPING.isdisjoint(option.strip() for option in options.split(","))


def find_keeper(annotations: Mapping[str, str]) -> str:
    """Return the annotation of a resource that says that it is never deleted; "" if none does. Helm has one with the
    value keep (https://helm.sh/docs/howto/charts_tips_and_tricks/#tell-helm-not-to-uninstall-a-resource).
    """
    if not annotations:
        return ""
    if keeps_resources(annotations.get(SYNC_OPTIONS, "")):
        return SYNC_OPTIONS
    return RESOURCE_POLICY if annotations.get(RESOURCE_POLICY, "").strip().casefold() == "keep" else ""
