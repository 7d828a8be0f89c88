"""Manifests that may adopt the same Entra ID object, by the tenant that their credentials have."""

import pytest

from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.manifests.reader import read_manifests
from gitsync.desired.request.build import prepare
from gitsync.desired.request.credential_choice import Credential

GROUP = """\
apiVersion: entra.azure.com/v1
kind: SecurityGroup
metadata: {{name: operators, namespace: {namespace}}}
spec: {{displayName: Operators, mailNickname: operators, membershipType: assigned}}
"""


@pytest.mark.parametrize(
    ("subscriptions", "number", "why"),
    [
        ({"one": "1", "two": "1"}, 1, "a subscription has one tenant"),
        ({"one": "1", "two": "2"}, 0, "two may have two"),
        ({"one": "", "two": ""}, 0, "credentials that are not known may be those of two tenants"),
    ],
)
def test_a_name_counts_in_its_tenant(subscriptions, number, why):
    files = {f"{namespace}.yaml": GROUP.format(namespace=namespace).encode() for namespace in subscriptions}
    prepared = prepare(
        read_manifests(files),
        catalog=open_catalog(),
        subscription=lambda resource: Credential(subscription=subscriptions[resource.key.namespace]),
    )
    found = [problem.code for resource in prepared for problem in resource.problems]
    assert found.count("MayAdoptTheSame") == number, why
