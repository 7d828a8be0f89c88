"""The settings under "Secrets and ConfigMaps": the sources that they are read from, and the sinks of exports."""

from __future__ import annotations

from functools import partial

from gitsync.settings.config.command_sets import KEEPS, PLAN, REHEARSE, SET_UP
from gitsync.settings.config.setting import HelpGroup, SettingForm, declare_setting, setting_group

_declare = partial(declare_setting, HelpGroup.SECRETS)


@setting_group
class SecretSettings:
    """Where Secrets and ConfigMaps are read and written."""

    secret_sources: tuple[str, ...] = _declare(
        ("manifests", "environment"),
        "Sources of the Secrets and config maps that manifests reference, in this order, after what the run "
        "itself exports.",
        SET_UP | KEEPS | REHEARSE | {"validate"},
        form=SettingForm.LIST,
        choices=("manifests", "folder", "environment", "key-vault", "kubernetes"),
        metavar="SOURCE",
    )
    export_to: tuple[str, ...] = _declare(
        ("status",),
        "Sinks of the Secrets and config maps that resources export, in addition to the memory of the run. "
        "status takes config maps only, and writes them next to the status.",
        SET_UP | REHEARSE,
        form=SettingForm.LIST,
        choices=("status", "folder", "key-vault", "kubernetes", "sops", "dotenv", "ci"),
        metavar="SINK",
    )
    key_vault: str | None = _declare(
        None,
        "Key Vault of the source and the sink `key-vault`: its https address.",
        SET_UP | KEEPS | REHEARSE,
        form=SettingForm.URL,
    )
    secrets_folder: str | None = _declare(
        None,
        "Folder of the source `folder`: one folder per Secret, one file per key.",
        SET_UP | KEEPS | REHEARSE | {"validate"},
        is_advanced=True,
        metavar="FOLDER",
    )
    config_maps_folder: str | None = _declare(
        None, "The same for ConfigMaps.", SET_UP | KEEPS | REHEARSE | {"validate"}, is_advanced=True, metavar="FOLDER"
    )
    plan_secrets: bool = _declare(
        False,
        "Let a plan read Secrets from Key Vault and the cluster as a sync does, including those of credentials. "
        "The plan shows and stores no values, only that a value changed.",
        PLAN | KEEPS,
        is_advanced=True,
        form=SettingForm.SWITCH,
    )
    export_folder: str | None = _declare(
        None,
        "Folder of the sink `folder`; no other user may have access to it.",
        SET_UP,
        is_advanced=True,
        metavar="FOLDER",
    )
    export_sops_folder: str | None = _declare(
        None,
        "Folder of the sink `sops`: one encrypted manifest per Secret.",
        SET_UP,
        is_advanced=True,
        metavar="FOLDER",
    )
    export_dotenv: str | None = _declare(None, "File of the sink `dotenv`.", SET_UP, is_advanced=True, metavar="FILE")
