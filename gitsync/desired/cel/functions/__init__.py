"""Functions and operators: a table of overloads, and one module a family."""
