"""Where secrets and config maps come from and go to."""
