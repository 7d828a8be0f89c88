"""How fast gitsync is, as ratios against a bare client that sends the same requests: `make bench`."""
