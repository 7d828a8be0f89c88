"""Pack the fields that Azure fixes when it creates a resource into gitsync/desired/catalog/data/immutable_fields.tsv.

usage: build_immutable_fields.py PACKAGES [--file FILE]

PACKAGES is a folder with unpacked packages azure-mgmt-* of Python (`pip download --no-deps`, then unzip), whose models
Microsoft generates from the descriptions of its APIs. A field is packed if its model

- has the visibility read and create, without update (`create-only`), or
- has a description that it cannot change after the create (`described`),

and if a kind of the catalog can set it. Fields inside lists and maps are left out: their entries may be replaced. So is
a field of which the description names conditions, and one of CHANGEABLE. REFUSED adds fields that Azure has refused by
name, as public reports of users show (`refused`), and OTHERS those that are not ARM's. The same input gives the same
bytes.

Each line has the ARM type, the JSON pointer of the field, and what shows that it is fixed. `/location` is not in the
table: it is fixed for every type.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from build_catalog import DATA

from gitsync.desired.catalog.arm_fields import find_misfit
from gitsync.desired.catalog.catalog import Catalog, open_catalog
from gitsync.desired.formats.json_pointer import format_pointer
from gitsync.model.arm_id import ArmId
from gitsync.model.gvk import GVK

FIXED = re.compile(
    r"(?:this|the) (?:property|field|value)?\s*(?:cannot|can not|may not) be (?:changed|updated|modified)"
    r"(?: once| after) (?!.*\bunless\b)"
    r"|may not be changed after creation"
    r"|creationdata information cannot be changed"
    r"|can only be set at .{0,40}creation"
    r"|this cannot be updated once",
    re.IGNORECASE,
)
"""Descriptions that leave no way to change a field."""

REFUSED = {
    "Microsoft.Authorization/roleAssignments": ["principalId", "roleDefinitionId"],
    "Microsoft.Compute/virtualMachines": ["osProfile/customData", "osProfile/computerName", "osProfile/adminUsername"],
    "Microsoft.ContainerService/managedClusters/agentPools": ["vmSize", "osDiskSizeGB"],
    "Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers": ["resource/partitionKey"],
    "Microsoft.DocumentDB/databaseAccounts/sqlRoleAssignments": ["principalId", "scope"],
}
"""Fields below `properties`, by ARM type. Reports: https://github.com/hashicorp/terraform-provider-azurerm,
https://github.com/MicrosoftDocs/azure-docs/issues/47422; of assignments of roles
https://learn.microsoft.com/azure/role-based-access-control/troubleshooting (RoleAssignmentUpdateNotPermitted) and
https://github.com/pulumi/pulumi-azure-native/pull/3711.
"""

OTHERS = {
    ("Microsoft.DBforMySQL/flexibleServers/users", "aadUser/alias"): "aso",
    ("Microsoft.Graph/appRoleAssignments", "principalId"): "described",
    ("Microsoft.Graph/appRoleAssignments", "resourceId"): "described",
    ("Microsoft.Graph/appRoleAssignments", "role"): "described",
    ("Microsoft.Graph/groups", "isAssignableToRole"): "described",
    ("Microsoft.Graph/groups", "membershipType"): "described",
    ("Microsoft.Graph/servicePrincipals", "appId"): "aso",
}
"""Fields of kinds that are not ARM's, which a webhook of ASO fixes (`aso`), or the documentation of Microsoft Graph."""

CHANGEABLE = {
    ("microsoft.app/managedenvironments", "/properties/customDomainConfiguration"): "the CLI changes the suffix",
    ("microsoft.containerservice/managedclusters", "/properties/networkProfile/outboundType"): "can be migrated",
    ("microsoft.dbforpostgresql/flexibleservers", "/properties/availabilityZone"): "a failover swaps it",
    ("microsoft.operationalinsights/workspaces", "/properties/replication"): "can be disabled and enabled again",
    ("microsoft.sql/servers", "/properties/administrators"): "ignored after the create",
    ("microsoft.sql/servers", "/properties/createMode"): "ignored after the create",
    ("microsoft.sql/servers/databases", "/identity"): "can be assigned at any time",
    ("microsoft.web/sites", "/properties/siteConfig"): "part of a configuration that is written again",
    ("microsoft.web/sites/sourcecontrols", "/properties"): "can be connected again",
}
"""What the packages call fixed and Azure changes anyway, with the reason: a field and all below it."""

Path_ = tuple[str, ...]


@dataclass
class Model:
    """A class of a package: the models that it inherits from, and its fields with their type and evidence."""

    bases: list[str]
    fields: dict[str, tuple[str, str]] = field(default_factory=dict)


def read_models(file: Path) -> dict[str, Model]:
    """The models of a package by name."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {node.name: _read_model(node) for node in tree.body if isinstance(node, ast.ClassDef)}


def _read_model(node: ast.ClassDef) -> Model:
    model = Model([ast.unparse(base).rpartition(".")[2] for base in node.bases])
    for location, statement in enumerate(node.body):
        if not (isinstance(statement, ast.AnnAssign) and isinstance(statement.value, ast.Call)):
            continue
        call, after = statement.value, node.body[location + 1 : location + 2]
        options = {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords if _is_plain(keyword)}
        name = options.get("name", ast.unparse(statement.target))
        model.fields[name] = (_find_model_name(statement.annotation), _evaluate(options.get("visibility"), after))
    return model


def _is_plain(keyword: ast.keyword) -> bool:
    return keyword.arg in {"name", "visibility"}


def _find_model_name(annotation: ast.expr) -> str:
    """The model that a field holds; "" for a list, a map, a union or a plain value."""
    text = ast.unparse(annotation)
    names = re.findall(r"_models\.(\w+)", text)
    return names[0] if len(names) == 1 and not re.search(r"\b(list|dict|Union)\[", text, re.IGNORECASE) else ""


def _evaluate(visibility: list[str] | None, after: list[ast.stmt]) -> str:
    """What shows that a field is fixed; "" if nothing does."""
    if visibility and set(visibility) == {"read", "create"}:
        return "create-only"
    described = after and isinstance(after[0], ast.Expr) and isinstance(after[0].value, ast.Constant)
    text = " ".join(str(after[0].value.value).split()) if described else ""  # type: ignore[attr-defined]  # checked above
    return "described" if FIXED.search(text) else ""


def read_puts(folder: Path) -> Iterator[tuple[str, str]]:
    """The ARM types that the operations of a package put, each with the model of its body."""
    for file in sorted(folder.glob("_operations*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        urls = {node.name: url for node in tree.body if isinstance(node, ast.FunctionDef) and (url := _find_put(node))}
        for group in (node for node in tree.body if isinstance(node, ast.ClassDef)):
            yield from _read_group(group, urls)


def _find_put(builder: ast.FunctionDef) -> str:
    """The URL of a builder of PUT requests; "" for another."""
    text = ast.unparse(builder)
    url = re.search(r"_url = '([^']+)'", text)
    return url[1] if url and "method='PUT'" in text else ""


def _read_group(group: ast.ClassDef, urls: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    methods = [node for node in group.body if isinstance(node, ast.FunctionDef)]
    for method in methods:
        names = {ast.unparse(node.func) for node in ast.walk(method) if isinstance(node, ast.Call)}
        for url in (urls[name] for name in sorted(names) if name in urls):
            words = method.name.removeprefix("_").removesuffix("_initial")
            bodies = (_find_body(method) for method in methods if method.name in {words, f"begin_{words}"})
            if body := next(filter(None, bodies), ""):
                yield ArmId(url).arm_type, body


def _find_body(method: ast.FunctionDef) -> str:
    annotations = (ast.unparse(argument.annotation) for argument in method.args.args if argument.annotation)
    return next((text.removeprefix("_models.") for text in annotations if text.startswith("_models.")), "")


def walk_model(name: str, models: Mapping[str, Model], path: Path_ = ()) -> Iterator[tuple[Path_, str]]:
    """The fixed fields of a model by their path, each with its evidence; nothing below a field that is fixed."""
    model = models.get(name)
    if model is None or len(path) > 8:
        return
    for base in model.bases:
        yield from walk_model(base, models, path)
    for step, (inner, evidence) in model.fields.items():
        if evidence:
            yield (*path, step), evidence
        elif inner:
            yield from walk_model(inner, models, (*path, step))


def has_field(arm_type: str, path: Path_, catalog: Catalog) -> bool:
    """Return whether a manifest can set the field, at any version."""
    group_kind = catalog.group_kind_of(arm_type)
    kinds = (
        [catalog.kind(GVK(group_kind[0], version, group_kind[1])) for version in catalog.versions(*group_kind)]
        if group_kind
        else []
    )
    return any(find_misfit(kind, path, any_step="*", chooses=lambda _step: False) is None for kind in kinds if kind)


def is_changeable(arm_type: str, pointer: str) -> bool:
    return any(arm_type == other and f"{pointer}/".startswith(f"{field_above}/") for other, field_above in CHANGEABLE)


def collect(packages: Path, catalog: Catalog) -> Iterator[tuple[str, str, str]]:
    """All rows of the table, unsorted."""
    for file in sorted(packages.rglob("models/_models.py")):
        models = read_models(file)
        for arm_type, body in read_puts(file.parent.parent / "operations"):
            for path, evidence in walk_model(body, models):
                row = arm_type.casefold(), format_pointer(path), evidence
                if path != ("location",) and has_field(arm_type, path, catalog) and not is_changeable(*row[:2]):
                    yield row
    yield from collect_refused(catalog)


def collect_refused(catalog: Catalog) -> Iterator[tuple[str, str, str]]:
    """The rows that no package shows."""
    for arm_type, fields in REFUSED.items():
        for words in fields:
            path = ("properties", *words.split("/"))
            if not has_field(arm_type, path, catalog):
                raise SystemExit(f"The catalog has no {words} in {arm_type}.")
            yield arm_type.casefold(), format_pointer(path), "refused"
    yield from ((arm_type.casefold(), f"/{words}", evidence) for (arm_type, words), evidence in OTHERS.items())


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("packages", type=Path)
    parser.add_argument("--file", type=Path, default=DATA / "immutable_fields.tsv")
    options = parser.parse_args(arguments)
    rows = {(arm_type, pointer): evidence for arm_type, pointer, evidence in collect(options.packages, open_catalog())}
    lines = (f"{arm_type}\t{pointer}\t{evidence}\n" for (arm_type, pointer), evidence in sorted(rows.items()))
    options.file.write_text("".join(lines), encoding="utf-8")
    print(f"{len(rows)} fields of {len({arm_type for arm_type, _ in rows})} types.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
