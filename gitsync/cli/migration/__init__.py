"""Commands that take resources to another tool."""
