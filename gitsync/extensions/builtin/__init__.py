"""What gitsync registers itself: mostly one module an ASO group."""
