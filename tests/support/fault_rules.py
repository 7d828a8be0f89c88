"""Rules of the emulator's script, written in a line each."""

from __future__ import annotations

import tempfile
from pathlib import Path

from gitsync.emulator.faults import FaultRule
from gitsync.emulator.settings import read_settings


def rules(*lines: str) -> tuple[FaultRule, ...]:
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "script.yaml"
        script.write_text("rules:\n" + "".join(f"  - {line}\n" for line in lines))
        return read_settings(script).rules
