"""gitsync.yaml: settings that stand in a file of the working folder.

It is never looked for in what was fetched: whoever may write the manifests must not choose whom tokens are sent to.
The file is flat, so that it needs no more than the composer of YAML: every key is a setting, every value one text or
a list of them, and every complaint names its line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from gitsync.config import SETTINGS
from gitsync.errors import ConfigError
from gitsync.setting import Form, Setting

FILE_NAME = "gitsync.yaml"

_BY_KEY: Mapping[str, Setting] = {s.key: s for s in SETTINGS.values() if s.key}
_SECRETS = {s.name.replace("_", "-"): s for s in SETTINGS.values() if s.form is Form.SECRET}

Entry = tuple[tuple[str, ...], str]
"""The texts of a setting, and where they stand."""


def read_config_file(path: Path) -> dict[str, Entry]:
    """Settings by name. ConfigError names everything that is wrong with the file, with its lines."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ConfigError(f"The settings in {path} cannot be read: {reason}.") from error
    return _entries(path, _compose(path, text))


def _compose(path: Path, text: str) -> Any:
    import yaml  # here, since only those who have such a file pay for it

    try:
        return yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{path}:{mark.line + 1}" if mark else str(path)
        raise ConfigError(f"{place}: this is not YAML: {getattr(error, 'problem', None) or error}.") from error


def _entries(path: Path, root: Any) -> dict[str, Entry]:
    if root is None:
        return {}
    if root.id != "mapping":
        raise ConfigError(f"{path}: settings are keys with values.", hint="Write one `key: value` a line.")
    found: dict[str, Entry] = {}
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


def _name(node: Any, found: Mapping[str, Entry]) -> tuple[str, str]:
    """The setting that a key stands for, or what is wrong with it."""
    key = str(node.value)
    if key in _SECRETS:
        return "", f"{key} is a secret, which no file holds. Give it by the variable {_SECRETS[key].variables[0]}."
    if key not in _BY_KEY:
        near = next(iter(get_close_matches(_dashed(key), _BY_KEY, n=1)), None)
        return "", f"there is no setting {key!r}." + (f" Did you mean {near}?" if near else "")
    name = _BY_KEY[key].name
    return name, f"{key} stands twice. Keep one of them." if name in found else ""


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
