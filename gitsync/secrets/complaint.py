"""The error text of a source or sink, safe to show: on one line, bounded, and without the values that it was sent."""

from __future__ import annotations

from collections.abc import Iterable

from gitsync.model.secret import MASKED, Secret
from gitsync.redaction import truncate

_LONGEST = 500  # characters


def format_complaint(said: object, hides: Iterable[Secret]) -> str:
    """The text of a refusal without its full stop; "" where nothing was said."""
    text = " ".join(str(said or "").split())
    for secret in hides:
        if secret.reveal():
            text = text.replace(secret.reveal(), MASKED)
    return truncate(text, _LONGEST).rstrip(".")
