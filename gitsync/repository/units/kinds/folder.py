"""Folders whose files are manifests as they are: nothing builds them."""

from __future__ import annotations

from typing import Final

from gitsync.repository.units.kinds.builder import UnitBuilder


class Folders(UnitBuilder):
    """Files that no unit of another kind owns, as discovery leaves them."""


BUILDER: Final = Folders()
