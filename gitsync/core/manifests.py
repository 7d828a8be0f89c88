"""Files into manifests: which documents are resources, which feed them, and which are not for gitsync.

Sorting only: how text becomes values is core/documents, who a document is core/metadata, what a resource may say is
validation. A document that cannot be read becomes a problem and does not stop the others.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from gitsync.core.credential_keys import CERTIFICATE
from gitsync.core.documents import Document, read_documents
from gitsync.core.fieldpath import spell
from gitsync.core.metadata import Header, is_object, read_header
from gitsync.model.export import Address, Holder
from gitsync.model.gvk import Key
from gitsync.model.manifests import Encrypted, Manifests
from gitsync.model.problem import Level, Problem, Source
from gitsync.model.resource import Resource
from gitsync.model.secret import Secret

SUFFIXES = (".yaml", ".yml", ".json")
GROUPS = ".azure.com"  # every group of ASO ends so: a group that is misspelt before it is a problem, not passed over

FOREIGN = frozenset(
    {
        "acn.azure.com",
        "clusterconfig.azure.com",
        "containerstorage.azure.com",
        "fleet.azure.com",
        "networking.fleet.azure.com",
        "karpenter.azure.com",
    }
)
"""Groups of other operators that end as ASO's do."""

MAX_LISTS = 10  # lists in lists
ENCRYPTED = "sops"  # the member that SOPS adds to a document it encrypts
CIPHERTEXT = re.compile(r"ENC\[AES256_GCM,")

MAPPING = "Write one key: value a line."
REFER = "Put them into a Secret, encrypt that one, and refer to it."
KEEP_ONE = "Keep one of them; until then the first counts."


def read_manifests(files: Mapping[str, bytes], *, namespace: str = "default") -> Manifests:
    """All that the files say, whatever their order. `files` maps a path inside the source to its content; only *.yaml,
    *.yml and *.json are read. `namespace` is that of documents which name none.

    What is encrypted with SOPS is kept as it stands: its values cannot be known here.
    """
    sorter = _Sorter(namespace)
    for path in sorted(files):
        if not path.endswith(SUFFIXES):
            continue
        contents = read_documents(path, files[path])
        sorter.problems.extend(contents.problems)
        for document in contents.documents:
            for single in _unlist(document, MAX_LISTS):
                sorter.add(single)
    return sorter.done()


def _unlist(document: Document, depth: int) -> Iterator[Document]:
    """A document, or where it is a list of documents, these."""
    value = document.value
    is_list = is_object(value) and value["kind"].endswith("List") and isinstance(value.get("items"), list)
    if not is_list or not depth:
        yield document
        return
    implied = {} if value["kind"] == "List" else {"apiVersion": value["apiVersion"], "kind": value["kind"][:-4]}
    implied |= {ENCRYPTED: value[ENCRYPTED]} if ENCRYPTED in value else {}
    for index, item in enumerate(value["items"]):
        if item is not None:
            yield from _unlist(_item(document, item, index, implied), depth - 1)


def _item(document: Document, item: Any, index: int, implied: Mapping[str, Any]) -> Document:
    """One item as a document of its own: what the list says for all need not be repeated in every item."""
    prefix = f"items[{index}]"
    lines = {p[len(prefix) :].lstrip("."): line for p, line in document.lines.items() if _is_below(p, prefix)}
    problems = tuple(
        replace(p, field=p.field[len(prefix) :].lstrip(".")) for p in document.problems if _is_below(p.field, prefix)
    )
    lines.setdefault("", document.line("items"))  # an item of an aliased list has no line of its own
    value = {**implied, **item} if isinstance(item, dict) else item
    return replace(document, value=value, lines=lines, problems=problems)


def _is_below(path: str, prefix: str) -> bool:
    return path.startswith(prefix) and path[len(prefix) : len(prefix) + 1] in {"", ".", "["}


@dataclass(slots=True)
class _Sorter:
    """Where documents go, by what they are. Mutable: it is filled document by document."""

    namespace: str
    resources: list[Resource] = field(default_factory=list)
    config_maps: dict[tuple[str, str], Mapping[str, str]] = field(default_factory=dict)
    secrets: dict[tuple[str, str], Mapping[str, Secret]] = field(default_factory=dict)
    encrypted: dict[Address, Document] = field(default_factory=dict)
    sealed: list[Document] = field(default_factory=list)
    namespaces: dict[str, Mapping[str, str]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    passed_over: int = 0

    def add(self, document: Document) -> None:
        value = document.value
        if value is None and not document.problems:
            return
        if isinstance(value, dict) and ENCRYPTED in value:
            self.sealed.append(document)
        take = TAKERS.get((value["apiVersion"], value["kind"])) if is_object(value) else None
        is_resource = take is None and is_object(value) and _is_aso(value["apiVersion"])
        if take is None and not is_resource:
            self.passed_over += 1
            return
        header = read_header(document, self.namespace)
        if isinstance(header, Problem):
            self.problems.extend([header, *document.problems])
        elif take:
            self.problems.extend([*document.problems, *header.problems])
            take(self, document, header)
        else:
            self.resource(document, header)

    def resource(self, document: Document, header: Header) -> None:
        gvk = header.gvk
        spec = document.value.get("spec")
        problems = [*document.problems, *header.problems]
        if spec is not None and not isinstance(spec, dict):
            problems.append(_problem(document, "InvalidSpec", "spec", "spec is not a mapping.", MAPPING))
        if ENCRYPTED in document.value and CIPHERTEXT.search(repr(spec)):
            message = "Values of spec are encrypted with SOPS; only those of Secrets and ConfigMaps are decrypted."
            problems.append(_problem(document, "EncryptedManifest", "spec", message, REFER))
        self.resources.append(
            Resource(
                key=Key(gvk.group, gvk.kind, header.namespace, header.name),
                gvk=gvk,
                spec=spec if isinstance(spec, dict) else {},
                source=Source(document.path, document.line("")),
                annotations=header.annotations,
                labels=header.labels,
                lines=document.lines,
                problems=tuple(sorted(problems, key=lambda p: p.order)),
            )
        )

    def config_map(self, document: Document, header: Header) -> None:
        if ENCRYPTED in document.value:
            self.keep_encrypted(document, header, Holder.CONFIG_MAP)
            return
        self.keep(self.config_maps, document, header, _texts(self, document, "data"))

    def secret(self, document: Document, header: Header) -> None:
        if ENCRYPTED in document.value:
            self.keep_encrypted(document, header, Holder.SECRET)
            return
        plain = {key: Secret(text) for key, text in _texts(self, document, "stringData").items()}
        self.keep(self.secrets, document, header, _decoded(self, document) | plain)

    def namespace_(self, document: Document, header: Header) -> None:
        name = header.name
        if name in self.namespaces:
            message = f"Namespace {name} stands twice."
            self.problems.append(_problem(document, "DuplicateManifest", "metadata.name", message, KEEP_ONE))
        self.namespaces.setdefault(name, header.annotations)

    def keep(
        self,
        kept: dict[tuple[str, str], Mapping[str, Any]],
        document: Document,
        header: Header,
        data: Mapping[str, Any],
    ) -> None:
        """Of two with one name the first is kept, and the second told."""
        if self.is_first(document, header):
            kept[header.namespace, header.name] = data

    def keep_encrypted(self, document: Document, header: Header, holder: Holder) -> None:
        if self.is_first(document, header):
            self.encrypted[Address(holder, header.namespace, header.name)] = document

    def is_first(self, document: Document, header: Header) -> bool:
        holder, place = Holder(header.gvk.kind), (header.namespace, header.name)
        plain = self.secrets if holder is Holder.SECRET else self.config_maps
        if place not in plain and Address(holder, *place) not in self.encrypted:
            return True
        message = f"{header.gvk.kind} {header.namespace}/{header.name} stands twice."
        self.problems.append(_problem(document, "DuplicateManifest", "metadata.name", message, KEEP_ONE))
        return False

    def done(self) -> Manifests:
        texts = _sealed_at_once(self.sealed)
        return Manifests(
            resources=tuple(sorted(self.resources, key=lambda r: (r.key, r.gvk.version, r.source))),
            config_maps=self.config_maps,
            secrets=self.secrets,
            encrypted={
                address: Encrypted(
                    source=Source(one.path, one.line("")), text=texts[_seal(one)], values=_as_they_stand(one)
                )
                for address, one in self.encrypted.items()
            },
            namespaces=self.namespaces,
            problems=tuple(sorted(self.problems, key=lambda p: p.order)),
            passed_over=self.passed_over,
        )


TAKERS: Mapping[tuple[str, str], Callable[[_Sorter, Document, Header], None]] = {
    ("v1", "ConfigMap"): _Sorter.config_map,
    ("v1", "Secret"): _Sorter.secret,
    ("v1", "Namespace"): _Sorter.namespace_,
}


def _sealed_at_once(documents: Iterable[Document]) -> Mapping[tuple[str, int], bytes]:
    """The texts that belong together, by their seal, each joined once however many documents share it.

    SOPS seals a file of several documents as a whole, and writes the same member `sops` into each of them.
    """
    spelled: dict[tuple[str, int], str] = {}
    texts: dict[tuple[str, str], dict[bytes, None]] = {}
    for one in documents:
        if _seal(one) not in spelled:  # items of a list have one seal, and one text
            spelled[_seal(one)] = json.dumps(one.value[ENCRYPTED], sort_keys=True)
        texts.setdefault((one.path, spelled[_seal(one)]), {})[one.text] = None
    joined = {group: b"".join(together) for group, together in texts.items()}
    return {seal: joined[seal[0], said] for seal, said in spelled.items()}


def _seal(document: Document) -> tuple[str, int]:
    return document.path, id(document.value[ENCRYPTED])


def _is_aso(api_version: str) -> bool:
    group = api_version.rpartition("/")[0].casefold()
    return group.endswith(GROUPS) and group not in FOREIGN


def _as_they_stand(document: Document) -> dict[str, str]:
    """The values of an encrypted object, of which nothing more is known than whether they differ."""
    members = [document.value.get(member) for member in ("data", "stringData")]
    found = [pair for member in members if isinstance(member, dict) for pair in member.items()]
    return {key: value for key, value in found if isinstance(value, str)}


def _texts(sorter: _Sorter, document: Document, member: str) -> dict[str, str]:
    """A mapping of text, as the data of a ConfigMap must be. What is not text is told, without showing it."""
    found = document.value.get(member)
    if found is None:
        return {}
    if not isinstance(found, dict):
        sorter.problems.append(_problem(document, "InvalidData", member, f"{member} is not a mapping.", MAPPING))
        return {}
    for key in [key for key, value in found.items() if not isinstance(value, str)]:
        message = f"The value of {key} under {member} is not text."
        sorter.problems.append(_problem(document, "InvalidData", spell((member, key)), message, "Put it in quotes."))
    return {key: value for key, value in found.items() if isinstance(value, str)}


def _decoded(sorter: _Sorter, document: Document) -> dict[str, Secret]:
    """The base64 data of a Secret. A value that is not text (a certificate in DER) is left out: a body is JSON."""
    made = {}
    for key, text in _texts(sorter, document, "data").items():
        try:
            made[key] = Secret(base64.b64decode("".join(text.split()), validate=True).decode())
        except binascii.Error:
            hint = "Encode it, or write it under stringData as it is."
            message = f"The value of {key} under data is not base64."
            sorter.problems.append(_problem(document, "InvalidData", spell(("data", key)), message, hint))
        except UnicodeDecodeError:
            if key == CERTIFICATE:  # of a credential, in PKCS#12, which is taken in base64
                made[key] = Secret("".join(text.split()))
                continue
            message = f"The value of {key} under data is not text in UTF-8; no resource can take it."
            hint = "Nothing is wrong as long as no manifest refers to it."
            problem = _problem(document, "BinarySecret", spell(("data", key)), message, hint)
            sorter.problems.append(replace(problem, level=Level.WARNING))
    return made


def _problem(document: Document, code: str, field_: str, message: str, hint: str) -> Problem:
    line = document.line(field_)
    return Problem(code=code, message=message, hint=hint, path=document.path, line=line, field=field_)
