"""What everything may use: settings, programs, files, logs, and the secrets that no text shows."""
