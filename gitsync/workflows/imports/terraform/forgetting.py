"""How Terraform forgets what was imported, without destroying it: `removed` blocks, and commands for the rest.

A block stands for all instances of a resource (https://developer.hashicorp.com/terraform/language/block/removed), so it
is written only if none of them stays. A single instance, and a resource in a module whose source others may use, is
forgotten by a command. The commands come first: once its block or the call of its module is gone, an apply destroys
what the state still has.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gitsync.workflows.imports.takeovers import Takeover, TakeoverRow
from gitsync.workflows.imports.terraform.state import TerraformState


@dataclass(frozen=True, slots=True)
class Forgetting:
    """What Terraform can forget."""

    blocks: tuple[str, ...]  # addresses of resources whose blocks can go
    instances: tuple[str, ...]  # addresses of instances


def choose_forgetting(state: TerraformState, outcomes: Iterable[TakeoverRow]) -> Forgetting:
    """Choose what Terraform can forget: what a proven manifest declares, completely."""
    by_address: dict[str, list[TakeoverRow]] = {}
    for outcome in outcomes:
        by_address.setdefault(outcome.address, []).append(outcome)
    # Terraform forgets a resource with its children at once, so one that is kept keeps all.
    settled = {address for address, own in by_address.items() if all(each.outcome is not Takeover.KEPT for each in own)}
    blocks: dict[str, list[str]] = {}
    in_modules: set[str] = set()
    for address in (resource.address for resource in state.resources):
        blocks.setdefault(address.block, []).append(str(address))
        if address.module:
            in_modules.add(address.block)
    # Also for modules: other calls of the same source may still need the block.
    gone = {block for block, own in blocks.items() if block not in in_modules and settled.issuperset(own)}
    single = (address for block, own in blocks.items() if block not in gone for address in own if address in settled)
    return Forgetting(blocks=tuple(block for block in blocks if block in gone), instances=tuple(dict.fromkeys(single)))


def format_blocks(blocks: Sequence[str], script: str = "") -> str:
    """Format `removed` blocks. `script` is the name of the file with the commands that come first, if there is one."""
    first = f"# First run {script}: without its blocks, an apply would destroy what it names.\n" if script else ""
    head = "# Delete the blocks of these resources, and apply: nothing is destroyed. Then delete this file.\n"
    return (
        first
        + head
        + "".join(
            f"\nremoved {{\n  from = {block}\n\n  lifecycle {{\n    destroy = false\n  }}\n}}\n" for block in blocks
        )
    )


def format_script(instances: Sequence[str], program: str) -> str:
    """Format commands that forget instances. They change only the state."""
    head = (
        "#!/bin/sh\n"
        "# Run this while the code still has these instances: without their blocks, an apply would destroy them.\n"
        "# Then delete their blocks, keys or calls of modules: with them, an apply would create them again.\n"
        "set -eu\n"
    )
    return head + "".join(f"{program} state rm {_quote(address)}\n" for address in instances)


def _quote(address: str) -> str:
    """Quote an address as it is in Terraform's own messages: also one that a shell would take as it is."""
    return shlex.quote(address) if "'" in address else f"'{address}'"


def format_files(forgetting: Forgetting, path: str, program: str) -> Mapping[str, bytes]:
    """Format the files that are needed, by name, in the order of their use: a script beside `path`, then its blocks."""
    files = {}
    script = f"{path.removesuffix('.tf')}.sh" if forgetting.instances else ""
    if script:
        files[script] = format_script(forgetting.instances, program).encode()
    if forgetting.blocks:
        files[path] = format_blocks(forgetting.blocks, script).encode()
    return files
