"""Locks, deny assignments and policies of the settings: what they list, and what they refuse of writes."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from gitsync.emulator.governance.policies import (
    Effect,
    EmulatedExemption,
    EmulatedPolicy,
    Operator,
    PolicyCondition,
    PolicyContent,
)
from gitsync.emulator.settings import (
    BodyRefusal,
    EmulatedDenyAssignment,
    EmulatedPrincipal,
    ManagementLock,
    read_settings,
)
from gitsync.errors import ConfigError
from tests.emulator.asked import GROUP, OPEN, SUBSCRIPTION, VNET, TestClock, at, emulated

ACCOUNT = at("Microsoft.Storage/storageAccounts", "stapp1")
OTHER = f"{SUBSCRIPTION}/resourceGroups/other"
MANAGEMENT_GROUP = "/providers/Microsoft.Management/managementGroups/corp"
AUTHORIZATION = "providers/Microsoft.Authorization"


def when(field="", operator=Operator.EXISTS, *values, types=()):
    return PolicyCondition(types=types, field=field, operator=operator, values=values)


def make_policy(effect=Effect.DENY, *conditions, scope=SUBSCRIPTION, **more):
    rows = conditions or (when("location", Operator.NOT_IN, "westeurope", "northeurope"),)
    return EmulatedPolicy(**{"name": "rule", "scope": scope, "effect": effect, "conditions": rows, **more})


def governed(*policies, **settings):
    return replace(OPEN, policies=policies, **settings)


# What lists show.

KEEP = ManagementLock(scope=GROUP, name="keep", notes="The network of all.")
ON_VNET = ManagementLock(scope=VNET, read_only=True)
ON_ALL = ManagementLock(scope=SUBSCRIPTION, name="all")
LOCKED = replace(OPEN, locks=(KEEP, ON_VNET, ON_ALL))

LISTS = [
    (SUBSCRIPTION, "", ["all", "keep", "ReadOnly"], "a subscription lists the locks of what it holds"),
    (SUBSCRIPTION, "atScope()", ["all"], "but for those below"),
    (GROUP, "", ["all", "keep", "ReadOnly"], "a group lists those above and below"),
    (GROUP, "atScope()", ["all", "keep"], "those above hold at the scope too"),
    (GROUP, "atExactScope()", ["keep"], "its own alone"),
    (VNET, "atScope()", ["all", "keep", "ReadOnly"], "a resource has those of its group and its subscription"),
    (OTHER, "", ["all"], "another group has not"),
]


@pytest.mark.parametrize(("scope", "query_filter", "names", "why"), LISTS, ids=[row[-1] for row in LISTS])
async def test_locks_are_listed(scope, query_filter, names, why):
    async with emulated(LOCKED) as azure:
        for path in (GROUP, OTHER, VNET):
            azure.emulator.put(path, {"location": "westeurope"})
        reply = await azure.get(f"{scope}/{AUTHORIZATION}/locks?$filter={query_filter}")
    assert sorted(entry["name"] for entry in reply.body["value"]) == sorted(names), why


async def test_a_lock_is_shown_as_recorded():
    async with emulated(LOCKED, has_group=True) as azure:
        listed = await azure.get(f"{GROUP}/{AUTHORIZATION}/locks?$filter=atExactScope()")
        single = await azure.get(f"{GROUP}/{AUTHORIZATION}/locks/keep")
    lock = {
        "id": f"{GROUP}/{AUTHORIZATION}/locks/keep",
        "name": "keep",
        "type": "Microsoft.Authorization/locks",
        "properties": {"level": "CanNotDelete", "notes": "The network of all."},
    }
    assert (listed.body["value"], single.body) == ([lock], lock)


async def test_a_list_has_what_was_put_and_what_the_settings_say():
    async with emulated(LOCKED, has_group=True) as azure:
        await azure.put(f"{GROUP}/{AUTHORIZATION}/locks/mine", {"properties": {"level": "CanNotDelete"}})
        reply = await azure.get(f"{GROUP}/{AUTHORIZATION}/locks?$filter=atExactScope()")
    assert [entry["name"] for entry in reply.body["value"]] == ["keep", "mine"]


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
async def test_no_request_changes_what_the_settings_say(method):
    async with emulated(LOCKED, has_group=True) as azure:
        reply = await azure.send_request(
            method, f"{GROUP}/{AUTHORIZATION}/locks/keep", {"properties": {"level": "ReadOnly"}}
        )
    verb = {"PUT": "write", "DELETE": "delete"}[method]
    assert (reply.status, reply.code) == (403, "AuthorizationFailed")
    assert f"'Microsoft.Authorization/locks/{verb}'" in reply.message


async def test_assignments_and_exemptions_are_listed():
    policy = make_policy(
        name="only-europe",
        display_name="Only Europe",
        message="Use a European region.",
        scope=MANAGEMENT_GROUP,
        enforced=False,
        not_scopes=(OTHER,),
    )
    exemption = EmulatedExemption(
        policy="only-europe", scope=GROUP, name="lab", expires=datetime(2027, 1, 1, tzinfo=UTC)
    )
    async with emulated(governed(policy, exemptions=(exemption,)), has_group=True) as azure:
        assignments = await azure.get(f"{GROUP}/{AUTHORIZATION}/policyAssignments?$filter=atScope()")
        exemptions = await azure.get(f"{GROUP}/{AUTHORIZATION}/policyExemptions?$filter=atScope()")
        above = await azure.get(f"{SUBSCRIPTION}/{AUTHORIZATION}/policyExemptions?$filter=atScope()")
    (assignment,), (exempt,) = assignments.body["value"], exemptions.body["value"]
    assert assignment["id"] == f"{MANAGEMENT_GROUP}/{AUTHORIZATION}/policyAssignments/only-europe"
    assert assignment["properties"]["displayName"] == "Only Europe"
    assert assignment["properties"]["enforcementMode"] == "DoNotEnforce"
    assert assignment["properties"]["nonComplianceMessages"] == [{"message": "Use a European region."}]
    assert assignment["properties"]["notScopes"] == [OTHER]
    assert exempt["id"] == f"{GROUP}/{AUTHORIZATION}/policyExemptions/lab"
    assert exempt["properties"]["policyAssignmentId"] == assignment["id"]
    assert exempt["properties"]["expiresOn"] == "2027-01-01T00:00:00.000000Z"
    assert above.body["value"] == []


async def test_a_deny_assignment_is_listed_with_its_principals():
    denial = EmulatedDenyAssignment(
        name="stack", scope=GROUP, actions=("*/delete",), everyone=True, exclude_principals=("owner",)
    )
    async with emulated(replace(OPEN, deny_assignments=(denial,)), has_group=True) as azure:
        reply = await azure.get(f"{GROUP}/{AUTHORIZATION}/denyAssignments")
    properties = reply.body["value"][0]["properties"]
    assert properties["denyAssignmentName"] == "stack"
    assert properties["permissions"][0]["actions"] == ["*/delete"]
    assert properties["principals"] == [{"id": "00000000-0000-0000-0000-000000000000", "type": "SystemDefined"}]
    assert [row["id"] for row in properties["excludePrincipals"]] == ["owner"]


@pytest.mark.parametrize("kind", ["locks", "denyAssignments", "policyAssignments", "policyExemptions"])
async def test_without_settings_the_lists_are_empty(kind):
    async with emulated(replace(OPEN, types={"Contoso.Things/things": ()}), has_group=True) as azure:
        reply = await azure.get(f"{GROUP}/{AUTHORIZATION}/{kind}")
    assert (reply.status, reply.body["value"]) == (200, [])


# What locks and deny assignments refuse.

KEYS = f"{ACCOUNT}/listKeys"
CONTAINER = f"{ACCOUNT}/blobServices/default/containers/data"
GRANT = f"{ACCOUNT}/{AUTHORIZATION}/roleAssignments/5b0a1c5e-9f0b-4c52-9d2e-6f2f0d3a7c11"
LOCKS = [
    (ManagementLock(scope=GROUP), "POST", KEYS, "", "CanNotDelete lets actions"),
    (ManagementLock(scope=GROUP, read_only=True), "POST", KEYS, ACCOUNT, "ReadOnly forbids to read keys by a POST"),
    (ManagementLock(scope=GROUP, read_only=True), "PATCH", ACCOUNT, ACCOUNT, "ReadOnly forbids changes"),
    (ManagementLock(scope=GROUP), "PATCH", ACCOUNT, "", "CanNotDelete lets changes"),
    (ManagementLock(scope=SUBSCRIPTION), "DELETE", GROUP, GROUP, "a lock of the subscription keeps its groups"),
    (ManagementLock(scope=ACCOUNT), "DELETE", GROUP, GROUP, "a group that holds a locked resource stays as a whole"),
    (ManagementLock(scope=ACCOUNT, read_only=True), "DELETE", CONTAINER, CONTAINER, "a child of what is locked"),
    (ManagementLock(scope=ACCOUNT), "PATCH", CONTAINER, "", "which CanNotDelete lets change"),
    (ManagementLock(scope=GROUP), "DELETE", GRANT, GRANT, "a role assignment is not taken away below a lock"),
    (ManagementLock(scope=SUBSCRIPTION, read_only=True), "PUT", OTHER, OTHER, "no new group below ReadOnly"),
    (ManagementLock(scope=f"{ACCOUNT}x"), "DELETE", ACCOUNT, "", "the name of another resource begins alike"),
    (ManagementLock(scope=ACCOUNT.upper()), "DELETE", ACCOUNT, ACCOUNT, "case does not count"),
]


@pytest.mark.parametrize(("lock", "method", "path", "scope", "why"), LOCKS, ids=[row[-1] for row in LOCKS])
async def test_locks_refuse(lock, method, path, scope, why):
    async with emulated(replace(OPEN, locks=(lock,))) as azure:
        for resource in (GROUP, ACCOUNT, CONTAINER, GRANT):
            azure.emulator.put(resource, {"location": "westeurope"})
        before = azure.emulator.ids()
        reply = await azure.send_request(method, path, {} if method == "PATCH" else None)
        after = azure.emulator.ids()
    assert (reply.status == 409) == bool(scope), why
    if scope:
        verb = "delete" if method == "DELETE" else "write"
        assert reply.code == "ScopeLocked"
        assert reply.message == (
            f"The scope '{scope}' cannot perform {verb} operation because following scope(s) are locked: "
            f"'{lock.scope}'. Please remove the lock and try again."
        )
        assert after == before, "nothing is deleted"


DENY = EmulatedDenyAssignment(name="Stack s", scope=GROUP, actions=("*/delete",), everyone=True)
WRITES = ("Microsoft.Storage/*/write", "Microsoft.Storage/*/action")
DENIALS = [
    (DENY, "DELETE", ACCOUNT, "Microsoft.Storage/storageAccounts/delete", "a stack that denies deletes"),
    (DENY, "PATCH", ACCOUNT, "", "it denies nothing else"),
    (replace(DENY, actions=WRITES), "POST", KEYS, "Microsoft.Storage/storageAccounts/listKeys/action", "an action"),
    (replace(DENY, not_actions=("Microsoft.Storage/*",)), "DELETE", ACCOUNT, "", "what it excepts is allowed"),
    (replace(DENY, only_at_scope=True), "DELETE", ACCOUNT, "", "not for what is below its scope"),
    (
        replace(DENY, only_at_scope=True),
        "DELETE",
        GROUP,
        "Microsoft.Resources/subscriptions/resourceGroups/delete",
        "for its scope",
    ),
    (replace(DENY, everyone=False, principals=("other",)), "DELETE", ACCOUNT, "", "another principal"),
    (
        replace(DENY, everyone=False, principals=("AGENT-object",)),
        "DELETE",
        ACCOUNT,
        "Microsoft.Storage/storageAccounts/delete",
        "this principal",
    ),
    (replace(DENY, exclude_principals=("agent",)), "DELETE", ACCOUNT, "", "everyone but this one"),
    (replace(DENY, scope=OTHER), "DELETE", ACCOUNT, "", "in another group"),
]
AGENT = EmulatedPrincipal(client="agent", object="agent-object", secret="shh")


@pytest.mark.parametrize(("denial", "method", "path", "action", "why"), DENIALS, ids=[row[-1] for row in DENIALS])
async def test_deny_assignments_refuse(denial, method, path, action, why):
    async with emulated(replace(OPEN, deny_assignments=(denial,), principals=(AGENT,))) as azure:
        azure.headers["Authorization"] = f"Bearer {azure.emulator.tokens.token(AGENT)}"
        for resource in (GROUP, ACCOUNT):
            azure.emulator.put(resource, {"location": "westeurope"})
        reply = await azure.send_request(method, path, {} if method == "PATCH" else None)
        listed = await azure.get(f"{SUBSCRIPTION}/{AUTHORIZATION}/denyAssignments")
    assert (reply.status == 403) == bool(action), why
    if action:
        entry = listed.body["value"][0]
        scope = path.removesuffix("/listKeys")
        assert reply.code == "DenyAssignmentAuthorizationFailed"
        assert reply.message == (
            f"The client 'agent' with object id 'agent-object' has permission to perform action '{action}' on scope "
            f"'{scope}'; however, the access is denied because of the deny assignment with name 'Stack s' and Id "
            f"'{entry['id']}' at scope '{denial.scope}'."
        )


# What policies make of a body.

STORAGE = ("Microsoft.Storage/storageAccounts",)
BODY = {
    "location": "West US",
    "kind": "StorageV2",
    "tags": {"Env": "dev"},
    "sku": {"name": "Standard_LRS"},
    "properties": {"publicAccess": True, "network": {"port": 443}, "nothing": None},
}
CONDITIONS = [
    (when("location", Operator.EQUALS, "westus"), True, "a region has two spellings"),
    (when("location", Operator.NOT_IN, "westus", "eastus"), False, "one of several"),
    (when("kind", Operator.EQUALS, "storagev2"), True, "case does not count"),
    (when("KIND", Operator.IN, "a", "StorageV2"), True, "nor in the names of fields"),
    (when("tags.env", Operator.NOT_EQUALS, "prod"), True, "the name of a tag has no case"),
    (when("tags.owner", Operator.EXISTS, False), True, "a tag that is missing"),
    (when("tags.owner", Operator.NOT_EQUALS, "x"), True, "a missing value differs from every other"),
    (when("tags.owner", Operator.EQUALS, "x"), False, "and equals none"),
    (when("sku.name", Operator.EQUALS, "Standard_GRS"), False, "a member of an object"),
    (when("properties.publicAccess", Operator.EQUALS, True), True, "a truth value"),
    (when("properties.publicAccess", Operator.EQUALS, "true"), True, "written as a text"),
    (when("properties.network.port", Operator.EQUALS, 443), True, "a number, deeper"),
    (when("properties.nothing", Operator.EXISTS, True), False, "a null does not exist"),
    (when("properties.kind.of", Operator.EXISTS, True), False, "a path that ends early"),
    (when("name", Operator.EQUALS, "stapp1"), True, "the name"),
    (when("type", Operator.EQUALS, STORAGE[0]), True, "the type as a field"),
    (when(types=STORAGE), True, "the type alone"),
    (when("kind", Operator.EXISTS, True, types=("Microsoft.Web/sites",)), False, "another type"),
]


@pytest.mark.parametrize(("condition", "holds", "why"), CONDITIONS, ids=[row[-1] for row in CONDITIONS])
def test_conditions(condition, holds, why):
    content = PolicyContent(key=ACCOUNT.casefold(), type=STORAGE[0], name="stapp1", body=BODY)
    assert condition.holds(content) is holds, why


WRONG_REGION = {"location": "eastus"}
SUBNET = at("Microsoft.Network/virtualNetworks/subnets", "hub", "a")
GROUP_TYPE = ("Microsoft.Resources/subscriptions/resourceGroups",)
EXEMPT = EmulatedExemption(policy="rule", scope=GROUP)
IN_PAST = TestClock().now()
WRITE_CASES = [
    (governed(make_policy()), "PUT", ACCOUNT, WRONG_REGION, 403, "a deny"),
    (governed(make_policy()), "PUT", ACCOUNT, {"location": "West Europe"}, 202, "its condition does not hold"),
    (governed(make_policy(Effect.AUDIT)), "PUT", ACCOUNT, WRONG_REGION, 202, "an audit refuses nothing"),
    (governed(make_policy(enforced=False)), "PUT", ACCOUNT, WRONG_REGION, 202, "an assignment that is not enforced"),
    (governed(make_policy(scope=OTHER)), "PUT", ACCOUNT, WRONG_REGION, 202, "of another group"),
    (governed(make_policy(scope=MANAGEMENT_GROUP)), "PUT", ACCOUNT, WRONG_REGION, 403, "of a management group"),
    (governed(make_policy(not_scopes=(GROUP,))), "PUT", ACCOUNT, WRONG_REGION, 202, "a group that it leaves out"),
    (governed(make_policy(), exemptions=(EXEMPT,)), "PUT", ACCOUNT, WRONG_REGION, 202, "an exemption"),
    (
        governed(make_policy(), exemptions=(replace(EXEMPT, scope=OTHER),)),
        "PUT",
        ACCOUNT,
        WRONG_REGION,
        403,
        "an exemption of another group",
    ),
    (
        governed(make_policy(), exemptions=(replace(EXEMPT, expires=IN_PAST),)),
        "PUT",
        ACCOUNT,
        WRONG_REGION,
        403,
        "an exemption that has expired",
    ),
    (governed(make_policy()), "PUT", SUBNET, {"properties": {}}, 201, "what has no location is not its business"),
    (governed(make_policy()), "PUT", OTHER, WRONG_REGION, 201, "nor is a group that it does not name"),
    (
        governed(make_policy(Effect.DENY, when("tags.env", Operator.EXISTS, False, types=GROUP_TYPE))),
        "PUT",
        OTHER,
        WRONG_REGION,
        403,
        "a policy for groups",
    ),
    (
        governed(make_policy(Effect.DENY, when("tags.env", Operator.EQUALS, "bad"))),
        "PATCH",
        VNET,
        {"tags": {"env": "bad"}},
        403,
        "a PATCH is judged by what it leads to",
    ),
    (
        governed(make_policy(Effect.DENY, when("tags.env", Operator.EXISTS, False))),
        "PATCH",
        VNET,
        {"tags": {"env": "good"}},
        200,
        "and not by its own members alone",
    ),
]


@pytest.mark.parametrize(
    ("settings", "method", "path", "body", "status", "why"), WRITE_CASES, ids=[row[-1] for row in WRITE_CASES]
)
async def test_policies_refuse_writes(settings, method, path, body, status, why):
    async with emulated(settings, clock=TestClock()) as azure:
        for resource in (GROUP, VNET):
            azure.emulator.put(resource, {"location": "westeurope"})
        before = azure.emulator.resource(path)
        reply = await azure.send_request(method, path, body)
        after = azure.emulator.resource(path)
    assert reply.status == status, why
    if status == 403:
        assert (reply.code, after) == ("RequestDisallowedByPolicy", before)


async def test_a_refusal_names_its_policies():
    europe = make_policy(name="only-europe", display_name="Only Europe", message="Use a European region.")
    tagged = make_policy(Effect.DENY, when("tags.env", Operator.EXISTS, False, types=STORAGE), name="tagged")
    async with emulated(governed(europe, tagged), has_group=True) as azure:
        reply = await azure.put(ACCOUNT, WRONG_REGION)
    error = reply.body["error"]
    prefix = "Resource 'stapp1' was disallowed by policy. Policy identifiers: '"
    assert error["target"] == "stapp1"
    assert error["message"].startswith(prefix)
    identifiers = json.loads(error["message"].removeprefix(prefix).removesuffix("'."))
    assert [row["policyAssignment"]["name"] for row in identifiers] == ["Only Europe", "tagged"]
    first, second = (row["info"] for row in error["additionalInfo"])
    assert first["policyAssignmentId"] == f"{SUBSCRIPTION}/{AUTHORIZATION}/policyAssignments/only-europe"
    assert first["evaluationDetails"] == {
        "evaluatedExpressions": [
            {
                "result": "True",
                "expressionKind": "Field",
                "expression": "location",
                "path": "location",
                "expressionValue": "eastus",
                "targetValue": ["westeurope", "northeurope"],
                "operator": "NotIn",
            }
        ],
        "reason": "Use a European region.",
    }
    assert [row["expression"] for row in second["evaluationDetails"]["evaluatedExpressions"]] == ["type", "tags.env"]


NO_TAG = when("tags.env", Operator.EXISTS, False)
TLS = "properties.minimumTlsVersion"
CHANGES = [
    (
        [make_policy(Effect.MODIFY, NO_TAG, field="tags.env", value="dev")],
        {"tags": {"a": "b"}},
        {"tags": {"a": "b", "env": "dev"}},
        "a modify adds a tag",
    ),
    (
        [make_policy(Effect.MODIFY, when(types=STORAGE), field="tags.env", value="dev")],
        {"tags": {"Env": "prod"}},
        {"tags": {"Env": "dev"}},
        "and replaces one",
    ),
    (
        [make_policy(Effect.APPEND, when(types=STORAGE), field=TLS, value="TLS1_2")],
        {},
        {"properties": {"minimumTlsVersion": "TLS1_2"}},
        "an append adds a member",
    ),
    (
        [make_policy(Effect.APPEND, when(types=STORAGE), field=TLS, value="TLS1_2")],
        {"properties": {"minimumTlsVersion": "TLS1_2"}},
        {"properties": {"minimumTlsVersion": "TLS1_2"}},
        "an append of what is there",
    ),
    (
        [make_policy(Effect.APPEND, when(types=STORAGE), field=TLS, value="TLS1_2")],
        {"properties": {"minimumTlsVersion": "TLS1_0"}},
        None,
        "an append that would change a value is a deny",
    ),
    (
        [
            make_policy(Effect.DENY, NO_TAG, name="tagged"),
            make_policy(Effect.MODIFY, NO_TAG, field="tags.env", value="dev"),
        ],
        {},
        {"tags": {"env": "dev"}},
        "changes come before a deny",
    ),
    (
        [make_policy(Effect.MODIFY, NO_TAG, field="tags.env", value="dev", enforced=False)],
        {},
        {},
        "one that is not enforced changes nothing",
    ),
]


@pytest.mark.parametrize(("policies", "sent", "stored", "why"), CHANGES, ids=[row[-1] for row in CHANGES])
async def test_policies_change_what_is_stored(policies, sent, stored, why):
    async with emulated(governed(*policies), has_group=True) as azure:
        reply = await azure.put(ACCOUNT, {"location": "westeurope", **sent})
        received = azure.emulator.received(ACCOUNT)
    if stored is None:
        assert (reply.code, received) == ("RequestDisallowedByPolicy", None), why
    else:
        assert received == {"location": "westeurope", **stored}, why


# How a file reports it, and what it gets wrong.

POLICY = "{name: a, scope: /subscriptions/s, effect: deny, if: {field: location, equals: x}}"
WRONG = [
    ("locks:\n  - {scope: a}", 3, "'a' is not a scope", "a lock of no scope"),
    ("locks:\n  - {level: ReadOnly}", 3, "settings.locks[0]: missing keys: scope", "a lock without a scope"),
    (
        "locks:\n  - {scope: /subscriptions/s,\n     level: Readonly}",
        4,
        "expected CanNotDelete or ReadOnly",
        "an unknown level",
    ),
    ("denyAssignments: {scope: /subscriptions/s}", 2, "missing keys: name, actions", "a deny assignment of nothing"),
    (
        "denyAssignments:\n  - {name: a, scope: /subscriptions/s, actions: '*'}",
        3,
        "needs principals",
        "a deny assignment for no one",
    ),
    (
        "policies:\n  - {name: a, scope: /subscriptions/s, effect: deny}",
        3,
        "policies[0]: missing keys: if",
        "no condition",
    ),
    (
        "policies:\n  - {name: a,\n     effect: Deny}",
        4,
        "effect: expected deny or audit or append or modify or denyAction, not 'Deny'",
        "an unknown effect",
    ),
    ("policies:\n  - {name: a,\n     if: {field: location}}", 4, "one operator", "a field without an operator"),
    ("policies:\n  - {if: {field: a, equals: 1, in: [1]}}", 3, "one operator", "two operators"),
    (
        "policies:\n  - {if: {like: a}}",
        3,
        "policies[0].if.like: there is no such key",
        "an operator that it does not know",
    ),
    ("policies:\n  - {if: {field: a, exists: maybe}}", 3, "expected true or false", "an existence that is a word"),
    ("policies:\n  - {if: {field: 'a[*].b', equals: 1}}", 3, "is not a field", "an alias of a list"),
    ("policies:\n  - {if: {field: tags, exists: true}}", 3, "is not a field", "all tags at once"),
    (f"policies:\n  - {POLICY[:-1]}, set: {{field: tags.a, value: 1}}}}", 3, "has no 'set'", "a deny that sets"),
    (f"policies:\n  - {POLICY.replace('deny', 'modify')}", 3, "needs 'set'", "a modify that sets nothing"),
    ("policies:\n  - {set: {field: tags.a}}", 3, "both field and value", "a field without its value"),
    ("policies:\n  - {set: {field: location, value: a}}", 3, "cannot set location", "a region that would be set"),
    (f"policies:\n  - {POLICY}\n  - {POLICY}", 4, "duplicate policy 'a'", "two policies of one name"),
    (
        "exemptions:\n  - {scope: /subscriptions/s}",
        3,
        "exemptions[0]: missing keys: policy",
        "an exemption from nothing",
    ),
    ("exemptions:\n  - {policy: b, scope: /subscriptions/s}", 3, "unknown policy 'b'", "from an unknown policy"),
    ("exemptions:\n  - {expires: tomorrow}", 3, "'tomorrow' is not a date", "an exemption until tomorrow"),
    ("preflight: {loud: a}", 2, "preflight.loud: there is no such key", "an unknown key of the preflight"),
    ("preflight: {refuse: {code: a}}", 2, "missing keys: if", "a refusal of everything"),
]


@pytest.mark.parametrize(("text", "line", "says", "why"), WRONG, ids=[row[-1] for row in WRONG])
def test_what_is_wrong_in_a_file_has_its_line(tmp_path, text, line, says, why):
    path = tmp_path / "azure.yaml"
    path.write_text(f"settings:\n  {text.replace(chr(10), chr(10) + '  ')}\n", encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        read_settings(path)
    assert f"azure.yaml:{line}: " in str(caught.value), why
    assert says in f"{caught.value} {caught.value.hint}", why


def test_a_file_sets_all_of_it(tmp_path):
    path = tmp_path / "azure.yaml"
    path.write_text(
        """
settings:
  locks: [{scope: /subscriptions/s, level: ReadOnly, name: keep, notes: why}]
  denyAssignments:
    - {name: d, scope: /subscriptions/s, actions: "*", notActions: "*/read", principals: [p], excludePrincipals: [q],
       description: x, doNotApplyToChildScopes: true}
  policies:
    - {name: p, displayName: P, scope: /subscriptions/s, notScopes: /subscriptions/s/resourceGroups/g, effect: append,
       mode: DoNotEnforce, message: m, if: [{type: [A/b, A/c]}, {field: tags.a.b, notEquals: 1}],
       set: {field: tags.a.b, value: {c: d}}}
  exemptions: [{policy: P, scope: /subscriptions/s, expires: "2027-01-01T12:00:00+02:00"}]
  preflight: {silent: A/b, empty: [A/c], refuse: [{if: {type: A/b}, code: Bad, message: Really.}]}
""",
        encoding="utf-8",
    )
    settings = read_settings(path)
    assert settings.locks == (ManagementLock(scope="/subscriptions/s", read_only=True, name="keep", notes="why"),)
    assert settings.deny_assignments == (
        EmulatedDenyAssignment(
            name="d",
            description="x",
            scope="/subscriptions/s",
            actions=("*",),
            not_actions=("*/read",),
            principals=("p",),
            exclude_principals=("q",),
            only_at_scope=True,
        ),
    )
    assert settings.policies == (
        EmulatedPolicy(
            name="p",
            display_name="P",
            scope="/subscriptions/s",
            not_scopes=("/subscriptions/s/resourceGroups/g",),
            effect=Effect.APPEND,
            enforced=False,
            message="m",
            conditions=(when(types=("A/b", "A/c")), when("tags.a.b", Operator.NOT_EQUALS, 1)),
            field="tags.a.b",
            value={"c": "d"},
        ),
    )
    assert settings.exemptions[0].expires == datetime(2027, 1, 1, 10, tzinfo=UTC)
    assert settings.preflight.refusals == (
        BodyRefusal(conditions=(when(types=("A/b",)),), code="Bad", message="Really."),
    )
