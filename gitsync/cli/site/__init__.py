"""The command that makes a site from the status branches of repositories."""
