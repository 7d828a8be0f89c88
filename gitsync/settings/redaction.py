"""The register of secret values: made once at the start, shared by all, and applied to every text that is written.

It is the second line of defence. The first is that a `Secret` is never shown; this one catches values that come back,
as in the message of a service that quotes its input. It finds values of six characters or more, as they are and as
JSON, Python, YAML, HTML, URLs and base64 spell them, and pieces of eight characters or more, as a service cuts them. A
table of six characters is looked up once for each character of a text, so a thousand secrets cost no more than one.
"""

from __future__ import annotations

import base64
import html
import json
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Final, NoReturn
from urllib.parse import quote, quote_plus, unquote

from gitsync.model.condition import ConditionStatus, Severity
from gitsync.model.reconcile_policy import Policy
from gitsync.model.record import Claim
from gitsync.model.result import Stage
from gitsync.model.secret import CUT, MASKED, Secret, list_inner_secrets
from gitsync.model.verdict import Action, Verdict
from gitsync.settings.config.config import Config
from gitsync.settings.logging import escape_controls

SHORTEST: Final = 6
"""Characters; a shorter value would mask half the words of a report."""

_SHORTEST_PIECE: Final = 8
_STEP: Final = _SHORTEST_PIECE - SHORTEST + 1
"""A piece of eight characters has six that begin at a multiple of three: only those are in the table."""

_LONGEST_WORDS: Final = 16
"""Characters of words that a text may share with a value by chance."""

_LONGEST_WITH_PIECES: Final = 4096
_MOST_POSITIONS: Final = 4
"""Positions in secrets for one beginning of a piece: a value of one repeated letter would have thousands."""

_STRUCTURE: Final = re.compile(
    r"\n|\w=.*;.*\w=|^\s*[{\[].*[}\]]\s*$|^/subscriptions/|^[a-z0-9-]+(\.[a-z0-9-]+)+\.[a-z]{2,}(:[0-9]+)?$"
)
"""A text that is secret in parts only: a file, a connection string, JSON, an id, a host."""
_ID: Final = re.compile("/subscriptions/|/providers/", re.IGNORECASE)
_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9.+-]*://[^/]*")

_OURS: Final = frozenset(
    {"default", "Failed", "Reconciling", "Succeeded"}
    | {word.value for words in (Action, Claim, Policy, Severity, Stage, ConditionStatus, Verdict) for word in words}
)
"""Words of every report. If one of them were used as a secret, masking it would make the report useless."""

_FRAME: Final = re.compile(r"-----(BEGIN|END) [A-Z0-9 ]+-----|[\w-]+:|(apiVersion|kind): [\w/.]+|[\w-]+: (\{\}|\"\")")
"""Lines of certificates and of cluster settings that are the same in all of them."""

_RANDOM: Final = re.compile(r"[A-Za-z0-9+/_-]{32,}={0,2}")
_MIXED: Final = (re.compile("[a-z]"), re.compile("[A-Z]"), re.compile("[0-9]"))
"""A long key, which is secret by itself inside a longer value."""


class Redactions:
    """The secret values that nothing may show. Values are only added."""

    __slots__ = ("_beginnings", "_known", "_pieces", "_spared", "_spellings")

    def __init__(self, secrets: Iterable[Secret] = ()) -> None:
        self._known: set[str] = set()
        self._spared: set[str] = set(_OURS)
        self._beginnings: set[str] = set()  # of both: the one lookup for each character
        self._spellings: dict[str, dict[int, set[str]]] = {}  # by beginning, then by length
        self._pieces: dict[str, list[tuple[str, int]]] = {}  # values, and the positions of these characters in them
        for secret in secrets:
            self.add(secret)

    def add(self, secret: Secret) -> None:
        """Mask a value from now on, each line of it, and each part that is secret by itself."""
        value = secret.reveal()
        if value in self._known:
            return
        self._known.add(value)
        for part in {value, *_parts(value)}:
            if len(part) >= SHORTEST and part not in MASKED:
                self._learn(part)
        for text_of_secret in _list_texts_of_secret(value):
            for at in range(0, min(len(text_of_secret), _LONGEST_WITH_PIECES) - SHORTEST + 1, _STEP):
                self._beginnings.add(six := text_of_secret[at : at + SHORTEST])
                pieces = self._pieces.setdefault(six, [])
                if len(pieces) < _MOST_POSITIONS:
                    pieces.append((text_of_secret, at))

    def _learn(self, part: str) -> None:
        for spelling in set(_spellings(part)):
            self._spellings.setdefault(spelling[:SHORTEST], {}).setdefault(len(spelling), set()).add(spelling)
            self._beginnings.add(spelling[:SHORTEST])

    def spare(self, texts: Iterable[str]) -> None:
        """Never mask these: names and ids, which are shown in plain text anyway."""
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
        """Yield start and end of each value in a text, in order; overlapping ones as one."""
        beginnings = self._beginnings
        spans: list[tuple[int, int]] = []
        covered = 0
        for at in [at for at in range(len(text) - SHORTEST + 1) if text[at : at + SHORTEST] in beginnings]:
            if end := self._end(text, at):
                spans.append((at, end))
            # What is inside of a masked span needs no search for pieces.
            elif at + SHORTEST > covered:
                spans += self._list_pieces(text, at)
            covered = max(covered, *(end for _, end in spans[-1:]), 0)
        first, last = 0, 0
        for start, end in sorted(spans):
            if start >= last:
                if last:
                    yield first, last
                first = start
            last = max(last, end)
        if last:
            yield first, last

    def _list_pieces(self, text: str, at: int) -> Iterator[tuple[int, int]]:
        """Yield start and end of the pieces of values that have these six characters."""
        # A copy, since another thread may add values.
        for text_of_secret, offset in tuple(self._pieces.get(text[at : at + SHORTEST], ())):
            before, after = text_of_secret[:offset], text_of_secret[offset:]
            left = _count_alike(text[max(at - offset, 0) : at][::-1], before[::-1])
            right = _count_alike(text[at : at + len(after)], after)
            piece = text[at - left : at + right]
            start = at + right - len(piece.lstrip())
            end = at - left + len(piece.rstrip())
            if end - start >= _SHORTEST_PIECE and self._tells(text, start, end, before[: offset - left], after[right:]):
                yield start, end

    def _tells(self, text: str, start: int, end: int, before: str, after: str) -> bool:
        """Return whether a piece reveals something of a value: not if it is a name or words, as in other texts, or
        numbers alone. `before` and `after` are the rest of the value.
        """
        piece = text[start:end]
        if piece.strip("-_./ \"'") in self._spared or not any(map(str.isalpha, piece)):
            return False
        if any(map(str.isdigit, piece)) or len(piece) >= _LONGEST_WORDS:
            return True
        stands_alone = not (text[start - 1 : start].isalpha() or text[end : end + 1].isalpha())
        cuts_word = (before[-1:].isalpha() and piece[0].isalpha()) or (after[:1].isalpha() and piece[-1].isalpha())
        return stands_alone and cuts_word

    def _end(self, text: str, at: int) -> int | None:
        """Return the end of the longest value that begins here."""
        begun_alike = self._spellings.get(text[at : at + SHORTEST], {})
        lengths = sorted(begun_alike, reverse=True)
        # A text may have been shortened in the middle of a value: its beginning is masked as well.
        cut = text.find(CUT, at)
        # Lists are copied, since another thread may add values.
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


def _count_alike(first: str, second: str) -> int:
    """Count the characters that two texts have in common at their beginning."""
    most = min(len(first), len(second))
    return bisect_left(range(1, most + 1), True, key=lambda count: first[:count] != second[:count])


def _parts(value: str) -> Iterator[str]:
    lines = [line.strip() for line in value.splitlines()]
    if len(lines) > 1:
        yield from (line for line in lines if not _FRAME.fullmatch(line))
    yield from list_inner_secrets(value)
    yield from filter(_is_random, _RANDOM.findall(value))


def _list_texts_of_secret(value: str) -> Iterator[str]:
    """Yield what is secret in each of its pieces: the value, or the secrets inside a longer one."""
    inner, is_structured = [*list_inner_secrets(value)], _STRUCTURE.search(value)
    if inner or is_structured:
        inner += (found for found in _RANDOM.findall(value) if _is_random(found) and not _ID.search(found))
    texts = inner if inner or is_structured else [_URL.sub("", value, count=1)]
    return (text_of_secret for text_of_secret in texts if len(text_of_secret) > _SHORTEST_PIECE)


def _is_random(text: str) -> bool:
    return all(pattern.search(text) for pattern in _MIXED)


def _spellings(value: str) -> Iterator[str]:
    """Yield a value as other programs may write it. Without special characters, most of these are the value itself."""
    quoted = [quotes(value) for quotes in _QUOTES]
    yield from (value, *quoted, *(quotes(text) for text in quoted for quotes in _QUOTES))
    yield from (escape_controls(value), value.replace("'", "''"))
    yield _HIGH.sub(lambda found: f"\\x{ord(found[0]):02X}", value)
    for in_ascii in (True, False):
        text = json.dumps(value, ensure_ascii=in_ascii)[1:-1]
        yield from (text, text.replace("/", "\\/"), _CAREFUL.sub(lambda found: f"\\u{ord(found[0][-1]):04X}", text))
    for url in (
        quote(value, safe="", errors="replace"),
        quote(value, errors="replace"),
        quote_plus(value, errors="replace"),  # as a form is sent
    ):
        yield from (url, _LOWER.sub(lambda found: found[0].lower(), url))
    page = html.escape(value)
    yield from (
        page,
        html.escape(value, quote=False),
        page.replace("&#x27;", "&#39;"),
        page.replace("&#x27;", "&apos;"),
    )
    yield from _in_base64(value.encode(errors="replace"))


_QUOTES: Final[tuple[Callable[[str], str], ...]] = (
    lambda value: repr(value)[1:-1],  # uses the other quotes if it contains these
    lambda value: repr(f'"{value}')[2:-1],  # in a longer text, which contains other quotes
    lambda value: json.dumps(value)[1:-1],
)
"""How programs quote a text, and how other programs quote their output."""

_HIGH: Final = re.compile("[\x80-\xff]")
"""YAML writes these as a code of two digits between double quotes."""

_LOWER: Final = re.compile(r"%[0-9A-F]{2}")
_CAREFUL: Final = re.compile(r"\\\"|[\"&'+<>`]")
""".NET's serialiser, which many Azure services use, also writes these as a code."""


def _in_base64(value: bytes) -> Iterator[str]:
    """Yield a value in base64 for each of the three offsets that it may have in the encoded bytes; only the characters
    that the value alone decides.
    """
    for before in range(3):
        text = base64.b64encode(b"\0" * before + value).decode()
        own = text[-(-before * 8 // 6) : (before + len(value)) * 8 // 6]
        yield from (own, own.translate(_URL_SAFE))


_URL_SAFE: Final = str.maketrans("+/", "-_")


_VARIABLES: Final = ("ACTIONS_ID_TOKEN_REQUEST_TOKEN", "IDENTITY_HEADER", "SOPS_AGE_KEY", "SYSTEM_ACCESSTOKEN")
"""Variables that libraries and tools read from the environment by themselves, without a gitsync setting."""

_IS_A_SECRET: Final = re.compile(r"GITSYNC_SECRET_[^_]+_[^_]+_.+")
"""Variables of the source `environment`: namespace, name and key. `GITSYNC_SECRET_SOURCES` is a setting."""

_IS_HEADERS: Final = re.compile(r"OTEL_EXPORTER_OTLP_(TRACES_)?HEADERS")
"""Variables with headers (name=value) for the trace collector: one of them is its key."""

_USER: Final = re.compile(r"https?://([^/?#@\s]+)@")


def tell_settings(redactions: Redactions, config: Config, environment: Mapping[str, str]) -> None:
    """Register what is secret from the start: settings, tokens of the machine, and passwords in URLs."""
    values = [getattr(config, field.name) for field in fields(config)]
    texts = [value for value in values if isinstance(value, str)]
    # The address of a proxy may have a password.
    texts += [value for name, value in environment.items() if name.upper().endswith("_PROXY")]
    found = [value for name, value in environment.items() if name in _VARIABLES or _IS_A_SECRET.fullmatch(name)]
    headers = [value for name, value in environment.items() if _IS_HEADERS.fullmatch(name)]
    found += [unquote(pair.partition("=")[2].strip()) for text in headers for pair in text.split(",")]
    for user in (user for text in texts for user in _USER.findall(text)):
        _, _, password = user.partition(":")
        # A user without a password counts as one: git hosts accept a token there.
        found += [password or user, unquote(password or user)]
    for secret in [*(value for value in values if isinstance(value, Secret)), *map(Secret, found)]:
        redactions.add(secret)
    redactions.spare(text for text in (config.subscription, config.tenant_id, config.client_id) if text)
