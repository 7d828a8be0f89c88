"""gitsync.yaml: settings in a file.

A file that the operator chose (named by --config, or in a working folder outside of git) may give every setting. A file
that git tracks comes from anyone who can write to the repository: it may give source settings only, or it could decide
where tokens are sent and what is deleted.

The file is flat, so it needs no more than YAML's composer: every key is a setting, every value one text or a list of
them, and every error names its line.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from gitsync.config.config import SETTINGS
from gitsync.config.setting import Authority, Setting, SettingForm
from gitsync.errors import ConfigError

FILE_NAME = "gitsync.yaml"
MOST_BYTES = 100_000

_BARE = ("HEAD", "objects", "refs")

_BY_KEY: Mapping[str, Setting] = {s.key: s for s in SETTINGS.values() if s.key}
_SECRETS = {s.name.replace("_", "-"): s for s in SETTINGS.values() if s.form is SettingForm.SECRET}

FileValue = tuple[tuple[str, ...], str]
"""The texts of a setting, and where they stand."""


def read_config_file(path: Path) -> dict[str, FileValue]:
    """The operator's settings by name. ConfigError lists everything that is wrong with the file, with its lines."""
    return _entries(str(path), _compose(str(path), _read(path)))


def check_source_file(path: Path) -> None:
    """Raise ConfigError, with every line, if a file that git may track gives anything but source settings."""
    read_source_settings(_read(path), str(path))


def read_source_settings(content: bytes, path: str) -> dict[str, FileValue]:
    """The source settings in a source's own file by name. ConfigError lists everything that is wrong with the file,
    operator settings among it; `path` is how its messages call it.
    """
    found = _entries(path, _compose(path, content))
    refused = [
        f"{place}: {SETTINGS[name].key} is an operator setting, which a file in a git repository may not give. "
        f"{SETTINGS[name].ways}"
        for name, (_, place) in found.items()
        if SETTINGS[name].authority is Authority.OPERATOR
    ]
    if refused:
        allowed = ", ".join(s.key for s in SETTINGS.values() if s.authority is Authority.SOURCE)
        raise ConfigError("\n".join(refused), hint=f"Keep only source settings in {path}: {allowed}.")
    return found


def is_in_repository(folder: Path) -> bool:
    """Whether a folder, as it is named or as links resolve it, is in a git work tree or in a folder that looks like a
    bare repository. No git is run: that is what must not happen before the folder is known to be safe.
    """
    named, resolved = folder.absolute(), folder.resolve()
    return any(map(_is_repository, {named, *named.parents, resolved, *resolved.parents}))


def _is_repository(folder: Path) -> bool:
    return os.path.lexists(folder / ".git") or all(os.path.lexists(folder / name) for name in _BARE)


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MOST_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"The settings in {path} cannot be read: {error.strerror}.") from error


def _compose(path: str, content: bytes) -> Any:
    import yaml  # noqa: PLC0415 - only those who have such a file pay for it

    if len(content) > MOST_BYTES:
        raise ConfigError(f"{path} has more than {MOST_BYTES} bytes.", hint="Remove everything but settings from it.")
    try:
        return yaml.compose(content.decode("utf-8"), Loader=yaml.SafeLoader)
    except UnicodeDecodeError as error:
        raise ConfigError(f"The settings in {path} cannot be read: it is not UTF-8.") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{path}:{mark.line + 1}" if mark else path
        raise ConfigError(f"{place}: this is not YAML: {getattr(error, 'problem', None) or error}.") from error
    except RecursionError:
        raise ConfigError(f"{path} nests values too deeply.", hint="Write one `key: value` per line.") from None


def _entries(path: str, root: Any) -> dict[str, FileValue]:
    if root is None:
        return {}
    if root.id != "mapping":
        raise ConfigError(f"{path}: settings are keys with values.", hint="Write one `key: value` per line.")
    found: dict[str, FileValue] = {}
    wrong: list[str] = []
    for key, value in root.value:
        place = f"{path}:{key.start_mark.line + 1}"
        name, complaint = _name(key, found)
        texts = None if complaint else _texts(value)
        if texts is None:
            wrong.append(f"{place}: {complaint or f'{key.value} takes one value, or a list of them.'}")
        elif texts:
            found[name] = (texts, place)
    if wrong:
        raise ConfigError("\n".join(wrong))
    return found


def _name(node: Any, found: Mapping[str, FileValue]) -> tuple[str, str]:
    """The setting that a key stands for, or what is wrong with it."""
    key = str(node.value)
    if key in _SECRETS:
        return "", f"{key} is a secret, which a file must not contain. Set the variable {_SECRETS[key].variables[0]}."
    if key not in _BY_KEY:
        near = next(iter(get_close_matches(_dashed(key), _BY_KEY, n=1)), None)
        return "", f"there is no setting {key!r}." + (f" Did you mean {near}?" if near else "")
    name = _BY_KEY[key].name
    return name, f"{key} is given twice. Remove one of them." if name in found else ""


def _dashed(key: str) -> str:
    """`statusBranch` and `status_branch` as `status-branch`, so that the nearest key is found."""
    return "".join(_dash(letter) for letter in key).removeprefix("-")


def _dash(letter: str) -> str:
    return f"-{letter.lower()}" if letter.isupper() else letter.replace("_", "-")


def _texts(node: Any) -> tuple[str, ...] | None:
    """The texts of a value; () for `key:` without one, and None for what is neither a text nor a list of them."""
    members = list(_members(node))
    return None if None in members else tuple(text for text in members if text)


def _members(node: Any) -> Iterator[str | None]:
    for member in node.value if node.id == "sequence" else [node]:
        if member.id != "scalar":
            yield None
        elif member.tag != "tag:yaml.org,2002:null":
            yield str(member.value)
