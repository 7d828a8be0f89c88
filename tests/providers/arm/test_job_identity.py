"""What a job's token presents, and commands that a shell reads back to exactly these values."""

import json
import re
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.providers.arm.auth.job_identity import (
    JobIdentity,
    format_application_command,
    format_identity_command,
    read_job_identity,
)
from tests.support.arm_rig import CLIENT, jwt

CLAIMS = {"sub": "s", "iss": "i", "aud": "a"}
TOKENS = [
    (jwt(**CLAIMS), ("s", "i", "a"), "all three"),
    (jwt(**CLAIMS | {"aud": ["b", "api://AzureADTokenExchange"]}), ("s", "i", "api://AzureADTokenExchange"), "Azure's"),
    (jwt(**CLAIMS | {"aud": [7, "b"]}), ("s", "i", "b"), "the first text"),
    (jwt(**CLAIMS | {"aud": []}), None, "no audience"),
    (jwt(**CLAIMS | {"sub": 7}), None, "no text"),
    (jwt(sub="s", aud="a"), None, "no issuer"),
    ("vouched", None, "no JWT"),
    ("a.b.c", None, "no JSON"),
    ("", None, "nothing"),
]


@pytest.mark.parametrize(("token", "expected", "why"), TOKENS, ids=[row[-1] for row in TOKENS])
def test_what_a_token_presents(token, expected, why):
    job = read_job_identity(token)
    assert (job and (job.subject, job.issuer, job.audience)) == expected, why


TEXTS = st.text(min_size=1, max_size=40) | st.sampled_from(
    ["$(id)", "`id`", "a'b", 'a"b', "a b", "a\\b", "a;b", "repo:a@1/b@2:ref:refs/heads/it's", "@file", "--help", "é"]
)


@given(subject=TEXTS, issuer=TEXTS, audience=TEXTS, client=st.just(CLIENT) | TEXTS)
def test_a_shell_reads_exactly_these_values(subject, issuer, audience, client):
    job = JobIdentity(subject=subject, issuer=issuer, audience=audience)
    if not job.fits:
        assert any(not text.isprintable() or text[0] in "@-" for text in (subject, issuer, audience))
        return
    words = shlex.split(format_identity_command(job))
    values = dict(zip(words[4::2], words[5::2], strict=True))
    assert (values["--subject"], values["--issuer"], values["--audiences"]) == (subject, issuer, audience)
    *start, client_id, flag, parameters = shlex.split(format_application_command(job, client))
    assert (start, flag) == (["az", "ad", "app", "federated-credential", "create", "--id"], "--parameters")
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9-]*", client_id), "a setting cannot add a flag either"
    assert json.loads(parameters) == {
        "name": values["--name"],
        "issuer": issuer,
        "subject": subject,
        "audiences": [audience],
    }
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{2,119}", values["--name"]), "as Azure names credentials"


def test_a_credential_for_another_subject_has_another_name():
    jobs = [JobIdentity(subject=subject, issuer="i", audience="a") for subject in ("a/b", "a:b", "A/b", "a" * 99, "-")]
    assert len({job.credential_name for job in jobs}) == len(jobs)


@pytest.mark.parametrize("subject", ["x" * 601, "a\nok  identity: fine", "@/etc/passwd", "-h", "\u202eabc"])
def test_no_command_has_a_subject_that_no_credential_can_have(subject):
    assert not JobIdentity(subject=subject, issuer="i", audience="a").fits
