"""The builds that tests keep are those of the same inputs and tools, and never a failure."""

from dataclasses import dataclass, field

import pytest

from gitsync.repository.units.build_sandbox import KustomizationError, UnbuildableError
from tests.support.kept_builds import KeptBuilds


@dataclass
class Job:
    digest: str = "1"
    result: bytes | UnbuildableError = b"kind: A\n"
    path: str = "kustomization.yaml"
    files: dict[str, bytes] = field(default_factory=dict)
    runs: int = 0
    failure: type[UnbuildableError] = KustomizationError

    def run(self, timeout, grace):
        self.runs += 1
        if isinstance(self.result, UnbuildableError):
            raise self.result
        return self.result


class OtherJob(Job):
    pass


def test_a_build_of_an_earlier_run_is_taken(tmp_path):
    first, second = Job(), Job()
    assert KeptBuilds(kept=tmp_path).run([first]) == KeptBuilds(kept=tmp_path).run([second]) == (b"kind: A\n",)
    assert (first.runs, second.runs) == (1, 0)


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (Job(digest="2"), "of other inputs"),
        (OtherJob(), "of another tool"),
    ],
)
def test_another_build_is_not(tmp_path, other, why):
    KeptBuilds(kept=tmp_path).run([Job()])
    KeptBuilds(kept=tmp_path).run([other])
    assert other.runs == 1, why


def test_neither_is_a_build_by_another_version_of_a_tool(tmp_path, monkeypatch):
    tool = tmp_path / "bin" / "helm"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tool.parent))
    KeptBuilds(kept=tmp_path).run([Job()])
    tool.write_text("#!/bin/sh\nexit 1\n")
    other = Job()
    KeptBuilds(kept=tmp_path).run([other])
    assert other.runs == 1


def test_a_failure_is_not_kept(tmp_path):
    fails = Job(result=KustomizationError("It fails.", path="kustomization.yaml"))
    for _ in range(2):
        KeptBuilds(kept=tmp_path).run([fails])
    assert fails.runs == 2
