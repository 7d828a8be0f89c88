"""What `gitsync import` reads its resources from, and the repository that it writes them into."""
