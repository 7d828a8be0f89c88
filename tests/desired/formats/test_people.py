"""Names of people in Azure texts, by their forms."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.desired.formats.people import hide_people

OBJECT = "11111111-2222-4333-8444-555555555555"

HIDDEN = [
    (
        f"The client 'rob@contoso.com' with object id '{OBJECT}' does",
        f"The client 'a person' with object id '{OBJECT}' does",
        "a refusal",
    ),
    (
        "client 'live.com#rob@gmail.com' with object id 'x'",
        "client 'a person' with object id 'x'",
        "a Microsoft account",
    ),
    ("'rob_gmail.com#EXT#@contoso.onmicrosoft.com'", "'a person'", "a guest"),
    ("The client 'Rob Miller' with object id 'x'", "The client 'a person' with object id 'x'", "a display name"),
    ("The client 'rob-admin' with object id 'x'", "The client 'a person' with object id 'x'", "a short name"),
    ("ROB.MILLER@CONTOSO.COM failed", "a person failed", "capitals"),
    ("'rob.o'neil@contoso.com' failed", "'a person' failed", "an apostrophe in it"),
    ("josé@contoso.com, 李@例え.jp", "a person, a person", "letters of all alphabets"),
    ("mailto:rob@contoso.com", "mailto:a person", "a link"),
    ("user=rob%40contoso.com&x", "a person&x", "escaped as in a URL"),
    (r"rob\u0040contoso.com", "a person", "escaped as in JSON"),
    ("rob@contoso.com: denied", "a person: denied", "before a colon"),
    ("Owner: Rob Miller <rob@contoso.com>", "Owner: a person", "a name beside an address"),
    ("ask Rob Miller (rob@contoso.com).", "ask a person.", "in brackets"),
    (
        "owned by StorageAccount.storage.azure.com default/lake",
        "owned by StorageAccount.storage.azure.com default/lake",
        "a resource, by its key",
    ),
    (
        "created by VirtualNetwork default/hub",
        "created by VirtualNetwork default/hub",
        "a resource, by its kind and name",
    ),
    ("added by Rob Miller on 2024-01-01", "added by a person on 2024-01-01", "a note of a lock"),
    ("Added by: Rob", "Added by: a person", "with a colon"),
    ("added by rob, do not remove", "added by a person, do not remove", "in small letters"),
    ("set by José Müller-Lüdenscheid. Ask Ann Lee.", "set by a person. Ask a person.", "two sentences"),
    ("This may only be changed by Jan de Vries", "This may only be changed by a person", "particles"),
    ("User account 'Rob Miller' does not exist", "User account 'a person' does not exist", "an account"),
    (r"Added by CONTOSO\rmiller, keep", "Added by a person, keep", "an account of a domain"),
    ("requested by Ms. O'Brien, J.", "requested by a person.", "a title"),
    ("Ask rob@contoso.com.", "Ask a person.", "an address at the end of a sentence"),
    ('{"createdBy": "Rob Miller", "upn": "rob"}', '{"createdBy": "a person", "upn": "a person"}', "members of JSON"),
]

KEPT = [
    (f"The client '{OBJECT}' with object id '{OBJECT}'", "an application is its id"),
    ("created by Azure Policy, managed by Microsoft", "services"),
    ("owned by the Platform Team; contact Core Network Operations", "teams"),
    ("locked by another run", "no name"),
    ("The resource is in the process of being reconciled by the operator", "words of ASO"),
    ('Owner "core, Group/Kind: resources.azure.com/ResourceGroup" cannot be found.', "words of ASO"),
    ("Ask an Owner or User Access Administrator of /subscriptions/x.", "an advice"),
    ("git@github.com:organization/repository.git", "an address of git"),
    ("git@ssh.dev.azure.com:v3/organization/project/repository", "an address of git at a longer domain"),
    ("It is used by Key Vault, and blocked by NSG web or Conditional Access", "kinds of resources"),
    ("set by SKU Premium, assigned by MSI, must be updated by Monday", "kinds, and days"),
    ("ssh://git@github.com/organization/repository", "an address of git"),
    ("actions/checkout@v4.1, @types/node", "versions and packages"),
    ("user 'app' on db.example", "a user of a database"),
    (f'{{"createdBy": "{OBJECT}"}}', "an id"),
]


@pytest.mark.parametrize(("text", "shown", "why"), HIDDEN, ids=[row[-1] for row in HIDDEN])
def test_names_are_hidden(text, shown, why):
    assert hide_people(text) == shown, why


@pytest.mark.parametrize(("text", "why"), KEPT, ids=[f"{number}: {row[-1]}" for number, row in enumerate(KEPT)])
def test_what_is_not_a_name_of_a_person_stays(text, why):
    assert hide_people(text) == text, why


WORDS = st.sampled_from(
    [
        *(
            "added by",
            "client '",
            "' with object id '",
            "Rob",
            "Miller",
            "rob@contoso.com",
            "@",
            "(",
            ")",
            "<",
            ">",
            ": ",
        ),
        *("createdBy", '"', "a person", "by", "ask", ",", ".", "#EXT#", "contoso.com", "%40", "\n", "é", "Owner"),
    ]
)


@given(st.lists(WORDS, max_size=15), st.sampled_from(["", " "]))
def test_what_was_hidden_stays_as_it_is(words, joint):
    """A law: records are compared with what was recorded, so hiding twice changes nothing."""
    once = hide_people(joint.join(words))
    assert hide_people(once) == once
    assert "rob@contoso.com" not in once
