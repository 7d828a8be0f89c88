"""How a policy is evaluated outside Azure Resource Manager ("invoke"), and its form in a settings file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gitsync.settings.config.yaml_file import FieldReader, YamlNode, read_as


class EvaluationAnswer(StrEnum):
    ALLOW = "allow"
    DENY = "deny"
    FAIL = "fail"  # the external endpoint has an error


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalEvaluation:
    """What the request for a policy token gets, and what the token is worth."""

    answer: EvaluationAnswer = EvaluationAnswer.ALLOW
    polls: int = 0  # with some, the request gets 202 and so many polls show no result yet
    failures: int = 0  # requests that fail first, with the time of another try
    retry_after: int = 30  # seconds until that time
    token_seconds: int = 3600  # how long a token is valid; with 0 it has always expired
    change_reference: bool = False  # a token is issued only with the reference of a change


_FIELDS: Mapping[str, FieldReader] = {
    "answer": ("answer", lambda node: node.choice(EvaluationAnswer)),
    "polls": ("polls", YamlNode.count),
    "failures": ("failures", YamlNode.count),
    "retryAfter": ("retry_after", YamlNode.count),
    "tokenSeconds": ("token_seconds", YamlNode.count),
    "changeReference": ("change_reference", YamlNode.flag),
}

read_external_evaluation: Final = read_as(ExternalEvaluation, _FIELDS)
