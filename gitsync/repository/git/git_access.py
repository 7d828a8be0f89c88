"""The environment of git: its permissions and credentials, which are passed only there.

Settings are passed as variables (GIT_CONFIG_COUNT and so on), never on the command line, which every user of the
machine can read, and never in a file. Settings of the user and the machine stay in force (credential helpers, proxies,
private CAs, the ssh command): they are how git works there. Of the settings of a working tree, only the headers for the
host of its remote are used: a user with write access to it must not choose what gitsync runs.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gitsync.model.secret import Secret
from gitsync.repository.git.git_command import Repository
from gitsync.repository.git.source.location import Url
from gitsync.settings.processes.programs import Grace

GitSettings = tuple[tuple[str, str], ...]
"""git settings as (key, value), in order: a key may occur several times."""

_ALWAYS: GitSettings = (
    # Hooks and fsmonitor are programs that the settings of a repository may name.
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("safe.bareRepository", "explicit"),
    # A mirror links to the objects of the user's repository, which gitsync never changes.
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    # git takes the pack of a small commit apart with a program of its own.
    ("fastimport.unpackLimit", "1"),
    # A commit chooses the URLs of submodules, and nothing of them is read.
    ("submodule.recurse", "false"),
    ("fetch.recurseSubmodules", "false"),
    ("push.recurseSubmodules", "no"),
    # The settings of the person stay in force, and would sign with that person's key or push other tags.
    ("push.gpgSign", "false"),
    ("push.followTags", "false"),
)
_FIXED = {
    "LC_ALL": "C",  # causes are read from English text
    "LANGUAGE": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",  # no replacement of objects
    "GIT_LITERAL_PATHSPECS": "1",
    "GCM_INTERACTIVE": "never",
    "SSH_ASKPASS_REQUIRE": "never",
}
_SHORTEST_SECRET = 8  # a shorter text would be masked in the middle of words
_NO_REPOSITORY = Path(os.devnull)


@dataclass(frozen=True, slots=True, kw_only=True)
class GitAccess:
    """How to reach remote repositories."""

    token: Secret | None = None  # None for a repository that anyone may read, or with other credentials
    username: str = "x-access-token"  # sent with the token over https, for hosts that need one
    timeout: float = 300.0  # seconds, for each git command
    grace: Grace = field(default_factory=Grace)  # once it has begun, commands end with it
    aliases: tuple[str, ...] | None = None
    """Names that the operator gives the repository in a cluster, None to take those of its gitsync.yaml."""

    def open_local(self, folder: Path) -> Repository:
        """Open a git directory on this machine; no transport is allowed at all."""
        return Repository(folder=folder, environment=make_local_environment(), timeout=self.timeout, grace=self.grace)


@dataclass(frozen=True, slots=True, kw_only=True)
class Remote:
    """A remote repository with its credentials."""

    url: str  # without a password, so it may be printed
    environment: Mapping[str, str] = field(repr=False)  # variables that git gets for its credentials and proxies
    timeout: float  # seconds, for each git command
    secrets: tuple[Secret, ...] = ()  # kept out of every message
    grace: Grace = field(default_factory=Grace)
    label: str = ""  # its name in messages, if not its URL

    @property
    def name(self) -> str:
        return self.label or self.url


def make_local_environment() -> Mapping[str, str]:
    """Make the environment for reading a repository on this machine; no transport is allowed at all."""
    return _FIXED | {"GIT_ALLOW_PROTOCOL": "none"} | _make_variables(_ALWAYS)


def use_no_repository(access: GitAccess) -> Repository:
    """Return a repository for git commands that need none, and must not find one."""
    return access.open_local(_NO_REPOSITORY)


def open_remote(url: Url, access: GitAccess, headers: GitSettings = (), label: str = "") -> Remote:
    """Open a remote: join its URL with the credentials for it.

    The token of `access` takes precedence over a password of the URL. `headers` are those of the working tree for the
    URL's host.
    """
    secret = access.token or url.password
    user = access.username if access.token else url.user
    credentials, secrets = _make_credentials(url, user, secret)
    header_secrets = tuple(
        Secret(token) for _, value in headers if len(token := value.rpartition(" ")[2]) >= _SHORTEST_SECRET
    )
    settings = [*headers, *_ALWAYS, *credentials]
    if any(key.casefold().endswith(".extraheader") and value for key, value in (*headers, *credentials)):
        # git would send a header to whichever host the server names.
        settings.append((f"http.{url.text}.followRedirects", "false"))
    environment = (
        _FIXED
        # A transport such as ext:: starts a program that the address names.
        | {"GIT_ALLOW_PROTOCOL": "https:ssh:file" + (":http" if url.scheme == "http" else "")}
        | {"GIT_ASKPASS": os.environ.get("GIT_ASKPASS", "")}  # without it git would open a window if it can
        | _choose_ssh_command(url, access)
        | _make_variables(settings)
    )
    return Remote(
        url=url.text,
        environment=environment,
        timeout=access.timeout,
        secrets=(*secrets, *header_secrets),
        grace=access.grace,
        label=label,
    )


def _make_credentials(url: Url, user: str, secret: Secret | None) -> tuple[GitSettings, tuple[Secret, ...]]:
    """Make the settings that sign in, and list their secrets."""
    if url.scheme not in {"http", "https"}:
        return (), ()
    if secret is None:
        return (((f"credential.{url.text}.username", user),) if user else ()), ()
    header = f"http.{url.text}.extraHeader"
    basic = Secret(base64.b64encode(f"{user}:{secret.reveal()}".encode()).decode())
    # An empty value first removes headers that are set elsewhere: hosts refuse two of them.
    return ((header, ""), (header, f"Authorization: Basic {basic.reveal()}")), (secret, basic)


def _choose_ssh_command(url: Url, access: GitAccess) -> dict[str, str]:
    """Choose the ssh command from the environment or the git settings of the user, else one that never prompts."""
    if url.scheme == "file" or "GIT_SSH_COMMAND" in os.environ or "GIT_SSH" in os.environ:
        return {}
    if use_no_repository(access).succeeds("config", "--get", "core.sshCommand"):
        return {}
    return {"GIT_SSH_COMMAND": "ssh -o BatchMode=yes"}


def add_settings(environment: Mapping[str, str], settings: GitSettings) -> dict[str, str]:
    """Add settings to the environment of a repository. The last value of a key wins."""
    return {**environment, **_make_variables(settings, environment)}


def _make_variables(settings: Iterable[tuple[str, str]], given: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Pass settings as variables, after those that the given environment already passes in the same way."""
    count = given.get("GIT_CONFIG_COUNT", "")
    first = int(count) if count.isascii() and count.isdigit() else 0
    variables: dict[str, str] = {}
    for number, (key, value) in enumerate(settings, first):
        variables |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
        variables["GIT_CONFIG_COUNT"] = str(number + 1)
    return variables
