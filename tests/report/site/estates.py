"""Estates as the site shows them, in the form of its data files: a landing zone, three targets in trouble, and as many
resources as one likes.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from typing import get_args

from gitsync.model.verdict import Difference
from gitsync.report.html.difference_rows import make_difference_row
from gitsync.report.site.data_files import encode_data, name_data_file
from gitsync.report.site.pages import render_pages
from gitsync.report.site.shapes import FORMAT, EdgeKind
from gitsync.report.site.site_looks import STATES

SUBSCRIPTION = "/subscriptions/11111111-2222-3333-4444-555555555555"
REVISION, COMMIT = "3f6c1c0b" * 5, "9d0e7a1c" * 5
NOW = "2026-11-20T09:34:58Z"
MANIFEST = """apiVersion: storage.azure.com/v1api20230101
kind: StorageAccount
metadata:
  name: data
  namespace: shop
spec:
  location: westeurope
  owner:
    name: shop-rg
  sku:
    name: Standard_LRS
"""
_KINDS = (
    ("StorageAccount", "storage.azure.com", "/providers/Microsoft.Storage/storageAccounts/"),
    ("Vault", "keyvault.azure.com", "/providers/Microsoft.KeyVault/vaults/"),
    ("ManagedCluster", "containerservice.azure.com", "/providers/Microsoft.ContainerService/managedClusters/"),
    ("FlexibleServer", "dbforpostgresql.azure.com", "/providers/Microsoft.DBforPostgreSQL/flexibleServers/"),
    ("UserAssignedIdentity", "managedidentity.azure.com", "/providers/Microsoft.ManagedIdentity/userAssignedIdentities/"),
)  # fmt: skip
_GROUP, _NETWORK, _SUBNET = (
    ("ResourceGroup", "resources.azure.com", "/resourceGroups/"),
    ("VirtualNetwork", "network.azure.com", "/providers/Microsoft.Network/virtualNetworks/"),
    ("VirtualNetworksSubnet", "network.azure.com", "/subnets/"),
)
DIFFERENCES = (
    (Difference("/properties/accessTier", "Cool", "Hot", "changed in Azure since it was last seen"), "spec.accessTier"),
    (Difference("/tags/env", "prod", None, "changed in Azure"), "spec.tags.env"),
    (
        Difference("/properties/policy", "<policies>\n  <base />\n</policies>", "<policies>\n</policies>", "XML"),
        "spec.policy",
    ),
)
_LARGE = 10_000  # resources
TRANSITIONS = ("created", "updated", "drifted", "repaired", "failed", "ready", "held", "moved")


class Estate:
    """Collects resources, and renders the site of them."""

    def __init__(self):
        self.targets, self.rows, self.open, self.past, self.runs, self.removed = [], [], [], [], [], []
        self.more, self.references = {}, []

    def target(self, name, **more):
        self.targets.append({
            "id": name, "title": name, "source": f"https://github.com/contoso/{name}.git", "branch": "gitsync/status",
            "commit": COMMIT, "commitUrl": f"https://github.com/contoso/{name}/commit/", "revision": REVISION,
            "agents": ["gitsync"], "headline": "", "run": None, "heartbeats": [("gitsync", NOW, REVISION)], "holds": [],
            "days": [], "trust": "", "notes": [], "begins": "2026-08-01T06:00:00Z",
        } | more)  # fmt: skip
        return name

    def add(self, target, kind, name, *, parent=None, scope="", namespace="shop", state="ready", **more):
        """Add a resource; its row. `parent` is the row that it is below by its ARM id."""
        word, group, segment = kind
        key = f"{word}.{group}/{namespace}/{name}"
        self.rows.append({
            "target": target, "kind": f"{word}.{group}", "namespace": namespace, "name": name, "parent": parent,
            "scope": scope, "segment": segment, "state": state, "key": key, "agent": "gitsync",
            "owner": "" if parent is None else self.rows[parent]["key"],
        } | more)  # fmt: skip
        if parent is not None:
            self.references.append((len(self.rows) - 1, parent, "owner"))
        return len(self.rows) - 1

    def arm_id(self, row):
        found = self.rows[row]
        if found["segment"] is None:
            return ""
        above = found["scope"] if found["parent"] is None else self.arm_id(found["parent"])
        return above + found["segment"] + found["name"]

    def files(self):
        """All files of the site, by path; of a large one without those of its resources."""
        data = {"site": self._site(), "tree": self._tree(), "edges": self._edges(), "drift": self._drift()}
        months = defaultdict(list)
        for run in self.runs:
            months[run["at"][:7]].append(run)
        data |= {f"activity/{month}": {"runs": runs} for month, runs in months.items()}
        data["removed"] = {"rows": self.removed}
        shards = self._shards() if len(self.rows) < _LARGE else {}
        return {
            **render_pages(),
            **{name_data_file(name): encode_data(name, value) for name, value in (data | shards | self.more).items()},
        }

    def write(self, folder):
        for path, content in self.files().items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)
        return folder / "index.html"

    def _site(self):
        months = sorted({run["at"][:7] for run in self.runs}, reverse=True)
        for target in self.targets:
            own = [row for row in self.rows if row["target"] == target["id"]]
            times = Counter(row["state"] for row in own)
            failed = [row for row in own if STATES[row["state"]].tone.name == "STOP"]
            target["counts"] = [(word, times[word]) for word in STATES if times[word]]
            target["failures"] = [
                {"key": row["key"], "state": row["state"], "reason": "AuthorizationFailed", "message": row.get("message", "The client has no right to write it.")}
                for row in failed[:20]
            ]  # fmt: skip
            target["drift"] = [drift for drift in self.open if drift["target"] == target["id"]]
            if target["days"]:
                now = (target["days"][-1][0], len(own), len(target["drift"]), len(failed))
                target["days"] = [*target["days"][:-1], now]
        has = {"coverage": "coverage" in self.more, "audit": "audit" in self.more}
        return {"format": FORMAT, "version": "0.1.0", "targets": self.targets, "months": months, "has": has}

    def _tree(self):
        tables = {name: list(dict.fromkeys(row[name] for row in self.rows)) for name in ("namespace", "kind", "agent")}
        scopes, segments = (
            list(dict.fromkeys(row[name] for row in self.rows if row[name] is not None))
            for name in ("scope", "segment")
        )
        states = [word for word in STATES if any(row["state"] == word for row in self.rows)]
        targets = [target["id"] for target in self.targets]
        at = {
            name: {value: position for position, value in enumerate(values)}
            for name, values in (*tables.items(), ("scope", scopes), ("segment", segments), ("state", states), ("target", targets))
        }  # fmt: skip
        columns = {
            name: [at[name][row[name]] for row in self.rows]
            for name in ("target", "namespace", "kind", "state", "agent")
        }
        return {
            "targets": targets, "namespaces": tables["namespace"], "kinds": tables["kind"], "states": states,
            "agents": tables["agent"], "scopes": scopes, "segments": segments, **columns,
            "name": [row["name"] for row in self.rows], "azureName": ["" for _ in self.rows],
            "scope": [at["scope"][row["scope"]] if row["parent"] is None and row["segment"] is not None else -1 for row in self.rows],
            "segment": [-1 if row["segment"] is None else at["segment"][row["segment"]] for row in self.rows],
            "parent": [-1 if row["parent"] is None else row["parent"] for row in self.rows],
            "shard": [number // 500 for number, _ in enumerate(self.rows)],
        }  # fmt: skip

    def _edges(self):
        kinds = get_args(EdgeKind)
        return {"kinds": kinds, "edges": [(a, b, kinds.index(kind)) for a, b, kind in self.references], "outside": []}

    def _drift(self):
        return {"open": self.open, "past": self.past}

    def _shards(self):
        needs, needed = defaultdict(list), defaultdict(list)
        for start, end, kind in self.references:
            field = "" if kind == "owner" else "spec.properties.subnetReference"
            needs[start].append((self.rows[end]["key"], kind, field))
            needed[end].append((self.rows[start]["key"], kind, field))
        shards = defaultdict(dict)
        for number, row in enumerate(self.rows):
            name = f"{row['target']}/{number // 500}"
            shards[f"resources/{name}"][row["key"]] = self._resource(number, needs[number], needed[number])
            shards[f"history/{name}"][row["key"]] = row.get(
                "history", HISTORY if row["state"] != "ready" else HISTORY[-2:]
            )
        return shards

    def _resource(self, number, needs, needed):
        row, arm_id = self.rows[number], self.arm_id(number)
        tone = STATES[row["state"]].tone.name
        bad, drifted = tone == "STOP", tone == "DRIFT"
        return {
            "state": row["state"], "trust": row.get("trust", ""),
            "condition": {
                "status": "False" if bad else "True", "severity": "Error" if bad else "", "reason": "AuthorizationFailed" if bad else "Succeeded",
                "message": row.get("message", "The client has no right to write it." if bad else ""), "advice": "Grant it Contributor on the resource group." if bad else "",
                "time": NOW, "generation": 2, "requestId": "5c1d-11" if bad else "",
            },
            "manifest": {
                "path": "shop/storage.yaml", "line": 1, "url": f"https://github.com/contoso/shop/blob/{REVISION}/shop/storage.yaml#L1",
                "text": row.get("text", MANIFEST), "doubt": "",
            },
            "body": {"sent": '{\n  "location": "westeurope"\n}', "shown": '{\n  "location": "westeurope"\n}', "outside": ""},
            "differences": [make_difference_row(*shown)._asdict() | {
                "live": make_difference_row(*shown).live._asdict(), "desired": make_difference_row(*shown).desired._asdict(),
            } for shown in DIFFERENCES] if drifted else [],
            "outside": ["/properties/publicNetworkAccess"] if drifted else [], "outsideRows": [], "unverified": [],
            "owner": row["owner"], "refersTo": needs, "referredBy": needed[:200], "exports": ["Secret/connection"] if bad else [],
            "identity": {"credential": "", "clientId": "", "tenantId": "", "subscription": ""},
            "lastWrite": {"at": NOW, "revision": REVISION, "correlationId": "5d0e7a1c-0000-4000-8000-000000000000", "returnedId": ""},
            "durations": (14, None), "armId": arm_id, "armApiVersion": "2023-01-01", "apiVersion": f"{row['kind'].split('.', 1)[1]}/v1api20230101",
            "portal": f"https://portal.azure.com/#resource{arm_id}" if arm_id else "", "policy": "manage", "claim": "created", "agent": "gitsync",
            "generation": 2, "writes": 3, "hold": row.get("hold"), "operation": "", "notes": row.get("notes", []),
        }  # fmt: skip


HISTORY = [
    (
        f"2026-{8 + number // 4:02}-{1 + number * 3:02}T06:00:00Z",
        COMMIT,
        event,
        f"{event} by a run" if number % 2 else "",
    )
    for number, event in enumerate(TRANSITIONS)
][::-1]


def landing_zone(groups=4, *, every=9, target="platform", estate=None, subscription=SUBSCRIPTION):
    """A hub, and so many resource groups of 13 resources; every so many of them have something to report."""
    estate = estate or Estate()
    if not any(known["id"] == target for known in estate.targets):
        estate.target(target, headline=f"{groups * 13 + 2} resources", days=_days(groups * 13))
    states = ("drifted", "failed", "held", "waiting", "pending")

    def pick(number):
        return states[number // every % len(states)] if number % every == every - 2 else "ready"

    hub = estate.add(target, _GROUP, "platform-hub", scope=subscription, namespace="platform")
    net = estate.add(target, _NETWORK, "hub-network", parent=hub, namespace="platform")
    for number in range(groups):
        app, space = f"app-{number:03}", f"team-{number % 7}"
        group = estate.add(target, _GROUP, f"{app}-rg", scope=subscription, namespace=space)
        network = estate.add(target, _NETWORK, app, parent=group, namespace=space)
        estate.references.append((network, net, "reference"))
        subnets = [
            estate.add(target, _SUBNET, f"{app}-{name}", parent=network, namespace=space) for name in ("front", "back")
        ]
        for position in range(9):
            kind = _KINDS[position % len(_KINDS)]
            row = estate.add(
                target,
                kind,
                f"{app}-{kind[0].casefold()}-{position}",
                parent=group,
                namespace=space,
                state=pick(len(estate.rows)),
            )
            if kind[0] in {"ManagedCluster", "FlexibleServer"}:
                estate.references.append((row, subnets[0], "reference"))
            if position == 4:
                estate.references.append((row, row - 4, "set"))
    return estate


def _days(resources):
    return [
        (f"2026-{8 + day // 30:02}-{1 + day % 30:02}", resources - (90 - day) // 3, day % 23 // 6, day % 31 // 15)
        for day in range(0, 90, 2)
    ]


_CHANGE = {"author": "application", "name": "deployer", "at": NOW}
COVERAGE = json.dumps({
    "unmanaged": 3, "managed": 52, "share": 0.9455, "gaps": ["The activity log has 90 days."],
    "kinds": [{"kind": "StorageAccount", "managed": 10, "unmanaged": 2}],
    "resources": [{
        "armId": f"{SUBSCRIPTION}/resourceGroups/app-000-rg/providers/Microsoft.Storage/storageAccounts/by-hand",
        "type": "Microsoft.Storage/storageAccounts", "kind": "StorageAccount", "resourceGroup": "app-000-rg", "created": _CHANGE,
    }],
})  # fmt: skip
AUDIT = json.dumps({
    "since": "2026-11-19T00:00:00Z", "until": NOW, "gaps": [],
    "operations": [{"armId": f"{SUBSCRIPTION}/resourceGroups/app-000-rg", "verb": "write", "origin": "other", "author": _CHANGE, "open": True}],
})  # fmt: skip


def three_targets():
    """Production with failures, drift and holds, a test environment whose run was killed, and a quiet one."""
    estate = Estate()
    run = {
        "at": NOW, "commit": COMMIT, "revision": REVISION, "command": "sync", "agent": "gitsync", "headline": "1 failed; updated 2",
        "exitCode": 1, "outcomes": [("failed", 1), ("changed", 2), ("unchanged", 40)], "count": 3, "changed": [],
    }  # fmt: skip
    hold = {"key": "", "until": "2026-12-24", "reason": "The freeze before the sale"}
    estate.target(
        "production", headline="1 failed, 1 waiting; 50 of 55 Ready", days=_days(54), run=run | {"target": "production"},
        heartbeats=[("gitsync", "2026-11-12T04:00:00Z", REVISION)],
    )  # fmt: skip
    estate.target("quiet", headline="15 of 15 Ready", days=_days(15))
    estate.target(
        "test", headline="Stopped early; 20 of 28 Ready", notes=["History is cut off: the clone is shallow."],
        run=run | {"target": "test", "headline": "Stopped early; nothing changed", "exitCode": 130}, days=_days(28)[-3:],
        trust="2 records are altered: somebody changed them after they were signed.",
    )  # fmt: skip
    landing_zone(4, target="production", estate=estate)
    landing_zone(1, target="quiet", estate=estate, every=1000, subscription=f"{SUBSCRIPTION[:-1]}6")
    landing_zone(2, target="test", estate=estate, every=4, subscription=f"{SUBSCRIPTION[:-1]}7")
    estate.rows[9]["state"] = "failed"
    estate.rows[-1] |= {"state": "untrusted", "trust": "altered"}
    estate.add("production", ("Group", "entra.azure.com", None), "operators", namespace="identities")
    for row in estate.rows:
        if row["state"] == "held":
            row["hold"] = hold | {"key": row["key"]}
            next(t for t in estate.targets if t["id"] == row["target"])["holds"].append(row["hold"])
        if row["state"] == "drifted":
            drift = {
                "target": row["target"],
                "key": row["key"],
                "verdict": "drifted",
                "since": "2026-11-18T11:00:00Z",
                "until": "",
                "how": "",
                "fields": ["/tags/env"],
            }
            estate.open.append(drift)
            estate.past.append(
                drift | {"since": "2026-10-02T08:00:00Z", "until": "2026-10-03T09:30:00Z", "how": "repaired"}
            )
    for day in range(20, 8, -1):
        changed = [
            (row["key"], event, "") for row, event in zip(estate.rows[4 : 4 + day], TRANSITIONS * 3, strict=False)
        ]
        estate.runs.append(
            run
            | {"at": f"2026-11-{day:02}T09:34:58Z", "target": "production", "count": len(changed), "changed": changed}
        )
        estate.runs.append(
            run
            | {
                "at": f"2026-10-{day:02}T06:00:00Z",
                "target": "production",
                "exitCode": 0,
                "headline": "Updated 1",
                "changed": changed[:1],
                "count": 1,
            }
        )
    estate.runs.sort(key=lambda run: run["at"], reverse=True)
    estate.more = {"coverage": {"files": [("unmanaged.json", COVERAGE)]}, "audit": {"files": [("audit.json", AUDIT)]}}
    estate.removed = [(0, "Vault.keyvault.azure.com/team-0/old-vault", 0, NOW)]
    return estate
