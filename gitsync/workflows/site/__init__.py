"""The site of an estate: what the status branches of its repositories have, and what happened there."""
