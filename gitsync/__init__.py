"""gitsync."""
