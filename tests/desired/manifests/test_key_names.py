"""What the name of a resource means, as people type it."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.desired.manifests.selection import find_key, find_keys, list_keys_of_kind
from gitsync.errors import ConfigError
from gitsync.model.gvk import Key

HUB = Key("network.azure.com", "VirtualNetwork", "default", "hub")
GATEWAY = Key("network.azure.com", "VirtualNetworkGateway", "default", "hub-gateway")
CORE = Key("resources.azure.com", "ResourceGroup", "default", "core")
TWIN = Key("resources.azure.com", "ResourceGroup", "other", "core")
REDIS = Key("cache.azure.com", "Redis", "default", "cache")
POLICY = Key("network.azure.com", "WebApplicationFirewallPolicy", "default", "waf")
KEYS = [HUB, GATEWAY, CORE, TWIN, REDIS, POLICY]

NAMES = [
    ("VirtualNetwork/hub", HUB, "in short, though another kind and name begin so"),
    ("virtualnetwork/hub", HUB, "kinds are compared without case"),
    ("VirtualNetwork.network.azure.com/hub", HUB, "with the group"),
    ("ResourceGroup/other/core", TWIN, "with the namespace"),
    (str(CORE), CORE, "in full"),
    ("virtualnetworks/hub", HUB, "plural, as in kubectl"),
    ("redises/cache", REDIS, "plural of a word that ends with s"),
    ("webapplicationfirewallpolicies/waf", POLICY, "plural of a word that ends with y"),
    ("VirtualNetworkG/hub", GATEWAY, "the ends of kind and name left out"),
    ("red/cache", REDIS, "the end of the kind left out"),
    ("Redis/ca", REDIS, "the end of the name left out"),
    ("res/other/co", TWIN, "abbreviated, with the namespace"),
    ("vnet/hub", HUB, "an everyday name of the kind"),
    ("rg/other/core", TWIN, "an everyday name, with the namespace"),
    ("hub", HUB, "a name alone, in full"),
    ("hub-g", GATEWAY, "a name alone, abbreviated"),
]


@pytest.mark.parametrize(("name", "key", "why"), NAMES, ids=[row[-1] for row in NAMES])
def test_what_a_name_means(name, key, why):
    assert find_key(name, KEYS) == key, why


WRONG = [
    ("VirtualNetwork/hbu", "No resource is called VirtualNetwork/hbu. Did you mean VirtualNetwork/hub?", "a slip"),
    ("VirtualNetwork/HUB", "Did you mean VirtualNetwork/hub?", "names have their case"),
    ("cahce", "No resource is called cahce. Did you mean cache?", "a slip in a name alone"),
    (
        "ResourceGroup/core",
        f"ResourceGroup/core matches several resources. Use one of: {CORE}, {TWIN}.",
        "two namespaces",
    ),
    ("res/co", f"res/co matches several resources. Use one of: {CORE}, {TWIN}.", "short for two"),
    ("a/b/c/d", "No resource is called a/b/c/d.", "too many parts"),
    ("/hub", "No resource is called /hub.", "no kind"),
    ("VirtualNetwork/", "No resource is called VirtualNetwork/.", "no name"),
    ("/", "No resource is called /.", "neither"),
]


@pytest.mark.parametrize(("name", "message", "why"), WRONG, ids=[row[-1] for row in WRONG])
def test_an_ambiguous_name_is_refused(name, message, why):
    with pytest.raises(ConfigError, match=re.escape(message)):
        find_key(name, KEYS)


def test_only_the_first_of_many_are_listed():
    many = [HUB._replace(name=f"hub-{number}") for number in range(8)]
    with pytest.raises(ConfigError, match="hub-4, or 3 more"):
        find_key("hub", many)


KINDS = [
    ("VirtualNetwork", {HUB}, "a kind that another begins with"),
    ("virtualnetworkgateways", {GATEWAY}, "plural"),
    ("res", {CORE, TWIN}, "the beginning of one kind"),
    ("ResourceGroup.resources.azure.com", {CORE, TWIN}, "with the group"),
    ("hub", set(), "no kind"),
    ("", set(), "nothing"),
]


@pytest.mark.parametrize(("text", "expected", "why"), KINDS, ids=[row[-1] for row in KINDS])
def test_the_keys_of_a_kind(text, expected, why):
    assert set(list_keys_of_kind(text, KEYS)) == expected, why


def test_a_text_that_several_kinds_begin_with_is_refused():
    with pytest.raises(ConfigError, match=r"virt matches several kinds\. Use one of: VirtualNetwork\.network"):
        list_keys_of_kind("virt", KEYS)


WORDS = st.text("abc", min_size=1, max_size=3)
SOME_KEYS = st.lists(st.builds(Key, st.just("g"), WORDS, WORDS, WORDS), min_size=1, max_size=6)


@given(SOME_KEYS)
def test_a_full_name_means_its_resource_whatever_else_there_is(keys):
    assert [find_key(str(key), keys) for key in keys] == keys


@given(SOME_KEYS, WORDS, WORDS)
def test_what_is_left_out_never_changes_what_more_means(keys, kind, name):
    """A longer name finds nothing that the shorter one would not have found, unless the longer one is in full."""
    longer, shorter = set(find_keys(f"{kind}/{name}", keys)), set(find_keys(f"{kind[:1]}/{name[:1]}", keys))
    assert longer <= shorter or any(len(key.kind) == 1 or len(key.name) == 1 for key in shorter)
