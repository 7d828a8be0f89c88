"""The settings under "Azure and the identity": the subscription, the credential, the cloud and the emulator."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from gitsync.model.secret import Secret
from gitsync.settings.config.command_sets import AZURE, ESTATE, KEEPS, REHEARSE, RUNS, SET_UP
from gitsync.settings.config.setting import HelpGroup, SettingForm, declare_setting, setting_group

if TYPE_CHECKING:
    from gitsync.model.allowed_identities import AllowedIdentities  # few runs have one

_declare = partial(declare_setting, HelpGroup.AZURE)

_ID = r"[A-Za-z0-9][A-Za-z0-9.-]*"


@setting_group
class AzureSettings:
    """Where requests go, and with which identity."""

    subscription: str | None = _declare(
        None,
        "Subscription id (a UUID) of resources whose manifests contain no ARM id.",
        ESTATE | {"import"},
        form=SettingForm.UUID,
        variables=("AZURE_SUBSCRIPTION_ID",),
    )
    credential: str = _declare(
        "default",
        "How to get a token. anonymous sends none, and only to this machine.",
        AZURE,
        choices=(
            "default",
            "workload-identity",
            "managed-identity",
            "client-secret",
            "client-certificate",
            "identity-file",
            "anonymous",
        ),
        switches={"USE_WORKLOAD_IDENTITY_AUTH": "workload-identity"},
    )
    emulator: str | None = _declare(
        None,
        "Run against the emulator, in this process: in memory, or with its state in an SQLite FILE.",
        AZURE,
        form=SettingForm.FILE_OR_ON,
        metavar="FILE",
    )
    tenant_id: str | None = _declare(
        None, "Tenant of the identity.", AZURE, is_advanced=True, variables=("AZURE_TENANT_ID",), pattern=_ID
    )
    client_id: str | None = _declare(
        None, "Client id of the identity.", AZURE, is_advanced=True, variables=("AZURE_CLIENT_ID",), pattern=_ID
    )
    client_secret: Secret | None = _declare(
        None,
        "Secret of the identity, for --credential client-secret.",
        AZURE,
        is_advanced=True,
        form=SettingForm.SECRET,
        variables=("AZURE_CLIENT_SECRET",),
        flag="",
    )
    client_certificate: Secret | None = _declare(
        None,
        "Certificate of the identity with its key, for --credential client-certificate: PEM, or PKCS#12 in base64.",
        AZURE,
        is_advanced=True,
        form=SettingForm.SECRET,
        variables=("AZURE_CLIENT_CERTIFICATE",),
        flag="",
    )
    client_certificate_path: str | None = _declare(
        None,
        "The same certificate, as a file.",
        AZURE,
        is_advanced=True,
        variables=("AZURE_CLIENT_CERTIFICATE_PATH",),
        metavar="FILE",
    )
    client_certificate_password: Secret | None = _declare(
        None,
        "Password of the certificate.",
        AZURE,
        is_advanced=True,
        form=SettingForm.SECRET,
        variables=("AZURE_CLIENT_CERTIFICATE_PASSWORD",),
        flag="",
    )
    identity_file: str | None = _declare(
        None,
        "Credentials file of a user-assigned identity, for --credential identity-file.",
        AZURE,
        is_advanced=True,
        variables=("AZURE_USER_ASSIGNED_IDENTITY_CREDENTIALS",),
        metavar="FILE",
    )
    identity_folder: str | None = _declare(
        None, "The only folder whose files credential Secrets may name.", AZURE, is_advanced=True, metavar="FOLDER"
    )
    federated_token_file: str | None = _declare(
        None,
        "File with the federated token, for --credential workload-identity. It is read again when it changes.",
        AZURE,
        is_advanced=True,
        variables=("AZURE_FEDERATED_TOKEN_FILE",),
        metavar="FILE",
    )
    additional_tenants: tuple[str, ...] = _declare(
        (),
        "Additional tenants to get tokens for.",
        AZURE,
        is_advanced=True,
        form=SettingForm.LIST,
        variables=("AZURE_ADDITIONAL_TENANTS",),
    )
    endpoint: str = _declare(
        "https://management.azure.com",
        "Endpoint of Azure Resource Manager. Plain http only to this machine.",
        AZURE | {"render"},
        is_advanced=True,
        form=SettingForm.URL,
        variables=("AZURE_RESOURCE_MANAGER_ENDPOINT",),
    )
    audience: str | None = _declare(
        None,
        "Audience of tokens. Default: that of the endpoint, if it is one of a known cloud.",
        AZURE,
        is_advanced=True,
        variables=("AZURE_RESOURCE_MANAGER_AUDIENCE",),
    )
    authority: str | None = _declare(
        None,
        "Host that issues tokens. Default: that of the endpoint, if it is one of a known cloud.",
        AZURE,
        is_advanced=True,
        form=SettingForm.URL,
        variables=("AZURE_AUTHORITY_HOST",),
    )
    allow_multi_env_management: bool = _declare(
        False,
        "Allow credential Secrets to name another Azure cloud: then tokens are sent there.",
        AZURE,
        is_advanced=True,
        form=SettingForm.SWITCH,
        variables=("ALLOW_MULTI_ENV_MANAGEMENT",),
    )
    allow_identities: AllowedIdentities | None = _declare(
        None,
        "Identities that credential Secrets may name, by namespace: YAML with mode, global and allow, or its file.",
        SET_UP | KEEPS | REHEARSE | {"validate"},
        is_advanced=True,
        form=SettingForm.IDENTITIES,
        metavar="FILE",
    )
    user_agent_suffix: str | None = _declare(
        None,
        "Added to the User-Agent of every request.",
        AZURE,
        is_advanced=True,
        variables=("AZURE_USER_AGENT_SUFFIX",),
    )
    ca_bundle: str | None = _declare(
        None,
        "Certificates (PEM) to trust instead of the system's.",
        AZURE,
        is_advanced=True,
        variables=("GITSYNC_CA_BUNDLE", "REQUESTS_CA_BUNDLE"),
        metavar="FILE",
    )
    database_servers: tuple[str, ...] = _declare(
        (),
        "Servers on this machine that replace Azure's servers in tests, such as "
        "postgresql=localhost:5433,mysql=localhost:3307.",
        RUNS,
        is_advanced=True,
        form=SettingForm.LIST,
        metavar="SERVICE=HOST:PORT",
    )
    emulator_script: str | None = _declare(
        None, "Faults that the emulator injects.", AZURE | REHEARSE, is_advanced=True, metavar="FILE"
    )
