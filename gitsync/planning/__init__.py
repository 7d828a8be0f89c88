"""What a run intends: the graph of applies and prunes, and what may be deleted."""
