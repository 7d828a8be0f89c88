"""The command line: one module per command (see `command`), and `main`, which runs them."""
