"""Which texts mention an ASO group."""

from __future__ import annotations

import pytest

from gitsync.desired.manifests.aso_groups import mentions_aso

TEXTS = {
    "apiVersion: resources.azure.com/v1api20200601": True,
    '"apiVersion": "storage.azure.com/v1api20230101"': True,
    "apiVersion: resources.azure.com/{{ .Values.version }}": True,
    "apiVersion: resources.azure.com/${VERSION}": True,
    "apiVersion: {{ .Values.group }}.azure.com/v1api20200601": True,
    "group: network.azure.com": True,
    "groups: [network.azure.com, storage.azure.com]": True,
    "apiVersion: Resources.Azure.com/v1api20200601": True,
    "apiVersion: netwrk.azure.com/v1": True,  # a letter is missing
    "apiVersion: newservice.azure.com/v1api20300101": True,  # a date, as only ASO has
    "apiVersion: $(GROUP).azure.com/v1": True,
    "apiVersion: net${REST}-x.azure.com/v1": True,
    '{"a": "apiVersion: network.azure.com/v1api20201101\\nkind: x"}': True,
    "url: https://management.azure.com/subscriptions": False,
    "provisioner: disk.csi.azure.com": False,
    "provisioner: 'file.csi.azure.com'": False,
    "apiVersion: containerstorage.azure.com/v1alpha1": False,
    "apiVersion: karpenter.azure.com/v1": False,
    "apiVersion: acn.azure.com/v1alpha1": False,
    "apiVersion: nginx.approuting.kubernetes.azure.com/v1alpha1": False,
    "apiVersion: infrastructure.azure.com/{{ .Values.version }}": False,
    "apiVersion: aks.azure.com/v1": False,  # with three letters, two others make another word
    "name: default.v1api20200601.resourcegroups.resources.azure.com": False,
    "- apiGroups:\n  - resources.azure.com\n  - network.azure.com\n  verbs: [get]": False,
    "apiGroups: [resources.azure.com, network.azure.com]": False,
    '"apiGroups": ["resources.azure.com"]': False,
    "apiGroups: [resources.azure.com]\n---\napiVersion: resources.azure.com/v1api20200601": True,
    "serviceoperator.azure.com/reconcile-policy: skip": False,
    "image: registry.azurecr.io/web": False,
    "apiVersion: resources.azure.example/v1": False,
}


@pytest.mark.parametrize(("text", "expected"), TEXTS.items())
def test_a_text_mentions_aso_by_the_group_of_an_object(text: str, expected: bool) -> None:
    assert mentions_aso([b"", text.encode()]) is expected
