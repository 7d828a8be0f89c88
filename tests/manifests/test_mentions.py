"""Which texts mention a group of ASO."""

from __future__ import annotations

import pytest

from gitsync.manifests.unparsed_text import mentions_aso

TEXTS = {
    "apiVersion: resources.azure.com/v1api20200601": True,
    '"apiVersion": "storage.azure.com/v1api20230101"': True,
    "apiVersion: resources.azure.com/{{ .Values.version }}": True,
    "apiVersion: resources.azure.com/${VERSION}": True,
    "apiVersion: {{ .Values.group }}.azure.com/v1api20200601": True,
    "group: network.azure.com": True,
    "groups: [network.azure.com, storage.azure.com]": True,
    "apiVersion: Resources.Azure.com/v1api20200601": True,
    "url: https://management.azure.com/subscriptions": False,
    "serviceoperator.azure.com/reconcile-policy: skip": False,
    "image: registry.azurecr.io/web": False,
    "apiVersion: resources.azure.example/v1": False,
}


@pytest.mark.parametrize(("text", "expected"), TEXTS.items())
def test_a_text_mentions_aso_by_the_group_of_an_object(text: str, expected: bool) -> None:
    assert mentions_aso([b"", text.encode()]) is expected
