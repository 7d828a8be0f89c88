"""Files that became something else than manifests: what they hold then, and what a plan deletes of what they declared."""

from __future__ import annotations

import base64
import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml
from hypothesis import strategies as st

from gitsync.agent.run.removals import Reading, collect_removals
from gitsync.desired.catalog.catalog import open_catalog
from gitsync.desired.manifests.reader import read_manifests
from gitsync.desired.manifests.units import make_declaration
from gitsync.desired.request.build import prepare
from gitsync.model.gvk import Key
from gitsync.model.manifests import Manifests
from gitsync.model.plan import RestOfSource
from gitsync.model.record import Claim, Record
from gitsync.model.resource import Prepared
from gitsync.repository.git.source.checkout import Checkout, open_checkout
from gitsync.settings.config.config import Config
from tests.support.parts import build
from tests.support.plans import make_plan

SUBSCRIPTION = "00000000-0000-0000-0000-000000000000"


def pack_tar(content: bytes) -> bytes:
    packed, entry = io.BytesIO(), tarfile.TarInfo("a.yaml")
    entry.size = len(content)
    with tarfile.open(fileobj=packed, mode="w") as archive:
        archive.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


def pack_zip(content: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.yaml", content)
    return packed.getvalue()


def cipher(content: bytes) -> bytes:
    """What a good cipher looks like: bytes without any order."""
    return bytes(byte ^ (37 * location + 91) % 251 for location, byte in enumerate(content))


LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize 131\n" % (b"4d7a" * 16)
ANNEX = b"/annex/objects/SHA256E-s31--5ab5c0de.yaml\n"
SOPS = b'{\n\t"data": "ENC[AES256_GCM,data:4Xk=,iv:aa=,tag:bb==,type:str]",\n\t"sops": {"mac": "x", "version": "3.9.0"}\n}\n'
VAULT = b"$ANSIBLE_VAULT;1.1;AES256\n62313365396662343061393464336163383764373764613633653634306231386433\n6134\n"
PICTURE = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"

FORMS = {
    "git LFS": lambda text: LFS,
    "git-annex": lambda text: ANNEX,
    "git-annex, a link as a file": lambda text: b"../.git/annex/objects/Wx/33/SHA256E-s31--5ab5/SHA256E-s31--5ab5",
    "git-crypt": lambda text: b"\0GITCRYPT\0" + cipher(text),
    "sops, binary": lambda text: SOPS,
    "sops, dotenv": lambda text: b"data=ENC[AES256_GCM,data:4Xk=]\nsops_mac=ENC[AES256_GCM,data:x]\n",
    "ansible-vault": lambda text: VAULT,
    "age": lambda text: b"age-encryption.org/v1\n-> X25519 abc\ndef\n--- xyz\n" + cipher(text),
    "age, armored": lambda text: b"-----BEGIN AGE ENCRYPTED FILE-----\n%s\n" % base64.b64encode(text),
    "PGP": lambda text: b"-----BEGIN PGP MESSAGE-----\n\n%s\n" % base64.b64encode(text),
    "a cipher": cipher,
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "tar": pack_tar,
    "zip": pack_zip,
    "base64": base64.b64encode,
    "hex": lambda text: text.hex().encode(),
    "UTF-16 without a mark": lambda text: text.decode().encode("utf-16-le"),
    "UTF-32": lambda text: text.decode().encode("utf-32"),
    "EBCDIC": lambda text: text.decode().encode("cp500"),
    "a picture": lambda text: PICTURE + text,
    "PDF": lambda text: b"%PDF-1.4\n%\xe2\xe3\n" + text,
    "SVG": lambda text: b'<svg xmlns="http://www.w3.org/2000/svg"/>\n',
    "a page": lambda text: b"<!DOCTYPE html>\n<html><body>Sign in</body></html>\n",
    "markers of a conflict": lambda text: b"<<<<<<< HEAD\n=======\n>>>>>>> theirs\n",
    "a conflict": lambda text: b"<<<<<<< HEAD\n" + text + b"=======\n>>>>>>> theirs\n",
    "a comment that is no text": lambda text: b"#" + cipher(text),
    "a directive": lambda text: b"%",
    "zeros": lambda text: bytes(len(text)),
}
"""What a manifest may become, by what made it so."""

REMOVALS = {
    "nothing": b"",
    "blank lines": b"\n \n",
    "a comment": b"# It was removed.\n",
    "no document": b"---\n",
    "null": b"null\n",
    "an empty mapping": b"{}\n",
    "an empty list": b"[]\n",
    "values of a chart": b"replicas: 1\n",
    "an object of Kubernetes": b"apiVersion: v1\nkind: Service\nmetadata: {name: web}\n",
}
"""What shows that a resource is removed: text that is read, and does not have it."""

HUB = b"apiVersion: resources.azure.com/v1api20200601\nkind: ResourceGroup\nmetadata: {name: hub}\nspec: {location: westeurope}\n"
KEEP = HUB.replace(b"hub", b"keep")
JSON = b"""{"apiVersion": "resources.azure.com/v1api20200601", "kind": "ResourceGroup",
 "metadata": {"name": "hub"}, "spec": {"location": "westeurope"}}"""
LOCATIONS = {
    "a file": ({"net/hub.yaml": HUB}, "net/hub.yaml"),
    "a file of JSON": ({"net/hub.json": JSON}, "net/hub.json"),
    "a file with another resource": ({"net/hub.yaml": KEEP.replace(b"keep", b"other") + b"---\n" + HUB}, "net/hub.yaml"),
    "a folder with options": (
        {"net/hub.yaml": HUB, "gitsync.yaml": b"units:\n- {path: net, missingOwner: wait}\n"},
        "net/hub.yaml",
    ),
}  # fmt: skip


@st.composite
def contents(draw) -> bytes:
    """Bytes of any kind: of a known form, cut off and patched, or with no form at all."""
    text = draw(st.sampled_from([HUB, JSON, KEEP])) + draw(st.binary(max_size=20))
    made = draw(
        st.sampled_from([make for name, make in FORMS.items() if not name.startswith(("UTF", "EBCDIC"))]).map(
            lambda make: make(text)
        )
        | st.sampled_from(["utf-16", "utf-16-be", "utf-32", "cp500", "utf-7", "latin-1", "shift-jis"]).map(
            lambda encoding: text.decode("ascii", "ignore").encode(encoding)
        )
        | st.binary(max_size=60)
        | st.text(max_size=60).map(lambda drawn: drawn.encode("utf-8", "surrogatepass"))
    )
    at = draw(st.integers(0, len(made)))
    return draw(st.sampled_from([made, made[:at], made[at:], made[:at] + draw(st.binary(max_size=5)) + made[at:]]))


def has_documents(content: bytes) -> bool:
    """Return whether a file has documents of some tool, or none: the rule, as simple as it can be written."""
    try:
        roots = list(yaml.compose_all(content.decode("utf-8-sig"), yaml.CSafeLoader))
    except (UnicodeDecodeError, yaml.YAMLError, ValueError):
        return not content.strip()
    is_null = [isinstance(root, yaml.ScalarNode) and root.tag == "tag:yaml.org,2002:null" for root in roots]
    return all(null or not isinstance(value, yaml.ScalarNode) for value, null in zip(roots, is_null, strict=True))


def spread(files: Mapping[str, bytes], rows: int) -> dict[str, bytes]:
    """These files for each row, in a folder of its own and with groups of its own: hub0 in row0/net, hub1 in row1/net…"""
    spread: dict[str, bytes] = {}
    for row in range(rows):
        for path, text in files.items():
            if path == "gitsync.yaml":
                head, units = text.split(b"\n", 1)
                spread[path] = spread.get(path, head + b"\n") + units.replace(b"path: net", b"path: row%d/net" % row)
            else:
                spread[f"row{row}/{path}"] = text.replace(b"hub", b"hub%d" % row).replace(b"other", b"other%d" % row)
    return spread


def list_deletes_after(folder: Path, files: Mapping[str, bytes], path: str, content: bytes) -> list[str]:
    """The names of what a run with --prune deletes that finds `content` in one of the files, without any history."""
    return sorted(name for name, kept_because in plan_after(folder, files, {path: content}).items() if not kept_because)


def plan_after(folder: Path, files: Mapping[str, bytes], changed: Mapping[str, bytes]) -> dict[str, str]:
    """What a run with --prune misses that finds other content in these files, without any history: by name, why each
    is kept, "" for a delete.
    """
    records = _record_all(tuple(files.items()))
    _write(folder, {**files, **changed})
    with open_checkout(str(folder), offline=True) as source:
        manifests = _read(source)
        prepared = _prepare(manifests)
        removed = {key: record for key, record in records.items() if key not in {each.key for each in prepared}}
        removals = collect_removals(source, removed, None, Config(), Reading("default"))
        problems = (*source.contents.problems, *manifests.problems)
    plan = make_plan(prepared, records, problems, removals, around=RestOfSource(unread=manifests.unread))
    return {key.name: prune.kept_because or "detached" * prune.detaches for key, prune in plan.prunes.items()}


@cache
def _record_all(files: tuple[tuple[str, bytes], ...]) -> Mapping[Key, Record]:
    """The records of a first run of these files, and of one more."""
    with TemporaryDirectory() as folder:
        _write(Path(folder), dict(files))
        with open_checkout(folder, offline=True) as source:
            return {resource.key: _record(resource) for resource in _prepare(_read(source))}


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    for name, text in {**files, "keep/keep.yaml": KEEP}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text)


def _read(source: Checkout) -> Manifests:
    return read_manifests(source.contents.files, units=source.contents.units)


def _prepare(manifests: Manifests) -> tuple[Prepared, ...]:
    return prepare(manifests, catalog=open_catalog(), subscription=SUBSCRIPTION)


def _record(entry: Prepared) -> Record:
    key: Key = entry.key
    return build(
        Record,
        key=key,
        api_version=entry.resource.gvk.api_version,
        arm_id=entry.arm_id or "",
        arm_api_version=entry.api_version or "",
        claim=Claim.CREATED,
        **make_declaration(entry.resource),
    )
