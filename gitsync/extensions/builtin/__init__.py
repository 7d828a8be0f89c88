"""What gitsync registers itself: one module an ASO group."""
