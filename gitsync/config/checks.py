"""The check of settings from a Python program, the same as that of flags, variables and files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from gitsync.config.config import SETTINGS, Config
from gitsync.config.setting import Setting, SettingForm
from gitsync.config.values import is_loopback, parse_value
from gitsync.errors import ConfigError
from gitsync.model.secret import Secret


def make_config(settings: Mapping[str, Any]) -> Config:
    """Check settings by the names of `Config` and return them. `None` means "not given".

    A value is what `Config` has (a duration in seconds, a tuple, a bool, a Secret), or the text that a flag would have.

    Raises ConfigError, which lists every fault.
    """
    values: dict[str, Any] = {}
    faults: list[str] = []
    for name, value in settings.items():
        if name not in SETTINGS:
            faults.append(_explain_unknown(name))
        elif value is not None:
            try:
                values[name] = _parse(SETTINGS[name], value)
            except ValueError as error:
                faults.append(f"{name}: {error}.")
    if values.get("status_branch") and values.get("status_dir"):
        faults.append("status_branch and status_dir exclude each other. Give one of them.")
    if not faults:
        faults = list(find_contradictions(Config(**values)))
    if faults:
        raise ConfigError("\n".join(faults))
    return Config(**values)


def find_contradictions(config: Config, *, asks_azure: bool = True) -> Iterator[str]:
    """Sentences on settings that are valid one by one, but contradict each other. `asks_azure` is False for a command
    that sends no request: its credential does not matter.
    """
    is_local = config.emulator is not None or is_loopback(urlsplit(config.endpoint).hostname)
    if asks_azure and config.credential == "anonymous" and not is_local:
        yield (
            f"The credential anonymous goes only to this machine, not to {config.endpoint}. "
            "Set --emulator, an --endpoint on 127.0.0.1, or another --credential."
        )
    if config.emulator and ("://" in config.emulator or Path(config.emulator).is_dir()):
        yield (
            f"--emulator takes a file for its state, and {config.emulator} is none. "
            "Write SOURCE before --emulator, or the file as --emulator=FILE."
        )


def _explain_unknown(name: str) -> str:
    near = next(iter(get_close_matches(name, SETTINGS, n=1)), None)
    return f"There is no setting {name!r}." + (f" Did you mean {near}?" if near else "")


def _parse(setting: Setting, value: Any) -> Any:
    if setting.form is not SettingForm.UNITS:
        return parse_value(setting, _format_texts(setting, value))
    from gitsync.model.unit import UnitEntry  # noqa: PLC0415 - only programs give units, and its classes take long to make

    if isinstance(value, list | tuple) and all(isinstance(member, UnitEntry) for member in value):
        return tuple(value)
    raise ValueError("expected a tuple of UnitEntry")


def _format_texts(setting: Setting, value: Any) -> tuple[str, ...]:
    """A value as a flag would have it, so that one parser serves both. ValueError if it is of another type."""
    if isinstance(value, Secret) and setting.form is SettingForm.SECRET:
        return (value.reveal(),)
    if isinstance(value, Mapping) and setting.form is SettingForm.VARIABLES:
        return tuple(f"{name}={_format_text(text)}" for name, text in value.items())
    if isinstance(value, list | tuple) and setting.form is SettingForm.LIST:
        return tuple(map(_format_text, value))
    if isinstance(value, bool) and setting.form in {SettingForm.SWITCH, SettingForm.FILE_OR_ON}:
        return (str(value),)
    if value == "" and setting.form is SettingForm.FILE_OR_ON:
        return ("true",)  # what Config has for "in memory"
    if isinstance(value, int | float) and not isinstance(value, bool) and setting.form is SettingForm.DURATION:
        return (f"{value:f}s",)
    if isinstance(value, int | float) and setting.form in {SettingForm.COUNT, SettingForm.POSITIVE, SettingForm.SHARE}:
        return (str(value),)
    return (_format_text(value),)


def _format_text(value: Any) -> str:
    if not isinstance(value, str | Path):
        raise ValueError(f"expected a text, not a value of type {type(value).__name__}")  # noqa: TRY004 - a wrong setting
    return str(value)
