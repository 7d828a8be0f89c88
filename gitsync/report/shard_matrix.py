"""The cut of an estate for people, and as the matrix of a pipeline."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from gitsync.model.shard import Shard, ShardCost
from gitsync.report.wording import format_plural, format_seconds

MATRICES = ("github", "gitlab", "azure")
_MOST_REFERENCES = 20
_COLUMNS = ("worker", "resources", "subscriptions", "reads", "writes", "held back", "waits for")


def format_lines(shards: Sequence[Shard], costs: Sequence[ShardCost], *, verbose: bool) -> Iterator[str]:
    """Format a line for each worker, and the references from shard to shard."""
    accounts = {account for shard in shards for account in shard.sizes}
    total = format_plural(sum(shard.size for shard in shards), "resource")
    in_subscriptions = format_plural(len({account.subscription for account in accounts}), "subscription")
    yield f"{format_plural(len(shards), 'worker')} for {total} in {in_subscriptions}."
    yield ""
    rows = [_COLUMNS, *(_make_row(shard, cost, len(shards)) for shard, cost in zip(shards, costs, strict=True))]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_COLUMNS))]
    for first, *numbers in rows:
        cells = [first.ljust(widths[0]), *(text.rjust(width) for text, width in zip(numbers, widths[1:], strict=True))]
        yield "  ".join(cells).rstrip()
    across = [pair for shard in shards for pair in shard.waits_for]
    if across:
        shown = across if verbose else across[:_MOST_REFERENCES]
        yield ""
        yield f"References to other shards ({len(across)}): a worker waits until another one has created the resource."
        yield from (f"  {key} → {other}" for key, other in shown)
        if len(shown) < len(across):
            yield f"  and {len(across) - len(shown)} more; -v lists them."


def _make_row(shard: Shard, cost: ShardCost, workers: int) -> tuple[str, ...]:
    subscriptions = {account.subscription for account in shard.sizes}
    return (
        f"{shard.number}/{workers}",
        str(shard.size),
        str(len(subscriptions)),
        str(cost.reads),
        str(cost.writes),
        format_seconds(round(cost.seconds)) if cost.seconds else "-",
        str(len(shard.waits_for)) if shard.waits_for else "-",
    )


def build_document(shards: Sequence[Shard], costs: Sequence[ShardCost]) -> dict[str, Any]:
    """Build the cut of plain JSON values."""
    return {
        "schemaVersion": 1,
        "workers": len(shards),
        "shards": [
            {
                "shard": f"{shard.number}/{len(shards)}",
                "resources": [str(key) for key in sorted(shard.keys)],
                "accounts": [
                    {"subscription": account.subscription, "credential": account.credential, "resources": size}
                    for account, size in sorted(shard.sizes.items())
                ],
                "expected": {"reads": cost.reads, "writes": cost.writes, "heldSeconds": round(cost.seconds)},
                "waitsFor": [{"resource": str(key), "needs": str(other)} for key, other in shard.waits_for],
            }
            for shard, cost in zip(shards, costs, strict=True)
        ],
    }


def format_matrix(form: str, workers: int) -> str:
    """Format the matrix of a pipeline, one job for each worker: JSON for an expression of GitHub Actions or of Azure
    Pipelines, YAML for a child pipeline of GitLab, whose template has the rest of the job `gitsync-worker`.
    """
    # An empty shard has a job too: the number of jobs is that of the pin, and its job ends at once.
    words = [f"{number}/{workers}" for number in range(1, workers + 1)]
    if form == "github":
        return json.dumps({"shard": words})
    if form == "azure":
        return json.dumps({f"shard_{number}": {"GITSYNC_SHARD": word} for number, word in enumerate(words, 1)})
    return f"gitsync-worker:\n  parallel:\n    matrix:\n      - GITSYNC_SHARD: {json.dumps(words)}"
