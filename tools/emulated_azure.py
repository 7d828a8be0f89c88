"""The emulator as a process of its own, for tools that start runs against it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from gitsync.providers.arm.client import is_check

GITSYNC = Path(sys.executable).parent / "gitsync"
SUBSCRIPTION = "00000000-0000-0000-0000-000000000000"


class EmulatedAzure(NamedTuple):
    """Where it answers."""

    url: str

    def send_request(self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None) -> Any:
        """Send a request, and return the JSON of its answer. RuntimeError if it refuses. A text is sent as it is."""
        content = body if isinstance(body, str) or body is None else json.dumps(body)
        connection = HTTPConnection(urlsplit(self.url).netloc, timeout=30)
        try:
            connection.request(method, path, content, {"Content-Type": "application/json", **(headers or {})})
            answer = connection.getresponse()
            text = answer.read()
        finally:
            connection.close()
        if answer.status >= 400:
            raise RuntimeError(f"Azure answers {method} {path} with {answer.status}: {text.decode()}")
        return json.loads(text) if text else None

    def list_writes(self) -> list[dict[str, Any]]:
        """What it was sent since `forget` that changes something. Checks are not writes."""
        requested = self.send_request("GET", "/_emulator/requests")["requests"]
        sent = [
            request
            for request in requested
            if request["method"] in {"PUT", "PATCH", "POST", "DELETE"} and request["status"]
        ]
        return [request for request in sent if request["method"] != "POST" or not is_check(request["path"])]

    def forget(self) -> None:
        """Forget the requests that it was sent so far."""
        self.send_request("DELETE", "/_emulator/requests")


@contextmanager
def serve_azure(folder: Path, script: Any, environment: Mapping[str, str]) -> Iterator[EmulatedAzure]:
    """Start it with a script (docs/emulator.md), its state in a folder, and end it."""
    (folder / "azure.yaml").write_text(json.dumps(script))
    command = [str(GITSYNC), "emulator", "--port", "0", "--state", str(folder / "azure.db")]
    command += ["--script", str(folder / "azure.yaml")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
        try:
            yield EmulatedAzure(str(server.stdout and server.stdout.readline()).strip())
        finally:
            server.terminate()
