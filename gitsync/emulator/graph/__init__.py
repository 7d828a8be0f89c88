"""Microsoft Graph for groups: `/v1.0/groups`, eventually consistent."""
