"""What Azure would refuse: validateResources and checkPolicyRestrictions, and that a write ends as they foretell."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.emulator.governance.policies import Effect, EmulatedExemption, Operator
from gitsync.emulator.http.handler import route_request
from gitsync.emulator.http.messages import Refused, ServerRequest
from gitsync.emulator.http.target import parse
from gitsync.emulator.settings import BodyRefusal, Denial, EmulatedPrincipal, PreflightSettings, TakenName
from gitsync.emulator.state.cloud import EmulatedCloud
from gitsync.emulator.state.store import MemoryStore
from tests.emulator.asked import GROUP, OPEN, SUBSCRIPTION, VNET, TestClock, at, emulated
from tests.emulator.test_governance import ACCOUNT, EXEMPT, OTHER, STORAGE, governed, make_policy, when

VALIDATE = "/providers/Microsoft.Resources/validateResources"
RESTRICTIONS = "providers/Microsoft.PolicyInsights/checkPolicyRestrictions"
PREFLIGHT_VERSION = "2022-06-01"
ITEM = {"name": "stapp1", "apiVersion": "2023-05-01", "location": "westeurope", "kind": "StorageV2", "properties": {}}
CHECK = {
    "provider": "Microsoft.Storage",
    "type": "storageAccounts",
    "location": "westeurope",
    "scope": GROUP,
    "performPreflightWithoutRbacWriteCheck": True,
    "resources": [ITEM],
}
BAD_KIND = BodyRefusal(
    conditions=(when("kind", Operator.EQUALS, "Storage", types=STORAGE),),
    code="InvalidKind",
    message="The kind is no longer sold.",
)
READER = EmulatedPrincipal(client="reader", object="reader-object", secret="shh", read_only=True)


def check(item=None, **changes):
    return {**CHECK, "resources": [{**ITEM, **(item or {})}], **changes}


async def validate(azure, body):
    return await azure.send_request("POST", VALIDATE, body, version=PREFLIGHT_VERSION)


async def test_what_is_valid_is_listed_in_the_order_of_the_question():
    items = [{**ITEM, "name": name, "type": "Microsoft.Storage/storageAccounts"} for name in ("zeta", "alpha")]
    async with emulated(has_group=True) as azure:
        reply = await validate(azure, {**CHECK, "resources": items})
        ids = azure.emulator.ids()
    names = [at(STORAGE[0], name) for name in ("zeta", "alpha")]
    assert (reply.status, reply.body) == (200, {"properties": {"validatedResources": names}})
    assert ids == [GROUP], "nothing is stored"


PATHS = [
    (
        {"scope": SUBSCRIPTION},
        {},
        f"{SUBSCRIPTION}/providers/Microsoft.Storage/storageAccounts/stapp1",
        "a subscription",
    ),
    (
        {"provider": "Microsoft.Network", "type": "virtualNetworks/subnets"},
        {"name": "hub/a"},
        f"{VNET}/subnets/a",
        "a nested type, by both names",
    ),
    (
        {"provider": "Microsoft.Network", "type": "virtualNetworks/subnets", "scope": VNET},
        {"name": "a"},
        f"{VNET}/subnets/a",
        "a nested type at its parent, which need not exist",
    ),
    (
        {"provider": "Microsoft.Insights", "type": "diagnosticSettings", "scope": VNET},
        {"name": "logs"},
        f"{VNET}/providers/Microsoft.Insights/diagnosticSettings/logs",
        "an extension",
    ),
    (
        {"provider": "Microsoft.Resources", "type": "resourceGroups", "scope": SUBSCRIPTION},
        {"name": "new"},
        f"{SUBSCRIPTION}/resourceGroups/new",
        "a group",
    ),
]


@pytest.mark.parametrize(("changes", "item", "path", "why"), PATHS, ids=[row[-1] for row in PATHS])
async def test_ids_of_what_was_validated(changes, item, path, why):
    async with emulated(has_group=True) as azure:
        reply = await validate(azure, check(item, **changes))
    assert reply.body["properties"]["validatedResources"] == [path], why


MALFORMED = [
    ({"provider": None}, {}, 400, "InvalidRequestContent", "no provider"),
    ({"type": ""}, {}, 400, "InvalidRequestContent", "no type"),
    ({"scope": None}, {}, 400, "InvalidRequestContent", "no scope"),
    ({"scope": "net"}, {}, 400, "InvalidRequestContent", "a scope that is no id"),
    ({"resources": []}, {}, 400, "InvalidRequestContent", "nothing to validate"),
    ({"resources": ["stapp1"]}, {}, 400, "InvalidRequestContent", "a resource that is a word"),
    ({}, {"apiVersion": None}, 400, "InvalidRequestContent", "a resource without an api-version"),
    ({}, {"type": "Microsoft.Web/sites"}, 400, "InvalidRequestContent", "a resource of another type"),
    ({}, {"location": "northeurope"}, 400, "InvalidRequestContent", "a resource in another region"),
    ({}, {"name": "stapp1/default"}, 400, "InvalidRequestContent", "a name with more parts than the type"),
    ({}, {"name": "/"}, 400, "InvalidRequestContent", "an empty name"),
    ({"scope": OTHER}, {}, 404, "ResourceGroupNotFound", "a group that does not exist"),
]


@pytest.mark.parametrize(("changes", "item", "status", "code", "why"), MALFORMED, ids=[row[-1] for row in MALFORMED])
async def test_questions_that_are_wrong(changes, item, status, code, why):
    body = check(item)
    async with emulated(has_group=True) as azure:
        reply = await validate(azure, {**body, **changes})
    assert (reply.status, reply.code) == (status, code), why


def detail(code, target):
    return {"code": code, "target": target}


UNKNOWN = "[length('foo')]"
VERDICTS = [
    (governed(make_policy()), {}, [], "a policy that it keeps"),
    (
        governed(make_policy(Effect.DENY, when("kind", Operator.EQUALS, "StorageV2"))),
        {},
        [detail("RequestDisallowedByPolicy", "stapp1")],
        "a deny",
    ),
    (governed(make_policy(Effect.AUDIT, when("kind", Operator.EXISTS, True))), {}, [], "an audit is no refusal"),
    (
        governed(make_policy(Effect.DENY, when("kind", Operator.EXISTS, True), enforced=False)),
        {},
        [],
        "a policy that is not enforced",
    ),
    (
        governed(make_policy(Effect.DENY, when("kind", Operator.EXISTS, True)), exemptions=(EXEMPT,)),
        {},
        [],
        "an exemption",
    ),
    (
        governed(make_policy(Effect.DENY, when("properties.a", Operator.NOT_EQUALS, "b"))),
        {"properties": {"a": UNKNOWN}},
        [],
        "an expression meets no condition",
    ),
    (
        governed(make_policy(Effect.DENY, when("properties.a.b", Operator.EXISTS, False))),
        {"properties": {"a": UNKNOWN}},
        [],
        "nor does what it may contain",
    ),
    (
        governed(make_policy(Effect.DENY, when("properties.a", Operator.EQUALS, "[b]"))),
        {"properties": {"a": "[[b]"}},
        [detail("RequestDisallowedByPolicy", "stapp1")],
        "a bracket that is doubled is a text",
    ),
    (OPEN, {"properties": {"a": ["[b]"]}}, [detail("InvalidTemplate", "stapp1")], "a bracket that is not doubled"),
    (
        replace(OPEN, preflight=PreflightSettings(refusals=(BAD_KIND,))),
        {"kind": "Storage"},
        [detail("InvalidKind", ACCOUNT)],
        "a rule of the provider",
    ),
    (
        replace(OPEN, preflight=PreflightSettings(refusals=(BAD_KIND,), silent=STORAGE)),
        {"kind": "Storage"},
        [],
        "which a type without preflight keeps to itself",
    ),
    (
        replace(OPEN, types={STORAGE[0]: ("2024-01-01",)}),
        {},
        [detail("NoRegisteredProviderFound", "stapp1")],
        "an api-version that is gone",
    ),
]


@pytest.mark.parametrize(("settings", "item", "details", "why"), VERDICTS, ids=[row[-1] for row in VERDICTS])
async def test_verdicts_of_the_preflight(settings, item, details, why):
    async with emulated(settings, has_group=True) as azure:
        reply = await validate(azure, check(item))
    if not details:
        assert (reply.status, reply.body["properties"]["validatedResources"]) == (200, [ACCOUNT]), why
        return
    assert (reply.status, reply.code) == (400, "ResourceValidationFailed"), why
    found = [detail(row["code"], row["target"]) for row in reply.body["error"]["details"]]
    assert found == details, why


async def test_a_type_whose_answer_validates_nothing():
    settings = replace(OPEN, preflight=PreflightSettings(empty=("microsoft.storage/STORAGEACCOUNTS",)))
    async with emulated(settings, has_group=True) as azure:
        reply = await validate(azure, CHECK)
    assert (reply.status, reply.body) == (200, {"properties": {"validatedResources": []}})


ITS_GROUP, OTHERS = replace(READER, scopes=(GROUP,)), replace(READER, scopes=(OTHER,))
RIGHTS = [
    (READER, True, {}, "", "Reader is enough with the flag"),
    (READER, False, {}, "Microsoft.Storage/storageAccounts/write", "and not without it"),
    (replace(READER, read_only=False), False, {}, "", "unless the caller may write"),
    (ITS_GROUP, True, {}, "", "a role in one group is enough for what is in it"),
    (OTHERS, True, {}, "Microsoft.Storage/storageAccounts/read", "but for nothing in another"),
    (
        ITS_GROUP,
        True,
        {"provider": "Microsoft.Resources", "type": "resourceGroups", "scope": SUBSCRIPTION},
        "Microsoft.Resources/subscriptions/resourceGroups/read",
        "nor for a new group",
    ),
]


@pytest.mark.parametrize(("principal", "flag", "changes", "missing", "why"), RIGHTS, ids=[row[-1] for row in RIGHTS])
async def test_rights_of_the_preflight(principal, flag, changes, missing, why):
    async with emulated(replace(OPEN, principals=(principal,), require_token=True)) as azure:
        azure.headers["Authorization"] = f"Bearer {azure.emulator.tokens.token(principal)}"
        azure.emulator.put(GROUP, {"location": "westeurope"})
        reply = await validate(azure, check(performPreflightWithoutRbacWriteCheck=flag, **changes))
    assert reply.status == (400 if missing else 200), why
    if missing:
        (row,) = reply.body["error"]["details"]
        assert row["code"] == "InvalidTemplateDeployment"
        assert row["message"].startswith(
            "The template deployment failed with error: 'Authorization failed for template resource 'stapp1'"
        )
        assert f"'{missing}'" in row["message"]


LOCKS, ASSIGNMENTS = (f"providers/Microsoft.Authorization/{kind}" for kind in ("locks", "policyAssignments"))
ROLE_IN_GROUP = [
    ("GET", f"{GROUP}/{LOCKS}", "", "the locks of the group"),
    ("GET", f"{SUBSCRIPTION}/{LOCKS}", "Microsoft.Authorization/locks/read", "those of the subscription"),
    ("GET", f"{GROUP}/{ASSIGNMENTS}", "", "the policies of the group"),
    ("GET", f"{OTHER}/{ASSIGNMENTS}", "Microsoft.Authorization/policyAssignments/read", "those of another group"),
    ("POST", f"{GROUP}/{RESTRICTIONS}", "", "what policies say of a resource of the group"),
    (
        "POST",
        f"{SUBSCRIPTION}/{RESTRICTIONS}",
        "Microsoft.PolicyInsights/checkPolicyRestrictions/read",
        "and of a new group",
    ),
]


@pytest.mark.parametrize(("method", "path", "missing", "why"), ROLE_IN_GROUP, ids=[row[-1] for row in ROLE_IN_GROUP])
async def test_a_reader_of_one_group(method, path, missing, why):
    async with emulated(replace(OPEN, principals=(ITS_GROUP,), require_token=True)) as azure:
        azure.headers["Authorization"] = f"Bearer {azure.emulator.tokens.token(ITS_GROUP)}"
        for group in (GROUP, OTHER):
            azure.emulator.put(group, {"location": "westeurope"})
        reply = await azure.send_request(method, path, {"resourceDetails": {"resourceContent": CONTENT}})
    assert reply.status == (403 if missing else 200), why
    if missing:
        assert reply.code == "AuthorizationFailed"
        assert f"perform action '{missing}' over scope" in reply.message


TAKEN = TakenName(type=STORAGE[0], name="STAPP1")
NAMES = [
    (replace(OPEN, taken_names=(TAKEN,)), False, "StorageAccountAlreadyTaken", "a name that somebody else has"),
    (replace(OPEN, taken_names=(TAKEN,)), True, "", "which is no question for what is there already"),
    (
        replace(OPEN, taken_names=(TAKEN,), preflight=PreflightSettings(silent=STORAGE)),
        False,
        "",
        "a provider without preflight does not look",
    ),
]


@pytest.mark.parametrize(("settings", "is_there", "code", "why"), NAMES, ids=[row[-1] for row in NAMES])
async def test_names_in_the_preflight(settings, is_there, code, why):
    async with emulated(settings, has_group=True) as azure:
        if is_there:
            azure.emulator.put(ACCOUNT, {"location": "westeurope"})
        reply = await validate(azure, CHECK)
    if not code:
        assert reply.status == 200, why
        return
    (row,) = reply.body["error"]["details"]
    assert row["code"] == "PreflightValidationCheckFailed"
    message = "The storage account named stapp1 is already taken."
    assert row["details"] == [{"target": "stapp1", "code": code, "message": message}]


async def test_the_preflight_sees_a_deleted_vault_and_how_it_comes_back():
    vault = at("Microsoft.KeyVault/vaults", "kv1")
    body = check({"name": "kv1"}, provider="Microsoft.KeyVault", type="vaults")
    recovery = check(
        {"name": "kv1", "properties": {"createMode": "recover"}}, provider="Microsoft.KeyVault", type="vaults"
    )
    async with emulated(has_group=True) as azure:
        await azure.made(vault)
        await azure.delete(vault)
        refused, taken = await validate(azure, body), await validate(azure, recovery)
        again = await validate(azure, recovery)
    assert refused.body["error"]["details"][0]["details"][0]["code"] == "ConflictError"
    assert (taken.status, again.status) == (200, 200), "to ask brings nothing back"


DENIED = [
    (Denial(action="Microsoft.Resources/validateResources/*"), VALIDATE, "Microsoft.Resources/validateResources/read"),
    (
        Denial(action="Microsoft.PolicyInsights/*"),
        f"{GROUP}/{RESTRICTIONS}",
        "Microsoft.PolicyInsights/checkPolicyRestrictions/read",
    ),
    (
        Denial(action="Microsoft.Authorization/locks/read"),
        f"{GROUP}/providers/Microsoft.Authorization/locks",
        "Microsoft.Authorization/locks/read",
    ),
]


@pytest.mark.parametrize(("denial", "path", "action"), DENIED, ids=[row[-1] for row in DENIED])
async def test_a_right_that_is_missing_is_named(denial, path, action):
    async with emulated(replace(OPEN, denied=(denial,)), has_group=True) as azure:
        reply = await azure.send_request("GET" if path.endswith("locks") else "POST", path, CHECK)
    assert (reply.status, reply.code) == (403, "AuthorizationFailed")
    assert f"perform action '{action}' over scope" in reply.message


# The restrictions of policies.

EUROPE = make_policy(name="europe", message="Use a European region.")
AUDITED = make_policy(Effect.AUDIT, when("kind", Operator.EQUALS, "StorageV2"), name="audited")
TAG = make_policy(Effect.MODIFY, when("tags.env", Operator.EXISTS, False), name="tag", field="tags.env", value="dev")
UNTAGGED = make_policy(Effect.DENY, when("tags.env", Operator.EXISTS, False), name="untagged")
CONTENT = {"type": STORAGE[0], "name": "stapp1", "location": "eastus", "kind": "StorageV2", "properties": {}}


async def restrict(azure, content=None, scope=GROUP, *, parent="", **more):
    details = {"resourceContent": {**CONTENT, **(content or {})}, "apiVersion": "2023-05-01", "scope": parent}
    return await azure.send_request(
        "POST", f"{scope}/{RESTRICTIONS}", {"resourceDetails": details, **more}, version="2024-10-01"
    )


EVALUATIONS = [
    ((EUROPE, AUDITED), {}, {}, [("europe", "Deny")], "audits are not asked for"),
    (
        (EUROPE, AUDITED),
        {},
        {"includeAuditEffect": True},
        [("europe", "Deny"), ("audited", "Audit")],
        "audits are asked for",
    ),
    ((EUROPE,), {"location": "northeurope"}, {}, [], "compliant"),
    ((replace(EUROPE, scope=OTHER),), {}, {}, [], "of another group"),
    ((replace(EUROPE, scope=ACCOUNT),), {}, {}, [("europe", "Deny")], "of the resource itself"),
    ((replace(EUROPE, enforced=False),), {}, {}, [("europe", "Deny")], "it does not know what is enforced"),
    ((TAG,), {}, {}, [("tag", "Modify")], "a change"),
    ((TAG,), {}, {"pendingFields": [{"field": "tags"}]}, [], "a change of a pending field is a restriction of it"),
    ((UNTAGGED, TAG), {}, {"pendingFields": [{"field": "tags"}]}, [], "what another policy sets is not missing"),
    (
        (UNTAGGED, replace(TAG, enforced=False)),
        {},
        {},
        [("untagged", "Deny"), ("tag", "Modify")],
        "but for one that is not enforced",
    ),
    (
        (replace(TAG, effect=Effect.APPEND, conditions=(when(types=STORAGE),)),),
        {"tags": {"env": "prod"}},
        {},
        [("tag", "Deny")],
        "an append that would change a value",
    ),
]


@pytest.mark.parametrize(("policies", "content", "more", "names", "why"), EVALUATIONS, ids=[r[-1] for r in EVALUATIONS])
async def test_policies_that_a_resource_breaks(policies, content, more, names, why):
    async with emulated(governed(*policies), has_group=True) as azure:
        reply = await restrict(azure, content, **more)
    rows = reply.body["contentEvaluationResult"]["policyEvaluations"]
    found = [
        (row["policyInfo"]["policyAssignmentId"].rpartition("/")[2], row["effectDetails"]["policyEffect"])
        for row in rows
    ]
    assert found == names, why
    assert {row["evaluationResult"] for row in rows} <= {"NonCompliant"}


async def test_an_exemption_does_not_count_in_the_question():
    exempt = EmulatedExemption(policy="europe", scope=GROUP)
    async with emulated(governed(EUROPE, exemptions=(exempt,)), has_group=True) as azure:
        reply = await restrict(azure)
    (row,) = reply.body["contentEvaluationResult"]["policyEvaluations"]
    assert row["evaluationDetails"]["reason"] == "Use a European region."


SKU = make_policy(Effect.DENY, when("sku.name", Operator.IN, "Premium_LRS", "Premium_ZRS", types=STORAGE), name="cheap")
TLS = make_policy(
    Effect.APPEND,
    when("properties.minimumTlsVersion", Operator.EXISTS, False, types=STORAGE),
    name="tls",
    field="properties.minimumTlsVersion",
    value="TLS1_2",
)
ALIAS = "Microsoft.Storage/storageAccounts"
FIELDS = [
    ((TAG,), {}, [], [], "a field that is not pending"),
    (
        (TAG,),
        {},
        [{"field": "tags"}],
        [("tags.env", {"result": "Required", "values": ["dev"], "defaultValue": "dev", "policyEffect": "Modify"})],
        "a tag that a policy adds",
    ),
    ((TAG,), {"tags": {"env": "prod"}}, [{"field": "tags"}], [], "a tag that is there"),
    (
        (UNTAGGED,),
        {},
        [{"field": "tags"}],
        [("tags.env", {"result": "Required", "policyEffect": "Deny"})],
        "a tag that a policy wants",
    ),
    (
        (UNTAGGED, TAG),
        {},
        [{"field": "tags"}],
        [("tags.env", {"result": "Required", "values": ["dev"], "defaultValue": "dev", "policyEffect": "Modify"})],
        "a tag that one policy wants and another one sets",
    ),
    (
        (TLS,),
        {},
        [{"field": f"{ALIAS}/minimumTlsVersion"}],
        [
            (
                f"{ALIAS}/minimumTlsVersion",
                {"result": "Required", "values": ["TLS1_2"], "defaultValue": "TLS1_2", "policyEffect": "Append"},
            )
        ],
        "a member that a policy appends, by its alias",
    ),
    (
        (EUROPE,),
        {},
        [{"field": "location"}],
        [("location", {"result": "Required", "values": ["westeurope", "northeurope"], "policyEffect": "Deny"})],
        "values that are allowed",
    ),
    (
        (EUROPE,),
        {},
        [{"field": "location", "values": ["westeurope", "westus"]}],
        [("location", {"result": "Deny", "values": ["westus"], "policyEffect": "Deny"})],
        "of candidates those that are denied",
    ),
    (
        (SKU,),
        {},
        [{"field": "sku.name"}],
        [(f"{ALIAS}/sku.name", {"result": "Deny", "values": ["Premium_LRS", "Premium_ZRS"], "policyEffect": "Deny"})],
        "values that are denied",
    ),
    ((SKU,), {"type": "Microsoft.Web/sites"}, [{"field": "sku.name"}], [], "of another type"),
]


@pytest.mark.parametrize(("policies", "content", "pending", "expected", "why"), FIELDS, ids=[row[-1] for row in FIELDS])
async def test_what_policies_say_of_pending_fields(policies, content, pending, expected, why):
    async with emulated(governed(*policies), has_group=True) as azure:
        reply = await restrict(azure, content, pendingFields=pending)
    found = [
        (row["field"], {name: value for name, value in restriction.items() if name not in {"policy", "reason"}})
        for row in reply.body["fieldRestrictions"]
        for restriction in row["restrictions"]
    ]
    assert found == expected, why


LOCATIONS = [
    (GROUP, {}, "", 200, "a group"),
    (SUBSCRIPTION, {}, "", 200, "a subscription, for a group that does not exist yet"),
    (OTHER, {}, "", 404, "a group that does not exist"),
    (GROUP, {"type": "Microsoft.Network/virtualNetworks/subnets", "name": "a"}, VNET, 200, "a nested type"),
    (
        SUBSCRIPTION,
        {"type": "Microsoft.Resources/subscriptions/resourceGroups", "name": "x"},
        "",
        200,
        "a group as such",
    ),
]


@pytest.mark.parametrize(("scope", "content", "parent", "status", "why"), LOCATIONS, ids=[row[-1] for row in LOCATIONS])
async def test_where_the_question_can_be_asked(scope, content, parent, status, why):
    async with emulated(has_group=True) as azure:
        reply = await restrict(azure, content, scope, parent=parent)
    assert reply.status == status, why
    if status == 200:
        assert reply.body == {"fieldRestrictions": [], "contentEvaluationResult": {"policyEvaluations": []}}


NO_CONTENT = [
    (None, "no body"),
    ({}, "no details"),
    ({"resourceDetails": {}}, "no content"),
    ({"resourceDetails": {"resourceContent": "x"}}, "content that is a word"),
    ({"resourceDetails": {"resourceContent": CONTENT}, "pendingFields": "tags"}, "a pending field that is a word"),
    ({"resourceDetails": {"resourceContent": CONTENT}, "pendingFields": ["tags"]}, "a list of words"),
]


@pytest.mark.parametrize(("body", "why"), NO_CONTENT, ids=[row[-1] for row in NO_CONTENT])
async def test_questions_about_policies_that_are_wrong(body, why):
    async with emulated(has_group=True) as azure:
        reply = await azure.send_request("POST", f"{GROUP}/{RESTRICTIONS}", body, version="2024-10-01")
    assert (reply.status, reply.code) == (400, "InvalidRequestContent"), why


async def test_the_provider_of_the_question_must_be_registered():
    async with emulated(replace(OPEN, unregistered=("Microsoft.PolicyInsights",)), has_group=True) as azure:
        reply = await restrict(azure)
    assert (reply.status, reply.code) == (409, "MissingSubscriptionRegistration")


# A write ends as the checks foretell: the same settings, checked and then done.

RULES = [
    *VERDICTS,
    (governed(EUROPE), {"location": "eastus"}, [detail("RequestDisallowedByPolicy", "stapp1")], "a region"),
    (governed(replace(EUROPE, scope=OTHER)), {"location": "eastus"}, [], "a region elsewhere"),
    (governed(TAG, make_policy(Effect.DENY, when("tags.env", Operator.EXISTS, False))), {}, [], "a tag that is added"),
]
CAN_BE_WRITTEN = [row for row in RULES if "[" not in str(row[1]) and not row[0].preflight.silent]
"""Without expressions, which a write takes as texts, and types whose provider checks nothing before."""


@pytest.mark.parametrize(("settings", "item", "_details", "why"), CAN_BE_WRITTEN, ids=[r[-1] for r in CAN_BE_WRITTEN])
async def test_a_write_ends_as_the_preflight_foretold(settings, item, _details, why):
    body = check(item)
    body["location"] = body["resources"][0]["location"]
    async with emulated(settings, has_group=True) as azure:
        requested = await validate(azure, body)
        done = await azure.put(
            ACCOUNT,
            {name: value for name, value in body["resources"][0].items() if name not in {"name", "apiVersion"}},
            version="2023-05-01",
        )
    if requested.status == 200:
        assert done.status in {201, 202}, why
    else:
        (foretold,) = requested.body["error"]["details"]
        refusal = done.body["error"]
        assert (refusal["code"], refusal["message"]) == (foretold["code"], foretold["message"]), why


FIELD_VALUES = {
    "location": st.sampled_from(["westeurope", "West Europe", "eastus"]),
    "kind": st.sampled_from(["StorageV2", "BlobStorage"]),
    "tags.env": st.sampled_from(["dev", "prod"]),
    "properties.a.b": st.sampled_from([True, 1, "x"]),
}
FIELDS_THAT_CHANGE = ["kind", "tags.env", "properties.a.b"]


@st.composite
def conditions(draw):
    field = draw(st.sampled_from(sorted(FIELD_VALUES)))
    operator = draw(st.sampled_from(list(Operator)))
    values = draw(st.lists(FIELD_VALUES[field] if operator is not Operator.EXISTS else st.booleans(), min_size=1))
    return when(field, operator, *values, types=draw(st.sampled_from([(), STORAGE, ("Microsoft.Web/sites",)])))


@st.composite
def policies(draw, name):
    effect = draw(st.sampled_from([*Effect, Effect.DENY]))
    field = draw(st.sampled_from(FIELDS_THAT_CHANGE))
    change = {"field": field, "value": draw(FIELD_VALUES[field])} if effect.changes else {}
    return make_policy(
        effect,
        *draw(st.lists(conditions(), min_size=1, max_size=2)),
        name=name,
        scope=draw(st.sampled_from([SUBSCRIPTION, GROUP, OTHER])),
        enforced=draw(st.sampled_from([True, True, False])),
        **change,
    )


BODIES = st.fixed_dictionaries(
    {"location": FIELD_VALUES["location"]},
    optional={
        "kind": FIELD_VALUES["kind"],
        "tags": st.dictionaries(st.sampled_from(["env", "Env", "a"]), FIELD_VALUES["tags.env"], max_size=1),
        "properties": st.fixed_dictionaries(
            {}, optional={"a": st.fixed_dictionaries({"b": FIELD_VALUES["properties.a.b"]})}
        ),
    },
)


def answered(cloud, method, path, body):
    """The status of an answer, and its body."""
    request = ServerRequest(method=method, target=parse(path), api_version="2023-05-01", base="", body=body)
    try:
        answer = route_request(cloud, request)
    except Refused as refused:
        answer = refused.answer
    return answer.status, answer.body


@given(st.tuples(*(policies(name) for name in "abc")), st.sampled_from(["", "a", "b"]), BODIES)
def test_both_checks_foretell_every_write(rules, exempt, body):
    exemptions = (EmulatedExemption(policy=exempt, scope=GROUP),) if exempt else ()
    cloud = EmulatedCloud(MemoryStore(), governed(*rules, exemptions=exemptions), TestClock())
    answered(cloud, "PUT", GROUP, {"location": "westeurope"})
    items = [{"name": "stapp1", "apiVersion": "2023-05-01", **body}]
    preflight = {**CHECK, "location": body["location"], "resources": items}
    validated, _ = answered(cloud, "POST", VALIDATE, preflight)
    content = {"type": STORAGE[0], "name": "stapp1", **body}
    details = {"resourceDetails": {"resourceContent": content, "apiVersion": "2023-05-01"}}
    _, restricted = answered(cloud, "POST", f"{GROUP}/{RESTRICTIONS}", details)
    status, error = answered(cloud, "PUT", ACCOUNT, body)
    assert (validated == 200) == (status in {201, 202}), "the preflight"
    in_force = {rule.id for rule in rules if rule.enforced and rule.name != exempt}
    denying = {
        row["policyInfo"]["policyAssignmentId"]
        for row in restricted["contentEvaluationResult"]["policyEvaluations"]
        if row["effectDetails"]["policyEffect"] == "Deny"
    }
    refusing = (
        {row["info"]["policyAssignmentId"] for row in error["error"]["additionalInfo"]} if status == 403 else set()
    )
    assert denying & in_force == refusing, "the restrictions, of what is enforced and not exempt"
