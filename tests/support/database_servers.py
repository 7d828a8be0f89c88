"""Real servers of PostgreSQL and MariaDB on this machine, with TLS, and administrators as weak as Azure's.

They run as an ordinary user, with their data in a temporary folder. `.ci/run` installs the programs.
"""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg
import pymysql
from pymysql.constants import CLIENT

from gitsync.providers.databases.quoting import make_verifier
from tests.support import private_ca

ADMIN = "azadmin"
ADMIN_PASSWORD = 's3cret of the "administrator"\' \\ %s 😀'
PATIENCE = 60.0

# As Azure's documentation names them; ASO's own page has the same.
SERVER_PRIVILEGES = ("RELOAD", "PROCESS", "SHOW DATABASES", "REPLICATION SLAVE", "REPLICATION CLIENT", "CREATE USER")
DATABASE_PRIVILEGES = [
    "SELECT",
    "INSERT",
    "UPDATE",
    "DELETE",
    "CREATE",
    "DROP",
    "REFERENCES",
    "INDEX",
    "ALTER",
    "CREATE TEMPORARY TABLES",
    "LOCK TABLES",
    "EXECUTE",
    "CREATE VIEW",
    "SHOW VIEW",
    "CREATE ROUTINE",
    "ALTER ROUTINE",
    "EVENT",
    "TRIGGER",
]


def find_postgresql() -> Path | None:
    """The folder of initdb, which Debian keeps off the PATH."""
    beside = shutil.which("initdb")
    if beside:
        return Path(beside).resolve().parent
    folders = Path("/usr/lib/postgresql").glob("*/bin/initdb")
    return max((program.parent for program in folders), key=lambda folder: int(folder.parent.name), default=None)


def find_mariadb() -> Path | None:
    """The program mariadbd, if what makes its data folder is there too."""
    server = shutil.which("mariadbd")
    return Path(server) if server and shutil.which("mariadb-install-db") else None


@dataclass(frozen=True)
class Server:
    """A running server."""

    port: int
    folder: Path
    ca: Path  # what its certificate for localhost is trusted by
    log: Path  # has every statement
    root: tuple[str, ...]

    def run(self, sql: str, database: str = "") -> str:
        """Run statements as its owner, and return the rows, with tabs between columns."""
        command = [word.replace("{database}", database or "postgres") for word in self.root]
        done = subprocess.run(command, input=sql, capture_output=True, text=True, check=False, timeout=PATIENCE)
        if done.returncode:
            raise AssertionError(done.stderr)
        return done.stdout.strip("\n")


class MariaDb(Server):
    """Its own client takes 40 ms to start, which hundreds of statements have no time for."""

    def run(self, sql: str, database: str = "") -> str:
        try:
            with connect_owner(self, database, client_flag=CLIENT.MULTI_STATEMENTS) as line, line.cursor() as cursor:
                cursor.execute(sql)
                rows = list(cursor.fetchall())
                while cursor.nextset():
                    rows += cursor.fetchall()
        except pymysql.MySQLError as error:
            raise AssertionError(str(error)) from error
        return "\n".join("\t".join(map(str, row)) for row in rows)


def connect_owner(server: Server, database: str = "", **options: Any) -> pymysql.Connection:
    """Connect to a MariaDB as its owner, over its socket."""
    return pymysql.connect(unix_socket=str(server.folder / "socket"), user="root", charset="utf8mb4", database=database or None, ssl_disabled=True, autocommit=True, **options)  # fmt: skip


@contextmanager
def run_postgresql() -> Iterator[Server]:
    programs = find_postgresql()
    assert programs is not None
    with _make_folder() as folder:
        data, log, port = folder / "data", folder / "log", _find_port()
        _run(folder, programs / "initdb", "--no-sync", "--auth=trust", "--username=owner", "--encoding=UTF8", "--locale=C.UTF-8", "-D", data)  # fmt: skip
        (data / "pg_hba.conf").write_text(
            "local all owner trust\nlocal all all scram-sha-256\nhostssl all all 127.0.0.1/32 scram-sha-256\n"
        )
        settings = {
            "listen_addresses": "localhost", "port": port, "unix_socket_directories": folder, "fsync": "off",
            "ssl": "on", "ssl_cert_file": folder / "server.crt", "ssl_key_file": folder / "server.key",
            "log_statement": "all", "log_min_error_statement": "error", "shared_buffers": "16MB", "max_connections": "20", "autovacuum": "off",
            "jit": "off", "max_wal_senders": "4", "dynamic_shared_memory_type": "mmap",
        }  # fmt: skip
        # Not as arguments: a test may alter them while the server runs.
        with (data / "postgresql.conf").open("a") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in settings.items())
        root = (str(programs / "psql"), "-XqAt", "-F\t", "-v", "ON_ERROR_STOP=1", "-h", str(folder), "-p", str(port), "-U", "owner", "-d", "{database}")  # fmt: skip
        server = Server(port, folder, folder / "ca.pem", log, root)
        with _start(folder, log, programs / "postgres", "-D", data):
            _wait(server)
            # Of one iteration: the usual 4096 take a third of the time that each connection of a test does.
            verifier = make_verifier(ADMIN_PASSWORD, b"salt" * 4, iterations=1)
            server.run(
                "SET log_statement = 'none'; CREATE ROLE azure_pg_admin NOLOGIN;"
                f"CREATE ROLE {ADMIN} LOGIN CREATEROLE CREATEDB PASSWORD '{verifier}';"
                f"GRANT azure_pg_admin TO {ADMIN} WITH ADMIN OPTION;"
            )
            yield server


@contextmanager
def run_mariadb() -> Iterator[Server]:
    with _make_folder() as folder:
        data, log, port = folder / "data", folder / "general.log", _find_port()
        install = shutil.which("mariadb-install-db")
        _run(folder, install, "--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db", f"--datadir={data}", *_SMALL)  # fmt: skip
        arguments = [
            "--no-defaults", f"--datadir={data}", f"--socket={folder}/socket", f"--port={port}", "--bind-address=127.0.0.1",
            f"--ssl-ca={folder}/ca.pem", f"--ssl-cert={folder}/server.crt", f"--ssl-key={folder}/server.key",
            "--general-log=1", f"--general-log-file={log}", f"--pid-file={folder}/pid", *_SMALL,
        ]  # fmt: skip
        root = (shutil.which("mariadb") or "mariadb", "--no-defaults", "-BN", "--raw", f"--socket={folder}/socket", "--user=root", "--default-character-set=utf8mb4")  # fmt: skip
        server = MariaDb(port, folder, folder / "ca.pem", log, root)
        with _start(folder, folder / "error.log", shutil.which("mariadbd"), *arguments):
            _wait(server)
            password = ADMIN_PASSWORD.replace("\\", "\\\\").replace("'", "\\'")
            granted = ", ".join((*SERVER_PRIVILEGES, *DATABASE_PRIVILEGES))
            server.run(
                f"SET sql_log_off = 1; CREATE USER {ADMIN} IDENTIFIED BY '{password}';"
                f"GRANT {granted} ON *.* TO {ADMIN} WITH GRANT OPTION;"
            )
            yield server


_SMALL = (
    "--innodb-buffer-pool-size=8M", "--innodb-log-file-size=4M", "--innodb-flush-log-at-trx-commit=0", "--innodb-doublewrite=0",
    "--key-buffer-size=64K", "--performance-schema=off", "--skip-log-bin", "--innodb-fast-shutdown=2", "--max-connections=20",
)  # fmt: skip


@contextmanager
def _make_folder() -> Iterator[Path]:
    """A folder that the ordinary user of the server owns, with a certificate for localhost."""
    parent = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    folder = Path(tempfile.mkdtemp(prefix="gitsync-db-", dir=parent))
    try:
        private_ca.make(folder, name="localhost")
        certificate, key = (folder / "server.pem").read_text().split("-----BEGIN PRIVATE KEY", 1)
        (folder / "server.crt").write_text(certificate)
        (folder / "server.key").write_text(f"-----BEGIN PRIVATE KEY{key}")
        (folder / "server.key").chmod(0o600)
        if account := _find_account():
            for path in (folder, *folder.iterdir()):
                shutil.chown(path, account)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _find_account() -> str | None:
    """The user that a server runs as; None for this one. Neither server runs as root."""
    return None if os.geteuid() else pwd.getpwnam("nobody").pw_name


def _make_environment(folder: Path) -> dict[str, str]:
    return os.environ | {"HOME": str(folder), "TMPDIR": str(folder), "LC_ALL": "C.UTF-8", "TZ": "UTC"}


def _run(folder: Path, *command: object) -> None:
    done = subprocess.run(
        [str(word) for word in command], cwd=folder, user=_find_account(), capture_output=True, text=True, check=False, timeout=PATIENCE,
        env=_make_environment(folder),
    )  # fmt: skip
    if done.returncode:
        raise AssertionError(done.stdout + done.stderr)


@contextmanager
def _start(folder: Path, log: Path, *command: object) -> Iterator[None]:
    with log.open("ab") as output:
        process = subprocess.Popen(
            [str(word) for word in command], cwd=folder, user=_find_account(), stdout=output, stderr=output,
            stdin=subprocess.DEVNULL, env=_make_environment(folder),
        )  # fmt: skip
        try:
            yield
        finally:
            process.send_signal(3)  # SIGQUIT: both end at once, and nothing of the data is kept
            process.kill() if "mariadbd" in str(command[0]) else None
            process.wait(PATIENCE)


def _wait(server: Server) -> None:
    """Wait until the server answers its owner."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            Server.run(server, "SELECT 1")  # by its own client: PyMySQL leaves its socket open when it cannot connect
        except AssertionError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)  # noqa: TID251 - another process starts
        else:
            return


def _find_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def create_owned_roles(server: Server, *names: str) -> None:
    """Create roles of PostgreSQL that the administrator may grant."""
    quoted = ['"' + name.replace('"', '""') + '"' for name in names]
    server.run("".join(f"CREATE ROLE {name} NOLOGIN; GRANT {name} TO {ADMIN} WITH ADMIN OPTION;" for name in quoted))


def drop_roles(server: Server, *names: str) -> None:
    quoted = ['"' + name.replace('"', '""') + '"' for name in names]
    server.run("".join(f"DROP ROLE {name};" for name in quoted))


async def log_in(server: Server, name: str, password: str, *, is_postgresql: bool) -> bool:
    """Return whether a user can sign in: over the socket of the server, since TLS takes a third of a connection."""
    if is_postgresql:
        try:
            connection = await asyncpg.connect(host=str(server.folder), port=server.port, user=name, password=password, database="postgres")  # fmt: skip
        except (asyncpg.InvalidPasswordError, asyncpg.InvalidAuthorizationSpecificationError):
            return False
        await connection.close()
        return True
    try:
        pymysql.connect(unix_socket=str(server.folder / "socket"), user=name, password=password.encode(), ssl_disabled=True).close()  # fmt: skip
    except pymysql.OperationalError as error:
        assert error.args[0] == 1045
        return False
    return True
