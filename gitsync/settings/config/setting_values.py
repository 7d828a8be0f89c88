"""From the text of a setting to its value: one parser for each form, the same for a flag, a variable and a file.

A parser raises ValueError with the expected form; the caller adds the location of the text.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any
from urllib.parse import SplitResult, urlsplit

from gitsync.model.secret import Secret
from gitsync.model.variables import VARIABLE_NAME
from gitsync.settings.config.setting import NESTED, Setting, SettingForm

ON = frozenset({"true", "yes", "on", "1"})
OFF = frozenset({"false", "no", "off", "0"})

NEWEST = "newest"
"""The value of a release that is not named: the one that the catalog is of."""

_RELEASE = re.compile(r"v?2\.\d{1,4}(?:\.\d{1,4})?", re.ASCII)
_DURATION = re.compile(r"(?:(?P<h>\d+(?:\.\d+)?)h)?(?:(?P<m>\d+(?:\.\d+)?)m)?(?:(?P<s>\d+(?:\.\d+)?)s)?", re.ASCII)
_UUID = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0}


def parse_value(setting: Setting, texts: tuple[Any, ...]) -> Any:
    """The value of a setting; `texts` has one member, or several for a list. ValueError names what was expected;
    ConfigError lists the faults of a file, with their lines.
    """
    if setting.form in _PARSERS_OF_TEXTS:
        return _PARSERS_OF_TEXTS[setting.form](setting, texts)
    # A secret keeps its blanks, and may have several lines.
    text = texts[-1] if setting.form is SettingForm.SECRET else _clean_text(texts[-1])
    if not text:
        raise ValueError("expected a value")
    if setting.form is SettingForm.CHOICE:
        return _parse_choice(text, setting.choices)
    if setting.form is SettingForm.SECRET:
        return _parse_secret(text, setting.pattern)
    if setting.pattern and not re.fullmatch(setting.pattern, text):
        raise ValueError(f"expected letters, digits, dots and dashes, not {text!r}")
    return _PARSERS[setting.form](text)


def is_loopback(host: str | None) -> bool:
    """Return whether a host is this machine, by its name only."""
    if host is None:
        return False
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.casefold() == "localhost"


def _parse_list(texts: tuple[str, ...], choices: tuple[str, ...]) -> tuple[str, ...]:
    """The members of a list."""
    members = tuple(part for text in texts for part in map(_clean_text, text.split(",")) if part)
    # An empty list would mean everything.
    if not members:
        raise ValueError("expected at least one name")
    unknown = next((member for member in members if choices and member not in choices), None)
    if unknown is not None:
        near = get_close_matches(unknown, choices, n=1)
        hint = f" (did you mean {near[0]}?)" if near else ""
        raise ValueError(f"expected some of {', '.join(choices)}, not {unknown!r}{hint}")
    return members


def _parse_identities(setting: Setting, texts: tuple[Any, ...]) -> Any:
    from gitsync.settings.config.identity_entries import read_allowed_identities  # noqa: PLC0415 - it needs YAML

    return read_allowed_identities(texts[-1], setting.key)  # flag, variable or file gave it


def _parse_variable(text: str) -> tuple[str, str]:
    """The name and the value of NAME=VALUE; an empty value is one."""
    name, equals, value = text.partition("=")
    if not equals:
        raise ValueError("expected NAME=VALUE, not a text without =")
    if not VARIABLE_NAME.fullmatch(name):
        raise ValueError(f"expected NAME=VALUE with a name of letters, digits and _, not {name!r}")
    # Flux drops line breaks, too.
    value = value.replace("\r", "").replace("\n", "")
    if not value.isprintable():
        raise ValueError("expected a value without control characters")
    return name, value


def _clean_text(text: str) -> str:
    """Without the blanks around it (a pipeline's variables often end in a newline); no control characters inside."""
    text = text.strip()
    if not text.isprintable():
        raise ValueError("expected one line without control characters")
    return text


def _parse_choice(text: str, choices: tuple[str, ...]) -> str:
    if text not in choices:
        raise ValueError(f"expected {' or '.join(choices)}, not {text!r}")
    return text


def _parse_switch(text: str) -> bool:
    word = text.casefold()
    if word not in ON | OFF:
        raise ValueError(f"expected true or false, not {text!r}")
    return word in ON


def _parse_count(text: str, least: int = 0) -> int:
    # Nine digits are enough for any count; for thousands, Python raises an error with another text.
    if not re.fullmatch(r"[0-9]{1,9}", text) or int(text) < least:
        raise ValueError(f"expected a whole number from {least}, not {text!r}")
    return int(text)


def _parse_shard(text: str) -> str:
    if not re.fullmatch(r"[1-9][0-9]{0,3}/[1-9][0-9]{0,3}", text):
        raise ValueError(f"expected a worker and the number of workers, such as 2/8, not {text!r}")
    return text


def _parse_share(text: str) -> float:
    if not re.fullmatch(r"[01]|[01]?\.[0-9]{1,6}", text) or not 0 < float(text) <= 1:
        raise ValueError(f"expected a number over 0 and up to 1, such as 0.5, not {text!r}")
    return float(text)


def _parse_duration(text: str) -> float:
    match = _DURATION.fullmatch(text)
    seconds = sum(float(number) * _SECONDS[unit] for unit, number in match.groupdict("0").items()) if match else 0.0
    if not seconds:
        raise ValueError(f"expected a duration such as 90s, 30m or 1h30m, not {text!r}")
    return seconds


def _parse_uuid(text: str) -> str:
    """An id as Azure writes it; `uuid.UUID` takes braces, too, and no dashes."""
    if not is_uuid(text):
        raise ValueError(f"expected a UUID such as 01234567-89ab-cdef-0123-456789abcdef, not {text!r}")
    return text


def is_uuid(text: str) -> bool:
    """Return whether a text is an id as Azure writes it."""
    return bool(_UUID.fullmatch(text))


def _parse_url(text: str) -> str:
    """An address to talk to: https, or http to this machine; a bare host is meant as https."""
    url = text if "://" in text else f"https://{text}"
    parts = _split_url(url)
    # The message does not show the text, which may have a password.
    if parts is None or parts.scheme not in {"https", "http"} or parts.query or parts.fragment or parts.username:
        raise ValueError("expected an address such as https://management.azure.com")
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        raise ValueError(f"expected https; plain http goes only to this machine, not to {parts.hostname}")
    return url


def _split_url(url: str) -> SplitResult | None:
    """The parts of a URL; None if it has no host, or an invalid port."""
    try:
        parts = urlsplit(url)
        # Only this member checks the number.
        port = parts.port
    except ValueError:
        return None
    return parts if parts.hostname and port != 0 else None


def _parse_file_or_on(text: str) -> str | None:
    if text.casefold() in OFF:
        return None
    return "" if text.casefold() in ON else text


def _parse_release(text: str) -> str:
    if text.casefold() in OFF:
        return ""
    if text.casefold() in ON | {NEWEST}:
        return NEWEST
    if not _RELEASE.fullmatch(text):
        raise ValueError(f"expected a release of ASO such as 2.20, not {text!r}")
    return text


def _parse_secret(text: str, pattern: str) -> Secret:
    """The value shows in no message, so the pattern of a secret only limits its length."""
    # Line breaks only: the output of a command ends with one, while blanks may be part of the value.
    value = text.strip("\r\n")
    if pattern and not re.fullmatch(pattern, value, re.DOTALL):
        raise ValueError("expected at least 32 characters, for example from `openssl rand -base64 32`")
    return Secret(value)


_PARSERS_OF_TEXTS: Mapping[SettingForm, Callable[[Setting, tuple[Any, ...]], Any]] = {
    # The reader of the file has their lines, and has parsed them.
    **dict.fromkeys(NESTED, lambda _, texts: texts),
    SettingForm.IDENTITIES: _parse_identities,
    SettingForm.LIST: lambda setting, texts: _parse_list(texts, setting.choices),
    # Of a name, the last counts.
    SettingForm.VARIABLES: lambda _, texts: tuple(dict(map(_parse_variable, texts)).items()),
}
_PARSERS: Mapping[SettingForm, Callable[[str], Any]] = {
    SettingForm.TEXT: str,
    SettingForm.SWITCH: _parse_switch,
    SettingForm.COUNT: _parse_count,
    SettingForm.POSITIVE: lambda text: _parse_count(text, least=1),
    SettingForm.SHARE: _parse_share,
    SettingForm.SHARD: _parse_shard,
    SettingForm.DURATION: _parse_duration,
    SettingForm.URL: _parse_url,
    SettingForm.UUID: _parse_uuid,
    SettingForm.FILE_OR_ON: _parse_file_or_on,
    SettingForm.RELEASE: _parse_release,
}
