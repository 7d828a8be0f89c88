"""Answers challenges for claims with azure-core's policy. Separate from their reader, since azure is slow to import."""

from __future__ import annotations

from typing import Any

from azure.mgmt.core.policies import AsyncARMChallengeAuthenticationPolicy

from gitsync.providers.arm.http.challenges import read_claims_challenge


class ChallengePolicy(AsyncARMChallengeAuthenticationPolicy):
    """azure-core's policy, for challenges that can be read."""

    async def on_challenge(self, request: Any, response: Any) -> bool:
        """Return whether the request is sent again, with a new token. Raises CredentialError if there is none."""
        # azure-core would fail as on an answer that cannot be read, after which a write may have been done.
        if not read_claims_challenge(response.http_response.headers):
            return False
        return await super().on_challenge(request, response)
