"""Builds of units that are kept between runs of the tests: kubectl and helm take 70 ms for each."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from gitsync.repository.units.build_sandbox import BuildJob, Builds, Built
from gitsync.settings.processes.programs import Grace

ROOT = Path(__file__).resolve().parent.parent.parent
KEPT = ROOT / ".pytest_cache" / "builds"
_TOOLS = ("helm", "kustomize", "kubectl")
_CODE = ("repository/units", "settings/processes")
"""What builds with them."""


@dataclass(slots=True)
class KeptBuilds(Builds):
    """Takes the result of the same inputs, the same tools and the same code from a folder."""

    kept: Path = KEPT

    def run(self, jobs: Sequence[BuildJob]) -> tuple[Built, ...]:
        folder = self.kept / _digest_tools()
        return Builds.run(self, [_KeptJob(job, folder) for job in jobs])


@dataclass(frozen=True, slots=True)
class _KeptJob:
    job: BuildJob
    folder: Path

    @property
    def path(self) -> str:
        return self.job.path

    @property
    def files(self) -> Mapping[str, bytes]:
        return self.job.files

    @property
    def digest(self) -> str:
        return self.job.digest

    def run(self, timeout: float, grace: Grace) -> bytes:
        file = self.folder / type(self.job).__name__ / self.digest
        if file.exists():
            return file.read_bytes()
        result = self.job.run(timeout, grace)
        file.parent.mkdir(parents=True, exist_ok=True)
        own = file.with_name(f"{file.name}.{os.getpid()}")
        own.write_bytes(result)
        own.replace(file)  # another process may write it too
        return result


def _digest_tools() -> str:
    """Digest which tools are on the search path now, and the code that runs them."""
    found = [Path(os.path.realpath(path)) for path in map(shutil.which, _TOOLS) if path]
    facts = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in found]
    return hashlib.sha256(repr((facts, _digest_code())).encode()).hexdigest()


@cache
def _digest_code() -> str:
    digest = hashlib.sha256()
    for folder in (ROOT / "gitsync" / name for name in _CODE):
        files = sorted(folder.rglob("*.py"))
        assert files, f"{folder} has no code: name the folders that build"
        for file in files:
            digest.update(file.read_bytes())
    return digest.hexdigest()
