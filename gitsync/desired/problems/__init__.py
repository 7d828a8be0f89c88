"""What a check reports: a finding, the field it concerns, and the nearest known name."""
