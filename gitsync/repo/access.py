"""The environment that git runs in: what it may do, and the credentials, which travel nowhere else.

Settings are handed over as variables (GIT_CONFIG_COUNT and so on), never on the command line, which everybody on the
machine can read, and never in a file. Settings of the person or the machine stay in force (credential helpers,
proxies, private authorities, the ssh command): they are how git works there.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gitsync.model.secret import Secret
from gitsync.repo.location import Url
from gitsync.repo.repository import Repository

Settings = tuple[tuple[str, str], ...]
"""git settings as (key, value), in order: a key may stand several times."""

_ALWAYS: Settings = (
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("submodule.recurse", "false"),
    ("fetch.recurseSubmodules", "false"),
    ("push.recurseSubmodules", "no"),
    ("push.gpgSign", "false"),
    ("push.followTags", "false"),
)
_FIXED = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",  # a revision is what its id says
    "GIT_LITERAL_PATHSPECS": "1",
    "GCM_INTERACTIVE": "never",
    "SSH_ASKPASS_REQUIRE": "never",
}
_LOCAL_TIMEOUT = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """How to reach remote repositories. `timeout` is in seconds for each git command; `username` goes with the token
    over https, where hosts want one.
    """

    token: Secret | None = None
    username: str = "x-access-token"
    timeout: float = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Remote:
    """A repository elsewhere, ready to be spoken with. `url` holds no password and may be printed."""

    url: str
    environment: Mapping[str, str] = field(repr=False)
    timeout: float
    secrets: tuple[Secret, ...] = ()


def local_environment() -> Mapping[str, str]:
    """For reading a repository on this machine; no transport is allowed at all."""
    return _FIXED | {"GIT_ALLOW_PROTOCOL": "none"} | _as_variables(_ALWAYS)


def open_remote(url: Url, access: Access, inherited: Settings = ()) -> Remote:
    """Join a URL with the credentials for it.

    The token of `access` goes before a password that the URL held. `inherited` are settings of a work tree whose
    remote this is.
    """
    secret = access.token or url.password
    user = access.username if access.token else url.user
    credentials, secrets = _credentials(url, user, secret)
    environment = (
        _FIXED
        | {"GIT_ALLOW_PROTOCOL": "https:ssh:file" + (":http" if url.scheme == "http" else "")}
        | {"GIT_ASKPASS": os.environ.get("GIT_ASKPASS", "")}  # without it git would open a window where it can
        | _ssh(url, inherited)
        | _as_variables((*inherited, *_ALWAYS, *credentials))
    )
    return Remote(url=url.text, environment=environment, timeout=access.timeout, secrets=secrets)


def _credentials(url: Url, user: str, secret: Secret | None) -> tuple[Settings, tuple[Secret, ...]]:
    """An empty value first takes back headers that are set elsewhere: two of them are refused by hosts."""
    if url.scheme not in {"http", "https"}:
        return (), ()
    if secret is None:
        return (((f"credential.{url.text}.username", user),) if user else ()), ()
    header = f"http.{url.text}.extraHeader"
    basic = Secret(base64.b64encode(f"{user}:{secret.reveal()}".encode()).decode())
    return ((header, ""), (header, f"Authorization: Basic {basic.reveal()}")), (secret, basic)


def _ssh(url: Url, inherited: Settings) -> dict[str, str]:
    """The ssh command that the environment or git's settings name, else one that asks nothing."""
    if url.scheme == "file" or "GIT_SSH_COMMAND" in os.environ or "GIT_SSH" in os.environ:
        return {}
    anywhere = Repository(folder=Path("/"), environment=local_environment(), timeout=_LOCAL_TIMEOUT)
    if "core.sshcommand" in dict(inherited) or anywhere.succeeds("config", "--get", "core.sshCommand"):
        return {}
    return {"GIT_SSH_COMMAND": "ssh -o BatchMode=yes"}


def _as_variables(settings: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Settings as variables, after those that the environment already hands over in the same way."""
    count = os.environ.get("GIT_CONFIG_COUNT", "")
    first = int(count) if count.isascii() and count.isdigit() else 0
    variables: dict[str, str] = {}
    for number, (key, value) in enumerate(settings, first):
        variables |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
        variables["GIT_CONFIG_COUNT"] = str(number + 1)
    return variables
