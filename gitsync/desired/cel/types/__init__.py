"""The type of every part of an expression, checked before anything is evaluated."""
