"""A sync that is played in the built-in Azure before it runs: the estate of the records, a revision of git."""
