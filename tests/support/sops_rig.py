"""A program sops to test with, and a key for it: the one that is installed, and the one that stands in for it."""

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from gitsync.repository.secrets.sops_program import Sops
from tests.support import sops_double
from tests.support.answered_programs import answer_calls, write_program

KINDS = ("double", "real")


@dataclass
class Rig:
    """A key, and files that are encrypted for it."""

    environment: dict  # has the key
    recipient: str  # the one to encrypt to
    folder: Path

    def sops(self, **more):
        return Sops(environment={**self.environment, **more})

    def without_key(self):
        return Sops(environment={k: v for k, v in self.environment.items() if k != "SOPS_AGE_KEY"})

    def rules(self, folder, **more):
        """Write creation rules; JSON is YAML too."""
        rule = {"age": self.recipient, **more}
        (folder / ".sops.yaml").write_text(json.dumps({"creation_rules": [rule]}))

    def encrypted(self, *documents):
        """A file as a person makes it, with the program itself."""
        text = "---\n".join(documents)
        words = ["encrypt", "--encrypted-regex", "^(data|stringData)$", "--input-type", "yaml", "--output-type", "yaml"]
        environment = {**self.environment, "SOPS_AGE_RECIPIENTS": self.recipient}
        return subprocess.run(
            ["sops", *words, "--filename-override", str(self.folder / "x.yaml"), "/dev/stdin"],
            executable=shutil.which("sops", path=environment["PATH"]),
            env=environment,
            input=text.encode(),
            capture_output=True,
            check=True,
        ).stdout


def put_on_path(folder, name, text):
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)
    return f"{folder}{os.pathsep}{os.defpath}"


def rig(kind, folder):
    home = {"HOME": str(folder)}
    if kind == "double":
        programs = folder / "bin"
        programs.mkdir(exist_ok=True)
        write_program(programs, "sops", answer_calls(sops_double.answer))
        return Rig(
            {**home, "PATH": f"{programs}{os.pathsep}{os.defpath}", "SOPS_AGE_KEY": "AGE-SECRET-KEY-1XYZ"},
            "age1xyz",
            folder,
        )
    if not (shutil.which("sops") and shutil.which("age-keygen")):
        pytest.skip("sops and age-keygen are not installed")
    made = subprocess.run(["age-keygen"], capture_output=True, text=True, check=True).stdout.split()
    key = next(word for word in made if word.startswith("AGE-SECRET-KEY-"))
    recipient = next(word for word in made if word.startswith("age1"))
    return Rig({**home, "PATH": os.environ["PATH"], "SOPS_AGE_KEY": key}, recipient, folder)
