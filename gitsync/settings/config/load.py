"""Reads and checks settings: flag, variable, gitsync.yaml, default; the nearest wins.

Every command reads and checks every setting, so that an invalid one shows at once; a command's flags are those of its
`SETTINGS` and the few that every command has. Only a command that uses no setting, such as `explain`, works beside a
wrong gitsync.yaml: it may be what explains the fault.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from gitsync.errors import ConfigError
from gitsync.model.secret import Secret
from gitsync.settings.config.config import SETTINGS, Config
from gitsync.settings.config.config_file import FILE_NAME, check_source_file, read_config_file
from gitsync.settings.config.flags import CONFIG_VARIABLE
from gitsync.settings.config.setting import RULES, VARIABLE_PREFIX, Setting, SettingForm
from gitsync.settings.config.setting_values import OFF, is_loopback, parse_value
from gitsync.settings.files.checkouts import find_repository, is_in_repository

if TYPE_CHECKING:
    from gitsync.model.allowed_identities import AllowedIdentities

_PREFIX = "GITSYNC_"
_ON_OR_OFF = frozenset({SettingForm.FILE_OR_ON, SettingForm.RELEASE, SettingForm.SWITCH})
_EMPTY = {SettingForm.FILE_OR_ON: "true", SettingForm.RELEASE: "false"}
"""What an empty text in `Config` stands for, by form."""
_NO_SETTINGS = (
    CONFIG_VARIABLE,
    "GITSYNC_SECRET_",
    "GITSYNC_OUTPUT_",
    VARIABLE_PREFIX,
)  # gitsync's own variables that are not settings


@dataclass(frozen=True, slots=True)
class SettingText:
    """The texts of a setting, where they are from, and how near that is (0 is a flag)."""

    texts: tuple[str, ...]
    origin: str
    distance: int


def resolve(
    options: argparse.Namespace,
    variables: Mapping[str, str],
    folder: Path,
    outputs: tuple[str, ...] = ("text",),
    *,
    uses_azure: bool = True,
    needs_file: bool = True,
) -> Config:
    """Return the settings of this run. Raises ConfigError, which lists every fault with its location. `uses_azure` is
    False for an offline command. Without `needs_file`, a wrong gitsync.yaml in the folder is as none.
    """
    flags = vars(options)
    named = flags.get("config") or variables.get(CONFIG_VARIABLE, "").strip()
    try:
        path = folder / named if named else _find_default_file(folder)
        return _resolve(flags, variables, path, outputs, uses_azure=uses_azure)
    except ConfigError:
        # Only a command without settings goes on beside a wrong file: it may be what explains the fault.
        if needs_file or named:
            raise
    return _resolve(flags, variables, None, outputs, uses_azure=uses_azure)


def _resolve(
    flags: Mapping[str, Any],
    variables: Mapping[str, str],
    path: Path | None,
    outputs: tuple[str, ...],
    *,
    uses_azure: bool,
) -> Config:
    """The settings of this run, with those of the operator's file."""
    file = read_config_file(path) if path else {}
    texts_by_name = {name: _find_nearest(SETTINGS[name], flags, variables, file) for name in SETTINGS}
    values: dict[str, Any] = {"output": outputs[0]} if outputs else {}
    faults: list[str] = []
    for name, setting_text in texts_by_name.items():
        if setting_text is None:
            continue
        try:
            values[name] = parse_value(SETTINGS[name], setting_text.texts)
        except (ConfigError, ValueError) as error:
            faults.append(_describe_fault(setting_text.origin, error))
    # Only values that are valid by themselves can contradict each other.
    if not faults:
        faults = list(_list_contradictions(values, texts_by_name, outputs, uses_azure=uses_azure))
    if faults:
        raise ConfigError("\n".join(faults))
    aso = texts_by_name["aso"]
    return Config(**values, config_file=path, aso_origin=aso.origin if aso else "aso")


def _describe_fault(origin: str, error: ConfigError | ValueError) -> str:
    """Describe the fault of a value; one in a file has its own path and lines."""
    return error.message if isinstance(error, ConfigError) else f"{origin}: {error}."


def list_misspelt_variables(variables: Mapping[str, str]) -> list[str]:
    """Messages on variables that look like gitsync settings and are not."""
    known_words = {v.removeprefix(_PREFIX) for s in SETTINGS.values() for v in s.variables if v.startswith(_PREFIX)}
    own_variables = [
        name for name in sorted(variables) if name.startswith(_PREFIX) and not name.startswith(_NO_SETTINGS)
    ]
    words = [word for word in (name.removeprefix(_PREFIX) for name in own_variables) if word not in known_words]
    # Other programs may use the prefix, so only a near miss is reported.
    nearest = {word: get_close_matches(word, sorted(known_words), n=1, cutoff=0.8) for word in words}
    return [
        f"{_PREFIX}{word} is not a setting. Did you mean {_PREFIX}{near[0]}?" for word, near in nearest.items() if near
    ]


def _find_default_file(folder: Path) -> Path | None:
    """The operator's file in a folder, if any. ConfigError if a file in a repository has operator settings."""
    default_path = folder / FILE_NAME
    # A dangling link must not count as no file, or the operator's settings would be ignored silently.
    if not os.path.lexists(default_path) or (default_path.is_dir() and not default_path.is_symlink()):
        return None
    if not default_path.is_file():
        raise ConfigError(f"{default_path} is not a file.", hint="Replace it with a file, or remove it.")
    if is_in_repository(default_path):
        check_source_file(default_path)  # the checkout of that source reads it
        return None
    return default_path


def _find_nearest(
    setting: Setting, flags: Mapping[str, Any], variables: Mapping[str, str], file: Mapping[str, Any]
) -> SettingText | None:
    if setting.form is SettingForm.VARIABLES:
        return _join_variables(setting, flags, variables, file)
    if setting.name in flags:
        return SettingText(_format_texts(flags[setting.name]), setting.flag or setting.metavar, 0)
    for variable in setting.variables:
        # A pipeline sets what it has no value for to nothing: that is not given.
        if variables.get(variable, "").strip():
            return SettingText((variables[variable],), f"the variable {variable}", 1)
    for variable, value in setting.switches.items():
        if variables.get(variable, "").strip().casefold() not in OFF | {""}:
            return SettingText((value,), f"the variable {variable}", 1)
    if setting.name in file:
        texts, origin = file[setting.name]
        return SettingText(texts, f"{origin}: {setting.key}", 2)
    return None


def _join_variables(
    setting: Setting, flags: Mapping[str, Any], variables: Mapping[str, str], file: Mapping[str, Any]
) -> SettingText | None:
    """Every NAME=VALUE, from the farthest to the nearest: each name has the value of the last."""
    texts, origin = file.get(setting.name, ((), ""))
    # A pipeline sets what it has no value for to nothing: that is not given.
    given = {
        name.removeprefix(VARIABLE_PREFIX): text
        for name, text in sorted(variables.items())
        if name.startswith(VARIABLE_PREFIX) and text.strip()
    }
    flagged = _format_texts(flags.get(setting.name, []))
    origins = [
        f"{origin}: {setting.key}" if texts else "",
        VARIABLE_PREFIX if given else "",
        setting.flag if flagged else "",
    ]
    joined = (*texts, *(f"{name}={text}" for name, text in given.items()), *flagged)
    return SettingText(joined, " or ".join(filter(None, origins)), 0) if joined else None


def _format_texts(flag: Any) -> tuple[str, ...]:
    """What argparse made of a flag, as texts again, so that one parser serves flags, variables and the file."""
    if isinstance(flag, bool):
        return ("true" if flag else "false",)
    return tuple(flag) if isinstance(flag, list) else (str(flag),)


def _list_contradictions(
    values: dict[str, Any],
    texts_by_name: Mapping[str, SettingText | None],
    outputs: tuple[str, ...],
    *,
    uses_azure: bool,
) -> Iterator[str]:
    """Yield contradictions of settings that are valid one by one.

    Removes the farther of `status_branch` and `status_dir` from `values`.
    """
    branch, folder = texts_by_name["status_branch"], texts_by_name["status_dir"]
    if branch and folder:
        if branch.distance == folder.distance:
            yield f"{branch.origin} and {folder.origin} exclude each other. Remove one of them."
        del values["status_dir" if branch.distance < folder.distance else "status_branch"]
    config = Config(**values)
    if texts_by_name["output"] and outputs and config.output not in outputs:
        yield f"{texts_by_name['output'].origin}: expected {' or '.join(outputs)}, not {config.output!r}."
    # A plan of two revisions sends no request, so its credential does not matter.
    compares_revisions = config.from_revision is not None or config.to_revision is not None
    yield from list_contradictions(config, uses_azure=uses_azure and not compares_revisions)


def make_config(settings: Mapping[str, Any]) -> Config:
    """Check the settings of a Python program, by the names of `Config`, as flags are checked, and return them. `None`
    means "not given".

    A value is what `Config` has (a duration in seconds, a tuple, a bool, a Secret), or the text that a flag would have.

    Raises ConfigError, which lists every fault.
    """
    values: dict[str, Any] = {}
    faults: list[str] = []
    for name, value in settings.items():
        if name not in SETTINGS:
            near = next(iter(get_close_matches(name, SETTINGS, n=1)), None)
            faults.append(f"There is no setting {name!r}." + (f" Did you mean {near}?" if near else ""))
        elif value is not None:
            try:
                values[name] = _parse(SETTINGS[name], value)
            except (ConfigError, ValueError) as error:
                faults.append(_describe_fault(name, error))
    # A program gives both in the same way, so neither is nearer than the other.
    if values.get("status_branch") and values.get("status_dir"):
        faults.append("status_branch and status_dir exclude each other. Give one of them.")
    if not faults:
        faults = list(list_contradictions(Config(**values)))
    if faults:
        raise ConfigError("\n".join(faults))
    return Config(**values)


def list_contradictions(config: Config, *, uses_azure: bool = True) -> Iterator[str]:
    """Sentences on settings that are valid one by one, but contradict each other. `uses_azure` is False for a command
    that sends no request: its credential does not matter.
    """
    is_local = config.emulator is not None or is_loopback(urlsplit(config.endpoint).hostname)
    if uses_azure and config.credential == "anonymous" and not is_local:
        yield (
            f"The credential anonymous goes only to this machine, not to {config.endpoint}. "
            "Set --emulator, an --endpoint on 127.0.0.1, or another --credential."
        )
    if config.allow_identities is not None and _is_of_source(config.allow_identities, config.source):
        yield (
            f"{config.allow_identities.name}: allow-identities is in SOURCE, so everyone who can write manifests could "
            "change it. Move the file out of there, or set the variable GITSYNC_ALLOW_IDENTITIES to its text."
        )
    if config.emulator and ("://" in config.emulator or Path(config.emulator).is_dir()):
        yield (
            f"--emulator takes a file for its state, and {config.emulator} is not a file. "
            "Write SOURCE before --emulator, or the file as --emulator=FILE."
        )


def _is_of_source(allowed: AllowedIdentities, source: str) -> bool:
    """Return whether the file of a list is in the folder of SOURCE or its work tree, or a link there leads to it."""
    folder = _find_source_folder(source)
    if not allowed.is_file or not folder.exists():
        return False
    top = find_repository(folder) or folder.resolve()
    path = Path(allowed.name).absolute()
    paths = (path.resolve(), Path(os.path.normpath(path)))  # a link counts where it is, too
    return any(path.is_relative_to(top) for path in paths)


def _find_source_folder(source: str) -> Path:
    """Find the folder that SOURCE names, as a path or as a URL; the work tree for its `.git`."""
    try:
        parts = urlsplit(source)
    except ValueError:  # refused when it is opened
        return Path(source)
    folder = Path(unquote(parts.path) if parts.scheme == "file" else source)
    return folder.parent if folder.name == ".git" else folder


def _parse(setting: Setting, value: Any) -> Any:
    if setting.form in RULES:
        from gitsync.settings.config.rule_entries import make_entries  # noqa: PLC0415 - only programs give rules this way

        return make_entries(setting.form, value)
    if setting.form is SettingForm.IDENTITIES:
        return parse_value(setting, (json.dumps(value) if isinstance(value, Mapping) else value,))
    if setting.form is not SettingForm.UNITS:
        return parse_value(setting, _format_value(setting, value))
    from gitsync.model.unit import UnitEntry  # noqa: PLC0415 - only programs give units, and its classes take long to make

    if isinstance(value, list | tuple) and all(isinstance(member, UnitEntry) for member in value):
        return tuple(value)
    raise ValueError("expected a tuple of UnitEntry")


def _format_value(setting: Setting, value: Any) -> tuple[str, ...]:
    """A value as a flag would have it, so that one parser serves both. ValueError if it is of another type."""
    if isinstance(value, Secret) and setting.form is SettingForm.SECRET:
        return (value.reveal(),)
    if isinstance(value, Mapping) and setting.form is SettingForm.VARIABLES:
        return tuple(f"{name}={_format_text(text)}" for name, text in value.items())
    if isinstance(value, list | tuple) and setting.form is SettingForm.LIST:
        return tuple(map(_format_text, value))
    if isinstance(value, bool) and setting.form in _ON_OR_OFF:
        return (str(value),)
    if value == "" and setting.form in _EMPTY:
        return (_EMPTY[setting.form],)
    if isinstance(value, int | float) and not isinstance(value, bool) and setting.form is SettingForm.DURATION:
        # `str` writes some numbers with an exponent, which a duration does not have.
        return (f"{value:f}s",)
    if isinstance(value, int | float) and setting.form in {SettingForm.COUNT, SettingForm.POSITIVE, SettingForm.SHARE}:
        return (str(value),)
    return (_format_text(value),)


def _format_text(value: Any) -> str:
    if not isinstance(value, str | Path):
        raise ValueError(f"expected a text, not a value of type {type(value).__name__}")  # noqa: TRY004 - a wrong setting
    return str(value)
