"""The sources of Secrets and config maps, and the sinks of exports."""
