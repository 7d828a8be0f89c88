"""documentdb.azure.com: what must stand still before a write (docs/reference/kinds.md#state-checks), what refusals mean
(docs/reference/kinds.md#error-overrides), and the keys of an account (docs/reference/kinds.md#secret-fields).
"""

from __future__ import annotations

from gitsync.extensions.api import Extension, Extensions
from gitsync.extensions.factories.error_rules import ErrorRule, make_classifiers
from gitsync.extensions.factories.secret_actions import Keys, SecretAction, StatusFields, make_exporters
from gitsync.extensions.factories.state_checks import OwnerState, OwnState, allow_exactly, allow_except
from gitsync.extensions.factories.value_paths import At, map_same_names
from gitsync.planning.status.error_classes import Classification

GROUP = "documentdb.azure.com"

# With case, and no other settled state, as ASO's own check intends it
_CASSANDRA_CLUSTER = OwnerState(
    'Owning CassandraCluster is in provisioning state "{state}"', allows=allow_exactly("Succeeded")
)
_ACCOUNT = OwnState("reconcile blocked while account is at status deleting", allows=allow_except("deleting"))

_KEYS = SecretAction(
    "/listKeys",
    "2021-10-15",
    map_same_names("primaryMasterKey primaryReadonlyMasterKey secondaryMasterKey secondaryReadonlyMasterKey"),
)
_ENDPOINT = StatusFields({"documentEndpoint": At("properties/documentEndpoint")})

EXTENSIONS: Extensions = (
    Extension(group=GROUP, kind="CassandraDataCenter", owner_check=_CASSANDRA_CLUSTER),
    Extension(group=GROUP, kind="DatabaseAccount", pre_check=_ACCOUNT),
    *make_exporters(GROUP, {"DatabaseAccount": Keys(_KEYS, _ENDPOINT)}),
    *make_classifiers(
        GROUP,
        (
            ErrorRule(kind="CassandraCluster", code="BadRequest", says=("service principal",)),
            # Another try would only replace this message with a misleading one.
            ErrorRule(
                kind="DatabaseAccount",
                code="ServiceUnavailable",
                says=("currently experiencing high demand",),
                becomes=Classification.FATAL,
            ),
            ErrorRule(kind="MongodbDatabase", code="BadRequest"),
            ErrorRule(kind="SqlDatabase", code="BadRequest"),
            ErrorRule(kind="SqlRoleAssignment", code="BadRequest", says=("was not found in the AAD tenant",)),
        ),
    ),
)
