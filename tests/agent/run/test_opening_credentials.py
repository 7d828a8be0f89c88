"""How a Secret's identity is opened: what it may decide, and what only the settings may."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from gitsync.agent.run.connections import make_opener
from gitsync.errors import ConfigError
from gitsync.model.identity import NO_IDS, IdentityIds
from gitsync.model.secret import Secret
from gitsync.model.signin import Identity, Method, OtherCloud, SignIn
from gitsync.providers.arm.arms import open_arms
from gitsync.providers.arm.auth.arm_access import ArmAccess, Network
from gitsync.providers.arm.client import Arm
from gitsync.providers.arm.cloud import make_cloud
from gitsync.providers.arm.session import Session
from gitsync.settings.config.config import Config
from tests.support.arm_rig import API, CLIENT, TENANT, VNET, jwt, moving
from tests.support.fake_clock import FakeClock
from tests.support.private_ca import make
from tests.support.scripted_server import Say, ScriptedServer, serving

ISSUE = f"/{TENANT}/oauth2/v2.0/token"
BY_SECRET = SignIn(
    method=Method.CLIENT_SECRET,
    tenant_id=TENANT,
    client_id=CLIENT,
    client_secret=Secret("s3cret"),
    secret_name="ns/mine",
)
MINE = Identity(subscription="sub-1", sign_in=BY_SECRET)


def scripted(authority: ScriptedServer, azure: ScriptedServer) -> None:
    token = {"token_type": "Bearer", "expires_in": 3600, "access_token": jwt(appid=CLIENT)}
    authority.on("POST", ISSUE, Say(200, token))
    azure.on("GET", VNET, Say(200, moving()))


async def read(arm: Arm) -> None:
    await arm.reader(Session(deadline=1060)).get(VNET, API)


async def test_another_azure_gets_its_own_tokens_and_the_runs_own_gets_none_of_them(tmp_path: Path):
    ca = make(tmp_path)
    async with (
        serving(ca.tls) as here,
        serving(ca.tls) as azure,
        serving(ca.tls) as there,
        serving(ca.tls) as elsewhere,
    ):
        scripted(here, azure)
        scripted(there, elsewhere)
        access = ArmAccess(
            cloud=make_cloud(azure.url, "https://arm.example", here.url), network=Network(ca_bundle=ca.bundle)
        )
        named = OtherCloud(endpoint=elsewhere.url, audience="https://other.example", authority=there.url)
        async with open_arms(access, FakeClock()) as arms:
            open_as = make_opener(Config(), access, arms)
            assert open_as is not None
            await read(await open_as(replace(MINE, cloud=named)))
            assert (len(azure.seen), len(here.seen), len(elsewhere.seen)) == (0, 0, 1)
            assert there.seen[0].body["scope"] == "https://other.example/.default"
            await read(await open_as(MINE))
        assert here.seen[0].body["scope"] == "https://arm.example/.default"
        assert (len(azure.seen), len(elsewhere.seen)) == (1, 1)


async def test_the_token_file_and_the_folder_of_files_are_the_settings(tmp_path: Path):
    ca = make(tmp_path)
    file = tmp_path / "token"
    file.write_text("vouched")
    async with serving(ca.tls) as authority, serving() as azure:
        scripted(authority, azure)
        access = ArmAccess(
            cloud=make_cloud(azure.url, "https://arm.example", authority.url),
            sign_in=SignIn(federated_token_file=str(file)),
            network=Network(ca_bundle=ca.bundle),
        )
        async with open_arms(access, FakeClock()) as arms:
            open_as = make_opener(Config(identity_folder=str(tmp_path / "identities")), access, arms)
            assert open_as is not None
            theirs = replace(BY_SECRET, method=Method.WORKLOAD_IDENTITY, federated_token_file="/etc/hostname")
            await read(await open_as(replace(MINE, sign_in=theirs)))
            assert authority.seen[0].body["client_assertion"] == "vouched"
            files = replace(
                BY_SECRET,
                method=Method.IDENTITY_FILE,
                identity_file=str(file),
                identity_folder=str(tmp_path),
            )
            with pytest.raises(ConfigError, match="outside the identity folder"):
                await open_as(replace(MINE, sign_in=files))


async def test_an_identity_file_that_changed_since_it_was_checked_signs_in_as_nothing(tmp_path: Path):
    file = tmp_path / "one.json"
    members = {
        "client_id": CLIENT,
        "tenant_id": TENANT,
        "client_secret": "bm90aGluZw==",
        "authentication_endpoint": "https://a",
    }
    file.write_text(json.dumps(members))
    access = ArmAccess(cloud=make_cloud("http://127.0.0.1:9"))
    async with open_arms(access, FakeClock()) as arms:
        open_as = make_opener(Config(identity_folder=str(tmp_path)), access, arms)
        assert open_as is not None
        for ids, message in (
            (IdentityIds("another", TENANT), "has other ids than those that were checked"),
            (NO_IDS, "has other ids than those that were checked"),
            (IdentityIds(CLIENT.upper(), TENANT), "cannot be used"),
            (None, "cannot be used"),
        ):
            sign_in = replace(BY_SECRET, method=Method.IDENTITY_FILE, identity_file=str(file), file_ids=ids)
            with pytest.raises(ConfigError, match=message):
                await open_as(replace(MINE, sign_in=sign_in))


async def test_where_nobody_signs_in_no_secret_is_shown_to_anybody():
    access = ArmAccess(cloud=make_cloud("http://127.0.0.1:9"), sign_in=SignIn(method=Method.ANONYMOUS))
    async with open_arms(access, FakeClock()) as arms:
        assert make_opener(Config(), access, arms) is None
