"""Stands in for the program sops where that is not installed: the same words, the same files, the same exit codes.

What it writes is not encrypted but turned round, sealed for the recipient whose key has the same digits.
"""

import base64
import hashlib
import json
import re

import yaml

from tests.support.answered_programs import Answer, ProgramCall

SEAL = re.compile(r"ENC\[AES256_GCM,data:(.*),iv:i=,tag:t=,type:str\]")


class RefusedError(Exception):
    """The exit code, and the complaint."""


def fail(code, message):
    raise RefusedError(code, message)


def words(arguments):
    """Flags with their values; what is left is the file."""
    flags, rest = {}, []
    arguments = list(arguments)
    while arguments:
        word = arguments.pop(0)
        if word.startswith("--"):
            flags[word] = arguments.pop(0)
        else:
            rest.append(word)
    return flags, rest


def hidden(text):
    return (
        f"ENC[AES256_GCM,data:{base64.b64encode(text[::-1].encode()).decode()},iv:i=,tag:t=,type:str]" if text else ""
    )


def shown(text):
    found = SEAL.fullmatch(text)
    return base64.b64decode(found[1]).decode()[::-1] if found else text


def turned(value, how, pattern, inside=False):
    if isinstance(value, dict):
        return {k: turned(v, how, pattern, inside or bool(pattern.search(k))) for k, v in value.items()}
    if isinstance(value, list):
        return [turned(each, how, pattern, inside) for each in value]
    return how(value) if inside and isinstance(value, str) else value


def mac(documents):
    return hashlib.sha256(json.dumps(documents, sort_keys=True).encode()).hexdigest()


def recipient(file, call):
    if call.environment.get("SOPS_AGE_RECIPIENTS"):
        return call.environment["SOPS_AGE_RECIPIENTS"]
    for folder in (call.folder, *call.folder.parents):
        if (folder / ".sops.yaml").is_file():
            for rule in yaml.safe_load((folder / ".sops.yaml").read_text())["creation_rules"]:
                if re.search(rule.get("path_regex", ""), file):
                    return rule["age"]
            fail(1, "error loading config: no matching creation rules found")
    fail(1, "config file not found, or has no creation rules, and no keys provided through command line options")
    return None


def written(documents, form):
    if form == "json":
        return json.dumps(documents[0])
    return "---\n".join(yaml.safe_dump(each, sort_keys=False) for each in documents)


def encrypt(documents, flags, call):
    seal = {
        "age": [{"recipient": recipient(flags["--filename-override"], call), "enc": "x"}],
        "mac": mac(documents),
        "encrypted_regex": flags["--encrypted-regex"],
    }
    pattern = re.compile(flags["--encrypted-regex"])
    return [turned(each, hidden, pattern) | {"sops": seal} for each in documents]


def decrypt(documents, call):
    seal = documents[0].get("sops")
    if not seal:
        fail(1, "sops metadata not found")
    wanted = seal["age"][0]["recipient"].removeprefix("age1")
    if call.environment.get("SOPS_AGE_KEY", "").removeprefix("AGE-SECRET-KEY-1") != wanted.upper():
        fail(
            128,
            f"Failed to get the data key required to decrypt the SOPS file.\n\nGroup 0: FAILED\n  age1{wanted}: FAILED",
        )
    pattern = re.compile(seal["encrypted_regex"])
    plain = [turned({k: v for k, v in each.items() if k != "sops"}, shown, pattern) for each in documents]
    if mac(plain) != seal["mac"]:
        fail(51, f"MAC mismatch. File has {seal['mac'].upper()}, computed {mac(plain).upper()}")
    return plain


def answer(call: ProgramCall) -> Answer:
    """Do what the program does, in the process of the tests."""
    try:
        return 0, do(call), ""
    except RefusedError as refusal:
        code, message = refusal.args
        return code, "", f"{message}\n"


def do(call: ProgramCall) -> str:
    command, *arguments = call.arguments
    command = command.removeprefix("--")  # the older spelling
    flags, rest = words(arguments)
    if command not in {"encrypt", "decrypt"} or rest != ["/dev/stdin"]:
        fail(1, f"unknown command {command}")
    documents = list(yaml.safe_load_all(call.stdin))
    made = encrypt(documents, flags, call) if command == "encrypt" else decrypt(documents, call)
    return written(made, flags["--output-type"])
