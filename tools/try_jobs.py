"""Try many workers as an Indexed Job of a real Kubernetes (docs/tested-servers.md).

    PATH=$(python tools/build_kubernetes.py):$PATH python tools/try_jobs.py [WORD ...]

It starts etcd, kube-apiserver and the controllers of Jobs on the loopback interface, applies the objects of
deploy/kubernetes as docs/kubernetes.md describes, and runs each pod as a process. Kubernetes' controllers decide about
tries, failures and ends; what came of it is compared with the records of one worker, and with what Azure was sent. It
prints what was seen in each case; WORD selects cases by their names. The exit code is 1 if a case ended in another way,
and 2 if a program is missing.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from job_site import CLUSTER_PROGRAMS, WORKERS, Bench, Job, Site, Trial, opening_site, running_cluster, wait_until
from pod_runner import FAILURES, INDEX, Pod, find_path

PROGRAMS = (*CLUSTER_PROGRAMS, "kubectl", "git")
NOWHERE = "http://127.0.0.1:9"  # where nothing listens
COMPLETE, FAILED = "Complete", "Failed"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", metavar="WORD")
    words = parser.parse_args().words
    if missing := [name for name in PROGRAMS if not shutil.which(name)]:
        print(f"Not on PATH: {', '.join(missing)}. Run tools/build_kubernetes.py.", file=sys.stderr)
        return 2
    cases = [case for case in CASES if not words or any(word in case.name for word in words)]
    with tempfile.TemporaryDirectory(prefix="gitsync-jobs-") as name, running_cluster(Path(name)) as bench:
        print(f"Kubernetes {bench.server.ask('GET', '/version')['gitVersion']}", flush=True)
        failed = sum(not try_case(bench, case) for case in cases)
    print(f"{len(cases) - failed} of {len(cases)} cases ended as expected.")
    return 1 if failed else 0


def try_case(bench: Bench, case: Case) -> bool:
    """Try a case in a namespace of its own, and print what was seen; of one that ends in another way, logs as well."""
    began = time.monotonic()
    with opening_site(bench, case.trial) as site:
        try:
            case.act(site)
        except (RuntimeError, TimeoutError) as error:
            site.said += [str(error), site.list_ends(), site.read_logs()]
            is_expected = False
        else:
            is_expected = True
    print(f"{'ok  ' if is_expected else 'DIFF'} {case.name} ({time.monotonic() - began:.0f} s)")
    print("\n".join(f"       {line}" for line in site.said), flush=True)
    return is_expected


@dataclass(frozen=True)
class Case:
    name: str
    act: Callable[[Site], None]
    trial: Trial = field(default_factory=Trial)


def expect(holds: bool, sentence: str) -> None:  # noqa: FBT001 - a claim and whether it holds
    if not holds:
        raise RuntimeError(f"This does not hold: {sentence}")


def end_as(job: Job, end: str, **fields: Any) -> None:
    """Wait for the end of a Job, and compare it, and fields of its status."""
    site = job.site
    kind, reason, status = job.await_end()
    counts = {name: status.get(name) for name in ("succeeded", "failed", "completedIndexes", "failedIndexes")}
    shown = ", ".join(f"{name} {value}" for name, value in counts.items() if value)
    site.said += [f"{kind} ({reason}): {shown}", site.list_ends()]
    expect(kind == end, f"the Job ends as {end}")
    for name, value in fields.items():
        expect(status.get(name) == value, f"{name} is {value}")


def agree_with_one_worker(site: Site) -> None:
    """What all have recorded is what one worker records, and Azure was sent each write once."""
    records, alone = site.read_records(), site.bench.alone
    differing = sorted(key for key in records.keys() | alone.keys() if records.get(key) != alone.get(key))
    expect(not differing, f"the records are those of one worker: {', '.join(differing)}")
    write_nothing_twice(site)
    expect(site.read_bodies() == site.bench.bodies, "Azure has what one worker makes of it")
    site.said.append(f"{len(records)} records and what Azure has are those of one worker, and no write was sent twice")


def write_nothing_twice(site: Site) -> None:
    sent = Counter(f"{write['method']} {write['path']}" for write in site.azure.list_writes() if write["status"] < 400)
    twice = [request for request, times in sent.items() if times > 1]
    expect(not twice, f"nothing is sent twice: {', '.join(twice)}")


def leave_the_rest_to_the_next_run(site: Site) -> None:
    """A run of one worker ends what is left, and the next one is silent."""
    before = len(site.azure.list_writes())
    site.gitsync("sync")
    site.said.append(f"the next run sent {len(site.azure.list_writes()) - before} writes")
    agree_with_one_worker(site)
    be_silent(site)


def be_silent(site: Site) -> None:
    site.azure.forget()
    site.gitsync("sync")
    expect(not site.azure.list_writes(), "the run after it sends no write")


def succeed(site: Site) -> None:
    job = site.start_job()
    end_as(job, COMPLETE, succeeded=WORKERS, completedIndexes="0-3")
    site.gitsync("report", "--gather", "--run-id", job.uid)
    agree_with_one_worker(site)
    be_silent(site)


def meet_an_outage(site: Site) -> None:
    job = site.start_job()
    end_as(job, COMPLETE, succeeded=WORKERS, failed=2)
    expect(site.list_codes() == {0: [0], 1: [75, 0], 2: [75, 0], 3: [0]}, "two indexes are tried again")
    site.gitsync("report", "--gather", "--run-id", job.uid)
    agree_with_one_worker(site)


def lose_the_way_at_first(pod: Pod) -> Mapping[str, str]:
    """The first pods of two indexes have no way to git, or to Azure."""
    if pod["metadata"]["annotations"][FAILURES] != "0":
        return {}
    nowhere = {"1": {"GITSYNC_SOURCE": f"{NOWHERE}/estate.git"}, "2": {"AZURE_RESOURCE_MANAGER_ENDPOINT": NOWHERE}}
    return nowhere.get(pod["metadata"]["labels"][INDEX], {})


def keep_failing(site: Site) -> None:
    job = site.start_job()
    end_as(job, FAILED, succeeded=WORKERS - 1, completedIndexes="1-3", failedIndexes="0")
    expect(site.list_codes()[0] == [75, 75, 75], "an index is tried three times")
    expect("ShardNotEnded" in site.gitsync("report", "--gather", "--run-id", job.uid, code=1), "the report names it")
    leave_the_rest_to_the_next_run(site)


def never_have_a_way(pod: Pod) -> Mapping[str, str]:
    is_first = pod["metadata"]["labels"][INDEX] == "0"
    return {"GITSYNC_SOURCE": f"{NOWHERE}/estate.git"} if is_first else {}


def fail_at_once(site: Site) -> None:
    end_as(site.start_job(), FAILED, succeeded=2, failed=2, completedIndexes="1,2", failedIndexes="0,3")
    expect(site.list_codes() == {0: [2], 1: [0], 2: [0], 3: [1]}, "no index is tried again")
    leave_the_rest_to_the_next_run(site)


def have_wrong_settings(pod: Pod) -> Mapping[str, str]:
    return {"GITSYNC_CONCURRENCY": "many"} if pod["metadata"]["labels"][INDEX] == "0" else {}


def run_out_of_memory(site: Site) -> None:
    job = site.start_job()
    site.await_write("/c-net")
    site.bench.runner.kill(site.list_pods(2)[-1])
    end_as(job, COMPLETE, succeeded=WORKERS, failed=1)
    expect(site.list_codes()[2] == [137, 0], "the index is tried again")
    agree_with_one_worker(site)


def lose_a_pod(site: Site) -> None:
    job = site.start_job()
    site.await_write("/c-net")
    site.kubectl("delete", "pod", site.list_pods(2)[-1]["metadata"]["name"])
    end_as(job, COMPLETE, succeeded=WORKERS, failed=1)
    expect(site.list_codes()[2] == [143, 0], "the index is tried again")
    agree_with_one_worker(site)


def be_evicted(site: Site) -> None:
    """More often than an index may fail."""
    job = site.start_job()
    site.await_write("/c-net")
    pod = site.list_pods(2)[-1]
    for _ in range(3):
        name = {"name": pod["metadata"]["name"], "namespace": site.namespace}
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": name}
        site.bench.server.send_request("POST", f"{find_path(pod)}/eviction", body)
        pod = site.await_next_pod(2, pod)
    end_as(job, COMPLETE, succeeded=WORKERS, failed=None)
    agree_with_one_worker(site)


def run_out_of_time(site: Site) -> None:
    end_as(site.start_job(), FAILED)
    kept = site.read_records()
    ready = sum(record == site.bench.alone.get(key) for key, record in kept.items())
    site.said.append(f"{ready} of {len(site.bench.alone)} records are complete, {len(kept) - ready} begun")
    expect(ready >= 12, "what was done is recorded")
    leave_the_rest_to_the_next_run(site)


def be_deleted(site: Site) -> None:
    """The garbage collector deletes the pods of a Job that is deleted."""
    site.start_job()
    site.await_write("/c-net")
    site.kubectl("delete", "job", "gitsync-now")
    wait_until(lambda: not site.list_pods(2), "the pods are still there")
    site.said.append(site.list_ends())
    leave_the_rest_to_the_next_run(site)


def be_suspended(site: Site) -> None:
    """As a queue of Jobs does that needs the nodes for others."""
    job = site.start_job()
    site.await_write("/c-net")
    site.kubectl("patch", "job", "gitsync-now", "--patch", '{"spec": {"suspend": true}}')
    wait_until(lambda: not site.list_pods(2), "the pods are still there")
    site.kubectl("patch", "job", "gitsync-now", "--patch", '{"spec": {"suspend": false}}')
    end_as(job, COMPLETE, succeeded=WORKERS, failed=None)
    agree_with_one_worker(site)


def follow_a_schedule(site: Site) -> None:
    """The first Job makes everything, the second finds nothing to do, and its records are those of one worker."""
    first = site.await_scheduled_job(1)
    end_as(first, COMPLETE, succeeded=WORKERS)
    branches = site.list_branches()
    for number in range(1, WORKERS + 1):
        expect(f"gitsync/status-shards/{first.uid}/{number}" in branches, "the id of the run is the UID of the Job")
    expect(f"gitsync/runs/{first.uid}" in branches, "the pin is that of the Job")
    write_nothing_twice(site)
    site.azure.forget()
    second = site.await_scheduled_job(2)
    end_as(second, COMPLETE, succeeded=WORKERS)
    expect(f"gitsync/status-shards/{first.uid}/1" not in site.list_branches(), "the second takes in the first")
    expect(not site.azure.list_writes(), "the second sends no write")
    agree_with_one_worker(site)


def slow(name: str, seconds: int) -> dict[str, Any]:
    """An Azure rule: it works on a resource for so long."""
    return {"match": {"method": "PUT", "path": f"*/{name}"}, "operation": {"style": "async", "seconds": seconds}}


REFUSED = {
    "match": {"method": "PUT", "path": "*/d-net", "times": 1},
    "answer": {"status": 400, "code": "InvalidParameter"},
}
CASES = (
    Case("all indexes succeed", succeed),
    Case("an index without a way to git or Azure is tried again", meet_an_outage, Trial(trouble=lose_the_way_at_first)),
    Case("an index that never has a way fails after two more tries", keep_failing, Trial(trouble=never_have_a_way)),
    Case(
        "wrong settings and a refused resource fail their index at once",
        fail_at_once,
        Trial(trouble=have_wrong_settings, rules=(REFUSED,)),
    ),
    Case(
        "a worker that is killed for its memory is started again", run_out_of_memory, Trial(rules=(slow("c-net", 20),))
    ),
    Case("a pod that is deleted midway is started again", lose_a_pod, Trial(rules=(slow("c-net", 20),))),
    Case("evictions are not counted", be_evicted, Trial(rules=(slow("c-net", 40),))),
    Case("activeDeadlineSeconds ends a Job", run_out_of_time, Trial(rules=(slow("c-net", 45),), deadline=15)),
    Case("a Job that is deleted ends its workers", be_deleted, Trial(rules=(slow("c-net", 20),))),
    Case("a Job that is suspended goes on later", be_suspended, Trial(rules=(slow("c-net", 20),))),
    Case("the CronJob starts Jobs", follow_a_schedule, Trial(schedule="* * * * *")),
)

if __name__ == "__main__":
    sys.exit(main())
