"""The language server for YAML that editors use, and a client for it: what a person would see in an editor."""

import json
import shutil
import subprocess
from pathlib import Path


class LanguageServer:
    """yaml-language-server over its standard streams, with the settings of a workspace."""

    def __init__(self, folder: Path, settings: dict) -> None:
        program = shutil.which("yaml-language-server")
        assert program
        self.folder, self._settings, self._number, self._diagnostics = folder, settings, 0, {}
        self._process = subprocess.Popen([program, "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        root = folder.as_uri()
        capabilities = {
            "textDocument": {
                "completion": {"completionItem": {"snippetSupport": True}},
                "publishDiagnostics": {},
                "hover": {"contentFormat": ["markdown"]},
            },
            "workspace": {"configuration": True, "workspaceFolders": True},
        }
        parameters = {
            "processId": None,
            "rootUri": root,
            "capabilities": capabilities,
            "workspaceFolders": [{"uri": root, "name": "workspace"}],
        }
        self._query("initialize", parameters)
        self._send({"method": "initialized", "params": {}})
        self._send({"method": "workspace/didChangeConfiguration", "params": {"settings": self._all_settings()}})

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()

    def open(self, name: str, text: str) -> list[dict]:
        """Open a document, and return what the editor marks in it."""
        uri = (self.folder / name).as_uri()
        document = {"uri": uri, "languageId": "yaml", "version": 1, "text": text}
        self._send({"method": "textDocument/didOpen", "params": {"textDocument": document}})
        while uri not in self._diagnostics:
            self._read()
        return self._diagnostics.pop(uri)

    def complete(self, name: str, text: str) -> list[dict]:
        """What the editor offers where the text has a |."""
        uri, position = self._open_at_mark(name, text)
        result = self._query("textDocument/completion", {"textDocument": {"uri": uri}, "position": position})
        return result["items"] if isinstance(result, dict) else result

    def hover(self, name: str, text: str) -> str:
        """What the editor shows for the word at the | in the text."""
        uri, position = self._open_at_mark(name, text)
        result = self._query("textDocument/hover", {"textDocument": {"uri": uri}, "position": position})
        return result["contents"]["value"] if result else ""

    def _open_at_mark(self, name: str, text: str) -> tuple[str, dict]:
        before, _, after = text.partition("|")
        self.open(name, before + after)
        position = {"line": before.count("\n"), "character": len(before.rpartition("\n")[2])}
        return (self.folder / name).as_uri(), position

    def _query(self, method: str, parameters: dict):
        self._number += 1
        number = self._number
        self._send({"id": number, "method": method, "params": parameters})
        while True:
            message = self._read()
            if message.get("id") == number and "method" not in message:
                return message.get("result")

    def _send(self, message: dict) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self._process.stdin.flush()

    def _read(self) -> dict:
        length = 0
        while (line := self._process.stdout.readline()) not in {b"\r\n", b""}:
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        assert length, "the language server has ended"
        message = json.loads(self._process.stdout.read(length))
        if message.get("method") == "textDocument/publishDiagnostics":
            self._diagnostics[message["params"]["uri"]] = message["params"]["diagnostics"]
        elif "method" in message and "id" in message:
            self._send({"id": message["id"], "result": self._answer(message)})
        return message

    def _answer(self, message: dict):
        """What the server requests from an editor: its settings."""
        if message["method"] != "workspace/configuration":
            return None
        return [self._all_settings().get(item.get("section", ""), {}) for item in message["params"]["items"]]

    def _all_settings(self) -> dict:
        yaml = {name.removeprefix("yaml."): value for name, value in self._settings.items()}
        return {"yaml": {"schemaStore": {"enable": False}, "validate": True, "hover": True, "completion": True, **yaml}}
