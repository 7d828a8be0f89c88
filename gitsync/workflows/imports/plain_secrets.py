"""Find values of imported manifests that look like secrets, in fields that hold them in plain text.

Azure shows such values, so an import writes them; a repository should not have them. Each gets a way to a Secret. The
signs are names (`DB_PASSWORD`, `connectionString`), passwords and keys inside of a text, and keys that a machine made.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from gitsync.desired.catalog.aso_types import ASO_TYPES
from gitsync.desired.catalog.body_words import find_word
from gitsync.desired.catalog.spec_visitor import Visit, visit_spec
from gitsync.desired.problems.field_path import FieldPath, find_member, format_field
from gitsync.model.secret import Secret, list_inner_secrets
from gitsync.workflows.imports.conversion.found_resources import ImportedManifest, PlainSecret

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_SECRET_NAME: Final = re.compile(
    r"(password|passwd|passphrase|secret|credentials?|connectionstrings?|"
    r"(access|account|api|auth|client|encryption|master|primary|private|secondary|shared|signing)key)$"
)
"""How the words of a secret's name end."""
_SECRET_WORDS: Final = frozenset({"pass", "pwd", "sas", "token"})
"""The last word of such a name. Other words end like these."""
_OF_DOTNET: Final = re.compile(r"connectionstrings?(__|:)", re.IGNORECASE)
"""`ConnectionStrings__Default`."""
_PUBLIC_NAME: Final = re.compile(r"public|cert|thumbprint|fingerprint|hash|digest", re.IGNORECASE)
_NO_SECRET: Final = re.compile(
    r"@Microsoft\.|\$[({]|\{\{|/subscriptions/|https?://[^@]*$|(true|false)?$", re.IGNORECASE
)
"""What is not a secret under any name: a reference to one, an id, a URL without a user, a switch."""
_USER_DATA: Final = frozenset({"customData", "userData"})
_KEY_OR_TOKEN: Final = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----|\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]+")
_MACHINE_MADE: Final = re.compile(r"(?=.*[a-z])(?=.*[A-Z])(?=.*[0-9])[A-Za-z0-9+/]{32,}={0,2}")
_SHORTEST: Final = 4


def mark_plain_secrets(manifest: ImportedManifest) -> ImportedManifest:
    """Add the values of its spec that look like secrets to a manifest."""
    return replace(manifest, plain_secrets=tuple(_find(manifest)))


def _find(manifest: ImportedManifest) -> Iterator[PlainSecret]:
    spec = manifest.document["spec"]
    if manifest.resource.kind.is_any_type:
        yield from _find_in_body(manifest, spec)
        return
    visits = visit_spec(manifest.resource.kind, spec)
    fields = {visit.path: visit for visit in visits if visit.fields}
    secret = f"{manifest.key.name}-{manifest.key.kind.lower()}"
    for visit in visits:
        around = fields.get(visit.path[:-1])
        is_text = visit.shape == "string" and isinstance(visit.value, str) and "enum" not in visit.rules
        # A reference has the name of a Secret in its fields, and no value.
        if is_text and not (around and around.name in ASO_TYPES) and _looks_secret(visit.path, visit.value, spec):
            way = _describe_way(around, secret, _make_key(visit.path, spec))
            yield PlainSecret(field=format_field(visit.path), way=way, value=Secret(visit.value))


def _find_in_body(manifest: ImportedManifest, spec: Mapping[str, Any]) -> Iterator[PlainSecret]:
    """Find them in the body of an AzureResource, where a word takes the place of any text."""
    secret = f"{manifest.key.name}-{manifest.key.kind.lower()}"
    for path, value in _list_texts(spec.get("body"), ("spec", "body")):
        if _looks_secret(path, value, spec):
            way = f"write $secret: {{name: {secret}, key: {_make_key(path, spec)}}} in its place"
            yield PlainSecret(field=format_field(path), way=way, value=Secret(value))


def _list_texts(value: Any, path: FieldPath) -> Iterator[tuple[FieldPath, str]]:
    if isinstance(value, str):
        yield path, value
    elif not find_word(value):
        items = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
        for key, child in items:
            yield from _list_texts(child, (*path, key))


def _make_key(path: FieldPath, spec: Any) -> str:
    """Make the key of a Secret, which can be the name of a variable too."""
    return re.sub(r"\W+|^(?=[0-9])", "_", _name_value(path, spec) or "_".join(map(str, path[1:])))


def _looks_secret(path: FieldPath, value: str, spec: Any) -> bool:
    field = str(path[-1])
    # Short values are switches and numbers far more often than secrets.
    if len(value) < _SHORTEST:
        return False
    text = _decode(value)
    if _KEY_OR_TOKEN.search(text) or any(not _NO_SECRET.match(part) for part in list_inner_secrets(text)):
        return True
    name = _name_value(path, spec) or field
    # From here on only the name or the form is a sign, so evidence against it counts.
    if _NO_SECRET.match(value) or _PUBLIC_NAME.search(name):
        return False
    words = [word.lower() for word in _WORD.findall(name)]
    return bool(
        _SECRET_NAME.search("".join(words))
        or not _SECRET_WORDS.isdisjoint(words[-1:])
        or _OF_DOTNET.match(name)
        # What does not decode to a text may contain anything.
        or (field in _USER_DATA and text == value)
        or _MACHINE_MADE.fullmatch(text)
    )


def _name_value(path: FieldPath, spec: Any) -> str:
    """Return what names a value: for `value` and the like, the `name` beside it; "" if nothing does."""
    beside = find_member({"spec": spec}, *path[:-1])
    name = beside.get("name") if path[-1] == "value" and isinstance(beside, Mapping) else None
    return name if isinstance(name, str) else ""


def _decode(value: str) -> str:
    """Decode base64, as a cloud-init has it; else return the value itself."""
    try:
        text = base64.b64decode(value, validate=True).decode()
    except ValueError:
        return value
    # Random bytes may be valid UTF-8 by chance, but are not text.
    return text if text.isprintable() or "\n" in text else value


def _describe_way(around: Visit | None, secret: str, key: str) -> str:
    """Describe how a Secret takes the place of a value beside the fields of an entry."""
    fields = around.fields if around else {}
    reference = f"{{name: {secret}, key: {key}}}"
    if hidden := next((name for name, field in fields.items() if field.get("mode") == "secret"), None):
        return f"write {hidden}: {reference} in its place"
    if "secretRef" in fields:
        name = re.sub(r"[^a-z0-9]+", "-", key.lower()).strip("-")
        entry = f"{{name: {name}, value: {reference}}}"
        return f"add {entry} to spec.configuration.secrets, and write secretRef: {name} in its place"
    return f"write the variable {key} in its place, and take it from Secret {secret} with substituteFrom"
