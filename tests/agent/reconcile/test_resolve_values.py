"""What a resource shows whose time was up before its values were read: no source is blamed that was not read."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import pytest

from gitsync.agent.reconcile.attempt import ApplyAttempt
from gitsync.agent.reconcile.run_views import Observing
from gitsync.agent.reconcile.stages.resolve_values import resolve_values
from gitsync.errors import DeadlineError
from gitsync.model.plan import Apply
from gitsync.model.result import FailedRequest, Stage
from gitsync.model.template import ResourceRef, SecretKeyRef
from gitsync.providers.arm.session import Session
from tests.support.builders import prepared, vnet, vnet_id
from tests.support.fake_clock import FakeClock


@pytest.mark.parametrize(
    ("is_stopped", "message"),
    [
        (False, "Deadline exceeded before the values of VirtualNetwork.network.azure.com/default/hub were read. "),
        (True, "The run was stopped before the values of VirtualNetwork.network.azure.com/default/hub were read. "),
    ],
)
async def test_the_last_answer_of_azure_is_named(is_stopped, message):
    clock = FakeClock()
    session = Session(deadline=clock.monotonic())
    session.failures.append(
        FailedRequest(
            at="", stage=Stage.ACT, status=404, code="ResourceGroupNotFound", message="It could not be found."
        )
    )
    if is_stopped:
        session.is_ended = True
    manifest = prepared(vnet(), vnet_id(), body={"properties": {"password": SecretKeyRef("one", "two")}})
    attempt = ApplyAttempt(
        apply=Apply(prepared=manifest), known_kind=None, subscription="", refusal=None, session=session, before={}
    )
    run = cast(Observing, SimpleNamespace(clock=clock))
    with pytest.raises(DeadlineError) as failure:
        await resolve_values(attempt, run)
    assert failure.value.message == f"{message}Last error: 404 ResourceGroupNotFound: It could not be found."
    for body in ({}, {"properties": {"peer": ResourceRef(vnet("spoke"))}}):
        attempt = replace(attempt, apply=Apply(prepared=prepared(vnet(), vnet_id(), body=body)))
        assert await resolve_values(attempt, run) is attempt, "it needs none"
