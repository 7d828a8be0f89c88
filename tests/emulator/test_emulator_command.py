"""`gitsync emulator`: served to other processes, until it is stopped."""

import json
import os
import signal
import ssl
import urllib.error
import urllib.request
from contextlib import contextmanager

import pytest

from tests.emulator.asked import GROUP, VERSION
from tests.support.command_line import run_here, start

BODY = json.dumps({"location": "westeurope"}).encode()


@contextmanager
def served(folder, *arguments):
    """The server's process, and the lines that it prints."""
    with start("emulator", *arguments, folder=folder) as server:
        try:
            yield server, server.stdout
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(timeout=30)


def send_request(url, path, method="GET", body=None, context=None):
    request = urllib.request.Request(f"{url}{path}?api-version={VERSION}", data=body, method=method)
    try:
        with urllib.request.urlopen(request, timeout=30, context=context) as answer:
            text = answer.read()
            return answer.status, json.loads(text) if text else None
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, json.loads(refused.read())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_prints_its_url_serves_and_stops_cleanly(tmp_path, number):
    with served(tmp_path) as (server, out):
        url = out.readline().strip()
        assert url.startswith("http://127.0.0.1:")
        assert send_request(url, GROUP, "PUT", BODY)[0] == 201
        assert send_request(url, GROUP)[1]["name"] == "net"
        os.kill(server.pid, number)
        assert server.wait(timeout=30) == 0
        assert server.stderr.read() == ""


def test_other_processes_see_what_was_requested_and_what_is_there(tmp_path):
    with served(tmp_path) as (_, out):
        url = out.readline().strip()
        send_request(url, GROUP, "PUT", BODY)
        send_request(url, GROUP)
        log = send_request(url, "/_emulator/requests")[1]
        held = send_request(url, "/_emulator/resources")[1]["value"]
        reset = send_request(url, "/_emulator/requests", "DELETE")
        after = send_request(url, "/_emulator/requests")[1]
        unknown = send_request(url, "/_emulator/nonsense")
    assert log["counts"] == {"GET": 1, "PUT": 1}
    assert [(request["method"], request["path"], request["status"]) for request in log["requests"]] == [
        ("PUT", GROUP, 201),
        ("GET", GROUP, 200),
    ]
    assert [resource["id"] for resource in held] == [GROUP]
    assert (reset, after) == ((204, None), {"counts": {}, "requests": []})
    assert unknown[1]["error"]["code"] == "NotFound"


def test_it_keeps_its_state_in_a_file(tmp_path):
    for method, status in (("PUT", 201), ("GET", 200)):
        with served(tmp_path, "--state", str(tmp_path / "azure.db")) as (_, out):
            assert send_request(out.readline().strip(), GROUP, method, BODY if method == "PUT" else None)[0] == status


def test_it_plays_a_script_and_serves_tls(tmp_path):
    script, certificate = tmp_path / "azure.yaml", tmp_path / "trust.pem"
    script.write_text("rules: [{match: {method: GET}, answer: {code: ServiceUnavailable}}]", encoding="utf-8")
    with served(tmp_path, "--tls", "--script", str(script), "--certificate", str(certificate)) as (_, out):
        url = out.readline().strip()
        assert out.readline().strip() == f"certificate: {certificate}"
        trust = ssl.create_default_context(cafile=str(certificate))
        assert url.startswith("https://")
        assert send_request(url, GROUP, context=trust)[1]["error"]["code"] == "ServiceUnavailable"


REFUSED = [
    (["--host", "0.0.0.0"], "requireToken", "anybody could reach it"),
    (["--host", "azure.example"], "requireToken", "a name that is not this machine's"),
    (["--script", "nowhere.yaml"], "cannot be read", "a script that is not there"),
    (["--state", "."], "cannot hold", "a folder for a file"),
    (["--port", "99999"], "a number from 0 to 65535", "a port that there is not"),
]


@pytest.mark.parametrize(("arguments", "says", "why"), REFUSED, ids=[row[-1] for row in REFUSED])
def test_it_refuses_what_cannot_be(arguments, says, why, tmp_path):
    ended = run_here("emulator", *arguments, folder=tmp_path)
    assert ended.code == 2, why
    assert says in ended.err
    assert ended.out == ""


def test_a_port_that_is_taken_is_reported(tmp_path):
    with served(tmp_path) as (_, out):
        port = out.readline().strip().rpartition(":")[2]
        ended = run_here("emulator", "--port", port, folder=tmp_path)
    assert (ended.code, f"cannot listen on 127.0.0.1:{port}" in ended.err) == (2, True)


def test_strangers_may_reach_it_where_tokens_are_required(tmp_path):
    script = tmp_path / "azure.yaml"
    script.write_text("settings: {requireToken: true, principals: [{clientId: c, secret: s}]}", encoding="utf-8")
    with served(tmp_path, "--host", "0.0.0.0", "--script", str(script)) as (_, out):
        url = out.readline().strip().replace("0.0.0.0", "127.0.0.1")
        assert send_request(url, GROUP)[1]["error"]["code"] == "AuthenticationFailed"
