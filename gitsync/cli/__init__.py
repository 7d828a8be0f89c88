"""The command line: one module a command (`command` says what that is), `main` the frame around them."""
