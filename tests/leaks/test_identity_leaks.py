"""No output and no record of a run that refuses an identity has a secret of its Secret, or a control character of it."""

from __future__ import annotations

import pytest

from gitsync.model.allowed_identities import AllowedIdentities, IdentityMode
from gitsync.report import json as json_report
from gitsync.report import junit, markdown, sarif, text
from gitsync.report.html import page
from tests.agent.run.tenants import Tenants, secret
from tests.agent.run.test_rehearsal import rehearse
from tests.leaks.hunting import Hunt, files
from tests.support.world import GROUP, SUBSCRIPTION

HUNT = Hunt(password="cl1ent-secret-marked-value", certificate="PKCS12-marked-of-the-certificate")
SECRET = secret(
    "other",
    AZURE_CLIENT_SECRET="cl1ent-secret-marked-value",
    AZURE_CLIENT_CERTIFICATE="PKCS12-marked-of-the-certificate",
    AZURE_RESOURCE_MANAGER_ENDPOINT=f"https://x\\u001b[2J\\n::error::{'y' * 5000}",
    AZURE_RESOURCE_MANAGER_AUDIENCE="https://x",
    AZURE_AUTHORITY_HOST="https://x",
)
FORMS = {
    "text": text.render,
    "markdown": markdown.render,
    "page": page.render,
    "json": json_report.render,
    "sarif": sarif.render,
    "junit": junit.render,
}


@pytest.mark.parametrize("mode", IdentityMode)
def test_no_form_of_a_report_has_the_secret(tmp_path, mode: IdentityMode):
    world = Tenants(tmp_path, "other").says(group=GROUP).says(group=GROUP, own=SECRET)
    settings = {
        "allow_identities": AllowedIdentities(name="list.yaml", mode=mode),
        "allow_multi_env_management": True,
    }
    offline = rehearse(world, subscription=SUBSCRIPTION, **settings)
    for report in (offline, world.plan(**settings), world.sync(**settings)):
        shown = {name: render(report) for name, render in FORMS.items()}
        assert HUNT.everywhere(shown) == {}
        assert all("\x1b" not in output and "\n::error::" not in output for output in shown.values())
        assert any(problem.code == "IdentityNotAllowed" for problem in report.problems)
        assert all(len(problem.message) < 1000 for problem in report.problems if problem.code == "IdentityNotAllowed")
    assert HUNT.everywhere(files(world.state)) == {}
