"""A made-up kind and its manifests, for tests of expressions."""

from gitsync.model.facts import Kind, Scope
from gitsync.model.gvk import GVK, Key
from gitsync.model.problem import SourceLocation
from gitsync.model.resource import Resource

TEXT = {"type": "string"}
TYPES = {
    "Lamp_Spec": {
        "fields": {
            "azureName": {"type": "string", "meta": True},
            "owner": {"type": "knownOwner", "meta": True},
            "location": TEXT,
            "colour": {"type": {"enum": ["Red", "Green"], "base": "string"}},
            "tags": {"type": {"map": "string"}},
            "settings": {"type": {"map": "any"}},
            "free": {"type": "any"},
            "key": {"type": "secretReference"},
            "max-power": {"type": "integer"},
            "in": TEXT,
            "a__b/c.d": TEXT,
            "operatorSpec": {"type": {"ref": "LampOperatorSpec"}, "meta": True},
        }
    },
    "LampOperatorSpec": {
        "fields": {
            "secrets": {"type": {"ref": "LampSecrets"}},
            "secretExpressions": {"type": {"list": "destinationExpression"}},
            "configMapExpressions": {"type": {"list": "destinationExpression"}},
        }
    },
    "LampSecrets": {
        "fields": {"primaryKey": {"type": "secretDestination"}, "secondaryKey": {"type": "secretDestination"}}
    },
    "Lamp_STATUS": {
        "fields": {
            "id": TEXT,
            "principalId": TEXT,
            "port": {"type": "integer"},
            "brightness": {"type": "number"},
            "isOn": {"type": "boolean"},
            "bulbs": {"type": {"list": {"ref": "Bulb_STATUS"}}},
            "socket": {"type": {"ref": "Bulb_STATUS"}},
            "rooms": {"type": {"map": {"ref": "Bulb_STATUS"}}},
            "conditions": {"type": {"list": "condition"}, "meta": True},
        }
    },
    "Bulb_STATUS": {"fields": {"name": TEXT, "watts": {"type": "integer"}, "inner": {"type": {"ref": "Bulb_STATUS"}}}},
}


def lamp_kind(version="v20240101", **status):
    """The kind; its status may have more fields."""
    fields = {**TYPES["Lamp_STATUS"]["fields"], **status}
    return Kind(
        gvk=GVK("light.azure.com", version, "Lamp"),
        arm_type="Microsoft.Light/lamps",
        api_version="2024-01-01",
        scope=Scope.RESOURCE_GROUP,
        operations=frozenset({"Get", "Put", "Delete"}),
        owner=("resources.azure.com", "ResourceGroup"),
        any_owner=False,
        fixed_azure_name=None,
        azure_name={},
        spec="Lamp_Spec",
        status="Lamp_STATUS",
        config_maps={},
        types={**TYPES, "Lamp_STATUS": {"fields": fields}},
        legacy=False,
    )


LAMP = lamp_kind()


def lamp(spec=None, **more):
    """A manifest of the kind."""
    return Resource(
        key=Key("light.azure.com", "Lamp", "default", "desk"),
        gvk=LAMP.gvk,
        spec=spec or {},
        source=SourceLocation("lamp.yaml", 1),
        **more,
    )


def exporting(secrets=(), config_maps=(), **more):
    """A manifest with these expressions."""
    said = {"secretExpressions": list(secrets), "configMapExpressions": list(config_maps)}
    return lamp({"operatorSpec": {field: rows for field, rows in said.items() if rows}}, **more)
