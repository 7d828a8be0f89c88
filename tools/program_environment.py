"""The environment of the programs that tools start."""

from __future__ import annotations

import os
from collections.abc import Mapping


def make_environment(settings: Mapping[str, str], person: str, drop: tuple[str, ...]) -> dict[str, str]:
    """Ours without the variables whose names begin with `drop`, with an author of commits, and with `settings`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(drop)}
    return {**kept, **name_person(person), **settings}


def name_person(name: str) -> dict[str, str]:
    """The variables that name an author of commits to git."""
    values = {"NAME": name, "EMAIL": f"{name.lower()}@contoso.example"}
    return {f"GIT_{role}_{part}": value for role in ("AUTHOR", "COMMITTER") for part, value in values.items()}
