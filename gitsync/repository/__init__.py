"""Where desired state, records and secrets are kept. Does not use Azure."""
