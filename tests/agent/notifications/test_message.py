"""What a message reports: a line each of what is known, whatever its target is named, and the page of the job."""

from dataclasses import replace

import pytest

from gitsync.agent.notifications.message import make_message
from gitsync.model.report import RunTarget
from tests.report.report_builders import FULL
from tests.support.hostile_texts import HOSTILE


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_name_is_a_part_of_its_line(text):
    target = RunTarget(repository=text or "x", revision=text, subscription=text, agent=text)
    lines = make_message("drifted", "", replace(FULL, target=target), {}).body.split("\n")
    assert [line.partition(":")[0] for line in lines[2:]] == ["Source", "Subscription", "Agent"]
    assert all(line.isprintable() and len(line) <= 301 for line in lines)


def test_a_change_names_the_state_before_and_the_job():
    job = {"GITLAB_CI": "true", "CI_JOB_URL": "https://gitlab.example.com/acme/estate/-/jobs/987"}
    message = make_message("failed, due", "drifted", FULL, job)
    assert message.title == "gitsync: failed, due"
    first, *_, last = message.body.split("\n")
    assert first == "Something failed; a hold has ended, and its changes are due. Before: drifted."
    assert last == job["CI_JOB_URL"]
