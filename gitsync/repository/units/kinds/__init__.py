"""The kinds of units, one module each: how its units are found, and how each is built."""
