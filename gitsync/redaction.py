"""The register of secret values: made once at the start, shared by all, and applied before any text leaves.

The second line of defence. The first is that a `Secret` is never shown; this one catches values that came back, as in
the message of a service that quotes what it was sent. Found are values of six characters or more, as they are and as
JSON, Python, YAML, HTML, URLs and base64 spell them. Looking is a table of beginnings, one look for each character of a
text, so that a thousand secrets cost no more than one.
"""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NoReturn
from urllib.parse import quote, quote_plus, unquote

from gitsync.config.config import Config
from gitsync.dataclasses import fields
from gitsync.logging import escape_controls
from gitsync.model.condition import ConditionStatus, Severity
from gitsync.model.policy import Policy
from gitsync.model.record import Claim
from gitsync.model.result import Stage
from gitsync.model.secret import MASKED, Secret
from gitsync.model.verdict import Action, Verdict

SHORTEST: Final = 6
"""Characters; a shorter value would mask half the words of a report."""

_OURS: Final = frozenset(
    {"default", "Failed", "Reconciling", "Succeeded"}
    | {word.value for words in (Action, Claim, Policy, Severity, Stage, ConditionStatus, Verdict) for word in words}
)
"""Words of every report. If one of them were used as a secret, masking it would make the report useless."""

_CUT: Final = "…"
"""Where a long text was cut, it may be in the middle of a value."""

_FRAME: Final = re.compile(r"-----(BEGIN|END) [A-Z0-9 ]+-----|[\w-]+:|(apiVersion|kind): [\w/.]+|[\w-]+: (\{\}|\"\")")
"""Lines of certificates and of cluster settings that are the same in all of them."""

_NAMED: Final = re.compile(
    r"(?:password|passwd|pwd|secret|token|sig|signature|(?<=[a-z])key)[\"']?\s*[=:]\s*[\"']?([^;,\s\"'&]+)",
    re.IGNORECASE,
)
_IN_URL: Final = re.compile(r"://[^/?#@\s:]*:([^/?#@\s]+)@")
_RANDOM: Final = re.compile(r"[A-Za-z0-9+/_-]{32,}={0,2}")
_MIXED: Final = (re.compile("[a-z]"), re.compile("[A-Z]"), re.compile("[0-9]"))
"""What is secret by itself inside a longer value: the password of a connection string or of a URL, and a long key."""


class Redactions:
    """The secret values that nothing may show. It only ever learns more."""

    __slots__ = ("_known", "_spared", "_spellings")

    def __init__(self, secrets: Iterable[Secret] = ()) -> None:
        self._known: set[str] = set()
        self._spared: set[str] = set(_OURS)
        self._spellings: dict[str, dict[int, set[str]]] = {}  # by their beginnings, and by their lengths
        for secret in secrets:
            self.add(secret)

    def add(self, secret: Secret) -> None:
        """Mask a value from now on, and each line of it, and what is secret by itself inside."""
        value = secret.reveal()
        if value in self._known:
            return
        self._known.add(value)
        for part in {value, *_parts(value)}:
            if len(part) >= SHORTEST and part not in MASKED:
                self._learn(part)

    def _learn(self, part: str) -> None:
        for spelling in set(_spellings(part)):
            self._spellings.setdefault(spelling[:SHORTEST], {}).setdefault(len(spelling), set()).add(spelling)

    def spare(self, texts: Iterable[str]) -> None:
        """Never mask these: names and ids, which are shown in clear anyway."""
        self._spared.update(texts)

    def mask(self, text: str) -> str:
        """The text without any registered value. Values that overlap are masked as one."""
        if not self._spellings or len(text) < SHORTEST:
            return text
        shown, done = [], 0
        for start, end in self._found(text):
            shown += [text[done:start], MASKED]
            done = end
        return "".join([*shown, text[done:]]) if done else text

    def _found(self, text: str) -> Iterator[tuple[int, int]]:
        """Where values stand, from the first to the last; those that overlap as one."""
        first, last = 0, 0
        beginnings = self._spellings
        for at in [at for at in range(len(text) - SHORTEST + 1) if text[at : at + SHORTEST] in beginnings]:
            end = self._end(text, at)
            if end is None:
                continue
            if at >= last:
                if last:
                    yield first, last
                first = at
            last = max(last, end)
        if last:
            yield first, last

    def _end(self, text: str, at: int) -> int | None:
        """Where the longest value that begins here ends. Lists are taken first, since another thread may be adding."""
        begun_alike = self._spellings[text[at : at + SHORTEST]]
        lengths = sorted(begun_alike, reverse=True)
        cut = text.find(_CUT, at)
        longer = (spelling for length in lengths if length > cut - at for spelling in tuple(begun_alike[length]))
        if cut > 0 and any(spelling.startswith(text[at:cut]) for spelling in longer):
            return cut
        found = (
            length
            for length in lengths
            if (piece := text[at : at + length]) in begun_alike[length] and piece not in self._spared
        )
        return next((at + length for length in found), None)

    def __repr__(self) -> str:
        return f"Redactions({len(self._known)} values)"

    def __reduce__(self) -> NoReturn:
        raise TypeError("secrets are not pickled")


def truncate(text: str, most: int) -> str:
    """A text of at most so many characters. Where it was cut it says so, by which half a value at its end is found."""
    return text if len(text) <= most else text[:most] + _CUT


def _parts(value: str) -> Iterator[str]:
    lines = [line.strip() for line in value.splitlines()]
    if len(lines) > 1:
        yield from (line for line in lines if not _FRAME.fullmatch(line))
    yield from find_inner_secrets(value)
    yield from (found for found in _RANDOM.findall(value) if all(one.search(found) for one in _MIXED))


def find_inner_secrets(value: str) -> Iterator[str]:
    """What a text names as secret: `Password=…` of a connection string, and the password in a URL."""
    yield from _NAMED.findall(value)
    yield from _IN_URL.findall(value)


def _spellings(value: str) -> Iterator[str]:
    """A value as others may write it. Where it holds nothing special most of these are the value itself."""
    quoted = [quotes(value) for quotes in _QUOTES]
    yield from (value, *quoted, *(quotes(text) for text in quoted for quotes in _QUOTES))
    yield from (escape_controls(value), value.replace("'", "''"))
    yield _HIGH.sub(lambda found: f"\\x{ord(found[0]):02X}", value)
    for in_ascii in (True, False):
        text = json.dumps(value, ensure_ascii=in_ascii)[1:-1]
        yield from (text, text.replace("/", "\\/"), _CAREFUL.sub(_escaped, text))
    for url in (quote(value, safe="", errors="replace"), quote(value, errors="replace"), _form(value)):
        yield from (url, _LOWER.sub(lambda found: found[0].lower(), url))
    page = html.escape(value)
    yield from (
        page,
        html.escape(value, quote=False),
        page.replace("&#x27;", "&#39;"),
        page.replace("&#x27;", "&apos;"),
    )
    yield from _in_base64(value.encode(errors="replace"))


def _python(value: str) -> str:
    """As repr() writes it, which takes the other quotes where these are inside: alone, or in a longer text."""
    return repr(value)[1:-1]


def _python_besides_double(value: str) -> str:
    return repr(f'"{value}')[2:-1]


def _json(value: str) -> str:
    return json.dumps(value)[1:-1]


_QUOTES: Final = (_python, _python_besides_double, _json)
"""How a text is quoted by programs, and by programs that quote those."""

_HIGH: Final = re.compile("[\x80-\xff]")
"""What YAML writes as a code of two digits between double quotes."""

_LOWER: Final = re.compile(r"%[0-9A-F]{2}")
_CAREFUL: Final = re.compile(r"\\\"|[\"&'+<>`]")
"""What .NET's serialiser, and so many of Azure's services, also writes as a code."""


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0][-1]):04X}"


def _form(value: str) -> str:
    return quote_plus(value, errors="replace")


def _in_base64(value: bytes) -> Iterator[str]:
    """In base64, wherever it begins inside what was encoded: only whole characters of its own, three ways."""
    for before in range(3):
        text = base64.b64encode(b"\0" * before + value).decode()
        own = text[-(-before * 8 // 6) : (before + len(value)) * 8 // 6]
        yield from (own, own.translate(_URL_SAFE))


_URL_SAFE: Final = str.maketrans("+/", "-_")


_VARIABLES: Final = ("ACTIONS_ID_TOKEN_REQUEST_TOKEN", "IDENTITY_HEADER", "SOPS_AGE_KEY", "SYSTEM_ACCESSTOKEN")
"""What libraries and tools read from the environment by themselves, without a setting of gitsync."""

_IS_A_SECRET: Final = re.compile(r"GITSYNC_SECRET_[^_]+_[^_]+_.+")
"""Variables of the source `environment`: namespace, name and key. `GITSYNC_SECRET_SOURCES` is a setting."""

_IS_HEADERS: Final = re.compile(r"OTEL_EXPORTER_OTLP_(TRACES_)?HEADERS")
"""Variables with headers for the collector of traces, name=value: one of them is its key."""

_USER: Final = re.compile(r"https?://([^/?#@\s]+)@")


def tell_settings(redactions: Redactions, config: Config, environment: Mapping[str, str]) -> None:
    """Tell a register what is secret from the start: settings, tokens of the machine, and who signs in inside of URLs.

    A user without a password counts as one: hosts of git take a token in its place.
    """
    values = [getattr(config, field.name) for field in fields(config)]
    texts = [value for value in values if isinstance(value, str)]
    texts += [value for name, value in environment.items() if name.upper().endswith("_PROXY")]
    found = [value for name, value in environment.items() if name in _VARIABLES or _IS_A_SECRET.fullmatch(name)]
    headers = [value for name, value in environment.items() if _IS_HEADERS.fullmatch(name)]
    found += [unquote(pair.partition("=")[2].strip()) for text in headers for pair in text.split(",")]
    for user in (user for text in texts for user in _USER.findall(text)):
        _, _, password = user.partition(":")
        found += [password or user, unquote(password or user)]
    for secret in [*(value for value in values if isinstance(value, Secret)), *map(Secret, found)]:
        redactions.add(secret)
    redactions.spare(text for text in (config.subscription, config.tenant_id, config.client_id) if text)
