"""One resource: its stages, in order, and the state that they pass on."""
