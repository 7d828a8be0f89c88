"""The error text of a source or sink, safe to show: on one line, bounded, and without the values that it was sent."""

from __future__ import annotations

from collections.abc import Iterable

from gitsync.model.secret import MASKED, Secret
from gitsync.redaction import truncate

_LONGEST = 500  # characters


def format_complaint(message: object, hidden_values: Iterable[Secret]) -> str:
    """The text of a refusal without its full stop; "" if there is none."""
    text = " ".join(str(message or "").split())
    for secret in hidden_values:
        if secret.reveal():
            text = text.replace(secret.reveal(), MASKED)
    return truncate(text, _LONGEST).rstrip(".")
