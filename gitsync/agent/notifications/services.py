"""The services that a notification goes to: their addresses, and how they are reached.

An address is a secret, since it has the token of its service. Only services of the table are used, by https and without
redirects, so that neither a message nor a token goes anywhere else. apprise makes the request; it is imported once
there is something to send, since that takes half a second and 25 MB.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from gitsync.agent.notifications.message import Message
from gitsync.errors import ConfigError
from gitsync.model.secret import Secret
from gitsync.settings.config.config import Config
from gitsync.settings.config.setting_values import is_loopback

SERVICES: Final = frozenset(
    {
        "discord",
        "gchat",  # Google Chat
        "gotifys",
        "jsons",  # a POST of JSON to any https address
        "matrixs",
        "mmosts",  # Mattermost
        "ntfys",
        "opsgenie",
        "pagerduty",
        "rockets",  # Rocket.Chat
        "slack",
        "tgram",  # Telegram
        "webex",
        "workflows",  # Microsoft Teams
        "zulip",
    }
)
"""The schemes of apprise that are taken: all of them speak https."""

_LOCAL: Final = "json"  # by http, and to this machine alone
_SETTLED: Final = frozenset({"redirect", "verify"})
"""Options of an address that gitsync decides."""

_SECONDS: Final = 10  # of one step: to connect, and for each piece of an answer
_PATIENCE: Final = 30.0
"""Seconds for all services together. One that answers a byte at a time would keep the run from writing its status."""

_MANY: Final = 20
_NOTHING: Final = "GITSYNC_NOTIFY or --notify-file"


@dataclass(frozen=True, slots=True)
class ServiceAddress:
    """Where a message goes."""

    number: int  # its position in the setting: messages name it, and not the address
    text: str

    @property
    def service(self) -> str:
        """The scheme, such as `slack`."""
        return self.text.partition("://")[0].casefold()

    def __repr__(self) -> str:
        return f"ServiceAddress({self.number}, {self.service})"


def read_addresses(config: Config, redact: Callable[[Secret], None]) -> list[ServiceAddress]:
    """Read the addresses of the settings. `redact` learns each, and its parts. ConfigError if one cannot be used."""
    texts = config.notify.reveal().split() if config.notify else []
    if config.notify_file:
        try:
            lines = Path(config.notify_file).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(
                f"The file of --notify-file cannot be read: {type(error).__name__}.", hint="Fix --notify-file."
            ) from error
        texts += [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    addresses = [ServiceAddress(number, text) for number, text in enumerate(dict.fromkeys(texts), 1)]
    for address in addresses:
        # Masked before an address is checked, so that no error message of the check shows a token.
        for part in _list_secrets(address.text):
            redact(Secret(part))
    if len(addresses) > _MANY:
        raise ConfigError(f"{_NOTHING} has {len(addresses)} addresses; the limit is {_MANY}.", hint="Remove some.")
    for address in addresses:
        _check(address)
    return addresses


def _list_secrets(text: str) -> Iterator[str]:
    """List what must not show: the address, and each part of it that may be a token."""
    yield text
    rest = text.partition("://")[2]
    yield rest
    # Shorter parts are not tokens, and masking them would hide ordinary words in every report.
    yield from (
        part for part in rest.replace("?", "/").replace("&", "/").replace("@", "/").split("/") if len(part) >= 8
    )


def _check(address: ServiceAddress) -> None:
    """Check that an address leads to one of the services alone. The messages do not show it."""
    name = f"Address {address.number} of {_NOTHING}"
    if "://" not in address.text:
        raise ConfigError(f"{name} is not an address.", hint="Write SERVICE://…, such as slack://TokenA/TokenB/TokenC.")
    try:
        parts = urlsplit(address.text)
        host, options = parts.hostname, parse_qs(parts.query, keep_blank_values=True)
    except ValueError as error:
        raise ConfigError(
            f"{name} cannot be read.", hint="Write SERVICE://…, with special characters encoded."
        ) from error
    if address.service not in SERVICES and not (address.service == _LOCAL and is_loopback(host)):
        raise ConfigError(
            f"{name} is for a service that gitsync does not support.",
            hint=f"Use one of {', '.join(sorted(SERVICES))}. An address without https must be on this machine.",
        )
    if settled := sorted(_SETTLED & {option.casefold() for option in options}):
        raise ConfigError(f"{name} has the option {settled[0]}.", hint="Remove it: certificates are always verified.")


def is_installed() -> bool:
    """Return whether apprise is there: it comes with the extra `notifications`."""
    from importlib.util import find_spec  # noqa: PLC0415 - takes time, and few ask

    return find_spec("apprise") is not None


def send(message: Message, addresses: list[ServiceAddress], *, patience: float = _PATIENCE) -> list[ServiceAddress]:
    """Send a message to all addresses at once, and return those that did not take it in time. ConfigError without
    apprise. `patience` is in seconds.
    """
    try:
        import apprise  # noqa: PLC0415 - takes half a second, and most runs send nothing
    except ImportError as error:
        raise ConfigError(
            "Notifications need the extra `notifications`.", hint="Run pip install 'gitsync-azure[notifications]'."
        ) from error
    import logging  # noqa: PLC0415 - that of a library

    logging.getLogger("apprise").setLevel(logging.CRITICAL + 1)  # its lines have addresses
    # Nothing is kept on disk, no file adds plugins or settings, and no text is taken for markup.
    asset = apprise.AppriseAsset(
        storage_mode=apprise.PersistentStoreMode.MEMORY,
        plugin_paths=[],
        async_mode=False,
        app_id="gitsync",
        app_desc="gitsync",
        app_url="",
        image_url_mask="",  # else a chat loads the pictures of apprise
        image_url_logo="",
        http_redirects=False,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its plugins import modules that Python gives up
        taken = _send_to_all(lambda address: _send_to(apprise, asset, address, message), addresses, patience)
    return [address for address in addresses if address not in taken]


def _send_to_all(
    send_to: Callable[[ServiceAddress], bool], addresses: list[ServiceAddress], patience: float
) -> set[ServiceAddress]:
    """Send to all addresses, and return those that took the message before the time is over."""
    taken: set[ServiceAddress] = set()

    def work(address: ServiceAddress) -> None:
        if send_to(address):
            taken.add(address)

    # Not those of a pool, which the end of the process would wait for.
    threads = [threading.Thread(target=work, args=(address,), daemon=True) for address in addresses]
    until = monotonic() + patience
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(until - monotonic(), 0.0))
    return set(taken)


def _send_to(apprise: Any, asset: Any, address: ServiceAddress, message: Message) -> bool:
    """Send to one address. Its plugin may raise anything: a service of others must not end a run."""
    try:
        service = apprise.Apprise.instantiate(address.text, asset=asset, suppress_exceptions=True)
        if service is None:
            return False
        service.socket_connect_timeout = service.socket_read_timeout = _SECONDS
        service.redirects, service.verify_certificate = False, True
        return bool(service.notify(title=message.title, body=message.body, body_format="text"))
    except Exception:  # noqa: BLE001 - whatever it is, the message was not sent
        return False
