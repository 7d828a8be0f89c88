"""What Azure would refuse, asked before a change. See `check_table` for the table."""
