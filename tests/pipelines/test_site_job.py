"""The job that makes a site of the status branch: without an identity, and public only if somebody has decided so."""

from __future__ import annotations

from pathlib import Path

import yaml

from tests.pipelines.hosted import host_estate

WORKFLOW = yaml.safe_load(
    (Path(__file__).resolve().parent.parent.parent / "deploy" / "pipelines" / "site-github.yaml").read_text()
)


def test_the_job_makes_the_site_of_what_was_synced(tmp_path):
    (make, keep) = WORKFLOW["jobs"]["site"]["steps"]
    with host_estate(tmp_path, "x-access-token") as estate:
        synced = estate.job("push", estate.git("rev-parse", "main"), command="sync")
        assert synced.run("Install gitsync")["exit-code"] == "0", synced.log
        job = estate.job("schedule", estate.git("rev-parse", "main"), command=make["with"]["command"])
        for name in ("GITSYNC_EMULATOR", "AZURE_SUBSCRIPTION_ID"):
            job.env.pop(name, None)
        outputs = job.run("Install gitsync")
        assert outputs["exit-code"] == "0", job.log
        site = Path(outputs["site"])
        assert (site / "index.html").is_file()
        assert '"command":"sync"' in (site / "data" / "site.js").read_text()
        assert outputs["report"] == "", "there is none to post"
        assert estate.host.comments == []
    assert keep["with"]["path"] == "${{ steps.site.outputs.site }}"


def test_github_pages_needs_a_decision():
    pages = WORKFLOW["jobs"]["pages"]
    refusal, *others = pages["steps"]
    assert "vars.GITSYNC_SITE_PAGES != ''" in pages["if"]
    assert refusal["if"] == "${{ vars.GITSYNC_SITE_PAGES != 'public' }}"
    assert refusal["run"].rstrip().endswith("exit 1")
    assert all("if" not in step for step in others), "a step with a condition of its own may run after the refusal"
