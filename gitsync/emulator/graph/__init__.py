"""Microsoft Graph beside ARM, as far as groups go: `/v1.0/groups`, consistent only in the end."""
