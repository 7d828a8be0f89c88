"""The settings, a module for each group of the help, under its heading."""
