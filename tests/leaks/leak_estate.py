"""An estate that draws on every source of secrets and exports to every sink, with an Azure that repeats what it gets.

Every value is distinctive. Those that are resolved by the run have characters that each way of writing spells its own
way; what Azure and the extensions say of them are all of these spellings.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from gitsync.emulator.faults import FaultRule
from tests.leaks.hunting import spellings
from tests.support import sops_rig
from tests.support.command_line import SUBSCRIPTION, Ended, gitsync, run_here
from tests.support.fault_rules import rules
from tests.support.secret_estate import GROUP

GROUP_ID = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/core"
ACCOUNT_ID = f"{GROUP_ID}/providers/Microsoft.Storage/storageAccounts/lake"

PEM = "-----BEGIN PRIVATE KEY-----\nMIIEvQmarkedPemLineOne\nq8markedPemLineTwo0\n-----END PRIVATE KEY-----\n"
INPUTS = {
    name: f"{name.upper()}1\"{name[::-1]}/{name * 2}+1&{name[::-1].title()}'2{name.title()}"
    for name in ("plain", "sealed", "mounted", "variable", "vault")
} | {"pem": PEM}
"""What servers take as their passwords, by the source that it comes from."""

SETTINGS = {
    "GITSYNC_GIT_TOKEN": "g1t-token-marked-value",
    "GITSYNC_DIGEST_KEY": "d1gest-key-marked-value-0123456789abcdef",
    "AZURE_CLIENT_SECRET": "cl1ent-secret-marked-value",
    "AZURE_CLIENT_CERTIFICATE_PASSWORD": "cert1ficate-password-marked",
}
CREDENTIAL = "cred3ntial-secret-marked-value"

SERVER = """\
apiVersion: dbforpostgresql.azure.com/v1api20221201
kind: FlexibleServer
metadata: {name: NAME}
spec:
  location: westeurope
  owner: {name: core}
  administratorLogin: boss
  administratorLoginPassword: {name: NAME, key: password}
"""
ACCOUNT = """\
apiVersion: storage.azure.com/v1api20230101
kind: StorageAccount
metadata: {name: lake}
spec:
  location: westeurope
  owner: {name: core}
  kind: StorageV2
  sku: {name: Standard_LRS}
  operatorSpec:
    secrets: {key1: {name: lake, key: first}, key2: {name: lake, key: second}}
    secretExpressions: [{name: said, key: both, value: 'secret.key1 + "@" + self.metadata.name'}]
    configMaps: {blobEndpoint: {name: where, key: blob}}
"""
CONSUMER = SERVER.replace("NAME, key: password", "lake, key: first").replace("NAME", "consumer")
CREDENTIAL_SECRET = f"""\
apiVersion: v1
kind: Secret
metadata: {{name: other}}
stringData:
  AZURE_SUBSCRIPTION_ID: {SUBSCRIPTION}
  AZURE_TENANT_ID: 11111111-1111-1111-1111-111111111111
  AZURE_CLIENT_ID: 22222222-2222-2222-2222-222222222222
  AZURE_CLIENT_SECRET: {CREDENTIAL}
"""
PLACED = {
    kind: f"""\
apiVersion: network.azure.com/{version}
kind: {kind}
metadata: {{name: {kind.lower()}, annotations: {{serviceoperator.azure.com/credential-from: other}}}}
spec: {{location: westeurope, owner: {{name: core}}{more}}}
"""
    for kind, version, more in (
        ("VirtualNetwork", "v1api20240301", ", addressSpace: {addressPrefixes: [10.0.0.0/16]}"),
        ("NetworkSecurityGroup", "v1api20240301", ""),
        ("RouteTable", "v1api20240301", ""),
        ("PublicIPAddress", "v1api20240301", ", sku: {name: Standard}, publicIPAllocationMethod: Static"),
        ("ApplicationSecurityGroup", "v1api20240101", ""),
    )
}
"""Kinds that the extensions of another package fail at, each in a stage of its own."""

EXTENSION = """\
import logging
import os
import threading
from loguru import logger
from gitsync.extensions.api import Extension, proceed

SAID = os.environ["SAID"]
GROUP = "network.azure.com"

class Broken:
    def __del__(self):
        raise RuntimeError("As it went it said " + SAID)

def thread():
    raise RuntimeError("A thread said " + SAID)

def said():
    Broken()
    threading.Thread(target=thread).start()
    logging.getLogger("contoso").error("It said %s", SAID)
    logger.bind(said=SAID, nested={"said": [SAID]}).error("It said")
    try:
        raise KeyError(SAID)
    except KeyError as error:
        logger.exception("It raised")
        raise RuntimeError("It said " + SAID) from error

async def check(subject, azure, next):
    said()

def modify(body, subject):
    said()

async def succeeded(subject, azure):
    said()

class Trap:
    def __getattr__(self, name):
        raise ValueError(SAID)

async def trapped(subject, azure, next):
    return await next(Trap(), azure)  # so that what is gitsync's own breaks off

rows = (
    Extension(group=GROUP, kind="VirtualNetwork", owner_check=check),
    Extension(group=GROUP, kind="NetworkSecurityGroup", pre_check=check),
    Extension(group=GROUP, kind="RouteTable", modify=modify),
    Extension(group=GROUP, kind="PublicIPAddress", post_check=check),
    Extension(group=GROUP, kind="ApplicationSecurityGroup", succeeded=succeeded),
    Extension(group="containerservice.azure.com", kind="ManagedCluster", pre_check=trapped),
)
"""
CLUSTER = """\
apiVersion: containerservice.azure.com/v1api20240901
kind: ManagedCluster
metadata: {name: cluster}
spec: {location: westeurope, owner: {name: core}, dnsPrefix: cluster}
"""


KNOWN_EARLY = (INPUTS["plain"], PEM, CREDENTIAL, *SETTINGS.values())
"""What the run has before its first request."""


def said(*values: str) -> str:
    """What somebody says who repeats these, in every way to write them."""
    return " ".join(text for value in values for text in spellings(value).values())


def faults() -> tuple[FaultRule, ...]:
    """Azure repeats what it must never repeat: when a server is read, written, while it works, and elsewhere.

    Not what is in Key Vault, since a plan does not have that.
    """
    message = json.dumps(said(*(value for name, value in INPUTS.items() if name != "vault")))
    return rules(
        f"{{match: {{method: GET, path: '*/flexibleservers/sealed'}}, answer: {{code: Odd, status: 400, message: {message}}}}}",
        f"{{match: {{method: PUT, path: '*/flexibleservers/mounted'}}, answer: {{code: Odd, status: 400, message: {message}}}}}",
        f"{{match: {{method: PUT, path: '*/flexibleservers/variable'}}, operation: {{result: Failed, error: {{code: Odd, message: {message}}}}}}}",
        f"{{match: {{method: PUT, path: '*/flexibleservers/plain', nth: 1}}, answer: {{code: RetryableError, status: 503, message: {message}}}}}",
        f"{{match: {{method: PUT, path: '*/flexibleservers/pem'}}, answer: {{status: 400, body: {message}}}}}",
    )


@dataclass
class Estate:
    """A repository with secrets where secrets belong."""

    root: Path  # holds the repository and everything that is written
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def repository(self) -> Path:
        return self.root / "repository"

    @property
    def sinks(self) -> tuple[Path, ...]:
        return (self.root / "exported", self.root / "sops", self.root / "dotenv", self.root / "ci-output")

    def run(self, *words: str, **variables: str) -> Ended:
        """Run the command in the repository, in a process that may load the package of extensions."""
        return gitsync(*words, folder=self.repository, **self.environment, **variables)

    def run_here(self, *words: str) -> Ended:
        """Run a command that is not about resources which the extensions fail at, in this process."""
        return run_here(*words, folder=self.repository, **self.environment)


SOURCES = "manifests,folder,environment,key-vault"
SINKS = "status,folder,sops,dotenv,ci,key-vault"


def make(root: Path) -> Estate:
    """Write the repository, the folder of Secrets, the program sops and the package of extensions."""
    rig = sops_rig.rig("double", root)
    estate = Estate(root)
    estate.repository.mkdir()
    (root / "sops").mkdir()
    rig.rules(root / "sops")
    documents = {
        "all": [GROUP, ACCOUNT, CONSUMER, CREDENTIAL_SECRET, *PLACED.values(), CLUSTER],
        "servers": [SERVER.replace("NAME", name) for name in INPUTS],
        "plain": [_secret("plain", INPUTS["plain"]), _secret("pem", PEM)],
    }
    for name, texts in documents.items():
        (estate.repository / f"{name}.yaml").write_text("---\n".join(texts))
    (estate.repository / "sealed.yaml").write_bytes(rig.encrypted(_secret("sealed", INPUTS["sealed"])))
    mounted = root / "mounted" / "mounted"
    mounted.mkdir(parents=True)
    (mounted / "password").write_text(INPUTS["mounted"])
    _package(root / "site")
    estate.environment = {
        **rig.environment,
        **SETTINGS,
        "PYTHONPATH": str(root / "site"),
        "SAID": said(*KNOWN_EARLY),
        "GITSYNC_SECRET_DEFAULT_VARIABLE_PASSWORD": INPUTS["variable"],
        "GITSYNC_SECRET_SOURCES": SOURCES,
        "GITSYNC_SECRETS_FOLDER": str(root / "mounted"),
        "GITSYNC_EXPORT_FOLDER": str(root / "exported"),
        "GITSYNC_EXPORT_SOPS_FOLDER": str(root / "sops"),
        "GITSYNC_EXPORT_DOTENV": str(root / "dotenv"),
        "GITSYNC_LOG_LEVEL": "debug",
        "GITHUB_ACTIONS": "true",
        "GITHUB_OUTPUT": str(root / "ci-output"),
        "GITHUB_STEP_SUMMARY": str(root / "step-summary.md"),
    }
    (root / "ci-output").touch()
    return estate


def _secret(name: str, value: str) -> str:
    data = json.dumps({"password": value})
    return f"apiVersion: v1\nkind: Secret\nmetadata: {{name: {name}}}\nstringData: {data}\n"


def _package(folder: Path) -> None:
    """An installed package of extensions."""
    info = folder / "others-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / "extension_of_others.py").write_text(EXTENSION)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: others\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[gitsync.extensions]\nothers = extension_of_others:rows\n")


T = TypeVar("T")
