"""The cluster that the job runs in as a source and a sink."""
