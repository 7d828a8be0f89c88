"""Texts that do not parse: whether they may be objects, and what is wrong with their YAML or JSON.

The messages help to fix a fault. Those of the parser describe its own state: "did not find expected key" means wrong
indentation.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from gitsync.desired.manifests.aso_groups import mentions_aso

_TEMPLATE: Final = re.compile(rb"\{\{")
# Untrusted texts are searched with these patterns, so each takes linear time: no match runs over the start of the next
# one (the next key `name`, the next line).
_NAME: Final = rb"\bname(?:space)?[\"']?[ \t]*:"
_NAMELESS: Final = re.compile(_NAME + rb"(?:(?!" + _NAME + rb")[^\n,}])*\{\{|^[ \t]*\{[{%]", re.MULTILINE)
_PLAIN: Final = rb"[ \t]*[\"']?([\w./-]{1,253})[\"']?[ \t\r]*(?:#[^\n]*)?$"
_API_VERSION: Final = re.compile(rb"^apiVersion:" + _PLAIN, re.MULTILINE)
_KIND_LINE: Final = re.compile(rb"^kind:" + _PLAIN, re.MULTILINE)
_METADATA: Final = re.compile(rb"^metadata:[ \t\r]*\n((?:[ \t]++[^\n]*+\n?){1,50})", re.MULTILINE)
_NAME_LINE: Final = re.compile(rb"name:" + _PLAIN)
_NAME_IN_BRACES: Final = re.compile(
    rb"^metadata:[ \t]*\{(?:[^{}\n]*[, \t])?name:[ \t]*[\"']?([\w.-]{1,253})[\"']?[ \t]*[,}]", re.MULTILINE
)
_INNER_MARK: Final = re.compile(rb"\n[ \t]*\xef\xbb\xbf")
_CONFLICT: Final = re.compile(rb"^(?:<{7}|={7}|>{7})(?: |\r?$)", re.MULTILINE)
_KIND: Final = rb"(?:^[^\S\n]*|[{,]\s*)[\"']?kind[\"']?\s*:"
_USED: Final = re.compile(_KIND + rb"\s*[\"']?(?:Secret|ConfigMap|Namespace|List)\b", re.MULTILINE | re.IGNORECASE)
_OBJECT: Final = re.compile(rb"apiVersion|" + _KIND, re.MULTILINE | re.IGNORECASE)
_ARM_TEMPLATE: Final = re.compile(rb"deploymentTemplate\.json")

_FORMS: Final = (
    (rb"version https://git-lfs\.github\.com/", "git LFS pointer", "Run `git lfs pull`."),
    (rb"(?:(?:\.\./)*\.git)?/annex/objects/", "git-annex pointer", "Run `git annex get`."),
    (rb"\0GITCRYPT\0", "file encrypted with git-crypt", "Run `git-crypt unlock`."),
    (rb"\$ANSIBLE_VAULT;", "file encrypted with ansible-vault", "Run `ansible-vault decrypt`."),
    (rb"age-encryption\.org/|-----BEGIN AGE ENCRYPTED", "file encrypted with age", "Decrypt it with `age --decrypt`."),
    (rb"-----BEGIN PGP MESSAGE", "file encrypted with PGP", "Decrypt it with `gpg --decrypt`."),
    (rb"\x1f\x8b", "gzip archive", "Unpack it."),
    (rb"PK\x03\x04", "ZIP archive", "Unpack it."),
    (rb"\x89PNG|\xff\xd8\xff|GIF8[79]a", "picture", "Restore the manifest."),
    (rb"%PDF-", "PDF", "Restore the manifest."),
)
"""The first bytes of files that replace a text, what the files are, and how to get the text."""

_FORM: Final = re.compile(b"|".join(b"(%s)" % pattern for pattern, _, _ in _FORMS))

EQUALLY: Final = "Indent the keys of a mapping equally, with spaces."
IGNORE: Final = "If the file is not a manifest, add it to .gitsyncignore."

# The parser's messages and their meanings. {line} is where the part starts that the parser was reading.
_MEANINGS: Final = {
    "mapping values are not allowed in this context": (
        "unexpected key: check the indentation of the lines above",
        f"{EQUALLY} Quote text that contains a colon and a space.",
    ),
    "did not find expected key": ("the line does not continue the mapping that starts on line {line}", EQUALLY),
    "did not find expected '-' indicator": (
        "the line does not continue the list that starts on line {line}",
        "Indent the items of a list equally, with spaces.",
    ),
    "could not find expected ':'": ("the key is not followed by a colon and a space", "Write `key: value`."),
    "found unexpected end of stream": ("the quote on line {line} is not closed", "Close it."),
    "did not find expected ',' or ']'": (
        "the list in brackets that starts on line {line} is not closed",
        "Close it with ], and separate its items with commas.",
    ),
    "did not find expected ',' or '}'": (
        "the mapping in braces that starts on line {line} is not closed",
        "Close it with }, and separate its keys with commas.",
    ),
    "found character that cannot start any token": (
        "a value starts with a character that YAML reserves",
        "Quote the value.",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SyntaxFault:
    """What is wrong with a text that does not parse."""

    code: str
    message: str  # in full sentences
    hint: str  # an order
    line: int  # from 1
    column: int  # from 1, in characters


def explain_form(content: bytes) -> SyntaxFault | None:
    """Describe a file that replaces a text: a pointer, a cipher, an archive, a picture; None for any other file."""
    match = _FORM.match(content)
    if match is None or match.lastindex is None:
        return None
    _, form, hint = _FORMS[match.lastindex - 1]
    return SyntaxFault(code="InvalidText", message=f"This is a {form}, not YAML.", hint=hint, line=1, column=1)


def explain_json_fault(text: bytes) -> SyntaxFault | None:
    """Return what is wrong with a JSON text; None if nothing is."""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        message = f"This is not JSON at column {error.colno}: {error.msg[:1].lower()}{error.msg[1:]}."
        return SyntaxFault(code="InvalidJson", message=message, hint=IGNORE, line=error.lineno, column=error.colno)
    except (ValueError, RecursionError):  # not UTF-8, or nested too deep for Python's parser
        return None
    return None


def explain_yaml_fault(error: Any, text: bytes) -> SyntaxFault:
    """Return the meaning of a `yaml.MarkedYAMLError`. Lines are those of `text`."""
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line, mark.column) if mark else (0, 0)
    if fault := explain_inner_mark(text):
        return fault
    code, what, hint = _explain(error, text, line, column)
    message = f"This is not YAML at column {column + 1}: {what}."
    return SyntaxFault(code=code, message=message, hint=hint, line=line + 1, column=column + 1)


def explain_inner_mark(text: bytes) -> SyntaxFault | None:
    """Report the first byte order mark after the start of the text: two files were joined there."""
    match = _INNER_MARK.search(text)
    if match is None:
        return None
    line = text.count(b"\n", 0, match.end()) + 1
    message = "The line starts with a byte order mark (U+FEFF, invisible in editors): two files were joined here."
    hint = "Remove the character, or save each file as UTF-8 without it and join them again."
    return SyntaxFault(code="InvalidText", message=message, hint=hint, line=line, column=1)


def _explain(error: Any, text: bytes, line: int, column: int) -> tuple[str, str, str]:
    # The markers are the cause, wherever the parser stops.
    if _CONFLICT.search(text):
        return "MergeConflict", "it has merge conflict markers", "Resolve the conflict, and commit the result."
    lines = text.decode("utf-8", "replace").split("\n")
    if line < len(lines) and lines[line][column : column + 1] == "\t":
        return "InvalidYaml", "it is indented with a tab", "Replace tabs with spaces."
    problem = (error.problem or "").partition(", but ")[0]
    reason, hint = _MEANINGS.get(problem, (", ".join(filter(None, (error.context, error.problem))), IGNORE))
    return "InvalidYaml", reason.replace("{line}", str((error.context_mark or error.problem_mark).line + 1)), hint


def is_template(text: bytes) -> bool:
    """Return whether a text that does not parse has the braces of a template."""
    return _TEMPLATE.search(text) is not None


def has_no_name(text: bytes) -> bool:
    """Return whether a template has a placeholder in a name, or lines that control what is rendered."""
    return _NAMELESS.search(text) is not None


class LikelyHeader(NamedTuple):
    """The header of a text that does not parse, read from its lines."""

    api_version: str  # "" if no line has it, like the others
    kind: str
    name: str
    line: int  # its first one, from 0


def find_likely_header(text: bytes) -> LikelyHeader | None:
    """Find the header of a manifest in separate lines; None if the text has none, or if it has a placeholder."""
    version, kind, name = _API_VERSION.search(text), _KIND_LINE.search(text), _find_likely_name(text)
    if not (version and kind and name):
        return None
    begin = text.count(b"\n", 0, min(version.start(), kind.start()))
    return LikelyHeader(version[1].decode("utf-8", "replace"), kind[1].decode("utf-8", "replace"), name, begin)


def _find_likely_name(text: bytes) -> str:
    if braced := _NAME_IN_BRACES.search(text):
        return braced[1].decode("utf-8", "replace")
    block = _METADATA.search(text)
    lines = block[1].splitlines() if block else []
    indent = len(lines[0]) - len(lines[0].lstrip()) if lines else 0
    # Deeper lines belong to labels and annotations, which may have names too.
    found = (_NAME_LINE.match(line, indent) for line in lines if not line[:indent].strip())
    return next((match[1].decode("utf-8", "replace") for match in found if match), "")


def may_be_ours(text: bytes) -> bool:
    """Return whether a text that does not parse mentions an ASO group, or a kind that resources use."""
    return mentions_aso([text]) or _USED.search(text) is not None


def may_be_object(text: bytes) -> bool:
    """Return whether a text that does not parse may be a Kubernetes object and is not an ARM template."""
    return (_OBJECT.search(text) is not None or mentions_aso([text])) and _ARM_TEMPLATE.search(text) is None
