"""Programs that gitsync starts: one table of variables and limits."""
