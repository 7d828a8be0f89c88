"""The tests of gitsync, a folder for each folder of the package."""
