"""A git server over HTTP on this machine: `git http-backend` behind a token, as hosts put it."""

import base64
import http.server
import os
import ssl
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

EVERY_PROCESS = Path("/proc")


_ABILITIES = b"000eversion 2\n"
"""How an answer begins that has what a server can do. It has nothing of a repository, and is every other answer."""


@cache
def _find_backend() -> str:
    """The program, which `git http-backend` would start as another process."""
    folder = subprocess.run(["git", "--exec-path"], capture_output=True, text=True, check=True).stdout.strip()
    return f"{folder}/git-http-backend"


def basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


@dataclass
class Seen:
    """What arrived, and how it looked on this machine then."""

    authorizations: list[list[str]] = field(default_factory=list)
    command_lines: set[str] = field(default_factory=set)


class _Handler(http.server.BaseHTTPRequestHandler):
    root: Path
    readers: tuple[str, ...]
    writers: tuple[str, ...]
    seen: Seen
    redirect: str
    spies: bool
    drops: list[bytes]
    kept: dict[tuple[str, str], bytes]

    def do_GET(self) -> None:
        self.answer()

    def do_POST(self) -> None:
        self.answer()

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        given = self.headers.get_all("Authorization", [])
        self.seen.authorizations.append(given)
        if self.spies:
            self.seen.command_lines |= _command_lines()
        dropped = next((each for each in self.drops if each in body), None)
        if dropped is not None:
            self.drops.remove(dropped)
            self.close_connection = True  # without an answer
        elif self.redirect:
            self.send_response(302)
            self.send_header("Location", self.redirect + self.path)
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif len(given) != 1 or given[0] not in self.readers + self.writers:
            self.refuse(401)
        elif "git-receive-pack" in self.path and given[0] not in self.writers:
            self.refuse(403)
        else:
            self.backend(body)

    def refuse(self, status: int) -> None:
        self.send_response(status)
        self.send_header("WWW-Authenticate", 'Basic realm="git"')
        self.send_header("Content-Length", "0")
        self.end_headers()

    def backend(self, body: bytes) -> None:
        request = self.path, self.headers.get("Git-Protocol", "")
        answer = self.kept.get(request) or self.run_backend(body)
        head, _, content = answer.partition(b"\r\n\r\n")
        if content.startswith(_ABILITIES):
            self.kept[request] = answer
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        self.send_response(int(headers.pop("Status", "200").split()[0]))
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def run_backend(self, body: bytes) -> bytes:
        path, _, query = self.path.partition("?")
        environment = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "REMOTE_USER": "somebody",
            "REMOTE_ADDR": "127.0.0.1",
        }
        return subprocess.run([_find_backend()], input=body, env=environment, capture_output=True, check=True).stdout

    def log_message(self, *_arguments: object) -> None:
        """Nothing is logged."""


class _Server(http.server.ThreadingHTTPServer):
    request_queue_size = 128
    """Connections that may wait on a busy machine: the kernel resets those beyond."""


def _command_lines() -> set[str]:
    """Of every process of this machine, as anybody may read them."""
    found = set()
    for each in EVERY_PROCESS.glob("[0-9]*/cmdline"):
        try:
            found.add(each.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace"))
        except OSError:  # it has ended
            continue
    return found


@contextmanager
def serve(
    root: Path,
    *,
    readers: tuple[str, ...],
    writers: tuple[str, ...] = (),
    tls: tuple[Path, Path] | None = None,
    redirect: str = "",
    spies: bool = False,
    drops: Sequence[bytes] = (),
) -> Iterator[tuple[str, Seen]]:
    """Serve the repositories below `root`; yields (URL, what is seen). `tls` is (certificate, key). With `redirect`,
    another server is named for everything. `spies` looks at all processes with each request. Each of `drops` closes the
    connection of the first request whose body has it.
    """
    seen = Seen()
    facts = {"root": root, "readers": readers, "writers": writers, "seen": seen, "redirect": redirect, "spies": spies}
    facts |= {"drops": list(drops), "kept": {}}
    handler = type("Handler", (_Handler,), facts)
    with _Server(("127.0.0.1", 0), handler) as server:
        if tls is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*tls)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield f"{'https' if tls else 'http'}://127.0.0.1:{server.server_port}", seen
        finally:
            server.shutdown()
            thread.join()
