"""A world in which everybody has to sign in: an Azure that checks tokens, and an authority that counts what it issues."""

from __future__ import annotations

from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from aiohttp import web

from gitsync.emulator.http.listener import Listener
from gitsync.emulator.http.server import Emulator
from gitsync.emulator.settings import TENANT, EmulatedPrincipal
from gitsync.model.secret import Secret
from gitsync.model.signin import Method, SignIn
from gitsync.providers.arm.auth.arm_access import ArmAccess, Network
from gitsync.providers.arm.cloud import make_cloud
from tests.support.private_ca import make
from tests.support.world import SUBSCRIPTION, World

OTHER = "22222222-2222-2222-2222-222222222222"
"""A second subscription; the global credential has the world's."""
ARM_AUDIENCE = "https://management.core.windows.net/"


def principal(name: str) -> EmulatedPrincipal:
    return EmulatedPrincipal(client=f"{name}-client", object=f"{name}-object", secret=f"{name}-s3cret")


class Tenants(World):
    """`issued` has the client of every token that was started for in the last run, in order."""

    def __init__(self, folder: Path, *names: str, **settings: Any) -> None:
        principals = tuple(principal(name) for name in ("global", *names))
        super().__init__(folder, require_token=True, principals=principals, **settings)
        self.ca = make(folder)
        self.issued: list[str] = []
        self.authority = ""

    @asynccontextmanager
    async def azure(self):
        self.issued = []
        async with Emulator(self.settings, self.store, self.clock) as azure:

            async def issue(request: web.BaseRequest) -> web.Response:
                form = dict(parse_qsl((await request.read()).decode()))
                answer = azure.tokens.answer(request.path, form, self.authority)
                assert answer is not None, request.path
                self.issued += [form["client_id"]] if form else []
                return web.json_response(answer.body, status=answer.status)

            listener = Listener(issue)
            self.authority = await listener.open(tls=self.ca.tls)
            try:
                yield azure
            finally:
                await listener.close()

    def access(self, url: str) -> ArmAccess:
        return ArmAccess(
            cloud=make_cloud(url, ARM_AUDIENCE, self.authority),
            sign_in=SignIn(
                method=Method.CLIENT_SECRET,
                tenant_id=TENANT,
                client_id="global-client",
                client_secret=Secret("global-s3cret"),
            ),
            network=Network(ca_bundle=self.ca.bundle),
        )

    def callers(self, method: str = "PUT") -> dict[str, str]:
        """Who sent the last run's requests of one method, by path."""
        return {request.path: request.client for request in self.requests if request.method == method}


def secret(
    who: str, name: str = "aso-credential", namespace: str = "default", subscription: str = SUBSCRIPTION, **more: Any
) -> str:
    """A credential's Secret. `more` are further keys; None takes a key out."""
    keys = {
        "AZURE_SUBSCRIPTION_ID": subscription,
        "AZURE_TENANT_ID": TENANT,
        "AZURE_CLIENT_ID": f"{who}-client",
        "AZURE_CLIENT_SECRET": f"{who}-s3cret",
        **more,
    }
    lines = "".join(f'      {key}: "{value}"\n' for key, value in keys.items() if value is not None)
    return (
        f"    apiVersion: v1\n    kind: Secret\n    metadata:\n      name: {name}\n      namespace: {namespace}\n"
        f"    stringData:\n{lines}"
    )


def inside(document: str, namespace: str) -> str:
    """The document in a namespace."""
    return document.replace("    metadata:\n", f"    metadata:\n      namespace: {namespace}\n", 1)


def group_id(name: str, subscription: str = SUBSCRIPTION) -> str:
    return f"/subscriptions/{subscription}/resourceGroups/{name}"
