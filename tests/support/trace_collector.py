"""A collector of traces on this machine: what the exporter of OpenTelemetry sends it, over a real socket."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@dataclass
class Collector:
    """A server that keeps what it gets."""

    url: str = ""
    status: int = 200  # of its answers
    sent: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)
    """Path, headers and body of each request."""

    @property
    def requests(self) -> list[Any]:
        return [ExportTraceServiceRequest.FromString(body) for _, _, body in self.sent]

    @property
    def spans(self) -> list[Any]:
        return [
            span for request in self.requests for each in request.resource_spans for s in each.scope_spans for span in s.spans
        ]  # fmt: skip

    @property
    def resource(self) -> dict[str, str]:
        return attributes(self.requests[0].resource_spans[0].resource)


def attributes(of: Any) -> dict[str, Any]:
    """The attributes of a span or a resource."""
    return {attribute.key: getattr(attribute.value, attribute.value.WhichOneof("value")) for attribute in of.attributes}


@contextmanager
def collecting() -> Iterator[Collector]:
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            collector.sent.append((self.path, dict(self.headers), body))
            self.send_response(collector.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    collector.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield collector
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
