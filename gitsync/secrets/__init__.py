"""Where Secrets and config maps come from and where exports go."""
