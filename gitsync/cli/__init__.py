"""The command line: one module for each command.

A command reads settings, calls a wing below and prints. Nothing imports this wing. `command_table` lists the commands,
and `main` starts one.
"""
