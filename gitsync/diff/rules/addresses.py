"""Addresses: URLs, host names, IP addresses and networks, compared as what they lead to."""

from __future__ import annotations

import re
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Final

from gitsync.diff.rules.rule import EquivalenceRule, Leaf, RuleOutcome, make_outcome

_URL: Final = re.compile(r"(?P<scheme>[Hh][Tt][Tt][Pp][Ss]?)://(?P<host>[^/?#@\s]+)(?P<rest>[/?#]\S*)?")
_HOST: Final = re.compile(r"(?:[A-Za-z0-9_*-]+\.)+[A-Za-z0-9-]+\.?")
_HOST_NAMES: Final = (
    "cname",
    "exchange",
    "nsdname",
    "ptrdname",
    "fqdn",
    "hostname",
    "domainname",
    "fqdns",
    "hostnames",
)
_LITERAL: Final = ("audience", "audiences", "issuer", "origin", "origins", "redirecturis", "replyurls")
"""URLs that are compared letter by letter by those who use them: OpenID Connect and CORS know no other way."""

_PORTS: Final = {"http": ":80", "https": ":443"}


def _compare_urls(leaf: Leaf) -> RuleOutcome | None:
    if leaf.name.endswith(_LITERAL):
        return None
    asked, found = _URL.fullmatch(leaf.desired), _URL.fullmatch(leaf.live)
    return make_outcome(_split_url(asked) == _split_url(found)) if asked and found else None


def _split_url(url: re.Match[str]) -> tuple[str, str, str]:
    """Scheme and host have no case, a scheme has a port of its own; the rest is compared as it stands."""
    scheme = url["scheme"].casefold()
    host = url["host"].casefold().removesuffix(_PORTS.get(scheme, "\n"))
    rest = url["rest"] or ""
    return scheme, host, rest if "?" in rest or "#" in rest else rest.removesuffix("/")


def _compare_hosts(leaf: Leaf) -> RuleOutcome | None:
    if not leaf.name.endswith(_HOST_NAMES) or not (_HOST.fullmatch(leaf.desired) and _HOST.fullmatch(leaf.live)):
        return None
    return make_outcome(leaf.desired.casefold().removesuffix(".") == leaf.live.casefold().removesuffix("."))


def _compare_networks(leaf: Leaf) -> RuleOutcome | None:
    asked, found = _parse_network(leaf.desired), _parse_network(leaf.live)
    return make_outcome(asked == found) if asked and found else None


def _compare_dynamic_addresses(leaf: Leaf) -> RuleOutcome | None:
    is_chosen = leaf.name == "privateipaddress" and not leaf.desired and _parse_network(leaf.live)
    return RuleOutcome.UNTOLD if is_chosen else None


def _parse_network(text: str) -> IPv4Network | IPv6Network | None:
    if "." not in text and ":" not in text:
        return None  # a plain number is no address
    try:
        return ip_network(text)
    except ValueError:
        return None


ADDRESS_RULES: Final = (
    EquivalenceRule(
        name="a URL",
        evidence="RFC 3986 §6.2: scheme and host have no case, a default port says nothing. "
        "Azure ends its service addresses with a slash, whether one was sent or not.",
        decide=_compare_urls,
    ),
    EquivalenceRule(
        name="a host name",
        evidence="RFC 4343: names have no case; RFC 1034 §3.1: a dot at the end says that the name is whole.",
        decide=_compare_hosts,
    ),
    EquivalenceRule(
        name="an IP address",
        evidence="RFC 4632, RFC 5952: Key Vault answers '1.2.3.4' with '1.2.3.4/32' "
        "(hashicorp/terraform-provider-azurerm#2164).",
        decide=_compare_networks,
    ),
    EquivalenceRule(
        name="an address of Azure's choice",
        evidence="Recorded: DNS resolvers answer the privateIpAddress '', which asks for none, with the address that "
        "they were given.",
        decide=_compare_dynamic_addresses,
    ),
)
