"""Terraform states in both of their forms, from lines of addresses and ids."""

import json

REGISTRY = "registry.terraform.io"


def resource(type_name, name, *instances, module="", mode="managed", registry=REGISTRY):
    """A resource of a state file. An instance is an id, attributes, or a pair of a key and either."""
    entry = {
        "mode": mode,
        "type": type_name,
        "name": name,
        "provider": f'provider["{registry}/hashicorp/{type_name.partition("_")[0]}"]',
        "instances": [_make_instance(instance) for instance in instances],
    }
    return {"module": module, **entry} if module else entry


def _make_instance(instance):
    key, values = instance if isinstance(instance, tuple) else (None, instance)
    attributes = {"id": values} if isinstance(values, str) else values
    return {"schema_version": 0, "attributes": attributes} | ({} if key is None else {"index_key": key})


def state(*resources, **more):
    """A state file of version 4."""
    document = {"version": 4, "terraform_version": "1.9.0", "serial": 7, "lineage": "l", "outputs": {}}
    return json.dumps({**document, "resources": resources, **more}).encode()


def shown(*resources):
    """What `terraform show -json` prints of the same resources."""
    root = {"resources": [], "child_modules": []}
    for entry in resources:
        module = entry.get("module", "")
        parent = root
        if module:
            parent = {"address": module, "resources": []}
            root["child_modules"].append(parent)
        for instance in entry["instances"]:
            parent["resources"].append(
                {
                    "address": "not read",
                    "mode": entry["mode"],
                    "type": entry["type"],
                    "name": entry["name"],
                    "provider_name": entry["provider"][len('provider["') : -2],
                    "values": instance["attributes"],
                    "sensitive_values": {},
                }
                | ({"index": instance["index_key"]} if "index_key" in instance else {})
            )
    document = {"format_version": "1.0", "terraform_version": "1.9.0", "values": {"outputs": {}, "root_module": root}}
    return json.dumps(document).encode()
