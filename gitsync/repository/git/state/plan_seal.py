"""The seal of a plan file: whether it is as a plan wrote it.

With the digest key it is a MAC (RFC 2104), as records have one: only who has the key can change the file. Without the
key it is a plain digest, which everybody can make again: it finds accidents alone.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from gitsync.model.plan import Review
from gitsync.model.secret import Secret
from gitsync.repository.git.state.plan_file import encode_plan

_KEYED: Final = "hmac-sha256"
_AGAIN: Final = "Create a new plan, and have it reviewed."
_SAME_KEY: Final = "Set GITSYNC_DIGEST_KEY to the same key for plan and sync, and create a new plan."


def seal_plan(review: Review, key: Secret | None) -> Review:
    """Return a plan with its seal."""
    return replace(review, seal=_make_seal(review, key))


def find_fault(review: Review, keys: Sequence[Secret]) -> tuple[str, str] | None:
    """Explain what is wrong with the seal of a plan, after "The plan FILE", and how to fix it; None if it holds. `keys`
    are those of the run: the current one, and the one before.

    Without a key a MAC cannot be checked, and a file of an older version, which has no seal, is taken.
    """
    if not review.seal.startswith(f"{_KEYED}:"):
        if keys:
            return "was made without a digest key, so it may have been changed since it was reviewed", _SAME_KEY
        is_complete = not review.seal or _is_same(review.seal, _make_seal(review, None))
        return None if is_complete else ("was changed since it was made: its seal does not fit", _AGAIN)
    own = [key for key in keys if review.seal.split(":")[1] == _name_key(key)]
    if keys and not own:
        return "was sealed with a digest key that this run does not have", _SAME_KEY
    if any(not _is_same(review.seal, _make_seal(review, key)) for key in own):
        return "was changed since it was made: its seal does not fit", _AGAIN
    return None


def _make_seal(review: Review, key: Secret | None) -> str:
    text = encode_plan(replace(review, seal=""))
    if key is None:
        return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
    return f"{_KEYED}:{_name_key(key)}:{_make_hmac(key, text)}"


def _name_key(key: Secret) -> str:
    """Make a name for a key that does not reveal it."""
    return _make_hmac(key, "the name of the key")[:8]


def _make_hmac(key: Secret, text: str) -> str:
    """Make a digest with a key of its own, so that no digest of a secret and no seal of a record is one of a plan."""
    plan_key = hmac.digest(key.reveal().encode(), b"seals of plan files", "sha256")
    return hmac.digest(plan_key, text.encode(errors="surrogatepass"), "sha256").hex()


def _is_same(left: str, right: str) -> bool:
    return hmac.compare_digest(left.encode(errors="surrogatepass"), right.encode())
