"""Whole runs of the command: the emulator has the servers of databases, and real ones on this machine their users."""

import asyncio
import json

import pytest

from gitsync.model.provider import Provider
from tests.support.command_line import run_here
from tests.support.database_servers import ADMIN, ADMIN_PASSWORD, log_in

MANIFESTS = """\
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata: {{name: core, namespace: default}}
spec: {{location: westeurope}}
---
apiVersion: {group}/{version}
kind: FlexibleServer
metadata: {{name: main, namespace: default}}
spec: {{location: westeurope, owner: {{name: core}}}}
---
{user}
"""
USER = """\
apiVersion: {group}/v1
kind: User
metadata: {{name: runner, namespace: default}}
spec:
  owner: {{name: main}}
  {rights}
  localUser:
    serverAdminUsername: {admin}
    serverAdminPassword: {{name: admin, key: password}}
    password: {{name: runner, key: password}}
"""
FACTS = {
    Provider.POSTGRESQL: ("dbforpostgresql.azure.com", "v1api20230601preview", "roles: [app]"),
    Provider.MYSQL: ("dbformysql.azure.com", "v1api20230630", "databasePrivileges: {shop: [select]}"),
}


@pytest.fixture
def run(rig, tmp_path):
    source = tmp_path / "source"
    source.mkdir()

    def run(command, *flags, password="first password", has_user=True):
        group, version, rights = FACTS[rig.service]
        user = USER.format(group=group, rights=rights, admin=ADMIN) if has_user else ""
        (source / "a.yaml").write_text(MANIFESTS.format(group=group, version=version, user=user))
        servers = f"{rig.service.value}=localhost:{rig.address.port}"
        secrets = {"GITSYNC_SECRET_DEFAULT_ADMIN_PASSWORD": ADMIN_PASSWORD, "GITSYNC_SECRET_DEFAULT_RUNNER_PASSWORD": password, "GITSYNC_DIGEST_KEY": "k" * 40}  # fmt: skip
        done = run_here(
            command, str(source), "--emulator", str(tmp_path / "azure"), "--status-dir", str(tmp_path / "status"), "--database-servers", servers,
            "--ca-bundle", str(rig.ca), "--output", "json", *flags, folder=tmp_path, **secrets,
        )  # fmt: skip
        told = done.out + done.err
        told += "".join(path.read_text() for path in (tmp_path / "status").rglob("*") if path.is_file())
        assert password not in told
        assert ADMIN_PASSWORD not in told
        report = json.loads(done.out)
        verdicts = {resource["kind"]: (resource["verdict"], resource["action"]) for resource in report["resources"]}
        return done.code, verdicts.get("User")

    return run


def test_a_user_is_planned_created_kept_repaired_rotated_and_deleted(run, rig, server):
    is_postgresql = rig.service is Provider.POSTGRESQL

    def can_log_in(password):
        return asyncio.run(log_in(server, "runner", password, is_postgresql=is_postgresql))

    assert run("plan") == (0, ("create", "create"))
    assert run("sync", "--yes") == (0, ("create", "create"))
    assert can_log_in("first password")
    start = len(server.log.read_text())
    assert run("sync") == (0, ("in-sync", "none"))
    assert not [line for line in server.log.read_text()[start:].splitlines() if "GRANT " in line or "ALTER " in line]
    server.run("GRANT other TO runner" if is_postgresql else "GRANT DELETE ON shop.* TO runner")
    assert run("plan") == (0, ("drifted", "update"))
    assert run("sync") == (0, ("drifted", "update"))
    assert run("sync", password="another one") == (0, ("pending", "update"))
    assert can_log_in("another one")
    assert run("sync", password="another one") == (0, ("in-sync", "none"))
    assert run("sync", "--prune", has_user=False)[0] == 0
    assert not can_log_in("another one")
