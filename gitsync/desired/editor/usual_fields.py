"""What people set in manifests of the kinds that they use most, beyond what is required.

The facts do not distinguish a field that every manifest has from one that is hardly ever set. So these are written by
hand, for the newest version of each kind, and examples show them; a test validates them all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gitsync.desired.catalog.everyday_names import GroupKind
from gitsync.desired.catalog.own_kinds import ASSIGNMENT, CREDENTIAL

_NETWORK: Final = "network.azure.com"
_TENANT: Final = "00000000-0000-0000-0000-000000000000"


def _refer(group: str, kind: str) -> Mapping[str, Any]:
    return {"group": group, "kind": kind, "name": "example"}


_PASSWORD: Final = {"name": "example", "key": "password"}
_LOCAL_USER: Final = {
    "serverAdminUsername": "example",
    "serverAdminPassword": _PASSWORD,
    "password": {"name": "example-user", "key": "password"},
}
_SUBNET: Final = {"reference": _refer(_NETWORK, "VirtualNetworksSubnet")}
_ADDRESS: Final = {"reference": _refer(_NETWORK, "PublicIPAddress")}
_WORKSPACE: Final = _refer("operationalinsights.azure.com", "Workspace")

USUAL_FIELDS: Final[Mapping[GroupKind, Mapping[str, Any]]] = {
    ("app.azure.com", "ContainerApp"): {
        "environmentReference": _refer("app.azure.com", "ManagedEnvironment"),
        "configuration": {"ingress": {"external": True, "targetPort": 8080}},
        "template": {"containers": [{"name": "example", "image": "mcr.microsoft.com/k8se/quickstart:latest"}]},
    },
    ("app.azure.com", "ManagedEnvironment"): {"workloadProfiles": [
        {"name": "Consumption", "workloadProfileType": "Consumption"}
    ]},
    ("appconfiguration.azure.com", "ConfigurationStore"): {"sku": {"name": "standard"}},
    ("authorization.azure.com", "RoleAssignment"): {
        "principalIdFromConfig": {"name": "example-identity", "key": "principalId"},
        "principalType": "ServicePrincipal",
        "roleDefinitionReference": {"wellKnownName": "Reader"},
    },
    ("cache.azure.com", "Redis"): {
        "minimumTlsVersion": "1.2",
        "sku": {"name": "Basic", "family": "C", "capacity": 0},
    },
    ("cdn.azure.com", "Profile"): {"location": "global", "sku": {"name": "Standard_AzureFrontDoor"}},
    ("cdn.azure.com", "AfdEndpoint"): {"location": "global", "enabledState": "Enabled"},
    ("cognitiveservices.azure.com", "Account"): {
        "kind": "OpenAI",
        "sku": {"name": "S0"},
        "properties": {"customSubDomainName": "example"},
    },
    ("cognitiveservices.azure.com", "Deployment"): {
        "sku": {"name": "Standard", "capacity": 10},
        "properties": {"model": {"format": "OpenAI", "name": "gpt-4o-mini", "version": "2024-07-18"}},
    },
    ("compute.azure.com", "Disk"): {
        "creationData": {"createOption": "Empty"},
        "diskSizeGB": 64,
        "sku": {"name": "Premium_LRS"},
    },
    ("compute.azure.com", "VirtualMachine"): {
        "hardwareProfile": {"vmSize": "Standard_B2s"},
        "networkProfile": {"networkInterfaces": [{"reference": _refer(_NETWORK, "NetworkInterface")}]},
        "osProfile": {
            "adminUsername": "example",
            "adminPassword": _PASSWORD,
            "computerName": "example",
        },
        "storageProfile": {
            "imageReference": {
                "publisher": "Canonical",
                "offer": "ubuntu-24_04-lts",
                "sku": "server",
                "version": "latest",
            }
        },
    },
    ("containerservice.azure.com", "ManagedCluster"): {
        "agentPoolProfiles": [
            {
                "name": "system",
                "mode": "System",
                "count": 3,
                "vmSize": "Standard_D4s_v5",
                "vnetSubnetReference": _refer(_NETWORK, "VirtualNetworksSubnet"),
            }
        ],
        "dnsPrefix": "example",
        "identity": {"type": "SystemAssigned"},
        "networkProfile": {"networkPlugin": "azure", "networkPluginMode": "overlay"},
        "oidcIssuerProfile": {"enabled": True},
        "securityProfile": {"workloadIdentity": {"enabled": True}},
    },
    ("containerservice.azure.com", "ManagedClustersAgentPool"): {
        "azureName": "example",
        "mode": "User",
        "count": 2,
        "vmSize": "Standard_D4s_v5",
        "osType": "Linux",
    },
    ("dbformysql.azure.com", "FlexibleServer"): {
        "administratorLogin": "example",
        "administratorLoginPassword": _PASSWORD,
        "sku": {"name": "Standard_B1ms", "tier": "Burstable"},
        "storage": {"storageSizeGB": 32},
        "version": "8.0.21",
    },
    ("dbformysql.azure.com", "User"): {
        "databasePrivileges": {"example": ["SELECT", "INSERT"]},
        "localUser": _LOCAL_USER,
    },
    ("dbforpostgresql.azure.com", "FlexibleServer"): {
        "administratorLogin": "example",
        "administratorLoginPassword": _PASSWORD,
        "sku": {"name": "Standard_B1ms", "tier": "Burstable"},
        "storage": {"storageSizeGB": 32},
        "version": "16",
    },
    ("dbforpostgresql.azure.com", "FlexibleServersConfiguration"): {
        "azureName": "max_connections",
        "source": "user-override",
        "value": "100",
    },
    ASSIGNMENT: {
        "principal": "11111111-1111-1111-1111-111111111111",
        "resource": "22222222-2222-2222-2222-222222222222",
        "role": "User.Read.All",
    },
    CREDENTIAL: {
        "issuer": "https://token.actions.githubusercontent.com",
        "subject": "repo:octocat@583231/hello@1296269:environment:production",
    },
    ("dbforpostgresql.azure.com", "FlexibleServersDatabase"): {"charset": "utf8", "collation": "en_US.utf8"},
    ("dbforpostgresql.azure.com", "User"): {"localUser": _LOCAL_USER, "roleOptions": {"login": True}},
    ("documentdb.azure.com", "DatabaseAccount"): {
        "kind": "GlobalDocumentDB",
        "locations": [{"locationName": "westeurope", "failoverPriority": 0}],
    },
    ("entra.azure.com", "Application"): {
        "signInAudience": "AzureADMyOrg",
        "web": {"redirectUris": ["https://example.com/signin-oidc"]},
        "operatorSpec": {
            "configmaps": {
                "appId": {"name": "example", "key": "appId"},
                "entraID": {"name": "example", "key": "entraID"},
            }
        },
    },
    ("entra.azure.com", "SecurityGroup"): {
        "membershipType": "assigned",
        "operatorSpec": {"configmaps": {"entraID": {"name": "example", "key": "entraID"}}},
    },
    ("entra.azure.com", "ServicePrincipal"): {
        "appId": "00000000-0000-0000-0000-000000000000",
        "operatorSpec": {"configmaps": {"entraID": {"name": "example", "key": "entraID"}}},
    },
    ("eventhub.azure.com", "Namespace"): {"sku": {"name": "Standard", "tier": "Standard", "capacity": 1}},
    ("eventhub.azure.com", "NamespacesEventhub"): {"messageRetentionInDays": 1, "partitionCount": 2},
    ("insights.azure.com", "ActionGroup"): {
        "location": "global",
        "emailReceivers": [{"name": "example", "emailAddress": "platform@example.com"}],
    },
    ("insights.azure.com", "Component"): {
        "kind": "web",
        "Application_Type": "web",
        "workspaceResourceReference": _WORKSPACE,
    },
    ("insights.azure.com", "DiagnosticSetting"): {
        "workspaceReference": _WORKSPACE,
        "logs": [{"categoryGroup": "allLogs", "enabled": True}],
    },
    ("keyvault.azure.com", "Vault"): {
        "properties": {
            "tenantId": _TENANT,
            "enableRbacAuthorization": True,
            "sku": {"family": "A", "name": "standard"},
        }
    },
    ("managedidentity.azure.com", "FederatedIdentityCredential"): {
        "audiences": ["api://AzureADTokenExchange"],
        "issuer": "https://example.com/issuer",
        "subject": "system:serviceaccount:default:example",
    },
    (_NETWORK, "DnsZone"): {"location": "global", "azureName": "example.com"},
    (_NETWORK, "DnsZonesARecord"): {"azureName": "www", "TTL": 300, "ARecords": [{"ipv4Address": "203.0.113.10"}]},
    (_NETWORK, "NatGateway"): {
        "publicIpAddresses": [_ADDRESS],
        "sku": {"name": "Standard"},
    },
    (_NETWORK, "NetworkInterface"): {
        "ipConfigurations": [{"name": "primary", "privateIPAllocationMethod": "Dynamic", "subnet": _SUBNET}]
    },
    (_NETWORK, "NetworkSecurityGroupsSecurityRule"): {
        "access": "Allow",
        "direction": "Inbound",
        "priority": 100,
        "protocol": "Tcp",
        "sourceAddressPrefix": "10.0.0.0/16",
        "sourcePortRange": "*",
        "destinationAddressPrefix": "*",
        "destinationPortRange": "443",
    },
    (_NETWORK, "PrivateDnsZone"): {"location": "global", "azureName": "privatelink.blob.core.windows.net"},
    (_NETWORK, "PrivateDnsZonesVirtualNetworkLink"): {
        "location": "global",
        "registrationEnabled": False,
        "virtualNetwork": {"reference": _refer(_NETWORK, "VirtualNetwork")},
    },
    (_NETWORK, "PrivateEndpoint"): {
        "subnet": _SUBNET,
        "privateLinkServiceConnections": [
            {
                "name": "example",
                "groupIds": ["blob"],
                "privateLinkServiceReference": _refer("storage.azure.com", "StorageAccount"),
            }
        ],
    },
    (_NETWORK, "PrivateEndpointsPrivateDnsZoneGroup"): {
        "privateDnsZoneConfigs": [
            {"name": "example", "privateDnsZoneReference": _refer(_NETWORK, "PrivateDnsZone")}
        ]
    },
    (_NETWORK, "PublicIPAddress"): {"publicIPAllocationMethod": "Static", "sku": {"name": "Standard"}},
    (_NETWORK, "RouteTablesRoute"): {
        "addressPrefix": "0.0.0.0/0",
        "nextHopType": "VirtualAppliance",
        "nextHopIpAddress": "10.0.0.4",
    },
    (_NETWORK, "VirtualNetwork"): {"addressSpace": {"addressPrefixes": ["10.0.0.0/16"]}},
    (_NETWORK, "VirtualNetworksSubnet"): {"addressPrefix": "10.0.1.0/24"},
    (_NETWORK, "VirtualNetworksVirtualNetworkPeering"): {
        "allowForwardedTraffic": True,
        "allowVirtualNetworkAccess": True,
        "remoteVirtualNetwork": {"reference": _refer(_NETWORK, "VirtualNetwork")},
    },
    ("operationalinsights.azure.com", "Workspace"): {"retentionInDays": 30, "sku": {"name": "PerGB2018"}},
    ("search.azure.com", "SearchService"): {"sku": {"name": "basic"}},
    ("servicebus.azure.com", "Namespace"): {"sku": {"name": "Standard", "tier": "Standard"}},
    ("servicebus.azure.com", "NamespacesQueue"): {"maxDeliveryCount": 10, "lockDuration": "PT1M"},
    ("sql.azure.com", "Server"): {
        "administratorLogin": "example",
        "administratorLoginPassword": _PASSWORD,
        "minimalTlsVersion": "1.2",
    },
    ("sql.azure.com", "ServersDatabase"): {"sku": {"name": "S0", "tier": "Standard"}},
    ("sql.azure.com", "User"): {"localUser": _LOCAL_USER, "roles": ["db_datareader"]},
    ("storage.azure.com", "StorageAccount"): {
        "kind": "StorageV2",
        "sku": {"name": "Standard_LRS"},
        "allowBlobPublicAccess": False,
        "minimumTlsVersion": "TLS1_2",
        "supportsHttpsTrafficOnly": True,
    },
    ("storage.azure.com", "StorageAccountsBlobServicesContainer"): {"publicAccess": "None"},
    ("web.azure.com", "ServerFarm"): {"kind": "linux", "reserved": True, "sku": {"name": "B1"}},
    ("web.azure.com", "Site"): {
        "httpsOnly": True,
        "serverFarmReference": _refer("web.azure.com", "ServerFarm"),
        "siteConfig": {"linuxFxVersion": "PYTHON|3.12"},
    },
}  # fmt: skip
"""By group and kind: fields of a spec, in the order in which an example shows them."""
