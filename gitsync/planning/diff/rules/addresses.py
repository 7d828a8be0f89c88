"""Identifiers and addresses: ARM ids, whole or relative to the resource, GUIDs, URLs, host names, IP addresses and
networks, compared as what they lead to.
"""

from __future__ import annotations

import re
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Final

from gitsync.planning.diff.rules.rule import EquivalenceRule, Leaf, RuleOutcome, make_outcome

_GUID: Final = re.compile(r"\{?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\}?", re.IGNORECASE)
_ROOTS: Final = ("/subscriptions/", "/providers/")


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
"""URLs that their users compare letter by letter, as OpenID Connect and CORS require."""
_PORTS: Final = {"http": ":80", "https": ":443"}


def _compare_guids(leaf: Leaf) -> RuleOutcome | None:
    if not (_GUID.fullmatch(leaf.desired) and _GUID.fullmatch(leaf.live)):
        return None
    return make_outcome(leaf.desired.strip("{}").casefold() == leaf.live.strip("{}").casefold())


def _compare_arm_ids(leaf: Leaf) -> RuleOutcome | None:
    if not _is_arm_id(leaf.desired):
        return None
    return make_outcome(_normalize(leaf.desired) == _normalize(leaf.live))


def _compare_relative_ids(leaf: Leaf) -> RuleOutcome | None:
    """A path that Azure returns in full must be below the resource itself, or below one of its parents."""
    short, full = leaf.desired, leaf.live
    if _is_arm_id(short) and not _is_arm_id(full):
        short, full = full, short
    # A slash alone leaves nothing, which is the end of every id.
    if not short.startswith("/") or not _is_arm_id(full) or not _normalize(short):
        return None
    root = _normalize(full).removesuffix(_normalize(short))
    own = _normalize(leaf.hints.own_id)
    # Without this root, the same path below another service would count as equal.
    return make_outcome(root != _normalize(full) and bool(root) and (own == root or own.startswith(f"{root}/")))


def _compare_name_with_id(leaf: Leaf) -> RuleOutcome | None:
    """A name stands for the resource in the own group: one of the same name in another group is another."""
    # Either side may have the name; `sorted` puts the text that is not an id first.
    name, full = sorted((leaf.desired, leaf.live), key=_is_arm_id)
    if not leaf.name.endswith("id") or "/" in name or not _is_arm_id(full):
        return None
    group = "/".join(_normalize(leaf.hints.own_id).split("/")[:5])
    return make_outcome(
        _normalize(full).startswith(f"{group}/providers/") and _normalize(full).endswith(f"/{_normalize(name)}")
    )


def _is_arm_id(text: str) -> bool:
    return text.casefold().startswith(_ROOTS)


def _normalize(text: str) -> str:
    return text.removesuffix("/").casefold()


ID_RULES: Final = (
    EquivalenceRule(
        name="an ARM id",
        evidence="Resource-provider contract: ids compare without case; 'serverFarms' comes back 'serverfarms'.",
        decide=_compare_arm_ids,
    ),
    EquivalenceRule(
        name="a relative id",
        evidence="Recorded: API Management answers the scope '/apis' by the id of its service and '/apis'; a role "
        "assignment a role of the tenant by its subscription's id and the role's.",
        decide=_compare_relative_ids,
    ),
    EquivalenceRule(
        name="a name for an id",
        evidence="Microsoft.Web takes a plan's name as serverFarmId, and answers the id of the plan in the site's own "
        "resource group.",
        decide=_compare_name_with_id,
    ),
    EquivalenceRule(
        name="a GUID",
        evidence="RFC 9562 §4: hexadecimal digits in either case; Key Vault answers in small letters.",
        decide=_compare_guids,
    ),
)


def _compare_urls(leaf: Leaf) -> RuleOutcome | None:
    # OpenID Connect compares issuers letter by letter: another slash at the end makes another issuer.
    if leaf.name.endswith(_LITERAL):
        return None
    desired, found = _URL.fullmatch(leaf.desired), _URL.fullmatch(leaf.live)
    return make_outcome(_split_url(desired) == _split_url(found)) if desired and found else None


def _split_url(url: re.Match[str]) -> tuple[str, str, str]:
    """Scheme and host have no case, a scheme has a port of its own; the rest is compared as it stands."""
    scheme = url["scheme"].casefold()
    host = url["host"].casefold().removesuffix(_PORTS.get(scheme, "\n"))
    rest = url["rest"] or ""
    # A slash at the end of a query or a fragment belongs to a value.
    return scheme, host, rest if "?" in rest or "#" in rest else rest.removesuffix("/")


def _compare_hosts(leaf: Leaf) -> RuleOutcome | None:
    if not leaf.name.endswith(_HOST_NAMES) or not (_HOST.fullmatch(leaf.desired) and _HOST.fullmatch(leaf.live)):
        return None
    return make_outcome(leaf.desired.casefold().removesuffix(".") == leaf.live.casefold().removesuffix("."))


def _compare_networks(leaf: Leaf) -> RuleOutcome | None:
    desired, found = _parse_network(leaf.desired), _parse_network(leaf.live)
    return make_outcome(desired == found) if desired and found else None


def _parse_network(text: str) -> IPv4Network | IPv6Network | None:
    if "." not in text and ":" not in text:
        return None  # a plain number is not an address
    try:
        return ip_network(text)
    except ValueError:
        return None


ADDRESS_RULES: Final = (
    EquivalenceRule(
        name="a URL",
        evidence="RFC 3986 §6.2: scheme and host have no case, a default port has no meaning. "
        "Azure ends its service addresses with a slash, whether one was sent or not.",
        decide=_compare_urls,
    ),
    EquivalenceRule(
        name="a host name",
        evidence="RFC 4343: names have no case; RFC 1034 §3.1: a dot at the end marks a fully qualified name.",
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
        evidence="Recorded: DNS resolvers answer the privateIpAddress '', which sets none, with the address that "
        "they were given.",
        decide=lambda leaf: (
            RuleOutcome.UNTOLD
            if leaf.name == "privateipaddress" and not leaf.desired and _parse_network(leaf.live)
            else None
        ),
    ),
)
