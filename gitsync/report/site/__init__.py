"""The site of an estate: static pages, and the data that they load."""
