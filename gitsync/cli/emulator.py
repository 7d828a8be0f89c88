"""Serve an emulated Azure Resource Manager, for tests and rehearsals without credentials.

The first line of output is its URL. It runs until it receives SIGTERM or SIGINT. The script has settings and faults. It
does not authenticate clients, so it listens on this machine only, unless the script requires tokens.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from gitsync.cli.command import Example, make_number_reader
from gitsync.errors import ConfigError, ExitCode
from gitsync.settings.config.config import Config

if TYPE_CHECKING:
    import ssl

    from gitsync.emulator.http.server import Emulator
    from gitsync.emulator.settings import EmulatorSettings

SETTINGS = ()
OUTPUTS = ()
EXAMPLES = (
    Example("Serve it on a port, with its state in a file", "gitsync emulator --port 8080 --state azure.db"),
    Example("Run against it", "gitsync sync --endpoint http://127.0.0.1:8080 --credential anonymous"),
)

_LAST_PORT = 65535


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", default="127.0.0.1", help="Address to listen on. [default 127.0.0.1]")
    parser.add_argument(
        "--port",
        type=make_number_reader(0, _LAST_PORT),
        default=0,
        help="Port to listen on; 0 picks a free port. [default 0]",
    )
    parser.add_argument("--state", metavar="FILE", type=Path, help="Keep the state in an SQLite FILE. [default memory]")
    parser.add_argument("--script", metavar="FILE", type=Path, help="Settings and faults, in YAML.")
    parser.add_argument("--tls", action="store_true", help="Serve HTTPS with a generated certificate.")
    parser.add_argument(
        "--certificate",
        metavar="FILE",
        type=Path,
        help="Where to write the certificate that clients must trust. [default a temporary file]",
    )


def run(options: argparse.Namespace, _config: Config) -> ExitCode:
    import asyncio

    from gitsync.agent.run.emulator_settings import load_emulator_settings

    settings = load_emulator_settings(options.script)
    _refuse_strangers(options.host, settings)
    asyncio.run(_serve(options, settings))
    return ExitCode.FINE


def _refuse_strangers(host: str, settings: EmulatorSettings) -> None:
    import ipaddress

    try:
        near = host == "localhost" or ipaddress.ip_address(host).is_loopback
    # A name may resolve to any address, so it counts as far away.
    except ValueError:
        near = False
    if near or settings.require_token:
        return
    raise ConfigError(
        f"The emulator would accept unauthenticated requests on {host}.",
        hint="Listen on 127.0.0.1, or set requireToken and principals in the script.",
    )


async def _serve(options: argparse.Namespace, settings: EmulatorSettings) -> None:
    import asyncio
    import signal

    from gitsync.emulator.http.server import Emulator
    from gitsync.emulator.state.store import MemoryStore, SqliteStore
    from gitsync.settings.processes.temporary_folders import open_temporary_folder

    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    emulator = Emulator(settings, SqliteStore(options.state) if options.state else MemoryStore())
    with open_temporary_folder() as folder:
        certificate = options.certificate or folder / "certificate.pem"
        try:
            tls = _tls(options.host, emulator, certificate) if options.tls else None
            # Flushed, since a script waits for this line through a pipe.
            print(await _start(emulator, options, tls), flush=True)
            if tls is not None:
                print(f"certificate: {certificate}", flush=True)
            await stop.wait()
        finally:
            await emulator.stop()


async def _start(emulator: Emulator, options: argparse.Namespace, tls: ssl.SSLContext | None) -> str:
    try:
        return await emulator.start(options.host, options.port, tls)
    except OSError as error:
        raise ConfigError(
            f"The emulator cannot listen on {options.host}:{options.port}: {error.strerror}.",
            hint="Use another --port, or --port 0 for a free port.",
        ) from error


def _tls(host: str, emulator: Emulator, certificate: Path) -> ssl.SSLContext:
    try:
        from gitsync.emulator.http.certificate import make_tls_context
    except ImportError as error:
        raise ConfigError("--tls needs the package cryptography.", hint="Run `pip install cryptography`.") from error
    return make_tls_context(host, emulator.cloud.clock.now(), certificate)
