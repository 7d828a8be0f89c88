# A small estate as people write it with azapi: 60 instances of 45 types, with loops, a module, rules and subnets inside
# of their parents and beside them, and passwords. `bench.terraform_round_trip` applies it to the emulator.
terraform {
  required_providers {
    azapi = { source = "azure/azapi" }
  }
}

variable "password" {
  type      = string
  sensitive = true
}

locals {
  subscription = "/subscriptions/00000000-0000-0000-0000-000000000000"
  location     = "westeurope"
  tags         = { team = "shop", cost-centre = "4711" }
  groups       = toset(["network", "data", "app"])
  subnets      = { app = "10.2.1.0/24", data = "10.2.2.0/24", endpoints = "10.2.3.0/24" }
}

resource "terraform_data" "release" {
  input = "2026.11"
}

resource "azapi_resource" "group" {
  for_each  = local.groups
  type      = "Microsoft.Resources/resourceGroups@2024-03-01"
  name      = "shop-${each.key}"
  parent_id = local.subscription
  location  = local.location
  tags      = local.tags
}

# The network

resource "azapi_resource" "rules_inline" {
  type      = "Microsoft.Network/networkSecurityGroups@2024-05-01"
  name      = "hub"
  parent_id = azapi_resource.group["network"].id
  location  = local.location
  body = {
    properties = {
      securityRules = [{
        name = "https"
        properties = {
          access                   = "Allow"
          direction                = "Inbound"
          priority                 = 100
          protocol                 = "Tcp"
          sourceAddressPrefix      = "Internet"
          sourcePortRange          = "*"
          destinationAddressPrefix = "*"
          destinationPortRange     = "443"
        }
      }]
    }
  }
}

resource "azapi_resource" "rules" {
  type      = "Microsoft.Network/networkSecurityGroups@2024-05-01"
  name      = "spoke"
  parent_id = azapi_resource.group["network"].id
  location  = local.location
  body      = { properties = {} }
}

resource "azapi_resource" "rule" {
  count     = 2
  type      = "Microsoft.Network/networkSecurityGroups/securityRules@2024-05-01"
  name      = "deny-${count.index}"
  parent_id = azapi_resource.rules.id
  body = {
    properties = {
      access                   = "Deny"
      direction                = "Inbound"
      priority                 = 200 + count.index
      protocol                 = "*"
      sourceAddressPrefix      = "10.${count.index}.0.0/16"
      sourcePortRange          = "*"
      destinationAddressPrefix = "*"
      destinationPortRange     = "22"
    }
  }
}

resource "azapi_resource" "routes" {
  type      = "Microsoft.Network/routeTables@2024-05-01"
  name      = "spoke"
  parent_id = azapi_resource.group["network"].id
  location  = local.location
  body      = { properties = { disableBgpRoutePropagation = true } }
}

resource "azapi_resource" "route" {
  type      = "Microsoft.Network/routeTables/routes@2024-05-01"
  name      = "internet"
  parent_id = azapi_resource.routes.id
  body      = { properties = { addressPrefix = "0.0.0.0/0", nextHopType = "Internet" } }
}

resource "azapi_resource" "public_ip" {
  count     = 2
  type      = "Microsoft.Network/publicIPAddresses@2024-05-01"
  name      = "egress-${count.index}"
  parent_id = azapi_resource.group["network"].id
  location  = local.location
  body = {
    sku        = { name = "Standard" }
    zones      = ["1", "2", "3"]
    properties = { publicIPAllocationMethod = "Static", publicIPAddressVersion = "IPv4" }
  }
}

resource "azapi_resource" "nat" {
  type      = "Microsoft.Network/natGateways@2024-05-01"
  name      = "egress"
  parent_id = azapi_resource.group["network"].id
  location  = local.location
  body = {
    sku        = { name = "Standard" }
    properties = { publicIpAddresses = [for address in azapi_resource.public_ip : { id = address.id }] }
  }
}

resource "azapi_resource" "hub" {
  type      = "Microsoft.Network/virtualNetworks@2024-05-01"
  name      = "hub"
  parent_id = azapi_resource.group["network"].id
  location  = local.location
  body = {
    properties = {
      addressSpace = { addressPrefixes = ["10.1.0.0/16"] }
      subnets = [
        { name = "GatewaySubnet", properties = { addressPrefix = "10.1.0.0/24" } },
        {
          name       = "shared"
          properties = { addressPrefix = "10.1.1.0/24", networkSecurityGroup = { id = azapi_resource.rules_inline.id } }
        },
      ]
    }
  }
}

resource "azapi_resource" "spoke" {
  type      = "Microsoft.Network/virtualNetworks@2024-05-01"
  name      = "spoke"
  parent_id = azapi_resource.group["network"].id
  location  = local.location
  body      = { properties = { addressSpace = { addressPrefixes = ["10.2.0.0/16"] } } }
  lifecycle { ignore_changes = [body.properties.subnets] }
}

resource "azapi_resource" "subnet" {
  for_each  = local.subnets
  type      = "Microsoft.Network/virtualNetworks/subnets@2024-05-01"
  name      = each.key
  parent_id = azapi_resource.spoke.id
  locks     = [azapi_resource.spoke.id]
  body = {
    properties = {
      addressPrefix        = each.value
      networkSecurityGroup = { id = azapi_resource.rules.id }
      routeTable           = { id = azapi_resource.routes.id }
      natGateway           = each.key == "app" ? { id = azapi_resource.nat.id } : null
    }
  }
}

resource "azapi_resource" "peering" {
  type      = "Microsoft.Network/virtualNetworks/virtualNetworkPeerings@2024-05-01"
  name      = "to-hub"
  parent_id = azapi_resource.spoke.id
  body = {
    properties = {
      remoteVirtualNetwork      = { id = azapi_resource.hub.id }
      allowForwardedTraffic     = true
      allowVirtualNetworkAccess = true
    }
  }
}

resource "azapi_resource" "balancer" {
  type      = "Microsoft.Network/loadBalancers@2024-05-01"
  name      = "shop"
  parent_id = azapi_resource.group["network"].id
  location  = local.location
  body = {
    sku = { name = "Standard" }
    properties = {
      frontendIPConfigurations = [{
        name       = "inside"
        properties = { privateIPAllocationMethod = "Dynamic", subnet = { id = azapi_resource.subnet["app"].id } }
      }]
      backendAddressPools = [{ name = "web" }]
      probes = [{
        name       = "http"
        properties = { protocol = "Http", port = 80, requestPath = "/health", intervalInSeconds = 15, numberOfProbes = 2 }
      }]
    }
  }
}

module "zone" {
  for_each = toset(["shop.example.com"])
  source   = "./zone"
  name     = each.key
  group_id = azapi_resource.group["network"].id
}

resource "azapi_resource" "private_zone" {
  type      = "Microsoft.Network/privateDnsZones@2020-06-01"
  name      = "privatelink.vaultcore.azure.net"
  parent_id = azapi_resource.group["network"].id
  location  = "global"
  body      = { properties = {} }
}

resource "azapi_resource" "zone_link" {
  type      = "Microsoft.Network/privateDnsZones/virtualNetworkLinks@2020-06-01"
  name      = "spoke"
  parent_id = azapi_resource.private_zone.id
  location  = "global"
  body      = { properties = { registrationEnabled = false, virtualNetwork = { id = azapi_resource.spoke.id } } }
}

resource "azapi_resource" "endpoint" {
  type      = "Microsoft.Network/privateEndpoints@2024-05-01"
  name      = "vault"
  parent_id = azapi_resource.group["network"].id
  location  = local.location
  body = {
    properties = {
      subnet = { id = azapi_resource.subnet["endpoints"].id }
      privateLinkServiceConnections = [{
        name       = "vault"
        properties = { privateLinkServiceId = azapi_resource.vault.id, groupIds = ["vault"] }
      }]
    }
  }
}

# Data

resource "azapi_resource" "account" {
  type      = "Microsoft.Storage/storageAccounts@2023-05-01"
  name      = "shopdata4711"
  parent_id = azapi_resource.group["data"].id
  location  = local.location
  tags      = local.tags
  body = {
    kind = "StorageV2"
    sku  = { name = "Standard_ZRS" }
    properties = {
      accessTier               = "Hot"
      allowBlobPublicAccess    = false
      minimumTlsVersion        = "TLS1_2"
      supportsHttpsTrafficOnly = true
    }
  }
}

resource "azapi_update_resource" "blobs" {
  type      = "Microsoft.Storage/storageAccounts/blobServices@2023-05-01"
  name      = "default"
  parent_id = azapi_resource.account.id
  body      = { properties = { isVersioningEnabled = true } }
}

resource "azapi_resource" "container" {
  for_each   = toset(["invoices", "images"])
  type       = "Microsoft.Storage/storageAccounts/blobServices/containers@2023-05-01"
  name       = each.key
  parent_id  = "${azapi_resource.account.id}/blobServices/default"
  body       = { properties = { publicAccess = "None" } }
  depends_on = [azapi_update_resource.blobs]
}

resource "azapi_resource" "share" {
  type      = "Microsoft.Storage/storageAccounts/fileServices/shares@2023-05-01"
  name      = "reports"
  parent_id = "${azapi_resource.account.id}/fileServices/default"
  body      = { properties = { shareQuota = 100, enabledProtocols = "SMB" } }
}

resource "azapi_resource" "vault" {
  type      = "Microsoft.KeyVault/vaults@2023-07-01"
  name      = "shop-vault-4711"
  parent_id = azapi_resource.group["data"].id
  location  = local.location
  body = {
    properties = {
      tenantId                = "11111111-1111-1111-1111-111111111111"
      sku                     = { family = "A", name = "standard" }
      enableRbacAuthorization = true
      enablePurgeProtection   = true
      accessPolicies          = []
    }
  }
}

resource "azapi_resource" "postgres" {
  type           = "Microsoft.DBforPostgreSQL/flexibleServers@2024-08-01"
  name           = "shop-orders"
  parent_id      = azapi_resource.group["data"].id
  location       = local.location
  sensitive_body = { properties = { administratorLoginPassword = var.password } }
  body = {
    sku = { name = "Standard_D2ds_v5", tier = "GeneralPurpose" }
    properties = {
      version            = "16"
      administratorLogin = "boss"
      storage            = { storageSizeGB = 128 }
    }
  }
}

resource "azapi_resource" "database" {
  type      = "Microsoft.DBforPostgreSQL/flexibleServers/databases@2024-08-01"
  name      = "orders"
  parent_id = azapi_resource.postgres.id
  body      = { properties = { charset = "UTF8", collation = "en_US.utf8" } }
}

resource "azapi_resource" "firewall_rule" {
  type      = "Microsoft.DBforPostgreSQL/flexibleServers/firewallRules@2024-08-01"
  name      = "office"
  parent_id = azapi_resource.postgres.id
  body      = { properties = { startIpAddress = "203.0.113.1", endIpAddress = "203.0.113.9" } }
}

resource "azapi_resource" "cosmos" {
  type      = "Microsoft.DocumentDB/databaseAccounts@2024-08-15"
  name      = "shop-carts"
  parent_id = azapi_resource.group["data"].id
  location  = local.location
  body = {
    kind = "GlobalDocumentDB"
    properties = {
      databaseAccountOfferType = "Standard"
      locations                = [{ locationName = local.location, failoverPriority = 0 }]
      consistencyPolicy        = { defaultConsistencyLevel = "Session" }
    }
  }
}

resource "azapi_resource" "carts" {
  type      = "Microsoft.DocumentDB/databaseAccounts/sqlDatabases@2024-08-15"
  name      = "carts"
  parent_id = azapi_resource.cosmos.id
  body      = { properties = { resource = { id = "carts" } } }
}

resource "azapi_resource" "events" {
  type      = "Microsoft.EventHub/namespaces@2024-01-01"
  name      = "shop-events"
  parent_id = azapi_resource.group["data"].id
  location  = local.location
  body      = { sku = { name = "Standard", tier = "Standard", capacity = 1 }, properties = {} }
}

resource "azapi_resource" "hub_of_events" {
  type      = "Microsoft.EventHub/namespaces/eventhubs@2024-01-01"
  name      = "orders"
  parent_id = azapi_resource.events.id
  body      = { properties = { partitionCount = 2, messageRetentionInDays = 3 } }
}

resource "azapi_resource" "bus" {
  type      = "Microsoft.ServiceBus/namespaces@2022-10-01-preview"
  name      = "shop-bus-4711"
  parent_id = azapi_resource.group["data"].id
  location  = local.location
  body      = { sku = { name = "Standard", tier = "Standard" }, properties = {} }
}

resource "azapi_resource" "topic" {
  type      = "Microsoft.ServiceBus/namespaces/topics@2022-10-01-preview"
  name      = "orders"
  parent_id = azapi_resource.bus.id
  body      = { properties = { enablePartitioning = true } }
}

resource "azapi_resource" "topic_subscription" {
  type      = "Microsoft.ServiceBus/namespaces/topics/subscriptions@2022-10-01-preview"
  name      = "billing"
  parent_id = azapi_resource.topic.id
  body      = { properties = { maxDeliveryCount = 5 } }
}

resource "azapi_resource" "topic_rule" {
  type      = "Microsoft.ServiceBus/namespaces/topics/subscriptions/rules@2022-10-01-preview"
  name      = "paid"
  parent_id = azapi_resource.topic_subscription.id
  body      = { properties = { filterType = "SqlFilter", sqlFilter = { sqlExpression = "state = 'paid'" } } }
}

# Applications

resource "azapi_resource" "identity" {
  for_each  = toset(["shop", "billing"])
  type      = "Microsoft.ManagedIdentity/userAssignedIdentities@2023-01-31"
  name      = each.key
  parent_id = azapi_resource.group["app"].id
  location  = local.location
}

resource "azapi_resource" "credential" {
  type      = "Microsoft.ManagedIdentity/userAssignedIdentities/federatedIdentityCredentials@2023-01-31"
  name      = "kubernetes"
  parent_id = azapi_resource.identity["shop"].id
  body = {
    properties = {
      audiences = ["api://AzureADTokenExchange"]
      issuer    = "https://oidc.example.com/shop/"
      subject   = "system:serviceaccount:shop:web"
    }
  }
}

resource "azapi_resource" "role" {
  type      = "Microsoft.Authorization/roleAssignments@2022-04-01"
  name      = "6f0f4d2c-3a5e-4a6b-9c7d-0a1b2c3d4e5f"
  parent_id = azapi_resource.vault.id
  body = {
    properties = {
      roleDefinitionId = "${local.subscription}/providers/Microsoft.Authorization/roleDefinitions/4633458b-17de-408a-b874-0445c86b69e6"
      principalId      = azapi_resource.identity["shop"].output.properties.principalId
      principalType    = "ServicePrincipal"
    }
  }
  response_export_values = []
}

resource "azapi_resource" "lock" {
  type      = "Microsoft.Authorization/locks@2020-05-01"
  name      = "keep"
  parent_id = azapi_resource.group["data"].id
  body      = { properties = { level = "CanNotDelete", notes = "It has the orders." } }
}

resource "azapi_resource" "workspace" {
  type      = "Microsoft.OperationalInsights/workspaces@2023-09-01"
  name      = "shop-logs"
  parent_id = azapi_resource.group["app"].id
  location  = local.location
  body      = { properties = { retentionInDays = 30, sku = { name = "PerGB2018" } } }
}

resource "azapi_resource" "insights" {
  type      = "Microsoft.Insights/components@2020-02-02"
  name      = "shop"
  parent_id = azapi_resource.group["app"].id
  location  = local.location
  body = {
    kind       = "web"
    properties = { Application_Type = "web", WorkspaceResourceId = azapi_resource.workspace.id }
  }
}

resource "azapi_resource" "diagnostics" {
  type      = "Microsoft.Insights/diagnosticSettings@2021-05-01-preview"
  name      = "audit"
  parent_id = azapi_resource.vault.id
  body = {
    properties = {
      workspaceId = azapi_resource.workspace.id
      logs        = [{ category = "AuditEvent", enabled = true }]
    }
  }
}

resource "azapi_resource" "plan" {
  type      = "Microsoft.Web/serverfarms@2023-12-01"
  name      = "shop"
  parent_id = azapi_resource.group["app"].id
  location  = local.location
  body      = { kind = "linux", sku = { name = "P1v3", tier = "PremiumV3" }, properties = { reserved = true } }
}

resource "azapi_resource" "site" {
  type      = "Microsoft.Web/sites@2023-12-01"
  name      = "shop-web-4711"
  parent_id = azapi_resource.group["app"].id
  location  = local.location
  identity {
    type         = "UserAssigned"
    identity_ids = [azapi_resource.identity["shop"].id]
  }
  body = {
    kind = "app,linux"
    properties = {
      serverFarmId = azapi_resource.plan.id
      httpsOnly    = true
      siteConfig   = { linuxFxVersion = "PYTHON|3.12", minTlsVersion = "1.2" }
    }
  }
}

resource "azapi_resource" "container_environment" {
  type      = "Microsoft.App/managedEnvironments@2024-03-01"
  name      = "shop"
  parent_id = azapi_resource.group["app"].id
  location  = local.location
  body      = { properties = { zoneRedundant = false } }
}

resource "azapi_resource" "container_app" {
  type      = "Microsoft.App/containerApps@2024-03-01"
  name      = "mailer"
  parent_id = azapi_resource.group["app"].id
  location  = local.location
  body = {
    properties = {
      environmentId = azapi_resource.container_environment.id
      configuration = {
        activeRevisionsMode = "Single"
        secrets             = [{ name = "smtp", value = var.password }] # in the state, unlike a sensitive_body
      }
      template = { containers = [{ name = "mailer", image = "example.azurecr.io/mailer:1.4" }] }
    }
  }
}

resource "azapi_resource" "cluster" {
  type      = "Microsoft.ContainerService/managedClusters@2024-09-01"
  name      = "shop"
  parent_id = azapi_resource.group["app"].id
  location  = local.location
  identity {
    type         = "UserAssigned"
    identity_ids = [azapi_resource.identity["shop"].id]
  }
  body = {
    sku = { name = "Base", tier = "Standard" }
    properties = {
      dnsPrefix         = "shop"
      kubernetesVersion = "1.31"
      agentPoolProfiles = [{
        name         = "system"
        mode         = "System"
        count        = 3
        vmSize       = "Standard_D4ds_v5"
        osType       = "Linux"
        vnetSubnetID = azapi_resource.subnet["app"].id
      }]
      networkProfile = { networkPlugin = "azure", networkPluginMode = "overlay" }
    }
  }
}

resource "azapi_resource" "search" {
  type      = "Microsoft.Search/searchServices@2023-11-01"
  name      = "shop-search"
  parent_id = azapi_resource.group["app"].id
  location  = local.location
  body      = { sku = { name = "basic" }, properties = { replicaCount = 1, partitionCount = 1 } }
}

resource "azapi_resource" "maps" {
  type      = "Microsoft.Maps/accounts@2023-06-01"
  name      = "shop-maps"
  parent_id = azapi_resource.group["app"].id
  location  = "global"
  body      = { kind = "Gen2", sku = { name = "G2" }, properties = { disableLocalAuth = true } }
}

resource "azapi_resource" "workflow" {
  type      = "Microsoft.Logic/workflows@2019-05-01"
  name      = "nightly"
  parent_id = azapi_resource.group["app"].id
  location  = local.location
  body = {
    properties = {
      state = "Enabled"
      definition = {
        "$schema"      = "https://schema.management.azure.com/providers/Microsoft.Logic/schemas/2016-06-01/workflowdefinition.json#"
        contentVersion = "1.0.0.0"
        triggers       = { night = { type = "Recurrence", recurrence = { frequency = "Day", interval = 1 } } }
        actions        = {}
      }
    }
  }
}
