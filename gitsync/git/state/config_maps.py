"""An exported config map as a file of the status tree: the object that ASO would create, for people and for git.

An annotation names its owner, so that another resource does not overwrite it
(docs/reference/reconciliation.md#export-ownership).
"""

from __future__ import annotations

from collections.abc import Mapping

from gitsync.git.state.fields import DocumentFields
from gitsync.git.state.paths import make_config_map_path
from gitsync.git.state.yaml_text import dump
from gitsync.model.export import OWNER, Address, Export, Holder, Owner
from gitsync.model.secret import Secret


def encode(export: Export) -> bytes:
    """The file of a config map: the same bytes for the same object."""
    metadata = {
        "annotations": dict(sorted({**export.annotations, OWNER: str(export.owner)}.items())),
        **({"labels": dict(sorted(export.labels.items()))} if export.labels else {}),
        "name": export.address.name,
        "namespace": export.address.namespace,
    }
    data = {key: value.reveal() for key, value in sorted(export.data.items())}
    return dump({"apiVersion": "v1", "data": data, "kind": str(Holder.CONFIG_MAP), "metadata": metadata})


def decode(path: str, content: bytes) -> Export:
    """Read a config map of the status tree. StateError (file, line, hint) for what `encode` did not write."""
    document = DocumentFields.read(path, content)
    metadata = document.within("metadata")
    address = Address(Holder.CONFIG_MAP, metadata.text("namespace"), metadata.text("name"))
    if make_config_map_path(address) != path:
        raise document.refusal("metadata", f"names {address}, whose file is {make_config_map_path(address)}")
    annotations = metadata.within("annotations")
    owner = _read_owner(annotations)
    others = {name: text for name, text in _read_texts(annotations).items() if name != OWNER}
    labels = _read_texts(metadata.within("labels")) if metadata.mapping("labels") else {}
    data = {key: Secret(value) for key, value in _read_texts(document.within("data")).items()}
    return Export(address=address, owner=owner, data=data, annotations=others, labels=labels)


def _read_owner(annotations: DocumentFields) -> Owner:
    text = annotations.text(OWNER)
    try:
        return Owner.parse(text)
    except ValueError:
        raise annotations.refusal(OWNER, "must be Kind.group/namespace/name") from None


def _read_texts(fields: DocumentFields) -> Mapping[str, str]:
    return {name: fields.text(name) for name in sorted(fields.values)}
