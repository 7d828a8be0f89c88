"""Names of people in texts from Azure: errors, notes of locks, texts of policies.

They are personal data, as those of who changed a resource are. A name is found by its form: a user principal name or an
e-mail address anywhere, and a display name where Azure or people write one ("added by Rob Miller"). Ids stay: who may
read the directory or the activity log finds the name with them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from gitsync.model.attribution import A_PERSON

_AT: Final = r"(?:@|%40|\\u0040|&\#(?:64|x40);|&commat;|\s?[(\[]at[)\]]\s?)"
_HINTS: Final = re.compile(rf"{_AT}|\b(?:by|client|contact|ask|owner|caller|author|user)\b|by[\"']", re.IGNORECASE)
"""Without one of these a text has no name that is known as one: nearly all have none."""

_ADDRESS_TEXT: Final = (
    r"(?<![\w.%+-])"
    r"(?<!://)"  # who signs in to a URL
    r"[\w.%+-]['\w.%+!\#$&*=^`{|}~-]{0,100}?"
    # atomic: of a longer domain, no shorter one is taken
    rf"(?:{_AT}(?>(?:[^\W_](?:[\w-]{{0,61}}[^\W_])?\.){{1,8}}(?:xn--[\w-]{{2,58}}|[^\W\d_]{{2,200}}))(?![\w-]))+"
    r"(?!:[\w~/.-]+/)"  # git@host:organization/repository
)
"""A user principal name or an e-mail address. That of a guest has `#EXT#`, that of a Microsoft account `live.com#`."""

_CAPITAL: Final = r"(?:[^\W\d_a-z](?:[\w'\u2019-]{1,40}|\.))"
_TITLE: Final = r"(?:(?:Mr|Mrs|Ms|Dr|Prof)\.? )?"
_ACCOUNT_NAME: Final = r"[A-Za-z][\w.-]{1,40}\\{1,2}\w[\w.-]{0,39}\w"  # CONTOSO\rob
_NAME: Final = (
    rf"(?:{_ACCOUNT_NAME}|{_TITLE}{_CAPITAL}"
    rf"(?:[ ,]{{1,2}}(?:{_CAPITAL}|(?:van|von|de|der|den|di|da|la|le|del|al|bin|ten|ter)\b)){{0,4}})"
)

_NO_PEOPLE: Final = re.compile(
    r"\b(?:"
    r"a|access|account|admin|administrator|aks|all|an|another|api|app|application|argo|arm|aro|aso|auto|automation|"
    r"azure|backup|balancer|bicep|bot|by|central|cloud|cluster|conditional|connection|container|control|core|cost|"
    r"crossplane|customer|data|database|databricks|default|defender|deploy|deployment|design|dev|devops|dns|"
    r"endpoint|engineering|event|express|finops|firewall|flux|friday|function|gateway|github|gitlab|gitops|"
    r"gitsync|governance|group|gmbh|helpdesk|hr|identity|inc|infrastructure|insights|interface|it|its|key|"
    r"kubernetes|landing|legal|logic|ltd|machine|managed|manager|microsoft|mistake|monday|monitor|msi|network|"
    r"networking|nic|no|noc|none|nsg|operations|operator|ops|other|our|owner|owners|payments|permission|pipeline|"
    r"platform|please|policy|pool|portal|private|production|provider|public|pulumi|recovery|registry|request|"
    r"resource|resources|role|root|route|saturday|scale|scripts|secops|security|sentinel|server|service|"
    r"services|site|sku|spacelift|spn|sql|sre|staff|storage|subnet|subscription|sunday|support|system|team|teams|"
    r"template|tenant|terraform|the|their|them|this|thursday|ticket|tool|tuesday|us|user|users|vault|veeam|"
    r"vendor|virtual|vm|vmss|vnet|vpn|wednesday|windows|workspace|your"
    r")\b",
    re.IGNORECASE,
)
"""Words that make what follows "by" no person: tools, teams, services, kinds of resources, days."""

_VERBS: Final = (
    "added|applied|approved|assigned|authored|blocked|built|changed|configured|created|deleted|deployed|disabled|"
    "edited|enabled|enforced|issued|locked|made|maintained|managed|modified|owned|placed|protected|put|removed|requested|"
    "reserved|reviewed|set|set up|signed|signed[ -]off|started|updated|used|written"
)
_DEED: Final = re.compile(
    rf"(?P<before>\b(?i:(?:{_VERBS})(?: (?:here|manually|in place|on [\d./-]+))?,?[ -]by|contact|ask|call|mail|e-mail|"
    rf"tell|owner|author|requestor|requester|caller|approver)\b(?:[:=] ?| )(?i:the user |user |our colleague )?['\"“]?)"
    rf"(?P<name>(?>{_NAME}))"
    r"(?!\.\w+\.\w|/|\ [\w.-]+/\w)"  # a resource: StorageAccount.storage.azure.com default/lake
)
_HANDLE: Final = re.compile(
    r"(?P<before>\b(?i:added|locked|approved|requested) by (?:the user |user )?['\"“]?)"
    r"(?P<name>[a-z][\w.-]{1,40}(?:\\[\w.-]{1,40})?)"
    r"(?=['\"”]?(?:\s*$|[.,;:!)]|\s+(?:on|at|in|for|since|because|until|\d)))"
)
_CLIENT: Final = re.compile(r"(?P<before>\b[Cc]lient ')(?P<name>.{1,200}?)(?P<after>' with object id)")
_ACCOUNT: Final = re.compile(
    rf"(?P<before>\b[Uu]ser(?: account)? ['\"“])(?P<name>{_CAPITAL}(?: {_CAPITAL}){{1,3}})(?=['\"”])"
)
_MEMBER: Final = re.compile(
    r"(?P<before>\b(?i:(?:created|added|updated|modified|lastModified|assigned|approved|requested)By|userPrincipalName|"
    r"upn|unique_name|preferred_username|caller)\\?[\"']\s*:\s*\\?[\"'])(?P<name>[^\"'\\]{1,200})"
)
_BESIDE_ADDRESS: Final = re.compile(rf"{_NAME}\s*[(<\[]\s*(?:mailto:)?{_ADDRESS_TEXT}\s*[)>\]]")
_ADDRESS: Final = re.compile(_ADDRESS_TEXT)
_GUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def hide_people(text: str) -> str:
    """Put "a person" for each name of a person in a text from Azure."""
    if not _HINTS.search(text):
        return text
    for pattern in (_BESIDE_ADDRESS, _ADDRESS):
        while pattern.search(text):  # what is left of one that was hidden may begin another
            text = pattern.sub(A_PERSON, text)
    for pattern in (_CLIENT, _MEMBER, _ACCOUNT):
        text = pattern.sub(_hide_name, text)
    for pattern in (_DEED, _HANDLE):
        text = pattern.sub(lambda found: found[0] if _NO_PEOPLE.search(found["name"]) else _hide_name(found), text)
    return text


def hide_people_within(document: Any) -> Any:
    """Return a JSON document with "a person" for the names in its values. ARM ids stay, as the names of what they are
    ids of.
    """
    if isinstance(document, Mapping):
        return {name: hide_people_within(value) for name, value in document.items()}
    if isinstance(document, list):
        return [hide_people_within(value) for value in document]
    # An ARM id may have words after "by" too, and a hidden part would make it the id of another resource.
    is_text = isinstance(document, str) and not document.startswith("/subscriptions/")
    return hide_people(document) if is_text else document


def make_log_mask(mask: Callable[[str], str]) -> Callable[[str], str]:
    """Make what takes secrets out of logs and exceptions, as `mask` does, and names of people: many may read them."""
    return lambda text: hide_people(mask(text))


def _hide_name(found: re.Match[str]) -> str:
    name, rest = found["name"], found.groupdict().get("after") or ""
    # An id is not personal data by itself, and people who may read the directory find the name by it.
    if _GUID.fullmatch(name) or name.startswith(A_PERSON):
        return found[0]
    stop = name[len(name.rstrip(".,")) :]  # the end of a sentence is none of the name
    return f"{found['before']}{A_PERSON}{stop}{rest}"
