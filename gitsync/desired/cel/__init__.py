"""The expression language CEL: parsed, checked against the types of kinds, and evaluated."""
