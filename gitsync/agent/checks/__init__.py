"""What Azure would refuse, asked before a change. See `checks` for the table."""
