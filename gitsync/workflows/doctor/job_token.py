"""Checks the identity token of the job: what it claims, and the commands that make an identity trust it.

The token is neither shown nor sent to Azure here. Three of its claims are shown, so that a federated credential can be
created with the exact subject before the first sign-in works.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from azure.core.exceptions import AzureError

from gitsync.desired.formats.json_members import as_mapping, is_number, read_claims
from gitsync.errors import GitsyncError
from gitsync.model.clock import Clock
from gitsync.model.secret import Secret, truncate
from gitsync.model.signin import Method
from gitsync.providers.arm.auth.arm_access import ArmAccess
from gitsync.providers.arm.auth.identity_binding import has_identity_binding
from gitsync.providers.arm.auth.job_identity import (
    format_application_command,
    format_binding_command,
    format_identity_command,
    read_job_identity,
)
from gitsync.providers.arm.auth.job_tokens import find_job_tokens, find_token_file
from gitsync.providers.arm.auth.sign_in_refusals import (
    EXPIRED_ASSERTION,
    advise_on_missing_token,
    advise_on_refusal,
)
from gitsync.providers.arm.http.connection import open_connection
from gitsync.providers.arm.http.failures import scrub
from gitsync.settings.config.config import Config
from gitsync.workflows.doctor.azure import PATIENCE
from gitsync.workflows.doctor.setup_check import Check, CheckLevel, make_doubt, make_failure

_NAME = "job-token"
_MOST_CHARACTERS = 100_000  # of a file; the longest tokens have some thousands
_LONGEST_CLAIM = 600  # characters that are shown
_FEDERATED = frozenset({Method.DEFAULT, Method.WORKLOAD_IDENTITY})
"""The methods that sign in with the token of a job."""


async def examine_job_token(config: Config, access: ArmAccess, clock: Clock) -> Check | None:
    """Check the token that the sign-in presents; None outside of a job that has one, or if no sign-in would use it."""
    if Method(config.credential) not in _FEDERATED:
        return None
    try:
        async with asyncio.timeout(PATIENCE):
            token = await _find_token(access)
    except TimeoutError:
        return make_doubt(_NAME, f"No response within {PATIENCE:g} seconds.", "Check the network, then retry.")
    except GitsyncError as error:
        return make_failure(_NAME, error)
    except AzureError as error:
        hint = advise_on_missing_token(access.sign_in.environment)
        return make_doubt(_NAME, f"The job has no identity token: {scrub(error.message)}.", hint)
    except OSError as error:
        hint = "Set AZURE_FEDERATED_TOKEN_FILE to the file with the token of the job, and let gitsync read it."
        return make_doubt(_NAME, f"{find_token_file(access.sign_in)} cannot be read: {error.strerror}.", hint)
    if token is None:
        return None
    # Masked before anything of it is printed: the token signs in as the job.
    if token:
        access.redactions.add(Secret(token))
    found = _describe_token(token, config.client_id or "", clock)
    return _describe_binding(found) if has_identity_binding(access.sign_in.environment) else found


async def _find_token(access: ArmAccess) -> str | None:
    """Find the token in the order of a sign-in: the file of the settings, the CI system, the file of a pod; None
    without any, "" if it is empty.
    """
    sign_in = access.sign_in
    if not sign_in.federated_token_file:
        async with open_connection(access.network) as http:
            tokens = find_job_tokens(sign_in.environment, http)
            if tokens is not None:
                return await tokens()
    file = find_token_file(sign_in)
    if not sign_in.federated_token_file and not file.exists():
        return None
    with file.open(errors="replace") as opened:
        return opened.read(_MOST_CHARACTERS).strip()


def _describe_binding(found: Check) -> Check:
    """Name the command for a pod with an identity binding: a federated credential does not fit its token."""
    if not found.commands:
        return found
    hint = (
        "Bind the identity to the cluster, and grant the service account the verb use-managed-identity on it with a "
        "ClusterRole."
    )
    return replace(found, hint=hint, commands=(format_binding_command(),))


def _describe_token(token: str, client_id: str, clock: Clock) -> Check:
    job = read_job_identity(token)
    if job is None:
        message = "The token of the job is not a JWT with the claims sub, iss and aud."
        return make_doubt(_NAME, message, advise_on_refusal(Method.WORKLOAD_IDENTITY, ""))
    values = {
        name: truncate(value, _LONGEST_CLAIM)
        for name, value in (("subject", job.subject), ("issuer", job.issuer), ("audience", job.audience))
    }
    message = ", ".join(f"{name} {value}" for name, value in values.items())
    # Entra ID limits the length of these values.
    if not job.fits:
        hint = "Rename the branch or environment: no federated credential can have these values."
        return Check(name=_NAME, level=CheckLevel.WARNING, message=message, hint=hint, values=values)
    found = Check(
        name=_NAME,
        level=CheckLevel.OK,
        message=message,
        hint="Run one of these commands to make a managed identity or an application trust this job.",
        values=values,
        commands=(format_identity_command(job), format_application_command(job, client_id)),
    )
    expiry = as_mapping(read_claims(token)).get("exp")
    if is_number(expiry) and expiry <= clock.now().timestamp():
        hint = advise_on_refusal(Method.WORKLOAD_IDENTITY, EXPIRED_ASSERTION, job)
        return replace(found, level=CheckLevel.WARNING, message=f"{message}: the token has expired", hint=hint)
    return found
