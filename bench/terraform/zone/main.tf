# A DNS zone with records.
terraform {
  required_providers {
    azapi = { source = "azure/azapi" }
  }
}

variable "name" { type = string }
variable "group_id" { type = string }

locals {
  records = {
    "A/@"       = { TTL = 300, ARecords = [{ ipv4Address = "203.0.113.7" }] }
    "CNAME/www" = { TTL = 300, CNAMERecord = { cname = "shop.example.net" } }
    "TXT/@"     = { TTL = 3600, TXTRecords = [{ value = ["v=spf1 -all"] }] }
    "MX/@"      = { TTL = 3600, MXRecords = [{ preference = 10, exchange = "mail.example.com" }] }
  }
}

resource "azapi_resource" "zone" {
  type      = "Microsoft.Network/dnsZones@2018-05-01"
  name      = var.name
  parent_id = var.group_id
  location  = "global"
  body      = { properties = {} }
}

resource "azapi_resource" "record" {
  for_each  = local.records
  type      = "Microsoft.Network/dnsZones/${split("/", each.key)[0]}@2018-05-01"
  name      = split("/", each.key)[1]
  parent_id = azapi_resource.zone.id
  body      = { properties = each.value }
}
