"""Settings: declared group by group, loaded from flags, variables and files, and checked."""
