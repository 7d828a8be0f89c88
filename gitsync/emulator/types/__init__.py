"""How single resource types of Azure behave."""
