"""The rules by which two leaves mean the same: each with what it calls equal, and with what it must not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitsync.planning.diff.equivalence import SPELLING_RULES, compare_values
from gitsync.planning.diff.hints import Hints
from gitsync.planning.diff.rules.quantities import MIXED_RULES
from gitsync.planning.diff.rules.rule import RuleOutcome
from gitsync.planning.diff.rules.single_types import TYPE_RULES

SAME, OTHER, UNTOLD = RuleOutcome.SAME, RuleOutcome.OTHER, RuleOutcome.UNTOLD
GUID = "1C793267-c310-d4ae-7BD5-5Af5BEF875D3"
SUBSCRIPTION = "/subscriptions/00000000-0000-0000-0000-000000000000"
SERVICE = f"{SUBSCRIPTION}/resourceGroups/g/providers/Microsoft.ApiManagement/service/s"
OWN = f"{SERVICE}/subscriptions/mine"
ROLE = "/providers/Microsoft.Authorization/roleDefinitions/8e3af657"
PLAN = f"{SUBSCRIPTION}/resourceGroups/G/providers/Microsoft.Web/serverfarms/Plan"

GENERAL = [
    ("location", "West US 2", "westus2", SAME, "regions have neither case nor blanks"),
    ("location", "westus2", "westus3", OTHER, "but they have numbers"),
    ("locations", "East US", "eastus", SAME, "in a list of regions too"),
    ("location", "northcentralusstage", "North Central US (Stage)", SAME, "letters and digits are all of a name"),
    ("location", "northcentralus", "North Central US (Stage)", OTHER, "a stage is a region of its own"),
    ("mountLocation", "/a/b", "/ab", OTHER, "what is no region's name keeps its signs"),
    ("description", "West US 2", "westus2", OTHER, "people's text is no region"),
    ("id", SERVICE, SERVICE.upper(), SAME, "ids have no case"),
    ("id", SERVICE, f"{SERVICE}/", SAME, "nor a slash at the end"),
    ("id", SERVICE, f"{SERVICE}2", OTHER, "another id"),
    ("scope", "/apis", f"{SERVICE}/apis", SAME, "relative to a resource that this one lies in"),
    ("scope", "/apis", f"{SERVICE}2/apis", OTHER, "of another service"),
    ("scope", "/apis", f"{SERVICE}/products", OTHER, "another scope"),
    ("scope", "/", f"{SERVICE}/", OTHER, "nothing at all is no relative id"),
    ("roleDefinitionId", ROLE, SUBSCRIPTION + ROLE, SAME, "a role of the tenant, seen from the own subscription"),
    ("roleDefinitionId", ROLE, f"/subscriptions/other{ROLE}", OTHER, "seen from another"),
    ("roleDefinitionId", ROLE, f"{SUBSCRIPTION}{ROLE}8", OTHER, "another role"),
    ("serverFarmId", "plan", PLAN, SAME, "a name is that of a resource in the own group"),
    ("serverFarmId", PLAN, "Plan", SAME, "on either side"),
    ("serverFarmId", "plan", f"{PLAN}2", OTHER, "another name"),
    ("serverFarmId", "plan", PLAN.replace("/G/", "/other/"), OTHER, "the same name in another group"),
    ("serverFarmId", "lan", PLAN, OTHER, "the end of a name is another name"),
    ("note", "plan", PLAN, OTHER, "a text is no id"),
    ("objectId", GUID, GUID.lower(), SAME, "GUIDs have no case"),
    ("objectId", GUID, GUID.lower().replace("1", "2"), OTHER, "another GUID"),
    ("customWindow", "enabled", "Enabled", SAME, "a state"),
    ("customWindow", "enabled", "Disabled", OTHER, "another state"),
    ("description", "enabled", "Enabled", OTHER, "people's text is no state"),
    ("accessPolicyName", "default", "Default", OTHER, "nor is a name"),
    ("type", "customRole", "CustomRole", SAME, "a discriminator"),
    ("type", "a b", "A B", OTHER, "is one word"),
    ("nextHopType", "virtualappliance", "VirtualAppliance", SAME, "a choice is known by the end of its member's name"),
    ("nextHopType", "VirtualAppliance", "Internet", OTHER, "another choice"),
    ("publicAccess", "blob", "Blob", SAME, "of any such member"),
    ("hostName", "web", "Web", OTHER, "but a name has case"),
    ("metricNamespace", "microsoft.web/Sites", "Microsoft.Web/sites", SAME, "resource types have no case"),
    ("metricNamespace", "Microsoft.Web/sites", "Microsoft.Web/serverfarms", OTHER, "another type"),
    ("eventType", "Microsoft.Web.SiteUpdated", "microsoft.web.siteupdated", OTHER, "an event is no resource type"),
    ("provisioningState", "RegisteringDns", "Succeeded", SAME, "the way to success, and its end"),
    ("provisioningState", "Succeeded", "Failed", OTHER, "a failure is neither"),
    ("provisioningState", "Succeeded", "Succeeded-else", OTHER, "nor is an unknown state"),
    ("charset", "utf8", "UTF8", SAME, "character sets have no case"),
    ("charset", "utf8", "latin1", OTHER, "another character set"),
    ("nodeResourceGroup", "MC_a", "mc_a", SAME, "resource groups have no case"),
    ("ttl", "PT60S", "PT1M", SAME, "durations of ISO 8601"),
    ("ttl", "P10675199DT2H48M5.4775807S", "10675199.02:48:05.4775807", SAME, "and of .NET, to the last digit"),
    ("ttl", "P10675199DT2H48M5.4775807S", "10675199.02:48:05.4775808", OTHER, "to the very last"),
    ("ttl", "P1M", "PT1M", OTHER, "a month is no minute"),
    ("ttl", "P1M", "P30D", OTHER, "nor is it thirty days"),
    ("ttl", "P1Y", "P365D", OTHER, "nor a year its days"),
    ("ttl", "P1Y", "P12M", SAME, "a year has twelve of them"),
    ("ttl", "PT5M", "PT6M", OTHER, "another number in a duration"),
    ("ttl", "-PT5M", "PT5M", OTHER, "a sign counts"),
    ("startTime", "03:00", "03:00:00", SAME, "a time of day with its seconds"),
    ("startTime", "03:00", "00:03:00", OTHER, "hours come first"),
    ("at", "2024-05-01T10:00:00Z", "2024-05-01T12:00:00.0000000+02:00", SAME, "one moment"),
    ("at", "2024-05-01T10:00:00Z", "2024-05-01T10:00:00.0000001Z", OTHER, "a tenth of a microsecond counts"),
    ("at", "2024-05-01", "2024-05-01T00:00:00Z", SAME, "a day begins at midnight"),
    ("at", "2024-05-01T10:00:00Z", "2024-05-01T10:00:00+01:00", OTHER, "zones count"),
    ("at", "2024-13-01T10:00:00Z", "2024-13-01t10:00:00Z", OTHER, "what is no date is text"),
    ("every", "R/2023-06-07T10:26:32+00:00/PT4H", "R/2023-06-07T10:26:32Z/PT240M", SAME, "a repeating interval"),
    ("every", "R/2023-06-07T10:26:32+00:00/PT4H", "R/2023-06-07T10:26:32Z/PT5H", OTHER, "its length counts"),
    ("every", "R3/2023-06-07T10:26:32Z/PT4H", "R4/2023-06-07T10:26:32Z/PT4H", OTHER, "and how often"),
    ("uri", "HTTPS://Vault.azure.net:443", "https://vault.azure.net/", SAME, "scheme, host, default port, slash"),
    ("uri", "https://a.net/Path", "https://a.net/path", OTHER, "a path has case"),
    ("uri", "https://a.net:8443", "https://a.net", OTHER, "another port"),
    ("uri", "https://a.net/?a=1", "https://a.net/?a=2", OTHER, "a query counts"),
    ("issuer", "https://a.net", "https://a.net/", OTHER, "an issuer is compared letter by letter"),
    ("uri", "api://A", "api://a", OTHER, "what is not of the web is plain text"),
    ("cname", "www.Contoso.com", "www.contoso.com.", SAME, "host names"),
    ("cname", "www.contoso.com", "ww.contoso.com", OTHER, "another host"),
    ("value", "1.2.3.4", "1.2.3.4/32", SAME, "an address is a network of one"),
    ("value", "1.2.3.0/24", "1.2.3.0/25", OTHER, "a longer prefix"),
    ("value", "2001:DB8:0:0::1", "2001:db8::1", SAME, "IPv6 in its short form"),
    ("privateIpAddress", "", "10.0.0.4", UNTOLD, "no address leaves the choice to Azure"),
    ("privateIpAddress", "10.0.0.5", "10.0.0.4", OTHER, "another address than the one asked for"),
    ("privateIpAddress", "", "none", OTHER, "what is no address"),
    ("dnsServer", "", "10.0.0.4", OTHER, "an empty text elsewhere asks for none"),
    ("memory", "1.0Gi", "1024Mi", SAME, "quantities"),
    ("memory", "1Gi", "1Ti", OTHER, "another unit"),
    ("version", "1.10", "1.1", OTHER, "text is no number"),
    ("count", "10", 10, SAME, "a number as text"),
    ("count", 10, "10", SAME, "on either side"),
    ("count", "10", 11, OTHER, "another number"),
    ("count", "1.10", 1.1, OTHER, "as JSON writes it"),
    ("count", "10", 10.0, SAME, "whole numbers have no fraction"),
    ("count", "1", True, OTHER, "a number is no boolean"),
    ("on", "True", True, SAME, "a boolean as text"),
    ("on", "true", False, OTHER, "the other one"),
    ("on", 1, True, OTHER, "a boolean is no number"),
    ("policy", "<a><b x='1' y='2'/></a>", '<a>\r\n\t<b y="2" x="1"></b>\r\n</a>', SAME, "XML by what it says"),
    ("policy", "<a><b x='1'/></a>", "<a><b x='2'/></a>", OTHER, "an attribute"),
    ("policy", "<a>x</a>", "<a>X</a>", OTHER, "a text"),
    ("policy", "<a><b/><c/></a>", "<a><c/><b/></a>", OTHER, "the order of elements counts"),
    ("policy", "<a><!-- x --></a>", "<a><!-- y --></a>", OTHER, "a comment"),
    ("policy", '<a v="@(f("x"))"> <b /></a>', '<a v="@(f("x"))">\r\n<b/></a>', SAME, "expressions that are no XML"),
    ("policy", '<a v="@(f("x"))"/>', '<a v="@(f("y"))"/>', OTHER, "are compared as text"),
    ("data", '{"a": [1, 2], "b": null}', '{"b":null,"a":[1,2]}', SAME, "JSON by what it says"),
    ("data", '{"a": [1, 2]}', '{"a": [2, 1]}', OTHER, "the order of a list counts"),
    ("data", "[1]", "[true]", OTHER, "a boolean is no number there"),
    ("data", '["1"]', "[1]", OTHER, "nor a text"),
    ("data", "[0.1]", "[0.10000000000000000001]", OTHER, "numbers keep all their digits"),
    ("data", '{"a": 1, "a": 2}', '{"a":2}', OTHER, "what stands twice has no one meaning"),
    ("script", "a\nb\n", "a\r\nb", SAME, "lines"),
    ("script", "a\nb", "a\n b", OTHER, "a blank in a line counts"),
    ("note", "Free text", "free text", OTHER, "case counts in any other text"),
    ("note", "text", "text ", OTHER, "and so do blanks"),
    ("adminPassword", "x", "", UNTOLD, "a password is not answered"),
    ("adminPassword", "x", "*****", UNTOLD, "or masked"),
    ("adminPassword", "x", "Hidden", UNTOLD, "or hidden"),
    ("rdb-storage-connection-string", "x", "***", UNTOLD, "whatever stands between the words of its name"),
    ("adminPassword", "x", "y", OTHER, "another one that is answered differs"),
    ("note", "x", "", OTHER, "an empty text elsewhere is one"),
    ("note", "x", "*****", OTHER, "and so are stars"),
    ("visibility", "Visible", "Hidden", OTHER, "and what is no secret may be hidden"),
]


@pytest.mark.parametrize(("name", "desired", "live", "outcome", "why"), GENERAL, ids=lambda v: str(v)[:40])
def test_a_general_rule(name, desired, live, outcome, why):
    assert compare_values(("properties", name), desired, live, Hints(own_id=OWN))[0] is outcome, why


SINGLE = [
    ("Microsoft.ApiManagement/service/apis", "path", "/a", "a", SAME, "the gateway's paths have no root"),
    ("Microsoft.ApiManagement/service/apis", "path", "/a", "b", OTHER, "another path"),
    ("Microsoft.Web/sites", "path", "/a", "a", OTHER, "of that type alone"),
    ("Microsoft.ApiManagement/service/apis", "apiRevision", "v1", "1", UNTOLD, "the id says which"),
    ("Microsoft.ApiManagement/service/apis", "apiRevision", "v1", "2", OTHER, "another than the id says"),
    ("Microsoft.Cache/redis", "redisVersion", "6", "6.0", SAME, "a line of versions"),
    ("microsoft.cache/Redis", "redisVersion", "6", "6.0", SAME, "types have no case"),
    ("Microsoft.Cache/redis", "redisVersion", "6.2", "6.20", OTHER, "another version"),
    ("Microsoft.Cache/redis", "redisVersion", "6.0", "6", OTHER, "less than is asked for"),
    (
        "Microsoft.Cache/redis/accessPolicies",
        "permissions",
        "+get",
        "+get allkeys",
        SAME,
        "all keys, where none is named",
    ),
    ("Microsoft.Cache/redis/accessPolicies", "permissions", "+get ~a*", "+get ~a* allkeys", OTHER, "some were named"),
    ("Microsoft.Cache/redis/accessPolicies", "permissions", "+get", "+get +set allkeys", OTHER, "a further right"),
    ("Microsoft.DocumentDB/databaseAccounts/mongodbRoleDefinitions", "type", "CustomRole", 1, SAME, "by its number"),
    ("Microsoft.DocumentDB/databaseAccounts/mongodbRoleDefinitions", "type", "CustomRole", 0, OTHER, "the other one"),
    ("Microsoft.DocumentDB/databaseAccounts/mongodbRoleDefinitions", "type", 7, 1, OTHER, "no role's type"),
    ("Microsoft.DBforMySQL/flexibleServers/databases", "charset", "utf8", "utf8mb3", SAME, "two names of one"),
    ("Microsoft.DBforMySQL/flexibleServers/databases", "charset", "utf8", "utf8mb4", OTHER, "another one"),
    ("Microsoft.DBforMySQL/flexibleServers/databases", "collation", "utf8_bin", "utf8mb3_bin", SAME, "its collations"),
    ("Microsoft.Sql/servers/databases", "collation", "SQL_LATIN1_CI_AS", "SQL_Latin1_CI_AS", SAME, "have no case"),
    ("Microsoft.KeyVault/vaults", "enableSoftDelete", False, True, UNTOLD, "always on"),
    ("Microsoft.KeyVault/vaults", "enableSoftDelete", True, False, OTHER, "never off"),
]


@pytest.mark.parametrize(("arm_type", "name", "desired", "live", "outcome", "why"), SINGLE, ids=lambda v: str(v)[:40])
def test_a_rule_of_one_type(arm_type, name, desired, live, outcome, why):
    assert compare_values(("properties", name), desired, live, Hints(arm_type=arm_type, own_id=OWN))[0] is outcome, why


CLUSTER = "Microsoft.ContainerService/managedClusters"
QUEUE = "Microsoft.ServiceBus/namespaces/queues"
TTL = "properties/defaultMessageTimeToLive"
HEADER = "properties/destination/properties/deliveryAttributeMappings/0/properties/value"
VAULT_SECRET = f"{SUBSCRIPTION}/resourceGroups/g/providers/Microsoft.KeyVault/vaults/v/secrets/s"
SQL = "Microsoft.Sql/servers/databases"
PREMIUM = {"sku": {"name": "Premium", "capacity": 125}, "properties": {"currentServiceObjectiveName": "P1"}}
HYPERSCALE = {"sku": {"tier": "Hyperscale"}, "properties": {"highAvailabilityReplicaCount": 2}}
NO_REPLICA = {"sku": {"tier": "Hyperscale"}, "properties": {"highAvailabilityReplicaCount": 0}}
VERSION = {"properties": {"parameters": {"secretVersion": "1f"}}}
DISK = "Microsoft.Compute/disks"
STANDARD = {"sku": {"name": "Standard_LRS"}}
ULTRA = {"sku": {"name": "UltraSSD_LRS"}}
PARTITIONED = {"properties": {"enablePartitioning": True}}


@pytest.mark.parametrize(
    ("arm_type", "path", "desired", "live", "answer", "outcome", "why"),
    [
        (CLUSTER, "properties/kubernetesVersion", "", "1.30.1", {}, UNTOLD, "no version asks for the default"),
        (
            CLUSTER,
            "properties/kubernetesVersion",
            "1.29",
            "1.30.1",
            {},
            OTHER,
            "another version than the one asked for",
        ),
        (
            CLUSTER,
            "properties/agentPoolProfiles/0/orchestratorVersion",
            "",
            "1.30.1",
            {},
            UNTOLD,
            "that of the cluster",
        ),
        (
            CLUSTER,
            "properties/agentPoolProfiles/0/orchestratorVersion",
            "1.30",
            "1.30.1",
            {},
            SAME,
            "a line of versions",
        ),
        (CLUSTER, "properties/agentPoolProfiles/0/orchestratorVersion", "1.29", "1.30.1", {}, OTHER, "another line"),
        (CLUSTER, "properties/agentPoolProfiles/0/osDiskSizeGB", 0, 128, {}, UNTOLD, "0 asks for the default"),
        (CLUSTER, "properties/agentPoolProfiles/0/osDiskSizeGB", 64, 128, {}, OTHER, "another size is one"),
        (f"{CLUSTER}/agentPools", "properties/orchestratorVersion", "", "1.30.1", {}, UNTOLD, "the same in a pool"),
        (f"{CLUSTER}/agentPools", "properties/orchestratorVersion", "1.29", "1.30.1", {}, OTHER, "and another version"),
        (f"{CLUSTER}/agentPools", "properties/osDiskSizeGB", 0, 128, {}, UNTOLD, "and its disk"),
        (f"{CLUSTER}/agentPools", "properties/osDiskSizeGB", 64, 128, {}, OTHER, "and another size"),
        (f"{CLUSTER}/agentPools", "properties/count", 0, 3, {}, OTHER, "0 is a value elsewhere"),
        (QUEUE, TTL, "P1Y2M3DT3H11M2S", "P428DT3H11M2S", {}, SAME, "a year of 365 days, and months of 30"),
        (QUEUE, TTL, "P1Y", "P365D", {}, SAME, "a year"),
        (QUEUE, TTL, "P14M", "P420D", {}, SAME, "months are not counted as years"),
        (QUEUE, TTL, "P1Y", "P366D", {}, OTHER, "a day more"),
        (QUEUE, TTL, "P1M", "P31D", {}, OTHER, "a longer month"),
        (f"{QUEUE}/subscriptions", TTL, "P1Y", "P365D", {}, OTHER, "of the types that were seen alone"),
        (QUEUE, "properties/maxSizeInMegabytes", 1024, 16384, PARTITIONED, SAME, "sixteen partitions"),
        (QUEUE, "properties/maxSizeInMegabytes", 1024, 2048, PARTITIONED, OTHER, "of another size"),
        (QUEUE, "properties/maxSizeInMegabytes", 1024, 16384, {}, OTHER, "where there are partitions"),
        (
            "Microsoft.DataProtection/backupVaults/backupInstances",
            "properties/protectionStatus/status",
            "ProtectionConfigured",
            "UpdatingProtection",
            {},
            SAME,
            "on the way back",
        ),
        (
            "Microsoft.DataProtection/backupVaults/backupInstances",
            "properties/protectionStatus/status",
            "ProtectionConfigured",
            "ProtectionStopped",
            {},
            OTHER,
            "nothing is protected",
        ),
        ("Microsoft.EventGrid/eventSubscriptions", HEADER, "x", "Hidden", {}, UNTOLD, "a secret header"),
        ("Microsoft.EventGrid/eventSubscriptions", HEADER, "x", "y", {}, OTHER, "a header that is told"),
        ("Microsoft.EventGrid/domains/topics/eventSubscriptions", HEADER, "x", "Hidden", {}, UNTOLD, "of any source"),
        ("Microsoft.Insights/diagnosticSettings", "location", "eastus", "global", {}, UNTOLD, "it has no region"),
        ("Microsoft.Insights/diagnosticSettings", "location", "eastus", "westus", {}, OTHER, "another region"),
        ("Microsoft.Insights/components", "location", "eastus", "global", {}, OTHER, "a component has one"),
        (
            "Microsoft.Cdn/profiles/secrets",
            "properties/parameters/secretSource/id",
            f"{VAULT_SECRET}/1F",
            VAULT_SECRET,
            VERSION,
            SAME,
            "the version stands beside it",
        ),
        (
            "Microsoft.Cdn/profiles/secrets",
            "properties/parameters/secretSource/id",
            f"{VAULT_SECRET}/2f",
            VAULT_SECRET,
            VERSION,
            OTHER,
            "another version",
        ),
        (DISK, "properties/diskIOPSReadWrite", 120, 500, STANDARD, UNTOLD, "a standard disk has one speed"),
        (DISK, "properties/diskMBpsReadWrite", 25, 60, STANDARD, UNTOLD, "in both measures"),
        (DISK, "properties/diskMBpsReadWrite", 25, 61, STANDARD, OTHER, "another speed"),
        (DISK, "properties/diskIOPSReadWrite", 120, 500, ULTRA, OTHER, "that of an Ultra disk is asked for"),
        (SQL, "sku/name", "P1", "Premium", PREMIUM, SAME, "the objective is what was asked for"),
        (SQL, "sku/name", "P2", "Premium", PREMIUM, OTHER, "another objective of the same tier"),
        (SQL, "sku/name", "P1", "Premium", {}, OTHER, "an answer without one says nothing"),
        (SQL, "properties/readScale", "Disabled", "Enabled", HYPERSCALE, UNTOLD, "replicas are for reading"),
        (SQL, "properties/readScale", "Enabled", "Disabled", NO_REPLICA, UNTOLD, "there is none"),
        (SQL, "properties/readScale", "Enabled", "Disabled", HYPERSCALE, OTHER, "it does not follow from two"),
        (SQL, "properties/readScale", "Enabled", "Disabled", {}, OTHER, "in other tiers it is a choice"),
        ("any", "sku/name", "GP_Gen5_2", "GP_Gen5", {"sku": {"capacity": 2}}, SAME, "the capacity stands beside it"),
        ("any", "sku/name", "GP_Gen5_2", "GP_Gen5", {"sku": {"capacity": 4}}, OTHER, "another capacity"),
        ("any", "sku/name", "GP_Gen5_2", "GP_Gen5", {}, OTHER, "or none"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_rule_of_one_type_deeper_in_a_body(arm_type, path, desired, live, answer, outcome, why):
    steps = tuple(int(step) if step.isdecimal() else step for step in path.split("/"))
    assert compare_values(steps, desired, live, Hints(arm_type=arm_type, answer=answer))[0] is outcome, why


@pytest.mark.parametrize(
    ("arm_type", "path", "desired", "live", "outcome"),
    [
        ("Microsoft.Cache/redis", ("properties", "redisConfiguration", "maxmemory-delta"), "10", "642", UNTOLD),
        ("Microsoft.Cache/redis", ("properties", "redisConfiguration", "maxmemory-delta"), "10", "x", OTHER),
        ("Microsoft.OperationalInsights/workspaces", ("properties", "sku", "name"), "Standalone", "PerGB2018", UNTOLD),
        ("Microsoft.OperationalInsights/workspaces", ("properties", "sku", "name"), "PerNode", "PerGB2018", OTHER),
        ("Microsoft.SignalRService/signalR", ("properties", "features", 3, "value"), "true", "True", SAME),
        ("Microsoft.SignalRService/signalR", ("properties", "features", 3, "value"), "true", "False", OTHER),
        ("any", ("sku", "name"), "standard", "Standard", SAME),
        ("any", ("sku", "name"), "standard", "Premium", OTHER),
        ("any", ("identity", "type"), "SystemAssigned, UserAssigned", "UserAssigned,SystemAssigned", SAME),
        ("any", ("identity", "type"), "SystemAssigned, UserAssigned", "SystemAssigned", OTHER),
        ("any", ("tags", "on"), "enabled", "Enabled", OTHER),
        ("any", ("tags", "location"), "West US", "westus", OTHER),
        ("any", ("tags", "at"), "2024-05-01T10:00:00Z", "2024-05-01T10:00:00+00:00", OTHER),
        ("any", ("properties", "env", 0, "mode"), "a", "A", OTHER),
        ("any", ("properties", "protectedSettings", "x"), "a", "", UNTOLD),
    ],
)
def test_a_rule_deeper_in_a_body(arm_type, path, desired, live, outcome):
    assert compare_values(path, desired, live, Hints(arm_type=arm_type))[0] is outcome


def test_the_revision_that_an_id_names():
    hints = Hints(arm_type="Microsoft.ApiManagement/service/apis", own_id=f"{SERVICE}/apis/a;rev=3")
    assert compare_values(("properties", "apiRevision"), "v3", "3", hints)[0] is UNTOLD
    assert compare_values(("properties", "apiRevision"), "v3", "1", hints)[0] is OTHER


def test_an_entity_is_never_expanded():
    bomb = '<!DOCTYPE a [<!ENTITY b "x"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]><a>&c;</a>'
    assert compare_values(("p",), bomb, bomb.replace("&c;", "xxxxxxxx"), Hints())[0] is OTHER
    assert compare_values(("p",), bomb, bomb.replace("><", ">\n<"), Hints())[0] is SAME, "as text"


def test_a_document_of_any_depth_is_read_or_left_as_text():
    deep = "[" * 100_000 + "]" * 100_000
    assert compare_values(("p",), deep, f"{deep} ", Hints())[0] is OTHER
    nested = "<a>" * 50_000 + "</a>" * 50_000
    assert compare_values(("p",), nested, f"{nested}\n", Hints())[0] is SAME


@pytest.mark.parametrize(
    ("name", "desired", "live", "rule"),
    [
        ("location", "westus", "eastus", "a region"),
        ("ttl", "PT5M", "PT6M", "a duration"),
        ("p", "<a/>", "<b/>", "XML"),
        ("note", "a", "b", ""),
        ("objectId", GUID, GUID.lower(), "a GUID"),
        ("note", "a", "a", ""),
    ],
)
def test_the_rule_that_decides_is_named(name, desired, live, rule):
    assert compare_values((name,), desired, live, Hints())[1] == rule


def test_every_rule_reports_what_it_rests_on():
    rules = [*SPELLING_RULES, *MIXED_RULES, *(row.rule for row in TYPE_RULES)]
    assert all(len(rule.evidence) > 10 and rule.evidence.endswith(".") for rule in rules)
    assert all(rule.name == rule.name.strip() and rule.name for rule in rules)


NAMES = [
    "location",
    "type",
    "id",
    "note",
    "adminPassword",
    "version",
    "charset",
    "cname",
    "value",
    "sku",
    "customWindow",
]
TEXTS = st.one_of(
    st.text(max_size=12),
    st.from_regex(r"\AP(\dM)?(\dD)?T\dM\Z"),
    st.from_regex(r"\A2024-0\d-1\dT0\d:00:0\d(Z|\+01:00)\Z"),
    st.from_regex(r"\A\d{1,2}\.\d\.\d\.\d(/3\d)?\Z"),
    st.from_regex(r"\Ahttps?://[a-c]\.net(/[a-c]*)?\Z"),
    st.from_regex(r"\A[\[{][\[\]{}\":,a0-9]{0,8}[\]}]\Z"),
    st.from_regex(r"\A<[ab]>[ \n]?<[ab]/></[ab]>\Z"),
    st.sampled_from(["enabled", "Enabled", "true", "True", SERVICE, SERVICE.upper(), "/apis", GUID, "1Gi", "1024Mi"]),
)
VALUES = st.one_of(TEXTS, st.booleans(), st.integers(-20, 20), st.floats(-2, 2), st.none())


@given(st.sampled_from(NAMES), VALUES, VALUES)
def test_no_value_breaks_a_rule_and_equality_goes_both_ways(name, one, other):
    there, _ = compare_values((name,), one, other, Hints(own_id=OWN))
    back, _ = compare_values((name,), other, one, Hints(own_id=OWN))
    assert (there is SAME) == (back is SAME)


@given(st.sampled_from(NAMES), VALUES)
def test_a_value_is_what_it_is(name, value):
    assert compare_values((name,), value, value, Hints())[0] is SAME


@given(TEXTS.filter(lambda text: text.swapcase() != text))
def test_a_change_of_case_in_free_text_is_found(text):
    """Except those whose own rules ignore case: they are recognized by their shape."""
    outcome, rule = compare_values(("properties", "note"), text, text.swapcase(), Hints(own_id=OWN))
    assert outcome is OTHER or rule in {
        "an ARM id",
        "a relative id",
        "a GUID",
        "a state",
        "a URL",
        "a date",
        "JSON",
        "an IP address",
    }
