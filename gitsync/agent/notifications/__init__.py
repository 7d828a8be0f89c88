"""Sends one message when the state of the estate changes, through services that apprise supports."""
