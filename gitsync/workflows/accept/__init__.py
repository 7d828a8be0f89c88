"""Accepts drift: finds the fields and the texts that take it, proves each edit, and writes the folder or a pull
request.
"""
