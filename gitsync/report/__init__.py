"""What a run tells, for people and machines. A report goes in, text comes out; nothing here decides anything."""
