from __future__ import annotations

import pytest

from gitsync import api
from gitsync.errors import ConfigError
from gitsync.model.verdict import Verdict
from tests.support.world import GROUP, VNET


@pytest.fixture
def settings(tmp_path):
    folder = tmp_path / "manifests"
    folder.mkdir()
    (folder / "group.yaml").write_text(GROUP)
    (folder / "network.yaml").write_text(VNET)
    return {"source": str(folder), "emulator": str(tmp_path / "azure.db"), "status_dir": str(tmp_path / "status")}


def test_the_two_runs_are_functions(settings):
    assert [result.verdict for result in api.plan(**settings).results] == [Verdict.CREATE] * 2
    assert api.sync(**settings).exit_code == 0
    assert [result.verdict for result in api.plan(**settings).results] == [Verdict.IN_SYNC] * 2


def test_a_refused_run_raises(settings):
    with pytest.raises(ConfigError, match="No resource is called"):
        api.plan(**settings, only=("Nothing/here",))
