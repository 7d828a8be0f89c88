"""Which Azure: endpoint, token audience and authority, checked once (docs/reference/design.md#settings,
docs/reference/reconciliation.md#settings-of-aso).

Separate from credentials, because the endpoint also decides where a token may be sent: to this scheme, host and port
only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from ipaddress import ip_address
from urllib.parse import urljoin, urlsplit

from gitsync.errors import ConfigError

PUBLIC_ENDPOINT = "https://management.azure.com"
GRAPH = "Microsoft Graph"
_PORTS = {"http": 80, "https": 443}

_KNOWN = {
    "management.azure.com": ("https://management.core.windows.net/", "https://login.microsoftonline.com"),
    "management.usgovcloudapi.net": ("https://management.core.usgovcloudapi.net/", "https://login.microsoftonline.us"),
    "management.chinacloudapi.cn": ("https://management.core.chinacloudapi.cn/", "https://login.chinacloudapi.cn"),
}
"""Host of the endpoint → audience and authority: public, US Government, China (21Vianet)."""

_GRAPHS = {
    "https://login.microsoftonline.com": "https://graph.microsoft.com",
    "https://login.microsoftonline.us": "https://graph.microsoft.us",
    "https://login.chinacloudapi.cn": "https://microsoftgraph.chinacloudapi.cn",
}
"""Authority → Microsoft Graph of the same directories."""

HostOrigin = tuple[str, str, int]
"""Scheme, host and port, in lower case: they decide whether a token may be sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cloud:
    """Where an Azure service is, and who signs in to it."""

    endpoint: str  # without a path
    audience: str  # of its tokens
    authority: str  # issues its tokens
    service: str = "Azure Resource Manager"  # its name, for messages

    @property
    def origin(self) -> HostOrigin:
        origin = parse_origin(self.endpoint)
        if origin is None:
            raise ConfigError(f"{self.endpoint!r} is not an http(s) URL.", hint=_ENDPOINT_HINT)
        return origin

    @property
    def is_loopback(self) -> bool:
        return _is_loopback(self.origin[1])

    def find_target(self, url: str, base: str = "/") -> str | None:
        """Return path and query of a URL in Azure's response to `base`; None if it leads to another host."""
        try:
            # Azure may return a path alone (RFC 9110 allows it), or a URL of another host.
            absolute = urljoin(f"{self.endpoint}{base}", url)
        except ValueError:
            return None
        # Another scheme or port counts as another host: no token is sent there.
        if parse_origin(absolute) != self.origin:
            return None
        parts = urlsplit(absolute)
        return f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"

    @property
    def scope(self) -> str:
        """The scope of token requests; the audience verbatim, so that `https://x/` gives `https://x//.default`."""
        return f"{self.audience}/.default"

    @property
    def knows_authority(self) -> bool:
        """False for an authority of a private cloud, which Entra's instance discovery would not find."""
        return self.authority.rstrip("/") in {authority for _, authority in _KNOWN.values()}


_ENDPOINT_HINT = f"Set AZURE_RESOURCE_MANAGER_ENDPOINT to a URL such as {PUBLIC_ENDPOINT}."


def make_cloud(endpoint: str = PUBLIC_ENDPOINT, audience: str | None = None, authority: str | None = None) -> Cloud:
    """Check the settings of a cloud, and derive audience and authority from a known endpoint.

    Raises ConfigError: the endpoint is not a URL, has more than scheme, host and port, uses plain http on another
    machine, or is unknown and has no audience and authority in the settings; the authority is not https.
    """
    origin = _check_endpoint(endpoint)
    defaults = _KNOWN.get(origin[1])
    # An emulator is its own audience; the authority is the public one, unless a setting names another.
    if defaults is None and _is_loopback(origin[1]):
        defaults = (endpoint.rstrip("/"), _KNOWN["management.azure.com"][1])
    if defaults is None and not (audience and authority):
        raise ConfigError(
            f"{endpoint} is not the endpoint of a known Azure cloud.",
            hint="Set AZURE_RESOURCE_MANAGER_AUDIENCE and AZURE_AUTHORITY_HOST as well.",
        )
    default_audience, default_authority = defaults or ("", "")
    chosen_authority = (authority or default_authority).rstrip("/")
    cloud = Cloud(
        endpoint=endpoint.rstrip("/"),
        audience=audience or default_audience,
        # azure-identity accepts `login.microsoftonline.com` as well as the URL, and so does gitsync.
        authority=chosen_authority if "://" in chosen_authority else f"https://{chosen_authority}",
    )
    if not cloud.authority.startswith("https://"):
        raise ConfigError(f"Authority {authority!r} is not https.", hint="Set AZURE_AUTHORITY_HOST to an https URL.")
    return cloud


def choose_graph(cloud: Cloud) -> Cloud:
    """Choose Microsoft Graph of a cloud: the host with the directory of its authority. An emulator is both.

    Raises ConfigError for a cloud whose Graph is not known: no token is sent to a guessed host.
    """
    if cloud.is_loopback:
        return replace(cloud, service=GRAPH)
    authority = cloud.authority.rstrip("/")
    if cloud.origin[1] in _KNOWN:  # a setting may name another host of the same directory
        authority = _KNOWN[cloud.origin[1]][1]
    if authority not in _GRAPHS:
        raise ConfigError(
            f"The Microsoft Graph endpoint for authority {cloud.authority} is not known.",
            hint="Remove the Entra ID kinds from this source. They need the public, US Government or China cloud.",
        )
    return replace(cloud, endpoint=_GRAPHS[authority], audience=_GRAPHS[authority], service=GRAPH)


def parse_origin(url: str) -> HostOrigin | None:
    """Scheme, host and port of an absolute http(s) URL; None for anything else."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme.lower() not in _PORTS or not parts.hostname or parts.username or parts.password:
        return None
    return parts.scheme.lower(), parts.hostname.lower(), port or _PORTS[parts.scheme.lower()]


def is_safe(url: str) -> bool:
    """Return whether a secret may be sent to a URL: https, or this machine."""
    origin = parse_origin(url)
    return origin is not None and (origin[0] == "https" or _is_loopback(origin[1]))


def _check_endpoint(endpoint: str) -> HostOrigin:
    origin = parse_origin(endpoint)
    if origin is None or (parts := urlsplit(endpoint)).path not in {"", "/"} or parts.query or parts.fragment:
        without_password = endpoint.rpartition("@")[2]
        raise ConfigError(f"Endpoint {without_password!r} is not a plain http(s) URL.", hint=_ENDPOINT_HINT)
    if origin[0] == "http" and not _is_loopback(origin[1]):
        raise ConfigError(
            f"Endpoint {endpoint} uses plain http on another machine.",
            hint="Use https; http is for an emulator on this machine (127.0.0.1, ::1 or localhost).",
        )
    return origin


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
