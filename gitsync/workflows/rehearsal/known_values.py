"""Learns from records the values that a rehearsal lacks: subscriptions, values of ConfigMaps, and variables.

A record has what was sent last. Where the manifest has a reference, the record has its value. So an unchanged ConfigMap
causes no change, and a variable without a source leads to the same resource names.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final, get_args

from gitsync.desired.request.credential_choice import GLOBAL, CredentialName
from gitsync.model.export import Address, ObjectKind
from gitsync.model.gvk import Key
from gitsync.model.record import Record, State
from gitsync.model.resource import Prepared
from gitsync.model.template import ConfigMapKeyRef, Gap, SecretMapRef, Text
from gitsync.workflows.rehearsal.stand_ins import KnownValues, RequestedValues, ValueName, make_up

_GAPS: Final = get_args(Gap)


def collect_known_values(
    state: State, prepared: Collection[Prepared], subscription: str, requested: RequestedValues = frozenset()
) -> KnownValues:
    """Collect the values that records have. `prepared` are the manifests with the values made up so far; `requested`
    names those values.
    """
    values: dict[ValueName, str] = _learn_variables(prepared, state.records, requested)
    secret_keys: dict[Address, tuple[str, ...]] = {}
    for resource in prepared:
        record, namespace = state.records.get(resource.key), resource.key.namespace
        if record is None or resource.template is None:
            continue
        pairs = [(resource.template.arm_id, record.arm_id), *pair_gaps(resource.template.body, record.spec.applied)]
        for gap, sent in pairs:
            if isinstance(gap, SecretMapRef) and isinstance(sent, Mapping):
                secret_keys.setdefault(Address(ObjectKind.SECRET, namespace, gap.name), tuple(sorted(sent)))
            elif (found := _read_value(gap, sent)) is not None:
                ref, text = found
                values.setdefault((Address(ObjectKind.CONFIG_MAP, namespace, ref.name), ref.key), text)
    return KnownValues(
        subscription=subscription,
        subscriptions=_collect_subscriptions(state.records.values()),
        values=values,
        secret_keys=secret_keys,
    )


def find_subscription_of(state: State) -> str:
    """Find the subscription of the global credential: that of most records without another; "" if there is none."""
    found = [
        record.arm_id.subscription or "" for record in state.records.values() if record.access.credential == GLOBAL
    ]
    return max(sorted({*found} - {""}), key=found.count, default="")


def _collect_subscriptions(records: Iterable[Record]) -> dict[CredentialName, str]:
    """Collect the subscription of each credential Secret: that of most records that name the Secret."""
    found: defaultdict[CredentialName, list[str]] = defaultdict(list)
    for record in records:
        subscription = record.access.subscription or record.arm_id.subscription or ""
        # The global credential has its subscription from the settings.
        if record.access.credential != GLOBAL and subscription:
            found[record.key.namespace, record.access.credential].append(subscription)
    # Sorted first, so that of two equally frequent ones each rehearsal chooses the same.
    return {name: max(sorted(set(texts)), key=texts.count) for name, texts in sorted(found.items())}


def pair_gaps(template: Any, sent: Any) -> Iterator[tuple[Any, Any]]:
    """Pair the gaps of a body with what was sent there."""
    if isinstance(template, _GAPS):
        yield template, sent
    elif isinstance(template, Mapping) and isinstance(sent, Mapping):
        yield from (pair for key, child in template.items() if key in sent for pair in pair_gaps(child, sent[key]))
    # Entries have no names here: in lists of other lengths, a value could get into the wrong gap.
    elif isinstance(template, list) and isinstance(sent, list) and len(template) == len(sent):
        yield from (pair for child, other in zip(template, sent, strict=True) for pair in pair_gaps(child, other))


def _read_value(gap: Any, sent: Any) -> tuple[ConfigMapKeyRef, str] | None:
    """Read the value of a ConfigMap from what was sent, where it may be part of a text."""
    if not isinstance(sent, str):
        return None
    if isinstance(gap, ConfigMapKeyRef):
        return gap, sent
    # With two gaps in one text, there are many ways to split what was sent.
    if not isinstance(gap, Text) or sum(not isinstance(part, str) for part in gap.parts) != 1:
        return None
    at = next(index for index, part in enumerate(gap.parts) if not isinstance(part, str))
    before = "".join(part for part in gap.parts[:at] if isinstance(part, str))
    after = "".join(part for part in gap.parts[at + 1 :] if isinstance(part, str))
    ref = gap.parts[at]
    fits = len(sent) > len(before) + len(after) and sent.startswith(before) and sent.endswith(after)
    if not fits or not isinstance(ref, ConfigMapKeyRef):
        return None
    return ref, sent[len(before) : len(sent) - len(after)]


# Variables: their made-up values are in the names and fields of manifests.


def _learn_variables(
    prepared: Iterable[Prepared], records: Mapping[Key, Record], requested: RequestedValues
) -> dict[ValueName, str]:
    """Find the values of variables, where the recorded resources allow only one value."""
    tokens = {make_up(*name): name for name in requested}
    candidates: dict[str, set[str]] = {}
    for resource in prepared if tokens else ():
        own = [records[resource.key]] if resource.key in records else _list_similar(resource, records.values())
        texts: list[tuple[str, str]] = [(resource.arm_id or "", record.arm_id) for record in own]
        # Of several candidates, it is not known whose body is meant.
        if len(own) == 1 and resource.template:
            texts += _pair_texts(resource.template.body, own[0].spec.applied)
        matches = [_match(text, sent, tokens) for text, sent in texts]
        found: defaultdict[str, set[str]] = defaultdict(set)
        for token, value in (pair for match in matches for pair in match.items()):
            found[token].add(value)
        for token, values in found.items():
            # A variable has one value, so what two resources show has to agree.
            candidates[token] = candidates.get(token, values) & values
    return {tokens[token]: min(values) for token, values in sorted(candidates.items()) if len(values) == 1}


def _list_similar(prepared: Prepared, records: Iterable[Record]) -> list[Record]:
    """List the records of the same kind and file: if the name has a variable, one of them may be the manifest's."""
    key, path = prepared.key, prepared.resource.source.path
    return [
        record
        for record in records
        if (record.key.group, record.key.kind, record.manifest.path) == (key.group, key.kind, path)
    ]


def _match(text: str, sent: str, tokens: Mapping[str, ValueName]) -> dict[str, str]:
    """Return the value of each token of a text, read from what was sent; nothing if the texts do not match."""
    present = [token for token in tokens if token in text]
    if not present:
        return {}
    pattern, names = re.escape(text), {token: f"t{number}" for number, token in enumerate(present)}
    for token, name in names.items():
        # A token that occurs again has the same value there.
        pattern = pattern.replace(re.escape(token), f"(?P<{name}>.+?)", 1).replace(re.escape(token), f"(?P={name})")
    match = re.fullmatch(pattern, sent)
    return {token: match[name] for token, name in names.items()} if match else {}


def _pair_texts(template: Any, sent: Any) -> Iterator[tuple[str, str]]:
    """Pair the texts of a body with what was sent there."""
    if isinstance(template, str) and isinstance(sent, str):
        yield template, sent
    elif isinstance(template, Mapping) and isinstance(sent, Mapping):
        yield from (pair for key, child in template.items() if key in sent for pair in _pair_texts(child, sent[key]))
    elif isinstance(template, list) and isinstance(sent, list) and len(template) == len(sent):
        yield from (pair for child, other in zip(template, sent, strict=True) for pair in _pair_texts(child, other))
