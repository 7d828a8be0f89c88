from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.desired.manifests.written_names import FORMS, WrittenNames
from gitsync.desired.problems.finding import Finding
from gitsync.model.gvk import Key

HUB = Key("network.azure.com", "VirtualNetwork", "platform", "hub")
EGRESS = Key("network.azure.com", "PublicIPAddress", "shop", "egress")
REDIS = Key("cache.azure.com", "RedisEnterprise", "shop", "carts")
ENTERPRISE = Key("redis.azure.com", "RedisEnterprise", "shop", "carts")
TWISTED = Key("network.azure.com", "shop", "VirtualNetwork", "odd")
PLAIN = Key("network.azure.com", "VirtualNetwork", "shop", "odd")
NAMES = WrittenNames([HUB, EGRESS, REDIS, ENTERPRISE, TWISTED, PLAIN])

FOUND = [
    ("PublicIPAddress/egress", EGRESS, "in the manifest's own namespace"),
    ("shop/PublicIPAddress/egress", EGRESS, "with the namespace"),
    ("platform/VirtualNetwork/hub", HUB, "of another namespace"),
    ("VirtualNetwork.network.azure.com/platform/hub", HUB, "as reports print it"),
    ("platform/VirtualNetwork.network.azure.com/hub", HUB, "with namespace and group"),
    ("RedisEnterprise.cache.azure.com/carts", REDIS, "the group decides"),
    ("shop/RedisEnterprise.redis.azure.com/carts", ENTERPRISE, "the group decides, with the namespace"),
]


@pytest.mark.parametrize(("text", "key", "why"), FOUND)
def test_a_name_is_found(text, key, why):
    assert NAMES.find(text, "shop", code="C", path=("spec",)) == key, why


LOST = [
    ("RedisEnterprise/carts", "RedisEnterprise/carts matches several resources.", "two groups",
     "Use RedisEnterprise.cache.azure.com/carts or RedisEnterprise.redis.azure.com/carts."),
    ("shop/VirtualNetwork/odd", "shop/VirtualNetwork/odd matches several resources.", "both forms of three steps",
     "Use VirtualNetwork.network.azure.com/odd or VirtualNetwork/shop.network.azure.com/odd."),
    ("PublicIPAddress/egres", 'No manifest declares "PublicIPAddress/egres".', "a slip of the name",
     "Did you mean PublicIPAddress/egress?"),
    ("PublicIpAddress/egress", 'No manifest declares "PublicIpAddress/egress".', "kinds have case",
     "Did you mean PublicIPAddress/egress?"),
    ("PublicIPAddresses/egress", 'No manifest declares "PublicIPAddresses/egress".', "no plural",
     "Did you mean PublicIPAddress/egress?"),
    ("VirtualNetwork/hub", 'No manifest declares "VirtualNetwork/hub".', "another namespace",
     "Did you mean platform/VirtualNetwork/hub?"),
    ("Nothing/at-all", 'No manifest declares "Nothing/at-all".', "nothing similar", FORMS),
    ("egress", '"egress" is not the name of a resource.', "no kind", FORMS),
    ("/egress", '"/egress" is not the name of a resource.', "an empty kind", FORMS),
    ("PublicIPAddress/", '"PublicIPAddress/" is not the name of a resource.', "an empty name", FORMS),
    ("a/b/c/d", '"a/b/c/d" is not the name of a resource.', "four steps", FORMS),
    ("Kind/a Kind/b", '"Kind/a Kind/b" is not the name of a resource.', "a comma is missing", FORMS),
    ("", '"" is not the name of a resource.', "nothing", FORMS),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message", "why", "hint"), LOST)
def test_a_name_that_is_not_found_has_a_hint(text, message, why, hint):
    finding = NAMES.find(text, "shop", code="C", path=("metadata", "annotations", "a"))
    assert finding == Finding(code="C", path=("metadata", "annotations", "a"), message=message, hint=hint), why


def test_many_wrong_names_are_cheap():
    names = WrittenNames([EGRESS._replace(name=f"ip-{number}") for number in range(1000)])
    hints = [names.find(f"PublicIPAddress/ip-x{n}", "shop", code="C", path=()).hint for n in range(100)]
    assert hints[-1] == FORMS


WORDS = st.sampled_from(["a", "b", "c"])
KEYS = st.builds(Key, WORDS, WORDS, WORDS, WORDS)


@given(st.lists(KEYS), KEYS, WORDS)
def test_the_name_with_group_and_namespace_is_never_another_resource(keys, key, namespace):
    found = WrittenNames([*keys, key]).find(
        f"{key.namespace}/{key.kind}.{key.group}/{key.name}", namespace, code="C", path=()
    )
    assert found == key


@given(st.lists(KEYS), st.text("abc./ ", max_size=8), WORDS)
def test_any_text_gets_a_resource_or_a_finding_with_a_hint(keys, text, namespace):
    found = WrittenNames(keys).find(text, namespace, code="C", path=())
    assert found in keys if isinstance(found, Key) else found.hint
