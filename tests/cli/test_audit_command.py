"""`gitsync audit`: a night of changes by three callers, one undone, over the emulator's log and a real status branch."""

import json
import subprocess
import time
from datetime import datetime

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse

from tests.support.command_line import SUBSCRIPTION, run_here
from tests.support.git_repositories import commit_all, init_repository

GROUP = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/shop"
ACCOUNT = f"{GROUP}/providers/Microsoft.Storage/storageAccounts/shoporders"
NETWORK = f"{GROUP}/providers/Microsoft.Network/virtualNetworks/hub"
ROBOT = "44444444-0000-4000-8000-000000000000"
MANIFESTS = """\
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {name: shop}
spec: {location: westeurope}
---
apiVersion: storage.azure.com/v1api20230101
kind: StorageAccount
metadata: {name: shoporders}
spec: {owner: {name: shop}, location: westeurope, kind: StorageV2, sku: {name: Standard_LRS}, minimumTlsVersion: TLS1_2}
---
apiVersion: network.azure.com/v20250301
kind: VirtualNetwork
metadata: {name: hub}
spec: {owner: {name: shop}, location: westeurope, addressSpace: {addressPrefixes: [10.0.0.0/16]}}
"""
AT_ONCE = "settings:\n  changeLog: {resourceGraphDelay: 0, actorDelay: 0, activityLogDelay: 0}\n"
NIGHT = f"""\
{AT_ONCE}
moves:
- {{after: 0, by: rob@contoso.com, with: Azure Portal, id: {ACCOUNT}, set: {{/properties/minimumTlsVersion: TLS1_0}}}}
- {{after: 0, by: "{ROBOT}", id: {NETWORK}, set: {{/tags: {{by: robot}}}}}}
"""


@pytest.fixture(scope="module")
def night(tmp_path_factory):
    """A sync, a night of a person and an application, and a sync in the morning that undoes what git sets."""
    folder = tmp_path_factory.mktemp("night")
    source = folder / "source"
    source.mkdir()
    (source / "shop.yaml").write_text(MANIFESTS)
    init_repository(source)
    commit_all(source)
    variables = {
        "AZURE_SUBSCRIPTION_ID": SUBSCRIPTION,
        "GITSYNC_EMULATOR": str(folder / "azure.db"),
        "GITSYNC_EMULATOR_SCRIPT": str(folder / "script.yaml"),
        "GITSYNC_STATUS_BRANCH": "gitsync/status",
    }
    for script in (AT_ONCE, NIGHT):
        (folder / "script.yaml").write_text(script)
        done = run_here("sync", str(source), "--yes", folder=folder, **variables)
        assert done.code == 0, done.err
    return folder, source, variables


def audit(night, *arguments, **more):
    folder, source, variables = night
    return run_here("audit", str(source), *arguments, folder=folder, **variables, **more)


@pytest.fixture(scope="module")
def document(night):
    """What the audit prints as JSON."""
    done = audit(night, "-o", "json")
    assert done.code == 4, done.err
    return json.loads(done.out)


def test_each_of_a_night_is_attributed_also_what_was_undone(document):
    assert document["counts"] == {"other": 1, "unknown": 1, "ours": 0, "run": 4}
    shown = [
        (
            operation["armId"].rpartition("/")[2],
            operation["verb"],
            operation["origin"],
            operation["author"]["name"],
            operation["undone"] is not None,
        )
        for operation in document["operations"]
        if operation["origin"] != "run"
    ]
    assert sorted(shown) == [
        (
            "hub",
            "written",
            "unknown",
            ROBOT,
            False,
        ),  # git sets no tags, so nothing undid it; gitsync does not sign in here
        ("shoporders", "written", "other", "rob@contoso.com", True),
    ]


def test_a_run_is_named_by_what_it_synced_and_its_status(night, document):
    _, source, _ = night
    commits = git(source, "log", "--format=%H", "gitsync/status").split()
    runs = [operation["run"] for operation in document["operations"] if operation["origin"] == "run"]
    assert {run["revision"] for run in runs} == {git(source, "rev-parse", "main")}
    assert {run["commit"] for run in runs} <= set(commits)
    assert len({run["commit"] for run in runs}) == 2
    undone = next(operation["undone"] for operation in document["operations"] if operation["undone"])
    assert undone == max(runs, key=lambda run: run["time"])


def git(folder, *arguments):
    return subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def test_text_reports_who_and_what_is_open(night):
    done = audit(night)
    assert "By others:\n" in done.out
    assert "by rob@contoso.com with Azure Portal; undone since by a run of" in done.out
    assert done.out.splitlines()[-1].startswith("1 operation by others, 1 not known, 0 without a run, 4 by runs, on 3")


@pytest.mark.parametrize("form", ["text", "json", "html"])
@pytest.mark.parametrize(
    ("who", "has_names"), [("auto", False), ("off", False), ("names", True)], ids=["as set", "off", "asked for"]
)
def test_what_a_pipeline_prints_has_names_of_people_if_asked_for(night, tmp_path, form, who, has_names):
    """The status is in an empty folder, which takes no git."""
    folder, source, variables = night
    job = variables | {"GITSYNC_STATUS_BRANCH": "", "CI": "true", "GITHUB_ACTIONS": "true"}
    done = run_here("audit", str(source), "-o", form, f"--who={who}", f"--status-dir={tmp_path}", folder=folder, **job)
    assert done.code == 4, done.err
    assert ("rob@contoso.com" in done.out.replace("&#64;", "@")) is has_names
    assert "rob@" not in done.err


def test_the_page_has_all_of_it(night):
    done = audit(night, "-o", "html")
    assert done.code == 4
    assert done.out.startswith("<!doctype html>")
    assert "rob@contoso.com with Azure Portal" in done.out
    assert '<meta http-equiv="Content-Security-Policy" content="default-src ' in done.out
    assert "<script" not in done.out


@pytest.mark.parametrize(
    ("since", "message"),
    [
        ("91d", "more than 90 days ago"),
        ("2019-01-01", "more than 90 days ago"),
        ("2999-01-01T00:00:00Z", "in the future"),
        ("yesterday", "is neither an age nor a time"),
        ("7w", "is neither an age nor a time"),
    ],
)
def test_a_beginning_that_cannot_be_audited_is_refused(night, since, message):
    done = audit(night, "--since", since)
    assert done.code == 2
    assert message in done.err
    assert "--since" in done.err


def test_what_was_before_the_beginning_is_not_shown(night, document):
    latest = max(datetime.fromisoformat(operation["author"]["at"]) for operation in document["operations"])
    past = latest.timestamp() + 1  # the filter of the log is in seconds
    time.sleep(max(0.0, past - time.time()))  # noqa: TID251 - the command takes the real clock
    done = audit(night, "--since", "0m", "-o", "json")
    assert done.err == ""
    assert (done.code, json.loads(done.out)["operations"]) == (0, [])


def test_a_log_without_a_right_is_not_a_quiet_night(night, tmp_path):
    folder, source, variables = night
    refused = "rules:\n- match: {path: '*/eventtypes/management/values'}\n  answer: {code: AuthorizationFailed}\n"
    (tmp_path / "script.yaml").write_text(AT_ONCE + refused)
    more = variables | {"GITSYNC_EMULATOR_SCRIPT": str(tmp_path / "script.yaml")}
    done = run_here("audit", str(source), folder=folder, **more)
    assert done.code == 1
    assert "Not read in full: Subscription" in done.out


def test_a_source_without_a_subscription_is_refused(tmp_path):
    (tmp_path / "shop.yaml").write_text(MANIFESTS)
    done = run_here("audit", folder=tmp_path)
    assert done.code == 2
    assert "No subscription is set." in done.err


def test_its_figures_are_metrics_also_of_an_audit_that_is_refused(night, tmp_path):
    file = tmp_path / "audit.prom"
    assert audit(night, "--metrics", str(file)).code == 4
    assert read_figures(file) == {"other": 1, "unknown": 1, "ours": 0, "run": 4}
    assert 'gitsync_run_success{agent="gitsync",command="audit"' in file.read_text()
    assert audit(night, "--metrics", str(file), "--path", "nowhere").code == 2
    assert read_figures(file) == {}
    assert "gitsync_last_success_timestamp_seconds{" in file.read_text(), "that of the audit before"


def read_figures(file):
    found = (sample for family in parse(file.read_text()) for sample in family.samples)
    return {
        resource.labels["origin"]: resource.value for resource in found if resource.name == "gitsync_audited_operations"
    }


def test_metrics_that_cannot_be_written_fail_an_audit_after_its_report(night, tmp_path):
    done = audit(night, "--metrics", str(tmp_path / "nowhere" / "audit.prom"))
    assert done.code == 1
    assert "1 operation by others" in done.out
    assert "The metrics cannot be written to" in done.err
