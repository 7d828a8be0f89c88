"""Settings, programs, files, logs and redaction.

Every wing above may use it. Only `processes` starts programs.
"""
