"""One run, and one resource in it: the only wing that joins decisions with requests."""
