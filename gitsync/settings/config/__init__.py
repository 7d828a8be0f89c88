"""Settings: declared in one table, loaded from flags, variables and files, and checked."""
