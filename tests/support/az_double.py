"""The `az` of a person who signed in at an emulator: `az account get-access-token` and `az login`, as far as
azure-identity and gitsync's advice use them.
"""

from __future__ import annotations

import sys
from pathlib import Path

AZURE_CLI = "04b07795-8ddb-461a-bbee-02f9e1bf7b46"
"""The client id of the Azure CLI, in every tenant."""

_SCRIPT = """#!{python}
import base64, json, sys, time, urllib.parse, urllib.request
from pathlib import Path

URL, CLIENT, TENANT, STATE = {url!r}, {client!r}, {tenant!r}, Path({state!r})
words = sys.argv[1:]
flags = {{word: words[words.index(word) + 1] for word in words if word.startswith("--")}}


def login():
    assert set(flags) == {{"--tenant", "--scope", "--claims-challenge"}}, flags
    assert flags["--tenant"] == TENANT, flags
    claims = base64.b64decode(flags["--claims-challenge"]).decode("latin-1")
    assert isinstance(json.loads(claims), dict)
    state = json.loads(STATE.read_text()) if STATE.exists() else {{}}
    STATE.write_text(json.dumps({{**state, flags["--scope"]: claims}}))


def get_token():
    scope = flags["--resource"] + "/.default"
    form = {{"grant_type": "client_credentials", "client_id": CLIENT, "client_secret": "of-the-person", "scope": scope}}
    state = json.loads(STATE.read_text()) if STATE.exists() else {{}}
    form["claims"] = state.get(scope, "")
    body = urllib.parse.urlencode(form).encode()
    with urllib.request.urlopen(f"{{URL}}/{{TENANT}}/oauth2/v2.0/token", body) as answer:
        token = json.load(answer)
    ends = int(time.time()) + token["expires_in"]
    print(json.dumps({{"accessToken": token["access_token"], "expires_on": ends, "tokenType": "Bearer"}}))


{{"login": login, "account": get_token}}[words[0]]()
"""


def make_az(folder: Path, url: str, tenant: str, client: str = AZURE_CLI) -> Path:
    """Write the program, and return it. Its folder belongs into PATH."""
    folder.mkdir()
    program = folder / "az"
    program.write_text(
        _SCRIPT.format(python=sys.executable, url=url, client=client, tenant=tenant, state=str(folder / "claims.json"))
    )
    program.chmod(0o755)
    return program
