"""Jobs of each host, as gitsync sees them: their variables, and the token that they get."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.support.arm_rig import jwt
from tests.support.scripted_server import Say, ScriptedServer

GITHUB = "https://token.actions.githubusercontent.com"
GITLAB = "https://gitlab.example.com"
DEVOPS = "https://vstoken.dev.azure.com/1a2b"
CLUSTER = "https://westeurope.oic.prod-aks.azure.com/1/2/"
AUDIENCE = "api://AzureADTokenExchange"
NEVER = 4102444800  # the year 2100, in seconds since 1970

OLD = "repo:contoso/web:environment:production"
NEW = "repo:contoso@1234567/web@987654321:environment:production"


@dataclass(frozen=True)
class Job:
    """What a host vouches for."""

    host: str
    subject: str
    issuer: str
    audience: object = AUDIENCE
    expires: float = NEVER

    @property
    def token(self) -> str:
        return jwt(sub=self.subject, iss=self.issuer, aud=self.audience, exp=self.expires, jti="not to be shown")

    def open(self, server: ScriptedServer, folder: Path) -> Mapping[str, str]:
        """Serve or write the token as the host does; the variables of the job."""
        return _HOSTS[self.host](self, server, folder)


def _open_github(job: Job, server: ScriptedServer, _folder: Path) -> Mapping[str, str]:
    server.on("GET", "/github", Say(200, {"value": job.token}))
    variables = {
        "ACTIONS_ID_TOKEN_REQUEST_URL": f"{server.url}/github",
        "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "of-the-job-alone",
    }
    return {"GITHUB_ACTIONS": "true", **variables}


def _open_devops(job: Job, server: ScriptedServer, _folder: Path) -> Mapping[str, str]:
    server.on("POST", "/devops", Say(200, {"oidcToken": job.token}))
    variables = {"SYSTEM_OIDCREQUESTURI": f"{server.url}/devops", "SYSTEM_ACCESSTOKEN": "of-the-job-alone"}
    return {"TF_BUILD": "True", **variables, "AZURESUBSCRIPTION_SERVICE_CONNECTION_ID": "connection-1"}


def _write_file(variables: Mapping[str, str]) -> Callable[[Job, ScriptedServer, Path], Mapping[str, str]]:
    def write(job: Job, _server: ScriptedServer, folder: Path) -> Mapping[str, str]:
        (folder / "job-token").write_text(f"{job.token}\n" if "GITLAB_CI" in variables else job.token)
        return {**variables, "AZURE_FEDERATED_TOKEN_FILE": str(folder / "job-token")}

    return write


_HOSTS: Mapping[str, Callable[[Job, ScriptedServer, Path], Mapping[str, str]]] = {
    "github": _open_github,
    "azure pipelines": _open_devops,
    "gitlab": _write_file({"GITLAB_CI": "true"}),
    "kubernetes": _write_file({"KUBERNETES_SERVICE_HOST": "10.0.0.1"}),
}

JOBS = (
    Job("github", OLD, GITHUB),
    Job("github", NEW, GITHUB),
    Job("gitlab", "project_path:contoso/web:ref_type:branch:ref:main", GITLAB),
    Job("azure pipelines", "sc://contoso/web/azure", DEVOPS),
    Job("azure pipelines", "/eid1/c/pub/t/abc/a/def/sc/1/2", "https://login.microsoftonline.com/1/v2.0"),
    Job("kubernetes", "system:serviceaccount:gitsync:gitsync", CLUSTER, [AUDIENCE]),
)
