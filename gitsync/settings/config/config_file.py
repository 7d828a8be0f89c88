"""gitsync.yaml: settings in a file.

A file that the operator chose (named by --config, or in a working folder outside of git) may give every setting. A file
that git tracks comes from anyone who can write to the repository: it may give source settings only, or it could decide
where tokens are sent and what is deleted.

The file is flat but for `units`, `ignore`, `tags` and `allow-identities`: every other key is a setting with one text or
a list of them, and every error names its line.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gitsync.errors import ConfigError
from gitsync.settings.config.config import SETTINGS, Config
from gitsync.settings.config.setting import RULES, Authority, Setting, SettingForm
from gitsync.settings.config.setting_values import parse_value

if TYPE_CHECKING:
    from gitsync.model.unit import UnitEntry  # making its classes takes long
    from gitsync.model.written_rules import RuleEntry
    from gitsync.settings.config.yaml_file import YamlNode

FILE_NAME = "gitsync.yaml"
MOST_BYTES = 100_000

_MOST_ERRORS = 100  # each costs looking for the nearest key

_BY_KEY: Mapping[str, Setting] = {s.key: s for s in SETTINGS.values() if s.key}
_SECRETS = {s.name.replace("_", "-"): s for s in SETTINGS.values() if s.form is SettingForm.SECRET}

FileValue = tuple[tuple[Any, ...], str]
"""The texts of a setting (of a nested one, its entries), and their line in the file."""


def read_config_file(path: Path) -> dict[str, FileValue]:
    """The operator's settings by name. Raises ConfigError, which lists every fault with its line."""
    return _read_entries(str(path), _read(path), frozenset(Authority))


def check_source_file(path: Path) -> None:
    """Raise ConfigError, with every line, if a file that git may track gives anything but source settings."""
    read_source_settings(_read(path), str(path))


def read_source_settings(content: bytes, path: str) -> dict[str, FileValue]:
    """The source settings in a source's own file by name. Raises ConfigError, which lists every fault, also operator
    settings. `path` is the name in messages.
    """
    return _read_entries(path, content, frozenset({Authority.SOURCE}))


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            # One byte more shows that a file is too large.
            return file.read(MOST_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"The settings in {path} cannot be read: {error.strerror}.") from error


def _read_entries(path: str, content: bytes, authorities: Collection[Authority]) -> dict[str, FileValue]:
    """The settings in a file, none of which may be of another class than `authorities`."""
    from gitsync.settings.config.yaml_file import read_yaml  # noqa: PLC0415 - only users of such a file pay for it

    root = read_yaml(path, content, MOST_BYTES)
    if root is None:
        return {}
    if not root.is_mapping:
        raise ConfigError(f"{path}: expected a mapping of settings.", hint="Write one `key: value` per line.")
    values: dict[str, FileValue] = {}
    faults: list[str] = []
    has_wrong_name = False
    for key, value in root.pairs():
        name, complaint = _find_name(key.name, values, authorities)
        has_wrong_name |= bool(complaint)
        texts, complaints = _read_value(SETTINGS[name], value) if name else ((), [])
        faults += [f"{key.where}: {complaint}"] if complaint else complaints
        if texts:
            values[name] = (texts, key.where)
        if len(faults) >= _MOST_ERRORS:
            del faults[_MOST_ERRORS:]
            faults.append(f"{key.where}: the lines after this one are not checked.")
            break
    if faults:
        allowed = ", ".join(s.key for s in SETTINGS.values() if s.authority in authorities)
        is_source = has_wrong_name and Authority.OPERATOR not in authorities
        hint = f"Keep only source settings in {path}: {allowed}." if is_source else ""
        raise ConfigError("\n".join(faults), hint=hint)
    return values


def _find_name(key: str, values: Mapping[str, FileValue], authorities: Collection[Authority]) -> tuple[str, str]:
    """The setting that a key stands for, or what is wrong with it."""
    if key in _SECRETS:
        return "", f"{key} is a secret, which a file must not contain. Set the variable {_SECRETS[key].variables[0]}."
    if key not in _BY_KEY:
        # `statusBranch` and `status_branch` are meant as `status-branch`.
        dashed = "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in key)
        dashed = dashed.replace("_", "-").removeprefix("-")
        near = next(iter(get_close_matches(dashed, _BY_KEY, n=1)), None)
        return "", f"there is no setting {key!r}." + (f" Did you mean {near}?" if near else "")
    setting = _BY_KEY[key]
    if setting.authority not in authorities:
        return "", f"{key} is an operator setting, which a file in a git repository may not give. {setting.ways}"
    return setting.name, f"{key} is given twice. Remove one of them." if setting.name in values else ""


def _read_value(setting: Setting, node: YamlNode) -> tuple[tuple[Any, ...], list[str]]:
    """The texts of a setting, () for `key:` without one, and its faults."""
    if setting.form is SettingForm.UNITS:
        from gitsync.settings.config.unit_entries import read_unit_entries  # noqa: PLC0415 - its classes take long to make

        return read_unit_entries(node)
    if setting.form is SettingForm.IDENTITIES:
        from gitsync.settings.config.identity_entries import read_identity_value  # noqa: PLC0415 - most files have none

        return read_identity_value(node)
    if setting.form in RULES:
        from gitsync.settings.config.rule_entries import read_rule_entries  # noqa: PLC0415 - most files have none

        return read_rule_entries(setting.form, node)
    try:
        return tuple(text for item in node.items() if not item.is_null and (text := item.text())), []
    except ConfigError:
        return (), [f"{node.where}: {setting.key} takes one value, or a list of them."]


_SOURCE_NAME: Final = re.compile(r"(?:[A-Za-z]+[/ ])?[-a-z0-9]+/[-.a-z0-9]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSettings:
    """The settings that a source may give for itself, in the gitsync.yaml at its root: one for each source setting of
    `Config`, with the default filled in.

    They are read at the revision whose manifests are read, so two revisions may have different ones.
    """

    namespace: str  # of manifests without one
    unknown_fields: str  # "error" or "warn"
    aso: str = ""  # the release of ASO that reads the manifests too, "newest", or "" for none
    aso_origin: str = "aso"  # where that is given, as messages name it
    units: tuple[UnitEntry, ...] = ()  # those that gitsync.yaml names
    this_repository: tuple[str, ...] = ()  # Flux sources that are this repository, although no file in it declares them
    ignore: tuple[RuleEntry, ...] = ()  # rules for ignored fields, unchecked
    tags: tuple[RuleEntry, ...] = ()  # default tags, unchecked


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """The gitsync.yaml of a source: how messages call it, and its bytes."""

    path: str
    content: bytes


def join_source_settings(config: Config, file: SourceFile | None) -> SourceSettings:
    """Join the operator's settings, then those of the source's file, then the defaults.

    Raises ConfigError, which names every line, if the file gives anything else or a value does not fit.
    """
    source_values = read_source_settings(file.content, file.path) if file else {}
    values, faults = {}, []
    for name, setting in SETTINGS.items():
        if setting.authority is not Authority.SOURCE:
            continue
        values[name] = setting.default
        # A wrong value of the source is a fault, even if that of the operator replaces it.
        if name in source_values:
            texts, origin = source_values[name]
            try:
                values[name] = parse_value(setting, _locate(texts) if setting.form in RULES else texts)
            except ValueError as error:
                faults.append(f"{origin}: {setting.key}: {error}.")
        if getattr(config, name) is not None:
            values[name] = getattr(config, name)
    if faults:
        raise ConfigError("\n".join(faults))
    is_of_file = config.aso is None and "aso" in source_values
    return SourceSettings(**values, aso_origin=f"{source_values['aso'][1]}: aso" if is_of_file else config.aso_origin)


def _locate(entries: tuple[RuleEntry, ...]) -> tuple[RuleEntry, ...]:
    """Return entries with the path of the file in the source, as manifests have one."""
    return tuple(replace(entry, source=replace(entry.source, path=FILE_NAME)) for entry in entries)


def list_unit_entries(file: SourceFile) -> tuple[UnitEntry, ...]:
    """Return the units that a source's file names. ConfigError, which lists every fault, if the file is invalid."""
    texts, _ = read_source_settings(file.content, file.path).get("units", ((), ""))
    return tuple(texts)


def list_source_names(file: SourceFile) -> tuple[str, ...]:
    """Return the Flux sources that a source's file calls this repository. ConfigError if the file is invalid, or one is
    not a name.
    """
    texts, origin = read_source_settings(file.content, file.path).get("this_repository", ((), ""))
    # A text may be a list with commas, as in a flag.
    names = tuple(filter(None, (name.strip() for text in texts for name in text.split(","))))
    if wrong := next((name for name in names if not _SOURCE_NAME.fullmatch(name)), None):
        raise ConfigError(
            f"{origin}: this-repository: {wrong!r} is not the name of a Flux source.",
            hint="Write namespace/name of the GitRepository, such as cluster-config/cluster-config.",
        )
    return names
