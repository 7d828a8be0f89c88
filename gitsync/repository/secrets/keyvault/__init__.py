"""Azure Key Vault as a source and a sink."""
