"""Terraform's configuration of manifests, with the azapi provider: `import` blocks and `azapi_resource` blocks."""
