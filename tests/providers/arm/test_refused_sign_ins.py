"""What to do about a sign-in that Entra ID refused: by its code, else by the method."""

from __future__ import annotations

import pytest

from gitsync.model.signin import Method
from gitsync.providers.arm.auth.job_identity import JobIdentity
from gitsync.providers.arm.auth.sign_in_refusals import advise_on_refusal

OLD = "AADSTS700024: Client assertion is not within its valid time range. Current time: 2026-01-01T00:00:00Z."


@pytest.mark.parametrize(
    ("method", "message", "says", "never", "why"),
    [
        (Method.WORKLOAD_IDENTITY, OLD, "id-token: write", "Check AZURE_TENANT_ID", "a file that nobody renews"),
        (
            Method.DEFAULT,
            f"Azure CLI: ERROR: {OLD}.",
            "id-token: write",
            "Sign in with",
            "an account of the same token",
        ),
        (Method.CLIENT_CERTIFICATE, OLD, "clock of this machine", "token of the job", "gitsync signs the assertion"),
        (Method.IDENTITY_FILE, OLD, "clock of this machine", "token of the job", "it does with a file, too"),
        (Method.CLIENT_SECRET, "AADSTS7000222: Expired.", "Add a client secret", "Check", "a secret that has expired"),
        (Method.CLIENT_SECRET, "AADSTS7000215: Invalid.", "not to its id", "expired", "the id of a secret"),
        (
            Method.WORKLOAD_IDENTITY,
            "AADSTS700213: No match.",
            "the subject of a federated credential",
            "audience",
            "a subject",
        ),
        (Method.WORKLOAD_IDENTITY, "AADSTS700211: No match.", "the issuer of a federated", "subject", "an issuer"),
        (Method.WORKLOAD_IDENTITY, "AADSTS700212: No match.", "the audience of a federated", "issuer", "an audience"),
        (
            Method.WORKLOAD_IDENTITY,
            "AADSTS70021: No match.",
            "issuer, subject and audience",
            "TENANT",
            "which, is open",
        ),
        (Method.WORKLOAD_IDENTITY, "AADSTS70025: None.", "Add a federated credential", "case counts", "there is none"),
        (Method.WORKLOAD_IDENTITY, "AADSTS700223: Off.", "managed identity", "Compare", "the tenant forbids them"),
        (Method.WORKLOAD_IDENTITY, "AADSTS7002381: Claim.", "a tenant policy", "Compare", "it wants a claim"),
        (Method.DEFAULT, "Azure CLI: AADSTS50076: MFA.", "In a pipeline", "AZURE_", "a second factor"),
        (Method.DEFAULT, "AADSTS50034: No account.", "in the tenant AZURE_TENANT_ID", "az login", "an account"),
        (Method.CLIENT_SECRET, "AADSTS90002: Tenant.", "AZURE_AUTHORITY_HOST", "SECRET", "a tenant of another cloud"),
        (Method.CLIENT_SECRET, "AADSTS500011: Resource.", "--endpoint", "SECRET", "a resource of another cloud"),
        (
            Method.DEFAULT,
            "client secret: AADSTS700016: None.; Azure CLI: x",
            "the client does not exist",
            "az login",
            "a client",
        ),
        (Method.DEFAULT, "Azure CLI: AADSTS700082: Expired.", "az login", "AZURE_", "an account that was idle"),
        (Method.CLIENT_SECRET, "AADSTS99999999: New.", "AZURE_CLIENT_SECRET", "clock", "a code that is not known"),
        (Method.CLIENT_SECRET, "AADSTS7000241: New.", "AZURE_CLIENT_SECRET", "clock", "a code that begins as one"),
        (Method.MANAGED_IDENTITY, "no endpoint", "managed identity", "AADSTS", "no code"),
        (Method.WORKLOAD_IDENTITY, "AADSTS7002138: Case.", "case counts", "audience", "a subject in another case"),
        (
            Method.WORKLOAD_IDENTITY,
            "AADSTS700213: No.",
            "`gitsync doctor` in the job",
            "az identity",
            "no token is known",
        ),
        (
            Method.WORKLOAD_IDENTITY,
            "AADSTS50166: Failed.",
            "openid-configuration",
            "AZURE_",
            "keys that cannot be read",
        ),
        (Method.DEFAULT, "Azure CLI: AADSTS50053: Locked.", "workload identity", "AZURE_", "a locked account"),
        (Method.CLIENT_SECRET, "AADSTS700016: None.", "az identity show", "SECRET", "the id of the object"),
        (Method.CLIENT_SECRET, "AADSTS70011: Scope.", "AZURE_RESOURCE_MANAGER_AUDIENCE", "SECRET", "an audience"),
        (Method.CLIENT_SECRET, "AADSTS7000218: Proof.", "AZURE_CLIENT_SECRET", "expired", "no proof"),
        (Method.CLIENT_SECRET, "AADSTS7000112: Off.", "Enable the client", "SECRET", "a disabled client"),
        (Method.DEFAULT, "AADSTS1: x; AADSTS53003: y", "Conditional Access", "az login", "the first that is known"),
    ],
)
def test_what_to_do_about_a_refused_sign_in(method, message, says, never, why):
    advice = advise_on_refusal(method, message)
    assert says in advice, why
    assert never not in advice, why


@pytest.mark.parametrize(
    ("subject", "expired", "refused"),
    [
        ("repo:contoso@1/web@2:pull_request", "id-token: write", "since 2026-07-15"),
        ("repository_id:2:ref:refs/heads/main", "id-token: write", "since 2026-07-15"),
        ("project_path:contoso/web:ref_type:branch:ref:main", "`timeout` of the job", "branch or tag of the job"),
        ("sc://contoso/web/azure", "SYSTEM_ACCESSTOKEN", "in the service connection"),
        ("/eid1/c/pub/t/a/a/b/sc/1/2", "SYSTEM_ACCESSTOKEN", "in the service connection"),
        ("system:serviceaccount:gitsync:gitsync", "that Kubernetes mounts", "az aks show"),
        ("another", "id-token: write", "The branch, tag, environment"),
    ],
)
def test_the_advice_for_the_token_of_a_host(subject, expired, refused):
    job = JobIdentity(subject=subject, issuer="https://issuer.example", audience="api://AzureADTokenExchange")
    assert expired in advise_on_refusal(Method.WORKLOAD_IDENTITY, OLD, job)
    for code in ("AADSTS700213", "AADSTS7002138", "AADSTS70021", "AADSTS70025"):
        advice = advise_on_refusal(Method.WORKLOAD_IDENTITY, f"{code}: No.", job)
        assert refused in advice
        assert f"--subject {subject} " in advice
    for code in ("AADSTS700211", "AADSTS700212"):
        advice = advise_on_refusal(Method.WORKLOAD_IDENTITY, f"{code}: No.", job)
        assert "--issuer https://issuer.example" in advice
        assert refused not in advice, "the subject matched, or was not compared"


@pytest.mark.parametrize("subject", ["x" * 601, "a\nb", "@file"])
def test_no_advice_has_a_subject_that_no_command_can_name(subject):
    job = JobIdentity(subject=subject, issuer="https://issuer.example", audience="api://AzureADTokenExchange")
    advice = advise_on_refusal(Method.WORKLOAD_IDENTITY, "AADSTS700213: No.", job)
    assert subject not in advice
    assert "`gitsync doctor` in the job" in advice
