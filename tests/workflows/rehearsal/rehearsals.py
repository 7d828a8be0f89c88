"""Rehearsals of every kind of end, and of every size."""

from dataclasses import replace

from gitsync.errors import ExitCode
from gitsync.model.arm_id import ArmId
from gitsync.model.problem import SourceLocation
from gitsync.model.rehearsal import Blank, Gap, GapKind, Interrupt, NotRehearsed, Rehearsal, RehearsedWrite, Stub
from gitsync.model.report import RequestCounts
from gitsync.model.schedule import Bar, Estimate, Schedule
from gitsync.model.verdict import Action, Difference, Verdict
from tests.report.report_builders import NET, REFUSED, TARGET, key, report, result
from tests.support.parts import change

SUBSCRIPTION = "/subscriptions/00000000-0000-0000-0000-000000000000"
GROUP, HUB, SUBNET, LOGS, OLD = (
    key("ResourceGroup", "shop"),
    key("VirtualNetwork", "hub", NET),
    key("VirtualNetworksSubnet", "front", NET),
    key("StorageAccount", "shoplogs", "storage.azure.com"),
    key("PublicIPAddress", "old", NET),
)
REQUESTS = RequestCounts(reads=41, writes=5, deletes=1, polls=22, checks=3)


def bar(of, action, ready, sent, end, wave, *, critical=False, estimate=Estimate.RECORD):
    return Bar(
        key=of, action=action, ready=ready, sent=sent, end=end, wave=wave, is_critical=critical, estimate=estimate
    )


def write(number, of, action=Action.CREATE, status=201):
    method = "DELETE" if action is Action.DELETE else "PUT"
    arm_id = f"{SUBSCRIPTION}/resourceGroups/shop/{of.kind}/{of.name}"
    return RehearsedWrite(number=number, arm_id=ArmId(arm_id), method=method, status=status, key=of, action=action)


def run(*results, **more):
    values = {"command": "sync", "revision": "9abfa50043ee215f2eb782872db9b1a30d8397c4", "requests": REQUESTS}
    return change(report(*results), **values | {"exit_code": ExitCode.FINE, "target": TARGET, "problems": ()} | more)


CREATED = [result(of, Verdict.CREATE, Action.CREATE) for of in (GROUP, SUBNET, LOGS)]
UPDATED = result(HUB, Verdict.PENDING, Action.UPDATE)
DELETED = result(OLD, Verdict.DELETE, Action.DELETE, source=None)
QUIET = run(*(result(of) for of in (GROUP, HUB, SUBNET, LOGS)))

FINE = Rehearsal(
    from_nothing=False,
    first=run(*CREATED, UPDATED, DELETED),
    second=QUIET,
    writes=(
        write(1, GROUP),
        write(2, LOGS),
        write(3, HUB, Action.UPDATE, 200),
        write(4, SUBNET),
        write(5, OLD, Action.DELETE, 202),
    ),
    schedule=Schedule(
        bars=(
            bar(GROUP, Action.CREATE, 0, 0, 3, 1, critical=True),
            bar(HUB, Action.UPDATE, 3, 3, 15, 2, critical=True),
            bar(LOGS, Action.CREATE, 3, 3, 28.4, 2, estimate=Estimate.TYPE),
            bar(SUBNET, Action.CREATE, 15, 21, 27, 3, estimate=Estimate.DEFAULT),
            bar(OLD, Action.DELETE, 15, 15, 234, 3, critical=True),
        )
    ),
    not_rehearsed=(
        NotRehearsed(blank=Blank.SEALS, sentence="There is no key, so nobody checked that the records are genuine."),
        NotRehearsed(
            blank=Blank.KINDS,
            sentence="Azure's answers are not recorded.",
            count=1,
            names=("microsoft.network/publicipaddresses",),
        ),
    ),
    stubs=(Stub(arm_id=ArmId(f"{SUBSCRIPTION}/resourceGroups/platform"), wanted_by=(HUB, SUBNET)),),
)
REFUSED_RUN = Rehearsal(
    from_nothing=False,
    first=None,
    refusal="The sync would delete 12 resources, more than --max-deletes 10 allows. Raise the limit, or look at git.",
)
UNEVEN = replace(
    FINE,
    first=run(*CREATED[:2], UPDATED, REFUSED, exit_code=ExitCode.FAILED),
    second=run(
        *QUIET.results[:1],
        replace(UPDATED, differences=(Difference("/properties/flowTimeoutInMinutes", 4, None, "Azure drops it"),)),
    ),
    later_writes=(write(1, HUB, Action.UPDATE, 200),),
    interrupts=(
        Interrupt(number=1, arm_id=write(1, GROUP).arm_id),
        Interrupt(
            number=2,
            arm_id=write(2, LOGS).arm_id,
            differences=("StorageAccount/shoplogs is not there.",),
            sent_twice=(write(2, LOGS).arm_id,),
        ),
    ),
)
REBUILD = replace(
    FINE,
    from_nothing=True,
    gaps=(
        Gap(
            kind=GapKind.VALUE,
            key=LOGS,
            message="The Secret default/mail has no key password in git.",
            hint="Put the Secret into git with SOPS, or name another source with --secrets.",
            stops=True,
            source=SourceLocation("shop.yaml", 9),
            field="spec.password",
        ),
        Gap(
            kind=GapKind.DATA,
            key=LOGS,
            message="A new StorageAccount has no blobs.",
            hint="Restore its content from a backup.",
            stops=False,
            source=SourceLocation("shop.yaml", 9),
        ),
    ),
)

ENDS = {"fine": FINE, "refused": REFUSED_RUN, "uneven": UNEVEN, "from nothing": REBUILD}


def rebuilt(number):
    """A rebuild with so many writes: groups with accounts in them, and a chain of long writes."""
    bars, writes, results, end = [], [], [], 0.0
    actions = (Action.CREATE, Action.CREATE, Action.UPDATE, Action.CREATE, Action.REPLACE, Action.DELETE)
    kinds = ("StorageAccount", "VirtualNetworksSubnet", "ManagedCluster", "FlexibleServer", "Vault")
    for at in range(number):
        is_critical = at % max(1, number // 8) == 0
        of = key(kinds[at % len(kinds)], f"app-{at:03}-{'production-' if at % 7 == 3 else ''}west", NET)
        wave = 1 + at * 8 // number
        begin = end if is_critical else max(0.0, end - 40 + at % 30)
        takes = 30.0 + 90 * (at % 4) if is_critical else 4.0 + (at * 7) % 45
        waits = 0 if is_critical else (at % 5) * 6
        if is_critical:
            end = begin + takes
        bars.append(
            bar(of, actions[at % len(actions)], begin, begin + waits, begin + waits + takes, wave,
                critical=is_critical, estimate=list(Estimate)[at % 3])
        )  # fmt: skip
        writes.append(write(at + 1, of, actions[at % len(actions)]))
        results.append(result(of, Verdict.CREATE, actions[at % len(actions)]))
    last = max(bar.end for bar in bars if bar.is_critical)
    bars = [replace(bar, end=min(max(bar.end, bar.sent), max(last, bar.sent))) for bar in bars]
    ordered = tuple(sorted(bars, key=lambda resource: (resource.sent, resource.key)))
    return replace(FINE, from_nothing=True, first=run(*results), writes=tuple(writes), schedule=Schedule(bars=ordered))
