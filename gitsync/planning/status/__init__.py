"""What a result means: conditions, error classes, advice and exit codes."""
