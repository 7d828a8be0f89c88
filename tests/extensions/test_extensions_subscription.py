"""An alias stands for the subscription that it made: where its children stand, and when it counts as cancelled."""

import pytest

from gitsync.errors import ArmError, GitsyncError
from gitsync.model.live import Live
from tests.extensions.asking import REGISTRY, subject, with_

GROUP, KIND = "subscription.azure.com", "Alias"
OVERRIDE = "serviceoperator.azure.com/child-resource-id-override"


class Azure:
    """Answers as it is configured to a cancel, and of the subscription."""

    def __init__(self, refusal=None, state=None, unreadable=None):
        self.requested = []
        self._refusal, self._state, self._unreadable = refusal, state, unreadable

    async def call(self, path, api_version, body=None, *, query=None):
        self.requested.append(f"POST {path} {api_version}")
        if self._refusal:
            raise ArmError("No.", code=self._refusal)
        return {}

    async def get(self, arm_id, api_version):
        self.requested.append(f"GET {arm_id}")
        if self._unreadable:
            raise ArmError("No.", code=self._unreadable)
        return Live(body={"state": self._state}) if self._state else None


async def delete(azure, made="9"):
    async def last(_subject, _azure):
        azure.requested.append("DELETE")

    await REGISTRY.delete(subject(GROUP, KIND, own=with_(subscriptionId=made)), azure, last)
    return azure.requested


CANCEL = "POST /subscriptions/9/providers/Microsoft.Subscription/cancel 2021-10-01"
LOOK = "GET /subscriptions/9"


@pytest.mark.parametrize(
    ("azure", "requested", "why"),
    [
        (Azure(), [CANCEL, "DELETE"], "cancelled"),
        (Azure("Already", state="Disabled"), [CANCEL, LOOK, "DELETE"], "cancelled by an earlier try"),
        (Azure("Already", state="warned"), [CANCEL, LOOK, "DELETE"], "a cancelled one of another offer"),
        (Azure("Already", state="Deleted"), [CANCEL, LOOK, "DELETE"], "on its way out"),
        (Azure("SubscriptionNotFound"), [CANCEL, "DELETE"], "gone for good"),
        (Azure("NotFound", unreadable="subscriptionnotfound"), [CANCEL, LOOK, "DELETE"], "gone, as the look says"),
    ],
)
async def test_a_subscription_is_cancelled_first(azure, requested, why):
    assert await delete(azure) == requested, why


@pytest.mark.parametrize(
    ("azure", "why"),
    [
        (Azure("ResourcesExistingOnSubscription", state="Enabled"), "it is in use"),
        (Azure("ResourcesExistingOnSubscription"), "nothing is known of it"),
        (Azure("AuthorizationFailed", unreadable="AuthorizationFailed"), "it cannot be looked at either"),
    ],
)
async def test_a_refusal_is_told_and_the_alias_stays(azure, why):
    with pytest.raises(ArmError) as refused:
        await delete(azure)
    assert refused.value.code in {"ResourcesExistingOnSubscription", "AuthorizationFailed"}, why
    assert azure.requested == [CANCEL, LOOK]


@pytest.mark.parametrize("made", ["", None])
async def test_what_made_no_subscription_is_only_deleted(made):
    assert await delete(Azure(), made) == ["DELETE"]


@pytest.mark.parametrize("made", [9, True, {}, ["9"], "9/providers/x", "a b"])
async def test_an_alias_stays_where_azure_says_something_odd_of_its_subscription(made):
    azure = Azure()
    with pytest.raises(GitsyncError, match=r"has no subscription id at properties\.subscriptionId"):
        await delete(azure, made)
    assert azure.requested == []


async def told(own):
    return await REGISTRY.succeeded(subject(GROUP, KIND, own=own), Azure())


async def test_its_children_are_told_where_they_stand():
    own = with_(subscriptionId="9")
    assert await told(own) == {OVERRIDE: "/subscriptions/9"} == REGISTRY.foreseen(subject(GROUP, KIND, own=own))


@pytest.mark.parametrize("made", ["", None, 9])
async def test_without_a_subscription_they_stand_nowhere(made):
    own = with_(subscriptionId=made)
    assert REGISTRY.foreseen(subject(GROUP, KIND, own=own)) == {}
    with pytest.raises(GitsyncError, match="SubscriptionID field was empty"):
        await told(own)
