"""The content of a source's files: resources, the other documents that resources use, and a count of all documents."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from gitsync.model.arm_id import ArmId
from gitsync.model.export import Address
from gitsync.model.gvk import GVK, Key
from gitsync.model.problem import Problem, SourceLocation
from gitsync.model.resource import Resource
from gitsync.model.secret import Secret
from gitsync.model.written_rules import NO_RULES, RuleEntries

WITHOUT_KIND = "without a kind"
INVALID_KIND = "of an invalid kind"

_TITLE = re.compile(r"[A-Za-z][A-Za-z0-9]{0,62}(\.[a-z0-9][-.a-z0-9]{0,252})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Encrypted:
    """A Secret or a ConfigMap that is encrypted with SOPS, as written in its file."""

    source: SourceLocation
    text: bytes  # the unit of encryption: all documents of the file that share the member `sops`
    name: tuple[str, str, str]
    """Kind, namespace and name of the object in the file, "" for none; variables and kustomize may change them."""

    values: Mapping[str, str] = field(default_factory=dict, compare=False)
    """Those of the object by key, still encrypted; `text` contains them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredObject:
    """A Secret or a ConfigMap that a manifest declares."""

    source: SourceLocation
    owner: str = ""
    """The text of the resource that exported it, as the sink `sops` writes it; "" for an object that a person owns."""


@dataclass(frozen=True, slots=True)
class ConfigMapVersion:
    """A ConfigMap that the source declares in a file."""

    cluster_folder: str
    data: Mapping[str, str]
    path: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadDocument:
    """A document that did not become a resource: of a kind that is not for gitsync, or rejected with a problem.

    Texts are as written, "" if the document has none; a file or document that does not parse has none.
    """

    source: SourceLocation
    api_version: str = ""
    kind: str = ""
    name: str = ""
    azure_name: str = ""  # of the spec
    is_rejected: bool = False  # it has a problem, so it may have been meant as an ASO resource
    form: str = ""  # its form, if it has no kind but was recognized
    unit: str = ""  # the name of its unit, "" for the folder of its file
    is_followed: bool = False  # it is the object of a controller, and the unit that it declares was read


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownId:
    """The ARM id of a resource that no manifest of the source declares, as a record has it."""

    arm_id: ArmId
    location: str  # where the record is, for messages
    doubt: str = ""  # a sentence on why the id is not used, "" if it is
    is_hidden: bool = False  # its manifest may be in what could not be read of the source


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceObjects:
    """The Secrets and ConfigMaps of a source. Values are by (namespace, name), each a mapping of the object's keys."""

    config_maps: Mapping[tuple[str, str], Mapping[str, str]] = field(default_factory=dict)
    secrets: Mapping[tuple[str, str], Mapping[str, Secret]] = field(default_factory=dict)  # without the encrypted ones
    encrypted: Mapping[Address, Encrypted] = field(default_factory=dict)
    """The objects that are encrypted with SOPS, which no other mapping has the values of."""

    declared: Mapping[Address, DeclaredObject] = field(default_factory=dict)
    """All Secrets and ConfigMaps, encrypted or not."""

    ambiguous: frozenset[Address] = frozenset()  # the objects that are declared again with other values
    versions: Mapping[Address, tuple[ConfigMapVersion, ...]] = field(default_factory=dict)
    """All declarations of each ConfigMap."""


_NO_OBJECTS: Final = SourceObjects()


@dataclass(frozen=True, slots=True, kw_only=True)
class UnusableDeclarations:
    """What declares a resource that is not among the manifests, or may do so. Keys have no namespace."""

    left_out: Mapping[Key, SourceLocation] = field(default_factory=dict)
    """The locations of resources in files that the kustomizations of their folders do not name."""

    rejected: Mapping[Key, SourceLocation] = field(default_factory=dict)
    """The locations of unusable documents, as far as their texts show their keys."""

    unbuilt: tuple[Problem, ...] = ()  # the problems of units that cannot be built, and may declare anything


NOTHING_UNUSABLE: Final = UnusableDeclarations()


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifests:
    """Everything that was read."""

    resources: tuple[Resource, ...] = ()
    objects: SourceObjects = _NO_OBJECTS
    namespaces: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """The annotations of Namespace manifests, by name."""

    rules: RuleEntries = NO_RULES  # those of its Namespaces; a reader of gitsync.yaml adds the others

    problems: tuple[Problem, ...] = ()
    """Those without a resource, in the order of the files; a resource that was read has its own."""

    unread: tuple[UnreadDocument, ...] = ()
    """The documents that are not for gitsync and the rejected ones, in the order of the files."""

    elsewhere: tuple[Resource, ...] = ()  # the resources of namespaces outside the run
    variables: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Those that the documents of each unit mention, by the unit's name ("" for plain folders)."""

    shown: tuple[Secret, ...] = ()  # the texts from Secrets that are part of ids and names, and so are plain text
    hidden: tuple[Secret, ...] = ()  # all other texts from Secrets
    known: Mapping[Key, KnownId] = field(default_factory=dict)  # the ids of resources that other sources declare
    read_left_out: Callable[[], Mapping[str, bytes]] = field(default=dict, compare=False, repr=False)
    """Reads the files that the kustomizations of their folders do not name."""

    unusable: UnusableDeclarations = NOTHING_UNUSABLE

    @property
    def known_ids(self) -> dict[Key, ArmId]:
        """The ids in `known` that are used."""
        return {key: known_id.arm_id for key, known_id in self.known.items() if not known_id.doubt}

    @property
    def skipped_documents(self) -> int:
        """How many documents are not for gitsync."""
        return sum(not (document.is_rejected or document.is_followed) for document in self.unread)


NO_MANIFESTS: Final = Manifests()


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """The documents of a source that were read, followed or skipped, which every report counts."""

    files: int = 0  # the number of files that were read
    resources: int = 0  # the number of resources that were read
    unread: tuple[UnreadDocument, ...] = ()  # the documents that did not become a resource
    ignored: tuple[str, ...] = ()
    """The paths of manifest files that were left out, by .gitsyncignore or because their name begins with a dot."""

    skipped: tuple[str, ...] = ()
    """The paths of kustomizations that were not built, since their files have nothing for gitsync."""

    notes: tuple[Problem, ...] = ()  # problems of what gitsync does not use
    unnamed: Mapping[str, int] = field(default_factory=dict)
    """The number of ASO objects in each file that no kustomization of its folder names; a sync does not fill it."""

    @property
    def skipped_documents(self) -> Mapping[str, int]:
        """The number of documents that are not for gitsync, by kind: the most frequent first, then by name."""
        return _count_kinds(document for document in self.unread if not (document.is_rejected or document.is_followed))

    @property
    def followed(self) -> Mapping[str, int]:
        """The number of controller objects whose units were read, by kind, in the same order."""
        return _count_kinds(document for document in self.unread if document.is_followed)

    @property
    def rejected(self) -> int:
        """The number of documents that were meant for gitsync and could not be read; `problems` has the reasons."""
        return sum(document.is_rejected for document in self.unread)


def _count_kinds(documents: Iterable[UnreadDocument]) -> Mapping[str, int]:
    times = Counter(map(format_title, documents))
    return dict(sorted(times.items(), key=lambda item: (-item[1], item[0])))


def format_title(document: UnreadDocument) -> str:
    """Return the kind of a document as people write it (`Deployment.apps`), or a description if it has none.

    Text from a file is not repeated unchecked: a kind that Kubernetes would refuse gets a description only.
    """
    if not document.kind:
        return document.form or WITHOUT_KIND
    gvk = GVK.parse(document.api_version, document.kind)
    title = f"{gvk.kind}.{gvk.group}" if gvk.group else gvk.kind
    return title if _TITLE.fullmatch(title) else INVALID_KIND
