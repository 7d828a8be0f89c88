"""Values that look like secrets in fields of plain text: which do, which do not, and what is offered."""

import base64

import pytest
import yaml

from gitsync.workflows.imports.conversion.imported_manifests import ManifestStyle, format_manifests, make_manifests
from gitsync.workflows.imports.plain_secrets import mark_plain_secrets
from tests.workflows.imports.found import at, find

APP, GROUP = "Microsoft.App/containerApps", "Microsoft.ContainerInstance/containerGroups"
MACHINE, SITE = "Microsoft.Compute/virtualMachines", "Microsoft.Web/sites"
KEY = "Zm9vYmFyYmF6cXV4Q29ycmVjdEhvcnNlQmF0dGVyeVN0YXBsZTEyMzQ1Njc4OTA+/A=="
HEX = "0123456789abcdef0123456789abcdef"


def mark(arm_type, properties):
    (manifest,) = make_manifests(
        [find(at(f"{arm_type}/web"), location="westeurope", properties=properties)],
        ManifestStyle(existing={}, namespace="default"),
    )
    return mark_plain_secrets(manifest)


def mark_variable(name, value):
    entry = {"name": name, "value": value}
    return mark(APP, {"template": {"containers": [{"name": "web", "image": "i", "env": [entry]}]}}).plain_secrets


def encode(text):
    return base64.b64encode(text).decode()


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("DB_PASSWORD", "hunter2", "a name with an underscore"),
        ("dbPassword", "hunter2", "in camel case"),
        ("PGPASSWORD", "hunter2", "in one word"),
        ("API_KEY", HEX, "a key that nothing but its name shows"),
        ("SAS", "sv=2024", "a word that is the end of others"),
        ("ConnectionStrings__Main", "Server=x;User=y", "as .NET names it"),
        ("DATABASE", "postgres://boss:hunter2@db/orders", "a password in a URL"),
        ("CACHE", "shop:6380,password=hunter2==,ssl=True", "a connection string"),
        ("STORAGE", f"DefaultEndpointsProtocol=https;AccountName=a;AccountKey={KEY}", "of a storage account"),
        ("BLOB", "https://a.blob.core.windows.net/b?sv=2024&sig=abcdefgh", "a URL with a signature"),
        ("MAGIC", KEY, "what a machine made"),
        ("PEM", "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", "a private key"),
        ("AUTH", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl", "a token"),
    ],
)
def test_what_looks_like_a_secret(name, value, why):
    assert [(finding.field, finding.value.reveal()) for finding in mark_variable(name, value)] == [
        ("spec.template.containers[0].env[0].value", value)
    ], why


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("LEVEL", "information", "a word"),
        ("BYPASS", "AzureServices", "the end of a word is no word"),
        ("PASSWORD_FILE", "/run/secrets/password", "the name of a file"),
        ("SECRET_NAME", "orders", "the name of a secret"),
        ("TOKEN_URL", "https://login.example.com/token", "a URL"),
        ("CLIENT_SECRET", "@Microsoft.KeyVault(SecretUri=https://v/secrets/password)", "a reference"),
        ("DATABASE", "postgres://boss:${PASSWORD}@db/orders", "a variable in place of the password"),
        ("USE_PASSWORD", "false", "a switch"),
        ("PUBLIC_KEY", KEY, "a public key"),
        ("ROOT_CERT", KEY, "a certificate"),
        ("IMAGE_DIGEST", KEY, "a digest"),
        ("SUBNET", "/subscriptions/0/resourceGroups/Shop1/providers/Microsoft.Network/x", "an id"),
        ("IMAGE", f"contoso.azurecr.io/shop@sha256:{HEX}{HEX}", "an image"),
        ("ID", "0a1B2c3D-1111-4222-8333-444455556666", "a UUID"),
    ],
)
def test_what_does_not(name, value, why):
    assert mark_variable(name, value) == (), why


@pytest.mark.parametrize(
    ("content", "is_marked", "why"),
    [
        (b"#cloud-config\nwrite_files:\n- content: password=hunter2\n", True, "a password in it"),
        (b"#cloud-config\npackages: [nginx]\n", False, "nothing in it"),
        (b"\x1f\x8b\x08\x00\xff\xfe", True, "compressed: nobody can tell"),
    ],
)
def test_user_data_is_looked_into(content, is_marked, why):
    marked = mark(MACHINE, {"userData": encode(content)}).plain_secrets
    assert [finding.field for finding in marked] == ["spec.userData"] * is_marked, why


@pytest.mark.parametrize(
    ("arm_type", "properties", "way", "why"),
    [
        (
            APP,
            {"template": {"containers": [{"name": "c", "env": [{"name": "DB_PASSWORD", "value": "hunter2"}]}]}},
            (
                "add {name: db-password, value: {name: web-containerapp, key: DB_PASSWORD}} to spec.configuration.secrets, "
                "and write secretRef: db-password in its place"
            ),
            "the app has secrets of its own",
        ),
        (
            GROUP,
            {
                "osType": "Linux",
                "containers": [
                    {
                        "name": "c",
                        "properties": {
                            "environmentVariables": [{"name": "API_KEY", "value": HEX}],
                            "image": "shop",
                            "resources": {"requests": {"cpu": 1, "memoryInGB": 1}},
                        },
                    }
                ],
            },
            "write secureValue: {name: web-containergroup, key: API_KEY} in its place",
            "a field beside it takes a Secret",
        ),
        (
            SITE,
            {"siteConfig": {"connectionStrings": [{"name": "db", "connectionString": "Server=x"}]}},
            (
                "write the variable siteConfig_connectionStrings_0_connectionString in its place, and take it from Secret "
                "web-site with substituteFrom"
            ),
            "no field takes a Secret",
        ),
    ],
)
def test_what_is_offered(arm_type, properties, way, why):
    assert [member.way for member in mark(arm_type, properties).plain_secrets] == [way], why


def test_a_file_marks_them_in_comments_that_nothing_leads_out_of():
    manifest = mark(SITE, {"siteConfig": {"appSettings": [{"name": "API_KEY", "value": HEX}]}})
    text = format_manifests([manifest, mark(MACHINE, {})]).decode()
    assert text.startswith("# spec.siteConfig.appSettings[0].value looks like a secret: write the variable API_KEY in")
    first, _ = yaml.safe_load_all(text)
    assert first == manifest.document

    (resource,) = [find(at(f"{SITE}/web"), location="westeurope", tags={"a\nkind: x\npassword": "hunter2"})]
    (tagged,) = make_manifests([resource], ManifestStyle(existing={}, namespace="default"))
    text = format_manifests([mark_plain_secrets(tagged)]).decode()
    assert text.startswith(r'# spec.tags["a\nkind: x\npassword"] looks like a secret')
    assert yaml.safe_load(text) == tagged.document
