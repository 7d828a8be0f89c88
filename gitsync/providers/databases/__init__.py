"""Users of PostgreSQL and MySQL: which server, how to sign in, what a user may do, and the statements that make it so.

`Databases` gives what reads and writes a user. A user is shown in the words of its manifest, so that a run compares it
as it compares an ARM resource.
"""
