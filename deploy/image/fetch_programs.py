"""Fetch programs for the image: each is installed only if it has the digest of the table.

usage: python fetch_programs.py TABLE ARCH FOLDER [PROGRAM...]

TABLE is programs.toml, ARCH is amd64 or arm64. Without PROGRAM nothing is fetched. The exit code is 1 if a digest
differs or a program cannot be fetched, and 2 if the table does not have it.
"""

from __future__ import annotations

import hashlib
import io
import sys
import tarfile
import tomllib
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

MOST = 300_000_000
"""Bytes of a download: more is not a release of these programs."""


def main(arguments: list[str]) -> int:
    table = tomllib.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    arch, folder, names = arguments[1], Path(arguments[2]), arguments[3:]
    folder.mkdir(parents=True, exist_ok=True)
    if unknown := [name for name in names if arch not in table.get(name, {})]:
        print(f"{arguments[0]} has no {', '.join(unknown)} for {arch}. It has {', '.join(table)}.", file=sys.stderr)
        return 2
    for name in names:
        row = {key: value.replace("{arch}", arch) for key, value in table[name].items()}
        url = row["url"].replace("{version}", row["version"])
        try:
            content = fetch(url, row[arch])
            program = extract(content, row["member"]) if "member" in row else content
        except (URLError, OSError, ValueError, KeyError, tarfile.TarError) as error:
            print(f"{name} was not installed: {url}: {error}", file=sys.stderr)
            return 1
        (folder / name).write_bytes(program)
        (folder / name).chmod(0o755)
    return 0


def fetch(url: str, digest: str) -> bytes:
    """Download a file. ValueError if its SHA-256 is another one, URLError if it cannot be read."""
    with urlopen(url, timeout=300) as response:  # noqa: S310 - the addresses are those of the table
        content: bytes = response.read(MOST + 1)
    found = hashlib.sha256(content).hexdigest()
    if found != digest:
        message = f"its SHA-256 is {found}, and the table has {digest}"
        raise ValueError(message)
    return content


def extract(archive: bytes, member: str) -> bytes:
    """Read one file of an archive. KeyError if it has none of that name."""
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as opened:
        file = opened.extractfile(member)
        if file is None:
            message = f"{member} is not a file"
            raise ValueError(message)
        return file.read()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
