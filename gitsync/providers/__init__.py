"""What gitsync manages, by its own protocol: ARM, Microsoft Graph, database servers. Uses no git and no manifests."""
